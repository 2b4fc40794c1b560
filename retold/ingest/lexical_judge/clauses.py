"""Sentences cut into clauses, and whether each is asked or stated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.languages import ENGLISH, Grammar
from retold.ingest.lexical_judge.normalise import Token
from retold.ingest.lexical_judge.opened import Opened
from retold.ingest.lexical_judge.subject import looks_like_predicate, opens_subject

SENTENCE_END: Final = frozenset(".!?。！？\n")
_FACTIVE: Final = frozenset(
    "remind reminds reminded remember remembers remembered know knows knew note notes noted notice "
    "noticed mention mentions mentioned forget forgot realise realised realize realized".split()
)
"""Verbs whose "that" clause is taken for true."""
_TEMPORAL: Final = frozenset("before after when until once since till".split())
_ASKING: Final = frozenset(
    "do does did is are am was were can could will would should shall have has may might what when "
    "where who whom whose which why how".split()
)
_ASKED: Final = frozenset("i you we they he she it there this that my your the a an".split())
_ENQUIRING: Final = frozenset("explain describe define tell show ask guess".split())
_WH: Final = frozenset("what when where who whom whose which why how if whether".split())


def split_sentences(
    tokens: Sequence[Token], grammar: Grammar
) -> Iterator[tuple[tuple[Opened, ...], bool]]:
    """Yield the clauses of each sentence with whether it asks."""
    sentence: list[Token] = []
    for token in (*tokens, Token(".", ".", ".")):
        if token.word not in SENTENCE_END:
            sentence.append(token)
            continue
        asks = token.word in {"?", "？"} or _asks(sentence)
        yield tuple(_clauses(sentence, grammar)), asks
        sentence = []


def _asks(sentence: Sequence[Token]) -> bool:
    words = [token.word for token in sentence if not token.is_mark]
    if words[:1] and words[0] in _ENQUIRING and _WH & {*words}:
        return True
    return len(words) > 1 and words[0] in _ASKING and words[1] in _ASKED | _ASKING


def _clauses(sentence: Sequence[Token], grammar: Grammar) -> Iterator[Opened]:
    clause: list[Token] = []
    opener = ""
    for position, token in enumerate(sentence):
        if _cuts(sentence, position, clause, grammar):
            if clause:
                yield Opened(opener, tuple(clause))
            opener = token.word if token.word.isalpha() else ""
            keep = token.word in lexicon.HYPOTHETICAL_LEADS or token.word in grammar.hypothetical
            clause = [token] if keep else []
        elif clause and _opens_fragment(sentence, position):
            yield Opened(opener, tuple(clause))
            opener, clause = "", [token]
        else:
            clause.append(token)
    if clause:
        yield Opened(opener, tuple(clause))


def _cuts(
    sentence: Sequence[Token], position: int, clause: Sequence[Token], grammar: Grammar
) -> bool:
    """Tell whether a token stands between two clauses.

    What "and" or a negated "or" joins without a predicate of its own stays in the clause, under
    its negation: "don't eat pork or beef".
    """
    word = sentence[position].word
    denied = any(token.word in grammar.negators for token in clause)
    if word == grammar.joining or (word == grammar.either and denied):
        gapped = grammar is ENGLISH and _is_gapped(sentence, position, clause)
        return gapped or (
            _has_verb(clause, grammar) and _opens_predicate(sentence, position + 1, grammar)
        )
    if word == "to" and clause and clause[0].word == "from":
        return True
    if word == "that" and any(token.word in _FACTIVE for token in clause):
        return not denied
    if word in _TEMPORAL and grammar is ENGLISH and clause:
        return opens_subject(sentence, position + 1)
    return word in {",", ";", ":"} or word in grammar.splitting


def _has_verb(clause: Sequence[Token], grammar: Grammar) -> bool:
    """Tell whether a clause is more than the first half of "Ana and I"; unknown is yes."""
    names = all(
        token.surface[:1].isupper() or token.word in lexicon.POSSESSIVES for token in clause
    )
    kin = bool(clause) and clause[-1].word in grammar.kin
    return not (names or kin)


_LINKING: Final = lexicon.PREPOSITIONS - lexicon.LIKING


def _is_gapped(sentence: Sequence[Token], position: int, clause: Sequence[Token]) -> bool:
    """Tell whether "and" repeats a pattern without its verb: "tea at home and juice at work"."""
    before = {token.word for token in clause if token.word in _LINKING}
    for token in sentence[position + 2 : position + 6]:
        if token.is_mark:
            return False
        if token.word in before:
            return sentence[position + 1].word not in lexicon.PREPOSITIONS
    return False


def _opens_predicate(tokens: Sequence[Token], position: int, grammar: Grammar) -> bool:
    if position >= len(tokens):
        return False
    word = tokens[position].word
    return (
        word in grammar.negators
        or word in grammar.liking
        or word in grammar.disliking
        or word in grammar.principal
        or word in grammar.others
        or word in grammar.possessives
        or (grammar is ENGLISH and (looks_like_predicate(word) or word.endswith("ed")))
    )


def _opens_fragment(tokens: Sequence[Token], position: int) -> bool:
    """Tell whether a negator here excludes a thing ("tabs not spaces") and negates no verb."""
    word = tokens[position].word
    if word in {"without", "except", "excluding", "minus", "over"}:
        return True
    if word == "from":
        return _leaves(tokens, position)
    if word != "not":
        return False
    before = tokens[position - 1].word
    return not (
        before in lexicon.AUXILIARIES
        or before in lexicon.PRINCIPAL
        or before in {"to", "why", "or"}
    )


def _leaves(tokens: Sequence[Token], position: int) -> bool:
    """Tell whether "from" here opens what a change left behind: "moved from X to Y"."""
    changed = any(token.word in lexicon.SWITCHING for token in tokens[:position])
    return changed and any(token.word == "to" for token in tokens[position:])

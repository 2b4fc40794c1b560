"""The clauses of a quote or claim, read for support in the language it is written in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.features import CACHED_CLAIMS, is_ending
from retold.ingest.lexical_judge.languages import ENGLISH, Grammar, guess, hits
from retold.ingest.lexical_judge.modality import is_hypothetical, is_past
from retold.ingest.lexical_judge.normalise import Token, snowball, tokenise
from retold.ingest.lexical_judge.quantities import Quantities, read_quantities
from retold.ingest.lexical_judge.subject import Subject, looks_like_predicate, read_subject

ALL: Final = "*"
"""Predicate of a clause that is denied as a whole."""
LIKED: Final = "@like"
"""Stem of every verb of liking or disliking; the sign is kept apart."""
_NAMING: Final = frozenset({"name", "named", "called"})
SENTENCE_END: Final = frozenset(".!?。！？\n")
_ELISION: Final = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}:\d{2}|\d+(?:[.,/]\d+)*|[^\W\d_]+(?:-[^\W\d_]+)*|[.!?,;:\n]"
)
_EXCLUDING: Final = (["over"], ["except"], ["excluding"], ["minus"], ["from"])
_FRAGMENT_OPENERS: Final = frozenset("not never no without nor".split()) | {
    word for (word,) in _EXCLUDING
}
_SELDOM: Final = frozenset({"rarely", "seldom", "infrequently"})
"""Adverbs that deny a habit, though not every instance of it."""
_LEAD_IN: Final = 3
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
_HAVING: Final = frozenset("own owns owned possess possesses possessed".split())
_DATE_LABELS: Final = frozenset({"date", "day"})
_AGE_LABELS: Final = frozenset({"old", "age"})


@dataclass(frozen=True, slots=True)
class Part:
    """One clause of a text: what it says, of whom, with which sign."""

    tokens: tuple[Token, ...]
    stems: frozenset[str]
    negated: bool
    attitude: int
    fragment: bool
    predicate: str
    question: bool
    past: bool
    hypothetical: bool
    subject: Subject
    opener: str = ""

    @property
    def is_of_thing(self) -> bool:
        """Tell whether the clause has a thing as its subject and a finite verb."""
        read = read_subject(self.tokens)
        verbs = lexicon.BE | lexicon.HAVE | lexicon.MODALS
        return read.kind in {"thing", "name"} and any(t.word in verbs for t in self.tokens)


@dataclass(frozen=True, slots=True)
class Text:
    """One text read for support."""

    grammar: Grammar
    known_words: int
    tokens: tuple[Token, ...]
    quantities: Quantities
    stems: frozenset[str]
    parts: tuple[Part, ...]

    @property
    def words(self) -> frozenset[str]:
        """Return the lower-case words."""
        return frozenset(token.word for token in self.tokens)


def _foreign_tokens(text: str, grammar: Grammar) -> tuple[Token, ...]:
    """Return tokens of a language other than English, its calendar and number words in English."""
    out: list[Token] = []
    raw = _ELISION.findall(text)
    for position, surface in enumerate(raw):
        word = surface.lower()
        following = raw[position + 1].lower() if position + 1 < len(raw) else ""
        dated = position > 0 and raw[position - 1].isdigit() and following in grammar.calendar
        if word in {"de", "."} and dated:
            continue
        if word in grammar.calendar:
            word = grammar.calendar[word]
            out.append(Token(word.title(), word, word))
        else:
            stem = snowball(word, grammar.language) if word[0].isalpha() else word
            out.append(Token(surface, word, stem))
    return tuple(out)


def _with_naming(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the tokens with "call me Jo" as "name me Jo": other calls are made by telephone."""
    out = list(tokens)
    for position, (first, second, third) in enumerate(zip(out, out[1:], out[2:], strict=False)):
        named = third.surface[:1].isupper() or third.word == "user"
        if first.word == "call" and second.word in lexicon.PRINCIPAL and named:
            out[position] = Token(first.surface, "name", "name")
    return tuple(out)


def stem_of(token: Token, grammar: Grammar) -> str:
    """Return what a token counts as in coverage; "" when it carries no content."""
    word = token.word
    if word in grammar.liking or word in grammar.disliking:
        return LIKED
    if (
        token.is_mark
        or word in grammar.function
        or word in grammar.principal
        or word in grammar.negators
        or word in grammar.others
        or word in _HAVING
    ):
        return ""
    return "name" if word in _NAMING and grammar is ENGLISH else token.stem


def _split(tokens: Sequence[Token], grammar: Grammar) -> Iterator[tuple[tuple[_Opened, ...], bool]]:
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


class _Opened(NamedTuple):
    """One clause and the conjunction before it, "" at the start of a sentence or after a comma."""

    opener: str
    tokens: tuple[Token, ...]

    @property
    def is_given(self) -> bool:
        """Tell whether the clause is taken for granted, whatever its sentence asks.

        "Since I'm vegan, which ...?" and "Can you remind me that ...?" state what they carry.
        """
        words = [token.word for token in self.tokens[:_LEAD_IN]]
        causal = self.opener == "because" or words[:1] in (["since"], ["as"], ["given"])
        return self.opener == "that" or (causal and bool({"i", "we", "my", "our"} & {*words}))


def _clauses(sentence: Sequence[Token], grammar: Grammar) -> Iterator[_Opened]:
    clause: list[Token] = []
    opener = ""
    for position, token in enumerate(sentence):
        if _cuts(sentence, position, clause, grammar):
            if clause:
                yield _Opened(opener, tuple(clause))
            opener = token.word if token.word.isalpha() else ""
            keep = token.word in lexicon.HYPOTHETICAL_LEADS or token.word in grammar.hypothetical
            clause = [token] if keep else []
        elif clause and _opens_fragment(sentence, position):
            yield _Opened(opener, tuple(clause))
            opener, clause = "", [token]
        else:
            clause.append(token)
    if clause:
        yield _Opened(opener, tuple(clause))


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
        return _opens_subject(sentence, position + 1)
    return word in {",", ";", ":"} or word in grammar.splitting


def _has_verb(clause: Sequence[Token], grammar: Grammar) -> bool:
    """Tell whether a clause is more than the first half of "Ana and I"; unknown is yes."""
    names = all(
        token.surface[:1].isupper() or token.word in lexicon.POSSESSIVES for token in clause
    )
    kin = bool(clause) and clause[-1].word in grammar.kin
    return not (names or kin)


def _is_gapped(sentence: Sequence[Token], position: int, clause: Sequence[Token]) -> bool:
    """Tell whether "and" repeats a pattern without its verb: "tea at home and juice at work"."""
    before = {token.word for token in clause} & lexicon.PREPOSITIONS - lexicon.LIKING
    for token in sentence[position + 2 : position + 6]:
        if token.is_mark:
            return False
        if token.word in before:
            return sentence[position + 1].word not in lexicon.PREPOSITIONS
    return False


def _opens_subject(tokens: Sequence[Token], position: int) -> bool:
    """Tell whether a pronoun, or a possessive with its noun, opens a clause here."""
    word = tokens[position].word if position < len(tokens) else ""
    near = tokens[position + 1 : position + _LEAD_IN]
    if word in {"i", "we", "he", "she", "they", "it"}:
        return True
    owned = word in lexicon.POSSESSIVES or word in lexicon.ARTICLES
    return owned and any(looks_like_predicate(token.word) for token in near)


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


def _part(clause: tuple[Token, ...], previous: Subject, grammar: Grammar, *, asks: bool) -> Part:
    words = [token.word for token in clause if not token.is_mark]
    quantities = read_quantities(clause)
    stems = _content(clause, quantities, grammar)
    openers = _FRAGMENT_OPENERS | grammar.negators
    own = frozenset(
        word for word in words if word in lexicon.AUXILIARIES or word in grammar.principal
    )
    disliked = any(word in grammar.disliking for word in words)
    liked = any(word in grammar.liking for word in words)
    ends = any(
        word in grammar.ending and (grammar is not ENGLISH or is_ending(clause, position))
        for position, word in enumerate(token.word for token in clause)
    )
    negators = sum(word in grammar.negators or word in _SELDOM for word in words)
    concord = grammar is not ENGLISH and negators > 0
    return Part(
        tokens=clause,
        stems=stems,
        negated=concord or (negators + ends) % 2 == 1 or words[0:1] in _EXCLUDING,
        attitude=-1 if disliked else 1 if liked else 0,
        fragment=bool(words) and words[0] in openers and not own,
        predicate=_negated_predicate(clause, grammar),
        question=asks,
        past=_is_past(clause, grammar),
        hypothetical=_is_hypothetical(clause, grammar),
        subject=_subject(clause, previous, grammar),
    )


def _content(tokens: Sequence[Token], quantities: Quantities, grammar: Grammar) -> frozenset[str]:
    stems = {
        stem_of(token, grammar)
        for position, token in enumerate(tokens)
        if position not in quantities.used
    }
    if quantities.dates:
        stems -= _DATE_LABELS
    if any(number.unit == "year" for number in quantities.numbers):
        stems -= _AGE_LABELS
    stems |= {f"#{number.value}" for number in quantities.numbers}
    stems |= {f"#{value}" for value in quantities.ordinals}
    stems |= {f"#{d.month}/{d.day}/{d.weekday}" for d in quantities.dates}
    return frozenset(stems - {""})


def _negated_predicate(clause: Sequence[Token], grammar: Grammar) -> str:
    """Return the stem of the first content word after the first negator, "" without one."""
    seen = False
    for token in clause:
        if token.word in grammar.negators | grammar.ending | _SELDOM:
            seen = True
        elif seen and (stem := stem_of(token, grammar)):
            return stem
    return ""


def _is_past(clause: Sequence[Token], grammar: Grammar) -> bool:
    if grammar is ENGLISH:
        return is_past(clause)
    return any(token.word in grammar.past for token in clause)


def _is_hypothetical(clause: Sequence[Token], grammar: Grammar) -> bool:
    if grammar is ENGLISH:
        return is_hypothetical(clause)
    return any(token.word in grammar.hypothetical for token in clause)


def _subject(clause: Sequence[Token], previous: Subject, grammar: Grammar) -> Subject:
    words = [token.word for token in clause if not token.is_mark]
    if not words:
        return previous
    if grammar is not ENGLISH:
        return _foreign_subject(words, previous, grammar)
    embedded = _embedded_relation(clause)
    if embedded is not None:
        return embedded
    subject = _acting_on_principal(clause) or _other_person(clause) or read_subject(clause)
    explicit = subject.kind != "principal" or any(
        word in lexicon.PRINCIPAL for word in words[: _MAX_SUBJECT + 1]
    )
    if subject.kind in {"relation", "name"} and {"i", "we"} & set(words[:_MAX_SUBJECT]):
        return Subject("principal")
    return subject if explicit and subject.kind != "thing" else previous


_MAX_SUBJECT: Final = 5


def _acting_on_principal(clause: Sequence[Token]) -> Subject | None:
    """Return the name in "Emma beat me": the principal is only the object."""
    words = [token.word for token in clause if not token.is_mark]
    if len(words) < _LEAD_IN or {"i", "we"} & {*words}:
        return None
    after = words[3:] if words[2] in lexicon.PREPOSITIONS else words[2:]
    named_object = after[:1] == ["user"] or after[:2] == ["the", "user"]
    if not named_object and not {"me", "us"} & {*words[2:]}:
        return None
    first = clause[0]
    named = first.surface[:1].isupper() and first.word not in lexicon.FUNCTION_WORDS
    known = first.word in lexicon.NEGATORS or first.word in lexicon.PERSON_VERBS
    return Subject("name", first.word) if named and not known else None


def _other_person(clause: Sequence[Token]) -> Subject | None:
    """Return the person that "the man next door plays", "it is my wife's" speak of."""
    last = next((token for token in reversed(clause) if not token.is_mark), None)
    if last is not None and last.owner and last.word in lexicon.KIN:
        return Subject("relation", lexicon.KIN[last.word])
    words = [token.word for token in clause if not token.is_mark]
    if {"i", "we", "me", "us"} & {*words}:
        return None
    head = next((word for word in words[:_MAX_SUBJECT] if word in _PERSONS), "")
    opens = bool(words) and (words[0] in lexicon.ARTICLES | lexicon.NEUTER or words[0] in _PERSONS)
    return Subject("pronoun", head) if head and opens else None


_PERSONS: Final = (
    lexicon.MALE
    | lexicon.FEMALE
    | frozenset("person people someone somebody anyone anybody everyone everybody".split())
) - lexicon.THIRD_PERSON


def _foreign_subject(words: Sequence[str], previous: Subject, grammar: Grammar) -> Subject:
    """Return relation for "my X" with kinship X, pronoun for others, principal for "I"."""
    for position, word in enumerate(words[:_MAX_SUBJECT]):
        following = words[position + 1 : position + 3]
        if word in grammar.possessives and any(other in grammar.kin for other in following):
            return Subject("relation", next(o for o in following if o in grammar.kin))
        if word in grammar.principal:
            return Subject("principal")
        if position == 0 and word in grammar.others:
            return Subject("pronoun", word)
    return previous


def _denies_all(part: Part) -> bool:
    """Tell "but I'm not": a denial without content denies what was just said."""
    words = {token.word for token in part.tokens}
    return part.negated and not part.stems and bool(words & lexicon.AUXILIARIES)


def _named_midway(clause: Sequence[Token]) -> Subject | None:
    """Return the name that a later clause opens with: ", and Dirk reports to me"."""
    words = [token for token in clause if token.word != ENGLISH.joining]
    if len(words) < _LEAD_IN or not words[0].surface[:1].isupper():
        return None
    name, verb = words[0], words[1].word
    known = name.word in lexicon.FUNCTION_WORDS or name.word in lexicon.WEEKDAYS
    acts = looks_like_predicate(verb) or (verb.endswith("s") and not verb.endswith("ss"))
    return Subject("name", name.word) if acts and not known and not name.owner else None


def _embedded_relation(clause: Sequence[Token]) -> Subject | None:
    """Return the relation of "I think my sister works ...": a relation followed by its verb."""
    for position, token in enumerate(clause[:-1]):
        if token.word in lexicon.KIN and position:
            owned = clause[position - 1].word in lexicon.POSSESSIVES
            following = clause[position + 1].word
            joined = {"i", "we"} & {t.word for t in clause[position + 1 : position + 3]}
            acts = looks_like_predicate(following) or following in {"to", "who", "that"}
            owned = owned or (following == "who" and clause[position - 1].word in lexicon.ARTICLES)
            if owned and not token.owner and acts and not joined:
                return Subject("relation", lexicon.KIN[token.word])
    return None


@lru_cache(maxsize=CACHED_CLAIMS)
def read_text(text: str, hint: Grammar = ENGLISH) -> Text:
    """Return the clauses of a folded text in the language its function words point to."""
    tokens = _with_naming(tokenise(text))
    plain = tuple(match.group() for match in _ELISION.finditer(text))
    grammar, known = guess(plain, hint)
    english = hits(tuple(token.word for token in tokens), ENGLISH)
    if english >= known:
        grammar, known = ENGLISH, english
    if grammar is not ENGLISH:
        tokens = _foreign_tokens(text, grammar)
    parts: list[Part] = []
    for clauses, asks in _split(tokens, grammar):
        subject = Subject("principal")
        for number, clause in enumerate(clauses):
            part = _part(clause.tokens, subject, grammar, asks=asks and not clause.is_given)
            named = _named_midway(clause.tokens) if number else None
            subject = part.subject if named is None else named
            if parts and _denies_all(part):
                parts[-1] = replace(parts[-1], negated=not parts[-1].negated, predicate=ALL)
            else:
                parts.append(replace(part, subject=subject, opener=clause.opener))
    stems = frozenset(stem for part in parts for stem in part.stems)
    return Text(grammar, known, tokens, read_quantities(tokens), stems, tuple(parts))

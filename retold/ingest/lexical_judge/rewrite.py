"""Sentences that say one thing in another frame, put into the plain one.

"Musicals bore me" is "I dislike musicals", "they made me chair" is "I am chair", "the shop is run
by the user" is "the user runs the shop".  Each frame is a closed pattern over word classes; what
does not fit stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from retold.ingest.lexical_judge import lexicon, opinions
from retold.ingest.lexical_judge.modality import is_past_form
from retold.ingest.lexical_judge.normalise import Token, plain_token, tokenise

Tokens = list[Token]
_ME: Final = frozenset({"me", "us", "user"})
_JUDGING: Final = frozenset("find finds think thinks consider considers reckon reckons".split())
_THINKING: Final = _JUDGING - {"find", "finds"}
_COLOURS: Final = lexicon.DEGREE_ADVERBS | frozenset(
    "so to be is are a an bit pretty utterly".split()
)
_BREAKS: Final = frozenset("but because so if although though while whereas and or".split())
_MAKING: Final = frozenset({"make", "makes"})
_DRIVING: Final = frozenset({"drive", "drives"})
_APPOINTING: Final = frozenset("appointed elected promoted voted named made crowned hired".split())
_NEED_ROLE: Final = frozenset({"made", "named", "hired"})
_ROLES: Final = frozenset(
    "head lead leader manager director chief captain chair chairman chairwoman chairperson "
    "president vice partner boss supervisor coordinator secretary treasurer editor principal dean "
    "ceo cto cfo coo officer deputy foreman administrator moderator maintainer ambassador "
    "representative spokesperson mayor minister professor senior junior associate executor "
    "guardian godfather godmother godparent".split()
)
_VOID: Final = (
    lexicon.HYPOTHETICAL_LEADS
    | lexicon.NEGATORS
    | lexicon.MODALS
    | frozenset("almost nearly want wants wanted to hope hopes".split())
)
_ANY_DAY: Final = frozenset({("any", "day"), ("every", "time"), ("any", "time"), ("all", "day")})
_CHOOSING: Final = frozenset("pick take choose go have".split())
_MAX_PHRASE: Final = 6
_WHAT: Final = frozenset({"something", "what"})
_TRIGGERS: Final = (
    _JUDGING
    | opinions.FEELING.keys()
    | {"me", "us", "my", "over", "by", "something", "what", "name", "parent", "any"}
    | {"favourite", "favorite", "allergy", "intolerance"}
    | _APPOINTING
)


def read_tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a folded text with every known frame put into its plain form."""
    tokens = tokenise(text)
    words = {token.word for token in tokens}
    if words.isdisjoint(_TRIGGERS):
        return tokens
    out = list(tokens)
    for needed, rule in _RULES:
        if not words.isdisjoint(needed):
            out = rule(out)
    return tuple(out)


def _make(*words: str) -> Tokens:
    return [plain_token(word) for word in words]


_LONGEST: Final = 40
"""Tokens of a clause that are looked through; a longer one is none of the frames."""


def _start(tokens: Sequence[Token], position: int) -> int:
    """Return where the clause that holds the position begins."""
    last = max(0, position - _LONGEST)
    while position > last and not (
        tokens[position - 1].is_mark or tokens[position - 1].word in _BREAKS
    ):
        position -= 1
    return position


def _end(tokens: Sequence[Token], position: int) -> int:
    last = min(len(tokens), position + _LONGEST)
    while position < last and not tokens[position].is_mark:
        position += 1
    return position


def _judgements(tokens: Tokens) -> Tokens:
    """Put "find X awful", "think X is great" into "dislike X", "like X"."""
    for position, token in enumerate(tokens):
        if token.word not in _JUDGING:
            continue
        last = min(len(tokens), position + 2 + _MAX_PHRASE)
        for place in range(position + 2, last):
            if tokens[place].is_mark:
                break
            verdict = _verdict(tokens[place].word)
            follows = tokens[place + 1] if place + 1 < len(tokens) else None
            ends = follows is None or follows.is_mark or follows.word in lexicon.FUNCTION_WORDS
            if verdict and ends:
                thing = tokens[position + 1 : place]
                copula = any(t.word in {"is", "are", "to"} for t in thing)
                while thing and thing[-1].word in _COLOURS:
                    thing = thing[:-1]
                thing = [t for t in thing if t.word != "that"]
                if not thing or (token.word in _THINKING and not copula and "is" not in token.word):
                    break
                if any(t.word in lexicon.AUXILIARIES or t.word in _ME for t in thing):
                    break
                return [*tokens[:position], *_make(verdict), *thing, *tokens[place + 1 :]]
    return tokens


def _verdict(word: str) -> str:
    if word in opinions.GOOD:
        return "like"
    return "hate" if word in opinions.WORST else "dislike" if word in opinions.BAD else ""


def _feelings(tokens: Tokens) -> Tokens:
    """Put "X bores me", "X drives me mad", "X gets on my nerves" into "I dislike X"."""
    for position in range(1, len(tokens)):
        word, length = _feeling_at(tokens, position)
        if not word:
            continue
        start = _start(tokens, position)
        thing = tokens[start:position]
        signs: Tokens = []
        while thing and thing[-1].word in _VERB_LEADS:
            signs, thing = [thing[-1], *signs], thing[:-1]
        own = any(t.word in {"i", "we"} for t in thing)
        if not thing or own or len(thing) > _MAX_PHRASE:
            continue
        return [
            *tokens[:start],
            *_make("i"),
            *signs,
            *_make(word),
            *thing,
            *tokens[position + length :],
        ]
    return tokens


_VERB_LEADS: Final = (
    lexicon.AUXILIARIES | lexicon.NEGATORS | lexicon.DEGREE_ADVERBS | frozenset({"always"})
)


def _feeling_at(tokens: Sequence[Token], position: int) -> tuple[str, int]:
    """Return what the principal does and how many tokens said so, ("", 0) for other words."""
    words = [t.word for t in tokens[position : position + 5]]
    for length in (5, 4, 3):
        if tuple(words[:length]) in opinions.IDIOMS:
            return opinions.IDIOMS[tuple(words[:length])], length
    verb = words[0]
    if len(words) > 1 and words[1] == "the":
        words = [verb, *words[2:]]
        skipped = 1
    else:
        skipped = 0
    if len(words) < 2 or words[1] not in _ME or tokens[position + 1 + skipped].owner:  # noqa: PLR2004
        return "", 0
    if verb in opinions.FEELING:
        return opinions.FEELING[verb], 2 + skipped
    state = words[2] if len(words) > 2 else ""  # noqa: PLR2004
    length = 3 + skipped
    if state in {"feel", "so", "really"} and len(words) > 3:  # noqa: PLR2004
        state, length = words[3], length + 1
    if verb in _DRIVING and state in opinions.DRIVEN:
        return "dislike", length
    if verb in _MAKING and state in opinions.ILL:
        return "dislike", length
    return ("like", length) if verb in _MAKING and state in opinions.WELL else ("", 0)


def _choices(tokens: Tokens) -> Tokens:
    """Put "X for me", "X over Y any day", "I'd pick X over Y" into "I prefer X"."""
    for position in range(len(tokens) - 1):
        pair = tokens[position].word, tokens[position + 1].word
        start = _start(tokens, position)
        clause = tokens[start:position]
        if pair == ("for", "me") and _is_phrase(clause):
            after = tokens[position + 2] if position + 2 < len(tokens) else None
            if after is None or after.is_mark or after.word in lexicon.QUANTIFIERS:
                return [*tokens[:start], *_make("i", "prefer"), *clause, *tokens[position + 2 :]]
        if pair[0] == "over" and 0 < len(clause) < _MAX_PHRASE - 1:
            end = _end(tokens, position)
            rest = tokens[position:end]
            if tuple(t.word for t in rest[-2:]) in _ANY_DAY:
                kept = [*_make("i", "prefer"), *clause, *rest[:-2]]
                return [*tokens[:start], *kept, *tokens[end:]]
        if (
            pair[0] == "would"
            and pair[1] in _CHOOSING
            and position
            and tokens[position - 1].word == "i"
        ):
            rest = tokens[position + 2 : _end(tokens, position)]
            if any(t.word == "over" for t in rest):
                return [*tokens[:position], *_make("prefer"), *tokens[position + 2 :]]
    return tokens


def _is_phrase(clause: Sequence[Token]) -> bool:
    """Tell a short noun phrase from a clause, a negation or a judgement ("too hard for me")."""
    if not clause or len(clause) > _MAX_PHRASE - 2:
        return False
    words = {token.word for token in clause}
    plain = clause[0].word not in lexicon.FUNCTION_WORDS - lexicon.ARTICLES - lexicon.POSSESSIVES
    verbs = (
        lexicon.AUXILIARIES | _VOID | lexicon.PERSON_VERBS | {"same", "ditto", "thing", "please"}
    )
    judged = any(_verdict(word) or word in _FIT for word in words)
    return plain and not judged and not words & verbs and not any(is_past_form(t) for t in clause)


_FIT: Final = frozenset(
    "good bad best worst perfect hard easy difficult important enough new fine okay ok right wrong "
    "better worse nice cheap expensive possible impossible big small hot cold late early".split()
)


def _appointments(tokens: Tokens) -> Tokens:
    """Put "they made me chair", "I was promoted to captain" into "I am chair"."""
    for position, token in enumerate(tokens):
        if token.word not in _APPOINTING or position + 1 >= len(tokens):
            continue
        start = _start(tokens, position)
        lead = [t.word for t in tokens[start:position]]
        place = position + 1
        active = tokens[place].word in {"me", "us"}
        if active:
            place += 1
        while place < len(tokens) and tokens[place].word in {"to", "as", "the", "a", "an", "be"}:
            place += 1
        near = {t.word for t in tokens[place : place + 3]}
        if token.word in _NEED_ROLE | {"promoted"} and not near & _ROLES:
            continue
        if place >= len(tokens) or _VOID & {*lead} or (start and tokens[start - 1].word in _VOID):
            continue
        by_others = active and not {"i", "we"} & {*lead} and lead
        passive = not active and _is_appointed(lead)
        if by_others or passive:
            return [*tokens[:start], *_make("i", "am"), *tokens[place:]]
    return tokens


def _is_appointed(lead: Sequence[str]) -> bool:
    """Tell "I was", "I got", "I've been", "just got" before a participle."""
    helper = lexicon.BE | {"got", "get", "have", "just", "i", "we", "recently", "finally", "now"}
    return bool(lead) and lead[-1] in lexicon.BE | {"got"} and {*lead} <= helper


def _passives(tokens: Tokens) -> Tokens:
    """Put "X is run by the user" into "the user runs X"."""
    for position, token in enumerate(tokens):
        if token.word != "by" or position + 1 >= len(tokens):
            continue
        start = _start(tokens, position)
        end = _end(tokens, position)
        agent = tokens[position + 1 : end]
        helper = next(
            (n for n in range(start, position) if tokens[n].word in {"is", "are", "was", "were"}),
            -1,
        )
        if helper <= start or not _is_agent(agent):
            continue
        verb = helper + 1
        if tokens[verb].word == "being":
            verb += 1
        if verb >= position or not _is_participle(tokens[verb]):
            continue
        done = _active(tokens[verb], present=tokens[helper].word in {"is", "are"})
        thing, rest = tokens[start:helper], tokens[verb + 1 : position]
        return [*tokens[:start], *agent, done, *thing, *rest, *tokens[end:]]
    return tokens


def _active(token: Token, *, present: bool) -> Token:
    """Return the finite form of a participle, regular whatever its verb: only class words count."""
    if not present:
        return token if is_past_form(token) else token._replace(word=f"{token.stem}ed")
    bases = (token.word[:-1], token.word[:-2])
    liked = next((word for word in bases if word in _ATTITUDES), "")
    return token._replace(word=liked or f"{token.stem}s")


_ATTITUDES: Final = lexicon.LIKING | lexicon.DISLIKING


def _is_participle(token: Token) -> bool:
    return is_past_form(token) or token.word in {
        "run",
        "written",
        "driven",
        "given",
        "taken",
        "owned",
    }


_ACTORS: Final = lexicon.MALE | lexicon.FEMALE | frozenset({"user", "person", "people"})


def _is_agent(tokens: Sequence[Token]) -> bool:
    """Tell a person after "by" from a time, a place or a means."""
    if not tokens or len(tokens) > 3:  # noqa: PLR2004 - an article, an adjective, a noun
        return False
    last = tokens[-1]
    if last.word in lexicon.MONTHS or last.word in lexicon.WEEKDAYS or last.owner:
        return False
    return (
        last.word in _ACTORS
        or last.word in lexicon.KIN
        or all(t.surface[:1].isupper() for t in tokens)
    )


def _inversions(tokens: Tokens) -> Tokens:
    """Put "Rex is the name of X" into "X is called Rex", "X is what I want" into "I want X"."""
    words = [token.word for token in tokens]
    end = _end(tokens, 0)
    if "is" not in words[1:end]:
        return tokens
    place = words.index("is")
    head, rest = tokens[:place], tokens[place + 1 : end]
    following = [t.word for t in rest]
    if following[:3] == ["the", "name", "of"] and len(rest) > 3:  # noqa: PLR2004
        return [*rest[3:], *_make("is", "called"), *head, *tokens[end:]]
    owned = following[:1] in (["user"], ["my"]) or following[:2] == ["the", "user"]
    if owned and {"favourite", "favorite"} & {*following} and "user" not in words[:place]:
        return [*rest, *_make("is"), *head, *tokens[end:]]
    opened = following[:1] and following[0] in _WHAT
    subject = rest[1:]
    while subject and subject[0].word == "that":
        subject = subject[1:]
    if opened and subject and {"user", "i"} & {t.word for t in subject[:2]}:
        if [t.word for t in subject[-2:]] == ["to", "do"]:
            subject = subject[:-1]
        return [*subject, *head, *tokens[end:]]
    return tokens


_CONDITIONS: Final = frozenset({"allergy", "intolerance"})


def _conditions(tokens: Tokens) -> Tokens:
    """Put "has a nut allergy" into "is allergic to nut"."""
    for position, token in enumerate(tokens):
        if token.word not in _CONDITIONS:
            continue
        start = position - 1
        while start >= 0 and tokens[start].word not in lexicon.FUNCTION_WORDS:
            start -= 1
        thing = tokens[start + 1 : position]
        if start > 0 and tokens[start].word in {"a", "an"}:
            start -= 1
        if start < 0 or tokens[start].word not in lexicon.HAVE or not 0 < len(thing) <= 2:  # noqa: PLR2004
            continue
        adjective = "allergic" if token.word == "allergy" else "intolerant"
        return [*tokens[:start], *_make("is", adjective, "to"), *thing, *tokens[position + 1 :]]
    return tokens


def _parents(tokens: Tokens) -> Tokens:
    """Put "is a parent of two" into "has two children"."""
    for position in range(2, len(tokens) - 2):
        words = [t.word for t in tokens[position - 2 : position + 2]]
        number = tokens[position + 2]
        counted = number.word in lexicon.NUMBER_WORDS or number.is_number
        if words[0] in lexicon.BE and words[1:] == ["a", "parent", "of"] and counted:
            return [
                *tokens[: position - 2],
                *_make("has"),
                number,
                *_make("children"),
                *tokens[position + 3 :],
            ]
    return tokens


_RULES: Final[tuple[tuple[frozenset[str], Callable[[Tokens], Tokens]], ...]] = (
    (_JUDGING, _judgements),
    (frozenset({"me", "us", "user", "my"}), _feelings),
    (frozenset({"for", "over"}), _choices),
    (_APPOINTING, _appointments),
    (frozenset({"by"}), _passives),
    (frozenset({"name", "favourite", "favorite"}) | _WHAT, _inversions),
    (_CONDITIONS, _conditions),
    (frozenset({"parent"}), _parents),
)
"""Each rule with the words of which it needs one."""

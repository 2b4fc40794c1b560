"""Clauses that lack what an earlier one of their sentence holds.

"I don't, however, eat meat" denies that the speaker eats meat, and "I don't smoke, drink or gamble"
denies three things. Cut at their marks, the last clause of each says the opposite.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.normalise import Token, plain_token
from retold.ingest.lexical_judge.opened import Opened
from retold.ingest.lexical_judge.subject import opens_subject

_DENYING: Final = frozenset({"not", "never", "no"})
_HANGING: Final = lexicon.AUXILIARIES | {"not", "never"}
"""Words that a verb or a complement must follow."""
_UNFINISHED: Final = frozenset({("used", "to"), ("going", "to")})
_BEFORE_MAY: Final = lexicon.PREPOSITIONS | frozenset("last next this early late mid".split())
"""Words before which "may" is a month."""
_DOUBTED: Final = frozenset("think believe suppose say feel claim".split())
_EITHER: Final = frozenset({"or", "nor"})
_SUBJECTS: Final = frozenset("i we you he she they it this these those there that who".split())
_RELATIVE: Final = frozenset({"that", "which", "who", "where"})
_REMARKING: Final = lexicon.PREPOSITIONS | frozenset(
    "as however though indeed ever still yet too alas perhaps and or if when to well so".split()
)
"""Words that open a remark rather than go on with a sentence."""
_ASIDE: Final = (
    _REMARKING
    | _SUBJECTS
    | frozenset("one some these contrary thank god whatever given unlike even not".split())
)
_CONTRASTING: Final = frozenset(
    "rather instead only just merely mostly mainly usually often normally sometimes mind".split()
)
_OWN_MATTER: Final = (
    lexicon.LIKING
    | lexicon.DISLIKING
    | lexicon.AUXILIARIES
    | lexicon.ENDING
    | frozenset(
        "prefer prefers got gave left lost avoid avoids refuse refuses deleted more".split()
    )
)
"""Words that open a statement of its own behind a denial: "I don't eat meat, love fish"."""
_LOOSE: Final = frozenset("more less so once twice one two three".split())
_REACH: Final = 6
"""Clauses behind one that breaks off among which its end is looked for."""
_NEAR: Final = 4
"""Words of a clause among which its verb shows that it has a subject."""
_MOST: Final = 12
"""Members of a denied list, and words of its denial; what is longer is no list."""
_IN_DOUBT: Final = (plain_token("perhaps"),)
_TURNING: Final = lexicon.ENDING | frozenset(
    "without skip skips skipped miss misses missed".split()
)
"""Words that turn a denial round: "I don't go a week without swimming"."""


def completed(clauses: Sequence[Opened]) -> tuple[Opened, ...]:
    """Return the clauses of one English sentence with what they lack."""
    return tuple(_with_denied_lists(list(_rejoined(clauses))))


def _rejoined(clauses: Sequence[Opened]) -> Iterator[Opened]:
    """Yield the clauses with what goes on behind a parenthesis joined to what it goes on with.

    A second half that is interrupted alike goes on with the same: "I was, and still am, a nurse".
    """
    position = 0
    while position < len(clauses):
        far = _continuation(clauses, position)
        if far is None:
            yield clauses[position]
            position += 1
            continue
        for clause in clauses[position:far]:
            goes_on = clause is clauses[position] or _hangs(clause)
            rest = clauses[far].tokens if goes_on else ()
            yield Opened(clause.opener, clause.tokens + rest)
        position = far + 1


def _continuation(clauses: Sequence[Opened], position: int) -> int | None:
    """Return the place of the clause that goes on with one that breaks off; None for none.

    Only remarks stand between the two: "I can't, diabetic" gives a reason.
    """
    doubts = _doubts(clauses[position])
    if not doubts and not _hangs(clauses[position]):
        return None
    for far in range(position + 2, min(position + 2 + _REACH, len(clauses))):
        if not _is_aside(clauses[far - 1]):
            return None
        if doubts and clauses[far].words[:1] == ("that",):
            return far
        if not doubts and clauses[far].opener == "" and _goes_on(clauses[far]):
            return far
    return None


def _hangs(clause: Opened) -> bool:
    words = clause.words
    if len(words) <= 1:
        return False
    before, last = words[-2:]
    is_month = last == "may" and (before[0].isdigit() or before in _BEFORE_MAY)
    return (last in _HANGING and not is_month) or (before, last) in _UNFINISHED


def _doubts(clause: Opened) -> bool:
    words = clause.words
    return len(words) > 1 and words[-1] in _DOUBTED and not _DENYING.isdisjoint(words)


def _is_aside(clause: Opened) -> bool:
    words = clause.words
    if not words or clause.opener:
        return True
    return words[0] in _ASIDE or words[0].endswith("ly") or words[-1] == "ago"


def _goes_on(clause: Opened) -> bool:
    """Tell whether a clause may be the end of an earlier one and is neither whole nor a remark."""
    first = clause.words[0] if clause.words else ""
    remarks = first in _REMARKING or first.endswith("ly")
    return bool(first) and not remarks and not _is_whole(clause)


def _is_whole(clause: Opened) -> bool:
    """Tell whether a clause has a subject of its own."""
    words = clause.words
    if words[0] in _SUBJECTS or opens_subject(clause.tokens, 0):
        return True
    near = takewhile(lambda word: word not in _RELATIVE, words[1:_NEAR])
    return words[0] not in lexicon.AUXILIARIES and any(word in lexicon.AUXILIARIES for word in near)


def _with_denied_lists(clauses: Sequence[Opened]) -> Iterator[Opened]:
    """Yield the clauses with the denial of a list before each member of it."""
    denial: tuple[Token, ...] = ()
    members: list[Opened] = []
    for clause in clauses:
        if denial and _is_member(clause):
            members.append(clause)
            continue
        yield from _denied(members, denial)
        yield clause
        denial, members = _denial_of(clause), []
    yield from _denied(members, denial)


def _is_member(clause: Opened) -> bool:
    words = clause.words
    return (
        (clause.opener == "" or clause.opener in _EITHER)
        and bool(words)
        and words[0] not in _OWN_MATTER
        and _CONTRASTING.isdisjoint(words)
        and _DENYING.isdisjoint(words)
        and _TURNING.isdisjoint(words)
        and not _is_whole(clause)
    )


def _denied(members: Sequence[Opened], denial: tuple[Token, ...]) -> Iterator[Opened]:
    """Yield what follows a denial: denied where it is a list, in doubt where it may be one.

    "I don't smoke, drink or gamble" is one, "I don't drive, take the bus" is none, and of "I can't
    see well, wear glasses or contacts" only the sense tells.
    """
    prefix: tuple[Token, ...] = ()
    if members and len(members) <= _MOST and len(denial) <= _MOST:
        last = members[-1]
        before = members[-2] if len(members) > 1 else None
        if last.opener not in _EITHER:
            prefix = denial if len(members) > 1 and all(map(_is_bare, members)) else ()
        elif before is None or (_is_bare(before) and _is_bare(last)):
            prefix = () if _is_loose(before, last) else denial
        else:
            prefix = () if _is_loose(before, last) else _IN_DOUBT
    for member in members:
        yield Opened(member.opener, prefix + member.tokens)


def _is_bare(clause: Opened) -> bool:
    """Tell whether a clause is one word, its article left out."""
    return sum(word not in lexicon.ARTICLES for word in clause.words) == 1


def _is_loose(before: Opened | None, last: Opened) -> bool:
    """Tell whether "or" joins no two members: "a glass or two", "more or less"."""
    return last.words[0] in _LOOSE or (before is not None and before.words[-1] in _LOOSE)


def _denial_of(clause: Opened) -> tuple[Token, ...]:
    """Return a clause up to its denial, which something follows; nothing where it denies nothing.

    A bare "not green" excludes a thing and denies no list; "not only" denies nothing, nor does what
    is turned round again.
    """
    places = [at for at, token in enumerate(clause.tokens) if token.word in _DENYING]
    last = places[0] if places else 0
    follows = clause.tokens[last + 1 : last + 2]
    turned = any(token.word in _TURNING for token in clause.tokens[last + 1 :])
    if last == 0 or not follows or follows[0].word in _CONTRASTING or turned:
        return ()
    return clause.tokens[: last + 1]

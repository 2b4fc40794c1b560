"""Which key a claim is filed under; pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from retold.errors import InvalidInput, InvalidSubject
from retold.models import EntityMention, MemoryType
from retold.text import normalize_alias, normalize_attribute, normalize_ws

NO_ATTRIBUTE: Final = "-"
"""The attribute of an episodic record; never a supersession key."""

_NAME_OPENING: Final = re.compile(
    r"^(?P<name>[A-ZÀ-ÖØ-Þ][\w-]*(?: [A-ZÀ-ÖØ-Þ][\w-]*){0,2})"
    r"(?:['’]s? (?P<theirs>[\w-]+))? (?P<next>[a-zß-öø-ÿ][\w'’-]*)"
)
"""One to three capitalised words, perhaps "Priya's manager", and the lower-case word after."""
_PERSONAL_VERBS: Final = frozenset(
    "prefers likes loves hates dislikes enjoys lives plays speaks eats drinks studies teaches "
    "thinks believes says said told asked knows married owns wants".split()
)
"""Taste, mind, speech and dwelling: what no stack, standup or lunch does."""
_PERSONAL_PHRASES: Final = re.compile(
    r"(?:works (?:at|for|as|with) |moved to (?:the )?[A-ZÀ-ÖØ-Þ]"
    r"|has (?:a|an|two|three|no) (?:\w+ )?(?:brothers?|sisters?|sons?|daughters?|child|children"
    r"|kids?|dogs?|cats?|pets?|wife|husband|partner|boyfriend|girlfriend)\b"
    r"|(?:is|was|isn't|wasn't) (?:not )?(?:allergic|vegan|pescatarian|married|single|divorced"
    r"|engaged|pregnant|retired|diabetic|colou?r-?blind|left-handed|right-handed|\d+ years? old"
    r"|born|afraid|fluent)\b)"
)
"""Verbs that things share, with what follows only for people."""
_NOT_NAMES: Final = frozenset(
    "a an the i we you he she it they this that these those my our your his her its their user "
    "users everyone everybody someone somebody anyone anybody nobody nothing everything who what "
    "when where why how which there here today yesterday tomorrow now never always currently "
    "usually often sometimes please if because since although while after before during both all "
    "some any each every no not one client customer team company management people".split()
)


@dataclass(frozen=True, slots=True)
class Key:
    """The attribute a claim is filed under. ``derived`` keys come from the content."""

    attribute: str = field(repr=False)
    derived: bool


def attribute_key(type_: MemoryType, content: str, hint: str | None) -> Key:
    """Return the attribute of a claim.

    Without a hint a semantic or procedural claim is filed under a hash of its content: rephrased
    claims then do not meet. Raises InvalidSubject for a hint of which nothing remains.
    """
    if type_ == "episodic":
        return Key(NO_ATTRIBUTE, derived=False)
    if hint is None:
        digest = hashlib.sha256(normalize_ws(content).casefold().encode()).hexdigest()
        return Key(f"content_{digest[:16]}", derived=True)
    attribute = normalize_attribute(hint)
    if not attribute:
        raise InvalidSubject(
            "attribute normalizes to nothing; use words such as home_city", field="attribute"
        )
    return Key(attribute, derived=False)


def primary_mention(mentions: Sequence[EntityMention]) -> EntityMention | None:
    """Return the first ``about`` mention; None when there is none."""
    return next((mention for mention in mentions if mention.role == "about"), None)


def require_own_subject(content: str, names: Sequence[str]) -> None:
    """Refuse a claim about the principal that opens with somebody else's name.

    Looks for a capitalised opening followed by a verb or a description that fits people only, so
    "Coffee is too bitter" passes. Raises InvalidInput naming ``about``.
    """
    opening = _NAME_OPENING.match(normalize_ws(content))
    if opening is None or not _describes_a_person(opening, content):
        return
    name = opening["name"]
    first = normalize_alias(name.split()[0])
    known = {word for known_name in names for word in normalize_alias(known_name).split()}
    if first in _NOT_NAMES or first in known or normalize_alias(name) in known:
        return
    raise InvalidInput(
        "the claim opens with a proper name that is not the user's; say whom it concerns with "
        "about=, such as about='Priya'",
        field="about",
    )


def _describes_a_person(opening: re.Match[str], content: str) -> bool:
    if opening["next"] in _PERSONAL_VERBS:
        return True
    return _PERSONAL_PHRASES.match(normalize_ws(content), opening.start("next")) is not None

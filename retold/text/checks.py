"""Refusals of identifiers, texts, lists and limits that no caller should pass."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final, TypeVar

from retold.errors import InvalidInput

T = TypeVar("T")

MAX_ID_CHARS: Final = 512
"""Longest accepted identifier; ids are index keys and part of every log line."""

MAX_PAGE: Final = 1000
"""Most rows that one list returns."""

_UNSEEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
_FILLERS: Final = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and symbols without a glyph: the four fillers of Hangul and the Braille blank."""


def require_id(value: str, field: str, *, allow_slash: bool) -> str:
    """Return ``value`` unchanged if it can be an identifier.

    Raises ``InvalidInput`` for anything but a string of 1 to 512 characters that is not blank and
    has neither control characters, line separators nor lone surrogates, nor a ``/`` unless
    ``allow_slash``. Messages name the field, never the value.
    """
    _require_filled_string(value, field, "an identifier")
    if len(value) > MAX_ID_CHARS:
        raise InvalidInput(
            f"`{field}` has {len(value)} characters; use at most {MAX_ID_CHARS}.", field=field
        )
    plain = value.isascii() and value.isprintable()
    categories = set() if plain else {unicodedata.category(char) for char in value}
    if "Cs" in categories:
        raise InvalidInput(f"`{field}` holds a lone surrogate; pass well-formed text.", field=field)
    if categories & {"Cc", "Zl", "Zp"}:
        raise InvalidInput(f"`{field}` holds control characters; remove them.", field=field)
    if not allow_slash and "/" in value:
        raise InvalidInput(f"`{field}` holds a slash; use another separator.", field=field)
    return value


def require_text(value: str, field: str, max_chars: int) -> str:
    """Return ``value`` unchanged if it can be stored.

    Raises ``InvalidInput`` for anything but a string that shows something, has no NUL and no lone
    surrogate, and at most ``max_chars`` characters. Messages name the field, never the value.
    """
    _require_filled_string(value, field, "text")
    if len(value) > max_chars:
        raise InvalidInput(
            f"`{field}` has {len(value)} characters and may have {max_chars}; shorten or split it.",
            field=field,
        )
    if "\x00" in value:
        raise InvalidInput(f"`{field}` holds a NUL character; remove it.", field=field)
    if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        raise InvalidInput(
            f"`{field}` holds a lone surrogate; decode the source with the right encoding.",
            field=field,
        )
    return value


def require_list(values: Iterable[T], field: str) -> tuple[T, ...]:
    """Return the values as a tuple.

    Raises ``InvalidInput`` for one string, whose characters would pass for the values, and for
    what cannot be iterated.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        kind = type(values).__name__
        raise InvalidInput(
            f'`{field}` must be a list such as {field}=["first", "second"], not one {kind}.',
            field=field,
        )
    return tuple(values)


def require_bool(value: bool, field: str) -> bool:
    """Return the switch. Raises ``InvalidInput`` for another type: the text "no" would mean yes."""
    if type(value) is not bool:
        kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        raise InvalidInput(f"`{field}` must be True or False, not {kind}.", field=field)
    return value


def require_limit(limit: int) -> int:
    """Return the most rows that a list shall return. Raises ``InvalidInput`` outside 1 to 1000."""
    if type(limit) is not int or not 1 <= limit <= MAX_PAGE:
        raise InvalidInput(f"`limit` must be a whole number from 1 to {MAX_PAGE}.", field="limit")
    return limit


def _is_invisible(char: str) -> bool:
    return unicodedata.category(char) in _UNSEEN_CATEGORIES or char in _FILLERS


def _require_filled_string(value: object, field: str, what: str) -> None:
    if not isinstance(value, str):
        raise InvalidInput(
            f"`{field}` must be {what} as a string, not {type(value).__name__}.", field=field
        )
    if all(map(_is_invisible, value)):
        raise InvalidInput(f"`{field}` is blank; give {what}.", field=field)

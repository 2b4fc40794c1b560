"""A changed copy of a candidate, cheap enough to make for every pool member."""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import Any

from retold.models import Candidate

_NAMES = tuple(one.name for one in fields(Candidate))
_values = attrgetter(*_NAMES)
_SETTERS = tuple(getattr(Candidate, name).__set__ for name in _NAMES)
_SETTER_OF = dict(zip(_NAMES, _SETTERS, strict=True))


def evolve(candidate: Candidate, **changes: Any) -> Candidate:  # noqa: ANN401  # as dataclasses.replace
    """Return what ``dataclasses.replace`` returns, in a third of its time.

    A search changes some hundred candidates, and ``replace`` was a tenth of it. The copy is filled
    through the slots before anybody else can see it.
    """
    copy = object.__new__(Candidate)
    for set_slot, value in zip(_SETTERS, _values(candidate), strict=True):
        set_slot(copy, value)
    for name, value in changes.items():
        _SETTER_OF[name](copy, value)
    return copy

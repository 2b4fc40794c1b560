"""Candidates made and changed cheaply enough to do so for every pool member."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, Final

from retold.models import Candidate

_DEFAULTS: Final[dict[str, Any]] = {
    one.name: one.default for one in fields(Candidate) if one.default is not MISSING
}
_NAMES: Final = frozenset(one.name for one in fields(Candidate))


def evolve(candidate: Candidate, **changes: Any) -> Candidate:  # noqa: ANN401  # as dataclasses.replace
    """Return what ``dataclasses.replace`` returns, in a tenth of its time.

    A search changes some hundred candidates, and ``replace`` was a tenth of it. The copy is filled
    through its ``__dict__`` before anybody else can see it. Raises TypeError for an unknown field.
    """
    if not _NAMES.issuperset(changes):
        raise TypeError(f"a candidate has no {sorted(changes.keys() - _NAMES)}")
    copy = object.__new__(Candidate)
    values = copy.__dict__
    values.update(candidate.__dict__)
    values.update(changes)
    return copy


def candidate_of(values: dict[str, Any]) -> Candidate:
    """Return what ``Candidate(**values)`` returns, in half of its time.

    ``values`` must hold every field without a default, and fields only: nothing is checked.
    """
    new = object.__new__(Candidate)
    filled = new.__dict__
    filled.update(_DEFAULTS)
    filled.update(values)
    return new

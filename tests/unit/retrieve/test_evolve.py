"""Changed copies of candidates."""

from __future__ import annotations

from dataclasses import replace

import pytest

from retold.retrieve.evolve import evolve
from tests.unit.retrieve.pool import candidate, hit, match


def test_evolve_equals_replace_and_leaves_the_original_alone() -> None:
    given = candidate(3, dense=hit(0.5), lexical_match=match(2, 3))
    changes = {"gate_reason": "passed on dense", "score": 0.5}

    assert evolve(given, **changes) == replace(given, **changes)
    assert given.gate_reason is None


def test_evolved_candidate_is_frozen_too() -> None:
    with pytest.raises(AttributeError):
        evolve(candidate()).score = 1.0  # type: ignore[misc]


def test_evolve_refuses_an_unknown_field() -> None:
    with pytest.raises(TypeError):
        evolve(candidate(), rrf_score=1.0)

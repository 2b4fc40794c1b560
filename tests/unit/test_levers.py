"""Levers: what a configuration runs, its unset keys filled in from the preset."""

from __future__ import annotations

import pytest

from retold.config import FTS5_BM25, parse_config, resolve_levers


def levers(**retrieval: object):
    return resolve_levers(parse_config({"retrieval": retrieval}).retrieval)


DESIGN = {
    "per_generator_k": 30,
    "pool_limit": None,
    "bm25.k1": 1.2,
    "bm25.b": 0.75,
    "fusion.kind": "rrf",
    "fusion.rrf_k": 60,
    "entities.role": "list",
    "boosts.date_interval": 0.0,
    "boosts.session": 0.0,
    "freshness.kind": "multiplicative",
    "gate_kind": "floors",
    "duplicates": "collapse",
    "dedup_cosine": 0.92,
    "context": "facts",
}
MEASURED = {
    "per_generator_k": 100,
    "pool_limit": 50,
    "bm25.k1": 0.9,
    "bm25.b": 0.4,
    "fusion.kind": "convex",
    "fusion.alpha": 0.6,
    "fusion.alpha_uncovered": 0.3,
    "entities.role": "tie_break",
    "entities.tie_break": 0.02,
    "boosts.date_interval": 0.3,
    "boosts.session": 0.3,
    "boosts.session_min_records": 2,
    "boosts.session_max_records": 40,
    "freshness.kind": "additive",
    "freshness.weight": 0.05,
    "freshness.half_life_part": 0.25,
    "gate_kind": "null_z",
    "gate.null_z.explicit": 1.0,
    "gate.null_z.auto": 2.0,
    "gate.null_z.relative_cut": 0.5,
    "duplicates": "group",
    "dedup_cosine": 0.97,
    "context": "facts",
}


@pytest.mark.parametrize(("preset", "expected"), [("design", DESIGN), ("measured", MEASURED)])
def test_unset_levers_follow_the_preset(preset, expected):
    ran = levers(preset=preset)

    def value(path):
        found = ran
        for name in path.split("."):
            found = getattr(found, name)
        return found

    assert {path: value(path) for path in expected} == expected
    assert ran.gate.kind == ran.gate_kind


def test_the_length_of_a_turn_counts_as_in_fts5():
    """A long turn says more than one thing; a fact is short for other reasons."""
    assert levers(preset="measured", context="turns").bm25 == FTS5_BM25
    assert levers(preset="measured", context="turns", bm25={"b": 0.1}).bm25.b == 0.1


SET = {
    "per_generator_k": 7,
    "pool_limit": 20,
    "bm25": {"k1": 2.0, "b": 0.1},
    "fusion": {"kind": "convex"},
    "entities": {"role": "tie_break"},
    "boosts": {"date_interval": 0.1, "session": 0.0},
    "freshness": {"kind": "off"},
    "gate": {"kind": "null_z"},
    "duplicates": "group",
    "dedup_cosine": 0.5,
}


@pytest.mark.parametrize("name", SET)
@pytest.mark.parametrize("preset", ["design", "measured"])
def test_a_set_lever_wins_in_either_preset_and_moves_no_other(preset, name):
    plain, mixed = levers(preset=preset).to_json(), levers(preset=preset, **{name: SET[name]})
    changed = {key for key, value in mixed.to_json().items() if value != plain[key]}

    assert changed <= {name, f"{name}_kind"}
    given = SET[name]
    found = getattr(mixed, name)
    if isinstance(given, dict):
        assert {key: getattr(found, key) for key in given} == given
    else:
        assert found == given


def test_the_flags_of_a_search_say_which_levers_ran():
    flags = parse_config({"retrieval": {"preset": "measured", "per_generator_k": 9}}).flags()

    assert (flags["preset"], flags["per_generator_k"]) == ("measured", 9)
    assert flags["fusion"]["kind"] == "convex"
    assert flags["gate"]["kind"] == flags["gate_kind"] == "null_z"

"""Which candidates the gate lets through, with what reason, and what it says when none is left."""

from __future__ import annotations

import pytest

from retold.config.retrieval import GateConfig
from retold.retrieve.replay import logged_candidates, replay_gate
from tests.scenarios.support import contents, person


def _place(world, content, query, cosine, **fields):
    world.embedder.similar(content, query, cosine)
    return world.tell(content, **fields)


def _reason(world, page, result):
    return dict(world.log(page)["gated_out"])[result.record_id]


def test_dense_floor_depends_on_the_type_and_is_named(world):
    query = "zebra"
    episode = _place(world, "A quiet evening", query, 0.42, type="episodic")
    fact = _place(world, "Some other fact", query, 0.42, attribute="misc")

    page = world.session().search(query)

    assert [item.record.id for item in page] == [episode.record_id]
    assert "0.42 < 0.45 (semantic)" in _reason(world, page, fact)
    assert "0.42 >= 0.40 (episodic)" in page.items[0].explanation.gate


@pytest.mark.parametrize(
    ("query", "passes"),
    [
        ("deployment", False),
        ("ERR42", True),
        ("deployment rollback", True),
    ],
    ids=["one-plain-word", "one-identifier", "two-plain-words"],
)
def test_one_plain_word_is_too_little_for_a_lexical_only_candidate(world, query, passes):
    content = "The deployment rollback failed with ERR42 at night"
    stored = _place(world, content, query, 0.05, type="episodic")

    page = world.session().search(query)

    assert contents(page) == ([content] if passes else [])
    if not passes:
        assert "1 matched < 2" in _reason(world, page, stored)


def test_share_of_the_query_terms_is_asked_for_as_well(world):
    query = "rollback harbour lantern kitchen deployment"
    stored = _place(world, "The deployment rollback failed", query, 0.05, type="episodic")

    page = world.session().search(query)

    assert contents(page) == []
    assert "lexical 2/5 terms < 0.5" in _reason(world, page, stored)


def test_single_term_that_is_an_entity_alias_is_enough(world):
    """The record is found by its words alone: the alias belongs to another record's entity."""
    query = "Zephyr"
    world.tell("The new tool is fast", attribute="tool_x", mentions=(person("Zephyr", "mentions"),))
    stored = _place(world, "The zephyr blew all night", query, 0.05, type="episodic")

    page = world.session().search(query)

    (found,) = [item for item in page if item.record.id == stored.record_id]
    assert found.explanation.matched_by == ("dense", "lexical")
    assert found.explanation.entity is None
    assert "one an entity alias" in found.explanation.gate


def test_relative_floor_drops_a_weak_single_signal_and_spares_an_entity_hit(make_world):
    """Survivors are compared with those of as many channels (LLD 10.5, step 2)."""
    depth = 14
    world = make_world({"retrieval": {"per_generator_k": depth, "gate": {"relative_floor": 0.9}}})
    about_zoe = (person("Zoe"),)
    for number in range(depth):
        content = f"Entry {number} of the log"
        _place(world, content, "zebra", 0.8 - number / 100, type="episodic")
        world.tell(f"Zoe did thing {number}", type="episodic", mentions=about_zoe)

    page = world.session().search("zebra", entities=["Zoe"], k=2 * depth)

    log = world.log(page)
    fused = {record_id: score for record_id, score in log["fused"]}
    last_dense, last_entity = log["dense"][-1][0], log["entity"][-1][0]
    assert fused[last_dense] == fused[last_entity] < 0.9 * max(fused.values())
    reasons = dict(log["gated_out"])
    assert reasons[last_dense].startswith("step 2, relative floor")
    assert last_entity in {item.record.id for item in page}
    assert not set(reasons) & {row[0] for row in log["entity"]}


def test_single_survivor_is_not_measured_against_itself(make_world):
    world = make_world({"retrieval": {"gate": {"relative_floor": 1.0}}})
    stored = _place(world, "A quiet evening", "zebra", 0.46, type="episodic")

    page = world.session().search("zebra")

    assert [item.record.id for item in page] == [stored.record_id]


def test_empty_reason_names_every_floor_the_best_candidate_missed(world):
    query = "harbour opening hours tomorrow"
    _place(world, "The harbour was quiet", query, 0.38, attribute="note")

    page = world.session().search(query)

    assert not page
    for part in (
        "best dense 0.38 < 0.45 (semantic)",
        "best lexical 1/4 terms < 0.5, 1 matched < 2",
        "no entity match",
    ):
        assert part in page.empty_reason


def test_other_floors_decide_a_logged_search_again_without_the_records(world):
    query = "zebra"
    _place(world, "A quiet evening", query, 0.42, type="episodic")
    _place(world, "Some other fact", query, 0.42, attribute="misc")
    _place(world, "A third thing", query, 0.30, type="episodic")
    page = world.session().search(query)
    row = world.raw_log(page)
    world.retold.close()

    recorded = replay_gate(row)
    lenient = replay_gate(row, GateConfig.model_validate({"dense_floor": {"semantic": 0.4}}))
    strict = replay_gate(row, GateConfig.model_validate({"dense_floor": {"episodic": 0.5}}))

    assert [one.record_id for one in recorded.kept] == [item.record.id for item in page]
    assert len(logged_candidates(row)) == 3
    assert len(lenient.kept) == 2
    assert strict.kept == ()

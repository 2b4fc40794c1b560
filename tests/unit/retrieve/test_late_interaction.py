"""Ranking anew by single words: what moves, what stays, and what the log says of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retold.errors import ConfigError, InvalidInput
from retold.retrieve.assemble import Scored
from retold.retrieve.late_interaction import late_amounts, moved
from retold.retrieve.replay import replay_fusion, replay_gate, replay_late_interaction
from retold.retrieve.retriever import Retriever
from tests.unit.retrieve.world import BOB, CONFIG, World, config

OPEN = {"kind": "null_z", "null_z": {"explicit": -1e9, "relative_cut": 0.0}}
LATE: dict[str, Any] = {"enabled": True}
MEASURED = {"preset": "measured", "gate": OPEN, "late_interaction": LATE}
DESIGN = {"preset": "design", "late_interaction": LATE}
FACTS = (
    "green tea",
    "tea harbour",
    "morning green bicycle",
    "Ana drinks green tea every morning at the harbour office beside the bicycle shop",
    "Deploys run on Friday afternoon",
)
QUERY = "Ana green tea morning"
Build = Callable[..., World]


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    worlds: list[World] = []

    def make(retrieval: dict[str, Any] = MEASURED, **blocks: Any) -> World:
        made = config(retrieval=retrieval, **blocks)
        worlds.append(World(tmp_path / f"{len(worlds)}.sqlite", made))
        return worlds[-1]

    yield make
    for world in worlds:
        world.close()


def told(world: World, facts: Any = FACTS, **fields: Any) -> World:
    for content in facts:
        world.add(content, **({"tokens": True} | fields))
    return world


def late_of(world: World, *queries: str, **fields: Any) -> dict[str, Any] | None:
    logged = json.loads(world.log(world.search(*queries, **fields))["candidates"])
    found: dict[str, Any] | None = logged["late_interaction"]
    return found


# --- the amounts ---------------------------------------------------------------------------

NUMBERS = st.lists(st.tuples(st.floats(0.0, 1.5), st.floats(-1.0, 1.0)), min_size=0, max_size=12)


@given(NUMBERS, st.floats(0.0, 1.0))
def test_amounts_keep_the_mean_and_at_weight_one_the_spread(pairs: Any, weight: float) -> None:
    """So a record without token vectors neither gains nor loses a place by what others have."""
    scores, similarities = np.array(pairs).reshape(-1, 2).T
    amounts = late_amounts(scores, similarities, weight)

    assert amounts.sum() == pytest.approx(0.0, abs=1e-6)
    if weight == 1.0 and len(pairs) and similarities.std() > 0.05:
        assert (scores + amounts).std() == pytest.approx(scores.std(), abs=1e-6)


def test_members_without_token_vectors_keep_their_scores_and_all_keep_their_order() -> None:
    scored = [Scored(seq, 1.0 - seq / 10) for seq in range(1, 6)]
    similar = {1: 0.2, 3: 0.9, 5: 0.1}

    found = moved(scored, similar, 0.5)

    assert [one.seq for one in found] == [1, 2, 3, 4, 5]
    assert [one for one in found if one.seq in (2, 4)] == [scored[1], scored[3]]
    assert found[2].boosted > scored[2].fused > 0.5
    assert found[0].boosts[0].amount < 0 < found[2].boosts[0].amount
    assert "less well" in found[0].boosts[0].reason
    assert "better" in found[2].boosts[0].reason


def test_what_hardly_differs_hardly_counts() -> None:
    """Of two records the one that fits far better stays first, unless words say so clearly."""
    scores = np.array([1.0, 0.2])

    close, clear = (
        scores + late_amounts(scores, np.array(similar), 0.6)
        for similar in ([0.50, 0.51], [0.30, 0.90])
    )

    assert close[0] > 0.9
    assert close[1] < 0.3
    assert clear[1] > clear[0]


@pytest.mark.parametrize("similar", [{}, {2: 0.9}, {1: 0.4, 2: 0.4, 3: 0.4}])
def test_nothing_is_learnt_from_one_record_or_from_equal_ones(similar: dict[int, float]) -> None:
    scored = [Scored(seq, 1.0 - seq / 10) for seq in range(1, 4)]

    assert moved(scored, similar, 0.5) == scored


# --- a search ------------------------------------------------------------------------------


def test_the_record_that_holds_every_word_comes_first_and_says_why(build: Build) -> None:
    world = told(build())

    first = world.search(QUERY).results[0]

    assert first.record.content == FACTS[3]
    boosts = {boost.name: boost for boost in first.explanation.boosts}
    assert boosts["late_interaction"].amount > 0.05
    assert "raised by" in first.explanation.summary
    assert "its single words +" in first.explanation.summary
    assert first.score == first.explanation.fused_score + sum(one.amount for one in boosts.values())
    summaries = [one.explanation.summary for one in world.search(QUERY).results]
    assert any("lowered by its single words -" in one for one in summaries)


def test_only_the_best_candidates_are_compared(build: Build) -> None:
    world = told(build(MEASURED | {"late_interaction": {"enabled": True, "candidates": 3}}))
    response = world.search(QUERY)
    late = late_of(world, QUERY)

    assert late is not None
    assert len(late["similarities"]) == 3
    moved_records = [
        one for one in response.results
        if any(boost.name == "late_interaction" for boost in one.explanation.boosts)
    ]  # fmt: skip
    assert len(moved_records) == 3


def test_queries_are_embedded_once_and_several_count_by_the_best(build: Build) -> None:
    world = told(build())
    world.search("warm up")
    before = len(world.embedder.queries)
    one, other = late_of(world, "green tea"), late_of(world, "Friday deploys")
    assert len(world.embedder.queries) == before + 2

    both = late_of(world, "green tea", "Friday deploys")

    assert one is not None
    assert other is not None
    assert both is not None
    best = {
        seq: max(dict(one["similarities"])[seq], dict(other["similarities"])[seq])
        for seq, _ in both["similarities"]
    }
    assert dict(both["similarities"]) == best


def test_records_written_before_keep_their_scores_until_they_are_filled_in(build: Build) -> None:
    world = build()
    for content in FACTS[:2]:
        world.add(content)
    told(world, FACTS[2:])
    plain = told(build(MEASURED | {"late_interaction": {"enabled": False}}))

    found = {one.record.content: one.score for one in world.search(QUERY).results}
    expected = {one.record.content: one.score for one in plain.search(QUERY).results}

    assert {one: found[one] for one in FACTS[:2]} == {one: expected[one] for one in FACTS[:2]}
    assert found[FACTS[3]] != expected[FACTS[3]]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_two_records_or_fewer_are_ranked_as_ever(build: Build, count: int) -> None:
    world = told(build(), FACTS[:count])
    plain = told(build(MEASURED | {"late_interaction": {"enabled": False}}), FACTS[:count])

    found, expected = (one.search("green tea").results for one in (world, plain))

    assert {one.record.content for one in found} == set(FACTS[:count])
    assert [one.score for one in found] == pytest.approx([one.score for one in expected])


def test_queries_in_a_script_that_is_not_read_move_nothing(build: Build) -> None:
    """The word pieces of a model that cannot read say where they stand, not what they mean."""
    world = told(build(embedding={"dims": 384, "scripts": ("latin",)}))

    unread = late_of(world, "ฉันแพ้ถั่วลิสง")
    beside = late_of(world, "ฉันแพ้ถั่วลิสง", QUERY)

    assert unread == {"weight": 0.6, "similarities": []}
    assert beside == late_of(world, QUERY)


def test_other_scripts_and_very_long_queries_are_compared_like_any(build: Build) -> None:
    world = told(build(), (*FACTS, "ฉันแพ้ถั่วลิสง", "我对花生过敏"))

    for query in ("ฉันแพ้ถั่วลิสง", "我对花生过敏"):
        assert world.contents(query)[0] == query
    long = late_of(world, " ".join([QUERY, *(f"word{at}" for at in range(300))]))
    assert long is not None
    assert len(long["similarities"]) == 7


def test_a_failing_embedder_leaves_the_words(build: Build) -> None:
    world = told(build())
    world.embedder.fail(on="queries")

    response = world.search(QUERY)

    assert response.results
    assert response.degraded
    assert json.loads(world.log(response)["candidates"])["late_interaction"] is None


def test_an_embedder_without_token_vectors_is_refused(build: Build) -> None:
    world = build({"preset": "measured"})

    class Plain:
        name, version, dims, is_loaded = "plain/model", "1", 384, True

    on = config(retrieval=MEASURED)
    with pytest.raises(ConfigError, match=r"'plain/model' offers no token vectors"):
        Retriever(world.store, world.index, Plain(), on)  # type: ignore[arg-type]


# --- who sees what -------------------------------------------------------------------------

COLUMNS = "candidates fused gated_out explanations returned".split()


def test_token_vectors_of_another_user_change_no_bit_of_a_search(build: Build) -> None:
    """Fails when spread and mean are taken over more than what the caller may see."""
    world = told(build())

    def seen() -> list[Any]:
        rows = [world.log(world.search(query)) for query in (QUERY, "bicycle", "anything")]
        return [[row[column] for column in COLUMNS] for row in rows]

    alone = seen()

    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from([*FACTS, QUERY]))
    def others_write(content: str) -> None:
        world.add(content, owner=BOB, tokens=True)

        assert seen() == alone

    others_write()


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.permutations(FACTS), st.integers(0, 5))
def test_the_order_in_which_records_came_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, facts: list[str], bare: int
) -> None:
    """Nor does it matter which of them were written before the switch was turned."""
    folder, without = tmp_path_factory.mktemp("order"), FACTS[:bare]

    def scores(order: Any, name: str) -> dict[str, float]:
        world = World(folder / name, config(retrieval=MEASURED))
        for content in order:
            world.add(content, tokens=content not in without)
        found = {one.record.content: one.score for one in world.search(QUERY).results}
        world.close()
        return found

    assert scores(facts, "a") == scores(FACTS, "b")


# --- the log -------------------------------------------------------------------------------


@pytest.mark.parametrize("retrieval", [DESIGN, MEASURED], ids=["design", "measured"])
def test_a_logged_search_is_ranked_again_alike_under_both_presets(
    build: Build, retrieval: dict[str, Any]
) -> None:
    world = told(build(retrieval), type="semantic")
    off = told(build(retrieval | {"late_interaction": {"enabled": False}}))
    row = world.log(world.search(QUERY))
    pool = [
        dict(zip(logged["fields"], values, strict=True))
        for logged in [json.loads(row["candidates"])]
        for values in logged["rows"]
    ]

    assert replay_late_interaction(row) == [(one["record_id"], one["score"]) for one in pool]
    other = replay_late_interaction(row, 0.25)
    assert {one for one, _ in other} == {one["record_id"] for one in pool}
    assert other != replay_late_interaction(row)
    assert [[one.record_id, one.gate_reason] for one in replay_gate(row).dropped] == json.loads(
        row["gated_out"]
    )
    assert replay_fusion(row) == [tuple(one) for one in json.loads(row["fused"])]
    assert json.loads(row["pipeline"])["late_interaction"]["enabled"]

    without = off.log(off.search(QUERY))
    logged = json.loads(without["candidates"])
    at = logged["fields"].index("score")
    assert [score for _, score in replay_late_interaction(row, 0.0)] == [
        values[at] for values in logged["rows"]
    ]
    with pytest.raises(InvalidInput, match="without late interaction"):
        replay_late_interaction(without)
    summary = row | {"detail": "summary", "candidates": "[]"}
    for wrong, why in ((summary, "logs.detail: summary"), (row | {"pipeline_version": "0"}, "'0'")):
        with pytest.raises(InvalidInput, match=why):
            replay_late_interaction(wrong)


def test_the_switch_is_off_unless_it_is_turned() -> None:
    assert not CONFIG.retrieval.late_interaction.enabled
    for wrong in ({"candidates": 51}, {"candidates": 0}, {"weight": 1.5}):
        with pytest.raises(ValueError, match="late_interaction"):
            config(retrieval={"late_interaction": wrong})

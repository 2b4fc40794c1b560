"""A search by the measured preset, on real stores of few records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retold.config.retrieval import GateConfig, NullZConfig
from retold.errors import EmbeddingError, InvalidInput
from retold.models import SearchResponse
from retold.retrieve import pool as pool_module
from retold.retrieve.null_bank import bank_prompts
from retold.retrieve.replay import replay_fusion, replay_gate
from retold.testing import FakeReranker
from tests.examples import examples
from tests.unit.retrieve.world import BOB, World, config

MEASURED = config(retrieval={"preset": "measured"})
LATIN_ONLY = config(retrieval={"preset": "measured"}, embedding={"dims": 384, "scripts": ["latin"]})
UNRELATED = "no nearer than what an unrelated prompt finds"
COLUMNS = (
    "candidates dense lexical entity fused gate_inputs gated_out deduped_out explanations "
    "returned empty_reason degraded"
).split()
ENDINGS = [f"{one}{two}" for one in "aeiouklm" for two in "aeiouklm"][:60]
Build = Callable[..., World]


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    worlds: list[World] = []

    def make(chosen: Any = MEASURED, **ports: Any) -> World:
        worlds.append(World(tmp_path / f"{len(worlds)}.sqlite", chosen, **ports))
        return worlds[-1]

    yield make
    for world in worlds:
        world.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One store for a whole property; examples only add records of another user to it."""
    world = World(tmp_path_factory.mktemp("shared") / "store.sqlite", MEASURED)
    world.grant("project:apollo")
    for content in FACTS:
        world.add(content, about=["Ana"] if "Ana" in content else ())
    world.add("The launch window opens at dawn", scope="project:apollo")
    yield world
    world.close()


FACTS = (
    "Ana drinks green tea every morning",
    "Ana works at the harbour office",
    "The bicycle has a flat tyre",
    "Deploys run on Friday afternoon",
)
QUERIES = (
    ("green tea",),
    ("when is the launch window", "harbour office"),
    ("explain how vaccines work",),
    ("what is Ana doing with the zeppelin",),
    ("anything",),
)


def null_of(world: World, response: SearchResponse) -> dict[str, Any]:
    null: dict[str, Any] = json.loads(world.log(response)["gate_inputs"])["null"]
    return null


def logged(world: World, *queries: str) -> list[Any]:
    row = world.log(world.search(*queries))
    return [row[column] for column in COLUMNS]


# --- what others have --------------------------------------------------------------------


WORDS = st.lists(
    st.sampled_from("green tea Ana harbour zeppelin launch vaccines explain bicycle dawn".split()),
    min_size=1,
    max_size=5,
).map(" ".join)


def test_records_of_another_user_change_no_bit_of_a_search(shared: World) -> None:
    """Fails when bank, unk, statistics of words or sessions are taken over all rows."""
    alone = [logged(shared, *queries) for queries in QUERIES]

    @settings(max_examples=examples(20), suppress_health_check=list(HealthCheck))
    @given(WORDS, st.booleans())
    def others_write(content: str, about: bool) -> None:
        shared.add(content, owner=BOB, about=["Ana"] if about else ())

        assert [logged(shared, *queries) for queries in QUERIES] == alone

    others_write()


def test_callers_who_see_other_rows_never_share_a_sample(shared: World) -> None:
    """Fails when what the bank finds is remembered by anything less than the eligible rows."""
    shared.add("A zeppelin over the harbour", owner=BOB)
    mine, theirs = shared.search("zeppelin"), shared.search("zeppelin", principal=BOB)
    narrowed = shared.search("zeppelin", types=("episodic",))

    ours, others, none = (null_of(shared, one) for one in (mine, theirs, narrowed))
    assert ours["banks"]["plain"] != others["banks"]["plain"]
    assert (ours["queries"][0][1], others["queries"][0][1]) == (1.0, 0.0)
    assert (none["banks"], none["queries"][0][:3]) == ({}, [None, 1.0, None])


def test_a_sample_is_forgotten_when_words_of_the_same_rows_change(build: Build) -> None:
    """Fails when a sample is known by its rows alone: a name that is learned is no new row."""
    world = build()
    record = world.add(FACTS[0])
    before = null_of(world, world.search("green tea"))
    with world.store.write() as tx:
        tx.lexical.replace(record.seq, record.content, "", "recipe penguins marathon")
        tx.entities.touch_records([record.seq])
    after = null_of(world, world.search("green tea"))

    assert len(world.index.seqs) == 1
    assert after["banks"]["plain"][0] > before["banks"]["plain"][0]


@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.permutations(FACTS))
def test_the_order_in_which_records_came_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, facts: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("order")

    def seen(order: Any, name: str) -> list[Any]:
        world = World(folder / name, MEASURED)
        for content in order:
            world.add(content)
        found = []
        for queries in QUERIES:
            response = world.search(*queries)
            found.append(
                (
                    null_of(world, response),
                    {one.record.content: one.score for one in response.results},
                    response.empty_reason,
                )
            )
        world.close()
        return found

    assert seen(facts, "a") == seen(FACTS, "b")


# --- few records -------------------------------------------------------------------------


def test_an_empty_store_says_so(build: Build) -> None:
    world = build()
    response = world.search("green tea")

    assert response.empty_reason == "no readable record matched in any channel that ran"
    assert null_of(world, response)["queries"] == [[None, 1.0, None, True, "plain"]]
    assert replay_gate(world.log(response)).kept == ()


def test_one_record_answers_what_it_is_about_and_nothing_else(build: Build) -> None:
    world = build()
    world.add("Ana drinks green tea every morning")
    asked, other = world.search("what tea does Ana drink"), world.search("invert a binary tree")

    assert [one.record.content for one in asked.results] == ["Ana drinks green tea every morning"]
    assert asked.results[0].explanation.gate.startswith("passed on query: Z ")
    assert other.results == ()
    assert UNRELATED in (other.empty_reason or "")
    assert "Z -" in (other.empty_reason or "") or "Z 0." in (other.empty_reason or "")


def test_two_good_records_both_come_back(build: Build) -> None:
    """Fails when the lesser of two records is the zero of the scale."""
    world = build()
    world.add("Ana drinks green tea")
    world.add("Ana drinks black coffee")

    assert len(world.contents("what Ana drinks")) == 2


def test_an_exact_name_opens_the_gate_for_nothing(build: Build) -> None:
    """Fails when an entity match passes, as it does in the preset design."""
    designed = build(config(retrieval={"preset": "design"}))
    measured = build()
    for world in (designed, measured):
        for content in FACTS:
            world.add(content, about=["Ana Souza Lima"])
    query = "prove that Ana Souza Lima cannot invert sparse matrices over finite fields"

    assert len(designed.contents(query)) == len(FACTS)
    assert measured.contents(query) == []


def test_records_without_vectors_are_judged_by_their_words(build: Build) -> None:
    world = build()
    world.add("Launch code is walrus", vector=False)
    missed = world.search("walrus in the bathtub with a hat")

    assert world.contents("launch code") == ["Launch code is walrus"]
    assert "no readable record has a vector, so words decide" in (missed.empty_reason or "")


# --- queries -----------------------------------------------------------------------------


def test_several_queries_keep_the_best_of_each_whatever_their_order(build: Build) -> None:
    world = build()
    for content in FACTS:
        world.add(content)
    tea, office = "green tea in the morning", "harbour office"
    alone, both = world.search(tea), world.search(tea, office)
    turned, twice = world.search(office, tea), world.search(tea, tea)

    def scores(response: SearchResponse) -> dict[str, float]:
        return {one.record.content: one.score for one in response.results}

    assert scores(both) == scores(turned)
    assert scores(twice) == scores(alone)
    assert {FACTS[0], FACTS[1]} <= scores(both).keys()


def test_the_query_that_stands_out_most_decides(build: Build) -> None:
    world = build()
    for content in FACTS:
        world.add(content)
    unrelated = "prove central limits differently"
    response = world.search(unrelated, "green tea")
    zs = [z for _, _, z, *_ in null_of(world, response)["queries"]]

    assert world.contents(unrelated) == []
    assert response.results[0].record.content == FACTS[0]
    assert f"Z {max(zs):.1f} >=" in response.results[0].explanation.gate


def test_each_wording_of_the_bank_has_statistics_of_its_own(build: Build) -> None:
    world = build()
    for content in FACTS:
        world.add(f"The user says: {content}")
    alone = [null_of(world, world.search(one))["banks"] for one in ("tea", "tea of the user")]

    both = null_of(world, world.search("tea", "tea of the user"))["banks"]

    assert both == alone[0] | alone[1]
    assert both["plain"] != both["user"]


def test_what_never_arrives_unasked_opens_the_gate_for_nothing(build: Build) -> None:
    world, without = build(), build()
    for content in FACTS:
        world.add(content)
        without.add(content)
    summary = "prove central limits differently"
    world.add(summary, source_kind="session_summary")

    asked, host, bare = (
        each.search(summary, trigger=trigger)
        for each, trigger in ((world, "tool"), (world, "auto"), (without, "auto"))
    )

    assert [one.record.content for one in asked.results] == [summary]
    assert host.results == ()
    assert null_of(world, host) == null_of(without, bare)


@pytest.mark.parametrize("script", ["han", "thai"])
def test_words_decide_in_a_script_that_the_embedder_does_not_read(
    build: Build, script: str
) -> None:
    """Fails when cosines of such a query open the gate."""
    held, asked, other = {
        "han": ("用户对花生过敏", "花生过敏", "量子力学是什么意思"),
        "thai": ("ผู้ใช้แพ้ถั่วลิสง", "แพ้ถั่วลิสง", "กลศาสตร์ควอนตัมคืออะไร"),
    }[script]
    world = build(LATIN_ONLY)
    world.embedder.similar(other, held, 0.95)
    world.add(held)
    world.add("Ana drinks green tea")
    response = world.search(other)

    assert world.contents(asked) == [held]
    assert response.results == ()
    assert "does not read the script" in (response.empty_reason or "")
    assert json.loads(world.log(response)["candidates"])["alpha"] == 0.3


@pytest.mark.parametrize("script", ["han", "thai"])
def test_what_a_record_says_counts_and_not_which_pairs_it_shares(build: Build, script: str) -> None:
    """Fails when pairs are counted: in Chinese half of them are halves of two words, in Thai most
    stand somewhere in any long record. The log decides as the search did."""
    held, asked, other = {
        "han": (
            "鼠疫于1348年抵达英格兰的南部海岸",
            "鼠疫何时到英格兰？",
            "利率如何影响通货膨胀？",
        ),
        "thai": (
            "นาฬิกาแพง ราตรีสวัสดิ์ กาคาบแฟ้ม ราคาคง",
            "ราคาคงนาฬิกาแพง",
            "ราคากาแฟ",
        ),
    }[script]
    world = build(LATIN_ONLY)
    world.add(held)
    found, missed = world.search(asked), world.search(other)
    rows = [world.log(one) for one in (found, missed)]

    assert [one.record.content for one in found.results] == [held]
    share = "0.83 of the query" if script == "han" else "all of it"
    assert found.results[0].explanation.gate == f"passed on lexical: {share}"
    assert missed.results == ()
    assert [len(replay_gate(row).kept) for row in rows] == [1, 0]


def test_a_query_of_another_script_beside_one_that_is_read(build: Build) -> None:
    world = build(LATIN_ONLY)
    world.add("用户对花生过敏")
    world.add("Ana drinks green tea")
    response = world.search("prove the central limit theorem", "花生过敏")

    assert [one.record.content for one in response.results] == ["用户对花生过敏"]
    assert json.loads(world.log(response)["candidates"])["alpha"] == 0.6


def test_words_of_a_query_with_a_z_open_nothing_beside_one_without(build: Build) -> None:
    """Fails when the words of all queries count as soon as one has none."""
    retrieval = {"preset": "measured", "gate": {"null_z": {"explicit": 1e6}}}
    world = build(config(retrieval=retrieval, embedding={"dims": 384, "scripts": ["latin"]}))
    for content in FACTS:
        world.add(content)

    response = world.search("Ana drinks green tea every morning", "花生过敏")

    assert response.results == ()
    assert [one[2] is None for one in null_of(world, response)["queries"]] == [False, True]


def test_a_very_long_query_is_compared_like_any_other(build: Build) -> None:
    world = build()
    for content in FACTS:
        world.add(content)
    filler = " ".join(f"{letter}{letter}{end}" for letter in "bcdfg" for end in ENDINGS)
    response = world.search(f"green tea every morning {filler}")
    null = null_of(world, response)

    assert len(filler.split()) == 300
    assert 0.9 < null["queries"][0][1] < 1.0
    assert response.results == ()
    assert UNRELATED in (response.empty_reason or "")


# --- the bank ----------------------------------------------------------------------------


def test_the_bank_is_embedded_once_and_outside_of_any_transaction(build: Build) -> None:
    world = build()
    world.add(FACTS[0])
    for query in ("green tea", "harbour", "the user's job", "the user's city"):
        world.search(query)

    assert world.embedder.queries == [
        ("green tea",),
        bank_prompts(),
        ("harbour",),
        ("the user's job",),
        bank_prompts("user"),
        ("the user's city",),
    ]


def test_the_design_embeds_no_bank(build: Build) -> None:
    world = build(config())
    world.search("green tea")

    assert world.embedder.queries == [("green tea",)]


def test_a_failing_embedder_leaves_the_decision_to_words(build: Build) -> None:
    world = build()
    world.add("Ana drinks green tea")
    world.embedder.fail(EmbeddingError("no model today"), on="queries")
    found, missed = world.search("green tea"), world.search("tea with three other words")

    assert [one.record.content for one in found.results] == ["Ana drinks green tea"]
    assert found.results[0].explanation.gate == "passed on lexical: 2/2 terms"
    assert (missed.empty_reason or "").startswith(
        "nothing above the gate: dense did not run, so words decide; best lexical"
    )
    assert "degraded dense: no model today" in (missed.empty_reason or "")


def test_vectors_that_go_in_the_middle_of_a_search_fail_nothing(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread may find that the vectors were replaced, and drop them at any time."""
    world = build()
    world.add("Ana drinks green tea")
    words = world.index.words

    def words_after_the_end(*asked: Any) -> Any:
        world.index._projection.loaded().end_dense("replaced meanwhile")
        return words(*asked)

    monkeypatch.setattr(world.index, "words", words_after_the_end)
    response = world.search("green tea")

    assert [one.record.content for one in response.results] == ["Ana drinks green tea"]
    assert null_of(world, response)["banks"] == {}


# --- replay ------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["design", "measured"])
@pytest.mark.parametrize("trigger", ["tool", "auto"])
def test_a_logged_search_is_decided_and_fused_again_alike(
    build: Build, preset: str, trigger: str
) -> None:
    world = build(config(retrieval={"preset": preset}))
    for content in FACTS:
        world.add(content, about=["Ana"] if "Ana" in content else ())
    for queries in QUERIES:
        row = world.log(world.search(*queries, trigger=trigger))
        again = replay_gate(row)

        assert [[one.record_id, one.gate_reason] for one in again.dropped] == json.loads(
            row["gated_out"]
        )
        assert replay_fusion(row) == [tuple(one) for one in json.loads(row["fused"])]


def test_a_measured_search_can_be_decided_by_other_numbers_and_by_floors(build: Build) -> None:
    world = build()
    for content in FACTS:
        world.add(content)
    row = world.log(world.search("green tea"))
    lenient, strict = (
        GateConfig(null_z=NullZConfig(explicit=z, relative_cut=0.0)) for z in (-99.0, 99.0)
    )

    assert len(replay_gate(row, lenient).kept) == len(FACTS)
    assert replay_gate(row, strict).kept == ()
    assert "floors" in str(replay_gate(row, GateConfig(kind="floors")).dropped[0].gate_reason)
    assert replay_fusion(row, 60)[0][1] <= 2 / 61
    assert replay_fusion(row, alpha=0.0) != replay_fusion(row)


def test_the_pool_that_is_logged_is_the_best_and_replays_as_if_all_were(build: Build) -> None:
    """Scores, ranks and results are those of everything found; only the log is shorter."""
    small = build(config(retrieval={"preset": "measured", "pool_limit": 9}))
    whole = build(config(retrieval={"preset": "measured", "pool_limit": 10_000}))
    for world in (small, whole):
        for at, ending in enumerate(ENDINGS):
            world.add(f"Ana drinks {'green tea' if at % 3 else 'mint'} with {ending}ba")
    for k in (2, 8):
        page, full = (one.search("green tea with aaba", k=k) for one in (small, whole))
        row, long = small.log(page), whole.log(full)
        fused, of_all = (json.loads(one["fused"]) for one in (row, long))
        contents = [[one.record.content for one in each.results] for each in (page, full)]
        order = {one[0]: at for at, one in enumerate(json.loads(long["candidates"])["rows"])}

        assert contents[0] == contents[1] != []
        assert max(9, 2 * k) <= len(fused) <= max(9, 2 * k) + 8 < len(of_all) == len(ENDINGS)
        assert [one.score for one in page.results] == [one.score for one in full.results]
        assert {one[0] for one in json.loads(row["candidates"])["rows"]} >= {
            seq for seq, at in order.items() if at < max(9, 2 * k)
        }
        assert replay_fusion(row) == [tuple(one) for one in fused]
        for how in ({"alpha": 0.0}, {"alpha": 0.9}, {"rrf_k": 60}, {}):
            assert by_seq(row, **how).items() <= by_seq(long, **how).items()
        # The scale is taken from the row, not made again of what the row still holds.
        logged = json.loads(row["candidates"]) | {"unrelated": None}
        assert replay_fusion(row | {"candidates": json.dumps(logged)}) == replay_fusion(row)


def test_the_best_fused_remain_whatever_boosts_lift_above_them() -> None:
    """The gate compares with the best of them, so a short pool is cut like a long one."""
    scores = np.array([0.9, *([0.1] * 9), *([1.0] * 10)])

    kept = pool_module._best_places(scores, 3).tolist()

    assert kept == [*range(pool_module.BEST_FUSED), 10, 11, 12]
    assert pool_module._best_places(scores, None).tolist() == list(range(20))


def test_a_reranker_gets_all_that_it_may_have(build: Build) -> None:
    reranker = FakeReranker(default=0.9)
    chosen = config(
        retrieval={"preset": "measured", "pool_limit": 1, "gate": {"null_z": {"explicit": -9.0}}},
        reranker={"enabled": True, "floor": 0.5, "candidates": 20},
    )
    world = build(chosen, reranker=reranker)
    for ending in ENDINGS[:25]:
        world.add(f"green tea {ending}")

    world.search("green tea", k=1)

    assert [len(docs) for _, docs in reranker.calls] == [20]


def by_seq(row: dict[str, Any], **how: Any) -> dict[int, float]:
    """Return the scores of a logged search fused again, by the keys of the records."""
    seq_of = {one[1]: one[0] for one in json.loads(row["candidates"])["rows"]}
    return {seq_of[record_id]: score for record_id, score in replay_fusion(row, **how)}


def test_a_row_logged_before_the_scale_was_replays_alike(build: Build) -> None:
    world = build()
    for content in FACTS:
        world.add(content)
    row = world.log(world.search("green tea"))
    logged = json.loads(row["candidates"])
    older = row | {"candidates": json.dumps({k: v for k, v in logged.items() if k != "scale"})}

    assert logged["scale"] is not None
    for alpha in (None, 0.2):
        assert replay_fusion(older, alpha=alpha) == replay_fusion(row, alpha=alpha)


def test_what_the_snapshot_does_not_offer_is_neither_ranked_nor_missed(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index may know a write that the snapshot does not: what remains has no gaps."""
    world = build(config(retrieval={"preset": "measured", "pool_limit": 3}))
    for content in FACTS:
        world.add(content)
    whole = world.search("green tea")
    offered = pool_module.rows_offered
    gone = whole.results[0].record.seq

    def without_one(*asked: Any) -> Any:
        return {seq: row for seq, row in offered(*asked).items() if seq != gone}

    monkeypatch.setattr(pool_module, "rows_offered", without_one)
    row = world.log(world.search("green tea"))
    ranks = sorted(hit for one in json.loads(row["dense"]) for hit in [one[1]])

    assert gone not in [one[0] for one in json.loads(row["candidates"])["rows"]]
    assert ranks == [1, 2, 3]
    assert replay_fusion(row) == [tuple(one) for one in json.loads(row["fused"])]


def test_a_designed_search_knows_nothing_of_unrelated_prompts(build: Build) -> None:
    world = build(config())
    world.add(FACTS[0])
    row = world.log(world.search("green tea"))

    with pytest.raises(InvalidInput, match="not compared with unrelated prompts"):
        replay_gate(row, GateConfig(kind="null_z"))
    with pytest.raises(InvalidInput, match="fused by rank"):
        replay_fusion(row, alpha=0.6)
    with pytest.raises(InvalidInput, match="not both"):
        replay_fusion(row, 60, alpha=0.6)

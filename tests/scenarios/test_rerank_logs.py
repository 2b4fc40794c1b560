"""Reranking with a double, explanations beside the log, and what the log keeps."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import timedelta

import pytest

from retold.config import RetoldConfig, load_config
from retold.errors import ConfigError, RerankError
from retold.ingest.trace import WRITE_STAGES
from retold.retrieve.replay import replay_fusion, replay_gate
from retold.store import Store
from retold.testing import FakeEmbedder, FakeReranker, FakeRewriter
from tests.scenarios.support import contents, person

RERANK = {"enabled": True, "floor": 0.5, "candidates": 3}


def test_reranker_without_a_floor_is_a_configuration_error(tmp_path):
    path = tmp_path / "retold.yaml"
    path.write_text("reranker:\n  enabled: true\n", encoding="utf-8")

    with pytest.raises(ConfigError, match=r"reranker.*floor"):
        load_config(path)


@pytest.fixture
def reranked(make_world):
    """Five episodes of which the gate drops one and the reranker's shortlist another."""
    reranker = FakeReranker()
    world = make_world({"reranker": RERANK}, reranker=reranker)
    query = "harbour fair"
    cosines = {"First": 0.80, "Second": 0.70, "Third": 0.60, "Fourth": 0.50, "Dropped": 0.20}
    stored = {}
    for name, cosine in cosines.items():
        world.embedder.similar(f"{name} note of May", query, cosine)
        stored[name] = world.tell(f"{name} note of May", type="episodic").record_id
    scores = {"First": 0.6, "Second": 0.9, "Third": 0.2}
    reranker.scores = {(query, f"{name} note of May"): score for name, score in scores.items()}
    return world, reranker, query, stored


def test_only_survivors_are_reranked_up_to_the_limit_with_both_ranks_recorded(reranked):
    world, reranker, query, stored = reranked

    page = world.session().search(query)

    log = world.log(page)
    shortlist = ("First note of May", "Second note of May", "Third note of May")
    assert reranker.calls == [(query, shortlist)]
    assert contents(page) == ["Second note of May", "First note of May"]
    assert [item.explanation.rerank for item in page] == [(2, 1, 0.9), (1, 2, 0.6)]
    ranks = {one["record_id"]: (one["rank_before"], one["rank_after"]) for one in log["reranked"]}
    assert ranks == {stored["Second"]: (2, 1), stored["First"]: (1, 2), stored["Third"]: (3, 3)}
    left_out = {record_id: reason for record_id, reason, _ in log["reranked_out"]}
    assert set(left_out) == {stored["Third"], stored["Fourth"]}
    assert "floor" in left_out[stored["Third"]]
    assert log["rerank_status"] == "applied"


def test_duplicates_are_collapsed_before_the_reranker_sees_them(make_world):
    reranker = FakeReranker(default=0.9)
    world = make_world({"reranker": RERANK}, reranker=reranker)
    world.embedder.similar("Harbour fair in May", "May brings the harbour fair", 0.97)
    world.tell("May brings the harbour fair", type="episodic")
    world.tell("Harbour fair in May", type="episodic")

    world.session().search("May brings a harbour fair")

    ((_, documents),) = reranker.calls
    assert len(documents) == 1


def test_best_of_several_queries_counts_for_a_record(make_world):
    reranker = FakeReranker({("fair", "Harbour fair in May"): 0.8})
    world = make_world({"reranker": RERANK}, reranker=reranker)
    world.tell("Harbour fair in May", type="episodic")

    page = world.session().search(["harbour", "fair"])

    assert page.items[0].score == 0.8
    assert world.log(page)["reranked"][0]["query"] == 1


@pytest.mark.parametrize("failure", ["failed", "timeout"])
def test_failing_reranker_leaves_the_fused_order_and_removes_nothing(make_world, failure):
    reranker = FakeReranker()
    settings = {"reranker": {**RERANK, "timeout_ms": 20 if failure == "timeout" else 2000}}
    world = make_world(settings, reranker=reranker)
    world.tell("Harbour fair in May", type="episodic")
    reranker.hang() if failure == "timeout" else reranker.fail()

    page = world.session().search("harbour fair")
    reranker.release()

    log = world.log(page)
    assert contents(page) == ["Harbour fair in May"]
    assert (log["rerank_status"], log["reranked"], log["reranked_out"]) == (failure, None, [])
    assert log["rerank_error"]


def test_failing_reranker_raises_where_the_settings_say_so(make_world):
    reranker = FakeReranker()
    world = make_world({"reranker": {**RERANK, "on_failure": "fail"}}, reranker=reranker)
    world.tell("Harbour fair in May", type="episodic")
    reranker.fail()

    with pytest.raises(RerankError):
        world.session().search("harbour fair")


@pytest.fixture
def rich(make_world):
    """A search that uses every stage: rewriting, three channels, decay, duplicates, budget."""
    rewriter = FakeRewriter({"what about it": "Dana harbour fair"})
    settings = {"retrieval": {"rewrite": {"enabled": True}, "token_budget": 150}}
    world = make_world(settings, rewriter=rewriter)
    old = world.clock() - timedelta(days=15)
    query = "Dana harbour fair"
    dana = (person("Dana", "mentions"),)
    world.tell("Dana opened the harbour fair", type="episodic", mentions=dana, event_at=old)
    world.embedder.similar("The harbour fair: Dana opened", "Dana opened the harbour fair", 0.97)
    world.tell("The harbour fair: Dana opened", type="episodic")
    world.tell("The harbour fair has rides", attribute="rides")
    world.tell("A fair price for the harbour", attribute="price")
    world.tell("Dana sings", attribute="hobby", mentions=(person("Dana"),))
    world.embedder.similar("Nothing of the kind", query, 0.2)
    world.tell("Nothing of the kind", type="episodic")
    page = world.session().search("what about it", k=2)
    return world, page


def test_explanations_and_the_log_agree_on_ranks_and_scores(rich):
    world, page = rich
    log = world.log(page)

    assert len(page) == 2
    for item in page:
        why = item.explanation
        for channel in ("dense", "lexical", "entity"):
            logged = {row[0]: (row[1], row[2]) for row in log[channel]}.get(item.record.id)
            hit = getattr(why, channel)
            assert (None if hit is None else (hit.rank, hit.score)) == logged
        assert dict(log["fused"])[item.record.id] == why.fused_score
        assert [record_id for record_id, _ in log["fused"]].index(item.record.id) >= 0
    logged = {one["record_id"]: one for one in log["explanations"]}
    assert list(logged) == log["returned"] == [item.record.id for item in page]
    for item in page:
        assert logged[item.record.id]["fused_rank"] == item.explanation.fused_rank
        assert logged[item.record.id]["summary"] == item.explanation.summary


def test_empty_answer_names_the_missed_floors_in_page_and_log(world):
    world.embedder.similar("A quiet evening", "zebra", 0.3)
    world.tell("A quiet evening", attribute="note")

    page = world.session().search("zebra")

    assert "best dense 0.30 < 0.45 (semantic)" in page.empty_reason
    assert world.log(page)["empty_reason"] == page.empty_reason
    assert page.empty_reason.split(";")[0] in page.text


def test_one_log_row_tells_the_whole_search(rich):
    world, page = rich
    log = world.log(page)

    assert (log["rewrite_status"], log["rewritten_queries"]) == ("applied", ["Dana harbour fair"])
    assert log["request"]["queries"] == ["what about it"]
    assert log["freshness"] != {}
    assert set(log["freshness"].values()) != {1.0}
    pool = {candidate.record_id for candidate in world.pool(page)}
    gone = {row[0] for row in log["gated_out"]}
    gone |= {row[0] for row in log["deduped_out"]} | {row[0] for row in log["budget_out"]}
    assert gone | set(log["returned"]) == pool
    assert not gone & set(log["returned"])
    for column in ("gated_out", "deduped_out", "budget_out", "dense", "lexical", "entity"):
        assert log[column], column
    assert log["warm"] in (0, 1)
    stages = "rewrite scopes filter embed dense lexical entity fuse freshness gate dedup rerank"
    assert set(f"{stages} budget explain total".split()) <= set(log["timings_ms"])
    assert log["config_flags"]["embedding_model"]
    assert log["readable_scopes"] == ["agent:helper/ana"]


REPLAY = """
import json, sys
from retold.retrieve.replay import replay_fusion, replay_gate
from retold.store import Store
with Store.open(sys.argv[1]) as store, store.read() as tx:
    row = tx.search_log.get(sys.argv[2])
    rows = tx.one("select count(*) from records")[0]
kept = [one.record_id for one in replay_gate(row).kept]
print(json.dumps([rows, kept, replay_fusion(row)]))
"""


def test_log_row_is_replayed_in_another_process_on_a_copy_without_records(rich, tmp_path):
    world, page = rich
    row = world.raw_log(page)
    world.close()
    copy = tmp_path / "copy.sqlite"
    shutil.copy(world.path, copy)
    with Store.open(copy) as store, store.write() as tx:
        for table in (
            "records_fts",
            "embeddings",
            "record_entities",
            "record_evidence",
            "record_conflicts",
            "records",
        ):
            tx.run(f"delete from {table}")

    done = subprocess.run(
        [sys.executable, "-c", REPLAY, str(copy), page.search_id],
        capture_output=True,
        text=True,
        check=True,
    )

    rows, kept, fused = json.loads(done.stdout)
    assert rows == 0
    assert kept == [one.record_id for one in replay_gate(row).kept]
    assert [tuple(pair) for pair in fused] == replay_fusion(row)


def _writes(world):
    """Return one result of every outcome that stores or changes a record."""
    yield world.tell("Ana lives in Turin", attribute="home_city")
    yield world.tell("Ana lives in Turin", "Yes, I live in Turin now.", attribute="home_city")
    yield world.observe("Ana lives in Parma", attribute="home_city")
    world.clock.advance(days=1)
    yield world.tell("Ana lives in Lecce", attribute="home_city")
    long_ago = world.clock() - timedelta(days=90)
    yield world.tell("Ana lives in Como", attribute="home_city", event_at=long_ago)


def test_write_events_carry_the_time_of_every_stage_that_was_over(world):
    results = list(_writes(world))

    kinds = {result.kind for result in results}
    assert kinds == {"created", "reinforced", "conflict", "superseded", "superseded_on_arrival"}
    events = [
        event
        for kind in ("record.created", "record.reinforced", "record.superseded")
        for event in world.events(kind)
    ]
    assert len(events) == len(results) + 1
    for event in events:
        timed = set(event.payload["timings_ms"]) | set(event.payload["timings_pending"])
        assert timed == set(WRITE_STAGES)
        assert not set(event.payload["timings_ms"]) & set(event.payload["timings_pending"])


def test_write_result_carries_the_time_of_every_stage(world):
    for result in _writes(world):
        assert set(result.timings_ms) == {*WRITE_STAGES, "total"}


def test_index_skips_its_own_writes_and_applies_those_of_another_process(world):
    other = world.open()
    mine, theirs = world.session(), other.session("ana", agent_id="helper", session_id="theirs")
    world.tell("Harbour fair in May", type="episodic")
    seen = []

    def refresh(session):
        page = session.search("harbour fair")
        seen.append(world.log(page)["config_flags"]["index_refresh"])
        return len(page)

    assert refresh(mine) == 1
    world.tell("Harbour fair in June", type="episodic")
    assert refresh(mine) == 2
    assert refresh(theirs) == 2
    theirs.remember("Harbour fair in July", evidence="Harbour fair in July.", type="episodic")
    assert refresh(theirs) == 3
    assert refresh(mine) == 3
    assert refresh(mine) == 3

    assert seen[1] == "current"
    assert seen[3] == "current"
    assert seen[4:] == ["delta", "current"]


@pytest.mark.parametrize("k", [1, 5])
def test_authority_side_of_a_conflict_keeps_its_rank_even_alone(world, k):
    query = "where Ana lives"
    world.embedder.similar("Ana lives in Turin", query, 0.9)
    world.embedder.similar("Ana lives in Lecce", query, 0.6)
    strong = world.tell("Ana lives in Turin", attribute="home_city")
    weak = world.observe("Ana lives in Lecce", attribute="home_city")

    page = world.session().search(query, k=k)

    found = [item.record.id for item in page]
    assert found == [strong.record_id, weak.record_id][:k]
    assert page.items[0].explanation.fused_rank == 1


def test_authority_side_below_its_conflict_is_shown_before_it(world):
    query = "where Ana lives"
    world.embedder.similar("Ana lives in Turin", query, 0.5)
    world.embedder.similar("Ana lives in Lecce", query, 0.9)
    strong = world.tell("Ana lives in Turin", attribute="home_city")
    weak = world.observe("Ana lives in Lecce", attribute="home_city")

    page = world.session().search(query, k=1)

    assert [item.record.id for item in page] == [strong.record_id, weak.record_id]
    assert page.items[1].explanation.conflicts_with == (strong.record_id,)
    assert "conflicts with" in page.text


def test_first_search_is_logged_cold_and_the_later_ones_warm(make_world):
    world = make_world(embedder=FakeEmbedder(is_loaded=False))
    world.host.write(world.session().principal.private_scope, "Harbour fair", dedup=False)
    session = world.open(embedder=FakeEmbedder(is_loaded=False)).session("ana", agent_id="helper")

    pages = [session.search("harbour fair") for _ in range(3)]

    assert [world.log(page)["warm"] for page in pages] == [0, 1, 1]


def test_settings_that_decided_a_search_are_logged_with_it(world):
    page = world.session().search("harbour fair")

    flags = world.log(page)["config_flags"]
    assert flags["gate"] == RetoldConfig().flags()["gate"]
    assert flags["rewrite_enabled"] is False

"""Whole searches on a real file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from retold.errors import InvalidInput, RerankError, RewriteError, StoreError
from retold.index.vector import VectorIndex
from retold.models import Explanation, RecordStatus, RewriteResult, SearchRequest, SearchResult
from retold.retrieve import retriever, snapshot
from retold.retrieve.explain import explanation_to_log
from retold.retrieve.retriever import Retriever
from retold.store import Store
from retold.store.meta import EmbeddingIdentity
from retold.testing import FakeContentPolicy, FakeEmbedder, FakeReranker, FakeRewriter
from tests.unit.retrieve.world import ANA, BOB, World, config

Build = Callable[..., World]
OF_THE_WHOLE_SEARCH = ("raw_queries", "rewritten_queries", "rewrite_status")


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    worlds: list[World] = []

    def make(*args: Any, **ports: Any) -> World:
        worlds.append(World(tmp_path / f"{len(worlds)}.sqlite", *args, **ports))
        return worlds[-1]

    yield make
    for world in worlds:
        world.close()


def ids(results: tuple[SearchResult, ...]) -> list[str]:
    return [result.record.id for result in results]


# --- who sees what


def test_search_finds_only_what_the_caller_may_read(world: World) -> None:
    """B30: in every channel, the explanations, the text and the log row."""
    world.add("Charlie likes apples", about=["Charlie"])
    secret = world.add("Charlie likes baseball", about=["Charlie"], owner=BOB)

    response = world.search("Charlie likes", entities=("Charlie",))
    row = world.log(response)

    assert [r.record.content for r in response.results] == ["Charlie likes apples"]
    for text in (response.text, repr(response), json.dumps(row)):
        assert secret.id not in text
        assert "baseball" not in text


def test_search_reads_grants_every_time(world: World) -> None:
    world.add("The launch code word is sunrise", scope="project:apollo")
    assert world.contents("launch code word") == []

    world.grant("project:apollo")
    assert world.contents("launch code word") == ["The launch code word is sunrise"]

    world.revoke("project:apollo")
    assert world.contents("launch code word") == []


def test_search_never_crosses_users_by_a_grant_on_a_user_scope(world: World) -> None:
    world.grant("user:bob")
    world.add("Bob sails on Sundays", scope="user:bob", owner=BOB)

    assert world.contents("sails Sundays") == []
    assert world.contents("sails Sundays", principal=BOB) == ["Bob sails on Sundays"]


def test_search_refuses_a_record_that_a_generator_smuggled_in(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails when ``refuse_foreign`` does not."""
    foreign = world.add("Bob sails", owner=BOB)
    world.add("Ana sails")
    monkeypatch.setattr(world.index, "search_many", lambda *_args: [(foreign.seq, 0.99)])

    with pytest.raises(Exception, match="another scope"):
        world.search("sails")


def test_search_refuses_a_rival_of_another_scope(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails when only what generators offer is looked at."""
    foreign = world.add("Bob sails", owner=BOB)
    mine = world.add("Ana sails", status="provisional")
    world.conflict(mine, foreign)
    found = snapshot.unresolved_conflicts
    monkeypatch.setattr(
        retriever,
        "unresolved_conflicts",
        lambda tx, request, _codes, rows: found(tx, request, range(1, 100), rows),
    )

    with pytest.raises(StoreError, match="another scope"):
        world.search("sails")


def test_last_look_reads_anew_which_scope_a_code_stands_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A snapshot that is restored in place may number its scopes otherwise.

    Fails when the last look goes on with the codes of the first snapshot.
    """
    world.add("Ana sails on Sundays")
    world.add("Bob rows on Sundays", owner=BOB)
    assert world.contents("Sundays sails") == ["Ana sails on Sundays"]
    fit = world.retriever._fit

    def restored_meanwhile(*found: Any) -> Any:
        with world.store.write() as tx:
            ana, bob = ANA.private_scope, BOB.private_scope
            codes = tx.scopes.codes([ana, bob])
            for id_, code in (("nobody", codes[ana]), (ana.id, codes[bob]), (bob.id, codes[ana])):
                tx.connection.execute("update scopes set id = ? where code = ?", (id_, code))
        return fit(*found)

    monkeypatch.setattr(world.retriever, "_fit", restored_meanwhile)
    assert world.contents("Sundays sails") == []


# --- what is eligible


def test_superseded_records_appear_only_with_history(world: World) -> None:
    old = world.add("The release is on 12 March")
    new = world.add("The release is on 19 March", supersedes=old)

    assert ids(world.search("release March").results) == [new.id]
    assert set(ids(world.search("release March", include_history=True).results)) == {
        old.id,
        new.id,
    }


@pytest.mark.parametrize("preset", ["design", "measured"])
def test_writes_of_another_user_change_nothing_that_a_search_shows(
    build: Build, preset: str
) -> None:
    """Fails when words are weighed by all rows: "tea" is common where bob's records count."""
    world = build(config(retrieval={"preset": preset}))
    for content in ("Drinks green tea daily", "Bought a teapot", "Sells honey in Porto"):
        world.add(content)

    def shown() -> list[object]:
        found = world.search("green tea honey")
        assert {one.explanation.lexical is None for one in found.results} == {False}
        return [(one.record.id, one.score, one.explanation) for one in found.results]

    alone = shown()
    for number in range(9):
        world.add(f"tea tea with honey {number}", owner=BOB)

    assert shown() == alone


def test_words_of_what_was_believed_are_found_at_that_moment_only(world: World) -> None:
    old = world.add("Launch code is walrus", vector=False)
    then = world.clock()
    world.later(days=1)
    world.add("Launch code is heron", supersedes=old, vector=False)

    def found(**asked: Any) -> list[str]:
        return ids(world.search("walrus code", **asked).results)

    assert (found(known_at=then), found(include_history=True)[:1], found()) == (
        [old.id],
        [old.id],
        [],
    )


def test_expired_records_are_gone_without_a_write(world: World) -> None:
    record = world.add("Parking is on level three", expires_at=world.clock() + timedelta(days=1))
    assert ids(world.search("parking level").results) == [record.id]

    world.later(days=2)

    assert world.search("parking level").results == ()
    assert ids(world.search("parking level", include_history=True).results) == [record.id]


def test_forgotten_records_never_appear(world: World) -> None:
    """B21."""
    record = world.add("Parking is on level three", about=["Garage"])
    world.forget(record)

    for request in (
        {},
        {"include_history": True},
        {"known_at": world.clock()},
        {"as_of": world.clock()},
        {"entities": ("Garage",)},
    ):
        assert world.search("parking level three", **request).results == ()


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ({}, {"old", "new"}),
        ({"since": datetime(2026, 1, 1, tzinfo=UTC)}, {"new"}),
        ({"until": datetime(2026, 1, 1, tzinfo=UTC)}, {"old"}),
        ({"since": datetime(2026, 1, 1, 4, tzinfo=UTC)}, {"new"}),
        ({"until": datetime(2026, 1, 1, 4, tzinfo=UTC)}, {"old"}),
        ({"until": datetime(2026, 1, 1, 4, 0, 0, 1, tzinfo=UTC)}, {"old", "new"}),
    ],
    ids=["none", "since", "until", "since is inclusive", "until is exclusive", "one later"],
)
def test_window_compares_instants(
    world: World, window: dict[str, datetime], expected: set[str]
) -> None:
    """B54: 2026-01-01T03:00+09:00 lies in 2025 by UTC."""
    tokyo = datetime.fromisoformat("2026-01-01T03:00:00+09:00")
    world.add("Kickoff meeting old", type="episodic", event_at=tokyo)
    world.add("Kickoff meeting new", type="episodic", event_at=datetime(2026, 1, 1, 4, tzinfo=UTC))

    found = world.contents("Kickoff meeting", **window)

    assert {content.rpartition(" ")[2] for content in found} == expected


def test_known_at_and_as_of_are_different_questions(world: World) -> None:
    """B56: a 2019 event stored in 2026 was true in 2020 and unknown then."""
    record = world.add("Moved to Lyon", event_at=datetime(2019, 5, 1, tzinfo=UTC))
    in_2020 = datetime(2020, 1, 1, tzinfo=UTC)

    assert ids(world.search("moved Lyon", as_of=in_2020).results) == [record.id]
    assert world.search("moved Lyon", known_at=in_2020).results == ()
    assert ids(world.search("moved Lyon", known_at=world.clock()).results) == [record.id]


def test_known_at_returns_what_was_believed_then(world: World) -> None:
    old = world.add("The release is on 12 March")
    then = world.clock()
    world.later(days=1)
    world.add("The release is on 19 March", supersedes=old)

    assert ids(world.search("release March", known_at=then).results) == [old.id]


def test_as_of_does_not_return_the_future(world: World) -> None:
    """B57."""
    past = world.add("Office in Oslo", event_at=datetime(2024, 1, 1, tzinfo=UTC))
    world.add("Office in Oslo again", event_at=datetime(2026, 1, 1, tzinfo=UTC))

    response = world.search("office Oslo", as_of=datetime(2025, 1, 1, tzinfo=UTC))

    assert ids(response.results) == [past.id]


def test_types_restrict_before_ranking(world: World) -> None:
    for number in range(40):
        world.add(f"deploy guide part {number}", type="procedural")
    fact = world.add("deploy guide owner is Mia")

    assert ids(world.search("deploy guide", types=("semantic",)).results) == [fact.id]


def test_ineligible_matches_never_crowd_out_eligible_ones(world: World) -> None:
    for number in range(100):
        world.add(f"zebra zebra {number}", owner=BOB)
    mine = world.add("The zebra crossing near the long bridge is closed")

    assert ids(world.search("zebra").results) == []
    assert ids(world.search("zebra crossing").results) == [mine.id]


# --- the pipeline


def test_two_queries_keep_the_best_of_each(world: World) -> None:
    tea = world.add("Prefers green tea in the morning")
    car = world.add("Drives a red electric car")

    assert set(ids(world.search("green tea morning", "red electric car").results)) == {
        tea.id,
        car.id,
    }


def test_entity_match_passes_the_gate_alone(world: World) -> None:
    record = world.add("Allergic to peanuts", about=["Rosa Diaz"])

    (result,) = world.search("what about Rosa Diaz's dinner").results

    assert result.record.id == record.id
    assert result.explanation.matched_by[-1] == "entity"
    assert result.explanation.gate == "passed on entity: exact match"


def test_entity_hints_are_resolved_like_names_in_queries(world: World) -> None:
    record = world.add("Allergic to peanuts", about=["Rosa Diaz"])

    assert ids(world.search("dinner plans", entities=("rosa diaz",)).results) == [record.id]
    assert world.search("dinner plans").results == ()


def test_entity_match_alone_opens_no_host_issued_search(world: World) -> None:
    world.add("Allergic to peanuts", about=["Rosa Diaz"])

    assert world.search("dinner plans", entities=("Rosa Diaz",), trigger="auto").results == ()


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("她对花生过敏", "花生"),
        ("しりとりが好き", "しりとり"),
        ("끝말잇기를 좋아한다", "끝말잇기"),
        ("重跑gen-itgc后再提交", "重跑gen-itgc后"),
        ("重跑gen-itgc后再提交", "itgc 提交"),
        ("ผู้ใช้แพ้ถั่วลิสง", "ถั่วลิสง"),
        ("يفضل القهوة التركية", "القهوة التركية"),
    ],
)
def test_every_script_is_found_by_the_lexical_channel_alone(
    build: Build, content: str, query: str
) -> None:
    """B45, B46."""
    world = build(embedder=None)
    record = world.add(content)
    world.add("Something else entirely", vector=False)

    response = world.search(query)

    assert ids(response.results) == [record.id]
    assert response.results[0].explanation.matched_by == ("lexical",)


@pytest.mark.parametrize(
    "query", ["gpt-4o", "status: done", 'say "hi', "foo AND", "(draft", "what's the plan?"]
)
def test_query_syntax_is_data(build: Build, query: str) -> None:
    """B47."""
    world = build(embedder=None)
    record = world.add('The gpt-4o status: done, say "hi", foo AND bar, (draft) the plan')

    row = world.log(world.search(query))

    assert [entry[0] for entry in json.loads(row["lexical"])] == [record.id]


@pytest.mark.parametrize("query", ["*", "the of and", "x" * 10_000, "word " * 2_000, "🙂", "-"])
def test_query_without_useful_terms_is_answered(world: World, query: str) -> None:
    """B47."""
    world.add("Likes tea")

    response = world.search(query)

    assert response.results == ()
    assert response.empty_reason


def test_nonsense_finds_nothing_and_says_why(world: World) -> None:
    """B59."""
    for number in range(30):
        world.add(f"Server {number} restarts at midnight")

    response = world.search("qzxv wplk jjtt")

    assert response.results == ()
    assert response.empty_reason is not None
    assert response.empty_reason.startswith("nothing above the gate: best dense ")
    assert "(semantic); no lexical match; no entity match; best rejected" in response.empty_reason


def test_empty_reason_counts_nothing_of_others(world: World) -> None:
    for number in range(5):
        world.add(f"Server {number} restarts", owner=BOB)

    assert (
        world.search("server restarts").empty_reason
        == "no readable record matched in any channel that ran"
    )


def test_duplicates_collapse_into_the_first(world: World) -> None:
    world.grant("project:apollo")
    world.add("Deploys run every Friday afternoon")
    world.add("Deploys run every Friday afternoon", scope="project:apollo")

    response = world.search("deploys Friday afternoon")
    row = world.log(response)

    assert len(response.results) == 1
    assert response.results[0].explanation.dedup.startswith("kept over ")
    assert len(json.loads(row["deduped_out"])) == 1


def test_old_episodes_rank_below_new_ones(world: World) -> None:
    day = timedelta(days=1)
    world.add("Standup notes alpha", type="episodic", event_at=world.clock() - 300 * day)
    world.add("Standup notes beta", type="episodic", event_at=world.clock())

    first, second = world.search("standup notes").results

    assert first.record.content.endswith("beta")
    assert (first.explanation.freshness_multiplier, second.explanation.freshness_multiplier) == (
        1.0,
        0.5,
    )


def test_budget_leaves_out_what_does_not_fit_without_cutting(build: Build) -> None:
    world = build(config(retrieval={"token_budget": 100}))
    long = world.add("budget meeting notes " + " ".join(f"point{n}" for n in range(60)))
    short = world.add("budget meeting notes")

    response = world.search("budget meeting notes")

    assert ids(response.results) == [short.id]
    assert json.loads(world.log(response)["budget_out"])[0][0] == long.id


def test_budget_that_fits_nothing_is_named(build: Build) -> None:
    world = build(config(retrieval={"token_budget": 31}))
    world.add("budget meeting notes")

    assert str(world.search("budget meeting notes").empty_reason).startswith(
        "nothing fits the budget; best: tokens: "
    )


# --- conflicts


def test_provisional_record_is_shown_with_what_it_contradicts(world: World) -> None:
    strong = world.add("Release is on 19 March, said Mia")
    weak = world.add("Release is on 26 March", status="provisional", source_kind="agent_inference")
    world.conflict(weak, strong)

    response = world.search("Release is on 26 March", k=1)

    assert ids(response.results) == [strong.id, weak.id]
    assert response.results[1].explanation.conflicts_with == (strong.id,)
    assert response.results[0].explanation.conflicts_with == (weak.id,)
    assert "conflicts with mem_" in response.text


def test_stronger_counterpart_above_keeps_its_place(world: World) -> None:
    strong = world.add("Release is on 19 March")
    weak = world.add("The release may slip", status="provisional", source_kind="agent_inference")
    world.conflict(weak, strong)

    assert ids(world.search("Release is on 19 March", k=1).results) == [strong.id]


def test_conflict_with_an_unreadable_record_stays_secret(world: World) -> None:
    """Fails when ``unresolved_conflicts`` no longer looks at the scope."""
    foreign = world.add("Release is on 19 March", owner=BOB)
    weak = world.add("Release is on 26 March", status="provisional", source_kind="agent_inference")
    world.conflict(weak, foreign)

    response = world.search("Release March")

    assert ids(response.results) == [weak.id]
    assert response.results[0].explanation.conflicts_with == ()
    assert foreign.id not in json.dumps(world.log(response))


def test_conflict_is_over_when_one_side_is(world: World) -> None:
    strong = world.add("Release is on 19 March, said Mia")
    weak = world.add("Release is on 26 March", status="provisional")
    world.conflict(weak, strong)
    world.set(strong, status="expired")

    (result,) = world.search("Release March").results

    assert result.explanation.conflicts_with == ()


def test_types_never_hide_that_a_claim_is_disputed(world: World) -> None:
    strong = world.add("Release is on 19 March", type="episodic")
    weak = world.add("Release is on 26 March", status="provisional", source_kind="agent_inference")
    world.conflict(weak, strong)

    response = world.search("Release is on 26 March", types=("semantic",))

    assert ids(response.results) == [strong.id, weak.id]


def test_search_of_the_past_is_told_of_no_later_conflict(world: World) -> None:
    """Fails when ``unresolved_conflicts`` no longer asks what was believed then."""
    weak = world.add("Release is on 26 March", status="provisional", source_kind="agent_inference")
    then = world.clock()
    world.later(days=1)
    world.conflict(weak, world.add("Release is on 19 March"))

    (result,) = world.search("Release March", known_at=then).results

    assert (result.record.id, result.explanation.conflicts_with) == (weak.id, ())


def test_expired_counterpart_is_no_conflict_with_history_either(world: World) -> None:
    strong = world.add("Release is on 19 March", expires_at=world.clock() + timedelta(days=1))
    weak = world.add("Release is on 26 March", status="provisional", source_kind="agent_inference")
    world.conflict(weak, strong)
    world.later(days=2)

    response = world.search("Release March", include_history=True)

    assert {one.record.id: one.record.status for one in response.results} == {
        strong.id: "expired",
        weak.id: "provisional",
    }
    assert all(one.explanation.conflicts_with == () for one in response.results)


@pytest.mark.parametrize("status", ["provisional", "confirmed"])
def test_contradicting_records_of_equal_wording_never_collapse(
    world: World, status: RecordStatus
) -> None:
    """Fails when conflicts are looked up for provisional records alone."""
    strong = world.add("Uses spaces for indentation in code")
    says = "Uses spaces for indentation in code not"
    world.embedder.similar(says, strong.content, 0.99)
    other = world.add(says, status=status)
    world.conflict(other, strong)

    assert {strong.id, other.id} == set(ids(world.search("spaces for indentation").results))


# --- what comes back


def test_explanations_equal_the_log(world: World) -> None:
    world.add("Prefers green tea", about=["Ana"])
    world.add("Green tea is stored in the kitchen")

    response = world.search("green tea", entities=("Ana",))
    row = world.log(response)
    logged = json.loads(row["explanations"])
    ranks = {
        name: {entry[0]: entry[1:3] for entry in json.loads(row[name])}
        for name in ("dense", "lexical", "entity")
    }

    assert [entry["record_id"] for entry in logged] == ids(response.results)
    for result, entry in zip(response.results, logged, strict=True):
        why = result.explanation
        as_logged = json.loads(json.dumps(explanation_to_log(result.record.id, why)))
        assert as_logged == entry
        assert set(entry) == {
            "record_id",
            *(one.name for one in fields(Explanation) if one.name not in OF_THE_WHOLE_SEARCH),
        }
        for name in ("dense", "lexical", "entity"):
            hit = getattr(why, name)
            assert (None if hit is None else [hit.rank, hit.score]) == ranks[name].get(
                result.record.id
            )


def test_long_query_is_logged_once_whatever_comes_back(world: World) -> None:
    for number in range(5):
        world.add(f"Prefers green tea {number}", attribute=f"drink {number}")
    query = "green tea " + "x" * 10_000

    response = world.search(query)
    row = world.log(response)

    assert len(response.results) > 1
    assert json.dumps(row).count(query) == 1


def test_log_row_holds_every_stage(world: World) -> None:
    world.add("Prefers green tea", about=["Ana"])
    with world.store.write() as tx:
        session = tx.sessions.start(ANA, "s1")

    response = world.search("green tea", context="we spoke about drinks", since=world.clock())
    row = world.log(response)

    assert row["id"] == response.search_id
    assert row["agent_id"] == "helper"
    assert row["session_id"] == session.id
    assert row["trigger"] == "tool"
    assert row["context"] == "we spoke about drinks"
    assert row["rewrite_status"] == "disabled"
    assert row["rewritten_queries"] is None
    assert json.loads(row["request"])["since"] == "2026-01-15T09:00:00.000000+00:00"
    assert json.loads(row["readable_scopes"]) == ["agent:helper/ana"]
    assert json.loads(row["returned"]) == ids(response.results)
    assert json.loads(row["config_flags"])["index_refresh"] == "loaded"
    assert row["reranked"] is None
    assert row["rerank_status"] == "disabled"
    assert response.log == "written"


def test_log_row_never_holds_the_host_s_session_id(world: World) -> None:
    """A host may name a session after a person; erasure knows the internal id alone."""
    caller = replace(ANA, session_id="chat-with-ana.lima@example.org")
    before = world.log(world.search("green tea", principal=caller))
    with world.store.write() as tx:
        session = tx.sessions.start(caller, str(caller.session_id))

    after = world.log(world.search("green tea", principal=caller))

    assert (before["session_id"], after["session_id"]) == (None, session.id)
    assert "ana.lima" not in json.dumps([before, after])


def test_context_is_logged_as_far_as_a_rewriter_would_see_it(world: World) -> None:
    row = world.log(world.search("tea", context="\ud800" + "c" * 9000))

    assert row["context"] == "?" + "c" * 1999


def test_search_reports_warm_from_the_second_call(world: World) -> None:
    assert [world.log(world.search("tea"))["warm"] for _ in range(2)] == [0, 1]


def test_response_and_log_carry_the_same_stage_timings(world: World) -> None:
    response = world.search("tea")
    logged = json.loads(world.log(response)["timings_ms"])

    assert set(response.timings_ms) == set(logged) | {"log"}
    assert {"scopes", "filter", "embed", "index_refresh", "final_check", "total"} <= set(logged)


def test_summary_detail_keeps_only_what_was_returned(build: Build) -> None:
    world = build(config(logs={"detail": "summary"}))
    record = world.add("Prefers green tea")

    row = world.log(world.search("green tea"))

    assert json.loads(row["returned"]) == [record.id]
    assert (row["detail"], row["candidates"], row["explanations"]) == ("summary", "[]", "[]")


def test_entity_links_of_other_scopes_are_left_out(world: World) -> None:
    record = world.add("Prefers green tea", about=["Ana"])
    other = world.add("Bob's note", about=["Secret"], owner=BOB)
    with world.store.write() as tx:
        (foreign,) = tx.records.by_seqs([other.seq])[other.seq].entity_ids
        tx.entities.link(record.seq, foreign, "mentions")

    (result,) = world.search("green tea").results

    assert len(result.record.entity_ids) == 1
    assert foreign not in result.explanation.entity_ids


def test_record_forgotten_during_the_search_is_dropped(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails when ``_respond`` shows what the first snapshot said."""
    record = world.add("Prefers green tea")
    fit = world.retriever._fit

    def forget_then_fit(*args: Any) -> Any:
        world.forget(record)
        return fit(*args)

    monkeypatch.setattr(world.retriever, "_fit", forget_then_fit)
    response = world.search("green tea")

    assert response.results == ()
    assert response.empty_reason == "what was found is no longer readable or active"


def meanwhile(world: World, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Let something happen between the first snapshot of a search and the last."""
    fit = world.retriever._fit

    def act_then_fit(*args: Any) -> Any:
        act()
        return fit(*args)

    monkeypatch.setattr(world.retriever, "_fit", act_then_fit)


def test_counterpart_forgotten_during_the_search_is_named_nowhere(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing contradicts the provisional record any more, so it may stand alone."""
    strong = world.add("Release is on 19 March, said Mia")
    weak = world.add("Release is on 26 March", status="provisional", source_kind="agent_inference")
    world.conflict(weak, strong)
    meanwhile(world, monkeypatch, lambda: world.forget(strong))

    response = world.search("Release is on 26 March")

    assert ids(response.results) == [weak.id]
    assert response.results[0].explanation.conflicts_with == ()
    for text in (response.text, str(world.log(response)["explanations"])):
        assert strong.id[-8:] not in text
        assert "conflicts with" not in text


def test_record_contradicted_during_the_search_is_not_shown_alone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fails when the last look no longer drops what stands alone."""
    weak = world.add("Release is on 26 March", status="provisional", source_kind="agent_inference")
    other = world.add("The release party is in March")
    meanwhile(world, monkeypatch, lambda: world.conflict(weak, world.add("Release is on 19 March")))

    assert ids(world.search("release March").results) == [other.id]


def test_grant_revoked_during_the_search_counts(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.grant("project:apollo")
    world.add("Prefers green tea", scope="project:apollo")
    fit = world.retriever._fit

    def revoke_then_fit(*args: Any) -> Any:
        world.revoke("project:apollo")
        return fit(*args)

    monkeypatch.setattr(world.retriever, "_fit", revoke_then_fit)

    assert world.search("green tea").results == ()


# --- degraded


@pytest.mark.parametrize("failure", ["raise", "nan", "zero", "size", "rows"])
def test_broken_embedder_degrades_to_words(world: World, failure: Any) -> None:
    """B51."""
    record = world.add("Prefers green tea")
    if failure == "raise":
        world.embedder.fail(RuntimeError("secret text"), on="queries")
    else:
        world.embedder.spoil(failure, on="queries")

    response = world.search("green tea")

    assert ids(response.results) == [record.id]
    assert len(response.degraded) == 1
    assert response.degraded[0].startswith("dense: ")
    assert "secret" not in response.degraded[0]
    assert json.loads(world.log(response)["degraded"]) == list(response.degraded)
    assert "degraded: dense" in response.text


def test_outage_never_looks_like_no_memories(world: World) -> None:
    """B50."""
    world.add("Prefers green tea")
    world.embedder.fail()

    response = world.search("hot beverages")

    assert "degraded dense: " in str(response.empty_reason)
    assert "degraded dense: " in response.text


def test_search_without_an_embedder_says_so(build: Build) -> None:
    world = build(embedder=None)
    world.add("Prefers green tea")

    response = world.search("green tea")

    assert response.degraded == ("dense: this process has no embedder",)
    assert len(response.results) == 1


# --- rewriting and reranking


REWRITE = {"retrieval": {"rewrite": {"enabled": True}}}


def test_rewritten_queries_are_searched_and_both_are_kept(build: Build) -> None:
    rewriter = FakeRewriter({"what does he prefer": "green tea"})
    world = build(config(**REWRITE), rewriter=rewriter)
    record = world.add("Prefers green tea")

    response = world.search("what does he prefer", context="c" * 9000)

    assert ids(response.results) == [record.id]
    assert (response.rewrite_status, response.rewritten_queries) == ("applied", ("green tea",))
    assert response.results[0].explanation.raw_queries == ("what does he prefer",)
    assert json.loads(world.log(response)["rewritten_queries"]) == ["green tea"]
    assert rewriter.calls == [(("what does he prefer",), "c" * 2000)]
    assert 'searched for: "green tea" (rewritten from "what does he prefer")' in response.text


@pytest.mark.parametrize(
    "rewriter",
    [
        FakeRewriter(error=TimeoutError()),
        FakeRewriter(error=RewriteError()),
        FakeRewriter(error=ValueError("x")),
        FakeRewriter(result=RewriteResult(("a", "b"), "applied")),
        FakeRewriter(result=RewriteResult((" ",), "applied")),
        FakeRewriter(result=RewriteResult(("\ud800",), "applied")),
    ],
    ids=["late", "failed", "broken", "too many", "blank", "surrogate"],
)
def test_failed_rewriting_searches_the_raw_queries(build: Build, rewriter: FakeRewriter) -> None:
    world = build(config(**REWRITE), rewriter=rewriter)
    record = world.add("Prefers green tea")

    response = world.search("green tea")

    assert ids(response.results) == [record.id]
    assert response.rewrite_status == "failed"
    assert world.log(response)["rewritten_queries"] is None


def rerank_config(**fields: Any) -> Any:
    return config(reranker={"enabled": True, "floor": 0.5} | fields)


def test_reranker_reorders_survivors_and_its_floor_decides(build: Build) -> None:
    contents = ["green tea one", "green tea two", "green tea three"]
    scores = {
        ("green tea", text): score for text, score in zip(contents, (0.6, 0.9, 0.1), strict=True)
    }
    world = build(rerank_config(), reranker=FakeReranker(scores))
    for text in contents:
        world.add(text)

    response = world.search("green tea")
    row = world.log(response)

    assert [r.record.content for r in response.results] == ["green tea two", "green tea one"]
    assert response.results[0].score == 0.9
    assert response.results[0].explanation.rerank is not None
    assert row["rerank_status"] == "applied"
    assert len(json.loads(row["reranked"])) == 3
    assert "rerank floor: 0.10 < 0.50" in row["reranked_out"]


def test_reranker_that_rejects_everything_is_named(build: Build) -> None:
    world = build(rerank_config(), reranker=FakeReranker())
    world.add("green tea")

    assert (
        world.search("green tea").empty_reason
        == "the reranker rejected every candidate; best: rerank floor: 0.00 < 0.50"
    )


def test_reranker_gets_a_bounded_shortlist_of_survivors(build: Build) -> None:
    reranker = FakeReranker(default=0.9)
    world = build(rerank_config(candidates=2), reranker=reranker)
    for name in ("one", "two", "three"):
        world.add(f"green tea {name}")
    world.add("Something else")

    response = world.search("green tea", "tea green")

    assert [len(docs) for _, docs in reranker.calls] == [2, 2]
    assert len(response.results) == 2
    assert "rerank shortlist" in world.log(response)["reranked_out"]


@pytest.mark.parametrize("mode", ["rrf_cross_encoder", "cross_encoder_only"])
def test_failing_reranker_falls_back_to_the_gated_order(build: Build, mode: str) -> None:
    """Fails in cross_encoder_only when ``_fit`` no longer gates again."""
    reranker = FakeReranker()
    reranker.fail()
    world = build(rerank_config(mode=mode), reranker=reranker)
    record = world.add("Prefers green tea")
    world.add("Unrelated words here")

    response = world.search("green tea")
    row = world.log(response)

    assert ids(response.results) == [record.id]
    assert (row["rerank_status"], row["rerank_error"]) == ("failed", "RerankError")
    assert row["reranked"] is None
    assert row["reranked_out"] == "[]"


def test_late_reranker_is_abandoned(build: Build) -> None:
    reranker = FakeReranker()
    reranker.hang()
    world = build(rerank_config(timeout_ms=1), reranker=reranker)
    record = world.add("Prefers green tea")

    response = world.search("green tea")
    reranker.release()

    assert ids(response.results) == [record.id]
    assert world.log(response)["rerank_status"] == "timeout"


def test_failing_reranker_raises_when_so_configured(build: Build) -> None:
    reranker = FakeReranker()
    reranker.fail()
    world = build(rerank_config(on_failure="fail"), reranker=reranker)
    world.add("Prefers green tea")

    with pytest.raises(RerankError, match="on_failure"):
        world.search("green tea")


def test_cross_encoder_only_scores_what_the_floors_would_drop(build: Build) -> None:
    reranker = FakeReranker({("hot drinks", "Prefers green tea"): 0.8})
    world = build(rerank_config(mode="cross_encoder_only"), reranker=reranker)
    record = world.add("Prefers green tea")
    world.add("Unrelated words here")

    assert ids(world.search("hot drinks").results) == [record.id]


# --- policy and refusal


def test_content_policy_sees_queries_before_anything_keeps_them(build: Build) -> None:
    world = build(content_policy=FakeContentPolicy(redact={"xyzzy": "[card]"}))
    world.add("Prefers green tea")

    response = world.search("card xyzzy", context="card xyzzy")

    assert "xyzzy" not in json.dumps(world.log(response))


@pytest.mark.parametrize(
    "request_fields",
    [
        {"queries": ()},
        {"queries": ("a", "b", "c", "d")},
        {"queries": ("  ",)},
        {"queries": "tea"},
        {"queries": ("nul\x00",)},
        {"queries": ("\ud800",)},
        {"k": 0},
        {"k": -1},
        {"k": True},
        {"k": 1.5},
        {"types": ("fact",)},
        {"types": ()},
        {"types": "semantic"},
        {"entities": ("",)},
        {"entities": ("n" * 201,)},
        {"since": datetime(2026, 1, 1)},
        {"known_at": datetime(2026, 1, 1)},
        {"as_of": "2026-01-01"},
        {
            "since": datetime(2026, 1, 2, tzinfo=UTC),
            "until": datetime(2026, 1, 2, tzinfo=UTC),
        },
        {"trigger": "cron"},
    ],
    ids=str,
)
def test_malformed_requests_are_refused_by_name(
    world: World, request_fields: dict[str, Any]
) -> None:
    """B68 for ``k``."""
    with pytest.raises(InvalidInput) as refused:
        world.search(**({"queries": ("tea",)} | request_fields))

    assert refused.value.details["field"] in refused.value.message
    assert next(iter(request_fields)) in refused.value.message


def test_huge_k_returns_what_there_is(world: World) -> None:
    world.add("Prefers green tea")

    assert len(world.search("green tea", k=10**9, principal=ANA).results) == 1


def test_search_on_a_read_only_store_writes_no_log(world: World) -> None:
    record = world.add("Prefers green tea")
    with Store.open(world.store.path, read_only=True, clock=world.clock) as store:
        retriever = Retriever(store, VectorIndex(world.identity), world.embedder, world.config)
        response = retriever.search(ANA, SearchRequest(queries=("green tea",), k=3))

    assert ids(response.results) == [record.id]
    assert response.log == "off"


def test_sixteen_threads_search_one_store(world: World) -> None:
    for number in range(20):
        world.add(f"green tea number {number}")

    with ThreadPoolExecutor(16) as pool:
        responses = list(pool.map(lambda _: world.search("green tea"), range(64)))

    assert {tuple(ids(response.results)) for response in responses} == {
        tuple(ids(responses[0].results))
    }
    assert {response.log for response in responses} <= {"written", "deferred"}


def test_vectors_of_another_model_degrade_the_search_and_name_both(world: World) -> None:
    """B49, B50."""
    record = world.add("Prefers green tea")
    other = FakeEmbedder(768, name="other/model")
    index = VectorIndex(EmbeddingIdentity(other.name, other.version, other.dims))
    retriever = Retriever(world.store, index, other, world.config)

    found = retriever.search(ANA, SearchRequest(queries=("green tea",), k=3))
    nothing = retriever.search(ANA, SearchRequest(queries=("hot drinks",), k=3))

    assert ids(found.results) == [record.id]
    for response in (found, nothing):
        assert len(response.degraded) == 1
        assert "384" in response.degraded[0]
        assert "768" in response.degraded[0]
    assert "degraded dense: " in str(nothing.empty_reason)


def test_vectors_replaced_by_another_process_degrade_the_search(world: World) -> None:
    record = world.add("Prefers green tea")
    world.search("green tea")
    with world.store.write() as tx:
        tx.meta.set_int("embedding_generation", tx.meta.embedding_generation() + 1)

    response = world.search("green tea")

    assert ids(response.results) == [record.id]
    assert response.degraded == (
        "dense: another process replaced all vectors of this store; open it again",
    )

"""How age lowers an episode, and what happens around the optional rewriting of queries."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from retold.errors import RewriteError
from retold.models import RewriteResult
from retold.testing import FakeRewriter
from tests.scenarios.support import contents

ON = {"retrieval": {"rewrite": {"enabled": True}}}


@pytest.fixture
def aged(world):
    """Store an episode and a fact that happened a half-life ago."""
    then = world.clock() - timedelta(days=30)
    episode = world.tell("The harbour fair was held", type="episodic", event_at=then)
    fact = world.tell("The harbour fair is yearly", attribute="fair", event_at=then)
    return world, episode, fact


def test_episodes_decay_and_facts_do_not(aged):
    world, episode, fact = aged

    page = world.session().search("harbour fair")

    multipliers = {item.record.id: item.explanation.freshness_multiplier for item in page}
    assert multipliers == {episode.record_id: pytest.approx(0.5), fact.record_id: None}
    assert world.log(page)["freshness"] == {episode.record_id: pytest.approx(0.5)}
    by_id = {item.record.id: item for item in page}
    decayed, kept = by_id[episode.record_id], by_id[fact.record_id]
    assert decayed.score == pytest.approx(decayed.explanation.fused_score * 0.5)
    assert kept.score == kept.explanation.fused_score


def test_decay_stops_at_the_configured_floor(make_world):
    world = make_world({"retrieval": {"freshness": {"floor": 0.7}}})
    then = world.clock() - timedelta(days=3000)
    world.tell("The harbour fair was held", type="episodic", event_at=then)

    page = world.session().search("harbour fair")

    assert page.items[0].explanation.freshness_multiplier == 0.7


def test_episode_that_lies_ahead_is_not_raised(world):
    ahead = world.clock() + timedelta(days=90)
    world.tell("The harbour fair will be held", type="episodic", event_at=ahead)

    page = world.session().search("harbour fair")

    assert page.items[0].explanation.freshness_multiplier == 1.0


@pytest.mark.parametrize("bound", ["since", "until"])
def test_time_window_switches_the_decay_off(aged, bound):
    world, episode, _ = aged
    days = {"since": -60, "until": 1}[bound]
    window = {bound: world.clock() + timedelta(days=days)}

    page = world.session().search("harbour fair", **window)

    assert episode.record_id in {item.record.id for item in page}
    assert {item.explanation.freshness_multiplier for item in page} == {None}
    assert world.log(page)["freshness"] == {}


def _search(world, queries, context=None):
    """Search as a host does that knows the turns around the query."""
    from retold.models import SearchRequest

    request = SearchRequest(tuple(queries), k=8, context=context)
    session = world.session()
    return world.retold.runtime.retriever.search(session.principal, request)


def _log(world, response):
    from retold.results import SearchPage

    return world.log(SearchPage.of(response))


def test_queries_stay_unchanged_while_rewriting_is_off(make_world):
    rewriter = FakeRewriter({"what does she like": "what does Ana like"})
    world = make_world(rewriter=rewriter)

    response = _search(world, ["what does she like"], "We spoke about Ana.")

    log = _log(world, response)
    assert rewriter.calls == []
    assert (response.rewrite_status, response.rewritten_queries) == ("disabled", None)
    assert (log["rewrite_status"], log["rewritten_queries"]) == ("disabled", None)
    assert log["request"]["queries"] == ["what does she like"]


def test_rewritten_queries_are_searched_and_both_forms_are_logged(make_world):
    world = make_world(ON, rewriter=FakeRewriter({"what about it": "the harbour fair"}))
    world.tell("The harbour fair was held", type="episodic")
    world.embedder.queries.clear()

    response = _search(world, ["what about it"])

    log = _log(world, response)
    assert [one.record.content for one in response.results] == ["The harbour fair was held"]
    assert (response.raw_queries, response.rewritten_queries) == (
        ("what about it",),
        ("the harbour fair",),
    )
    assert log["request"]["queries"] == ["what about it"]
    assert (log["rewrite_status"], log["rewritten_queries"]) == ("applied", ["the harbour fair"])
    assert world.embedder.queries == [("the harbour fair",)]
    explanation = response.results[0].explanation
    assert explanation.raw_queries == ("what about it",)
    assert explanation.rewritten_queries == ("the harbour fair",)
    assert "rewritten from" in response.text


@pytest.mark.parametrize(
    "rewriter",
    [
        FakeRewriter(error=TimeoutError()),
        FakeRewriter(error=RewriteError("down")),
        FakeRewriter(error=RuntimeError("a bug in the rewriter")),
        FakeRewriter(result=RewriteResult(("one", "two"), "applied")),
    ],
    ids=["timeout", "error", "foreign-error", "wrong-count"],
)
def test_failing_rewriter_leaves_the_raw_queries(make_world, rewriter):
    world = make_world(ON, rewriter=rewriter)
    world.tell("The harbour fair was held", type="episodic")

    response = _search(world, ["harbour fair"])

    log = _log(world, response)
    assert [one.record.content for one in response.results] == ["The harbour fair was held"]
    assert (log["rewrite_status"], log["rewritten_queries"]) == ("failed", None)
    assert response.rewritten_queries is None


def test_rewriter_sees_queries_and_context_and_never_a_record(make_world):
    rewriter = FakeRewriter()
    world = make_world(ON, rewriter=rewriter)
    world.tell("The harbour fair was held", type="episodic")
    _search(world, ["harbour fair", "market"], "user: and the fair?")

    _search(world, ["harbour fair", "market"], "user: and the fair?")

    assert rewriter.calls == 2 * [(("harbour fair", "market"), "user: and the fair?")]


def test_rewriter_gets_no_more_context_than_allowed(make_world):
    rewriter = FakeRewriter()
    settings = {"retrieval": {"rewrite": {"enabled": True, "max_context_chars": 5}}}
    world = make_world(settings, rewriter=rewriter)

    _search(world, ["harbour fair"], "0123456789")

    assert rewriter.calls == [(("harbour fair",), "01234")]


def test_rewriter_works_on_the_queries_alone_without_context(make_world):
    rewriter = FakeRewriter({"harbour": "the harbour fair"})
    world = make_world(ON, rewriter=rewriter)

    page = world.session().search("harbour")

    assert rewriter.calls == [(("harbour",), None)]
    assert page.response.rewritten_queries == ("the harbour fair",)
    assert contents(page) == []


def test_rewriter_that_never_answers_is_waited_for_no_longer_than_configured(make_world):
    """Call it without ``within`` and this search never ends."""
    never = threading.Event()

    class Silent:
        def rewrite(self, queries, context):
            never.wait()

    settings = {"retrieval": {"rewrite": {"enabled": True, "timeout_ms": 20}}}
    world = make_world(settings, rewriter=Silent())
    world.tell("The harbour fair was held", type="episodic")

    response = _search(world, ["harbour fair"])

    never.set()
    assert [one.record.content for one in response.results] == ["The harbour fair was held"]
    assert response.rewrite_status == _log(world, response)["rewrite_status"] == "failed"

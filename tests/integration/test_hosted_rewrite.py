"""Searches whose queries a hosted model rewrites: real clients, real HTTP, the public API."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import pytest

from retold import Retold
from retold.models import Scope
from retold.testing import MemoryLab
from tests.loopback import Fault, LoopbackModel, Reply

MODELS = ("anthropic/claude-x", "openai/gpt-x")
FAIR = "The harbour fair was held"
CONTEXT = "user: Was it the harbour fair?\nassistant: Yes, in spring."
PATIENT = {"enabled": True, "timeout_ms": 60_000}


@pytest.fixture
def lab_for(tmp_path, monkeypatch):
    """Return a function that opens a store whose hosted models are one loopback model."""
    opened = []

    def make(loopback, model=MODELS[0], *, rewrite=PATIENT, hosted=None, **overrides):
        for name, value in loopback.environment.items():
            monkeypatch.setenv(name, value)
        settings = {
            "retrieval": {"rewrite": {"model": model, **rewrite}},
            "hosted": {"max_retries": 0, **(hosted or {})},
        }
        lab = MemoryLab.open(tmp_path / "memory.sqlite", settings=settings, **overrides)
        opened.append(lab)
        return lab

    yield make
    for lab in opened:
        lab.close()


def rewritten(*queries):
    return Reply(json.dumps({"queries": list(queries)}))


def tell(lab, content=FAIR, user="ana"):
    with lab.retold.session(user) as session:
        said = f"By the way, {content[0].lower()}{content[1:]}"
        session.turn("user", said)
        session.remember(content, evidence=said, type="episodic")


def search(lab, query="what about it", context=CONTEXT, **principal):
    with lab.retold.session("ana", **principal) as session:
        return session.search(query, context=context)


def log_of(lab, page):
    with lab.retold.store.read() as tx:
        return tx.search_log.get(page.search_id)


def found(page):
    return [item.record.content for item in page]


# --- LLD 17.4 -------------------------------------------------------------------------


def test_queries_stay_unchanged_and_nobody_is_asked_while_rewriting_is_off(lab_for):
    with LoopbackModel([]) as loopback:
        lab = lab_for(loopback, rewrite={"enabled": False})
        tell(lab)
        page = search(lab, "harbour fair")

    assert found(page) == [FAIR]
    assert (page.response.rewrite_status, log_of(lab, page)["rewrite_status"]) == 2 * ("disabled",)
    assert loopback.exchanges == []


@pytest.mark.parametrize("model", MODELS)
def test_rewritten_queries_are_searched_and_both_forms_are_logged(model, lab_for):
    with LoopbackModel([rewritten("the harbour fair")]) as loopback:
        lab = lab_for(loopback, model)
        tell(lab)
        page = search(lab)

    row = log_of(lab, page)
    assert found(page) == [FAIR]
    assert page.response.raw_queries == ("what about it",)
    assert page.response.rewritten_queries == ("the harbour fair",)
    assert json.loads(row["request"])["queries"] == ["what about it"]
    assert row["rewrite_status"] == "applied"
    assert json.loads(row["rewritten_queries"]) == ["the harbour fair"]
    assert loopback.bodies[0]["model"] == model.partition("/")[2]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Fault(503), id="outage"),
        pytest.param(Fault(401), id="key"),
        pytest.param(Fault(way="cut"), id="broken-off"),
        pytest.param(Reply("I would rather not."), id="no-json"),
        pytest.param(Reply('{"queries": ["the harbour'), id="cut-short"),
        pytest.param(rewritten("one", "two"), id="count"),
        pytest.param(rewritten("what Bob told Alice"), id="invention"),
    ],
)
def test_failing_model_leaves_the_raw_queries_and_the_log_says_failed(model, answer, lab_for):
    with LoopbackModel([answer]) as loopback:
        lab = lab_for(loopback, model)
        tell(lab)
        page = search(lab, "harbour fair")

    row = log_of(lab, page)
    assert found(page) == [FAIR]
    assert (page.response.rewrite_status, page.response.rewritten_queries) == ("failed", None)
    assert (row["rewrite_status"], row["rewritten_queries"]) == ("failed", None)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("way", ["hang", "drip"])
def test_late_model_leaves_the_raw_queries_and_the_log_says_failed(model, way, lab_for):
    with LoopbackModel(lambda exchange: Fault(way=way)) as loopback:
        lab = lab_for(loopback, model, rewrite={"enabled": True, "timeout_ms": 300})
        tell(lab)
        page = search(lab, "harbour fair")

    assert found(page) == [FAIR]
    assert page.response.rewrite_status == log_of(lab, page)["rewrite_status"] == "failed"


@pytest.mark.parametrize("model", MODELS)
def test_model_receives_queries_and_context_and_never_a_record(model, lab_for):
    """Nor another user's context, which the same process searched with just before."""
    with LoopbackModel([rewritten("her train"), rewritten("the harbour fair")]) as loopback:
        lab = lab_for(loopback, model)
        tell(lab)
        tell(lab, "The zeppelin was late", user="bob")
        with lab.retold.session("bob") as session:
            session.search("her train", context="user: zeppelins bore me")
        search(lab)

    said = json.dumps(loopback.bodies[1])
    assert "Was it the harbour fair?" in said
    assert "what about it" in said
    for unsaid in (FAIR, "zeppelin", "her train", "ana", "bob"):
        assert unsaid not in said


@pytest.mark.parametrize("model", MODELS)
def test_model_works_on_the_queries_alone_without_context(model, lab_for):
    with LoopbackModel([rewritten("harbour")]) as loopback:
        lab = lab_for(loopback, model)
        page = search(lab, "harbour", context=None)

    assert page.response.rewrite_status == "unchanged"
    (exchange,) = loopback.exchanges
    assert "harbour" in exchange.user
    assert "user:" not in exchange.user


# --- whose words may leave ------------------------------------------------------------


@pytest.mark.parametrize(
    "hosted",
    [
        {"enabled": False},
        {"allow_scopes": ["user:*"]},
        {"allow_scopes": ["agent:*"]},
        {"allow_scopes": ["user:bob", "agent:assistant/bob"]},
    ],
    ids=["off", "private", "user", "others"],
)
def test_words_of_a_scope_that_may_not_leave_stay_here(hosted, lab_for, caplog):
    """Both personal scopes count, whatever is granted: the words are the user's."""
    with LoopbackModel([]) as loopback, caplog.at_level(logging.WARNING):
        lab = lab_for(loopback, hosted=hosted)
        tell(lab)
        page = search(lab, "harbour fair")

    assert found(page) == [FAIR]
    assert page.response.rewrite_status == "failed"
    assert loopback.exchanges == []
    reasons = [record.reason for record in caplog.records if hasattr(record, "reason")]
    assert reasons == ["hosted_not_allowed"]


def test_context_may_quote_what_an_agent_may_read_so_that_has_to_be_allowed_too(lab_for):
    allowed = {"allow_scopes": ["user:*", "agent:*"]}
    with LoopbackModel([rewritten("the harbour fair")]) as loopback:
        lab = lab_for(loopback, hosted=allowed)
        lab.retold.host.grant("planner", Scope("project", "apollo"), read=True)

        assert search(lab, agent_id="planner").response.rewrite_status == "failed"
        assert search(lab, project_id="apollo").response.rewrite_status == "failed"
        assert search(lab, agent_id="critic").response.rewrite_status == "applied"


# --- cost -----------------------------------------------------------------------------


def test_tokens_are_counted_in_the_store_and_end_at_the_limit_of_the_day(lab_for):
    with LoopbackModel([rewritten("the harbour fair")]) as loopback:
        lab = lab_for(loopback, hosted={"tokens_per_day": 4000})
        first = search(lab)
        with lab.retold.store.write() as tx:
            tx.budget.add("openai", tx.now.date(), tokens=4000, calls=1)
        second = search(lab)

    assert (first.response.rewrite_status, second.response.rewrite_status) == ("applied", "failed")
    with lab.retold.store.read() as tx:
        anthropic, openai = tx.budget.list_for(tx.now.date())
    assert (anthropic.provider, anthropic.calls, anthropic.tokens > 0) == ("anthropic", 1, True)
    assert openai == ("openai", 4000, 1)


@pytest.mark.parametrize(("limit", "status"), [(None, "applied"), (4000, "failed")])
def test_store_that_is_only_read_counts_nothing_so_a_limit_allows_no_call(limit, status, lab_for):
    answers = [rewritten("the harbour fair")] if limit is None else []
    with LoopbackModel(answers) as loopback:
        lab = lab_for(loopback, hosted={"tokens_per_day": limit})
        with Retold.open(
            lab.path, config=lab.config, overrides=lab.overrides, read_only=True
        ) as reader:
            page = reader.session("ana").search("what about it", context=CONTEXT)

    assert page.response.rewrite_status == status
    with lab.retold.store.read() as tx:
        assert tx.budget.list_for(tx.now.date()) == []


def test_client_that_was_made_here_closes_its_connections_with_the_store(lab_for):
    with LoopbackModel([rewritten("the harbour fair")]) as loopback:
        lab = lab_for(loopback)
        search(lab)
        idle = lab.retold.runtime.own_completions._made._sender._idle
        assert len(idle) == 1
        lab.close()

        assert lab.retold.runtime.own_completions._made._sender._idle == []


LAZY = """
import sys
from retold.testing import MemoryLab

settings = {"retrieval": {"rewrite": {"enabled": True}}}
with MemoryLab.open(sys.argv[1], settings=settings) as lab:
    print(sorted({"anthropic", "openai", "httpx", "retold.hosted"} & set(sys.modules)))
    with lab.retold.session("ana") as session:
        print(session.search("harbour").response.rewrite_status)
"""


def test_nothing_is_imported_and_no_key_is_needed_to_open_with_rewriting_on(tmp_path, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    ran = subprocess.run(
        [sys.executable, "-c", LAZY, str(tmp_path / "memory.sqlite")],
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout.splitlines() == ["[]", "failed"]

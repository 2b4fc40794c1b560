"""Asking for an extraction when a conversation ends, and waiting for what comes of it."""

import asyncio
import threading

import pytest

from retold import Retold
from retold.errors import HostedNotAllowed, RetoldSetupError, StoreUnavailable
from retold.results import AsyncExtractionHandle, ExtractionHandle
from retold.testing import FakeCompletionClient, MemoryLab, TableExtractor
from tests.extraction_support import ALLERGY, LISBON, PEANUTS, extraction

PATIENCE_SECONDS = 30
HOSTED = {"extractor": None, "candidate_reviewer": None}


@pytest.fixture
def run():
    with extraction() as opened:
        yield opened


# --- asking ---------------------------------------------------------------------------


def test_thread_of_this_process_extracts_what_was_asked_for():
    with extraction(queue=None) as run:
        with run.lab.session(extract=True) as session:
            session.turn("user", PEANUTS)
            session.turn("user", LISBON)
        handle = session.finish()

        assert handle.join(PATIENCE_SECONDS) == "done"
        assert handle.requested
        found = run.lab.session().search("Which food is dangerous for the user?")
        assert ALLERGY.content in [one.record.content for one in found]


def test_thread_takes_up_what_an_earlier_process_left():
    with extraction(queue=None) as run:
        left = run.ended(PEANUTS, LISBON, request=False)
        with run.lab.store.write() as tx:
            tx.sessions.request_extraction(left)
        session = run.lab.session()
        session.turn("user", "Thanks, that is all.")
        handle = session.finish(extract=True)

        assert handle.join(PATIENCE_SECONDS) == "done"
        run.lab.retold.close()
        with run.lab.reopen().store.read() as tx:
            assert tx.claims.require(left).extracted_at is not None


def test_nothing_is_asked_for_unless_somebody_does(run):
    with run.lab.session() as session:
        session.turn("user", PEANUTS)
    handle = session.finish()

    assert (handle.requested, handle.status(), handle.join(0)) == (
        False, "not_requested", "not_requested",
    )  # fmt: skip
    assert run.state(handle.session_id).requested_at is None
    assert run.lab.queue.requested == []


def test_finish_has_the_last_word_on_what_the_session_was_opened_with(run):
    with run.lab.session(extract=True) as session:
        session.turn("user", PEANUTS)
        handle = session.finish(extract=False)

    assert run.state(handle.session_id).requested_at is None


def test_segments_that_silence_split_off_are_asked_for_too(run):
    with run.lab.session(extract=True, session_id="long") as session:
        session.turn("user", PEANUTS)
        session.turn("assistant", "Noted.")
        run.lab.clock.advance(hours=2)
        session.turn("user", LISBON)
        session.turn("assistant", "Lovely.")
        handle = session.finish()
    assert len(run.lab.queue.requested) == 2
    first, second = run.lab.queue.requested

    assert handle.status() == "waiting"
    assert run.steps.run(second).done == "reviewed"
    assert handle.status() == "waiting"
    assert run.steps.run(first).done == "reviewed"
    assert handle.status() == "done"
    assert len(run.facts()) == 2


def test_what_was_not_asked_for_before_is_not_asked_for_by_a_later_session(run):
    with run.lab.session(session_id="daily") as session:
        session.turn("user", PEANUTS)
    earlier = session.finish().session_id
    with run.lab.session(session_id="daily", extract=True) as session:
        session.turn("user", LISBON)

    assert run.lab.queue.requested == [session.finish().session_id]
    assert run.state(earlier).requested_at is None


# --- refusing at the call -------------------------------------------------------------


def test_without_a_key_the_call_says_so_and_the_session_goes_on(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with MemoryLab.open(queue=None) as lab:
        before = lab.row_counts()
        with pytest.raises(RetoldSetupError, match="ANTHROPIC_API_KEY"):
            lab.session(extract=True)
        with pytest.raises(RetoldSetupError, match="ANTHROPIC_API_KEY"):
            lab.retold.asession("ana", extract=True)
        assert lab.row_counts() == before
        session = lab.session()
        with pytest.raises(RetoldSetupError, match="ANTHROPIC_API_KEY"):
            session.finish(extract=True)

        assert session.turn("user", PEANUTS).turn == 1
        assert session.finish().status() == "not_requested"


def test_with_workers_the_key_is_looked_for_where_they_run(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with MemoryLab.open() as lab:
        assert lab.session(extract=True).finish().status() == "waiting"


@pytest.mark.parametrize(
    ("hosted", "said"),
    [
        pytest.param({"enabled": False}, r"hosted\.enabled", id="switched off"),
        pytest.param({"allow_scopes": ["user:bob"]}, r"allow_scopes", id="another scope"),
    ],
)
@pytest.mark.parametrize("queue", [True, False], ids=["workers", "thread"])
def test_words_that_may_not_leave_are_refused_at_the_call(hosted, said, queue):
    client = FakeCompletionClient([])
    more = {} if queue else {"queue": None}
    with MemoryLab.open(settings={"hosted": hosted}, completions=client, **more) as lab:
        session = lab.session()
        with pytest.raises(HostedNotAllowed, match=said):
            session.finish(extract=True)
        with pytest.raises(HostedNotAllowed, match=said):
            lab.session(extract=True)
        assert client.requests == []


def test_own_extractor_and_reviewer_need_no_hosted_model():
    with extraction(settings={"hosted": {"enabled": False}}, queue=None) as run:
        with run.lab.session(extract=True) as session:
            session.turn("user", PEANUTS)
            session.turn("user", LISBON)

        assert session.finish().join(PATIENCE_SECONDS) == "done"


def test_read_only_store_refuses_an_extraction(run):
    lab = run.lab
    with Retold.open(
        lab.path, config=lab.config, overrides=lab.overrides, read_only=True
    ) as reading:
        session = reading.session("ana", session_id="s1")
        with pytest.raises(StoreUnavailable, match="read-only"):
            session.finish(extract=True)

        assert session.finish().status() == "not_requested"


# --- waiting --------------------------------------------------------------------------


class Watched:
    """States that a look finds one after the other, and a clock that only sleeping moves."""

    def __init__(self, *states):
        self.states = list(states)
        self.slept = []

    def look(self):
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]

    def handle(self):
        return ExtractionHandle(
            "s1", True, self.look, ticks=lambda: sum(self.slept), sleep=self.slept.append
        )


def test_waiting_ends_with_the_extraction():
    watched = Watched("waiting", "extracting", "reviewing", "done")

    assert watched.handle().join() == "done"
    assert len(watched.slept) == 3
    assert watched.slept == sorted(watched.slept)


@pytest.mark.parametrize("last", ["failed", "not_requested"])
def test_waiting_ends_when_nobody_will_work_on_it_any_more(last):
    assert Watched("waiting", last).handle().join() == last


def test_waiting_takes_no_longer_than_it_may():
    watched = Watched("waiting")

    assert watched.handle().join(timeout=5) == "waiting"
    assert sum(watched.slept) == 5


def test_async_handle_waits_without_holding_up_the_loop():
    watched = Watched("waiting", "done")
    handle = AsyncExtractionHandle(watched.handle())

    async def waited():
        return await handle.join(), await handle.status(), handle.requested, handle.session_id

    assert asyncio.run(waited()) == ("done", "done", True, "s1")
    assert watched.slept == []


def test_async_session_asks_and_waits():
    async def conversation(run):
        async with run.lab.retold.asession("ana", agent_id="helper", extract=True) as session:
            await session.turn("user", PEANUTS)
            await session.turn("user", LISBON)
        return await (await session.finish()).join(PATIENCE_SECONDS)

    with extraction(queue=None) as run:
        assert asyncio.run(conversation(run)) == "done"


def test_handle_tells_which_step_is_being_done(run):
    session = run.lab.session(extract=True)
    session.turn("user", PEANUTS)
    session.turn("user", LISBON)
    handle = session.finish()
    seen = [handle.status()]
    run.extractor.extract = _looking(run.extractor.extract, seen, handle)
    run.reviewer.review = _looking(run.reviewer.review, seen, handle)
    run.steps.run(handle.session_id)

    assert [*seen, handle.status()] == ["waiting", "extracting", "reviewing", "done"]


def _looking(method, seen, handle):
    def look(*args, **more):
        seen.append(handle.status())
        return method(*args, **more)

    return look


class Holding(TableExtractor):
    """Answer when it is let go."""

    def __init__(self):
        super().__init__(always=[ALLERGY])
        self.entered, self.let_go = threading.Event(), threading.Event()

    def extract(self, *args, **more):
        self.entered.set()
        assert self.let_go.wait(PATIENCE_SECONDS)
        return super().extract(*args, **more)


def test_close_waits_for_the_session_that_is_worked_on(monkeypatch):
    holding = Holding()
    with extraction(extractor=holding, queue=None) as run:
        session = run.lab.session(extract=True)
        session.turn("user", PEANUTS)
        session.turn("user", LISBON)
        handle = session.finish()
        assert holding.entered.wait(PATIENCE_SECONDS)
        queue = run.lab.runtime.own_queue
        close = type(queue).close

        def closing(self, timeout_seconds):
            holding.let_go.set()
            return close(self, timeout_seconds)

        monkeypatch.setattr(type(queue), "close", closing)
        run.lab.retold.close()

        with run.lab.reopen().store.read() as tx:
            assert tx.claims.require(handle.session_id).extracted_at is not None


# --- searching meanwhile --------------------------------------------------------------


def test_search_says_how_many_of_the_callers_own_sessions_still_wait(run):
    waiting = [run.ended(PEANUTS, LISBON), run.ended("I like tea.", "And coffee.")]
    run.ended("Something else.", "Of no interest.", request=False)
    run.ended("I am somebody else.", "Really.", user="bob")
    run.ended("I told another agent.", "Really.", agent="critic")

    def told(user="ana", agent="helper"):
        return run.lab.session(user, agent, session_id="asking").search("tea").waiting_sessions

    assert (told(), told("bob"), told(agent="critic"), told("carl")) == (2, 1, 1, 0)
    tools = run.lab.session(session_id="asking").tools()
    answer = tools.call("memory_search", {"queries": ["tea"]})
    assert answer.data["waiting_sessions"] == 2
    run.steps.run(waiting[0])
    assert told() == 1

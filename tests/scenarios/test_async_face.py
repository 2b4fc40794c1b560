"""The async face: same names, nothing on the loop's thread, no half write when cancelled."""

from __future__ import annotations

import asyncio
import inspect
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from retold import AsyncMemorySession, InvalidInput, MemorySession, SessionFinished, StoreBusy
from retold.store import Store
from retold.testing import CountingIds, FakeClock, FakeEmbedder, MemoryLab

PATIENCE_SECONDS = 60
"""How long a test waits for a thread before it fails instead of hanging."""


def public(owner: type) -> set[str]:
    """Return the names an application may use on instances."""
    return {name for name in vars(owner) if not name.startswith("_")}


@pytest.fixture
def lab():
    """Return a lab with the fakes' answers."""
    with MemoryLab.open() as opened:
        yield opened


class Held:
    """A place where a worker thread waits until the test lets it go on."""

    def __init__(self) -> None:
        self.armed = False
        self.entered = threading.Event()
        self.released = threading.Event()

    def wait(self) -> None:
        if self.armed:
            self.armed = False
            self.entered.set()
            assert self.released.wait(PATIENCE_SECONDS)

    async def reached(self) -> None:
        assert await asyncio.to_thread(self.entered.wait, PATIENCE_SECONDS)


class HeldEmbedder(FakeEmbedder):
    """An embedder that can be held while a claim is embedded."""

    def __init__(self, held: Held) -> None:
        super().__init__()
        self._held = held

    def embed_documents(self, texts):
        self._held.wait()
        return super().embed_documents(texts)


class HeldIds(CountingIds):
    """Ids that can be held; rows get theirs in the middle of a write transaction."""

    def __init__(self, held: Held) -> None:
        super().__init__()
        self._held = held

    def __call__(self) -> str:
        self._held.wait()
        return super().__call__()


def tea(session):
    """Return the coroutine of one write."""
    return session.remember("Likes tea", evidence="I like tea.", attribute="drink")


# --- the same names -------------------------------------------------------------------


def test_async_session_has_the_names_of_the_session():
    """A method added to one of the two makes this fail until the other has it."""
    assert public(AsyncMemorySession) == public(MemorySession)


@pytest.mark.parametrize("name", sorted(public(MemorySession)))
def test_async_method_takes_and_says_what_its_namesake_does(lab, name):
    offloaded = getattr(lab.retold.asession("ana"), name)
    own = inspect.signature(getattr(MemorySession, name)).parameters

    assert inspect.iscoroutinefunction(offloaded)
    assert list(inspect.signature(offloaded).parameters.values()) == list(own.values())[1:]
    assert inspect.getdoc(getattr(AsyncMemorySession, name))


def test_asession_takes_what_session_takes(lab):
    one, other = (inspect.signature(f) for f in (lab.retold.session, lab.retold.asession))

    assert one.parameters == other.parameters


def test_conversation_runs_from_turn_to_finish(lab):
    async def life():
        async with lab.retold.asession("ana", agent_id="helper") as session:
            await session.turn("user", "I like green tea.")
            written = await session.remember("Likes green tea", evidence="I like green tea.")
            page = await session.search("green tea")
            assert [item.record.id for item in page] == [written.record_id]
            assert "> Likes green tea" in await session.context("green tea")
            assert (await session.get(written.record_id)).found[0].content == "Likes green tea"
            await session.forget(written.record_id)
            assert not await session.search("green tea")
        with pytest.raises(SessionFinished):
            await session.search("green tea")
        return await session.finish()

    handle = asyncio.run(life())
    with lab.store.read() as tx:
        assert tx.sessions.require(handle.session_id).ended_by == "host"


def test_asession_stores_nothing_before_it_is_used(lab):
    before = lab.row_counts()
    session = lab.retold.asession("ana", session_id="V")
    assert lab.row_counts() == before

    asyncio.run(session.turn("user", "hello"))
    assert lab.row_counts()["sessions"] == before["sessions"] + 1
    assert repr(session) == "AsyncMemorySession('V')"


def test_asession_refuses_a_bad_id_before_anything_is_awaited(lab):
    with pytest.raises(InvalidInput, match="user_id"):
        lab.retold.asession("a/b")


# --- nothing on the loop's thread -----------------------------------------------------


class WatchedClock(FakeClock):
    """A clock that knows which threads looked at it; every transaction does."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()

    def __call__(self):
        self.threads.add(threading.get_ident())
        return super().__call__()


CALLS = {
    "turn": lambda s, i: s.turn("user", "hello"),
    "add_messages": lambda s, i: s.add_messages([{"role": "user", "content": "hi"}]),
    "remember": lambda s, i: s.remember("Likes chess", evidence="I like chess."),
    "search": lambda s, i: s.search("tea"),
    "context": lambda s, i: s.context("tea"),
    "get": lambda s, i: s.get(i),
    "history": lambda s, i: s.history(i),
    "list": lambda s, i: s.list(),
    "status": lambda s, i: s.status(),
    "revise": lambda s, i: s.revise(i, "expire", reason="r"),
    "confirm": lambda s, i: s.confirm(i, reason="r"),
    "replace": lambda s, i: s.replace(i, "Likes coffee", reason="r", evidence="I like coffee."),
    "expire": lambda s, i: s.expire(i, reason="r"),
    "entities": lambda s, i: s.entities(),
    "forget": lambda s, i: s.forget(i),
    "finish": lambda s, i: s.finish(),
}


@pytest.mark.parametrize("verb", CALLS)
def test_loop_thread_never_touches_the_store(verb):
    """Calling the method where it is awaited makes this fail."""
    clock = WatchedClock()

    async def use(session, record_id):
        clock.threads.clear()
        await CALLS[verb](session, record_id)
        return threading.get_ident()

    with MemoryLab.open(clock=clock) as lab:
        guess = lab.session().remember("Likes tea", attribute="drink", allow_inference=True)
        loop_thread = asyncio.run(
            use(lab.retold.asession("ana", agent_id="helper"), guess.record_id)
        )

    assert clock.threads
    assert loop_thread not in clock.threads


def test_other_coroutines_run_while_a_write_waits_for_its_model():
    """B77. On the loop's own thread the write would wait for a coroutine that waits for it."""
    held = Held()

    async def together(session):
        held.armed = True
        write = asyncio.create_task(tea(session))
        await held.reached()
        found = await session.search("tea")
        held.released.set()
        return found, await write

    with MemoryLab.open(embedder=HeldEmbedder(held)) as lab:
        found, written = asyncio.run(together(lab.retold.asession("ana")))

    assert not found
    assert written.kind == "created"


def test_fifty_coroutines_share_one_session(lab):
    async def all_at_once():
        async with lab.retold.asession("ana", agent_id="helper") as session:

            async def one(number):
                said = f"My locker {number} opens with amber{number:03}."
                result = await session.remember(said, evidence=said, attribute=f"locker_{number}")
                page = await session.search(f"amber{number:03}", k=1)
                return result.record_id, page.items[0].record.id

            return await asyncio.gather(*(one(number) for number in range(50)))

    pairs = asyncio.run(all_at_once())
    assert len({written for written, _ in pairs}) == 50
    assert all(written == found for written, found in pairs)
    assert len(lab.session("ana").list(limit=1000)) == 50


# --- cancelling -----------------------------------------------------------------------


def counts_of_an_uncancelled_write() -> dict[str, int]:
    """Return the row counts after the same conversation when nobody cancels."""
    with MemoryLab.open() as lab:

        async def life():
            async with lab.retold.asession("ana", agent_id="helper") as session:
                await tea(session)

        asyncio.run(life())
        return lab.row_counts()


PLACES = {
    "while the claim is embedded": lambda held: {"embedder": HeldEmbedder(held)},
    "in the middle of the transaction": lambda held: {"id_source": HeldIds(held)},
}


@pytest.mark.parametrize("place", PLACES)
def test_write_cancelled_in_flight_is_stored_whole_or_not_at_all(place):
    """A write is one call in one thread; two calls could be cancelled between them."""
    held = Held()

    async def cancelled(lab, second):
        async with lab.retold.asession("ana", agent_id="helper") as session:
            before = second.row_counts()
            held.armed = True
            write = asyncio.create_task(tea(session))
            await held.reached()
            if place == "in the middle of the transaction":
                assert_locked(lab.path)
            write.cancel()
            with pytest.raises(asyncio.CancelledError):
                await write
            assert second.row_counts() == before
            held.released.set()
        return second.row_counts()

    with MemoryLab.open(**PLACES[place](held)) as lab:
        after = asyncio.run(cancelled(lab, lab.reopen()))
        assert [one.content for one in lab.session("ana").list()] == ["Likes tea"]
        assert len(lab.session("ana").search("Likes tea")) == 1

    assert after == counts_of_an_uncancelled_write()


async def tea_by_tool(session):
    """Return the coroutine of one write that a model asks for."""
    tools = await session.tools()
    claim = {"type": "semantic", "content": "The user likes tea", "attribute": "drink"}
    return tools.acall("memory_write", claim)


async def tea_by_message(session):
    """Return the coroutine of the answer to a model's message that asks for one write."""
    tools = await session.tools()
    claim = {"type": "semantic", "content": "The user likes tea", "attribute": "drink"}
    call = {"type": "tool_use", "id": "t1", "name": "memory_write", "input": claim}
    return tools.aanswer_anthropic({"content": [call]})


async def tea_by_application(session):
    """Return the coroutine of one write of the application."""
    return tea(session)


@pytest.mark.parametrize("begun_by", [tea_by_application, tea_by_tool, tea_by_message])
def test_finish_waits_for_a_cancelled_write_that_still_runs(begun_by):
    """Without the loop in ``_settled`` the session ends first and the write is never let go.

    Without ``within`` that holds for the tools.
    """
    held = Held()

    async def finished(session):
        coroutine = await begun_by(session)
        held.armed = True
        write = asyncio.create_task(coroutine)
        await held.reached()
        write.cancel()
        (done,) = session._running
        done.wait = lambda: held.released.set() or threading.Event.wait(done, PATIENCE_SECONDS)
        await session.finish()
        stored = lab.row_counts()["records"]
        held.released.set()
        return stored

    with MemoryLab.open(embedder=HeldEmbedder(held)) as lab:
        assert asyncio.run(finished(lab.retold.asession("ana"))) == 1


def assert_locked(path) -> None:
    """Fail unless somebody holds the write lock of the file."""
    with (
        Store.open(path, busy_timeout_seconds=0.01) as other,
        pytest.raises(StoreBusy),
        other.write(),
    ):
        pass


def test_write_cancelled_before_its_turn_never_happens(lab):
    held = Held()
    held.armed = True

    async def cancelled():
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        session = lab.retold.asession("ana")
        await session.turn("user", "hello")
        before = lab.row_counts()
        first = asyncio.create_task(asyncio.to_thread(held.wait))
        write = asyncio.create_task(tea(session))
        await asyncio.sleep(0)
        write.cancel()
        with pytest.raises(asyncio.CancelledError):
            await write
        held.released.set()
        await first
        await session.policy_text()  # the only worker has nothing else left to do
        return before

    assert asyncio.run(cancelled()) == lab.row_counts()


def test_crowd_of_writes_of_which_half_are_cancelled_leaves_whole_records_only(lab):
    async def crowd():
        async with lab.retold.asession("ana", agent_id="helper") as session:

            async def one(number):
                said = f"My locker {number} opens with amber{number:03}."
                await session.remember(said, evidence=said, attribute=f"locker_{number}")

            tasks = [asyncio.create_task(one(number)) for number in range(40)]
            await tasks[0]
            for task in tasks[1::2]:
                task.cancel()
            return await asyncio.gather(*tasks, return_exceptions=True)

    ends = asyncio.run(crowd())
    counts = lab.row_counts()
    assert {type(end) for end in ends[0::2]} == {type(None)}
    assert {type(end) for end in ends} <= {type(None), asyncio.CancelledError}
    assert 20 <= counts["records"] <= 40
    assert {counts[table] for table in ONE_ROW_EACH} == {counts["records"]}
    assert len(lab.session().list(limit=1000)) == counts["records"]


ONE_ROW_EACH = ("embeddings", "record_evidence", "record_entities", "session_turns")


def test_error_of_a_cancelled_write_leaves_nothing_behind():
    """The store is closed under it: the write is refused as a whole."""
    held = Held()

    async def cancelled(lab):
        session = lab.retold.asession("ana")
        await session.turn("user", "hello")
        before = lab.row_counts()
        held.armed = True
        write = asyncio.create_task(tea(session))
        await held.reached()
        write.cancel()
        with pytest.raises(asyncio.CancelledError):
            await write
        lab.retold.close()
        held.released.set()
        return before

    with MemoryLab.open(embedder=HeldEmbedder(held)) as lab:
        second = lab.reopen()
        before = asyncio.run(cancelled(lab))
        assert second.row_counts() == before

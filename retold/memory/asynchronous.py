"""The async face: a session whose every call runs in a worker thread."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Coroutine, Mapping
from types import MethodType, TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Self,
    TypeVar,
    assert_type,
    overload,
)

from retold.memory.session import MemorySession
from retold.models import Principal, Scope, WriteResult
from retold.results import AsyncExtractionHandle, SearchPage
from retold.tools.session_tools import SessionTools

P = ParamSpec("P")
Answer = TypeVar("Answer")


class Offloaded(Generic[P, Answer]):
    """A method of ``MemorySession`` as a coroutine of the same name, arguments and answer.

    The signature is taken from the method by its type, so that there is one text of it: a second
    class written by hand would drift from the first, and one made at run time would have no types.
    """

    def __init__(self, method: Callable[Concatenate[MemorySession, P], Answer]) -> None:
        """Take the method, whose docstring becomes this one's."""
        self._method = method
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, session: None, owner: type[AsyncMemorySession]) -> Self: ...
    @overload
    def __get__(
        self, session: AsyncMemorySession, owner: type[AsyncMemorySession]
    ) -> Callable[P, Coroutine[Any, Any, Answer]]: ...
    def __get__(
        self, session: AsyncMemorySession | None, owner: type[AsyncMemorySession]
    ) -> Self | Callable[P, Coroutine[Any, Any, Answer]]:
        if session is None:
            return self
        method, run = self._method, session._run

        # Wrapping it as bound to the session leaves `self` out of the signature.
        @functools.wraps(MethodType(method, session))
        async def call(*args: P.args, **kwargs: P.kwargs) -> Answer:
            return await run(lambda opened: method(opened, *args, **kwargs))

        return call


class AsyncMemorySession:
    """A ``MemorySession`` for asyncio: the same names, and the event loop is never held up.

    ``Retold.asession`` makes one. The conversation starts with ``async with``, or else with the
    first call. Calls run in the loop's default executor, several at once.

    A cancelled call ends at once for the one who waits. If its turn had not come, it never
    happens; if it had begun, it goes on in its thread, so that a write is stored whole or not at
    all. ``finish``, and so the end of ``async with``, waits for whatever is still running, calls of
    its ``tools`` included.
    """

    turn = Offloaded(MemorySession.turn)
    add_messages = Offloaded(MemorySession.add_messages)
    remember = Offloaded(MemorySession.remember)
    search = Offloaded(MemorySession.search)
    context = Offloaded(MemorySession.context)
    profile = Offloaded(MemorySession.profile)
    policy_text = Offloaded(MemorySession.policy_text)
    get = Offloaded(MemorySession.get)
    history = Offloaded(MemorySession.history)
    list = Offloaded(MemorySession.list)
    status = Offloaded(MemorySession.status)
    revise = Offloaded(MemorySession.revise)
    confirm = Offloaded(MemorySession.confirm)
    replace = Offloaded(MemorySession.replace)
    expire = Offloaded(MemorySession.expire)
    entities = Offloaded(MemorySession.entities)
    merge = Offloaded(MemorySession.merge)
    forget = Offloaded(MemorySession.forget)

    def __init__(self, start: Callable[[], MemorySession], principal: Principal) -> None:
        """Take what starts the conversation; it is called once, in a worker thread."""
        self.principal = principal
        self._start = start
        self._starting = threading.Lock()
        self._session: MemorySession | None = None
        self._counting = threading.Lock()
        self._running: set[threading.Event] = set()

    async def __aenter__(self) -> Self:
        await self._run(lambda opened: None)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self._settled, lambda opened: opened.__exit__(kind, error, trace))

    def __repr__(self) -> str:
        return f"AsyncMemorySession({self.principal.session_id!r})"

    async def tools(self, *, write_targets: Mapping[str, Scope] | None = None) -> SessionTools:
        """Return what ``MemorySession.tools`` does; ``finish`` waits for calls of these as well."""
        made = await self._run(lambda opened: opened.tools(write_targets=write_targets))
        return made.within(lambda call: self._counted(lambda _: call()))

    async def finish(self, *, extract: bool | None = None) -> AsyncExtractionHandle:
        """End the conversation when no call is running any more, cancelled ones included.

        Arguments and errors are those of ``MemorySession.finish``. A second call does nothing.
        Afterwards the session refuses use.
        """
        handle = await asyncio.to_thread(
            self._settled, lambda opened: opened.finish(extract=extract)
        )
        return AsyncExtractionHandle(handle)

    async def _run(self, call: Callable[[MemorySession], Answer]) -> Answer:
        return await asyncio.to_thread(self._counted, call)

    def _counted(self, call: Callable[[MemorySession], Answer]) -> Answer:
        done = threading.Event()
        with self._counting:
            self._running.add(done)
        try:
            return call(self._opened())
        finally:
            with self._counting:
                self._running.remove(done)
            done.set()

    def _settled(self, call: Callable[[MemorySession], Answer]) -> Answer:
        with self._counting:
            running = tuple(self._running)
        for done in running:
            done.wait()
        return call(self._opened())

    def _opened(self) -> MemorySession:
        with self._starting:
            if self._session is None:
                self._session = self._start()
            return self._session


if TYPE_CHECKING:

    async def _typed(session: AsyncMemorySession) -> None:
        """Fail the type check when arguments or answers get lost on the way."""
        assert_type(await session.search("tea", k=3), SearchPage)
        assert_type(await session.remember("Likes tea", attribute="drink"), WriteResult)
        await session.search("tea", k="3")  # type: ignore[arg-type]  # refused, as it must be
        await session.forget()  # type: ignore[call-arg]  # likewise

"""Send one request with a provider's own client, and read what comes back within bounds."""

from __future__ import annotations

import inspect
import json
import os
import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from retold.hosted.failures import Failure, failure_of
from retold.hosted.quiet import hush_loaded, quiet_clients
from retold.hosted.targets import Package, Target
from retold.util import Clock

if TYPE_CHECKING:
    import anthropic
    import openai

    Client = anthropic.Anthropic | openai.OpenAI

Arguments = Mapping[str, object]
Body = dict[str, object]

MOST_BYTES: Final = 16 << 20
"""No answer of a model is a hundredth of this; a stream that never ends must not fill memory."""

MOST_IDLE: Final = 4
"""Open clients kept between calls: making one costs 40 ms, a tenth of a rewritten search."""


class Line:
    """What one call goes over, so that whoever waits for it can cut it off."""

    __slots__ = ("client", "is_cut")

    def __init__(self) -> None:
        """Begin without a client."""
        self.client: Client | None = None
        self.is_cut = False


_line: ContextVar[Line | None] = ContextVar("retold_hosted_line", default=None)


class _GivenUp(Exception):
    """Nobody waits for the call any more."""


def _end_if_cut(_response: object) -> None:
    """End a call that was given up while its connection was made, which closing does not end.

    A client itself reads what an error says, for as long as the server goes on saying it.
    """
    line = _line.get()
    if line is not None and line.is_cut:
        raise _GivenUp


_HOOKS: Final = MappingProxyType({"response": [_end_if_cut]})


class Sender:
    """Send requests, over connections that earlier calls left open. Safe across threads.

    A client serves one call at a time, so that giving up on one call ends no other. A forked
    process begins with none.
    """

    def __init__(self, clock: Clock) -> None:
        """Take what tells the moment."""
        self._clock = clock
        self._lock = threading.Lock()
        self._idle: list[tuple[Target, Client]] = []
        self._pid = os.getpid()

    def send(
        self, target: Target, arguments: Arguments, seconds: float, line: Line
    ) -> Body | Failure:
        """Return the body of the answer, or why there is none; never raises what a client does.

        No single wait for a byte is longer than ``seconds``.
        """
        with quiet_clients():
            token = _line.set(line)
            try:
                client = self._taken(target) or _opened(target)
                hush_loaded()
                with self._lock:
                    line.client = client
                answer = _asked(client, target.package, arguments, seconds, line)
            except Exception as error:
                answer = failure_of(error, self._clock())
            finally:
                _line.reset(token)
            self._given_back(target, line, healthy=not isinstance(answer, Failure))
        return answer

    def cut(self, line: Line) -> None:
        """Close what a call that nobody waits for goes over, so that its thread ends."""
        with self._lock:
            line.is_cut = True
            client = line.client
        if client is not None:
            with quiet_clients():
                client.close()

    def close(self) -> None:
        """Close the connections that are open. Idempotent; a later call opens others."""
        with self._lock:
            idle, self._idle = self._idle, []
        with quiet_clients():
            for _, client in idle:
                client.close()

    def _taken(self, target: Target) -> Client | None:
        with self._lock:
            if self._pid != os.getpid():
                self._pid, self._idle = os.getpid(), []
            for at, (known, client) in enumerate(self._idle):
                if _same_door(known, target):
                    del self._idle[at]
                    return client
        return None

    def _given_back(self, target: Target, line: Line, *, healthy: bool) -> None:
        with self._lock:
            dropped, line.client = line.client, None
            if dropped is not None and healthy and not line.is_cut:
                self._idle.append((target, dropped))
                dropped = self._idle.pop(0)[1] if len(self._idle) > MOST_IDLE else None
        if dropped is not None:
            dropped.close()


def _asked(
    client: Client, package: Package, arguments: Arguments, seconds: float, line: Line
) -> Body | Failure:
    if line.is_cut:
        # Given up while the client was still being made: there was nothing to close.
        raise _GivenUp
    # Each client types its arguments; ours are checked by its endpoint, and by the tests.
    face: Any = client
    create = face.messages if package == "anthropic" else face.chat.completions
    with create.with_streaming_response.create(**arguments, timeout=seconds) as response:
        raw = bytearray()
        for chunk in response.iter_bytes():
            raw += chunk
            if len(raw) > MOST_BYTES:
                return Failure("config", "not_an_api")
        return _parsed(bytes(raw), str(response.headers.get("content-type", "")))


def _same_door(known: Target, wanted: Target) -> bool:
    return (known.provider, known.base_url, known.key) == (
        wanted.provider,
        wanted.base_url,
        wanted.key,
    )


def _opened(target: Target) -> Client:
    """Return a client of its own retries and of what the environment says to other providers."""
    if target.package == "anthropic":
        import anthropic

        return anthropic.Anthropic(
            api_key=target.key,
            base_url=target.base_url,
            max_retries=0,
            http_client=anthropic.DefaultHttpxClient(event_hooks=_HOOKS),
            **_untraced(anthropic.Anthropic),
        )
    import openai

    transport = openai.DefaultHttpxClient(event_hooks=_HOOKS)
    if target.provider == "openai":
        return openai.OpenAI(
            api_key=target.key, base_url=target.base_url, max_retries=0, http_client=transport
        )
    client = openai.OpenAI(
        api_key=target.key,
        base_url=target.base_url,
        max_retries=0,
        http_client=transport,
        default_headers=_foreign_headers(),
    )
    # What the environment names here is an account at OpenAI, and this is another provider.
    client.organization = client.project = None
    return client


def _untraced(make: Callable[..., object]) -> dict[str, Any]:
    """Return what keeps prompts out of traces, where the release of the client has traces."""
    known = "open_telemetry" in inspect.signature(make).parameters
    return {"open_telemetry": False} if known else {}


def _foreign_headers() -> dict[str, Any]:
    """Return marks that take out the headers which the environment wants sent to OpenAI."""
    import openai

    lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    return {line.partition(":")[0].strip(): openai.Omit() for line in lines if ":" in line}


def _parsed(raw: bytes, kind: str) -> Body | Failure:
    if "html" in kind:
        return Failure("config", "not_an_api")
    try:
        value = json.loads(raw)
    except RecursionError:  # whole, and no object that anybody asked for
        return Failure("content", "not_json", unreported=True)
    except ValueError:
        return Failure("outage", "broken_answer", unreported=True)
    return value if isinstance(value, dict) else Failure("config", "not_an_api")

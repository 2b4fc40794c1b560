"""The server: one thread for each connection, on a free port of this machine."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.loopback import anthropic_rules, openai_rules, streams, wire
from tests.loopback.conversation import Body, Exchange, Fault, Provider, Reply, exchange_of
from tests.loopback.rules import Breach, first_breach

Said = Reply | Fault
Step = Said | Callable[[Exchange], Said]
Model = Callable[[Exchange], Said]
DRIP_SECONDS = 0.002
RULES = {"anthropic": anthropic_rules.RULES, "openai": openai_rules.RULES}


class ScriptOver(Exception):
    """The client asked more often than the script has steps."""


class LoopbackModel:
    """A scripted model behind real HTTP; a context manager whose end calls ``assert_clean``.

    ``script`` is a list of steps, each used for one request whoever sends it, or one function
    that answers all of them. ``bodies`` holds every request as it came, refused ones included, and
    ``heads`` the headers of each, whose names are in lower case.
    """

    def __init__(self, script: Iterable[Step] | Model, *, watched: bool = True) -> None:
        """Bind a free port; nothing is served before the context is entered.

        ``watched`` False leaves ``assert_clean`` to the caller.
        """
        self._watched = watched
        self._steps: Iterator[Step] | None = None if callable(script) else iter(script)
        self._model: Model | None = script if callable(script) else None
        self._lock = threading.Lock()
        self.over = threading.Event()
        self.bodies: list[Body] = []
        self.heads: list[dict[str, str]] = []
        self.exchanges: list[Exchange] = []
        self.breaches: list[Breach] = []
        self.failures: list[BaseException] = []
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        """Return the root that Anthropic's client wants as base_url; OpenAI's wants ``/v1``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables that send both clients here."""
        return {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "loopback",
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_API_KEY": "loopback",
        }

    def assert_clean(self) -> None:
        """Fail when a request broke a rule, a step failed, or steps are left over."""
        assert not self.breaches, self.breaches
        assert not self.failures, self.failures
        left = 0 if self._steps is None else sum(1 for _ in self._steps)
        assert left == 0, f"{left} steps of the script were never asked for"

    def answer(
        self, provider: Provider, body: Body, head: dict[str, str]
    ) -> tuple[int, dict[str, Any]] | Fault:
        """Return status and body of the response to one request, or a fault; never raises."""
        with self._lock:
            self.bodies.append(body)
            self.heads.append(head)
            try:
                breach = first_breach(RULES[provider], body)
                if breach is not None:
                    self.breaches.append(breach)
                    return 400, wire.refusal(provider, 400, breach.message)
                exchange = exchange_of(provider, body)
                self.exchanges.append(exchange)
                reply = self._reply(exchange)
                if isinstance(reply, Fault):
                    return reply
                return 200, wire.answer(provider, body, reply, len(self.bodies))
            except Exception as error:
                self.failures.append(error)
                # 400, because a client tries again after 500.
                return 400, wire.refusal(provider, 400, f"the script failed: {error!r}")

    def _reply(self, exchange: Exchange) -> Said:
        if self._model is not None:
            return self._model(exchange)
        assert self._steps is not None
        step = next(self._steps, None)
        if step is None:
            raise ScriptOver(f"no step is left for request {len(self.bodies)}")
        return step if isinstance(step, Reply | Fault) else step(exchange)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join()
        if error is None and self._watched:
            self.assert_clean()


class _Server(ThreadingHTTPServer):
    """Connections that clients keep alive are ended with the server, and its threads joined."""

    daemon_threads = False

    def __init__(self, model: LoopbackModel) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that is gone: it may have been killed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def hang_up(self) -> None:
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        provider = wire.PATHS.get(self.path.partition("?")[0])
        if provider is None:
            self._send(404, wire.refusal("openai", 404, f"no such path: {self.path}"))
        elif not (self.headers.get("authorization") or self.headers.get("x-api-key")):
            self._send(401, wire.refusal(provider, 401, "no key was sent"))
        else:
            body = json.loads(raw)
            head = {name.lower(): value for name, value in self.headers.items()}
            answer = self.server.model.answer(provider, body, head)
            if isinstance(answer, Fault):
                self._fail(provider, answer)
                return
            status, response = answer
            if status == HTTPStatus.OK and body.get("stream"):
                self._stream(streams.events(provider, body, response))
            else:
                self._send(status, response)

    def _stream(self, events: Iterable[streams.Event]) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for data in map(streams.encoded, events):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.write(b"0\r\n\r\n")

    def _fail(self, provider: Provider, fault: Fault) -> None:
        body = fault.body
        if body is None:
            body = json.dumps(wire.refusal(provider, fault.status, fault.says)).encode()
        self.close_connection = fault.way != "answer"
        if fault.way == "hang":
            self.server.model.over.wait()
            return
        self.send_response(fault.status)
        if fault.way == "drip":
            self.send_header("content-type", "application/json")
            self.end_headers()
            self._drip()
            return
        whole = len(body) if fault.way == "answer" else 2 * len(body)
        for name, value in ({"content-type": "application/json"} | dict(fault.headers)).items():
            self.send_header(name, value)
        self.send_header("content-length", str(whole))
        self.end_headers()
        self.wfile.write(body)

    def _drip(self) -> None:
        """Send blanks, which JSON may begin with, as long as somebody takes them."""
        try:
            while not self.server.model.over.wait(DRIP_SECONDS):
                self.wfile.write(b" ")
        except OSError:
            return

    def _send(self, status: int, payload: Any) -> None:
        data = json.dumps(payload, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("request-id", f"req_{len(self.server.model.bodies)}")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep standard error for the test."""

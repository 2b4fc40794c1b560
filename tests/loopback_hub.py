"""A model hub on this machine, for the real client of huggingface_hub.

It serves folders as repositories with one commit: their description and their files, weights as the
hub serves large files, with their sha256 as the tag and through a redirect, in ranges if asked.
Point a process at it with ``environment``.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE = (".safetensors", ".bin")
_API = re.compile(r"/api/models/(?P<name>[^/]+/[^/]+)(/revision/[^/]+)?")
_FILE = re.compile(r"/(?P<name>[^/]+/[^/]+)/resolve/[^/]+/(?P<file>.+)")
_LARGE = re.compile(r"/large/(?P<name>[^/]+/[^/]+)/(?P<file>.+)")


class LoopbackHub:
    """Serve these folders by name; a context manager.

    ``fetched`` holds "name file" of every file sent. ``fail`` and ``spoil`` name files (by their
    last part) that are answered with an error, or sent with their last byte changed. Where
    ``pause_after`` is a number, the answer of a large file stops after so many bytes, and the
    connection is closed when ``go_on`` is set.
    """

    def __init__(self, repositories: Mapping[str, Path]) -> None:
        self.repositories = dict(repositories)
        self.fetched: list[str] = []
        self.fail: set[str] = set()
        self.spoil: set[str] = set()
        self.pause_after: int | None = None
        self.go_on = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.hub = self
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> LoopbackHub:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    def environment(self, cache: Path) -> dict[str, str]:
        """Return the variables of a process that uses this hub and a cache of its own."""
        return {"HF_ENDPOINT": self.url, "HF_HOME": str(cache), "HF_HUB_DISABLE_TELEMETRY": "1"}


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._answer(send=False)

    def do_GET(self) -> None:
        self._answer(send=True)

    def _answer(self, *, send: bool) -> None:
        hub, path = self.server.hub, unquote(urlsplit(self.path).path)
        found = _API.fullmatch(path) or _FILE.fullmatch(path) or _LARGE.fullmatch(path)
        folder = hub.repositories.get(found["name"]) if found else None
        if folder is None:
            self._end(404, {"X-Error-Code": "RepoNotFound"})
        elif path.startswith("/api/"):
            self._describe(found["name"], folder)
        elif path.startswith("/large/"):
            self._send(hub, found["name"], folder, found["file"], send=send)
        else:
            self._file(hub, found["name"], folder, found["file"], send=send)

    def _describe(self, name: str, folder: Path) -> None:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        siblings = [
            {"rfilename": file.relative_to(folder).as_posix(), "size": file.stat().st_size}
            for file in files
        ]
        body = json.dumps({"id": name, "sha": COMMIT, "siblings": siblings, "tags": []}).encode()
        self._end(200, {"Content-Type": "application/json"}, body)

    def _file(self, hub: LoopbackHub, name: str, folder: Path, file: str, *, send: bool) -> None:
        path = folder / file
        if not path.is_file():
            self._end(404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT})
        elif path.suffix in LARGE:
            headers = {
                "X-Linked-Etag": f'"{hashlib.sha256(path.read_bytes()).hexdigest()}"',
                "X-Linked-Size": str(path.stat().st_size),
                "X-Repo-Commit": COMMIT,
                # Another host, as the real hub's storage is; its client tells the two apart.
                "Location": f"http://localhost:{hub.port}/large/{name}/{file}",
            }
            self._end(302, headers)
        else:
            self._send(hub, name, folder, file, send=send)

    def _send(self, hub: LoopbackHub, name: str, folder: Path, file: str, *, send: bool) -> None:
        path = folder / file
        content = path.read_bytes()
        headers = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": COMMIT}
        if not send:
            self._end(200, headers | {"Content-Length": str(len(content))})
            return
        hub.fetched.append(f"{name} {file}")
        if path.name in hub.fail:
            self._end(500, {})
            return
        if path.name in hub.spoil:
            content = content[:-1] + bytes([content[-1] ^ 1])
        start = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if start and int(start[1]):
            size, content = len(content), content[int(start[1]) :]
            headers["Content-Range"] = f"bytes {start[1]}-{size - 1}/{size}"
            self._end(206, headers, content)
        else:
            self._end(200, headers, content)

    def _end(self, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
        self.send_response(status)
        for header, value in ({"Content-Length": str(len(body))} | dict(headers)).items():
            self.send_header(header, value)
        self.end_headers()
        if self.command != "GET":
            return
        hub = self.server.hub
        if hub.pause_after is not None and len(body) > hub.pause_after:
            with suppress(ConnectionError):  # the client may be gone
                self.wfile.write(body[: hub.pause_after])
                hub.go_on.wait()
            return
        self.wfile.write(body)

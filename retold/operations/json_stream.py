"""JSON documents, one a line, read value by value from a stream of any length."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from retold.errors import InvalidInput

CHUNK_BYTES: Final = 1 << 16
MAX_VALUE_CHARS: Final = 8_000_000
"""Longest value held at once: a turn of the longest content, every character of it escaped."""
MAX_DEPTH: Final = 200
_TOKEN: Final = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*(?P<closing>")?|[\[\]{}\n]')
_SCALAR: Final = re.compile(r"[^\s,:\[\]{}\"]+")
_BLANKS: Final = re.compile(r"[ \t\r]*")


class JsonStream:
    """Read the documents of a binary stream; never more than one value is in memory.

    ``line`` is the number of the present line, from 1, and ``bytes_read`` what was taken from the
    stream. Every error is an InvalidInput without the name of the file; ``line`` says where.
    """

    def __init__(self, stream: BinaryIO) -> None:
        """Take a stream at its beginning."""
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._buffer = ""
        self._at = 0
        self._ended = False
        self._is_foreign = False
        self.line = 1
        self.bytes_read = 0

    def next_document(self) -> bool:
        """Go to the next document, past blank lines; return False when there is none."""
        while self._peek() == "\n":
            self._at += 1
            self.line += 1
        return self._peek() != ""

    def end_document(self) -> None:
        """Go to the end of the line. Raises InvalidInput when more than blanks stands there."""
        if self._peek() not in ("\n", ""):
            raise InvalidInput("more than one JSON value stands on the line; write one a line")

    def members(self) -> Iterator[str]:
        """Yield the names of an object's members; each value must be read or skipped."""
        self._take("{", "an object")
        if self._peek() == "}":
            self._at += 1
            return
        while True:
            if self._peek() != '"':
                raise _malformed()
            name = self.value()
            self._take(":", "a colon")
            yield str(name)
            if not self._goes_on("}"):
                return

    def items(self) -> Iterator[None]:
        """Yield once for each item of an array; each must be read or skipped."""
        self._take("[", "an array")
        if self._peek() == "]":
            self._at += 1
            return
        while True:
            yield
            if not self._goes_on("]"):
                return

    def peeked(self) -> str:
        """Return the character that the next value begins with; empty at the end."""
        return self._peek()

    def value(self) -> object:
        """Return the next value whole. Raises InvalidInput for more than ``MAX_VALUE_CHARS``."""
        text = self._extent(keep=True)
        try:
            return json.loads(text, parse_constant=_no_constant)
        except ValueError:
            raise _malformed() from None

    def skip(self) -> None:
        """Pass over the next value without holding it."""
        self._extent(keep=False)

    def _goes_on(self, closing: str) -> bool:
        found = self._peek()
        if found not in (",", closing):
            raise _malformed()
        self._at += 1
        return found == ","

    def _take(self, wanted: str, what: str) -> None:
        if self._peek() != wanted:
            raise InvalidInput(f"{what} is missing, or the line is no complete JSON")
        self._at += 1

    def _peek(self) -> str:
        """Return the next character that is no blank, without taking it; empty at the end."""
        while True:
            blanks = _BLANKS.match(self._buffer, self._at)
            self._at = blanks.end() if blanks else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._fill():
                return ""

    def _fill(self) -> bool:
        """Read one chunk more, dropping what was taken; return False at the end of the stream."""
        if self._is_foreign:
            raise InvalidInput("the text is not UTF-8; convert the file")
        if self._ended:
            return False
        chunk = self._stream.read(CHUNK_BYTES)
        self.bytes_read += len(chunk)
        self._ended = not chunk
        try:
            text = self._decoder.decode(chunk, final=self._ended)
        except UnicodeDecodeError as error:
            # What stands before it is read first, so that ``line`` says where it is.
            self._is_foreign = True
            text = error.object[: error.start].decode("utf-8")
        self._buffer = self._buffer[self._at :] + text
        self._at = 0
        return True

    def _extent(self, *, keep: bool) -> str:
        """Take one value and return its text, which is empty unless ``keep``."""
        begins = self._peek()
        if begins in ("{", "[", '"'):
            return self._bracketed(keep=keep)
        while True:
            match = _SCALAR.match(self._buffer, self._at)
            if match is None:
                raise _malformed()
            self._require_bounded()
            if match.end() < len(self._buffer) or not self._fill():
                break
        self._at = match.end()
        return match[0]

    def _bracketed(self, *, keep: bool) -> str:
        """Take a string, an object or an array up to its end; a line break within is an error."""
        scanned, depth = 0, 0
        while True:
            token = _TOKEN.search(self._buffer, self._at + scanned)
            if token is None or self._is_cut(token):
                # Go on where the cut string begins: only its end tells what it is.
                scanned = (token.start() if token else len(self._buffer)) - self._at
                scanned = self._held(scanned, keep=keep)
                if not self._fill():
                    raise _malformed()
                continue
            if token[0] == "\n" or (token[0][0] == '"' and not token["closing"]):
                raise _malformed()
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
            if depth > MAX_DEPTH:
                raise InvalidInput(f"a value is nested more than {MAX_DEPTH} levels deep")
            if depth == 0:
                text = self._buffer[self._at : token.end()] if keep else ""
                self._at = token.end()
                return text
            scanned = token.end() - self._at

    def _is_cut(self, token: re.Match[str]) -> bool:
        """Return whether the token is a string that the buffer holds the beginning of."""
        is_open = token[0][0] == '"' and not token["closing"]
        return is_open and self._buffer[token.end() :] in ("", "\\")

    def _held(self, scanned: int, *, keep: bool) -> int:
        """Let go of what was scanned unless it is to be kept; return how much is still held."""
        if not keep:
            self._at, scanned = self._at + scanned, 0
        self._require_bounded()
        return scanned

    def _require_bounded(self) -> None:
        if len(self._buffer) - self._at > MAX_VALUE_CHARS + CHUNK_BYTES:
            raise InvalidInput(f"a value has more than {MAX_VALUE_CHARS:,} characters; split it")


def _malformed() -> InvalidInput:
    return InvalidInput("the line is no complete JSON; write one whole object a line")


def _no_constant(name: str) -> object:
    raise ValueError(name)

"""A stream gives the values that the whole text would give, wherever its pieces end."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.errors import InvalidInput
from retold.operations import json_stream
from retold.operations.json_stream import MAX_DEPTH, JsonStream

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
PIECES = st.integers(1, 40)


class Pieces(io.RawIOBase):
    """Bytes that arrive in pieces of one size."""

    def __init__(self, data: bytes, size: int) -> None:
        self._data = io.BytesIO(data)
        self._size = size

    def read(self, size: int = -1) -> bytes:
        return self._data.read(self._size)


def lines_of(values, *, ascii_only=False):
    return "".join(json.dumps(value, ensure_ascii=ascii_only) + "\n" for value in values)


def read_all(stream):
    found = []
    while stream.next_document():
        found.append(stream.value())
        stream.end_document()
    return found


def walk(stream):
    for _ in stream.members():
        stream.skip()


@given(st.lists(VALUES, max_size=4), PIECES, st.booleans())
def test_stream_reads_what_the_whole_text_says(values, size, ascii_only):
    data = lines_of(values, ascii_only=ascii_only).encode()

    assert read_all(JsonStream(Pieces(data, size))) == values


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=5), PIECES)
def test_stream_walks_the_members_and_skips_what_nobody_wants(row, size):
    stream = JsonStream(Pieces(lines_of([row, 7]).encode(), size))
    wanted = sorted(row)[::2]
    found = {}
    assert stream.next_document()
    for name in stream.members():
        if name in wanted:
            found[name] = stream.value()
        else:
            stream.skip()
    stream.end_document()

    assert found == {name: row[name] for name in wanted}
    assert read_all(stream) == [7]


@given(st.lists(VALUES, max_size=6), PIECES)
def test_stream_walks_the_items_of_an_array(items, size):
    stream = JsonStream(Pieces(lines_of([items]).encode(), size))
    assert stream.next_document()
    found = [stream.value() for _ in stream.items()]
    stream.end_document()

    assert found == items
    assert not stream.next_document()


def test_stream_counts_lines_blank_ones_included():
    stream = JsonStream(io.BytesIO(b'\n {"a": 1} \r\n\n[2]'))
    lines = []
    while stream.next_document():
        lines.append((stream.line, stream.value()))
        stream.end_document()

    assert lines == [(2, {"a": 1}), (4, [2])]


def test_stream_of_nothing_holds_no_document():
    assert not JsonStream(io.BytesIO(b"")).next_document()


def test_stream_passes_over_the_mark_that_some_editors_write_first():
    assert read_all(JsonStream(io.BytesIO(b'\xef\xbb\xbf{"a": 1}\n'))) == [{"a": 1}]


WRONG = {
    "cut off": b'{"a": [1, "b',
    "cut in an escape": b'{"a": "b\\',
    "line break in a string": b'{"a": "b\nc"}',
    "line break in an object": b'{"a":\n1}',
    "two values": b"{} {}",
    "brackets that do not meet": b'{"a": [1}',
    "nothing but a colon": b":",
    "no JSON": b"hello there",
    "not a number": b'{"a": NaN}',
    "unquoted": b"{a: 1}",
}


@pytest.mark.parametrize("size", [1, 7, 4096])
@pytest.mark.parametrize("wrong", WRONG)
def test_stream_refuses_what_is_no_json_and_knows_the_line(wrong, size):
    stream = JsonStream(Pieces(b'{"fine": 1}\n\n' + WRONG[wrong], size))
    assert stream.next_document()
    assert stream.value() == {"fine": 1}
    with pytest.raises(InvalidInput):
        read_all(stream)

    assert stream.line == 3


@pytest.mark.parametrize("text", [b'{"a" 1}', b'{"a": 1 "b": 2}', b"[1]", b'{"a": 1', b"{7: 1}"])
def test_stream_refuses_to_walk_what_is_no_object(text):
    stream = JsonStream(io.BytesIO(text))
    assert stream.next_document()
    with pytest.raises(InvalidInput):
        walk(stream)


def test_stream_names_the_line_that_is_not_utf_8_after_the_lines_before_it():
    """Failing as the piece is read would blame the first line of it."""
    stream = JsonStream(io.BytesIO('{"é": 1}\n{"b": "'.encode() + b'\xff"}\n'))
    assert stream.next_document()
    assert stream.value() == {"é": 1}
    with pytest.raises(InvalidInput, match="not UTF-8"):
        read_all(stream)

    assert stream.line == 2


@pytest.mark.parametrize("verb", ["value", "skip"])
def test_stream_refuses_depth_that_would_end_the_process(verb):
    stream = JsonStream(io.BytesIO(b"[" * (MAX_DEPTH + 1)))
    assert stream.next_document()
    with pytest.raises(InvalidInput, match=f"more than {MAX_DEPTH} levels"):
        getattr(stream, verb)()


@pytest.mark.parametrize("verb", ["value", "skip"])
@pytest.mark.parametrize("text", [b'"' + b"a" * 400, b"[" + b'"aaaa",' * 60, b"1" * 400])
def test_stream_holds_no_value_without_bounds(verb, text, monkeypatch):
    """A line without an end must not fill the memory."""
    monkeypatch.setattr(json_stream, "MAX_VALUE_CHARS", 100)
    monkeypatch.setattr(json_stream, "CHUNK_BYTES", 10)
    stream = JsonStream(Pieces(text, 10))
    assert stream.next_document()
    with pytest.raises(InvalidInput) as refusal:
        getattr(stream, verb)()

    is_skipped_array = verb == "skip" and text.startswith(b"[")
    assert ("100 characters" in refusal.value.message) is not is_skipped_array
    assert len(stream._buffer) <= 130


def test_stream_skips_a_value_of_any_length_in_little_memory(monkeypatch):
    monkeypatch.setattr(json_stream, "MAX_VALUE_CHARS", 100)
    monkeypatch.setattr(json_stream, "CHUNK_BYTES", 10)
    stream = JsonStream(Pieces(b'{"long": [' + b'"aaaa",' * 1000 + b'7], "b": 2}', 10))
    assert stream.next_document()
    found = {}
    for name in stream.members():
        if name == "b":
            found[name] = stream.value()
        else:
            stream.skip()

    assert found == {"b": 2}

"""A conversation that is not recorded leaves no word of it behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from retold.testing import MemoryLab

SECRET = "xyzzy42"
WAYS = {
    "turn": lambda s: s.turn("user", f"My code is {SECRET}."),
    "search": lambda s: s.search(f"My code is {SECRET}.", entities=[SECRET]),
    "context": lambda s: s.context(f"My code is {SECRET}, what now?"),
    "tool": lambda s: s.tools().call(
        "memory_search", {"queries": [SECRET], "entities": [SECRET]}, context=f"code {SECRET}"
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_words_of_a_conversation_without_transcript_are_nowhere_in_the_file(tmp_path, way):
    """Log the phrases of a search whatever the session says and the file holds them for 90 days."""
    path = tmp_path / "memory.sqlite"
    with MemoryLab.open(path) as lab:
        lab.session("ana").remember("Likes green tea", evidence="I like green tea.")

        WAYS[way](lab.session("ana", record=False))

    assert SECRET.encode() not in _bytes_of(path)


@pytest.mark.parametrize("way", WAYS)
def test_words_of_a_recorded_conversation_are_there(tmp_path, way):
    path = tmp_path / "memory.sqlite"
    with MemoryLab.open(path) as lab:
        WAYS[way](lab.session("ana"))

    assert SECRET.encode() in _bytes_of(path)


def test_search_of_a_conversation_without_transcript_is_logged_as_a_summary():
    with MemoryLab.open() as lab:
        session = lab.session("ana", record=False)
        record = session.remember("Likes green tea", evidence="I like green tea.").record_id

        page = session.search("Likes green tea")

        with lab.store.read() as tx:
            row = tx.search_log.get(page.search_id)
    assert row is not None
    assert (row["detail"], record in row["returned"]) == ("summary", True)
    assert '"queries":[]' in row["request"]


def _bytes_of(path: Path) -> bytes:
    return b"".join(one.read_bytes() for one in path.parent.glob(f"{path.name}*"))

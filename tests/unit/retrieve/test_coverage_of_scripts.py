"""Whose vectors mean something for which query."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from retold.config import profile_config
from retold.index.embedder import QueryCache, embedder_from_config
from retold.retrieve.coverage import read_queries, scripts_of
from retold.testing import FakeEmbedder


@pytest.mark.parametrize(
    ("query", "scripts", "is_read"),
    [
        ("Where does Ana live?", {"latin"}, True),
        ("我住在哪里", {"latin"}, False),
        ("我住在哪里", {"latin", "han"}, True),
        ("我用 Python 写代码已经十年了", {"latin"}, False),
        ("ฉันอยู่ที่ไหน", {"latin"}, False),
        ("где я живу", {"all"}, True),
        ("4711-22", {"latin"}, True),
        ("ግዕዝ", {"latin", "other"}, True),
    ],
)
def test_most_letters_decide(query, scripts, is_read):
    assert read_queries([query], scripts) == (is_read,)


def test_an_embedder_that_says_nothing_reads_latin():
    silent = SimpleNamespace(name="third/party", version="1", dims=3, is_loaded=True)

    assert scripts_of(silent, None) == scripts_of(None, None) == {"latin"}
    assert QueryCache(silent, 0).scripts == ("latin",)


def test_what_is_configured_wins_over_what_is_declared():
    fake = FakeEmbedder()

    assert scripts_of(fake, None) == {"all"}
    assert scripts_of(fake, ("latin", "thai")) == {"latin", "thai"}


def test_the_packaged_embedder_reads_latin_through_its_cache():
    embedder = embedder_from_config(profile_config("offline").embedding)

    assert scripts_of(embedder, None) == {"latin"}

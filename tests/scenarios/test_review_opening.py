"""Which file and settings opening takes, and what a read-only store is good for."""

from __future__ import annotations

from pathlib import Path

import pytest

from retold import InvalidInput, MigrationRequired, Retold, Scope, StoreUnavailable
from retold.config import load_config, parse_config
from retold.runtime import Overrides
from retold.testing import FakeEmbedder, FakeJudge, MemoryLab
from tests.migration.version_1_file import Version1File


@pytest.fixture(autouse=True)
def no_environment(monkeypatch, tmp_path):
    """Run in an empty folder without any of our variables."""
    for name in ("RETOLD_CONFIG", "RETOLD_PROFILE", "RETOLD_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def filled(tmp_path):
    """Return the file of a store that knows one thing about Ana."""
    with MemoryLab.open(tmp_path / "filled.sqlite") as lab:
        lab.session().remember("Likes green tea", evidence="I like green tea a lot.")
    return tmp_path / "filled.sqlite", lab


def old_file(path: Path) -> Path:
    """Write a small file of an early release, one that migrates without questions."""
    Version1File(path).close()
    return path


@pytest.mark.parametrize("by", ["argument", "variable"])
def test_old_file_is_migrated_when_a_profile_is_named(tmp_path, monkeypatch, by):
    path = old_file(tmp_path / "old.sqlite")
    if by == "variable":
        monkeypatch.setenv("RETOLD_PROFILE", "offline")
    named = {"profile": "offline"} if by == "argument" else {}

    with pytest.raises(MigrationRequired):
        Retold.open(path, **named)
    with Retold.open(path, migrate=True, **named) as retold:
        assert retold.row_counts()["records"] == 0


def test_default_store_opens_with_the_profile_it_was_made_with(tmp_path):
    Retold.open("memory.sqlite", profile="offline").close()

    with Retold.open() as retold:
        assert retold.store.path == Path("./memory.sqlite")
        assert retold.runtime.judge.name.startswith("lexical")


def test_named_store_of_the_environment_is_the_one_that_opens(tmp_path, monkeypatch):
    Retold.open(tmp_path / "other.sqlite", profile="offline").close()
    monkeypatch.setenv("RETOLD_STORE", str(tmp_path / "other.sqlite"))

    with Retold.open() as retold:
        assert retold.store.path == tmp_path / "other.sqlite"
    with Retold.open(tmp_path / "argument.sqlite", profile="offline") as retold:
        assert retold.store.path == tmp_path / "argument.sqlite"


def test_configuration_names_the_store_when_nothing_else_does(tmp_path):
    Path("settings.yaml").write_text("store:\n  path: configured.sqlite\n")
    assert load_config("settings.yaml").store.path == "configured.sqlite"
    config = parse_config({"store": {"path": "configured.sqlite"}}, profile="offline")

    with Retold.open(config=config) as retold:
        assert retold.store.path == Path("configured.sqlite")


def test_file_that_is_no_store_says_so_whatever_the_profile(tmp_path):
    (tmp_path / "notes.txt").write_text("not a database, but long enough to be looked at" * 50)

    with pytest.raises(Exception, match=r"notes\.txt") as caught:
        Retold.open(tmp_path / "notes.txt", profile="offline")
    assert caught.value.code in ("foreign_file", "store_corrupt")


def read_only(filled) -> Retold:
    path, lab = filled
    given: Overrides = lab.overrides
    return Retold.open(path, config=lab.config, overrides=given, read_only=True)


def test_read_only_store_is_searched_and_read(filled):
    with read_only(filled) as retold:
        before = retold.row_counts()
        with retold.session("ana", agent_id="helper") as session:
            page = session.search("green tea")
            assert [one.record.content for one in page] == ["Likes green tea"]
            assert page.response.log in ("off", "failed")
            assert [one.content for one in session.list().records] == ["Likes green tea"]
            assert session.context("green tea")
            assert session.get(page.items[0].record.id).found
        assert retold.row_counts() == before


WRITES = {
    "turn": lambda s: s.turn("user", "I like coffee"),
    "add_messages": lambda s: s.add_messages([{"role": "user", "content": "I like coffee"}]),
    "remember": lambda s: s.remember("Likes coffee", evidence="I like coffee a lot."),
    "confirm": lambda s: s.revise("some-id", "confirm", reason="said so"),
    "merge": lambda s: s.merge("one", "two", reason="same"),
    "forget": lambda s: s.forget("some-id"),
}


@pytest.mark.parametrize("verb", WRITES)
def test_read_only_store_refuses_what_would_write(filled, verb):
    with read_only(filled) as retold:
        session = retold.session("ana", agent_id="helper")
        with pytest.raises(StoreUnavailable, match="read-only"):
            WRITES[verb](session)


def test_read_only_store_refuses_the_hosts_writes(filled):
    with read_only(filled) as retold:
        with pytest.raises(StoreUnavailable, match="read-only"):
            retold.host.grant("helper", Scope("user", "ana"))
        with pytest.raises(StoreUnavailable, match="read-only"):
            retold.host.write(Scope("user", "ana"), "Likes coffee")


@pytest.mark.parametrize("blank", ["", "  "])
def test_blank_session_id_is_refused(blank):
    with MemoryLab.open() as lab, pytest.raises(InvalidInput, match="session_id"):
        lab.retold.session("ana", session_id=blank)


def test_status_names_the_models_that_serve(tmp_path):
    """Without ``serving`` the status names the configured models, whatever was given."""
    given = Overrides(embedder=FakeEmbedder(), judge=FakeJudge())
    with Retold.open(tmp_path / "memory.db", profile="offline", overrides=given) as retold:
        status = retold.status()

    shown = (status.embedder.name, status.embedder.version, status.embedder.dims)
    assert shown == (given.embedder.name, given.embedder.version, given.embedder.dims)
    assert (status.embedder.sha256, status.embedder.missing) == (None, ())
    assert status.judge == given.judge.name
    assert status.dense.state == "empty"


def test_status_names_the_pinned_weights_of_the_configured_embedder(tmp_path):
    with Retold.open(tmp_path / "memory.db", profile="offline") as retold:
        status = retold.status()

    assert status.embedder.version.endswith(status.embedder.sha256[:12])

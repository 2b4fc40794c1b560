"""Token vectors from the write that makes them to the day they go, through the public face."""

from __future__ import annotations

from pathlib import Path

import pytest

from retold import Retold
from retold.config import parse_config
from retold.errors import ConfigError, StoreBusy
from retold.operations.maintenance.pace import Pace
from retold.operations.maintenance.token_vectors import drop_token_vectors, fill_token_vectors
from retold.runtime import Overrides, build_search_runtime
from retold.testing import FakeEmbedder, MemoryLab

ON = {"retrieval": {"late_interaction": {"enabled": True}}}


class PlainEmbedder:
    """An embedder with the members of the port and no others."""

    scripts = ("all",)

    def __init__(self) -> None:
        self._inner = FakeEmbedder()
        self.name, self.version, self.dims, self.is_loaded = "plain/model", "1", 384, True

    def embed_queries(self, texts):
        return self._inner.embed_queries(texts)

    def embed_documents(self, texts):
        return self._inner.embed_documents(texts)


def held(lab: MemoryLab) -> dict[str, int]:
    """Return how many token vectors each record has, by its content; 0 for none."""
    with lab.store.read() as tx:
        identity = tx.meta.embedding_identity()
        assert identity is not None
        records = list(tx.run("select seq, content from records order by seq"))
        found = tx.token_vectors.read([seq for seq, _ in records], identity)
        return {
            content: len(found[seq][1].scales) if seq in found else 0 for seq, content in records
        }


def test_every_way_to_write_keeps_token_vectors_from_the_same_call_of_the_embedder():
    with MemoryLab.open(settings=ON) as lab:
        with lab.session() as session:
            session.turn("user", "I live in Porto.")
            session.remember("Lives in Porto", attribute="home_city", evidence="I live in Porto.")
            calls = len(lab.embedder.documents)
            session.turn("user", "I live in Braga now.")
            session.remember("Lives in Braga", attribute="home_city", evidence="I live in Braga")
            assert len(lab.embedder.documents) == calls + 1
        lab.retold.host.write_many("user:ana", ["Ana has two cats", "Ana runs"], dedup=False)
        lab.retold.host.write("user:ana", "Ana plays the cello")

        counts = held(lab)

    assert len(counts) == 5
    assert all(counts.values())


def test_a_forgotten_record_loses_its_token_vectors_and_a_replaced_one_keeps_them():
    with MemoryLab.open(settings=ON) as lab, lab.session() as session:
        session.turn("user", "I live in Porto these days. I drink oolong every day.")
        city = session.remember("Lives in Porto", attribute="home_city", evidence="I live in Porto")
        tea = session.remember(
            "Drinks oolong", attribute="drink", evidence="I drink oolong every day"
        )
        session.turn("user", "I live in Braga now.")
        session.remember("Lives in Braga", attribute="home_city", evidence="I live in Braga")
        assert all(held(lab).values())

        session.forget(tea.record_id, reason="asked to")

        counts = held(lab)
        assert [content for content, count in counts.items() if not count] == ["Drinks oolong"]
        assert session.get(city.record_id).found[0].status == "superseded"


def test_without_the_switch_nothing_is_stored():
    with MemoryLab.open() as lab, lab.session() as session:
        session.turn("user", "I drink oolong every day.")
        session.remember("Drinks oolong", evidence="I drink oolong every day")

        assert held(lab) == {"Drinks oolong": 0}


def without_tokens(lab: MemoryLab, contents: list[str]) -> None:
    """Write facts about Ana as a process does that has the switch off."""
    config = parse_config({"embedding": {"subject_name": True}}, profile="offline")
    with Retold.open(lab.path, config=config, overrides=lab.overrides) as earlier:
        for content in contents:
            earlier.host.write("user:ana", content, subject="Ana")


def test_what_was_written_before_is_filled_in_from_the_text_that_was_embedded():
    """Behind the name of whom a record is about, where its vector was made of that."""
    with MemoryLab.open(settings=ON) as lab:
        without_tokens(lab, ["drinks oolong", "Ana runs", "lives in Porto"])
        lab.retold.host.write("user:ana", "Plays the cello")
        reported: list[tuple[int, int]] = []

        outcome = fill_token_vectors(
            lab.store,
            lab.embedder,
            pace=Pace(sleep=lambda _: None),
            report=lambda state: reported.append((state.done, state.total)),
        )

        assert held(lab) == {
            "drinks oolong": 3,
            "Ana runs": 2,
            "lives in Porto": 4,
            "Plays the cello": 3,
        }
        assert (outcome.changed, outcome.records) == (3, 4)
        assert outcome.bytes == (3 + 2 + 4 + 3) * (384 + 4)
        assert reported == [(3, 3)]
        again = len(lab.embedder.documents)
        assert fill_token_vectors(lab.store, lab.embedder).changed == 0
        assert len(lab.embedder.documents) == again


def test_filling_in_leaves_out_what_is_forgotten_and_is_done_by_one_process_at_a_time():
    class Forgetting(FakeEmbedder):
        """While it works, somebody forgets a record; the write lock is free for that."""

        def embed_documents_with_tokens(self, texts):
            with lab.store.write() as tx:
                tx.run("update records set status = 'deleted' where content = 'Ana runs'")
            with pytest.raises(StoreBusy):
                fill_token_vectors(lab.store, lab.embedder)
            return super().embed_documents_with_tokens(texts)

    with MemoryLab.open(settings=ON) as lab:
        without_tokens(lab, ["Ana swims", "Ana runs"])

        outcome = fill_token_vectors(lab.store, Forgetting(), pace=Pace(sleep=lambda _: None))

        assert outcome.changed == 1
        assert held(lab) == {"Ana swims": 2, "Ana runs": 0}


def test_token_vectors_of_another_embedder_are_neither_filled_in_nor_read():
    with MemoryLab.open(settings=ON) as lab:
        without_tokens(lab, ["Ana swims"])
        other = FakeEmbedder(name="another/model")

        assert fill_token_vectors(lab.store, other).changed == 0
        with pytest.raises(ConfigError, match="offers no token vectors"):
            fill_token_vectors(lab.store, PlainEmbedder())


def test_dropping_removes_all_of_them_and_searches_go_on():
    with MemoryLab.open(settings=ON) as lab:
        for at in range(20):
            lab.retold.host.write("user:ana", f"Ana has {at} cats and a dog named number{at}")
        lab.retold.host.grant("helper", "user:ana", read=True, write=True)

        outcome = drop_token_vectors(lab.store, pace=Pace(sleep=lambda _: None))

        assert (outcome.changed, outcome.records, outcome.bytes) == (20, 0, 0)
        assert lab.session().search("a dog named number7").items


def test_a_store_is_not_opened_for_an_embedder_without_token_vectors(tmp_path: Path):
    """Neither to write nor to search; the error says what to change, and no file is made."""
    path, config = tmp_path / "memory.db", parse_config(ON, profile="offline")
    given = Overrides(embedder=PlainEmbedder())

    for open_it in (
        lambda: Retold.open(path, config=config, overrides=given),
        lambda: build_search_runtime(config, path, overrides=given),
    ):
        with pytest.raises(ConfigError, match=r"late_interaction\.enabled: false"):
            open_it()
    assert not path.exists()
    off = parse_config({}, profile="offline")
    with Retold.open(path, config=off, overrides=given) as retold:
        assert retold.session("ana").search("tea").items == ()

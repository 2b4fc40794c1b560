"""What a deleted memory leaves in the bytes of its file: nothing."""

import random
import string
from pathlib import Path

import apsw
import pytest

from retold.models import EvidenceRow
from retold.store import Store
from tests.faults import FULL_STORM
from tests.fts_oracle import fts_search
from tests.store_support import MOMENT, contents, prepare, problems, remember

ROWS = 240 if FULL_STORM else 60
BATCH = 6


def secret(chance):
    """Return a word that occurs nowhere else, in no index of words either."""
    return "".join(chance.choices(string.ascii_lowercase, k=18))


def fill(store, chance):
    """Store memories of all lengths, each with words of its own; return them by key."""
    secrets = {}
    for first in range(0, ROWS, BATCH):
        with store.write() as tx:
            for number in range(first, first + BATCH):
                words = [secret(chance) for _ in range(chance.choice((2, 12, 150)))]
                record = remember(tx, f"claim {number} " + " ".join(words), evidence=words[0])
                row = EvidenceRow(
                    "host", str(number), None, None, words[-1], "system", None, None, MOMENT, True
                )
                tx.evidence.insert(record.seq, row)
                secrets[record.seq] = words
    return secrets


def delete(tx, seq):
    """Remove a memory for good, in one transaction."""
    tx.lexical.delete(seq)
    tx.run("delete from embeddings where seq = ?", (seq,))
    tx.run("delete from record_evidence where record_seq = ?", (seq,))
    tx.run(
        "delete from event_refs where record_id = (select id from records where seq = ?)", (seq,)
    )
    tx.run("delete from records where seq = ?", (seq,))


def emptied_log(path):
    """Save the log into the file and cut it; return what was left of it."""
    connection = apsw.Connection(str(path))
    busy, _, _ = connection.execute("pragma wal_checkpoint(truncate)").fetchone()
    size = Path(f"{path}-wal").stat().st_size
    connection.close()
    assert busy == 0
    return size


def leftovers(path, words):
    """Return the words of which the file still holds all but the first letters.

    The index writes a term without the letters it shares with the term before it.
    """
    content = path.read_bytes()
    return [word for word in words if word[4:].encode() in content]


@pytest.mark.parametrize("share", [1 / ROWS, 0.2, 1.0], ids=["one", "some", "all"])
def test_deleted_memories_leave_no_byte_in_the_file(tmp_path, share):
    """B21, B22. Without ``overwrite_deleted`` in prepare_writer, or without 'secure-delete' in
    schema.sql, it fails.
    """
    chance = random.Random(7)
    path = tmp_path / "memory.db"
    with Store.open(path) as store:
        prepare(store)
    with Store.open(path) as store:
        secrets = fill(store, chance)
        doomed = chance.sample(sorted(secrets), max(1, round(ROWS * share)))
        for first in range(0, len(doomed), BATCH):
            with store.write() as tx:
                for seq in doomed[first : first + BATCH]:
                    delete(tx, seq)
        assert emptied_log(path) == 0
        assert len(contents(store)) == ROWS - len(doomed)

    assert leftovers(path, [word for seq in doomed for word in secrets[seq]]) == []
    kept = [seq for seq in secrets if seq not in doomed]
    assert all(leftovers(path, secrets[seq]) == secrets[seq] for seq in kept)
    assert problems(path) == []
    assert [each.name for each in tmp_path.iterdir()] == ["memory.db"]


def test_deleted_memory_is_absent_from_every_channel_at_once(tmp_path):
    """B21. Nobody sees a memory that is gone from one place and not from another."""
    chance = random.Random(11)
    with Store.open(tmp_path / "memory.db") as store:
        prepare(store)
        with store.write() as tx:
            word = secret(chance)
            record = remember(tx, f"claim {word}")
            ana = tx.entities.insert("person", "Ana", record.scope, ["ana"])
            tx.entities.link(record.seq, ana.id, "about")

        def places():
            with store.read() as tx:
                return (
                    len(fts_search(tx, word)),
                    int(tx.embeddings.get(record.seq) is not None),
                    len(tx.entities.links_of([record.seq])),
                    len(tx.records.by_seqs([record.seq])),
                )

        assert places() == (1, 1, 1, 1)
        with store.write() as tx:
            tx.entities.unlink(record.seq)
            delete(tx, record.seq)
            assert places() == (1, 1, 1, 1)
        assert places() == (0, 0, 0, 0)

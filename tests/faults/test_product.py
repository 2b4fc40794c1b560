"""The public API on a disk that fails: nothing half-written, no outage in disguise."""

import random
import shutil

import pytest

from retold.config import profile_config
from retold.errors import StoreError, StoreUnavailable
from retold.ingest.history import PastTurn
from retold.ingest.turns import NewTurn
from retold.memory import Retold
from retold.runtime import Overrides, build_runtime
from retold.store import Store
from retold.testing import FakeClock, FakeEmbedder, FakeJudge
from tests.faults import sampled
from tests.faults.failing_vfs import IN_PROCESS, failing_vfs
from tests.faults.power_loss_vfs import LOSSES, power_loss_vfs
from tests.store_support import problems

SAID = {
    "Lives in Oslo": "I live in Oslo now.",
    "Lives in Lyon": "I moved to Lyon last week.",
    "Likes green tea": "I like green tea very much.",
}


@pytest.fixture
def vfs():
    with failing_vfs("failing") as registered:
        yield registered


def open_on(path, vfs=None):
    overrides = Overrides(embedder=FakeEmbedder(), judge=FakeJudge(), clock=FakeClock())
    name = None if vfs is None else vfs.name
    runtime = build_runtime(
        profile_config("offline"), path, overrides=overrides, profile="offline", vfs=name
    )
    return Retold(runtime, owns_runtime=True)


@pytest.fixture
def template(tmp_path, vfs):
    """Return a closed store in which Ana lives in Oslo."""
    path = tmp_path / "template" / "memory.db"
    path.parent.mkdir()
    with open_on(path, vfs) as retold:
        remember(retold.session("ana", session_id="s1"), "Lives in Oslo")
    return path


def remember(session, claim):
    attribute = "likes" if "tea" in claim else "home_city"
    return session.remember(claim, evidence=SAID[claim], attribute=attribute)


def counts(retold):
    with retold.store.read() as tx:
        return tx.meta.row_counts()


def active(session):
    return {record.content for record in session.list().records}


def supersede(session):
    return remember(session, "Lives in Lyon")


def forget(session):
    (record,) = session.list().records
    return session.forget(record.id)


def finish(session):
    return session.finish()


def take_history(session):
    said = [NewTurn("user", f"said {n}", external_key=str(n)) for n in range(3)]
    past = [PastTurn(f"old {n % 2}", turn) for n, turn in enumerate(said)]
    return session._runtime.hooks.on_history(session.principal, past)


VERBS = {"remember": supersede, "forget": forget, "finish": finish, "history": take_history}


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
@pytest.mark.parametrize("fault", IN_PROCESS)
def test_verb_on_a_failing_disk_does_everything_or_nothing(template, tmp_path, vfs, verb, fault):
    """Splitting a verb into two transactions makes it fail."""
    path = tmp_path / "memory.db"
    shutil.copy(template, path)
    with open_on(path, vfs) as retold:
        session = retold.session("ana", session_id="s1")
        vfs.disarm()
        verb(session)
        operations = len(vfs.operations)
        done = counts(retold)
    for nth in sampled(range(1, operations + 1), 17):
        shutil.copy(template, path)
        with open_on(path, vfs) as retold:
            session = retold.session("ana", session_id="s1")
            before = counts(retold)
            vfs.arm(nth, fault)
            try:
                verb(session)
                acknowledged = True
            except StoreError:
                acknowledged = False
            vfs.disarm()
            assert counts(retold) in ([done] if acknowledged else [before, done]), (nth, fault)
            remember(retold.session("ana", session_id="s2"), "Likes green tea")
            assert "Likes green tea" in active(retold.session("ana", session_id="s2"))
        assert problems(path) == [], (nth, fault)


def test_power_loss_keeps_every_acknowledged_verb(tmp_path):
    """``normal`` instead of ``full`` in sync_every_commit makes it fail."""
    path = tmp_path / "memory.db"
    expected = [set(), {"Lives in Oslo"}, {"Lives in Lyon"}, {"Lives in Lyon", "Likes green tea"}]
    with power_loss_vfs("power-loss") as vfs:
        with open_on(path, vfs) as retold:
            session = retold.session("ana", session_id="s1")
            vfs.recording = True
            for count, claim in enumerate(SAID, start=1):
                remember(session, claim)
                vfs.acknowledged = count
        vfs.recording = False

    chance = random.Random(20261130)
    for number, moment in enumerate(sampled(vfs.moments, 37)):
        for loss in LOSSES:
            image = tmp_path / f"{number} {loss}" / "memory.db"
            image.parent.mkdir()
            moment.restore(image.parent, loss, chance)
            what = f"{loss} lost after {moment.operation!r}"
            assert problems(image) == [], what
            with open_on(image) as retold:
                found = active(retold.session("ana", session_id="s2"))
            assert found in expected[moment.acknowledged :], what


def test_search_on_an_unreadable_disk_is_an_error_and_not_an_empty_page(template, vfs):
    """An outage never looks like "no memories"."""
    with open_on(template, vfs) as retold:
        session = retold.session("ana", session_id="s1")
        vfs.refuses_reads = True
        with pytest.raises(StoreUnavailable, match="disk"):
            session.search("Oslo")
        vfs.refuses_reads = False
        assert [item.record.content for item in session.search("Oslo").items] == ["Lives in Oslo"]


def test_search_on_a_full_disk_answers_without_its_log(template, vfs):
    with open_on(template, vfs) as retold:
        session = retold.session("ana", session_id="s1")
        vfs.arm(1, "stays full")
        page = session.search("Oslo")
        vfs.disarm()

    assert [item.record.content for item in page.items] == ["Lives in Oslo"]


def test_remember_on_a_full_disk_says_so_and_works_once_there_is_room(template, vfs):
    with open_on(template, vfs) as retold:
        session = retold.session("ana", session_id="s1")
        before = counts(retold)
        vfs.arm(1, "stays full")
        with pytest.raises(StoreUnavailable, match=r"memory\.db: the disk is full"):
            supersede(session)
        vfs.disarm()
        assert counts(retold) == before
        assert active(session) == {"Lives in Oslo"}
        supersede(session)
        assert active(session) == {"Lives in Lyon"}

    with Store.open(template, create=False):
        assert problems(template) == []

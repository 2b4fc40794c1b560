"""Real consumers on a real store, and everything that ends them or their files."""

import os
import pickle
import resource
import signal
import sqlite3
import subprocess
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from retold.operations.heartbeat import note_heartbeat
from retold.queue import file_identity, inspect_queue
from retold.store import Store
from tests.cli_support import retold_here
from tests.workers.processes import site
from tests.workers.scripted import long_ago


@pytest.fixture
def here(tmp_path):
    with site(tmp_path) as made:
        yield made


def done(consumer, session_id, what="reviewed"):
    return consumer.until("worked on a session", session_id=session_id, done=what)


def test_announced_session_is_extracted_once_and_the_stop_is_clean(here):
    extraction = here.start("extraction")
    session_id = here.requested("monday")
    done(extraction, session_id)

    assert here.runs() == [session_id]
    assert extraction.stop() == 0
    assert here.state(session_id).extracted_at is not None


def test_session_whose_bell_was_lost_is_found_by_the_sweep(here):
    session_id = here.requested("monday", ring=False)
    extraction, maintenance = here.start("extraction"), here.start("maintenance")

    done(extraction, session_id)
    assert here.runs() == [session_id]
    assert maintenance.stop() == 0


def test_group_killed_in_the_middle_of_a_step_repeats_it_and_its_effects_come_once(here):
    os.mkfifo(here.path.with_name("gate"))
    extraction = here.start("extraction")
    session_id = here.requested("wait for the end")
    with here.path.with_name("gate").open("wb"):  # opens when the step reads it
        extraction.kill_group()
    assert here.state(session_id).token is not None
    long_ago(here.store, session_id)
    here.path.with_name("gate").unlink()
    here.path.with_name("gate").write_bytes(b"")

    extraction, maintenance = here.start("extraction"), here.start("maintenance")
    done(extraction, session_id)
    assert here.runs() == [session_id]
    assert here.events(session_id) == ["extraction.reclaimed", "extraction.run"]
    assert maintenance.stop() == 0


def test_no_child_outlives_a_consumer_that_was_killed(here):
    os.mkfifo(here.path.with_name("gate"))
    extraction = here.start("extraction")
    here.requested("wait for ever")
    with here.path.with_name("gate").open("wb"):
        os.kill(extraction.process.pid, signal.SIGKILL)
        extraction.rest()  # comes to its end only when every child is gone

    assert extraction.process.returncode == -signal.SIGKILL
    assert here.runs() == []


def test_stop_lets_a_step_end_that_ends_in_time(here):
    os.mkfifo(here.path.with_name("gate"))
    extraction = here.start("extraction", "--grace", "60")
    session_id = here.requested("wait a moment")
    with here.path.with_name("gate").open("wb"):
        extraction.process.send_signal(signal.SIGTERM)
    extraction.rest()

    assert extraction.process.returncode == 0
    assert here.runs() == [session_id]


def test_stop_hands_a_step_back_that_does_not_end_in_time(here):
    os.mkfifo(here.path.with_name("gate"))
    extraction = here.start("extraction", "--grace", "0.2")
    session_id = here.requested("wait for ever")
    with here.path.with_name("gate").open("wb"):
        assert extraction.stop() == 0

    state = here.state(session_id)
    assert (state.token, state.attempts, state.next_at) == (None, 0, None)
    assert here.events(session_id) == []


def in_a_step(here, *words):
    """Start workers that wait in the step of a session; return them, its id and the open gate."""
    os.mkfifo(here.path.with_name("gate"))
    workers = here.start(*words)
    session_id = here.requested("wait a moment")
    return workers, session_id, here.path.with_name("gate").open("wb")


def pids_of(leader):
    """Return a process and all that it started, and they in turn."""
    children = Path(f"/proc/{leader}/task/{leader}/children").read_text(encoding="ascii").split()
    return [leader, *(each for child in children for each in pids_of(int(child)))]


def tell(workers, numbers):
    """Send each of these signals to every process there is, as a terminal or systemd may."""
    for number in numbers:
        for pid in pids_of(workers.process.pid):
            os.kill(pid, number)


TWICE = {
    "ctrl-c, passed on too": (signal.SIGINT, signal.SIGINT),
    "systemd, to all": (signal.SIGTERM,),
    "closed terminal, passed on": (signal.SIGHUP, signal.SIGTERM),
}


@pytest.mark.parametrize("numbers", TWICE.values(), ids=TWICE)
def test_one_request_to_stop_that_reaches_everybody_lets_the_step_end(here, numbers):
    extraction, session_id, gate = in_a_step(here, "extraction", "--grace", "60")
    with gate:
        tell(extraction, numbers)
        extraction.until("stopping")
    extraction.rest()

    assert extraction.process.returncode == 0
    assert here.runs() == [session_id]


@pytest.mark.parametrize("to_all", [False, True])
def test_stop_of_all_workers_waits_for_the_step_of_one_though_the_other_has_ended(here, to_all):
    workers, session_id, gate = in_a_step(here, "all", "--grace", "60")
    maintenance = workers.until("gave a sign of life", queue="maintenance")["pid"]
    with gate:
        tell(workers, [signal.SIGTERM]) if to_all else workers.process.terminate()
        workers.until("stopped", queue="maintenance")
        while Path(f"/proc/{maintenance}").exists():  # until it was waited for
            os.sched_yield()
    workers.rest()

    assert workers.process.returncode == 0
    assert here.runs() == [session_id]


@pytest.mark.parametrize("which", ["extraction", "all"])
def test_who_asks_again_later_has_the_step_handed_back_at_once(here, which):
    workers, session_id, gate = in_a_step(here, which, "--grace", "600")
    with gate:
        while workers.process.poll() is None:
            workers.process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                workers.process.wait(0.2)
        workers.rest()

    assert workers.process.returncode == 0
    state = here.state(session_id)
    assert (state.token, state.attempts, state.next_at) == (None, 0, None)


def test_session_that_kills_its_worker_ends_as_a_dead_letter_and_stops_no_other(here):
    extraction, maintenance = here.start("extraction"), here.start("maintenance")
    poison, other = here.requested("kill me"), here.requested("monday")
    done(extraction, other)
    while here.state(poison).failed_at is None:
        maintenance.until("swept")

    assert here.runs() == [other]
    assert here.state(poison).error == "attempts_exhausted"
    assert here.events(poison)[-1] == "extraction.dead"


def test_rows_of_others_in_the_queue_run_nothing_and_stop_nothing(here, tmp_path):
    extraction = here.start("extraction")
    done(extraction, here.requested("first"))
    trace = tmp_path / "a pickle was loaded"

    class Bomb:
        def __reduce__(self):
            return (open, (str(trace), "w"))

    rows = sqlite3.connect(here.queue_file())
    with rows:
        for data in (pickle.dumps(Bomb()), b"{}", b"\xff", b'{"v":1}'):
            rows.execute(
                "insert into task (queue, data, priority) values ('extraction', ?, 99)", (data,)
            )
    rows.close()
    second = here.requested("second")
    done(extraction, second)

    assert not trace.exists()
    assert inspect_queue("extraction", here.queue_file()).foreign == 0


def command(here, *words):
    """Run ``retold`` on the store of the site, as an operator would beside its workers."""
    return retold_here(*words, "--config", here.config, store=here.path)


def test_queue_that_is_deleted_locked_damaged_or_on_a_full_disk_loses_nothing(here):
    extraction, maintenance = here.start("extraction"), here.start("maintenance")
    done(extraction, here.requested("first"))
    for name in ("extraction", "maintenance"):
        for ending in ("", "-wal", "-shm"):
            here.queue_file(name).with_name(here.queue_file(name).name + ending).unlink(
                missing_ok=True
            )
    deleted = here.requested("deleted")
    done(extraction, deleted)
    assert here.queue_file().stat().st_mode & 0o777 == 0o600

    holder = sqlite3.connect(here.queue_file(), isolation_level=None)
    holder.execute("begin exclusive")
    locked = here.requested("locked")  # and the end of its session is not held up
    health = command(here, "workers", "health")
    holder.close()
    assert health.code == 6
    assert "another process holds it locked" in " ".join(health.out.split())
    done(extraction, locked)

    damaged = damage(here)
    health = command(here, "workers", "health")
    assert health.code == 6
    assert "run `retold queue reset`" in " ".join(health.out.split())
    assert here.state(damaged).extracted_at is None
    assert command(here, "queue", "reset", "extraction").code == 0
    done(extraction, damaged)

    full = fill_disk(here, extraction)
    health = command(here, "workers", "health")
    assert health.code == 6
    assert "no sign of life" in health.out
    assert here.state(full).extracted_at is None
    limit(here.heartbeat("extraction").pid, resource.RLIM_INFINITY)
    done(extraction, full)

    assert sorted(here.runs()) == sorted(set(here.runs()))
    assert len(here.runs()) == 5
    assert maintenance.stop() == 0


def damage(here):
    """Overwrite the queue file that the consumer reads; return a session that nobody hears of."""
    log = here.queue_file().with_name(f"{here.queue_file().name}-wal")
    log.write_bytes(b"")
    here.queue_file().write_bytes(b"no database" * 4096)
    return here.requested("damaged")


def fill_disk(here, extraction):
    """Let the consumer write nothing more; return a session that it is told of in vain."""
    worker = here.heartbeat("extraction").pid
    limit(worker, 0)
    session_id = here.requested("full")
    extraction.until("Error reading from")
    with Store.open(here.path, clock=lambda: datetime.now(UTC) - timedelta(hours=1)) as store:
        file = file_identity(here.queue_file())
        note_heartbeat(store, "extraction", pid=worker, file=file)
    return session_id


def limit(pid, size):
    """Let a process write files up to this size: 0 is what a full disk does to it."""
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

"""The command ``retold sessions import`` killed, run twice at once and on a disk that is full."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack

import pytest

from retold import Retold
from retold.store import Store
from tests.cli_support import environment, retold
from tests.store_support import problems
from tests.warm_process import WarmPopen

SESSIONS, TURNS = 30, 60
TEXT = "We spoke about the garden and about the rain that never came. " * 6


def cases_rows():
    """Return the lines of three cases; sessions and turns bear the same names in each."""
    for case in range(3):
        turns = [
            {
                "id": f"D{session}:{turn}",
                "session": f"s{session}",
                "time": f"2023-05-{session % 28 + 1:02}",
                "speaker": ("Ana", "Max")[turn % 2],
                "text": f"{case}-{session}-{turn} {TEXT}",
            }
            for session in range(SESSIONS // 3)
            for turn in range(TURNS)
        ]
        yield json.dumps({"id": f"c{case}", "turns": turns, "questions": []})


def jsonl_rows():
    """Return a line for every turn; none has an id, and every other one is the same."""
    for session in range(SESSIONS):
        for turn in range(TURNS):
            content = "ok" if turn % 2 else f"{session}-{turn} {TEXT}"
            role = ("user", "assistant")[turn % 2]
            yield json.dumps({"session": f"s{session}", "role": role, "content": content})


ROWS = {"cases": list(cases_rows()), "jsonl": list(jsonl_rows())}


@pytest.fixture
def store(tmp_path):
    """Return the path of an empty store."""
    path = tmp_path / "memory.sqlite"
    Retold.open(path, profile="offline").close()
    return path


@pytest.fixture(params=ROWS)
def format_(request):
    return request.param


@pytest.fixture
def file(tmp_path, format_):
    """Return the path of a file with all turns."""
    path = tmp_path / "chats.jsonl"
    path.write_text("".join(f"{row}\n" for row in ROWS[format_]), encoding="utf-8")
    return path


def arguments(store, file, format_):
    return ["sessions", "import", file, "--format", format_, "--user", "ana", "--store", store]


def start(store, file, format_, *, json_=False, **options):
    command = [sys.executable, "-m", "retold", *map(str, arguments(store, file, format_))]
    # What is done before a program starts needs an interpreter of its own.
    popen = subprocess.Popen if options else WarmPopen
    return popen(
        [*command, *(["--json"] if json_ else [])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        **options,
    )


def stored(path):
    """Return (session, role, beginning of the content) of every turn, in the order of the store."""
    with Store.open(path, create=False) as opened, opened.read() as tx:
        return tx.run(
            "select s.external_id, t.turn, t.role, substr(t.content, 1, 12), s.ended_at is not null"
            " from sessions as s join session_turns as t on t.session_seq = s.seq"
            " order by s.seq, t.turn"
        ).fetchall()


def expected(format_):
    """Return what ``stored`` gives when every turn is there once, in the order of the file."""
    found, numbers = [], {}
    for row in map(json.loads, ROWS[format_]):
        for turn in row.get("turns", [row]):
            session = f"{row['id']}/{turn['session']}" if "turns" in row else turn["session"]
            numbers[session] = numbers.get(session, 0) + 1
            role = turn.get("role") or ("user" if turn["speaker"] == "Ana" else "assistant")
            text = turn.get("content") or turn["text"]
            found.append((session, numbers[session], role, text[:12], 1))
    return found


def test_import_killed_in_the_middle_goes_on_where_it_was(store, file, format_, tmp_path):
    """Keeping its place anywhere but in the transactions themselves makes this fail.

    The pipe holds back the end of the file, so that the process is killed at work.
    """
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = start(store, pipe, format_)
    data = file.read_bytes()
    with pipe.open("wb") as feed:
        feed.write(data[: len(data) * 2 // 3])
        feed.flush()
        assert process.stderr.readline().startswith("read ")
        process.kill()
        process.wait()
        process.communicate()

    done = stored(store)
    assert 0 < len(done) < SESSIONS * TURNS
    assert done == expected(format_)[: len(done)]
    assert problems(store) == []

    result = retold(*arguments(store, file, format_), "--json").document
    assert (result["known"], result["imported"]) == (len(done), SESSIONS * TURNS - len(done))
    assert stored(store) == expected(format_)
    assert problems(store) == []


def test_import_interrupted_by_a_person_says_so_and_keeps_what_it_has(
    store, file, format_, tmp_path
):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = start(store, pipe, format_)
    data = file.read_bytes()
    with pipe.open("wb") as feed:
        feed.write(data[: len(data) // 2])
        feed.flush()
        assert process.stderr.readline().startswith("read ")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()

    assert (process.returncode, out) == (1, "")
    assert err.splitlines()[-1] == "retold: interrupted"
    assert "Traceback" not in err
    done = stored(store)
    assert done == expected(format_)[: len(done)] != []
    assert retold(*arguments(store, file, format_)).code == 0
    assert stored(store) == expected(format_)


def test_import_killed_again_and_again_imports_every_turn_once(store, file, format_):
    """Kills at whatever it is doing: between batches, inside a transaction, at its end."""
    for nth in range(5):
        process = start(store, file, format_)
        for _ in range(nth + 1):
            process.stderr.readline()
        process.kill()
        process.communicate()
        done = stored(store)
        assert done == expected(format_)[: len(done)]

    assert retold(*arguments(store, file, format_)).code == 0
    assert stored(store) == expected(format_)


def test_two_imports_of_one_file_at_one_time_import_every_turn_once(store, file, format_, tmp_path):
    """Looking for known turns outside the write lock alone makes this fail.

    Both read what the same two threads write, and neither is done before the other has begun.
    """
    pipes = [tmp_path / "first", tmp_path / "second"]
    for pipe in pipes:
        os.mkfifo(pipe)
    processes = [start(store, pipe, format_, json_=True) for pipe in pipes]
    both_read = threading.Barrier(2)

    def feed(pipe):
        with pipe.open("wb") as opened:
            both_read.wait()
            opened.write(file.read_bytes())

    with ExitStack() as stack:
        for pipe in pipes:
            thread = threading.Thread(target=feed, args=(pipe,))
            thread.start()
            stack.callback(thread.join)
        outputs = [process.communicate() for process in processes]

    results = [json.loads(out) for out, _ in outputs]
    assert [result["turns"] for result in results] == [SESSIONS * TURNS] * 2
    assert sum(result["imported"] for result in results) == SESSIONS * TURNS
    assert sum(result["sessions"] for result in results) == SESSIONS
    assert stored(store) == expected(format_)
    assert problems(store) == []


def test_import_on_a_disk_that_fills_says_so_and_goes_on_when_there_is_room(store, file, format_):
    limit = 400_000

    def small_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    process = start(store, file, format_, preexec_fn=small_disk)
    out, err = process.communicate()

    assert (process.returncode, out) == (2, "")
    said = err.splitlines()[-1]
    done = stored(store)
    assert said.startswith(f"retold: {store}: ")
    assert f"{len(done):,} turns are in the store; run the same command to go on" in said
    assert 0 < len(done) < SESSIONS * TURNS
    assert done == expected(format_)[: len(done)]

    assert retold(*arguments(store, file, format_)).code == 0
    assert stored(store) == expected(format_)
    assert problems(store) == []

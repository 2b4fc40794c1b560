"""``retold dump``: JSON lines of what may be read, streamed, and what is left out said aloud."""

import json
import os
import pty
import subprocess
import sys
from datetime import timedelta

import apsw
import pytest

from retold import Retold
from retold.runtime import Overrides
from retold.testing import FakeClock
from retold.util import system_clock
from tests.cli_support import environment, retold, retold_here
from tests.warm_process import WarmPopen


def dumped(store, *options):
    finished = retold_here("dump", *options, store=store)
    assert finished.code == 0, finished.err
    return [json.loads(line) for line in finished.out.split("\n")[:-1]], finished.err


def multiply(store, number):
    """Fill the store with so many copies of one of its records, as rows alone."""
    connection = apsw.Connection(str(store))
    columns = [row[1] for row in connection.execute("pragma table_info(records)")]
    active = connection.execute("select * from records where content like '%walnuts%'").fetchone()
    row = dict(zip(columns, active, strict=True))
    with connection:
        for nth in range(number):
            copy = row | {"seq": None, "id": f"{nth:036d}", "content": f"{nth} " + "x" * 1000}
            connection.execute(
                f"insert into records({', '.join(columns)}) "
                f"values ({', '.join(':' + name for name in columns)})",
                copy,
            )
    connection.close()


def test_dump_prints_active_records_in_the_order_they_were_stored(store):
    records, said = dumped(store)
    (looked_up,) = retold_here("get", records[0]["id"], "--json", store=store).document["records"]

    assert [one["content"] for one in records] == [
        "Ana is allergic to walnuts.",
        "我每天早上喝乌龙茶。",
        "Ana lives in Braga.",
    ]
    assert records[0] == {name: looked_up[name] for name in records[0]}
    assert said == (
        "retold: 3 records; left out: 1 superseded (--history adds these), and transcripts, "
        "vectors, entities, grants and events\n"
    )


def test_dump_is_the_same_with_json(store):
    assert dumped(store, "--json") == dumped(store)


def test_dump_with_history_leaves_only_forgotten_records_out(store):
    soon = FakeClock(system_clock() - timedelta(days=60))
    with (
        Retold.open(store, overrides=Overrides(clock=soon)) as opened,
        opened.session("ana", agent_id="helper") as session,
    ):
        session.remember("Ana may like figs.", allow_inference=True)
        walnuts = next(one for one in session.list().records if "walnuts" in one.content)
        session.forget(walnuts.id)

    active, said = dumped(store)
    records, said_of_all = dumped(store, "--history")

    assert "1 forgotten" in said
    assert "1 expired" in said
    assert "1 superseded" in said
    assert said_of_all.startswith("retold: 4 records; left out: 1 forgotten, and transcripts")
    assert {one["status"] for one in records} == {"confirmed", "superseded", "expired"}
    assert {one["status"] for one in active} == {"confirmed"}
    assert "walnuts" not in json.dumps(records)


def test_dump_narrows_to_a_scope_and_a_type(store):
    with Retold.open(store) as opened:
        opened.host.write("project:apollo", "The launch is at dawn.")
        opened.host.write("project:apollo", "The rehearsal was yesterday.", type="episodic")

    of_scope, _ = dumped(store, "--scope", "project:apollo")
    of_type, said = dumped(store, "--type", "episodic")

    assert [one["content"] for one in of_scope] == [
        "The launch is at dawn.",
        "The rehearsal was yesterday.",
    ]
    assert [one["content"] for one in of_type] == ["The rehearsal was yesterday."]
    assert said.startswith("retold: 1 record; left out: only transcripts")


def test_record_is_one_line_whatever_a_reader_takes_for_the_end_of_one(store):
    content = "one\ntwo\r\x0bthree\x85four\u2028five\u2029six\x1c"
    with Retold.open(store) as opened:
        opened.host.write("project:apollo", content)

    finished = retold_here("dump", "--scope", "project:apollo", store=store)

    assert len(finished.out.splitlines()) == 1
    assert json.loads(finished.out)["content"] == content


def test_dump_reads_one_moment_of_the_store(store):
    """A record written while the dump runs is not in it: fails when each batch reads anew."""
    multiply(store, 1500)
    with WarmPopen(
        [sys.executable, "-m", "retold", "dump", "--store", str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    ) as process:
        first = process.stdout.readline()
        with Retold.open(store) as opened:
            opened.host.write("project:apollo", "This came too late.")
        # Not communicate: it would not see the lines that the first readline took along.
        out = process.stdout.read()
        process.communicate(timeout=120)

    assert process.returncode == 0
    assert len((first + out).splitlines()) == 1503
    assert "too late" not in out


MEASURED = """
import pathlib, re, sys
from retold.cli.app import run
code = run(["dump", "--store", sys.argv[1]])
# Not getrusage: its peak begins with that of the process which started this one.
peak = re.search(r"VmHWM:\\s+(\\d+) kB", pathlib.Path("/proc/self/status").read_text())
sys.stderr.write(f"{code} {peak[1]}")
"""


def test_memory_stays_flat_however_many_records_there_are(store):
    """Fails when `walk` in retrieve/lookup.py gathers its batches in a list."""

    def peak():
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, str(store)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=True,
            env=environment(),
            text=True,
        )
        code, kilobytes = done.stderr.splitlines()[-1].split()
        assert code == "0"
        return int(kilobytes)

    multiply(store, 1000)
    few = peak()
    connection = apsw.Connection(str(store))
    connection.execute("update records set id = 'old' || id")
    connection.close()
    multiply(store, 9000)

    assert peak() <= 1.1 * few


def test_long_dump_says_how_far_it_is_on_standard_error(store):
    multiply(store, 5000)

    finished = retold("dump", "--store", store)
    lines = finished.err.splitlines()

    assert len(finished.out.splitlines()) == 5003
    assert lines[0].startswith("dumped ")
    assert "1,000 of 5,003 records" in lines[0]
    assert lines[-1].startswith("retold: 5,003 records")
    assert "\r" not in finished.err
    assert "\x1b" not in finished.err


def test_long_dump_shows_a_bar_on_a_terminal(store, tmp_path):
    multiply(store, 3000)
    ours, theirs = pty.openpty()
    with (tmp_path / "out").open("wb") as out:
        process = WarmPopen(
            [sys.executable, "-m", "retold", "dump", "--store", str(store)],
            stdout=out,
            stderr=theirs,
            env=environment(),
        )
        os.close(theirs)
        shown = read_all(ours)
        assert process.wait(timeout=120) == 0

    assert "\r[" in shown
    assert "2,000 of 3,003 records" in shown
    assert len((tmp_path / "out").read_text("utf-8").splitlines()) == 3003


def read_all(terminal):
    """Return what was written to a terminal until its other end was closed."""
    got = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux ends a terminal with EIO
            break
        if not piece:
            break
        got += piece
    os.close(terminal)
    return got.decode()


@pytest.mark.parametrize("option", ["--history", "--type"])
def test_dump_of_nothing_is_empty(option, tmp_path):
    from retold.store import Store

    Store.open(tmp_path / "new.sqlite").close()
    options = (option,) if option == "--history" else (option, "semantic")

    records, said = dumped(tmp_path / "new.sqlite", *options)

    assert records == []
    assert said.startswith("retold: 0 records; left out: only")


@pytest.mark.parametrize("command", [("dump",), ("list", "--json")], ids=" ".join)
def test_json_of_stored_words_steers_no_terminal(store, command):
    """Let JSON's own escapes do and U+009B starts a control sequence, U+202E turns a line round."""
    content = "a\x1b[2Jb\x9b31mc\x7fd\u202ee\u2066f\u200fg"
    with Retold.open(store) as opened, opened.session("ana", agent_id="helper") as session:
        session.remember(content, allow_inference=True, type="episodic")

    finished = retold_here(*command, store=store)

    assert not set(finished.out) & set("\x1b\x9b\x7f\u202e\u2066\u200f")
    assert json.dumps(content)[1:-1] in finished.out

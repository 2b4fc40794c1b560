"""Several processes and threads on one store, through the public API."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

from retold import Overrides, Retold
from retold.config import profile_config
from retold.testing import FakeEmbedder, FakeJudge
from tests.warm_process import WarmPopen

PRELUDE = """
import sys
from retold import Overrides, Retold
from retold.config import profile_config
from retold.testing import FakeEmbedder, FakeJudge

def opened():
    return Retold.open(
        sys.argv[1],
        config=profile_config("offline"),
        overrides=Overrides(embedder=FakeEmbedder(dims=32), judge=FakeJudge()),
    )

def wait():
    print("ready", flush=True)
    sys.stdin.readline()
"""


def opened(path):
    return Retold.open(
        path,
        config=profile_config("offline"),
        overrides=Overrides(embedder=FakeEmbedder(dims=32), judge=FakeJudge()),
    )


def start(path, body, *arguments):
    code = PRELUDE + textwrap.dedent(body)
    return WarmPopen(
        [sys.executable, "-c", code, str(path), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_together(processes):
    """Let all of them begin at one moment; return what each printed afterwards."""
    for process in processes:
        assert process.stdout.readline() == "ready\n", process.stderr.read()
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = []
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        outputs.append(out)
    return outputs


ONE_FACT = """
retold = opened()
session = retold.session("ana", session_id="chat-" + sys.argv[2])
wait()
result = session.remember(
    "The user lives in Oslo", evidence="I have lived in Oslo since May.", attribute="home_city"
)
print(result.kind)
retold.close()
"""


def test_four_processes_writing_one_fact_end_with_one_active_record(tmp_path):
    """Completions 3; deciding by the rows that were gathered before the lock makes it fail."""
    path = tmp_path / "memory.sqlite"
    opened(path).close()

    kinds = run_together([start(path, ONE_FACT, number) for number in range(4)])

    with opened(path) as retold, retold.session("ana") as session:
        assert len(session.list().records) == 1
    assert sorted(kind.strip() for kind in kinds) == ["created"] + ["reinforced"] * 3


RIVALS = """
retold = opened()
session = retold.session("ana", session_id="chat-" + sys.argv[2])
wait()
session.remember(
    "The user lives in city number " + sys.argv[2],
    evidence="These days I live in city number " + sys.argv[2],
    attribute="home_city",
)
retold.close()
"""


def test_processes_that_disagree_about_one_attribute_leave_one_current_value(tmp_path):
    path = tmp_path / "memory.sqlite"
    opened(path).close()

    run_together([start(path, RIVALS, number) for number in range(4)])

    with opened(path) as retold, retold.session("ana") as session:
        assert len(session.list().records) == 1
        everything = session.list(status=("confirmed", "superseded"))
        assert len(everything.records) == 4


MANY = """
retold = opened()
session = retold.session("user" + sys.argv[2], session_id="chat")
wait()
for number in range(25):
    session.remember(
        f"Note {number} of writer {sys.argv[2]}",
        source_kind="agent_inference", type="episodic",
    )
print("done")
retold.close()
"""

READER = """
retold = opened()
session = retold.session("user0", session_id="reader")
wait()
found = [len(session.search("note of writer")) for _ in range(25)]
print("done")
retold.close()
"""


def test_eight_writing_processes_and_two_readers_lose_nothing(tmp_path):
    """B41 B90: every row is there, nobody met a lock error, sessions are not mixed."""
    path = tmp_path / "memory.sqlite"
    opened(path).close()

    outputs = run_together(
        [start(path, MANY, number) for number in range(8)] + [start(path, READER) for _ in "ab"]
    )

    assert [output.strip() for output in outputs] == ["done"] * 10
    with opened(path) as retold:
        for number in range(8):
            session = retold.session(f"user{number}", session_id="after")
            assert len(session.list(limit=100).records) == 25
        with retold.store.read() as tx:
            assert tx.events.verify() is None


def test_sixteen_threads_share_one_store(tmp_path):
    """B44: no error, every row, and everyone sees only what is theirs."""
    with opened(tmp_path / "memory.sqlite") as retold:
        barrier = threading.Barrier(16)

        def work(number):
            session = retold.session(f"user{number}", session_id="chat")
            barrier.wait()
            for step in range(5):
                session.remember(
                    f"Thread {number} wrote line {step}",
                    source_kind="agent_inference",
                    type="episodic",
                )
                page = session.search("thread wrote line")
                assert all(f"Thread {number} " in item.record.content for item in page)
            return len(session.list(limit=100).records)

        with ThreadPoolExecutor(16) as pool:
            counts = list(pool.map(work, range(16)))

        assert counts == [5] * 16


WRITER = """
retold = opened()
session = retold.session("ana", session_id="chat")
wait()
for number in range(10_000):
    result = session.remember(
        f"Line {number} of the long list", source_kind="agent_inference", type="episodic"
    )
    print(result.record_id, flush=True)
"""


def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path):
    """B73: nothing that it printed an id for; power loss has its own tests."""
    path = tmp_path / "memory.sqlite"
    opened(path).close()
    writer = start(path, WRITER)
    assert writer.stdout.readline() == "ready\n"
    writer.stdin.write("go\n")
    writer.stdin.flush()

    acknowledged = [writer.stdout.readline().strip() for _ in range(60)]
    writer.kill()
    # Not communicate: it would not see the lines that the last readline took along.
    rest = writer.stdout.read().split()
    writer.communicate()

    acknowledged += [line for line in rest if len(line) == 36]
    with opened(path) as retold, retold.session("ana", session_id="after") as session:
        for start_ in range(0, len(acknowledged), 100):
            assert not session.get(acknowledged[start_ : start_ + 100]).missing
        with retold.store.read() as tx:
            live = [row[0] for row in tx.run("select seq from records order by seq")]
            assert list(tx.lexical.row_keys()) == live
            assert tx.embeddings.count() == len(live)
            assert tx.one("pragma integrity_check") == ("ok",)
        assert session.remember("After the crash", source_kind="agent_inference").kind == "created"

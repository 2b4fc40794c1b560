import json
import os
import signal
import subprocess
import sys

import pytest

from retold.operations.heartbeat import note_heartbeat
from retold.queue import QUEUES, file_identity, make_storage, queue_path
from retold.store import Store
from tests.cli_support import environment, refusal, retold_here
from tests.warm_process import WarmPopen

CONFIG = """
embedding: {model: all-MiniLM-L6-v2/onnx-int8, dims: 384}
ingestion: {equivalence: {model: lexical}}
queue: {backend: huey, sweep_seconds: 1}
"""
PATIENCE_SECONDS = 60


@pytest.fixture
def config(tmp_path):
    file = tmp_path / "retold.yaml"
    file.write_text(CONFIG, encoding="utf-8")
    return file


def make_queues(store, *, beat=True):
    for name in QUEUES:
        path = queue_path(store, None, name)
        storage = make_storage(name, path, timeout_seconds=1)
        storage.initialize_schema()
        storage.close()
        if beat:
            with Store.open(store) as opened:
                note_heartbeat(opened, name, pid=7, file=file_identity(path))


@pytest.mark.parametrize("command", [("worker", "all"), ("workers", "health")])
def test_configuration_that_announces_nothing_to_workers_is_refused(store, command):
    line = refusal(retold_here(*command, store=store))

    assert "queue.backend is thread (profile offline, from the store)" in line
    assert "set it to huey" in line


@pytest.mark.parametrize("which", ["extraction", "all"])
def test_workers_with_settings_of_another_embedding_are_refused_before_they_start(
    store, tmp_path, which, monkeypatch
):
    def started(*_, **__):
        raise AssertionError("workers were started")

    monkeypatch.setattr(os, "execve", started)
    monkeypatch.setattr("retold.cli.worker.run_together", started)
    config = tmp_path / "other.yaml"
    config.write_text("profile: standard\nqueue: {backend: huey}\n", encoding="utf-8")
    line = refusal(retold_here("worker", which, "--config", config, store=store))

    assert f"write `profile: offline` into {config}" in line
    assert not queue_path(store, None, "extraction").exists()


def test_maintenance_needs_no_model_and_starts_with_any(store, tmp_path, monkeypatch):
    config = tmp_path / "other.yaml"
    config.write_text("profile: standard\nqueue: {backend: huey}\n", encoding="utf-8")
    started = []
    monkeypatch.setattr(os, "execve", lambda _, command, __: started.append(command))
    monkeypatch.setattr("retold.cli.worker.run_together", lambda *_, **__: 0)
    finished = retold_here("worker", "maintenance", "--config", config, store=store)

    assert finished.err == ""
    assert [command[4] for command in started] == ["maintenance"]


def test_health_of_workers_that_work(store, config):
    make_queues(store)
    finished = retold_here("workers", "health", "--config", config, store=store)

    assert finished.code == 0, finished
    assert "the work in the background goes on" in finished.out
    document = retold_here("workers", "health", "--json", "--config", config, store=store).document
    assert [each["state"]["pending"] for each in document["queues"]] == [0, 0]
    assert (document["problems"], document["notices"]) == ([], [])


def test_health_without_workers_names_the_command_that_starts_them(store, config):
    finished = retold_here("workers", "health", "--config", config, store=store)

    assert finished.code == 6
    assert "start `retold worker extraction`" in finished.out


def test_session_that_was_set_aside_is_told_by_its_own_exit_code(store, config):
    make_queues(store)
    with Store.open(store) as opened, opened.write() as tx:
        tx.claims.bury(tx.sessions.overview_page()[0].session.id, "invalid_completion")

    finished = retold_here("workers", "health", "--config", config, store=store)
    assert finished.code == 5
    assert "1 session was set aside" in finished.out


@pytest.mark.parametrize("seconds", ["nan", "inf", "-1"])
def test_grace_that_no_clock_reaches_is_refused(seconds, store):
    finished = retold_here("worker", "all", "--grace", seconds, store=store)

    assert finished.code == 2
    assert "is not in the range x>=0" in finished.err


def test_damaged_queue_is_refused_by_the_worker_told_by_health_and_repaired_by_reset(store, config):
    make_queues(store)
    file = queue_path(store, None, "extraction")
    file.write_bytes(b"no database" * 1000)

    line = refusal(retold_here("worker", "extraction", "--config", config, store=store), 6)
    assert "retold queue reset" in line
    assert retold_here("workers", "health", "--config", config, store=store).code == 6
    reset = retold_here("queue", "reset", "extraction", "--config", config, store=store)
    assert (reset.code, file.exists()) == (0, False)
    assert queue_path(store, None, "maintenance").exists()
    again = retold_here("queue", "reset", "--json", "--config", config, store=store).document
    assert [each["moved_to"] is None for each in again["queues"]] == [True, False]


def test_folder_of_the_queues_that_is_missing_is_named(store, tmp_path):
    config = tmp_path / "elsewhere.yaml"
    config.write_text(CONFIG.replace("huey", f"huey, directory: {tmp_path}/none"), encoding="utf-8")
    line = refusal(retold_here("worker", "all", "--config", config, store=store))

    assert "make it" in line


def test_document_of_a_worker_is_refused(store, config):
    refusal(retold_here("worker", "all", "--json", "--config", config, store=store))


@pytest.fixture
def both(store, config):
    process = WarmPopen(
        [sys.executable, "-m", "retold", "worker", "all", "--config", str(config)],
        env=environment(RETOLD_STORE=str(store), ANTHROPIC_API_KEY="any"),
        stderr=subprocess.PIPE,
        text=True,
    )
    yield process
    process.kill()
    process.stderr.close()
    process.wait()


def signs_of_life(process):
    """Read the log until both consumers gave a sign of life; return their processes."""
    pids = {}
    for text in process.stderr:
        line = json.loads(text)
        if line["message"] == "started":
            pids[line["queue"]] = line["pid"]
        if line["message"] == "gave a sign of life":
            pids[f"beat of {line['queue']}"] = line["pid"]
        if len(pids) == 4:
            return pids
    raise AssertionError(f"ended early: {pids}")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_both_workers_stop_together_when_they_are_asked(both, store, config, number):
    signs_of_life(both)
    health = retold_here("workers", "health", "--config", config, store=store)
    both.send_signal(number)
    rest = both.stderr.read()  # to the end: no process of theirs is left

    assert both.wait(PATIENCE_SECONDS) == 0
    assert health.code == 0, health
    assert rest.count('"message": "stopped"') == 2


def test_end_of_one_worker_ends_the_other(both):
    os.kill(signs_of_life(both)["maintenance"], signal.SIGKILL)
    rest = both.stderr.read()

    assert both.wait(PATIENCE_SECONDS) == 1
    assert '"queue": "extraction"' in rest.splitlines()[-1]


def test_workers_end_with_what_started_them(both):
    signs_of_life(both)
    both.kill()

    assert '"message": "stopped"' not in both.stderr.read()

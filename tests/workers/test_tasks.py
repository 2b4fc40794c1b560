import inspect
import json
import logging
import os
from contextlib import closing
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from retold.config import parse_config
from retold.errors import ConfigError, StoreBusy
from retold.operations.heartbeat import heartbeat_of
from retold.queue import QUEUES, TASKS, encode_message, file_identity
from retold.store import Store
from workers import app, tasks
from workers.logs import JsonLines
from workers.runtime import WorkerRuntime
from workers.settings import WorkerSettings, worker_settings

OFFLINE = {"queue": {"backend": "huey"}}


@pytest.fixture
def settings(tmp_path):
    path = tmp_path / "memory.sqlite"
    Store.open(path).close()
    return WorkerSettings(path, parse_config(OFFLINE, profile="offline"))


@pytest.fixture
def runtime(settings):
    opened = WorkerRuntime(settings)
    yield opened
    opened.close()


def test_names_on_the_wire_are_those_of_the_tasks():
    """Rows outlive releases: a renamed or moved task would be dropped by its consumer."""
    named = {
        f"{task.__module__}.{task.__name__}" for each in tasks.TASKS_OF.values() for task in each
    }

    assert named == set(TASKS.values())
    assert TASKS["extract_session"] == "workers.tasks.extract_session"
    assert TASKS["beat"] == "workers.tasks.beat"
    assert TASKS["sweep"] == "workers.tasks.sweep"
    assert TASKS["maintain"] == "workers.tasks.maintain"


@pytest.mark.parametrize("queue", QUEUES)
def test_consumer_knows_its_tasks_and_makes_no_file_by_itself(settings, queue):
    huey = app.make_app(queue, settings)
    for task in tasks.TASKS_OF[queue]:
        name = TASKS[task.__name__]
        assert huey.deserialize_task(encode_message(name, "m1", ["x"])).args == ("x",)

    assert not settings.queue_file(queue).exists()
    assert not huey.results


def test_task_takes_what_a_later_release_adds_to_its_message(settings):
    seen = []
    task = tasks.guarded(lambda runtime, argument: seen.append(argument), WorkerRuntime(settings))
    task("s1", "later", "more")

    assert seen == ["s1"]


@pytest.mark.parametrize(
    ("error", "code"),
    [(ValueError("what the user said"), "ValueError"), (StoreBusy(), "store_busy")],
)
def test_failed_task_is_logged_by_its_code_alone(settings, caplog, error, code):
    def fail(runtime, argument):
        raise error

    tasks.guarded(fail, WorkerRuntime(settings))("s1")

    assert [(record.code, record.argument) for record in caplog.records] == [(code, "s1")]
    assert "what the user said" not in caplog.text


def test_interruption_passes_through_a_task(settings):
    def interrupted(runtime, argument):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tasks.guarded(interrupted, WorkerRuntime(settings))("s1")


def test_sign_of_life_names_the_file_that_is_read(settings, runtime):
    with closing(app.make_app("extraction", settings).storage) as storage:
        storage.queue_size()
    tasks.beat(runtime, "extraction")
    with runtime.store().read() as tx:
        beat = heartbeat_of(tx, "extraction")
        assert heartbeat_of(tx, "maintenance") is None

    assert (beat.pid, beat.file) == (os.getpid(), file_identity(settings.queue_file("extraction")))


@pytest.mark.parametrize(
    ("changes", "lacks"),
    [
        ({"key": "any"}, None),
        ({"key": ""}, "set the environment variable ANTHROPIC_API_KEY"),
        ({"hosted": {"enabled": False}}, "hosted.enabled"),
        ({"embedding": {"model": "other", "dims": 384}}, "other"),
    ],
)
def test_sign_of_life_of_the_extraction_says_what_keeps_it_from_extracting(
    runtime, monkeypatch, caplog, changes, lacks
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", changes.get("key", "any"))
    runtime.memory()  # whose vectors the store holds
    other = {name: block for name, block in changes.items() if name != "key"}
    changed = parse_config(OFFLINE | other, profile="offline")
    with closing(WorkerRuntime(replace(runtime.settings, config=changed))) as worker:
        tasks.beat(worker, "maintenance")
        tasks.beat(worker, "extraction")
        with worker.store().read() as tx:
            beats = [heartbeat_of(tx, name) for name in ("maintenance", "extraction")]

    assert beats[0].lacks is None
    assert (lacks in beats[1].lacks) if lacks else (beats[1].lacks is None)
    warned = [each.lacks for each in caplog.records if each.levelname == "WARNING"]
    assert warned == ([beats[1].lacks] if lacks else [])


@pytest.mark.parametrize("opens", ["store", "memory"])
def test_store_that_was_replaced_is_opened_anew_for_the_next_task(settings, runtime, opens):
    getattr(runtime, opens)()
    beat = tasks.guarded(tasks.beat, runtime)
    for file in settings.store.parent.glob("memory.sqlite*"):
        file.rename(file.with_name(f"old.{file.name}"))
    beat("extraction")  # refused: what is written to the old file would be lost
    with Store.open(settings.store) as new:
        beat("extraction")
        with new.read() as tx:
            assert heartbeat_of(tx, "extraction").pid == os.getpid()


def test_tasks_hold_nothing_but_calls_of_the_library():
    """A task that decides something would decide it in one of two places."""
    for each in tasks.TASKS_OF.values():
        for task in each:
            assert len(inspect.getsource(task).splitlines()) <= 10, task.__name__


def test_store_is_opened_once_and_anew_after_a_fork(runtime):
    first = runtime.store()
    assert runtime.store() is first
    fork = get_context("fork")
    receive, send = fork.Pipe(duplex=False)

    def child():
        mine = runtime.store()
        with mine.read() as tx:
            send.send((mine is first, tx.meta.records_version()))
        os._exit(0)

    process = fork.Process(target=child)
    process.start()
    assert receive.recv() == (False, 0)
    process.join()
    with first.read() as tx:
        assert tx.meta.records_version() == 0


def test_worker_refuses_a_configuration_that_announces_nothing_to_it(tmp_path, monkeypatch):
    file = tmp_path / "retold.yaml"
    file.write_text("queue: {backend: thread}\n", encoding="utf-8")
    monkeypatch.setenv("RETOLD_STORE", str(tmp_path / "memory.sqlite"))
    monkeypatch.setenv("RETOLD_CONFIG", str(file))
    with pytest.raises(ConfigError, match=r"queue\.backend is thread"):
        worker_settings()

    file.write_text("queue: {backend: huey}\n", encoding="utf-8")
    assert worker_settings().store == Path(tmp_path / "memory.sqlite")


def test_log_lines_hold_the_facts_and_no_text_of_an_exception():
    error = ValueError("what the user said")
    info = (ValueError, error, None)
    record = logging.makeLogRecord(
        {"msg": "Error reading from %s", "args": ("queue",), "exc_info": info, "session_id": "s1"}
    )
    line = JsonLines().format(record)

    assert "what the user said" not in line
    shown = json.loads(line)
    assert (shown["message"], shown["error"], shown["session_id"]) == (
        "Error reading from queue", "ValueError", "s1",
    )  # fmt: skip

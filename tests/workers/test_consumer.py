import os
import signal
import sys
import threading

import pytest

from retold.config import parse_config
from retold.operations.stopping import AT_ONCE, StopRequests
from workers import __main__ as command
from workers.app import make_app
from workers.settings import WorkerSettings


@pytest.fixture
def huey(tmp_path):
    config = parse_config({"queue": {"backend": "huey"}}, profile="offline")
    return make_app("maintenance", WorkerSettings(tmp_path / "memory.sqlite", config))


@pytest.fixture
def handlers():
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, AT_ONCE)
    kept = {each: signal.getsignal(each) for each in numbers}
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("supervised", "numbers", "waits"),
    [
        (False, [signal.SIGTERM], True),
        (False, [signal.SIGHUP, signal.SIGTERM], False),
        (True, [signal.SIGTERM, signal.SIGINT, signal.SIGTERM], True),
        (True, [signal.SIGTERM, AT_ONCE], False),
    ],
)
def test_consumer_waits_for_its_work_unless_somebody_who_may_insists(
    huey, handlers, supervised, numbers, waits
):
    """Each signal comes an hour after the one before; the work ends when it is looked at."""
    moments = iter(range(0, 36000, 3600))
    consumer = huey.create_consumer(
        workers=1, supervised=supervised, requests=StopRequests(clock=lambda: next(moments))
    )
    works = threading.Event()
    running = threading.Thread(target=works.wait, daemon=True)
    running.join = lambda seconds: works.set()
    running.start()
    consumer.worker_threads, consumer.scheduler = [(None, running)], running
    consumer._set_signal_handlers()
    for number in numbers:
        signal.raise_signal(number)
    consumer.stop(graceful=True)

    assert works.is_set() is waits


@pytest.mark.parametrize("supervisor", ["", "parent"])
def test_process_under_a_supervisor_leaves_it_to_it_who_insists(huey, monkeypatch, supervisor):
    told = {}

    class Consumer:
        def run(self): ...

    def consumer_of(*_, **options):
        told.update(options)
        return Consumer()

    monkeypatch.setattr(command, "make_app", lambda *_: huey)
    monkeypatch.setattr(command, "worker_settings", lambda: huey.settings)
    monkeypatch.setattr(command, "die_with_parent", lambda pid: told.update(parent=pid))
    monkeypatch.setattr(command, "log_to_standard_error", lambda: None)
    monkeypatch.setattr(command, "consumer_of", consumer_of)
    monkeypatch.setattr(sys, "argv", ["workers", "maintenance"])
    monkeypatch.setenv("RETOLD_SUPERVISOR", supervisor and str(os.getppid()))
    mask = os.umask(0o077)
    try:
        assert command.main() == 0
    finally:
        os.umask(mask)
    assert told["supervised"] is bool(supervisor)
    assert told.get("parent") == (os.getppid() if supervisor else None)

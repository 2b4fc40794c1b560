import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from retold.index.loading import LoadedOnce


def test_many_threads_load_once_and_get_one_model():
    """Without the lock around the load, the barrier lets all of them load."""
    everybody = threading.Barrier(8)
    loads = []

    def load():
        loads.append(None)
        return object()

    loaded = LoadedOnce(load)

    def ask(_):
        everybody.wait()
        return loaded.get()

    with ThreadPoolExecutor(8) as pool:
        models = set(pool.map(ask, range(8)))

    assert len(models) == len(loads) == 1
    assert loaded.is_loaded


class Door:
    """A lock that says when a second thread stands before it."""

    def __init__(self):
        self.lock, self.queue = threading.Lock(), threading.Event()

    def __enter__(self):
        if self.lock.locked():
            self.queue.set()
        self.lock.acquire()

    def __exit__(self, *_):
        self.lock.release()


def test_thread_that_waited_for_a_load_takes_what_it_made():
    """Without the second look inside the lock, whoever waited loads once more."""
    loads = []

    def load():
        loads.append(None)
        assert door.queue.wait(30)
        return object()

    loaded, door = LoadedOnce(load), Door()
    loaded._lock = door
    with ThreadPoolExecutor(2) as pool:
        models = [one.result() for one in [pool.submit(loaded.get) for _ in range(2)]]

    assert models[0] is models[1]
    assert len(loads) == 1


def test_load_that_raises_is_tried_again_by_the_next_caller():
    answers = iter([OSError("no file"), "model"])

    def load():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    loaded = LoadedOnce(load)

    with pytest.raises(OSError, match="no file"):
        loaded.get()
    assert not loaded.is_loaded
    assert loaded.get() == "model"

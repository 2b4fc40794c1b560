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

"""Interrupts at any moment of a transaction: no place, no lock and no transaction stays taken."""

import inspect
import itertools
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from retold.errors import StoreBusy
from retold.store import Store
from retold.store.readers import MAX_READERS
from tests.store_support import contents, new_record

MOMENTS = ("call", "c_return")
"""Where the interpreter looks for a signal: as a function begins and after a call into C."""


class Interrupt(BaseException):
    """Stands for KeyboardInterrupt, which pytest would take for itself."""


def interrupted(work, number):
    """Run ``work`` with an interrupt at the nth moment; False when it was over before."""
    moments = itertools.count()

    def strike(frame, event, argument):
        # A hook that raises as a generator goes on would skip its ``finally``; no signal can.
        goes_on = event == "call" and frame.f_code.co_flags & inspect.CO_GENERATOR
        if event in MOMENTS and not goes_on and next(moments) == number:
            raise Interrupt

    sys.setprofile(strike)
    try:
        work()
    except Interrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


def everywhere(work, check):
    """Interrupt ``work`` at each of its moments, one run for each; ``check`` after each run."""
    number = 0
    while interrupted(work, number):
        check()
        number += 1
    return number


def add(store):
    with store.write() as tx:
        tx.records.insert(new_record("claim"))


def log(store):
    with store.write_log(0) as tx:
        tx.meta.set_text("profile", "offline")


def fail(store):
    with suppress(ZeroDivisionError), store.write() as tx:
        tx.records.insert(new_record("never"))
        raise ZeroDivisionError


def fail_log(store):
    with suppress(ZeroDivisionError), store.write_log(0) as tx:
        tx.meta.set_text("profile", "never")
        raise ZeroDivisionError


@pytest.fixture
def impatient(tmp_path):
    """Return a store that waits for nothing, so that whatever stays taken is refused at once."""
    with Store.open(tmp_path / "memory.db", busy_timeout_seconds=0) as opened:
        yield opened


def elsewhere(work, *arguments):
    """Return what ``work`` returns in another thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work, *arguments).result(60)


def test_interrupted_read_gives_its_place_back(impatient):
    """Taking the place before ``try`` makes it fail: a lost place is never free again."""
    moments = everywhere(lambda: contents(impatient), lambda: contents(impatient))

    assert moments > MAX_READERS
    assert impatient._readers.lent == {}


@pytest.mark.parametrize("work", [add, fail, log, fail_log])
def test_interrupted_write_gives_its_lock_and_its_transaction_back(impatient, work):
    """A plain lock, or no ``_reusable`` before a write begins, makes it fail."""

    def check():
        work(impatient)
        elsewhere(work, impatient)

    assert everywhere(lambda: work(impatient), check) > 1
    with impatient.read() as tx:
        assert tx.one("pragma integrity_check") == ("ok",)
        assert tx.meta.profile() != "never"
    assert "never" not in contents(impatient)


def test_interrupt_while_waiting_for_the_lock_takes_nothing(impatient):
    holding, go_on = threading.Event(), threading.Event()

    def hold():
        with impatient.write():
            holding.set()
            go_on.wait(60)

    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(hold)
        assert holding.wait(60)
        with pytest.raises(StoreBusy):
            everywhere(lambda: add(impatient), lambda: None)
        go_on.set()
        held.result(60)
    add(impatient)
    elsewhere(add, impatient)

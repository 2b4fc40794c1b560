import signal

import pytest

from retold.operations.stopping import STOPS, StopRequests, listen


@pytest.mark.parametrize(
    ("moments", "insists"),
    [
        ([0.0], [False]),
        ([0.0, 0.001, 1.0], [False, False, False]),
        ([5.0, 5.5, 6.1], [False, False, True]),
    ],
)
def test_signals_close_together_are_one_request_and_a_later_one_insists(moments, insists):
    left = iter(moments)
    requests = StopRequests(clock=lambda: next(left))

    assert [requests.note() for _ in moments] == insists


@pytest.mark.parametrize("ignored", [False, True])
def test_hangup_that_was_ignored_stays_ignored(ignored):
    def handler(number, frame): ...

    kept = {each: signal.getsignal(each) for each in STOPS}
    try:
        # Whoever runs the tests may ignore it, as nohup does.
        signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
        before = listen(handler)
        assert signal.getsignal(signal.SIGTERM) is handler
        assert (signal.getsignal(signal.SIGHUP) is handler) is not ignored
        assert (signal.SIGHUP in before) is not ignored
    finally:
        for each, former in kept.items():
            signal.signal(each, former)

import threading

from retold.queue import ThreadQueue

PATIENCE_SECONDS = 30


class Job:
    """Stop at the first session until it is let go, and remember every one."""

    def __init__(self, *failures):
        self.done = []
        self.entered = threading.Event()
        self.let_go = threading.Event()
        self.failures = set(failures)

    def __call__(self, session_id):
        self.entered.set()
        assert self.let_go.wait(PATIENCE_SECONDS)
        self.done.append(session_id)
        if session_id in self.failures:
            raise ValueError("what the user said")


def ended(queue):
    """Wait until the thread found nothing more to do."""
    thread = queue._thread
    if thread is not None:
        thread.join(PATIENCE_SECONDS)
    return queue._thread is None


def test_sessions_are_worked_on_in_order_and_the_thread_ends():
    job = Job()
    queue = ThreadQueue(job, max_pending=10)
    queue.request_extraction("s1")
    assert job.entered.wait(PATIENCE_SECONDS)
    queue.request_extraction("s2"), queue.request_extraction("s3")
    job.let_go.set()

    assert ended(queue)
    assert job.done == ["s1", "s2", "s3"]
    queue.request_extraction("s4")
    assert ended(queue)
    assert job.done[-1] == "s4"


def test_session_that_waits_already_is_worked_on_once():
    job = Job()
    queue = ThreadQueue(job, max_pending=10)
    queue.request_extraction("s1")
    assert job.entered.wait(PATIENCE_SECONDS)
    for _ in range(3):
        queue.request_extraction("s2")
    job.let_go.set()

    assert ended(queue)
    assert job.done == ["s1", "s2"]


def test_what_a_job_raises_stops_nothing_and_its_words_are_not_logged(caplog):
    job = Job("s1")
    job.let_go.set()
    queue = ThreadQueue(job, max_pending=10)
    queue.request_extraction("s1")
    assert ended(queue)
    queue.request_extraction("s2")
    assert ended(queue)

    assert job.done == ["s1", "s2"]
    assert [record.error for record in caplog.records] == ["ValueError"]
    assert "what the user said" not in caplog.text


def test_more_than_may_wait_is_dropped_and_said(caplog):
    job = Job()
    queue = ThreadQueue(job, max_pending=2)
    queue.request_extraction("s1")
    assert job.entered.wait(PATIENCE_SECONDS)
    for name in ("s2", "s3", "s4"):
        queue.request_extraction(name)
    job.let_go.set()

    assert ended(queue)
    assert job.done == ["s1", "s2", "s3"]
    assert [record.session_id for record in caplog.records] == ["s4"]


def test_closing_waits_for_the_running_session_and_forgets_those_that_wait():
    job = Job()
    queue = ThreadQueue(job, max_pending=10)
    queue.request_extraction("s1")
    assert job.entered.wait(PATIENCE_SECONDS)
    queue.request_extraction("s2")

    assert not queue.close(0)
    job.let_go.set()
    assert queue.close(PATIENCE_SECONDS)
    queue.request_extraction("s3")
    assert job.done == ["s1"]


def test_closing_from_within_a_job_does_not_wait_for_itself():
    closed = []
    queue = ThreadQueue(lambda session_id: closed.append(queue.close(None)), max_pending=1)
    queue.request_extraction("s1")
    queue._thread and queue._thread.join(PATIENCE_SECONDS)

    assert closed == [True]


def test_what_is_due_in_the_store_is_taken_up_after_what_was_announced():
    job = Job()
    job.let_go.set()
    due = {"s2", "s3"}
    queue = ThreadQueue(
        job, max_pending=10, due=lambda: sorted(due - set(job.done) | {"s1", "stubborn"})
    )
    queue.request_extraction("s1")

    assert ended(queue)
    assert job.done == ["s1", "s2", "s3", "stubborn"]


def test_failed_session_is_tried_again_after_its_pause():
    """Nobody rings for it; in this process the thread itself waits until it is due."""
    job = Job()
    job.let_go.set()
    pauses = iter([0.001, None])
    queue = ThreadQueue(
        job,
        max_pending=10,
        due=lambda: ["s1"] if job.done.count("s1") < 2 else [],
        pause=lambda: next(pauses),
    )
    queue.request_extraction("s1")

    assert ended(queue)
    assert job.done == ["s1", "s1"]


def test_thread_that_waits_for_a_session_takes_an_announced_one_and_ends_when_closed():
    job, waits = Job(), threading.Event()
    job.let_go.set()

    def pause():
        waits.set()
        return 3600.0

    queue = ThreadQueue(job, max_pending=10, pause=pause)
    queue.request_extraction("s1")
    assert waits.wait(PATIENCE_SECONDS)
    waits.clear()
    queue.request_extraction("s2")
    assert waits.wait(PATIENCE_SECONDS)

    assert job.done == ["s1", "s2"]
    assert queue.close(PATIENCE_SECONDS)


def test_store_that_cannot_be_looked_into_ends_the_thread(caplog):
    def due():
        raise OSError("what the user said")

    job = Job()
    job.let_go.set()
    queue = ThreadQueue(job, max_pending=10, due=due)
    queue.request_extraction("s1")

    assert ended(queue)
    assert "what the user said" not in caplog.text

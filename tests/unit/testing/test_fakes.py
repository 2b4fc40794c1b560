import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from retold.errors import InvalidInput, RerankError, RewriteError
from retold.models import RewriteResult
from retold.protocols import ContentPolicy, JobQueue
from retold.testing import (
    CountingIds,
    FakeClock,
    FakeContentPolicy,
    FakeQueue,
    FakeReranker,
    FakeRewriter,
)


def test_rewriter_captures_queries_and_context():
    rewriter = FakeRewriter({"her?": "Priya?"})

    assert rewriter.rewrite(["her?"], "Priya called") == RewriteResult(("Priya?",), "applied")
    assert rewriter.calls == [(("her?",), "Priya called")]


def test_rewriter_returns_a_fixed_result_unchecked():
    wrong = RewriteResult(("a", "b", "c"), "applied")

    assert FakeRewriter(result=wrong).rewrite(["q"], None) is wrong


@pytest.mark.parametrize("error", [RewriteError("no"), TimeoutError("slow")])
def test_rewriter_raises_what_it_was_given(error):
    rewriter = FakeRewriter(error=error)

    with pytest.raises(type(error)):
        rewriter.rewrite(["q"], None)
    assert rewriter.calls == [(("q",), None)]


def test_reranker_scores_from_its_table():
    reranker = FakeReranker({("q", "a"): 0.9}, default=0.1)

    assert reranker.score("q", ["b", "a"]) == [0.1, 0.9]
    assert reranker.calls == [("q", ("b", "a"))]


def test_reranker_hangs_until_released():
    reranker = FakeReranker(default=0.5)
    reranker.hang()
    answers = []
    thread = threading.Thread(target=lambda: answers.append(reranker.score("q", ["a"])))
    thread.start()
    assert reranker.entered.wait(30)

    assert answers == []
    reranker.release()
    thread.join(30)
    assert answers == [[0.5]]


def test_reranker_fails_until_healed():
    reranker = FakeReranker()
    reranker.fail()

    with pytest.raises(RerankError):
        reranker.score("q", ["a"])
    reranker.heal()
    assert reranker.score("q", ["a"]) == [0.0]


def test_clock_stands_still_until_moved():
    clock = FakeClock()
    start = clock()

    assert clock() == start
    assert clock.advance(days=1, hours=2) == start + timedelta(days=1, hours=2)
    assert clock.advance(timedelta(minutes=1)) == clock()


def test_clock_goes_back_when_set():
    clock = FakeClock()
    clock.set(datetime(2020, 1, 1, tzinfo=UTC))

    assert clock() == datetime(2020, 1, 1, tzinfo=UTC)


def test_clock_refuses_a_naive_moment():
    with pytest.raises(ValueError, match="UTC offset"):
        FakeClock(datetime(2026, 1, 1))


def test_ids_count_and_look_like_uuid7():
    ids = CountingIds()
    found = [ids() for _ in range(300)]

    assert found == sorted(set(found))
    assert found[0] == CountingIds.nth(1)
    assert all(UUID(each).version == 7 for each in found)
    assert all(
        UUID(each).variant == UUID("00000000-0000-7000-8000-000000000000").variant for each in found
    )


def test_queue_remembers_what_was_announced():
    queue = FakeQueue()
    queue.request_extraction("s1")
    queue.request_extraction("s1")

    assert isinstance(queue, JobQueue)
    assert queue.requested == ["s1", "s1"]


def test_content_policy_redacts_and_refuses_without_repeating_the_text():
    policy = FakeContentPolicy({"hunter2": "***"}, refuse={"AB123": "passport number"})

    assert isinstance(policy, ContentPolicy)
    assert policy.apply("my password is hunter2", where="turn") == "my password is ***"
    with pytest.raises(InvalidInput, match="passport number") as refused:
        policy.apply("passport AB123", where="write")
    assert "AB123" not in str(refused.value)
    assert policy.seen[1] == ("write", "passport AB123")


def test_testing_package_does_not_import_pytest():
    code = "import sys, retold.testing; print('pytest' in sys.modules)"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    assert other.stdout.decode().strip() == "False"

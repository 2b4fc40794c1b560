"""``review-due`` asks for a second look, once, and decides nothing."""

from dataclasses import fields
from datetime import timedelta

import pytest

from retold.config import ReviewsConfig, parse_config
from retold.operations.maintenance.review_due import (
    KIND,
    backlog_state,
    flag_due_reviews,
    list_due_reviews,
)
from retold.store.reviews import Backlog, ReviewRepository
from tests.maintenance_support import (
    CFG,
    LONG_AGO,
    TODAY,
    Clock,
    at_once,
    dump,
    open_at,
    reviewable_store,
)
from tests.store_support import problems, remember


@pytest.fixture
def path(tmp_path):
    reviewable_store(tmp_path / "memory.db")
    return tmp_path / "memory.db"


def records_of(store):
    with store.read() as tx:
        seqs = [row[0] for row in tx.run("select seq from records order by seq")]
        return list(tx.records.by_seqs(seqs).values())


def test_due_record_is_flagged_with_one_event_and_one_question(path):
    """LLD 8.4."""
    with open_at(path, Clock()) as store:
        outcome = flag_due_reviews(store, CFG, pace=at_once())
        with store.read() as tx:
            events = tx.events.list_by_kind("record.review_due")
            questions = ReviewRepository(tx).page(KIND)
        due = [record for record in records_of(store) if record.content.startswith("plan")]

    assert [one.record_id for one in outcome.flagged] == [record.id for record in due]
    assert [event.record_id for event in events] == [record.id for record in due]
    assert [one.record_id for one in questions] == [record.id for record in due]
    assert {event.actor for event in events} == {"temporal_reviewer"}
    assert events[0].payload == {
        "review_at": (LONG_AGO + timedelta(days=1)).isoformat(timespec="microseconds"),
        "valid_from": None,
        "valid_until": None,
    }
    assert {record.review_flagged_at for record in due} == {TODAY}
    assert outcome.waiting == 0
    assert problems(path) == []


def test_flagging_changes_nothing_else_about_a_record(path):
    """Content, source, evidence and status stay: that a time came is no evidence."""
    with open_at(path, Clock()) as store:
        before = records_of(store)
        flag_due_reviews(store, CFG, pace=at_once())
        after = records_of(store)

    changed = {
        field.name
        for old, new in zip(before, after, strict=True)
        for field in fields(old)
        if getattr(old, field.name) != getattr(new, field.name)
    }
    assert changed == {"review_flagged_at", "revision"}


def test_second_of_two_reviewers_that_found_the_same_record_does_not_flag_it(path):
    """LLD 17.3. Without the condition on ``review_flagged_at`` in ``flag`` it fails."""
    with open_at(path, Clock()) as one, open_at(path, Clock()) as two:
        found = []
        for store in (one, two):
            with store.read() as tx:
                found.append(ReviewRepository(tx).due_records(TODAY, ("", 0), 1))
        assert found[0] == found[1]
        flagged = []
        for store in (one, two):
            with store.write() as tx:
                flagged.append(ReviewRepository(tx).flag(found[0][0][1], TODAY))

    assert flagged[0] is not None
    assert flagged[1] is None


def test_one_run_takes_one_bounded_batch_the_longest_due_first(path):
    cfg = parse_config({"ingestion": {"temporal_review_batch_size": 2}})
    with open_at(path, Clock()) as store:
        runs = [flag_due_reviews(store, cfg, pace=at_once()) for _ in range(4)]
        names = {record.id: record.content for record in records_of(store)}

    assert [[names[one.record_id] for one in run.flagged] for run in runs] == [
        ["plan 0", "plan 1"],
        ["plan 2", "plan 3"],
        ["plan 4"],
        [],
    ]
    assert [run.waiting for run in runs] == [3, 1, 0, 0]
    assert [run.backlog.open for run in runs] == [2, 4, 5, 5]


def test_record_that_left_before_its_review_is_not_flagged(path):
    """Superseded, forgotten, or past its expiry whether or not somebody closed it."""
    with open_at(path, Clock()) as store:
        with store.write() as tx:
            tx.run("update records set status = 'superseded' where content = 'plan 0'")
            tx.run("update records set status = 'expired' where content = 'plan 1'")
            remember(
                tx,
                "over",
                review_at=LONG_AGO + timedelta(days=2),
                expires_at=LONG_AGO + timedelta(days=3),
            )
        flagged = flag_due_reviews(store, CFG, pace=at_once()).flagged
        names = {record.id: record.content for record in records_of(store)}

    assert [names[one.record_id] for one in flagged] == ["plan 2", "plan 3", "plan 4"]


def test_question_about_a_record_that_is_history_closes_by_itself(path):
    """Else the backlog could only grow, and would be breached for ever."""
    with open_at(path, Clock()) as store:
        flag_due_reviews(store, CFG, pace=at_once())
        with store.write() as tx:
            tx.run("update records set status = 'superseded' where content = 'plan 0'")
            tx.run(
                "update records set expires_at = :at, expires_us = 0 where content = 'plan 1'",
                {"at": LONG_AGO.isoformat(timespec="microseconds")},
            )
        outcome = flag_due_reviews(store, CFG, pace=at_once())
        with store.read() as tx:
            answered = list(
                tx.run(
                    "select resolution, resolver, resolved_at from reviews"
                    " where status = 'resolved' order by seq"
                )
            )
            events = tx.events.list_by_kind("review.closed")
        again = dump(store, "job_runs")
        flag_due_reviews(store, CFG, pace=at_once())

        moment = TODAY.isoformat(timespec="microseconds")
        assert answered == [
            ("superseded", "temporal_reviewer", moment),
            ("expired", "temporal_reviewer", moment),
        ]
        assert (outcome.closed, outcome.backlog.open, len(outcome.flagged)) == (2, 3, 0)
        assert [event.payload["resolution"] for event in events] == ["superseded", "expired"]
        assert dump(store, "job_runs") == again


def test_open_question_of_a_kind_is_asked_once_per_record(path):
    with open_at(path, Clock()) as store, store.write() as tx:
        reviews = ReviewRepository(tx)
        first = reviews.open(KIND, 1, reason="review_at_reached", payload={})
        second = reviews.open(KIND, 1, reason="review_at_reached", payload={})
        other = reviews.open("activation", 1, reason="unsafe", payload={})

    assert first is not None
    assert second is None
    assert other is not None


def test_list_goes_on_after_a_page(path):
    with open_at(path, Clock()) as store:
        flag_due_reviews(store, CFG, pace=at_once())
        first, backlog = list_due_reviews(store, CFG, limit=3)
        rest, _ = list_due_reviews(store, CFG, after=first[-1].id, limit=3)

    assert (len(first), len(rest)) == (3, 2)
    assert len({one.id for one in (*first, *rest)}) == 5
    assert (backlog.open, backlog.oldest) == (5, TODAY)


LIMITS = ReviewsConfig(max_open=2, max_age_days=7)


@pytest.mark.parametrize(
    ("backlog", "reasons"),
    [
        (Backlog(0, None), 0),
        (Backlog(2, TODAY - timedelta(days=7)), 0),
        (Backlog(3, TODAY), 1),
        (Backlog(1, TODAY - timedelta(days=7, microseconds=1)), 1),
        (Backlog(3, TODAY - timedelta(days=8)), 2),
    ],
    ids=["none", "at both limits", "too many", "too old", "both"],
)
def test_backlog_is_breached_strictly_above_its_limits(backlog, reasons):
    state = backlog_state(backlog, TODAY, LIMITS)

    assert len(state.reasons) == reasons
    assert state.is_breached == bool(reasons)


def test_backlog_without_a_limit_that_any_calendar_holds_is_never_too_old():
    limits = ReviewsConfig(max_open=2, max_age_days=10**12)

    assert not backlog_state(Backlog(1, LONG_AGO), TODAY, limits).is_breached

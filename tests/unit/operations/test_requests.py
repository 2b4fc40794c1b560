from dataclasses import replace
from datetime import timedelta

import pytest

from retold.errors import InvalidInput, NotFound
from retold.operations.requests import decide_request, request_extraction
from retold.operations.steps import ExtractionSteps
from retold.operations.waiting_sessions import (
    drop_selected,
    list_selected,
    retry_selected,
    show_selected,
)
from retold.testing import MemoryLab
from tests.unit.operations.test_steps import Work, events, requested, state_of
from tests.unit.policy.test_claims import MOMENT, NOW, WAITING

DONE = {"extracted_at": MOMENT}
UNASKED = {"requested_at": None}
HOUR = timedelta(hours=1)


@pytest.fixture
def lab():
    with MemoryLab.open(settings={"queue": {"max_attempts": 2}}) as opened:
        yield opened


@pytest.mark.parametrize(
    ("facts", "plain", "forced"),
    [
        pytest.param(UNASKED, "requested", "requested", id="nobody asked before"),
        pytest.param({}, "waits_already", "again", id="waits"),
        pytest.param({"failed_at": NOW}, "put_back", "again", id="set aside"),
        pytest.param(DONE, "extracted", "again", id="done"),
        pytest.param(DONE | UNASKED, "extracted", "again", id="done, then taken off the list"),
        pytest.param(DONE | {"mode": "rerun"}, "waits_already", "again", id="being done again"),
    ],
)
def test_wish_of_an_operator_is_decided_by_where_the_segment_stands(facts, plain, forced):
    state = replace(WAITING, **facts)

    assert decide_request(state, recorded=True, has_words=True) == plain
    assert decide_request(state, recorded=True, has_words=True, force=True) == forced
    assert decide_request(state, recorded=True, has_words=False, force=True) == "words_gone"
    assert decide_request(state, recorded=False, has_words=False, force=True) == "no_transcript"


def said(lab, name, *, user="ana", record=True):
    principal = lab.session(user, session_id=name, record=record).principal
    lab.runtime.hooks.on_turn(principal, "user", "I live in Porto.")
    return lab.runtime.hooks.on_session_end(principal).id


def ask(lab, session, **options):
    return request_extraction(lab.store, session, actor="sam", **options)


def test_all_segments_of_a_conversation_are_asked_for_by_its_own_id(lab):
    ids = [said(lab, "monday"), said(lab, "monday")]
    done = ExtractionSteps(lab.store, lab.config, Work(lab))
    ask(lab, ids[0])
    done.run(ids[0])

    answers = ask(lab, "monday")

    assert [(one.session_id, one.segment, one.answer) for one in answers] == [
        (ids[0], 1, "extracted"),
        (ids[1], 2, "requested"),
    ]
    with pytest.raises(InvalidInput, match="pass --force"):
        ask(lab, ids[0])
    assert [one.answer for one in ask(lab, "monday", force=True)] == ["again", "again"]


def test_force_takes_the_right_to_commit_from_whoever_works_on_it(lab):
    session_id = requested(lab)
    with lab.store.write() as tx:
        claim = tx.claims.take(tx.claims.require(session_id), attempts=1)

    ask(lab, session_id, force=True)

    assert state_of(lab, session_id).token != claim.token
    assert state_of(lab, session_id).mode == "rerun"
    with lab.store.read() as tx:
        (event,) = tx.events.list_by_kind("extraction.rerun")
    assert (event.actor, event.session_id) == ("sam", session_id)
    assert ExtractionSteps(lab.store, lab.config, Work(lab)).run(session_id).done == "reviewed"


def test_session_is_named_clearly_or_refused(lab):
    said(lab, "monday"), said(lab, "monday", user="omar")
    said(lab, "private", record=False)
    blanked = said(lab, "gone")
    with lab.store.write() as tx:
        tx.run(
            "update session_turns set content = '', blanked_at = ? where session_seq ="
            " (select seq from sessions where id = ?)",
            ("2026-01-15T09:00:00.000000+00:00", blanked),
        )

    with pytest.raises(NotFound, match="retold sessions list"):
        ask(lab, "nothing")
    with pytest.raises(NotFound, match="retold sessions list"):
        ask(lab, "monday", user_id="somebody else")
    with pytest.raises(InvalidInput, match="2 conversations"):
        ask(lab, "monday")
    with pytest.raises(InvalidInput, match="keeps no transcript"):
        ask(lab, "private")
    with pytest.raises(InvalidInput, match="were removed"):
        ask(lab, blanked, force=True)
    assert ask(lab, "monday", user_id="omar")[0].user_id == "omar"


def set_aside(lab, name):
    session_id = requested(lab, name)
    with lab.store.write() as tx:
        tx.claims.bury(session_id, "invalid_completion")
    return session_id


def listed(lab, selection, **page):
    found = list_selected(lab.store, lab.config, selection, **page)
    return [(one.session_id, one.standing) for one in found.sessions]


def test_each_selection_lists_what_it_is_about(lab):
    lost = requested(lab, "lost")
    with lab.store.write() as tx:
        tx.claims.take(tx.claims.require(lost), attempts=1)
    lab.clock.advance(minutes=31)
    due, later, dead = requested(lab, "due"), requested(lab, "later"), set_aside(lab, "dead")
    with lab.store.write() as tx:
        next_at = tx.now + HOUR
        tx.claims.postpone(later, attempts=1, next_at=next_at, error="provider_outage")

    assert listed(lab, "pending") == [(lost, "lost"), (due, "due"), (later, "later")]
    assert listed(lab, "stale") == [(lost, "lost")]
    assert listed(lab, "failed") == [(dead, "set_aside")]
    first = list_selected(lab.store, lab.config, "pending", limit=2)
    assert first.next == due
    assert listed(lab, "pending", after=due, limit=2) == [(later, "later")]


def test_retry_gives_dead_letters_all_their_attempts_again(lab):
    dead, other = set_aside(lab, "dead"), set_aside(lab, "other")

    (row,) = retry_selected(lab.store, lab.config, "failed", [dead], actor="sam")

    assert (row.session_id, row.standing, row.attempts, row.error) == (dead, "due", 0, None)
    assert listed(lab, "failed") == [(other, "set_aside")]
    assert [one.session_id for one in retry_selected(lab.store, lab.config, "failed", actor="x")]
    assert events(lab)[-2:] == ["extraction.rerun", "extraction.rerun"]


def test_retry_frees_what_a_lost_worker_holds_and_ends_waits(lab):
    lost, later = requested(lab, "lost"), requested(lab, "later")
    with lab.store.write() as tx:
        tx.claims.take(tx.claims.require(lost), attempts=1)
        tx.claims.postpone(later, attempts=1, next_at=tx.now + HOUR, error="x")
    lab.clock.advance(minutes=31)

    retry_selected(lab.store, lab.config, "stale", actor="sam")
    assert listed(lab, "pending") == [(lost, "due"), (later, "later")]
    assert events(lab) == ["extraction.reclaimed"]
    retry_selected(lab.store, lab.config, "pending", actor="sam")
    assert listed(lab, "pending") == [(lost, "due"), (later, "due")]
    assert state_of(lab, later).attempts == 1


def test_retry_of_what_waits_leaves_a_worker_alone(lab):
    session_id = requested(lab)
    with lab.store.write() as tx:
        claim = tx.claims.take(tx.claims.require(session_id), attempts=1)

    (row,) = retry_selected(lab.store, lab.config, "pending", actor="sam")

    assert row.standing == "worked_on"
    assert state_of(lab, session_id).token == claim.token


def test_dropped_session_leaves_the_list_with_what_was_staged_and_keeps_its_words(lab):
    dead = set_aside(lab, "dead")
    with lab.store.write() as tx:
        tx.run(
            "insert into extraction_drafts(session_seq, position, kind, draft, prompt_version,"
            " created_at) select seq, 1, 'candidate', '{}', 'extract-1', started_at from sessions"
        )

    drop_selected(lab.store, lab.config, "failed", [dead], actor="sam")

    assert (listed(lab, "failed"), listed(lab, "pending")) == ([], [])
    assert lab.retold.row_counts()["extraction_drafts"] == 0
    assert lab.retold.row_counts()["session_turns"] == 1
    assert events(lab) == ["extraction.dropped"]
    assert drop_selected(lab.store, lab.config, "failed", [], actor="sam") == ()


def test_list_takes_the_hosts_own_id_for_what_it_has_of_one_conversation(lab):
    dead, done, waits = said(lab, "monday"), said(lab, "monday"), said(lab, "monday")
    for each in (dead, done, waits):
        ask(lab, each)
    with lab.store.write() as tx:
        tx.claims.bury(dead, "invalid_completion")
        tx.claims.finish(done)

    shown, _ = show_selected(lab.store, lab.config, "pending", "monday")
    assert shown.session_id == waits
    (back,) = retry_selected(lab.store, lab.config, "failed", ["monday", dead], actor="sam")
    assert back.session_id == dead
    with pytest.raises(InvalidInput, match=f"{dead} .segment 1 of 'ana'.*{waits} .segment 3"):
        show_selected(lab.store, lab.config, "pending", "monday")
    dropped = drop_selected(lab.store, lab.config, "pending", ["monday"], actor="sam")
    assert [one.session_id for one in dropped] == [dead, waits]
    with pytest.raises(InvalidInput, match="session 'monday' does not wait"):
        show_selected(lab.store, lab.config, "pending", "monday")


def test_hosts_id_of_several_conversations_is_refused_with_the_choices(lab):
    ids = [said(lab, "monday", user=f"user{number}") for number in range(12)]
    for each in ids:
        ask(lab, each)

    for change in (retry_selected, drop_selected):
        with pytest.raises(
            InvalidInput, match="12 sessions of the list have the id 'monday'"
        ) as no:
            change(lab.store, lab.config, "pending", ["monday"], actor="sam")
        assert f"{ids[0]} (segment 1 of 'user0' with " in no.value.message
        assert no.value.message.endswith("and 2 more")
    assert len(listed(lab, "pending")) == 12
    (one,) = retry_selected(lab.store, lab.config, "pending", [ids[3]], actor="sam")
    assert one.session_id == ids[3]


def test_session_outside_the_selection_is_refused_before_anything_changes(lab):
    dead, waiting = set_aside(lab, "dead"), requested(lab, "waiting")

    for verb in (retry_selected, drop_selected):
        with pytest.raises(InvalidInput, match="was not set aside"):
            verb(lab.store, lab.config, "failed", [dead, waiting], actor="sam")
        with pytest.raises(NotFound, match="retold extract --failed"):
            verb(lab.store, lab.config, "failed", [dead, "nobody"], actor="sam")
    with pytest.raises(InvalidInput, match="not held by a worker"):
        show_selected(lab.store, lab.config, "stale", waiting)

    row, told = show_selected(lab.store, lab.config, "failed", dead)
    assert (row.error, row.standing) == ("invalid_completion", "set_aside")
    assert [event.kind for event in told] == ["session.started", "session.ended"]

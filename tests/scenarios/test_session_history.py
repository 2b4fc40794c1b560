"""Conversations that are over, stored through ``hooks.on_history``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from retold import InvalidInput
from retold.ingest.history import HistoryCount, PastTurn
from retold.ingest.turns import NewTurn
from retold.models import Principal
from retold.testing import FakeContentPolicy, MemoryLab

ANA = Principal("helper", "ana")
OLD = datetime(2019, 5, 8, 13, 56, tzinfo=UTC)


@pytest.fixture
def lab():
    """Return a lab with the fakes' answers."""
    with MemoryLab.open() as opened:
        yield opened


def past(session, key, content="I like green tea.", role="user", **fields):
    return PastTurn(session, NewTurn(role, content, external_key=key, **{"at": OLD, **fields}))


def store(lab, *turns, principal=ANA, **options):
    return lab.runtime.hooks.on_history(principal, turns, **options)


def segments(lab, session, principal=ANA):
    with lab.store.read() as tx:
        latest = tx.sessions.latest(principal.agent_id, principal.user_id, session)
        return tx.sessions.segments(latest.conversation_id)


def turns(lab, session, principal=ANA):
    with lab.store.read() as tx:
        latest = tx.sessions.latest(principal.agent_id, principal.user_id, session)
        return tx.sessions.turns(latest.conversation_id)


def test_history_is_ended_at_once_and_nothing_asks_for_its_extraction(lab):
    counted = store(lab, past("2019", "t1"), past("2019", "t2"), past("2020", "t1"))

    assert counted == HistoryCount(new=3, known=0, sessions=2)
    (segment,) = segments(lab, "2019")
    assert (segment.ended_by, segment.ended_at) == ("host", lab.clock())
    assert (segment.extraction_requested_at, segment.extracted_at) == (None, None)
    assert lab.queue.requested == []


def test_history_keeps_the_time_name_and_key_of_every_turn(lab):
    store(
        lab,
        past("2019", "t1", name="Ana"),
        past("2019", "t2", "sunny", role="tool", tool_name="weather", at=OLD + timedelta(days=1)),
        past("2019", "t3", "Sure.", role="assistant", name="Max", at=None),
    )

    shown = [(t.turn, t.role, t.origin, t.name, t.tool_name, t.at) for t in turns(lab, "2019")]
    assert shown == [
        (1, "user", "dialogue", "Ana", None, OLD),
        (2, "tool", "tool", None, "weather", OLD + timedelta(days=1)),
        (3, "assistant", "dialogue", "Max", None, lab.clock()),
    ]
    assert [turn.external_key for turn in turns(lab, "2019")] == ["t1", "t2", "t3"]


def test_history_again_writes_nothing_at_all(lab):
    """Taking the write lock when every turn is known makes this fail."""
    given = [past("2019", "t1"), past("2019", "t2")]
    store(lab, *given)
    before = lab.row_counts()
    with lab.reopen().store.write():
        counted = store(lab, *given)

    assert counted == HistoryCount(new=0, known=2, sessions=0)
    assert lab.row_counts() == before


def test_history_in_several_calls_is_one_segment(lab):
    store(lab, past("2019", "t1"))
    lab.clock.advance(days=1)
    counted = store(lab, past("2019", "t1"), past("2019", "t2"), past("2019", "t2"))

    assert counted == HistoryCount(new=1, known=2, sessions=0)
    assert [one.segment for one in segments(lab, "2019")] == [1]
    assert [turn.turn for turn in turns(lab, "2019")] == [1, 2]


def test_history_of_a_segment_handed_to_the_extractor_goes_to_a_further_one(lab):
    """Growing the old segment would leave the new turns out of every extraction."""
    store(lab, past("2019", "t1"))
    with lab.store.write() as tx:
        tx.sessions.request_extraction(segments_now(tx, "2019")[0].id)
    store(lab, past("2019", "t2"))
    store(lab, past("2019", "t1"), past("2019", "t3"))

    first, second = segments(lab, "2019")
    assert (second.ended_by, second.extraction_requested_at) == ("host", None)
    assert [(turn.session_id, turn.turn) for turn in turns(lab, "2019")] == [
        (first.id, 1),
        (second.id, 1),
        (second.id, 2),
    ]


def segments_now(tx, session):
    latest = tx.sessions.latest("helper", "ana", session)
    return tx.sessions.segments(latest.conversation_id)


def test_history_leaves_an_open_conversation_open(lab):
    session = lab.session(session_id="live")
    session.turn("user", "said today", external_key="now")
    store(lab, past("live", "t1"))
    session.turn("user", "said later")

    assert [one.ended_at for one in segments(lab, "live")] == [None]
    assert [turn.content for turn in turns(lab, "live")] == [
        "said today",
        "I like green tea.",
        "said later",
    ]


def test_history_of_a_conversation_off_the_record_is_refused(lab):
    lab.session(session_id="private", record=False).finish()
    before = lab.row_counts()
    with pytest.raises(InvalidInput, match="keeps no transcript") as refusal:
        store(lab, past("2019", "t1"), past("private", "t1"))

    assert refusal.value.details == {"field": "session_id", "position": 1}
    assert lab.row_counts() == before


WRONG = {
    "no key": (past("2019", None), "external_key"),
    "key of another message": (past("2019", "known", "something else"), "external_key"),
    "unknown role": (past("2019", "t2", role="narrator"), "role"),
    "NUL": (past("2019", "t2", "a\x00b"), "content"),
    "lone surrogate": (past("2019", "t2", "a\ud800"), "content"),
    "blank name": (past("2019", "t2", name=" "), "name"),
    "mark of a segment": (past("a~2", "t2"), "session_id"),
    "blank session": (past(" ", "t2"), "session_id"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_history_with_one_wrong_turn_stores_nothing_and_says_which(lab, wrong):
    store(lab, past("2019", "known"))
    before = lab.row_counts()
    turn, field = WRONG[wrong]
    with pytest.raises(InvalidInput) as refusal:
        store(lab, past("2019", "t1"), turn)

    assert (refusal.value.details["position"], refusal.value.details["field"]) == (1, field)
    assert lab.row_counts() == before


def test_history_keeps_the_place_of_a_turn_without_words(lab):
    store(lab, past("2019", "t1"), past("2019", "t2", " \n"), past("2019", "t3"))
    counted = store(lab, past("2019", "t2", " \n"))

    assert counted.known == 1
    assert [turn.content for turn in turns(lab, "2019")][1:2] == [""]


def test_history_is_apart_for_every_user_and_agent(lab):
    others = [Principal("helper", "bob"), Principal("critic", "ana")]
    for principal in (ANA, *others):
        counted = store(lab, past("2019", "t1", f"I am {principal}"), principal=principal)
        assert counted == HistoryCount(new=1, known=0, sessions=1)

    assert [turn.content for turn in turns(lab, "2019", others[0])] == [f"I am {others[0]}"]


def test_history_passes_the_content_policy_before_it_is_stored():
    with MemoryLab.open(content_policy=FakeContentPolicy({"tea": "[drink]"})) as lab:
        store(lab, past("2019", "t1"))

        assert store(lab, past("2019", "t1")).known == 1
        assert [turn.content for turn in turns(lab, "2019")] == ["I like green [drink]."]


def test_history_is_told_in_the_audit_trail_by_counts_alone(lab):
    store(lab, past("2019", "t1"), past("2019", "t2"), actor="carol")
    store(lab, past("2019", "t3"))

    with lab.store.read() as tx:
        kinds = ("session.started", "session.imported", "session.ended")
        found = [event for kind in kinds for event in tx.events.list_by_kind(kind)]
        assert tx.events.verify() is None
    assert [(event.kind, event.actor, event.payload) for event in found] == [
        ("session.started", "carol", {"segment": 1}),
        ("session.imported", "carol", {"segment": 1, "turns": 2}),
        ("session.imported", "helper", {"segment": 1, "turns": 1}),
        ("session.ended", "carol", {"segment": 1}),
    ]
    assert {event.user_id for event in found} == {"ana"}


def test_claim_with_a_quote_from_history_is_as_old_as_its_turn(lab):
    """B56: the event keeps its own time, and what the store knew then stays empty."""
    store(lab, past("2019", "t1", "I live in Oslo now."))
    session = lab.session(session_id="2019")
    kept = session.remember("The user lives in Oslo", evidence="I live in Oslo now.")

    record = session.get(kept.record_id).found[0]
    assert (record.event_at, record.source_kind) == (OLD, "user_statement")
    assert not session.search("Where does the user live? Oslo", known_at=OLD + timedelta(days=9))
    assert session.search("The user lives in Oslo", as_of=OLD + timedelta(days=9))


def test_quote_of_an_assistant_in_history_makes_no_statement_of_the_user(lab):
    """B03: other speakers are assistants, and their words are not the user's."""
    store(lab, past("2019", "t1", "You live in Oslo, right?", role="assistant", name="Max"))
    session = lab.session(session_id="2019")
    kept = session.remember(
        "The user lives in Oslo", evidence="You live in Oslo, right?", allow_inference=True
    )

    assert session.get(kept.record_id).found[0].source_kind != "user_statement"

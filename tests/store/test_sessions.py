"""Conversations, segments and turns."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from retold.errors import InvalidInput, NotFound
from retold.models import Principal, Turn

ANA = Principal("assistant", "ana", "chat", "acme/repo")


@pytest.fixture
def started(store):
    with store.write() as tx:
        return tx.sessions.start(ANA, "chat")


def test_sessions_start_makes_the_first_segment(store, clock, started):
    assert started.external_id == "chat"
    assert started.id == started.conversation_id != "chat"
    assert (started.segment, started.project_id) == (1, "acme/repo")
    assert (started.started_at, started.ended_at, started.last_turn_at) == (clock.now, None, None)
    with store.read() as tx:
        assert tx.sessions.get(started.id) == started
        assert tx.sessions.latest("assistant", "ana", "chat") == started
        assert tx.sessions.is_recorded(started.id)


def test_sessions_start_again_returns_the_open_segment(store, started):
    with store.write() as tx:
        assert tx.sessions.start(ANA, "chat") == started


@pytest.mark.parametrize(
    "other",
    [Principal("other", "ana"), Principal("assistant", "bo")],
    ids=["other agent", "other user"],
)
def test_sessions_with_one_external_id_never_meet_across_principals(store, started, other):
    with store.write() as tx:
        foreign = tx.sessions.start(other, "chat")

        assert foreign.conversation_id != started.conversation_id
        tx.sessions.append_turn(foreign.id, "user", "mine", external_key="1")
        assert tx.sessions.append_turn(started.id, "user", "yours", external_key="1").turn == 1
        assert [turn.content for turn in tx.sessions.turns(started.conversation_id)] == ["yours"]


@pytest.mark.parametrize("external_id", ["chat~2", "~", "", " ", "a\nb"])
def test_sessions_start_refuses_unusable_ids(store, external_id):
    with store.write() as tx, pytest.raises(InvalidInput, match="session_id"):
        tx.sessions.start(ANA, external_id)


def test_sessions_number_turns_from_one_and_keep_every_field(store, clock, started):
    moment = datetime(2026, 1, 5, 9, tzinfo=UTC)
    with store.write() as tx:
        first = tx.sessions.append_turn(
            started.id,
            "tool",
            "42 rows",
            origin="tool",
            at=moment,
            name="db",
            tool_name="query",
            external_key="m1",
        )
        second = tx.sessions.append_turn(started.id, "user", "thanks")

        assert (first.turn, second.turn, second.at) == (1, 2, clock.now)
        assert (first.at, first.name, first.tool_name) == (moment, "db", "query")
        assert tx.sessions.turns_of(started.id) == [first, second]


def test_sessions_last_turn_is_the_stores_moment_whatever_the_turn_claims(store, clock, started):
    clock.advance(minutes=5)
    with store.write() as tx:
        tx.sessions.append_turn(started.id, "user", "hello", at=datetime(2031, 1, 1, tzinfo=UTC))

        assert tx.sessions.require(started.id).last_turn_at == clock.now


def test_sessions_external_key_returns_the_stored_turn_once_recorded(store, started):
    with store.write() as tx:
        first = tx.sessions.append_turn(started.id, "user", "hello", external_key="m1")
        again = tx.sessions.append_turn(started.id, "user", "hello", external_key="m1")

        assert again == first
        assert tx.sessions.turns_of(started.id) == [first]


@pytest.mark.parametrize(("role", "content"), [("user", "bye"), ("assistant", "hello")])
def test_sessions_external_key_refuses_another_message(store, started, role, content):
    with store.write() as tx:
        tx.sessions.append_turn(started.id, "user", "hello", external_key="m1")

        with pytest.raises(InvalidInput, match="m1") as caught:
            tx.sessions.append_turn(started.id, role, content, external_key="m1")
        assert "bye" not in str(caught.value)
        assert len(tx.sessions.turns_of(started.id)) == 1


def test_sessions_external_key_holds_across_segments_and_opens_none(store, started):
    """An adapter that replays its history after an idle gap must not record it twice."""
    with store.write() as tx:
        first = tx.sessions.append_turn(started.id, "user", "hello", external_key="m1")
        tx.sessions.end(started.id, "idle")

        assert tx.sessions.append_turn(started.id, "user", "hello", external_key="m1") == first
        assert len(tx.sessions.segments(started.conversation_id)) == 1


def test_sessions_external_key_of_a_blanked_turn_brings_nothing_back(store, started):
    """Without the blanked test in ``turn_by_key`` a replay would undo an erasure or fail."""
    with store.write() as tx:
        first = tx.sessions.append_turn(started.id, "user", "secret", external_key="m1")
        tx.run("update session_turns set content = '', blanked_at = 'x'")

        again = tx.sessions.append_turn(started.id, "user", "secret", external_key="m1")
        assert again == replace(first, content="")


@pytest.mark.parametrize("ended_by", ["host", "idle"])
def test_sessions_new_turn_on_an_ended_session_continues_as_a_new_segment(
    store, clock, started, ended_by
):
    with store.write() as tx:
        tx.sessions.append_turn(started.id, "user", "one")
        assert tx.sessions.end(started.id, ended_by)
    clock.advance(hours=2)
    with store.write() as tx:
        turn = tx.sessions.append_turn(started.id, "user", "two")
        later = tx.sessions.append_turn(started.id, "user", "three")

        latest = tx.sessions.latest("assistant", "ana", "chat")
        assert turn.session_id == later.session_id == latest.id != started.id
        assert (turn.turn, later.turn) == (1, 2)
        assert (latest.segment, latest.conversation_id) == (2, started.id)
        assert (latest.external_id, latest.project_id) == ("chat", "acme/repo")
        assert latest.started_at == clock.now
        assert [turn.content for turn in tx.sessions.turns(started.id)] == ["one", "two", "three"]
        assert [turn.content for turn in tx.sessions.turns_of(started.id)] == ["one"]
        assert tx.sessions.require(started.id).ended_by == ended_by


def test_sessions_start_on_an_ended_conversation_continues_it(store, started):
    with store.write() as tx:
        tx.sessions.end(started.id, "host")
        again = tx.sessions.start(ANA, "chat")

        assert (again.segment, again.conversation_id) == (2, started.id)


def test_sessions_end_tells_whether_it_did(store, clock, started):
    with store.write() as tx:
        assert tx.sessions.end(started.id, "host")
        assert not tx.sessions.end(started.id, "idle")
        assert tx.sessions.require(started.id).ended_by == "host"
        assert tx.sessions.require(started.id).ended_at == clock.now


def test_sessions_request_extraction_keeps_the_first_moment(store, clock, started):
    with store.write() as tx:
        assert tx.sessions.request_extraction(started.id)
    first = clock.now
    clock.advance(hours=1)
    with store.write() as tx:
        assert not tx.sessions.request_extraction(started.id)
        assert tx.sessions.require(started.id).extraction_requested_at == first


def test_sessions_unrecorded_session_keeps_no_transcript(store):
    """Without the check of ``recorded`` in ``append_turn`` the words would be stored."""
    with store.write() as tx:
        session = tx.sessions.start(ANA, "off the record", recorded=False)

        with pytest.raises(InvalidInput, match="keeps no transcript"):
            tx.sessions.append_turn(session.id, "user", "hello")
        assert tx.meta.row_counts()["session_turns"] == 0


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("ended", [True, False])
def test_sessions_start_continues_with_the_record_it_is_asked_for(store, first, ended):
    """Without the comparison in ``_resumed`` words said off the record would be stored."""
    with store.write() as tx:
        session = tx.sessions.start(ANA, "chat", recorded=first)
        if ended:
            tx.sessions.end(session.id, "host")

        again = tx.sessions.start(ANA, "chat", recorded=not first)
        assert tx.sessions.is_recorded(again.id) is not first
        assert (again.segment, again.conversation_id) == (2, session.id)
        assert tx.sessions.require(session.id).ended_by == "host"
        assert tx.sessions.start(ANA, "chat", recorded=not first) == again


@pytest.mark.parametrize("first", [True, False])
def test_sessions_earlier_segment_is_no_way_around_the_record(store, first):
    with store.write() as tx:
        session = tx.sessions.start(ANA, "chat", recorded=first)
        tx.sessions.start(ANA, "chat", recorded=not first)

        with pytest.raises(InvalidInput, match="keeps no transcript"):
            tx.sessions.append_turn(session.id, "user", "hello")
        assert tx.meta.row_counts()["session_turns"] == 0


def test_sessions_list_idle_finds_silent_open_segments_longest_first(store, clock):
    with store.write() as tx:
        ended = tx.sessions.start(ANA, "ended")
        tx.sessions.end(ended.id, "host")
        spoken = tx.sessions.start(ANA, "spoken")
        silent = tx.sessions.start(ANA, "silent")
    clock.advance(minutes=10)
    with store.write() as tx:
        tx.sessions.append_turn(spoken.id, "user", "hello")
    clock.advance(minutes=10)
    with store.write() as tx:
        tx.sessions.start(ANA, "young")

        assert [found.id for found in tx.sessions.list_idle(clock.now)] == [silent.id, spoken.id]
        assert [found.id for found in tx.sessions.list_idle(clock.now, limit=1)] == [silent.id]


def test_sessions_list_for_user_pages_oldest_first(store):
    with store.write() as tx:
        ids = [tx.sessions.start(ANA, f"chat {number}").id for number in range(3)]
        tx.sessions.start(Principal("other", "ana"), "chat")
        tx.sessions.start(Principal("assistant", "bo"), "chat")

        mine = tx.sessions.list_for_user("ana", agent_id="assistant")
        assert [session.id for session in mine] == ids
        page = tx.sessions.list_for_user("ana", agent_id="assistant", after=ids[0], limit=1)
        assert [session.id for session in page] == ids[1:2]
        assert len(tx.sessions.list_for_user("ana")) == 4


@pytest.mark.parametrize(
    "call",
    [
        lambda sessions: sessions.require("nope"),
        lambda sessions: sessions.require_seq("nope"),
        lambda sessions: sessions.end("nope", "host"),
        lambda sessions: sessions.request_extraction("nope"),
        lambda sessions: sessions.append_turn("nope", "user", "hello"),
    ],
    ids=["require", "require_seq", "end", "request_extraction", "append_turn"],
)
def test_sessions_unknown_id_is_not_found(store, call):
    with store.write() as tx, pytest.raises(NotFound):
        call(tx.sessions)


def test_sessions_get_and_lists_are_empty_for_unknown_ids(store):
    with store.read() as tx:
        assert tx.sessions.get("nope") is None
        assert tx.sessions.latest("assistant", "ana", "nope") is None
        assert tx.sessions.turns("nope") == tx.sessions.turns_of("nope") == []


def test_sessions_turns_with_a_text_are_those_that_may_be_evidence(store, started):
    with store.write() as tx:
        for content, origin in (
            ("I like tea.", "dialogue"),
            ("i LIKE tea.", "dialogue"),
            ("recalled: I like tea.", "recall"),
            ("echo: I like tea.", "tool"),
        ):
            tx.sessions.append_turn(started.id, "user", content, origin=origin)
        tx.sessions.end(started.id, "idle")
        tx.sessions.append_turn(started.id, "user", "As I said, I like tea.")

        found = tx.sessions.turns_with(started.conversation_id, "I like tea")
        assert [(turn.turn, turn.content) for turn in found] == [
            (1, "I like tea."),
            (4, "echo: I like tea."),
            (1, "As I said, I like tea."),
        ]


def filled(store):
    """Make the sessions a (two segments, three turns), b of another user and c of another agent."""
    with store.write() as tx:
        first = tx.sessions.start(ANA, "a")
        tx.sessions.append_turn(first.id, "user", "one", at=datetime(2019, 5, 8, tzinfo=UTC))
        tx.sessions.append_turn(first.id, "user", "two", at=datetime(2019, 5, 9, tzinfo=UTC))
        tx.sessions.end(first.id)
        tx.sessions.append_turn(first.id, "user", "three")
        tx.sessions.start(replace(ANA, user_id="bob"), "b", recorded=False)
        tx.sessions.start(replace(ANA, agent_id="critic"), "a")


def test_sessions_overview_pages_newest_first_with_what_the_turns_span(store, clock):
    filled(store)
    with store.read() as tx:
        page = tx.sessions.overview_page(limit=3)
        rest = tx.sessions.overview_page(limit=3, after=page[-1].session.id)
        assert tx.sessions.overview_page(after="unknown") == []
        assert len(tx.sessions.overview_page(user_id="ana")) == 3
        assert len(tx.sessions.overview_page(user_id="ana", agent_id="critic")) == 1

    shown = [(one.session.external_id, one.session.segment, one.turns) for one in page + rest]
    assert shown == [("a", 1, 0), ("b", 1, 0), ("a", 2, 1), ("a", 1, 2)]
    assert [one.recorded for one in page] == [True, False, True]
    assert (page[0].first_at, page[0].last_at) == (None, None)
    assert (rest[0].first_at, rest[0].last_at) == (
        datetime(2019, 5, 8, tzinfo=UTC),
        datetime(2019, 5, 9, tzinfo=UTC),
    )


def test_sessions_overviews_find_an_internal_or_an_external_id(store):
    filled(store)
    with store.read() as tx:
        by_host = tx.sessions.overviews(external_id="a")
        assert [one.session.segment for one in by_host] == [1, 2, 1]
        assert [
            one.session.segment for one in tx.sessions.overviews(external_id="a", agent_id="critic")
        ] == [1]
        assert tx.sessions.overviews(session_id=by_host[1].session.id) == [by_host[1]]
        assert tx.sessions.overviews(session_id=by_host[1].session.id, user_id="bob") == []


def test_sessions_turn_page_goes_on_across_segments(store):
    filled(store)
    with store.read() as tx:
        conversation = tx.sessions.latest("assistant", "ana", "a").conversation_id
        first = tx.sessions.turn_page(conversation, limit=2)
        second = tx.sessions.turn_page(conversation, after=(1, 2), limit=2)
        alone = tx.sessions.turn_page(conversation, segment=2)

    assert [(segment, turn.turn, turn.content) for segment, turn in first + second] == [
        (1, 1, "one"),
        (1, 2, "two"),
        (2, 1, "three"),
    ]
    assert alone == second


def test_sessions_history_goes_to_the_very_segment_ended_or_not(store, clock, started):
    said = datetime(2019, 5, 8, tzinfo=UTC)
    with store.write() as tx:
        tx.sessions.end(started.id)
        turn = Turn(started.id, 0, "user", "Hello", said, external_key="k1")
        added = tx.sessions.add_history(turn)
        with pytest.raises(NotFound):
            tx.sessions.add_history(replace(turn, session_id="unknown"))

    with store.read() as tx:
        assert tx.sessions.turns_of(started.id) == [added]
        assert len(tx.sessions.segments(started.conversation_id)) == 1
    assert (added.turn, added.at) == (1, said)

"""What a conversation takes: turns, chat messages, silence, names, moments and lists."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from retold import EntityMention, InvalidInput
from retold.testing import MemoryLab
from tests.scenarios.support import ANA

OLD = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture
def lab():
    """Return a lab with the fakes' answers."""
    with MemoryLab.open() as opened:
        yield opened


def segments(lab, session):
    """Return (segment, how it ended) of the session's conversation, in order."""
    principal = session.principal
    with lab.store.read() as tx:
        latest = tx.sessions.latest(principal.agent_id, principal.user_id, principal.session_id)
        found = tx.sessions.segments(latest.conversation_id)
    return [(one.segment, one.ended_by) for one in found]


def contents(lab, session):
    """Return what the conversation's transcript holds, in order."""
    principal = session.principal
    with lab.store.read() as tx:
        latest = tx.sessions.latest(principal.agent_id, principal.user_id, principal.session_id)
        return [turn.content for turn in tx.sessions.turns(latest.conversation_id)]


def test_silence_splits_a_session_although_the_turn_claims_an_older_time(lab):
    session = lab.session()
    first = session.turn("user", "one")
    lab.clock.advance(hours=3)
    late = session.turn("user", "late", at=lab.clock() - timedelta(hours=3))

    assert first.session_id != late.session_id
    assert segments(lab, session) == [(1, "idle"), (2, None)]


def test_host_clock_that_runs_ahead_splits_nothing(lab):
    session = lab.session()
    for number in range(3):
        session.turn("user", f"turn {number}", at=lab.clock() + timedelta(minutes=40 + number))

    assert segments(lab, session) == [(1, None)]


def test_imported_turns_of_different_months_are_one_session(lab):
    session = lab.session()
    session.turn("user", "one", at=OLD)
    session.turn("user", "two", at=OLD + timedelta(days=60))

    assert segments(lab, session) == [(1, None)]


def test_message_delivered_again_after_silence_changes_nothing(lab):
    session = lab.session()
    first = session.turn("user", "one two", external_key="k1")
    lab.clock.advance(hours=2)

    assert session.turn("user", "one two", external_key="k1") == first
    assert segments(lab, session) == [(1, None)]


CHAT = [
    {"role": "system", "content": "You are helpful."},
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "What is the weather?", "id": "m1", "name": "Ana"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1"}], "id": "m2"},
    {"role": "tool", "content": "sunny", "tool_call_id": "call_1", "external_key": "m3"},
    {"role": "assistant", "content": "", "id": "m4"},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "And here?"},
            {"type": "image_url", "image_url": {"url": "data:..."}},
        ],
    },
]


def test_add_messages_keeps_the_words_of_a_chat_with_tool_calls(lab):
    session = lab.session()
    turns = session.add_messages(CHAT)

    assert [(turn.role, turn.content, turn.external_key) for turn in turns] == [
        ("user", "What is the weather?", "m1"),
        ("tool", "sunny", "m3"),
        ("user", "And here?", None),
    ]
    assert turns[0].name == "Ana"
    assert contents(lab, session) == ["What is the weather?", "sunny", "And here?"]


def test_add_messages_records_a_chat_once_when_it_is_delivered_again(lab):
    session = lab.session()
    keyed = CHAT[:5]

    assert session.add_messages(keyed) == session.add_messages(keyed)
    assert contents(lab, session) == ["What is the weather?", "sunny"]


BAD = {
    "content is a number": {"role": "user", "content": 7},
    "unknown role": {"role": "narrator", "content": "Once upon a time"},
    "no role": {"content": "Once upon a time"},
    "key is a number": {"role": "user", "content": "Once upon a time", "id": 7},
    "key of another message": {"role": "user", "content": "Once upon a time", "id": "m1"},
    "no mapping": "Once upon a time",
}


@pytest.mark.parametrize("bad", BAD)
def test_add_messages_stores_nothing_when_one_message_is_wrong(lab, bad):
    """Storing each message as it is looked at makes this fail: a retry would double the first."""
    session = lab.session()
    with pytest.raises(InvalidInput):
        session.add_messages([CHAT[2], BAD[bad]])

    assert contents(lab, session) == []


@pytest.mark.parametrize("whole", ["Once upon a time", {"role": "user", "content": "hi"}])
def test_add_messages_wants_a_list(lab, whole):
    with pytest.raises(InvalidInput, match=r"must be a list such as \["):
        lab.session().add_messages(whole)


def test_add_messages_of_nothing_is_nothing(lab):
    assert lab.session().add_messages([]) == ()


def about_of(lab, result):
    """Return (name, role) of the entities a record is linked to."""
    with lab.store.read() as tx:
        record = tx.records.require(result.record_id)
        links = tx.entities.links_of([record.seq])[record.seq]
        return [(tx.entities.require(entity).canonical, role) for entity, role in links]


@pytest.mark.parametrize("role", ["about", "mentions"])
def test_argument_decides_the_role_of_a_mention(lab, role):
    result = lab.session().remember(
        "Priya prefers tea",
        evidence="Priya prefers tea to coffee.",
        attribute="drink",
        about=EntityMention("person", "Priya", role),
        mentions=[EntityMention("person", "Omar", role)],
    )

    assert about_of(lab, result) == [("Priya", "about"), ("Omar", "mentions")]


@pytest.mark.parametrize("role", ["about", "mentions"])
def test_hosts_subject_is_what_the_claim_is_about(lab, role):
    subject = EntityMention("person", "Priya", role)
    result = lab.retold.host.write(ANA, "Priya prefers tea", subject=subject, attribute="drink")

    assert about_of(lab, result) == [("Priya", "about")]


ONE_STRING = {
    "mentions": lambda lab: remembered(lab, mentions="Priya"),
    "tags": lambda lab: remembered(lab, tags="food"),
    "host tags": lambda lab: lab.retold.host.write(ANA, "Likes tea", tags="food"),
    "items": lambda lab: lab.retold.host.write_many(ANA, "Likes tea"),
    "names": lambda lab: lab.retold.host.provision_user("ana", "Ana"),
    "entities": lambda lab: lab.session().search("tea", entities="Priya"),
    "types": lambda lab: lab.session().search("tea", types="semantic"),
    "listed types": lambda lab: lab.session().list(types="semantic"),
}


def remembered(lab, **fields):
    """Store a claim with some fields."""
    return lab.session().remember("Likes tea", evidence="I like tea a lot.", **fields)


@pytest.mark.parametrize("field", ONE_STRING)
def test_one_string_is_no_list(lab, field):
    """Without the refusal ``mentions="Priya"`` makes five entities and ``tags`` four tags."""
    with pytest.raises(InvalidInput, match=field.split()[-1]) as refusal:
        ONE_STRING[field](lab)

    assert "Priya" not in str(refusal.value)
    assert lab.row_counts()["records"] == 0


TEXT_FOR_MOMENT = {
    "turn": lambda s: s.turn("user", "hello", at="2026-01-15"),
    "event_at": lambda s: s.remember("Likes tea", event_at="2026-01-15"),
    "valid_until": lambda s: s.remember("Likes tea", valid_until="2026-01-15"),
    "known_at": lambda s: s.search("tea", known_at="2026-01-15"),
}


@pytest.mark.parametrize("verb", TEXT_FOR_MOMENT)
def test_text_is_no_moment(lab, verb):
    with pytest.raises(InvalidInput, match="datetime"):
        TEXT_FOR_MOMENT[verb](lab.session())


BEFORE_TIME = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
MOMENTS = {
    "turn": lambda s: s.turn("user", "hello", at=BEFORE_TIME),
    "event_at": lambda s: s.remember("Likes tea", event_at=BEFORE_TIME),
    "valid_until": lambda s: s.remember("Likes tea", valid_until=BEFORE_TIME),
    "since": lambda s: s.search("tea", since=BEFORE_TIME),
    "until": lambda s: s.search("tea", until=BEFORE_TIME),
    "known_at": lambda s: s.search("tea", known_at=BEFORE_TIME),
    "as_of": lambda s: s.search("tea", as_of=BEFORE_TIME),
}


@pytest.mark.parametrize("verb", MOMENTS)
def test_moment_that_utc_does_not_have_is_refused(lab, verb):
    with pytest.raises(InvalidInput, match="years 1 to 9999"):
        MOMENTS[verb](lab.session())


def test_session_off_the_record_remembers_and_keeps_no_turns(lab):
    session = lab.session(record=False)
    before = lab.row_counts()
    turn = session.turn("user", "I like tea a lot.", external_key="m1")
    assert (turn.turn, turn.content, turn.at) == (0, "I like tea a lot.", lab.clock())
    assert len(session.add_messages([{"role": "user", "content": "Hello"}])) == 1
    assert lab.row_counts() == before

    kept = session.remember("Likes tea", evidence="I like tea a lot.")
    assert session.get(kept.record_id).found[0].evidence == "I like tea a lot."
    assert lab.row_counts()["session_turns"] == 0


@pytest.mark.parametrize("finished", [False, True])
def test_known_session_goes_off_the_record_and_on_again(lab, finished):
    """Without the comparison in ``SessionRepository._resumed`` the secret would be stored."""
    session = lab.session(session_id="V")
    session.turn("user", "public")
    if finished:
        session.finish()
    private = lab.session(session_id="V", record=False)
    assert private.turn("user", "secret").turn == 0
    assert session.principal == private.principal
    kept = private.remember("Likes tea", evidence="I like tea a lot.")
    assert private.get(kept.record_id).found[0].evidence == "I like tea a lot."
    assert contents(lab, private) == ["public"]

    again = lab.session(session_id="V")
    again.turn("user", "public again")
    assert contents(lab, again) == ["public", "public again"]
    assert segments(lab, again) == [(1, "host"), (2, "host"), (3, None)]
    with lab.store.read() as tx:
        kinds = [
            row[0]
            for row in tx.run("select kind from events where kind like 'session.%' order by seq")
        ]
    assert kinds == ["session.started", "session.ended"] * 2 + ["session.started"]

"""What the hooks of a conversation promise: the to-do list, the doorbell, segments and events."""

from __future__ import annotations

import threading

import pytest

from retold import InvalidInput, NotFound, UnsupportedEvidenceError
from retold.models import Principal
from retold.testing import MemoryLab

ASK_WHEN_IDLE = {"ingestion": {"extract_on_session_end": True}}


@pytest.fixture
def lab():
    """Return a lab with the fakes' answers."""
    with MemoryLab.open() as opened:
        yield opened


def segments(lab, principal):
    """Return the segments of a principal's conversation, in order."""
    with lab.store.read() as tx:
        latest = tx.sessions.latest(principal.agent_id, principal.user_id, principal.session_id)
        return tx.sessions.segments(latest.conversation_id)


def session_events(lab):
    """Return (kind, actor, user, segment id, payload) of the events of sessions, oldest first."""
    with lab.store.read() as tx:
        kinds = ("session.started", "session.split", "session.ended", "session.imported")
        found = [event for kind in kinds for event in tx.events.list_by_kind(kind)]
    found.sort(key=lambda event: event.seq)
    return [(one.kind, one.actor, one.user_id, one.session_id, one.payload) for one in found]


# --- the end, the to-do list and the doorbell -----------------------------------------


def test_end_with_extraction_puts_the_segment_on_the_list_and_rings_once(lab):
    session = lab.session()
    session.turn("user", "I like green tea.")
    lab.clock.advance(minutes=1)

    ended = lab.runtime.hooks.on_session_end(session.principal, extract=True)

    assert (ended.ended_at, ended.ended_by) == (lab.clock(), "host")
    assert ended.extraction_requested_at == lab.clock()
    assert lab.queue.requested == [ended.id]


def test_end_without_extraction_asks_for_nothing(lab):
    """Nothing is sent to a hosted model that nobody asked for."""
    session = lab.session()
    session.turn("user", "I like green tea.")
    session.finish()

    assert [one.extraction_requested_at for one in segments(lab, session.principal)] == [None]
    assert lab.queue.requested == []


def test_end_again_keeps_the_first_moments(lab):
    session = lab.session()
    hooks = lab.runtime.hooks
    first = hooks.on_session_end(session.principal, extract=True)
    lab.clock.advance(hours=1)

    assert hooks.on_session_end(session.principal, extract=True) == first
    assert [kind for kind, *_ in session_events(lab)] == ["session.started", "session.ended"]


def test_end_of_a_conversation_that_never_began_is_not_found(lab):
    with pytest.raises(NotFound):
        lab.runtime.hooks.on_session_end(Principal("helper", "ana", "never"), extract=True)

    assert lab.queue.requested == []


class QueueThatLooks:
    """Read the to-do list when rung: a worker that is woken must find its work committed."""

    store = None

    def __init__(self):
        self.seen = []

    def request_extraction(self, session_id):
        with self.store.read() as tx:
            self.seen.append(tx.sessions.require(session_id).extraction_requested_at is not None)


def test_bell_rings_after_the_request_is_committed():
    """Ringing inside the transaction makes this fail: the worker would find nothing to do."""
    queue = QueueThatLooks()
    with MemoryLab.open(queue=queue) as lab:
        queue.store = lab.store
        lab.runtime.hooks.on_session_end(lab.session().principal, extract=True)

    assert queue.seen == [True]


class QueueThatFails:
    """Fail as a full disk or a locked queue file would."""

    def request_extraction(self, session_id):
        raise OSError(28, "No space left on device")


def test_failing_queue_leaves_the_end_standing_and_the_session_due(caplog):
    """Without the handler in ``Doorbell`` the host's end of a conversation would raise."""
    with MemoryLab.open(queue=QueueThatFails()) as lab:
        session = lab.session()
        session.turn("user", "I like green tea.")
        ended = lab.runtime.hooks.on_session_end(session.principal, extract=True)

        assert ended.ended_by == "host"
        assert segments(lab, session.principal)[0].extraction_requested_at == lab.clock()
    assert [(one.session_id, one.error) for one in caplog.records] == [(ended.id, "OSError")]
    assert "No space left" not in caplog.text


def test_failing_queue_loses_no_turn_of_an_idle_split():
    with MemoryLab.open(queue=QueueThatFails(), settings=ASK_WHEN_IDLE) as lab:
        session = lab.session()
        session.turn("user", "before the silence")
        lab.clock.advance(hours=1)
        late = session.turn("user", "after the silence")

        first, second = segments(lab, session.principal)
        assert (first.ended_by, first.extraction_requested_at) == ("idle", lab.clock())
        assert late.session_id == second.id


class QueueThatHangs:
    """Hang until the test lets go; count who came in."""

    def __init__(self):
        self.entered = []
        self.let_go = threading.Event()

    def request_extraction(self, session_id):
        self.entered.append(session_id)
        self.let_go.wait()


def test_hanging_queue_delays_no_end_and_holds_one_thread():
    """Ringing on the caller's thread makes this hang; without ``_hanging`` each end adds one."""
    queue = QueueThatHangs()
    settings = {"queue": {"enqueue_timeout_ms": 1}}
    with MemoryLab.open(queue=queue, settings=settings) as lab:
        ended = [
            lab.runtime.hooks.on_session_end(lab.session().principal, extract=True)
            for _ in range(3)
        ]
        assert queue.entered == [ended[0].id]
        assert all(one.extraction_requested_at is not None for one in ended)

        queue.let_go.set()
        for thread in threading.enumerate():
            if thread.name == "retold-doorbell":
                thread.join()
        last = lab.runtime.hooks.on_session_end(lab.session().principal, extract=True)
    assert queue.entered == [ended[0].id, last.id]


# --- segments and their events --------------------------------------------------------


def test_idle_split_ends_the_old_segment_and_starts_the_next_in_the_audit_trail(lab):
    session = lab.session(session_id="chat")
    session.turn("user", "before the silence")
    lab.clock.advance(minutes=31)
    session.turn("user", "after the silence")

    first, second = segments(lab, session.principal)
    assert (first.ended_by, first.ended_at) == ("idle", lab.clock())
    assert (second.segment, second.ended_at) == (2, None)
    assert session_events(lab) == [
        ("session.started", "helper", "ana", first.id, {"segment": 1}),
        ("session.split", "helper", "ana", first.id, {"segment": 1}),
        ("session.started", "helper", "ana", second.id, {"segment": 2}),
    ]


@pytest.mark.parametrize(
    ("settings", "asked"), [({}, False), (ASK_WHEN_IDLE, True)], ids=["by default", "when set"]
)
def test_idle_split_asks_for_extraction_only_when_the_setting_says_so(settings, asked):
    with MemoryLab.open(settings=settings) as lab:
        session = lab.session()
        session.turn("user", "before the silence")
        lab.clock.advance(hours=1)
        session.add_messages([{"role": "user", "content": "after"}] * 2)

        first, second = segments(lab, session.principal)
        assert (first.extraction_requested_at is not None) is asked
        assert second.extraction_requested_at is None
        assert lab.queue.requested == ([first.id] if asked else [])


def test_quote_that_becomes_a_turn_after_a_silence_opens_the_next_segment():
    """A turn is a turn, whoever adds it: without ``Silence.end`` in ``source_of`` it joins."""
    with MemoryLab.open(settings=ASK_WHEN_IDLE) as lab:
        session = lab.session(session_id="chat")
        session.turn("user", "before the silence")
        lab.clock.advance(hours=1)
        kept = session.remember("The user likes tea", evidence="I like green tea very much.")

        first, second = segments(lab, session.principal)
        assert (first.ended_by, first.extraction_requested_at) == ("idle", lab.clock())
        assert lab.queue.requested == [first.id]
        assert session.get(kept.record_id)[0].source_ref == f"session:{second.id}#1"
        assert [kind for kind, _, _, _, _ in session_events(lab)] == [
            "session.started",
            "session.split",
            "session.started",
        ]


def test_claim_that_adds_no_turn_ends_no_silence(lab):
    """What stands in the transcript already is no new word, and a refusal leaves nothing."""
    session = lab.session()
    said = session.turn("user", "I like green tea very much.").content
    lab.clock.advance(hours=1)
    session.remember("The user likes green tea", evidence=said)
    lab.judge.declare_support("I work at Google myself.", "The user likes rain", 0.0)
    with pytest.raises(UnsupportedEvidenceError):
        session.remember("The user likes rain", evidence="I work at Google myself.")

    assert [one.ended_by for one in segments(lab, session.principal)] == [None]


def test_silence_of_exactly_the_timeout_is_no_split(lab):
    session = lab.session()
    session.turn("user", "one")
    lab.clock.advance(minutes=30)
    session.turn("user", "two")

    assert len(segments(lab, session.principal)) == 1


def test_chat_of_many_messages_after_silence_is_one_further_segment(lab):
    session = lab.session()
    session.turn("user", "one", external_key="m1")
    lab.clock.advance(hours=1)
    turns = session.add_messages(
        [{"role": "user", "content": text, "id": key} for key, text in (("m1", "one"), ("m2", "b"))]
    )

    first, second = segments(lab, session.principal)
    assert [(turn.session_id, turn.turn) for turn in turns] == [(first.id, 1), (second.id, 1)]


def test_quote_from_before_a_split_still_backs_a_claim(lab):
    session = lab.session()
    said = session.turn("user", "I'm allergic to peanuts, so no satay.")
    lab.clock.advance(hours=1)
    session.turn("user", "Back again.")
    kept = session.remember(
        "The user is allergic to peanuts", evidence="I'm allergic to peanuts", attribute="allergy"
    )

    record = session.get(kept.record_id).found[0]
    assert (record.source_kind, record.event_at) == ("user_statement", said.at)
    assert record.source_ref == f"session:{said.session_id}#1"
    assert lab.row_counts()["session_turns"] == 2


# --- one external id, several owners --------------------------------------------------

OWNERS = [("ana", "helper"), ("bob", "helper"), ("ana", "critic")]


def test_same_external_id_of_other_users_and_agents_is_another_conversation(lab):
    """Leaving user or agent out of ``sessions.latest`` makes this fail."""
    opened = [lab.session(user, agent, session_id="chat") for user, agent in OWNERS]
    for (user, agent), session in zip(OWNERS, opened, strict=True):
        session.turn("user", f"I am {user} with {agent}.", external_key="m1")
    opened[0].finish()

    found = [segments(lab, session.principal) for session in opened]
    assert [[one.ended_by for one in of_one] for of_one in found] == [["host"], [None], [None]]
    assert len({one.id for of_one in found for one in of_one}) == 3
    with lab.store.read() as tx:
        said = [[turn.content for turn in tx.sessions.turns(one[0].id)] for one in found]
    assert said == [[f"I am {user} with {agent}."] for user, agent in OWNERS]


def test_words_of_another_user_under_the_same_id_are_no_evidence(lab):
    lab.session("ana", session_id="chat").turn("user", "I'm allergic to peanuts, so no satay.")
    other = lab.session("bob", session_id="chat")
    other.turn("assistant", "Hello.")
    kept = other.remember("Allergic to peanuts", allow_inference=True)

    assert other.get(kept.record_id).found[0].source_kind == "agent_inference"


def test_message_key_is_one_message_per_conversation_only(lab):
    one, other = lab.session(session_id="one"), lab.session(session_id="other")
    one.turn("user", "hello", external_key="m1")
    other.turn("user", "something else", external_key="m1")
    with pytest.raises(InvalidInput, match="already names another message"):
        one.turn("user", "not hello", external_key="m1")

    assert lab.row_counts()["session_turns"] == 2


def test_conversation_off_the_record_can_end_with_extraction_and_keeps_nothing(lab):
    session = lab.session(record=False)
    session.add_messages([{"role": "user", "content": "secret", "id": "m1"}])
    ended = lab.runtime.hooks.on_session_end(session.principal, extract=True)

    assert lab.queue.requested == [ended.id]
    assert lab.row_counts()["session_turns"] == 0

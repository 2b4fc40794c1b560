"""A foreign id and a missing one run the same statements, and get the same answer.

The statements of every connection are recorded through apsw's connection hook. Bindings differ
by nature; the sequence of statement texts must not.
"""

from __future__ import annotations

import apsw
import pytest

from retold import NotFound, Overrides, Principal, Retold, RetoldError, Scope
from retold.config import profile_config
from retold.models import EntityMention, WriteRequest
from retold.testing import FakeClock, FakeEmbedder, FakeJudge

MISSING = "00000000-0000-7000-8000-00000000dead"


class Recorder:
    """Collect the statements of every connection opened while it is active."""

    def __init__(self):
        self.statements = []
        self.is_recording = False

    def __call__(self, connection):
        connection.exec_trace = self.note

    def note(self, cursor, statement, bindings):
        if self.is_recording:
            self.statements.append(statement)
        return True

    def of(self, call):
        """Return the statements a call runs and the refusal it ends in, ids taken out."""
        self.statements, self.is_recording = [], True
        try:
            answer = call()
        except RetoldError as refusal:
            answer = (type(refusal), refusal.code, str(refusal), sorted(refusal.details))
        finally:
            self.is_recording = False
        return self.statements, answer


@pytest.fixture
def recorder():
    recorder = Recorder()
    apsw.connection_hooks.append(recorder)
    yield recorder
    apsw.connection_hooks.remove(recorder)


@pytest.fixture
def world(tmp_path, recorder):
    """A store in which bo's record and entity are foreign to ana."""
    overrides = Overrides(embedder=FakeEmbedder(dims=16), judge=FakeJudge(), clock=FakeClock())
    config = profile_config("offline")
    with Retold.open(tmp_path / "memory.sqlite", config=config, overrides=overrides) as retold:
        theirs = retold.session("bo", session_id="chat")
        foreign = theirs.remember(
            "Robin likes tea", source_kind="agent_inference", about="Robin"
        ).record_id
        (record,) = theirs.get(foreign).found
        mine = retold.session("ana", session_id="chat")
        own = mine.remember("Ana likes cake", source_kind="agent_inference", about="Cook")
        (own_record,) = mine.get(own.record_id).found
        retold.runtime.index  # noqa: B018  # loaded by the writes above
        yield retold, mine, foreign, record.entity_ids[0], own_record.entity_ids[0]


VERBS = {
    "get": lambda session, id_: session.get(id_),
    "history": lambda session, id_: session.history(id_),
    "list after": lambda session, id_: session.list(after=id_),
    "confirm": lambda session, id_: session.revise(id_, "confirm", reason="r"),
    "confirm with a quote": lambda session, id_: session.revise(
        id_, "confirm", reason="r", evidence="yes it is so indeed"
    ),
    "expire": lambda session, id_: session.revise(id_, "expire", reason="r"),
    "supersede": lambda session, id_: session.revise(
        id_, "supersede", reason="r", content="new", evidence="brand new words"
    ),
    "forget": lambda session, id_: session.forget(id_),
}


def without(id_, answer):
    return repr(answer).replace(id_, "<id>")


@pytest.mark.parametrize("verb", VERBS)
def test_a_foreign_record_runs_the_statements_of_a_missing_one(world, recorder, verb):
    """B26 B31; ask for the scope after loading the record's details and it fails."""
    _, session, foreign, _, _ = world
    VERBS[verb](session, MISSING) if verb in ("get", "list after") else None

    statements, answer = recorder.of(lambda: VERBS[verb](session, foreign))
    expected, missing_answer = recorder.of(lambda: VERBS[verb](session, MISSING))

    assert statements == expected
    assert without(foreign, answer) == without(MISSING, missing_answer)


@pytest.mark.parametrize("place", ["source", "target"])
def test_a_foreign_entity_is_merged_like_a_missing_one(world, recorder, place):
    _, session, _, foreign, own = world

    def merge(id_):
        pair = (id_, own) if place == "source" else (own, id_)
        return session.merge(*pair, reason="r")

    statements, answer = recorder.of(lambda: merge(foreign))
    expected, missing_answer = recorder.of(lambda: merge(MISSING))

    assert statements == expected
    assert without(foreign, answer) == without(MISSING, missing_answer)


def test_a_foreign_entity_id_in_a_write_is_answered_like_a_missing_one(world, recorder):
    retold, session, _, foreign, _ = world

    def write(entity_id):
        mention = EntityMention("person", "Robin", "about", entity_id)
        request = WriteRequest(
            type="episodic",
            content="Met for lunch",
            source_kind="agent_inference",
            mentions=(mention,),
        )
        return retold.runtime.ingestor.write(session.principal, request)

    recorder.of(lambda: write(MISSING))
    statements, answer = recorder.of(lambda: write(foreign))
    expected, missing_answer = recorder.of(lambda: write(MISSING))

    assert statements == expected
    assert without(foreign, answer) == without(MISSING, missing_answer)


def test_a_scope_that_exists_is_refused_like_one_that_does_not(world, recorder):
    retold, session, *_ = world

    def write(scope):
        request = WriteRequest(
            type="episodic", content="x", source_kind="agent_inference", scope=scope
        )
        return retold.runtime.ingestor.write(session.principal, request)

    statements, answer = recorder.of(lambda: write(Scope("agent", "assistant/bo")))
    expected, missing = recorder.of(lambda: write(Scope("agent", "assistant/nobody")))

    assert statements == expected
    assert answer == missing


def test_a_denial_leaves_the_same_event_for_foreign_and_missing_ids(world):
    """B26: the audit records the attempt and confirms nothing."""
    retold, session, foreign, *_ = world

    for record_id in (foreign, MISSING):
        with pytest.raises(NotFound):
            session.forget(record_id)

    with retold.store.read() as tx:
        one, two = tx.events.list_by_kind("write.denied")
    assert (
        (one.payload, one.record_id)
        == (two.payload, two.record_id)
        == (
            {"code": "not_found"},
            None,
        )
    )


def test_a_write_asks_each_thing_once(world, recorder):
    """Removing ``if key not in self._known`` from MetaRepository makes it fail."""
    _, session, *_ = world
    session.remember("Ana likes plum cake", evidence="I like plum cake")

    statements, result = recorder.of(
        lambda: session.remember("Ana likes pear cake", evidence="I like pear cake")
    )

    assert result.kind == "created"
    assert len(statements) <= 60
    most = max(statements.count(statement) for statement in set(statements))
    assert most <= 5  # the entities that stand for the user in two scopes


def test_a_principal_with_a_blank_or_slashed_id_is_refused():
    """B35."""
    for agent_id, user_id in (("", "ana"), ("  ", "ana"), ("a", " "), ("a/b", "c"), ("a", "b/c")):
        with pytest.raises(ValueError, match="id"):
            Principal(agent_id, user_id)

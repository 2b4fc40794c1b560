"""What a write lets in, as a reviewer saw it go wrong; through the public API on real files."""

from __future__ import annotations

from datetime import timedelta

import pytest

from retold import EntityAmbiguous, HostSource, InvalidInput, NotFound, Principal, Scope
from retold.models import EntityMention, WriteRequest
from retold.testing import FakeContentPolicy, FakeJudge, MemoryLab

ANA = Scope("user", "ana")
PRIVATE = Scope("agent", "helper/ana")
PROJECT = Scope("project", "acme/repo")
QUOTE = "I am allergic to peanuts"
CLAIM = "The user is allergic to peanuts"


@pytest.fixture
def lab():
    with MemoryLab.open() as lab:
        yield lab


class MeddlingJudge(FakeJudge):
    """Does something once, while a write waits for its verdict."""

    meddle = None

    def judge(self, a, b):
        meddle, self.meddle = self.meddle, None
        if meddle is not None:
            meddle()
        return super().judge(a, b)


def subject_of(lab, result):
    with lab.store.read() as tx:
        return tx.entities.get(tx.records.require(result.record_id).subject_entity_id)


def status_of(lab, result):
    with lab.store.read() as tx:
        return tx.records.require(result.record_id).status


# --- forgotten words ------------------------------------------------------------------


def forgotten(session):
    session.turn("user", f"{QUOTE}, sadly.")
    written = session.remember(CLAIM, evidence=QUOTE, attribute="allergy")
    session.forget(written.record_id)
    return written


@pytest.mark.parametrize("quote", [QUOTE, "allergic to peanuts, sadly", f"{QUOTE}, sadly."])
def test_forgotten_words_are_not_taken_up_again(lab, quote):
    """B16; leave ``forgotten`` out of ``evidence.locate`` in ``backing_of`` and it fails."""
    session = lab.session()
    forgotten(session)
    before = lab.row_counts()

    with pytest.raises(InvalidInput, match="quote a new turn"):
        session.remember(CLAIM, evidence=quote, attribute="allergy")

    assert lab.row_counts() == before
    assert not session.search("allergic to peanuts")


def test_forgotten_words_back_no_inference_either(lab):
    """B16."""
    session = lab.session()
    forgotten(session)

    again = session.remember(CLAIM, evidence=QUOTE, attribute="allergy", allow_inference=True)

    (view,) = session.get(again.record_id).found
    assert (view.source_kind, view.status, view.evidence) == (
        "agent_inference",
        "provisional",
        None,
    )
    assert again.note == "evidence was forgotten"


def test_forgotten_words_that_are_said_again_are_welcome(lab):
    """B16: suppressed is the place in the transcript, not the fact."""
    session = lab.session()
    forgotten(session)
    session.turn("user", f"As I said: {QUOTE}.")

    again = session.remember(CLAIM, evidence=QUOTE, attribute="allergy")

    assert (again.outcome, again.status) == ("created", "confirmed")


def test_forgotten_words_stay_out_when_they_are_forgotten_while_a_write_is_judged():
    """B16; take ``refuse_forgotten`` out of ``Ingestor._apply`` and it fails."""
    judge = MeddlingJudge(default="distinct")
    with MemoryLab.open(judge=judge) as lab:
        session = lab.session()
        session.turn("user", f"{QUOTE}, sadly.")
        first = session.remember(CLAIM, evidence=QUOTE, attribute="allergy")
        session.remember("The user likes tea", evidence="I like tea a lot", attribute="drink")
        judge.meddle = lambda: session.forget(first.record_id)

        with pytest.raises(InvalidInput, match="quote a new turn"):
            session.remember("The user has an allergy", evidence=QUOTE, attribute="allergy")


def test_forgotten_words_confirm_nothing(lab):
    """B16."""
    session = lab.session()
    forgotten(session)
    guess = session.remember("The user avoids peanuts", source_kind="agent_inference")

    with pytest.raises(InvalidInput, match="quote a new turn"):
        session.revise(guess.record_id, "confirm", reason="asked", evidence=QUOTE)

    assert status_of(lab, guess) == "provisional"


# --- the content policy ---------------------------------------------------------------


def test_content_policy_sees_every_text_of_a_write():
    policy = FakeContentPolicy({"SECRET": "[gone]"})
    with MemoryLab.open(content_policy=policy) as lab:
        lab.retold.host.write(
            ANA,
            "A SECRET fact",
            source=HostSource("document", "x", "quote with SECRET"),
            subject="SECRET Person",
            attribute="SECRET attr",
            tags=["SECRET"],
        )
        session = lab.session()
        lunch = session.remember(
            "Has lunch with SECRET", evidence="I have lunch with SECRET", mentions=["SECRET pal"]
        )
        guess = session.remember("The user may like chess", source_kind="agent_inference")
        for change in ("confirm", "expire"):
            session.revise(guess.record_id, change, reason="it said SECRET")
        session.revise(
            lunch.record_id,
            "supersede",
            content="Has dinner with SECRET",
            evidence="I have dinner with SECRET",
            reason="it said SECRET",
        )
        ids = [
            session.remember(f"Met {name} at noon", evidence=f"{name} met me", about=name).record_id
            for name in ("Zed", "Zoe")
        ]
        with lab.store.read() as tx:
            zed, zoe = (tx.records.require(each).subject_entity_id for each in ids)
        session.merge(zed, zoe, reason="it said SECRET")
        session.forget(ids[0], reason="it said SECRET")

        with lab.store.read() as tx:
            (tables,) = (
                [
                    name
                    for (name,) in tx.run(
                        "select name from sqlite_schema where type = 'table'"
                        " and sql not like 'create virtual%'"
                    )
                ],
            )
            kept = repr([list(tx.run(f'select * from "{table}"')) for table in tables])
        assert "[gone]" in kept
        assert "SECRET" not in kept


@pytest.mark.parametrize("field", ["content", "attribute", "tags", "subject", "source"])
def test_content_policy_that_leaves_nothing_of_a_text_stores_nothing(field):
    texts = {
        "content": "SECRET",
        "attribute": "SECRET",
        "tags": ["SECRET"],
        "subject": "SECRET",
        "source": HostSource("host", "x", "SECRET"),
    }
    with MemoryLab.open(content_policy=FakeContentPolicy({"SECRET": ""})) as lab:
        before = lab.row_counts()

        with pytest.raises(InvalidInput, match="blank"):
            lab.retold.host.write(ANA, **{"content": "A fact", field: texts[field]})

        assert lab.row_counts() == before


def test_content_policy_lets_the_users_own_words_back_themselves():
    with MemoryLab.open(content_policy=FakeContentPolicy({"SECRET": "[gone]"})) as lab:
        session = lab.session()
        session.turn("user", "I work at SECRET Corp these days")

        written = session.remember("I work at SECRET Corp these days")

        assert session.get(written.record_id).found[0].content == "I work at [gone] Corp these days"


# --- whose names are told -------------------------------------------------------------


def write_about(lab, mention, content="Leads the release", scope=PROJECT):
    request = WriteRequest(
        "semantic", content, attribute="role", scope=scope, mentions=(mention,), evidence=content
    )
    principal = Principal("helper", "ana", "chat")
    return lab.runtime.ingestor.write(principal, request, may_add_turn=True)


def test_a_private_nickname_stays_private_when_its_bearer_gets_a_twin(lab):
    """Copy every alias into a shared scope and another agent finds the record by the nickname."""
    for agent in ("helper", "other"):
        lab.retold.host.grant(agent, PROJECT, write=agent == "helper")
    session = lab.session(session_id="chat")
    ids = []
    for name in ("Priya Raman", "Pumpkin"):
        written = session.remember("Likes tea", about=name, evidence=f"{name} likes tea a lot")
        ids.append(subject_of(lab, written).id)
    session.merge(ids[1], ids[0], reason="the same")

    written = write_about(lab, EntityMention("person", "Priya Raman", "about"))

    assert subject_of(lab, written).aliases == ("priya raman",)
    assert not lab.session("zoe", "other").search("Pumpkin")


def test_a_twin_in_the_other_personal_scope_keeps_every_alias(lab):
    session = lab.session(session_id="chat")
    written = session.remember("Likes tea", about="Priya Raman", evidence="Priya likes tea a lot")
    with lab.store.write() as tx:
        tx.entities.add_alias(tx.records.require(written.record_id).subject_entity_id, "pumpkin")
    lab.retold.host.grant("helper", ANA, write=True)

    twin = write_about(lab, EntityMention("person", "Pumpkin", "about"), scope=ANA)

    assert subject_of(lab, twin).aliases == ("priya raman", "pumpkin")


def two_namesakes(lab, *, read):
    with lab.store.write() as tx:
        for name in ("Ana Secretname", "Ana Other"):
            tx.entities.insert("person", name, ANA, ["ana"])
    lab.retold.host.grant("helper", ANA, read=read, write=True)
    lab.session(session_id="chat")
    return WriteRequest("semantic", "Likes tea", attribute="likes", scope=ANA)


def test_a_write_only_scope_tells_nothing_of_two_namesakes_of_the_user(lab):
    request = two_namesakes(lab, read=False)

    written = lab.runtime.ingestor.write(Principal("helper", "ana", "chat"), request)

    assert subject_of(lab, written).principal_user_id == "ana"


def test_a_readable_scope_names_the_two_namesakes_of_the_user(lab):
    request = two_namesakes(lab, read=True)

    with pytest.raises(EntityAmbiguous):
        lab.runtime.ingestor.write(Principal("helper", "ana", "chat"), request)


def test_an_explicit_id_that_was_merged_out_of_sight_is_not_found(lab):
    """Check the scope of the given id only and the write is about somebody hidden."""
    session, hidden = lab.session(session_id="chat"), lab.session("zoe", "other")
    bob = subject_of(
        lab, session.remember("Likes tea", about="Bob", evidence="Bob likes tea a lot")
    )
    robert = subject_of(
        lab, hidden.remember("Likes tea", about="Robert", evidence="Robert likes tea a lot")
    )
    with lab.store.write() as tx:
        tx.run(
            "update entities set status = 'merged', merged_into ="
            " (select seq from entities where id = ?) where id = ?",
            (robert.id, bob.id),
        )
    before = lab.row_counts()["records"]

    with pytest.raises(NotFound, match=bob.id):
        session.remember(
            "Plays chess",
            about=EntityMention("person", "Bob", "about", bob.id),
            evidence="He plays chess every week",
        )

    assert lab.row_counts()["records"] == before


# --- rights that change meanwhile -----------------------------------------------------


def test_a_grant_revoked_while_a_write_is_judged_protects_the_other_scope():
    """Look at the destination scope only, under the lock, and the old record is superseded."""
    judge = MeddlingJudge(default="contradicts")
    with MemoryLab.open(judge=judge) as lab:
        host = lab.retold.host
        session = lab.session(session_id="chat")
        session.remember("Had lunch", type="episodic", source_kind="agent_inference")
        host.grant("helper", ANA, write=True)
        old = session.remember("Lives in Lisbon", evidence="I live in Lisbon", attribute="city")
        judge.meddle = lambda: host.revoke("helper", ANA)
        request = WriteRequest(
            "semantic",
            "Lives in Porto",
            attribute="city",
            scope=PRIVATE,
            evidence="I live in Porto",
        )

        written = lab.runtime.ingestor.write(session.principal, request, may_add_turn=True)

        assert written.outcome == "created"
        assert status_of(lab, old) == "confirmed"


# --- input that is refused ------------------------------------------------------------

SOURCES = {
    "blank": "",
    "control characters": "a\x00b\n",
    "endless": "x" * 100_000,
    "NUL in the quote": HostSource("host", "id", "a \x00 quote"),
    "surrogate in the id": HostSource("host", "\ud800"),
    "surrogate in the quote": HostSource("host", "id", "\ud800"),
    "unknown type": HostSource("email", "id"),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_host_source_that_cannot_be_stored_is_invalid_input(lab, source):
    before = lab.row_counts()

    with pytest.raises(InvalidInput):
        lab.retold.host.write(ANA, "A fact", source=source)

    assert lab.row_counts() == before


BAD_FIELDS = {
    "endless attribute": {"attribute": "a" * 201},
    "unknown kind": {"mentions": (EntityMention("pet", "Rex", "mentions"),)},
    "unknown role": {"mentions": (EntityMention("person", "Rex", "owns"),)},
    "blank name": {"mentions": (EntityMention("person", " ", "mentions"),)},
    "surrogate in a name": {"mentions": (EntityMention("person", "\ud800", "mentions"),)},
    "blank entity id": {"mentions": (EntityMention("person", "Rex", "mentions", ""),)},
    **{
        f"text as {moment}": {moment: "2026-01-01"}
        for moment in ("event_at", "valid_from", "valid_until", "review_at")
    },
}


@pytest.mark.parametrize("fields", BAD_FIELDS.values(), ids=BAD_FIELDS)
def test_a_field_that_cannot_be_stored_is_invalid_input(lab, fields):
    session = lab.session()
    before = lab.row_counts()
    request = WriteRequest("episodic", "Had lunch", source_kind="agent_inference", **fields)

    with pytest.raises(InvalidInput):
        lab.runtime.ingestor.write(session.principal, request)

    assert lab.row_counts() == before


# --- what a write leaves and reads ----------------------------------------------------


def test_a_repetition_makes_no_entity_that_nothing_links_to(lab):
    """Create entities before the decision without undoing them and one is left alone."""
    session = lab.session()
    session.remember("Has lunch with friends", evidence="I have lunch with friends")
    before = lab.row_counts()

    again = session.remember(
        "Has lunch with friends", evidence="I have lunch with friends", mentions=["Zed"]
    )

    after = lab.row_counts()
    assert again.kind == "already_reinforced"
    assert [after[name] - before[name] for name in ("entities", "entity_aliases")] == [0, 0]
    with lab.store.read() as tx:
        assert len(tx.events.list_by_kind("entity.created")) == 1


def test_the_users_own_words_win_over_a_tools_verbatim_echo(lab):
    """Look for the quote to the letter only and the claim is lowered to what a tool may say."""
    session = lab.session()
    session.turn("user", "I\u2019m allergic to peanuts")
    session.turn("tool", "I'm allergic to peanuts", tool_name="echo")

    written = session.remember(CLAIM, evidence="I'm allergic to peanuts")

    assert written.source_kind == "user_statement"


def test_a_hint_picks_its_turn_among_several(lab):
    session = lab.session()
    session.turn("user", "I\u2019m allergic to peanuts", at=lab.clock() - timedelta(days=3))
    session.turn("user", "I'm allergic to peanuts")
    request = WriteRequest(
        "semantic", CLAIM, attribute="allergy", evidence="I'm allergic to peanuts", evidence_turn=1
    )

    written = lab.runtime.ingestor.write(session.principal, request)

    assert session.get(written.record_id).found[0].source_ref.endswith("#1")


def test_every_segment_of_a_conversation_is_said_to_have_started(lab):
    session = lab.session(session_id="chat")
    session.turn("user", "one two")
    lab.clock.advance(hours=20)
    session.turn("user", "three")

    with lab.store.read() as tx:
        started = tx.events.list_by_kind("session.started")
        latest = tx.sessions.latest("helper", "ana", "chat")
    assert [event.payload["segment"] for event in started] == [1, 2]
    assert started[1].session_id == latest.id

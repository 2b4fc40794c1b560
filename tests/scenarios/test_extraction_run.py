"""From an ended session to what is remembered of it: both steps over a real store."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from retold import NewTurn, PastTurn
from retold.ingest.batch import ClaimBatch
from retold.ingest.extraction import candidates
from retold.ingest.extraction.instructions import void_spans
from retold.models import (
    CandidateRevision,
    EntityMention,
    ReviewDecision,
    Scope,
    SessionSummary,
)
from retold.testing import (
    FakeCandidateReviewer,
    FakeContentPolicy,
    FakeJudge,
    TableExtractor,
    make_proposal,
)
from tests.extraction_support import ALLERGY, BEES, HOBBY, HOME, LISBON, PEANUTS, extraction

ANA = Scope("user", "ana")


@pytest.fixture
def run():
    with extraction() as opened:
        yield opened


def refused(run):
    """Return what is kept of the proposals that were refused, in order."""
    with run.lab.store.read() as tx:
        rows = tx.run("select candidate from extraction_rejections order by seq")
        return [json.loads(text) for (text,) in rows]


def test_what_was_said_becomes_memories_with_their_turns_and_a_summary(run):
    session_id = run.run(PEANUTS, ("assistant", "I will remember that."), LISBON)

    allergy, home = run.facts()
    assert (allergy.content, allergy.status, allergy.evidence) == (
        ALLERGY.content, "confirmed", PEANUTS,
    )  # fmt: skip
    assert allergy.source_ref == f"session:{session_id}#1"
    assert home.source_ref == f"session:{session_id}#3"
    (summary,) = run.facts(summaries=True)
    assert (summary.type, summary.status, summary.confidence) == ("episodic", "confirmed", 0.8)
    assert summary.source_ref == f"session:{session_id}"
    payload = run.event(session_id)
    assert (payload["proposed"], payload["written"], payload["rejected"]) == (2, 2, 0)
    assert payload["review_accepted"] == 2
    assert run.lab.row_counts()["extraction_drafts"] == 0
    assert run.steps.run(session_id).reason == "extracted"


def test_candidate_whose_quote_is_nowhere_is_refused_and_kept_for_the_audit():
    """17.3: a candidate with missing evidence is rejected and logged."""
    invented = make_proposal("The user owns a boat", "I bought a boat in spring.")
    with extraction(extractor=TableExtractor(always=[invented])) as run:
        session_id = run.run(PEANUTS, LISBON)

        assert run.facts() == []
        assert run.event(session_id)["rejections"] == {"evidence_not_found": 1}
        assert run.reviewer.calls == []
        (kept,) = refused(run)
        assert kept["candidate"]["content"] == invented.content
        with run.lab.store.read() as tx:
            payloads = [text for (text,) in tx.run("select payload from events")]
        assert not any("boat" in text for text in payloads)


WIDENED = "The user is allergic to peanuts, as Priya is"


@pytest.mark.parametrize(
    ("decision", "count", "stored_as", "reason"),
    [
        pytest.param(
            ReviewDecision("reject", "of no use later"),
            "review_rejected", None, "review_rejected", id="reject",
        ),
        pytest.param(
            ReviewDecision("revise", "sharper", CandidateRevision(attribute="food_allergy")),
            "review_revised", ("food_allergy", "user_statement", "confirmed"), None, id="revise",
        ),
        pytest.param(
            ReviewDecision("revise", "more", CandidateRevision(content=WIDENED)),
            "review_revised", None, "invalid_review_revision", id="revise too much",
        ),
        pytest.param(
            ReviewDecision("downgrade", "not sure"),
            "review_downgraded", ("allergy", "agent_inference", "provisional"), None,
            id="downgrade",
        ),
    ],
)  # fmt: skip
def test_every_outcome_of_a_review_is_counted_and_only_narrows(decision, count, stored_as, reason):
    """17.3: a rejection never reaches the store, and a revision strengthens nothing."""
    reviewer = FakeCandidateReviewer({ALLERGY.content: decision})
    with extraction({"peanuts": [ALLERGY]}, reviewer=reviewer) as run:
        session_id = run.run(PEANUTS, LISBON)
        payload = run.event(session_id)
        found = [(one.attribute, one.source_kind, one.status) for one in run.facts()]

        assert payload[count] == 1
        assert found == ([] if stored_as is None else [stored_as])
        assert run.rejections(session_id) == ([] if reason is None else [reason])
        if reason is not None:
            assert refused(run)[0]["review_reason"] == decision.reason


def test_reviewer_sees_the_turn_and_what_is_stored_about_the_subject(run):
    run.run("I have been living in Porto for years.", "Yes, really.")
    run.extractor.table = {"Lisbon": [HOME]}
    with run.lab.session() as session:
        session.remember(
            "The user lives in Porto",
            evidence="I have been living in Porto for years.",
            attribute="home_city",
        )
    run.run(LISBON, ("assistant", "How nice."))

    items, context = run.reviewer.calls[-1]
    assert [one.turn.content for one in items] == [LISBON]
    assert [one.content for one in items[0].live_records] == ["The user lives in Porto"]
    assert [turn.content for turn in context.transcript] == [LISBON, "How nice."]
    assert [one.content for one in run.facts()] == [HOME.content]


# --- short sessions and summaries -----------------------------------------------------


def test_summary_is_written_without_a_candidate_and_expires():
    """17.3: the worker writes a session summary even when extraction returns no candidates."""
    told = SessionSummary("They spoke of the weather.", ("wear a coat",))
    with extraction(extractor=TableExtractor(summary=told)) as run:
        session_id = run.run("Is it cold?", ("assistant", "Yes, take a coat."))

        (summary,) = run.facts(summaries=True)
        assert summary.content == "They spoke of the weather.\nDecisions: wear a coat"
        assert (summary.source_kind, summary.status) == ("session_summary", "confirmed")
        days = run.lab.config.ingestion.summary_ttl_days
        assert summary.expires_at == summary.created_at + timedelta(days=days)
        assert summary.event_at == run.state(session_id).ended_at
        assert run.reviewer.calls == []


def test_half_an_emoji_in_a_summary_costs_itself_and_no_memory():
    broken = SessionSummary("They moved \ud83d.", ("Lisbon it is \ud83d",))
    with extraction(extractor=TableExtractor({"Lisbon": [HOME]}, summary=broken)) as run:
        run.run(LISBON, "Thanks.")

        assert [one.content for one in run.facts()] == [HOME.content]
        (summary,) = run.facts(summaries=True)
        assert summary.content == "They moved .\nDecisions: Lisbon it is"


def test_people_of_a_summary_are_mentioned_by_name():
    people = (
        EntityMention("person", "Priya", "about"),
        EntityMention("person", " ", "mentions"),
        EntityMention("person", "Somebody", "mentions", entity_id="of another scope"),
    )
    told = SessionSummary("They spoke of Priya.", mentions=people)
    with extraction(extractor=TableExtractor(summary=told)) as run:
        run.run("Do you know Priya?", ("assistant", "No."))

        (summary,) = run.facts(summaries=True)
        assert summary.content == "They spoke of Priya."
        assert len(summary.entity_ids) == 2
        names = [one.canonical for one in run.lab.session().entities()]
        assert sorted(names) == ["Priya", "ana"]


def test_summary_of_history_is_dated_when_it_happened(run):
    """B56: what is taken in later did not happen now."""
    said = datetime(2019, 5, 8, 13, 56, tzinfo=UTC)
    later = said + timedelta(minutes=2)
    past = [
        PastTurn("old", NewTurn("user", PEANUTS, at=said, external_key="1")),
        PastTurn("old", NewTurn("user", LISBON, at=later, external_key="2")),
    ]
    principal = run.lab.session().principal
    run.lab.runtime.hooks.on_history(principal, past)
    with run.lab.store.write() as tx:
        session_id = tx.sessions.latest("helper", "ana", "old").id
        tx.sessions.request_extraction(session_id)
    run.steps.run(session_id)

    (summary,) = run.facts(summaries=True)
    assert summary.event_at == later
    assert {one.event_at for one in run.facts()} == {said, later}


def test_session_of_one_turn_is_summed_up_without_asking_a_model(run):
    session_id = run.run(PEANUTS)

    assert run.extractor.calls == []
    assert run.facts() == []
    (summary,) = run.facts(summaries=True)
    assert PEANUTS in summary.content
    assert run.event(session_id)["calls"] == 0


def test_session_without_turns_is_done_with_an_event_and_no_summary(run):
    session_id = run.run()

    assert run.facts() == run.facts(summaries=True) == []
    assert run.event(session_id)["summary"] is False
    assert run.state(session_id).extracted_at is not None


def test_only_dialogue_and_tools_that_are_not_the_memorys_are_shown(run):
    session_id = run.ended(
        PEANUTS,
        ("tool", "The user lives in Lisbon. " + LISBON, "memory_search"),
        ("tool", "A table for two is free.", "reserve"),
        ("assistant", "Done."),
    )
    run.steps.run(session_id)

    ((shown, _),) = run.extractor.calls
    assert [turn.content for turn in shown] == [PEANUTS, "A table for two is free.", "Done."]
    assert [one.content for one in run.facts()] == [ALLERGY.content]


def test_small_talk_leaves_nothing_to_remember():
    """B01: facts from a system prompt are nobody's; a quote must stand in the session."""
    ada = make_proposal("The user is an engineer in Seattle", "You are Ada, 31, an engineer")
    with extraction(extractor=TableExtractor(always=[ada])) as run:
        session = run.lab.session(session_id="smalltalk")
        session.add_messages(
            [
                {"role": "system", "content": "You are Ada, 31, an engineer in Seattle."},
                {"role": "user", "content": "ok thanks"},
                {"role": "assistant", "content": "You are welcome."},
            ]
        )
        session_id = run.lab.runtime.hooks.on_session_end(session.principal, extract=True).id
        run.steps.run(session_id)

        assert run.facts() == []
        assert run.rejections(session_id) == ["evidence_not_found"]


# --- where memories go and whom they are about ----------------------------------------


def test_memories_go_to_the_private_scope_until_the_user_scope_is_granted(run):
    run.run(PEANUTS, "Thanks.")
    run.lab.retold.host.grant("helper", ANA, read=True, write=True)
    run.run(LISBON, "Thanks.")

    assert [str(one.scope) for one in run.facts()] == ["agent:helper/ana", "user:ana"]


@pytest.mark.parametrize("grants", ["given", "taken"])
@pytest.mark.parametrize("when", ["review", "compare"])
def test_grants_that_change_during_a_run_decide(run, monkeypatch, grants, when):
    """LLD 8.2: the destination is that of the moment of the commit."""
    host = run.lab.retold.host
    if grants == "taken":
        host.grant("helper", ANA, read=True, write=True)
    part = run.reviewer if when == "review" else ClaimBatch
    method = getattr(part, when)

    def meanwhile(*args, **more):
        answer = method(*args, **more)
        if grants == "given":
            host.grant("helper", ANA, read=True, write=True)
        else:
            host.revoke("helper", ANA)
        return answer

    monkeypatch.setattr(part, when, meanwhile)
    run.run(PEANUTS, LISBON)

    scopes = {str(one.scope) for one in (*run.facts(), *run.facts(summaries=True))}
    assert scopes == {"user:ana" if grants == "given" else "agent:helper/ana"}


def test_claim_about_one_of_several_is_refused_and_names_them(run):
    """17.3: an ambiguous about entity rejects the candidate with the candidate entity ids."""
    sams = two_sams(run)
    quote = "Sam prefers rowing to any other sport."
    sam = EntityMention("person", "Sam", "about")
    run.extractor.always = (make_proposal("Sam prefers rowing", quote, mentions=(sam,)),)
    session_id = run.run(quote, "Thanks.")

    assert run.rejections(session_id) == ["entity_ambiguous"]
    assert sorted(refused(run)[0]["entity_ids"]) == sorted(sams)
    assert run.reviewer.calls == []
    assert run.facts() == []


def test_name_of_several_that_is_only_mentioned_costs_its_link(run):
    two_sams(run)
    quote = "I play chess with Sam every week."
    sam = EntityMention("person", "Sam", "mentions")
    run.extractor.always = (make_proposal("The user plays chess with Sam", quote, mentions=(sam,)),)
    run.run(quote, "Thanks.")

    (fact,) = run.facts()
    assert len(fact.entity_ids) == 1


def two_sams(run):
    """Let two readable scopes know somebody called Sam; return their ids."""
    host, ids = run.lab.retold.host, []
    for scope in ("project:one", "project:two"):
        host.grant("helper", scope, read=True, write=True)
        host.write(scope, "Sam sails", subject="Sam", attribute="hobby")
        ids.append(host.entities(scope, "Sam")[0].id)
    return ids


def test_reviewer_is_shown_what_stands_where_the_claim_would_go_and_nothing_of_other_scopes(run):
    host = run.lab.retold.host
    host.grant("helper", "project:one", read=True, write=False)
    host.write("project:one", "Sam sails", subject="Sam", attribute="hobby")
    quotes = ("Sam plays chess every week.", "Sam plays chess in a club now.")
    sam = EntityMention("person", "Sam", "about")
    proposals = [make_proposal(one, one, attribute="hobby", mentions=(sam,)) for one in quotes]
    shown = []
    for quote, proposal in zip(quotes, proposals, strict=True):
        run.extractor.always = (proposal,)
        run.run(quote, "Thanks.")
        ((item,), _) = run.reviewer.calls[-1]
        shown.append([one.content for one in item.live_records])

    assert shown == [[], [quotes[0]]]
    assert {one.scope for one in run.facts()} == {Scope("agent", "helper/ana")}


def test_new_facts_are_handed_to_the_activator():
    asked = []

    class Activator:
        def activate_written(self, principal, record_id, *, actor):
            asked.append((principal.user_id, record_id))
            raise RuntimeError("its own trouble")

    with extraction(activator=Activator()) as run:
        run.run(PEANUTS, LISBON)

        assert asked == [("ana", one.id) for one in run.facts()]


def test_content_policy_sees_what_a_run_stores():
    policy = FakeContentPolicy(redact={"Lisbon": "a city"}, refuse={"peanuts": "health"})
    told = SessionSummary("The user moved to Lisbon.")
    extractor = TableExtractor(always=[HOBBY, ALLERGY], summary=told)
    with extraction(extractor=extractor, content_policy=policy) as run:
        session_id = run.ended(BEES, "I would rather not say more.")
        run.extractor.always = (HOBBY, make_proposal("The user fears peanuts", BEES))
        run.steps.run(session_id)

        assert [one.content for one in run.facts()] == [HOBBY.content]
        assert run.rejections(session_id) == ["invalid_content"]
        assert run.facts(summaries=True)[0].content == "The user moved to a city."


# --- claims of one run ----------------------------------------------------------------

PORTO = "We live in Porto these days, not in Lisbon."
IN_PORTO = make_proposal("The user lives in Porto", PORTO, attribute="home_city")


@pytest.mark.parametrize("foretold", [True, False], ids=["judged before", "found under the lock"])
def test_claims_of_one_run_meet_as_if_each_were_written_by_itself(monkeypatch, foretold):
    if not foretold:
        monkeypatch.setattr(ClaimBatch, "_met_before", lambda self, place, plan: iter(()))
    double = make_proposal("The user lives in Porto", PORTO, attribute="city_of_residence")
    with extraction({"Lisbon in June": [HOME], "Porto": [IN_PORTO, double]}) as run:
        session_id = run.run(LISBON, PORTO, "And I should know.")
        payload = run.event(session_id)

        assert [one.content for one in run.facts()] == [IN_PORTO.content]
        assert (payload["written"], payload["superseded"]) == (2, 1)
        assert run.rejections(session_id) == ["duplicate_candidate"]


def test_claims_of_one_run_are_compared_by_their_vectors():
    """No index knows a row of the same transaction; its vector is at hand all the same."""
    quotes = ("Tea is served at four.", "At four they serve tea.")
    one, other = (make_proposal(quote, quote, attribute=None) for quote in quotes)
    judge = FakeJudge({(one.content, other.content): "same"})
    with extraction(extractor=TableExtractor(always=[one, other]), judge=judge) as run:
        run.lab.embedder.similar(one.content, other.content, 0.99)
        payload = run.event(run.run(*quotes))

        assert [fact.content for fact in run.facts()] == [one.content]
        assert (payload["written"], payload["already_reinforced"]) == (1, 1)


def test_transcript_is_searched_for_instructions_once_per_look_and_not_per_candidate(monkeypatch):
    """A long session with twenty candidates took eight seconds for it."""
    looked = []

    def counted(turns):
        looked.append(len(turns))
        return void_spans(turns)

    monkeypatch.setattr(candidates, "void_spans", counted)
    with extraction() as run:
        run.run(PEANUTS, LISBON, BEES)

    assert looked == [3, 3, 3]  # as it is staged, opened for the review, and decided

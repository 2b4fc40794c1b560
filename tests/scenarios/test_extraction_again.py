"""Sessions that are extracted once more, and words that may not come back."""

import pytest

from retold.ingest.batch import ClaimBatch
from retold.models import SessionSummary
from retold.testing import TableExtractor, make_proposal
from tests.extraction_support import (
    ALLERGY,
    BEES,
    HOBBY,
    HOME,
    LISBON,
    PEANUTS,
    USUAL,
    extraction,
)

PORTO = "We moved on to Porto last week."
IN_PORTO = make_proposal("The user lives in Porto", PORTO, attribute="home_city")


@pytest.fixture
def run():
    with extraction({**USUAL, "Porto": [IN_PORTO]}) as opened:
        yield opened


def contents(run):
    return [one.content for one in run.facts()]


def blank(run, session_id, *turns):
    """Take the words of some turns away, as retention and erasure do."""
    with run.lab.store.write() as tx:
        seq = tx.sessions.require_seq(session_id)
        for turn in turns:
            tx.run(
                "update session_turns set content = '', blanked_at = ? "
                "where session_seq = ? and turn = ?",
                ("2026-01-15T09:00:00.000000Z", seq, turn),
            )


def without_events(run):
    counts = run.lab.row_counts()
    return {name: count for name, count in counts.items() if not name.startswith("event")}


def test_a_forced_run_reports_what_it_knows_already_and_changes_nothing(run):
    """B20: ingesting one session twice adds nothing, and the trail says that it was known."""
    session_id = run.run(PEANUTS, LISBON, BEES)
    before = without_events(run)

    run.again(session_id)

    payload = run.event(session_id)
    assert (payload["mode"], payload["already_reinforced"], payload["written"]) == ("rerun", 3, 0)
    assert without_events(run) == before


def test_refused_proposals_are_those_of_the_latest_run_alone():
    invented = make_proposal("The user plays chess", "I play chess every day.", attribute="game")
    with extraction({"peanuts": [ALLERGY, invented]}) as run:
        session_id = run.run(PEANUTS, LISBON)
        run.again(session_id)

        assert run.rejections(session_id) == ["evidence_not_found"]
        assert run.event(session_id)["rejected"] == 1


def test_second_request_for_an_extracted_session_asks_no_model(run):
    """B20: what was extracted is not extracted again unless somebody insists."""
    session_id = run.run(PEANUTS, LISBON)
    calls = len(run.extractor.calls)
    with run.lab.store.write() as tx:
        tx.sessions.request_extraction(session_id)

    assert run.steps.run(session_id).reason == "extracted"
    assert len(run.extractor.calls) == calls


def test_the_same_words_told_by_the_application_before_count_once(run):
    """What `remember` stored in the conversation is not confirmed by extracting it."""
    session = run.lab.session(session_id="both")
    session.turn("user", PEANUTS)
    session.turn("user", LISBON)
    session.remember(ALLERGY.content, evidence=PEANUTS, attribute="allergy")
    session_id = run.lab.runtime.hooks.on_session_end(session.principal, extract=True).id
    run.steps.run(session_id)

    allergy = next(one for one in run.facts() if one.content == ALLERGY.content)
    assert allergy.reinforcements == 0
    assert run.event(session_id)["already_reinforced"] == 1


def test_recalled_block_confirms_nothing_however_often_it_is_extracted(run):
    """B02: still one record, and nothing of what came out of memory counts."""
    run.run(PEANUTS, "Please remember it.")
    (known,) = run.facts()
    run.extractor.always = (make_proposal(ALLERGY.content, ALLERGY.content, attribute="allergy"),)
    for number in range(5):
        block = run.lab.session(session_id=f"later {number}").search("allergic to peanuts").text
        assert ALLERGY.content in block
        recalled = run.run(
            "What do you know about me?",
            ("assistant", block),
            ("tool", ALLERGY.content, "memory_search"),
        )
        assert run.event(recalled)["written"] == 0

    (still,) = run.facts()
    assert (still.id, still.reinforcements) == (known.id, known.reinforcements)


# --- what was decided since stays decided ---------------------------------------------


def test_forgotten_fact_does_not_come_back(run):
    """B16: the words behind it are no evidence, no model is shown them, and the run says so."""
    run.extractor.summary = SessionSummary("They spoke of food.")
    session_id = run.run(f"Hello. {PEANUTS}", LISBON)
    run.lab.session().forget(run.facts()[0].id)
    run.extractor.table["Hello"] = [ALLERGY]

    run.again(session_id)

    assert contents(run) == [HOME.content]
    assert run.event(session_id)["rejections"] == {"evidence_forgotten": 1}
    assert run.event(session_id, "extraction.staged")["staged"] == 1
    shown = run.extractor.calls[-1][0]
    assert [turn.content for turn in shown] == ["Hello. […]", LISBON]


def test_paraphrase_of_forgotten_words_does_not_come_back(run):
    session_id = run.run(PEANUTS, LISBON)
    run.lab.session().forget(run.facts()[0].id)
    run.extractor.always = (
        make_proposal("Peanuts make the user ill", "allergic to peanuts, so no", attribute="diet"),
    )

    run.again(session_id)

    assert contents(run) == [HOME.content]


def test_forgotten_summary_does_not_come_back(run):
    run.extractor.summary = SessionSummary("They spoke of Lisbon.")
    session_id = run.run(PEANUTS, LISBON)
    run.lab.session().forget(run.facts(summaries=True)[0].id)
    run.extractor.summary = SessionSummary("They spoke of a city.")

    run.again(session_id)

    assert run.facts(summaries=True) == []


def test_other_summary_takes_the_place_of_the_first(run):
    run.extractor.summary = SessionSummary("They spoke of Lisbon.")
    session_id = run.run(PEANUTS, LISBON)
    run.extractor.summary = SessionSummary("They spoke of Lisbon and of food.")

    run.again(session_id)

    (summary,) = run.facts(summaries=True)
    assert summary.content == "They spoke of Lisbon and of food."
    assert [one.status for one in run.lab.session().history(summary.id)] == [
        "superseded", "confirmed",
    ]  # fmt: skip


@pytest.mark.parametrize("how", ["expired by a person", "replaced by a later session"])
@pytest.mark.parametrize(
    "said_again",
    [
        HOME,
        make_proposal("The user's home is Lisbon", LISBON, attribute="home_city"),
        make_proposal("The user is living in Lisbon", LISBON, attribute="residence"),
    ],
    ids=["the same", "in other words", "under another name"],
)
def test_fact_that_is_history_does_not_come_back(run, how, said_again):
    session_id = run.run(LISBON, "Thanks.")
    if how == "expired by a person":
        run.lab.session().expire(run.facts()[0].id, reason="moved away")
    else:
        run.run(PORTO, "Thanks.")
    active = contents(run)
    before = without_events(run)
    run.extractor.table["Lisbon"] = [said_again]

    run.again(session_id)

    assert contents(run) == active
    assert run.event(session_id)["already_reinforced"] == 1
    assert without_events(run) == before


def test_new_words_bring_back_what_was_history(run):
    run.run(LISBON, "Thanks.")
    run.lab.session().expire(run.facts()[0].id, reason="moved away")
    run.run("We moved to Lisbon in June and like it there.", "Yes, once more.")

    assert contents(run) == [HOME.content]


# --- words that are gone --------------------------------------------------------------


def test_blanked_turns_are_neither_shown_nor_quoted(run):
    session_id = run.run(PEANUTS, LISBON, BEES)
    blank(run, session_id, 1)
    run.extractor.always = (ALLERGY,)

    run.again(session_id)

    assert [turn.content for turn in run.extractor.calls[-1][0]] == [LISBON, BEES]
    assert run.event(session_id)["rejections"] == {"evidence_not_found": 1}


def test_session_whose_words_are_all_gone_keeps_what_it_told(run):
    session_id = run.run(PEANUTS, LISBON)
    blank(run, session_id, 1, 2)
    before = without_events(run)

    run.again(session_id)

    assert without_events(run) == before
    assert run.event(session_id)["proposed"] == 0


@pytest.mark.parametrize("when", ["extract", "review", "compare"])
def test_words_that_go_during_a_run_come_back_nowhere(when, monkeypatch):
    """Nor in the summary that a model wrote of them."""
    told = SessionSummary("The user cannot eat peanuts and lives in Lisbon.")
    with extraction(extractor=TableExtractor(USUAL, summary=told)) as run:
        session_id = run.ended(PEANUTS, LISBON, BEES)

        part = {"extract": run.extractor, "review": run.reviewer, "compare": ClaimBatch}[when]
        method = getattr(part, when)

        def meanwhile(*args, **more):
            answer = method(*args, **more)
            blank(run, session_id, 1)
            return answer

        monkeypatch.setattr(part, when, meanwhile)
        assert run.steps.run(session_id).done == "reviewed"

        assert sorted(contents(run)) == sorted([HOME.content, HOBBY.content])
        (summary,) = run.facts(summaries=True)
        assert "peanuts" not in summary.content
        with run.lab.store.read() as tx:
            staged = tx.one("select count(*) from extraction_drafts")
        assert staged == (0,)


def test_words_that_are_forgotten_during_the_review_back_nothing(run):
    session = run.lab.session(session_id="both")
    session.turn("user", PEANUTS)
    session.turn("user", LISBON)
    known = session.remember(ALLERGY.content, evidence=PEANUTS, attribute="allergy")
    session_id = run.lab.runtime.hooks.on_session_end(session.principal, extract=True).id
    review = run.reviewer.review

    def meanwhile(*args, **more):
        run.lab.session().forget(known.record_id)
        return review(*args, **more)

    run.reviewer.review = meanwhile
    run.steps.run(session_id)

    assert contents(run) == [HOME.content]
    assert run.rejections(session_id) == ["evidence_forgotten"]

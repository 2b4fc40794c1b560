"""Runs that are killed, overtaken or raced: nothing half-done, nothing lost, nothing twice."""

import itertools

import pytest

import retold.store.store as store_module
from retold.errors import (
    EmbeddingProfileMismatch,
    InvalidCompletion,
    InvalidInput,
    ModelTimeout,
    ProviderOutage,
    StaleComparison,
)
from retold.ingest.batch import ClaimBatch
from retold.ingest.lexical_judge import LexicalJudge
from retold.models import EntityMention, TokenUsage, WriteRequest
from retold.operations.sweep import Sweep
from retold.store import Transaction
from retold.store.claims import ClaimRepository
from retold.store.evidence import EvidenceRepository
from retold.store.meta import EmbeddingIdentity
from retold.testing import FakeCandidateReviewer, FakeCompletionClient, make_proposal
from tests.extraction_model import accept_everything, propose_every_line
from tests.extraction_support import ALLERGY, BEES, HOME, LISBON, PEANUTS, extraction
from tests.store_support import problems

PORTO = "We left Lisbon and live in Porto now."


@pytest.fixture
def run():
    with extraction() as opened:
        yield opened


def contents(run):
    return [one.content for one in run.facts()]


def counts(run):
    found = run.lab.row_counts()
    names = ("records", "entities", "extraction_drafts", "record_evidence", "embeddings")
    return {name: found[name] for name in names}


def run_events(run, session_id):
    with run.lab.store.read() as tx:
        kinds = [one.kind for one in tx.events.list_for_session(session_id)]
    return kinds.count("extraction.run")


# --- a reviewer or a model that fails -------------------------------------------------


@pytest.mark.parametrize(
    "failure",
    [ModelTimeout("late"), InvalidCompletion("half a review"), ProviderOutage("down"), KeyError()],
    ids=["late", "malformed", "down", "crashed"],
)
def test_failed_review_stores_nothing_and_only_the_review_is_done_again(failure):
    """17.3: no candidates, no summary, extracted_at empty; the session is claimed again."""
    with extraction(reviewer=FakeCandidateReviewer(errors=[failure])) as run:
        session_id = run.ended(PEANUTS, LISBON)
        assert run.steps.run(session_id).done == "failed"

        assert counts(run) == {**dict.fromkeys(counts(run), 0), "extraction_drafts": 3}
        state = run.state(session_id)
        assert (state.stage, state.token, state.extracted_at) == ("review", None, None)
        run.lab.clock.advance(minutes=10)
        assert run.steps.run(session_id).done == "reviewed"
        assert contents(run) == [ALLERGY.content, HOME.content]
        assert (len(run.extractor.calls), len(run.reviewer.calls)) == (1, 2)


def test_malformed_answer_of_the_extractor_changes_nothing_that_is_stored():
    """B14: nothing is retired by a job whose model answers nonsense; it fails visibly."""
    with extraction(settings={"queue": {"max_attempts": 2}}) as run:
        run.run(LISBON, "Thanks.")
        before = counts(run)
        run.extractor.error = InvalidCompletion("no list of candidates")
        session_id = run.ended(PORTO, "Thanks.")
        outcomes = []
        for _ in range(2):
            outcomes.append(run.steps.run(session_id).done)
            run.lab.clock.advance(hours=1)

        assert outcomes == ["failed", "set_aside"]
        assert counts(run) == before
        assert contents(run) == [HOME.content]
        assert run.event(session_id, "extraction.dead")["code"] == "invalid_completion"


def test_budget_of_a_run_covers_both_steps_and_leaves_the_session_due():
    """B78: a hard budget stops the job cleanly."""
    settings = {"hosted": {"tokens_per_run": 150}}
    reviewer = FakeCandidateReviewer(usage=TokenUsage(90, 10, 1))
    with extraction(settings=settings, reviewer=reviewer) as run:
        run.extractor.usage = TokenUsage(80, 20, 1)
        session_id = run.ended(PEANUTS, LISBON)
        outcome = run.steps.run(session_id)

        assert (outcome.done, outcome.reason) == ("failed", "budget_exhausted")
        assert contents(run) == []
        state = run.state(session_id)
        assert (state.stage, state.attempts, state.failed_at) == ("review", 0, None)


def test_drafts_that_are_gone_fail_the_review_visibly(run):
    session_id = run.ended(PEANUTS, LISBON)
    run.reviewer.errors = [ProviderOutage("down")]
    run.steps.run(session_id)
    with run.lab.store.write() as tx:
        tx.extraction.unstage(session_id)
    run.lab.clock.advance(hours=1)

    assert run.steps.run(session_id).reason == "draft_lost"
    assert contents(run) == []

    with run.lab.store.write() as tx:
        tx.claims.bury(session_id, "draft_lost")
        tx.claims.revive(session_id)
    assert run.steps.run(session_id).done == "reviewed"
    assert contents(run) == [ALLERGY.content, HOME.content]


# --- killed between two statements ----------------------------------------------------


class Killed(BaseException):
    """What a process does not survive."""


class Killer:
    """Kill the process before its statement number ``at``, commits counted, and keep it dead."""

    def __init__(self, monkeypatch):
        self.at = None
        self.count = 0
        immediate = store_module._immediate

        def counted(method):
            def call(tx, *args):
                self.step()
                return method(tx, *args)

            return call

        class Committing:
            def __init__(inner, connection):
                inner.held = immediate(connection)

            def __enter__(inner):
                self.step()
                return inner.held.__enter__()

            def __exit__(inner, kind, error, trace):
                if kind is None:
                    self.step()
                return inner.held.__exit__(kind, error, trace)

        monkeypatch.setattr(Transaction, "run", counted(Transaction.run))
        monkeypatch.setattr(Transaction, "one", counted(Transaction.one))
        monkeypatch.setattr(store_module, "_immediate", Committing)

    def step(self):
        self.count += 1
        if self.at is not None and self.count > self.at:
            raise Killed

    def survives(self, at, call):
        """Make the call with a death before statement ``at``; None means that it was killed."""
        self.at, self.count = at, 0
        try:
            return call()
        except Killed:
            return None
        finally:
            self.at = None


def test_death_between_any_two_statements_loses_nothing_and_doubles_nothing(monkeypatch):
    with extraction({"peanuts": [ALLERGY]}, settings={"queue": {"max_attempts": 100_000}}) as run:
        session_id = run.ended(PEANUTS, "That is all.")
        killer = Killer(monkeypatch)
        empty = counts(run)
        at, deaths, stage = 0, {"extract": 0, "review": 0}, "extract"
        while killer.survives(at, lambda: run.steps.run(session_id)) is None:
            state = run.state(session_id)
            if state.extracted_at is not None:
                break
            if state.stage != stage:
                stage, at = state.stage, 0
            staged = {"extraction_drafts": 2} if stage == "review" else {}
            assert counts(run) == {**empty, **staged}
            deaths[stage] += 1
            at += 1
            run.lab.clock.advance(minutes=31)

        assert deaths["extract"] > 20
        assert deaths["review"] > 60
        assert contents(run) == [ALLERGY.content]
        assert len(run.facts(summaries=True)) == 1
        assert run_events(run, session_id) == 1
        state = run.state(session_id)
        assert (state.token, state.stage) == (None, "extract")
        assert counts(run)["extraction_drafts"] == 0
        assert problems(run.lab.path) == []


# --- a claim that was lost ------------------------------------------------------------


@pytest.mark.parametrize("step", ["extract", "review"])
@pytest.mark.parametrize("other", ["has finished", "has only begun"])
def test_zombie_whose_claim_ran_out_cannot_commit(run, step, other):
    session_id = run.ended(PEANUTS, LISBON)
    part = run.extractor if step == "extract" else run.reviewer
    method = getattr(part, step)
    outcomes = []

    def asleep(*args, **more):
        setattr(part, step, method)
        run.lab.clock.advance(minutes=31)
        if other == "has finished":
            outcomes.append(run.steps.run(session_id).done)
        else:
            with run.lab.store.write() as tx:
                tx.claims.take(tx.claims.require(session_id), attempts=2)
        return method(*args, **more)

    setattr(part, step, asleep)
    before = counts(run)
    zombie = run.steps.run(session_id)

    assert zombie.done == "lost"
    if other == "has finished":
        assert outcomes == ["reviewed"]
        assert contents(run) == [ALLERGY.content, HOME.content]
        assert run_events(run, session_id) == 1
    else:
        staged = {"extraction_drafts": 3} if step == "review" else {}
        assert counts(run) == {**before, **staged}


@pytest.mark.parametrize("how", ["withdrawn", "asked for once more"])
def test_session_that_was_taken_back_meanwhile_stores_nothing(run, how):
    session_id = run.ended(PEANUTS, LISBON)
    review = run.reviewer.review

    def meanwhile(*args, **more):
        with run.lab.store.write() as tx:
            tx.claims.withdraw(session_id) if how == "withdrawn" else tx.claims.rerun(session_id)
        return review(*args, **more)

    run.reviewer.review = meanwhile
    assert run.steps.run(session_id).done == "lost"

    assert counts(run)["records"] == 0


def test_models_are_asked_under_a_renewed_claim_and_outside_every_transaction(run, monkeypatch):
    session_id = run.ended(PEANUTS, LISBON)
    seen = []

    def watched(owner, name):
        method = getattr(owner, name)

        def call(*args, **more):
            seen.append(name)
            if name != "renew":
                with run.lab.store.write() as tx:  # nobody holds the lock
                    tx.meta.records_version()
            return method(*args, **more)

        monkeypatch.setattr(owner, name, call)

    watched(ClaimRepository, "renew")
    watched(run.extractor, "extract")
    watched(run.reviewer, "review")
    watched(run.lab.embedder, "embed_documents")
    watched(LexicalJudge, "judge")
    watched(LexicalJudge, "support")
    run.steps.run(session_id)

    order = [name for name, _ in itertools.groupby(seen)]
    assert order[:5] == ["renew", "extract", "renew", "review", "renew"]
    assert {"support", "embed_documents"} <= set(order[5:])


LONG = [f"{said} {'We talked on and on. ' * 120}" for said in (PEANUTS, LISBON, BEES)]
"""Three windows of a model that sees a thousand tokens at once."""
NARROW = {"ingestion": {"extraction_window_tokens": 1000}}


def test_calls_that_together_take_longer_than_a_claim_lasts_keep_it():
    def slowly(request):
        run.lab.clock.advance(minutes=20)
        assert Sweep(run.lab.store, run.lab.config, len).run().freed == 0
        answer = propose_every_line if request.task == "extraction" else accept_everything
        return answer(request)

    client = FakeCompletionClient(slowly)
    with extraction(completions=client, structured=True, settings=NARROW) as run:
        run.run(*LONG)

    assert [one.task for one in client.requests][:3] == ["extraction"] * 3


def test_model_is_not_asked_again_for_a_session_that_was_taken_away():
    def taken(request):
        with run.lab.store.write() as tx:
            tx.claims.rerun(session_id)
        return propose_every_line(request)

    client = FakeCompletionClient(taken)
    with extraction(completions=client, structured=True, settings=NARROW) as run:
        session_id = run.ended(*LONG)

        assert run.steps.run(session_id).done == "lost"
    assert len(client.requests) == 1


# --- others that write meanwhile ------------------------------------------------------


def says(run, quote, content, attribute):
    session = run.lab.session(session_id="meanwhile")
    session.turn("user", quote)
    return session.remember(content, evidence=quote, attribute=attribute)


@pytest.mark.parametrize("when", ["while the reviewer reads", "after it was compared"])
def test_newer_word_that_is_written_meanwhile_stands(run, monkeypatch, when):
    """The comparison is looked at again under the lock, and made anew."""
    session_id = run.ended(LISBON, "Thanks.")
    owner, name = (run.reviewer, "review") if when.startswith("while") else (ClaimBatch, "compare")
    method, done = getattr(owner, name), []

    def meanwhile(*args, **more):
        answer = method(*args, **more)
        if not done:
            run.lab.clock.advance(minutes=5)
            done.append(says(run, PORTO, "The user lives in Porto", "home_city"))
        return answer

    monkeypatch.setattr(owner, name, meanwhile)
    run.steps.run(session_id)

    assert contents(run) == ["The user lives in Porto"]
    payload = run.event(session_id)
    assert (payload["written"], payload["superseded"]) == (1, 1)


def test_same_word_that_is_written_meanwhile_is_met_and_not_doubled(run, monkeypatch):
    session_id = run.ended(LISBON, "Thanks.")
    compare, done = ClaimBatch.compare, []

    def meanwhile(batch):
        compare(batch)
        if not done:
            done.append(says(run, LISBON, HOME.content, "home_city"))

    monkeypatch.setattr(ClaimBatch, "compare", meanwhile)
    run.steps.run(session_id)

    assert contents(run) == [HOME.content]
    assert run.event(session_id)["reinforced"] == 1


def test_same_word_about_nobody_that_is_written_meanwhile_is_met_too(run, monkeypatch):
    """It is found by its nearness alone, of which the lock knows that something came."""
    session = run.lab.session()
    session_id = run.ended(LISBON, "Thanks.")
    compare, done = ClaimBatch.compare, []

    def meanwhile(batch):
        compare(batch)
        if not done:
            scope = session.principal.private_scope
            done.append(run.lab.retold.host.write(scope, HOME.content))

    monkeypatch.setattr(ClaimBatch, "compare", meanwhile)
    run.steps.run(session_id)

    assert contents(run) == [HOME.content]


def test_batch_that_was_compared_under_other_rights_is_not_stored(run):
    session = run.lab.session("ana", "helper", session_id="batch")
    session.turn("user", LISBON)
    runtime, host, scope = run.lab.runtime, run.lab.retold.host, session.principal.user_scope
    host.grant("helper", scope, read=True, write=True)
    with run.lab.store.read() as tx:
        segment = tx.sessions.latest("helper", "ana", "batch")
    request = WriteRequest("semantic", HOME.content, scope=scope, evidence=LISBON)
    batch = runtime.ingestor.batch(session.principal, segment, [request])
    batch.compare()
    host.grant("helper", scope, read=False, write=True)

    with run.lab.store.write() as tx, pytest.raises(StaleComparison):
        batch.store(tx)
    assert counts(run)["records"] == 0


def test_vectors_of_a_model_that_the_store_has_left_meanwhile_are_not_stored(run):
    """Both writes look: without ``require_embedding`` the batch mixes two models for ever."""
    session = run.lab.session("ana", "helper", session_id="batch")
    session.turn("user", LISBON)
    run.lab.runtime.hooks.on_session_end(session.principal)
    with run.lab.store.read() as tx:
        segment = tx.sessions.latest("helper", "ana", "batch")
    ingestor, principal = run.lab.runtime.ingestor, session.principal
    request = WriteRequest("semantic", HOME.content, evidence=LISBON)
    batch = ingestor.batch(principal, segment, [request])
    batch.compare()
    summary = ingestor.summary(principal, segment, "They moved.", actor="extractor")
    with run.lab.store.write() as tx:
        tx.meta.set_embedding_identity(EmbeddingIdentity("another", "1", 8))

    with run.lab.store.write() as tx, pytest.raises(EmbeddingProfileMismatch):
        batch.store(tx)
    with run.lab.store.write() as tx, pytest.raises(EmbeddingProfileMismatch):
        ingestor.store_summary(tx, summary, segment)
    assert counts(run)["records"] == 0


def test_claim_that_is_refused_half_way_leaves_nothing_of_itself(run, monkeypatch):
    insert, failed = EvidenceRepository.insert, []

    def refuse_first(repository, *args, **more):
        if not failed:
            failed.append(None)
            raise InvalidInput("no")
        insert(repository, *args, **more)

    monkeypatch.setattr(EvidenceRepository, "insert", refuse_first)
    session_id = run.run(PEANUTS, LISBON)

    assert contents(run) == [HOME.content]
    assert run.rejections(session_id) == ["invalid_content"]
    assert problems(run.lab.path) == []


def test_run_gives_up_after_a_while_when_others_never_stop_writing(monkeypatch):
    with extraction(settings={"store": {"busy_timeout_seconds": 0.05}}) as run:
        session_id = run.ended(LISBON, "Thanks.")
        compare, number = ClaimBatch.compare, []

        def meanwhile(batch):
            compare(batch)
            number.append(None)
            says(run, f"I like tea number {len(number)}.", f"Tea {len(number)} is liked", "tea")

        monkeypatch.setattr(ClaimBatch, "compare", meanwhile)
        outcome = run.steps.run(session_id)

        assert (outcome.done, outcome.reason) == ("failed", "write_contended")
        assert run.state(session_id).attempts == 0
        assert HOME.content not in contents(run)


def test_refused_claim_leaves_nothing_of_itself_and_stops_no_other(run, monkeypatch):
    """Somebody of that name is made twice between the comparison and the lock."""
    quote = "Priya prefers rowing to any other sport."
    scope = run.lab.session().principal.private_scope
    about = EntityMention("person", "Priya", "about")
    run.extractor.always = (make_proposal("Priya prefers rowing", quote, mentions=(about,)),)
    session_id = run.ended(quote, PEANUTS)
    compare, done = ClaimBatch.compare, []

    def meanwhile(batch):
        compare(batch)
        if not done:
            done.append(None)
            with run.lab.store.write() as tx:
                for _ in range(2):
                    tx.entities.insert("person", "Priya", scope, ["priya"])

    monkeypatch.setattr(ClaimBatch, "compare", meanwhile)
    run.steps.run(session_id)

    assert contents(run) == [ALLERGY.content]
    assert run.rejections(session_id) == ["entity_ambiguous"]

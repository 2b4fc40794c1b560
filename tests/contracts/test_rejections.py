"""Every rule of every contract refuses a double that is broken in just that respect."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import json
import threading
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from retold.errors import BudgetExhausted, InvalidCompletion, InvalidInput, RetoldSetupError
from retold.models import (
    ExtractionOutput,
    ReviewDecision,
    ReviewOutput,
    RewriteResult,
    TokenUsage,
    Verdict,
)
from retold.protocols import EmbeddedTexts
from retold.testing import (
    CountingIds,
    FakeBudget,
    FakeCandidateReviewer,
    FakeClock,
    FakeCompletionClient,
    FakeContentPolicy,
    FakeEmbedder,
    FakeJudge,
    FakeQueue,
    FakeReranker,
    FakeRewriter,
    TableExtractor,
    contracts,
    make_principal,
    make_proposal,
)

FIXTURES = {
    contracts.EmbedderContract: ("embedder", FakeEmbedder),
    contracts.TokenEmbedderContract: ("token_embedder", FakeEmbedder),
    contracts.JudgeContract: ("judge", FakeJudge),
    contracts.RerankerContract: ("reranker", FakeReranker),
    contracts.RewriterContract: ("rewriter", FakeRewriter),
    contracts.JobQueueContract: ("queue", FakeQueue),
    contracts.RecordActivatorContract: ("activator", lambda: Activator()),
    contracts.ContentPolicyContract: ("policy", FakeContentPolicy),
    contracts.CompletionClientContract: ("completions", lambda: Answering()),
    contracts.ClockContract: ("clock", FakeClock),
    contracts.IdSourceContract: ("id_source", CountingIds),
    contracts.ExtractorContract: ("extractor", TableExtractor),
    contracts.CandidateReviewerContract: ("reviewer", FakeCandidateReviewer),
    contracts.BudgetContract: ("budget", lambda: FakeBudget(1_000)),
}
RULES = [
    (contract, name) for contract in FIXTURES for name in vars(contract) if name.startswith("test_")
]


def keep_rule(contract, rule, double):
    """Run one rule, in all its parameter sets, on a double; raise what the rule raises."""
    suite = contract()
    check = getattr(suite, rule)
    fixtures = {
        FIXTURES[contract][0]: double,
        "unreachable_queue": double,
        "failing_completions": double
        if getattr(double, "fails", False)
        else FakeCompletionClient(),
        "written": (make_principal(), CountingIds.nth(1)),
    }
    for case in cases_of(check):
        wanted = inspect.signature(check).parameters
        check(**{name: value for name, value in (fixtures | case).items() if name in wanted})


def cases_of(check):
    """Yield the arguments of every parameter set of a rule."""
    marks = [mark for mark in getattr(check, "pytestmark", ()) if mark.name == "parametrize"]
    for chosen in itertools.product(*(mark.args[1] for mark in marks)):
        case = {}
        for mark, values in zip(marks, chosen, strict=True):
            names = mark.args[0]
            case |= (
                {names: values} if isinstance(names, str) else dict(zip(names, values, strict=True))
            )
        yield case


# --- doubles that are broken in one respect -------------------------------------------


class Meeting:
    """Let two worker threads meet, so that what they share goes wrong for certain."""

    def __init__(self) -> None:
        self._barrier = threading.Barrier(2)

    def hold(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            self._barrier.wait(30)


class Activator:
    """An activator that makes what it knows ambient, for its own user."""

    known = CountingIds.nth(1)

    def activate_written(self, principal, record_id, *, actor):
        if record_id == self.known and principal == make_principal():
            return "ambient", "preference"
        return "conditional", "not_readable"


class NamelessEmbedder(FakeEmbedder):
    name = ""


class UnsizedEmbedder(FakeEmbedder):
    dims = 0

    def __init__(self):
        super().__init__(dims=8)


class LongEmbedder(FakeEmbedder):
    def embed_queries(self, texts):
        return super().embed_queries(texts) * 2


class WideEmbedder(FakeEmbedder):
    def embed_documents(self, texts):
        return super().embed_documents(texts).astype(np.float64)


class ShortEmbedder(FakeEmbedder):
    def embed_documents(self, texts):
        return super().embed_documents(texts)[:-1]


class FlatEmbedder(FakeEmbedder):
    def embed_queries(self, texts):
        return super().embed_queries(texts) if texts else np.empty((0,), np.float32)


class SortingEmbedder(FakeEmbedder):
    def embed_documents(self, texts):
        return super().embed_documents(sorted(texts))


class DriftingEmbedder(FakeEmbedder):
    def embed_queries(self, texts):
        return super().embed_queries([f"{text} {self.calls}" for text in texts])


class NeverLoadedEmbedder(FakeEmbedder):
    is_loaded = False


class DecliningEmbedder(FakeEmbedder):
    offers_token_vectors = False


class TokenlessEmbedder(FakeEmbedder):
    """Its texts have no tokens."""

    def embed_queries_with_tokens(self, texts):
        vectors, tokens = super().embed_queries_with_tokens(texts)
        return EmbeddedTexts(vectors, [rows[:0] for rows in tokens])


class LongTokensEmbedder(FakeEmbedder):
    def embed_documents_with_tokens(self, texts):
        vectors, tokens = super().embed_documents_with_tokens(texts)
        return EmbeddedTexts(vectors, [rows * 2 for rows in tokens])


class OtherVectorsEmbedder(FakeEmbedder):
    def embed_documents_with_tokens(self, texts):
        vectors, tokens = super().embed_documents_with_tokens(texts)
        return EmbeddedTexts(vectors[::-1], tokens)


class EagerTokensEmbedder(FakeEmbedder):
    def embed_queries_with_tokens(self, texts):
        return super().embed_queries_with_tokens(texts or ["nothing"])


class SharingEmbedder(FakeEmbedder):
    def __init__(self):
        super().__init__()
        self._meeting = Meeting()

    def embed_documents(self, texts):
        self._texts = texts
        self._meeting.hold()
        return super().embed_documents(self._texts)


class AnsweringJudge(FakeJudge):
    """A judge whose verdict on two claims a subclass gives."""

    def verdict(self, a, b):
        return super().judge(a, b)

    def judge(self, a, b):
        return self.verdict(a, b)


class NamelessJudge(FakeJudge):
    name = ""


class VagueJudge(AnsweringJudge):
    def verdict(self, a, b):
        return Verdict("maybe", "model")


class RulelessJudge(AnsweringJudge):
    def verdict(self, a, b):
        return Verdict("distinct", "")


class LogitJudge(AnsweringJudge):
    def verdict(self, a, b):
        return Verdict("distinct", "model", {"contradicts": 3.2})


class DriftingJudge(AnsweringJudge):
    def verdict(self, a, b):
        self.judged.append((a, b))
        return Verdict("distinct", f"rule {len(self.judged)}")


class ContraryJudge(AnsweringJudge):
    def verdict(self, a, b):
        return Verdict("distinct", "model")


class SharingJudge(AnsweringJudge):
    def __init__(self):
        super().__init__()
        self._meeting = Meeting()

    def verdict(self, a, b):
        self._pair = (a, b)
        self._meeting.hold()
        return Verdict("distinct", self._pair[0][:20] or "blank")


class FloatJudge(FakeJudge):
    def support(self, quote, claim, *, names=()):
        return 0.9


class PercentJudge(FakeJudge):
    def support(self, quote, claim, *, names=()):
        return Verdict("unknown", "model", {"entails": 90.0})


class NamesOnlyJudge(FakeJudge):
    def support(self, quote, claim):
        return None


class DoubtingJudge(FakeJudge):
    def support(self, quote, claim, *, names=()):
        return Verdict("unknown", "model", {"entails": 0.0})


class NamelessReranker(FakeReranker):
    name = ""


class LogitReranker(FakeReranker):
    def score(self, query, docs):
        return [-4.2] * len(docs)


class NanReranker(FakeReranker):
    def score(self, query, docs):
        return [float("nan")] * len(docs)


class ShortReranker(FakeReranker):
    def score(self, query, docs):
        return super().score(query, docs)[:-1]


class SortingReranker(FakeReranker):
    def score(self, query, docs):
        return sorted((len(doc) / 100 for doc in docs), reverse=True)


class EagerReranker(FakeReranker):
    def score(self, query, docs):
        return super().score(query, docs) or [0.0]


class DriftingReranker(FakeReranker):
    def score(self, query, docs):
        return [min(1.0, len(self.calls) / 10)] * len(super().score(query, docs))


class SharingReranker(FakeReranker):
    def __init__(self):
        super().__init__()
        self._meeting = Meeting()

    def score(self, query, docs):
        self._docs = docs
        self._meeting.hold()
        return [len(doc) / 100 for doc in self._docs]


class ListRewriter(FakeRewriter):
    def rewrite(self, queries, context):
        return list(queries)


class JoiningRewriter(FakeRewriter):
    def rewrite(self, queries, context):
        return RewriteResult((" ".join(queries),), "applied")


class BlankRewriter(FakeRewriter):
    def rewrite(self, queries, context):
        return RewriteResult(("",) * len(queries), "applied")


class BoastingRewriter(FakeRewriter):
    def rewrite(self, queries, context):
        return RewriteResult(tuple(queries), "applied")


class TightBudget(FakeBudget):
    """Refuse the last token."""

    def __init__(self):
        super().__init__(999)


class LooseBudget(FakeBudget):
    """Look at what was used and not at what waits."""

    def reserve(self, provider, tokens):
        waiting, self.reserved = self.reserved, 0
        super().reserve(provider, tokens)
        self.reserved += waiting


class GrabbingBudget(FakeBudget):
    """Set aside first, and look then."""

    def reserve(self, provider, tokens):
        self.reserved += tokens
        if self.used.tokens + self.reserved > self.limit:
            raise BudgetExhausted("too many")


class KeepingBudget(FakeBudget):
    """Count the estimate, whatever was used."""

    def settle(self, provider, reserved, used):
        super().settle(provider, reserved, TokenUsage(reserved, 0, used.calls))


class FearfulBudget(FakeBudget):
    """Count a request that never left as if it had."""

    def settle(self, provider, reserved, used):
        super().settle(provider, reserved, used if used.calls else TokenUsage(reserved, 0, 1))


class CappingBudget(FakeBudget):
    """Believe that nothing uses more than was set aside."""

    def settle(self, provider, reserved, used):
        super().settle(provider, reserved, TokenUsage(min(used.tokens, reserved), 0, used.calls))


class RacingBudget(FakeBudget):
    """Look and set aside in two steps, with everybody else in between."""

    def __init__(self):
        super().__init__(1_000)
        self.others = threading.Barrier(4)

    def reserve(self, provider, tokens):
        there_is_room = self.used.tokens + self.reserved + tokens <= self.limit
        self.others.wait()
        if not there_is_room:
            raise BudgetExhausted("too many")
        with self._lock:
            self.reserved += tokens


class OnceQueue(FakeQueue):
    def request_extraction(self, session_id):
        if session_id in self.requested:
            raise ValueError(session_id)
        super().request_extraction(session_id)


class OneThreadQueue(FakeQueue):
    def __init__(self):
        super().__init__()
        self._owner = threading.get_ident()

    def request_extraction(self, session_id):
        if threading.get_ident() != self._owner:
            raise RuntimeError("made in another thread")


class RaisingQueue(FakeQueue):
    def request_extraction(self, session_id):
        raise ConnectionError("refused")


class HangingQueue(FakeQueue):
    def __init__(self):
        super().__init__()
        self._released = threading.Event()

    def request_extraction(self, session_id):
        self._released.wait(60)

    def release(self):
        self._released.set()


class BooleanActivator(Activator):
    def activate_written(self, principal, record_id, *, actor):
        return True, None


class BlankActivator(Activator):
    def activate_written(self, principal, record_id, *, actor):
        return "conditional", " "


class TogglingActivator(Activator):
    turns = 0

    def activate_written(self, principal, record_id, *, actor):
        self.turns += 1
        return ("ambient" if self.turns % 2 else "conditional"), "toggled"


class RaisingActivator(Activator):
    def activate_written(self, principal, record_id, *, actor):
        if record_id != self.known:
            raise KeyError(record_id)
        return "conditional", None


class HastyActivator(Activator):
    def activate_written(self, principal, record_id, *, actor):
        return "ambient", "why not"


class TrustingActivator(Activator):
    def activate_written(self, principal, record_id, *, actor):
        return ("ambient" if record_id == self.known else "conditional"), None


class Policy:
    """A policy that a subclass breaks in one respect."""

    def apply(self, text, *, where):
        return text


class ForgetfulPolicy(Policy):
    def apply(self, text, *, where):
        text.replace("4111", "****")


class BlankingPolicy(Policy):
    def apply(self, text, *, where):
        return " " if "4111" in text else text


class CrashingPolicy(Policy):
    def apply(self, text, *, where):
        if "@" in text:
            raise ValueError("an address")
        return text


class TellingPolicy(Policy):
    def apply(self, text, *, where):
        if "sk-" in text:
            raise InvalidInput(f"{text!r} holds a key")
        return text


class TellingDetailsPolicy(Policy):
    def apply(self, text, *, where):
        if "@" in text:
            raise InvalidInput("an address is not kept", found=text)
        return text


class DriftingPolicy(Policy):
    turns = 0

    def apply(self, text, *, where):
        self.turns += 1
        return text.replace("4111", f"[card {self.turns}]")


class MarkingPolicy(Policy):
    def apply(self, text, *, where):
        return f"[checked] {text}"


class TurnsOnlyPolicy(Policy):
    def apply(self, text, *, where):
        return text.replace("hunter2", "[password]") if where == "turn" else text


class SharingPolicy(Policy):
    def __init__(self):
        self._meeting = Meeting()

    def apply(self, text, *, where):
        self._text = text
        self._meeting.hold()
        return self._text


class Answering(FakeCompletionClient):
    """A client that answers everything, and that a subclass breaks in one respect."""

    def __init__(self):
        super().__init__(lambda request: {"answer": "yes, it is so"})


class UnreadyCompletions(Answering):
    def require_ready(self, model):
        raise RetoldSetupError("no key")


class TextCompletions(Answering):
    def complete(self, request, *, budget=None):
        answered = super().complete(request, budget=budget)
        return dataclasses.replace(answered, value=json.dumps(answered.value))


class FreeCompletions(Answering):
    def __init__(self):
        super().__init__()
        self.usage = TokenUsage()


class UncountedCompletions(Answering):
    def complete(self, request, *, budget=None):
        return super().complete(request)


class HoardingCompletions(Answering):
    def complete(self, request, *, budget=None):
        budget.reserve("fake", 9)
        return super().complete(request, budget=budget)


class HastyCompletions(Answering):
    def complete(self, request, *, budget=None):
        answered = super().complete(request)
        budget.settle("fake", 0, answered.usage)
        return answered


class SilentCompletions(Answering):
    fails = True

    def complete(self, request, *, budget=None):
        raise InvalidCompletion("no answer", usage=TokenUsage())


class TellingCompletions(Answering):
    fails = True

    def complete(self, request, *, budget=None):
        completion = super().complete(request, budget=budget)
        raise InvalidCompletion(f"no answer to {request.prompt}", usage=completion.usage)


class CrashingCompletions(Answering):
    fails = True

    def complete(self, request, *, budget=None):
        super().complete(request, budget=budget)
        raise KeyError("choices")


class ShowingCompletions(Answering):
    def __repr__(self):
        return f"Showing({self.requests[-1].prompt})"


class SharingCompletions(Answering):
    def __init__(self):
        super().__init__()
        self._meeting = Meeting()

    def complete(self, request, *, budget=None):
        self._budget, mine = budget, super().complete(request, budget=budget)
        self._meeting.hold()
        self._uses = getattr(self, "_uses", 0) + 1
        return dataclasses.replace(mine, usage=TokenUsage(self._uses, 0, 1))


class ThreadClock(FakeClock):
    """A clock that has a zone in the main thread only."""

    def __call__(self):
        now = super().__call__()
        main = threading.current_thread() is threading.main_thread()
        return now if main else now.replace(tzinfo=timezone(timedelta(hours=1)))


class BackwardIds:
    def __init__(self):
        self._numbers = itertools.count(10**6, -1)

    def __call__(self):
        return CountingIds.nth(next(self._numbers))


class ThreadIds(CountingIds):
    """Ids that each thread counts for itself."""

    def __init__(self):
        self._own = threading.local()

    def __call__(self):
        self._own.count = getattr(self._own, "count", 0) + 1
        return self.nth(self._own.count)


class PlacelessExtractor(TableExtractor):
    def extract(self, transcript, context, *, budget=None):
        return ExtractionOutput((make_proposal(), make_proposal()), None, positions=(0, 0))


class LineExtractor(TableExtractor):
    def extract(self, transcript, context, *, budget=None):
        return ExtractionOutput((make_proposal(evidence_turn=1),), None, positions=(0,))


class EagerExtractor(TableExtractor):
    def extract(self, transcript, context, *, budget=None):
        return ExtractionOutput((make_proposal(),), None, positions=(0,))


class AnsweringReviewer(FakeCandidateReviewer):
    def __init__(self, *decisions):
        super().__init__()
        self.answer = decisions

    def review(self, items, context, *, budget=None):
        return ReviewOutput(self.answer[: len(items)])


def lacking(base, name):
    """Return a double without one member of its port."""
    return lambda: type(f"No_{name}", (), {k: v for k, v in vars(base).items() if k != name})()


BROKEN = {
    ("EmbedderContract", "is_one"): [lambda: object(), lacking(FakeEmbedder, "embed_queries")],
    ("EmbedderContract", "knows_its_identity_before_it_is_loaded"): [
        NamelessEmbedder, UnsizedEmbedder, lambda: FakeEmbedder(version=""),
    ],
    ("EmbedderContract", "returns_one_unit_row_for_every_text"): [
        LongEmbedder, WideEmbedder, ShortEmbedder,
    ],
    ("EmbedderContract", "returns_no_rows_for_no_texts"): [FlatEmbedder],
    ("EmbedderContract", "keeps_the_order_of_the_texts"): [SortingEmbedder],
    ("EmbedderContract", "repeats_itself"): [DriftingEmbedder],
    ("EmbedderContract", "is_loaded_after_it_was_used"): [NeverLoadedEmbedder],
    ("EmbedderContract", "serves_several_threads"): [SharingEmbedder],
    ("TokenEmbedderContract", "is_one"): [
        DecliningEmbedder, lacking(FakeEmbedder, "embed_documents_with_tokens"),
    ],
    ("TokenEmbedderContract", "returns_unit_rows_for_every_text"): [
        TokenlessEmbedder, LongTokensEmbedder,
    ],
    ("TokenEmbedderContract", "returns_the_vectors_of_the_texts_too"): [OtherVectorsEmbedder],
    ("TokenEmbedderContract", "returns_nothing_for_no_texts"): [EagerTokensEmbedder],
    ("JudgeContract", "is_one"): [lambda: object(), NamelessJudge],
    ("JudgeContract", "answers_every_pair"): [VagueJudge, RulelessJudge, LogitJudge],
    ("JudgeContract", "repeats_itself"): [DriftingJudge],
    ("JudgeContract", "calls_a_claim_the_same_as_itself"): [ContraryJudge],
    ("JudgeContract", "scores_support_or_declines"): [FloatJudge, PercentJudge, NamesOnlyJudge],
    ("JudgeContract", "lets_a_claim_support_itself"): [DoubtingJudge],
    ("JudgeContract", "serves_several_threads"): [SharingJudge],
    ("RerankerContract", "is_one"): [lambda: object(), NamelessReranker],
    ("RerankerContract", "scores_every_document_between_0_and_1"): [
        LogitReranker, NanReranker, ShortReranker,
    ],
    ("RerankerContract", "keeps_the_order_of_the_documents"): [SortingReranker],
    ("RerankerContract", "scores_no_documents"): [EagerReranker],
    ("RerankerContract", "repeats_itself"): [DriftingReranker],
    ("RerankerContract", "serves_several_threads"): [SharingReranker],
    ("RewriterContract", "is_one"): [lambda: object()],
    ("RewriterContract", "returns_as_many_queries_as_it_got"): [
        ListRewriter, JoiningRewriter, BlankRewriter,
    ],
    ("RewriterContract", "says_unchanged_when_nothing_changed"): [BoastingRewriter],
    ("BudgetContract", "is_one"): [lambda: object()],
    ("BudgetContract", "lets_its_limit_through_and_no_token_more"): [
        TightBudget, lambda: LooseBudget(1_000),
    ],
    ("BudgetContract", "sets_nothing_aside_when_it_refuses"): [lambda: GrabbingBudget(1_000)],
    ("BudgetContract", "gives_back_what_a_request_did_not_use"): [lambda: KeepingBudget(1_000)],
    ("BudgetContract", "gives_back_everything_of_a_request_that_never_left"): [
        lambda: FearfulBudget(1_000),
    ],
    ("BudgetContract", "counts_more_than_was_set_aside"): [lambda: CappingBudget(1_000)],
    ("BudgetContract", "holds_for_calls_side_by_side"): [RacingBudget],
    ("JobQueueContract", "is_one"): [lambda: object()],
    ("JobQueueContract", "takes_any_session_more_than_once"): [OnceQueue],
    ("JobQueueContract", "takes_sessions_from_several_threads"): [OneThreadQueue],
    ("JobQueueContract", "swallows_what_its_back_end_raises"): [RaisingQueue],
    ("JobQueueContract", "returns_although_its_back_end_hangs"): [HangingQueue],
    ("RecordActivatorContract", "is_one"): [lambda: object()],
    ("RecordActivatorContract", "answers_with_an_activation_and_a_reason"): [
        BooleanActivator, BlankActivator,
    ],
    ("RecordActivatorContract", "decides_alike_when_it_is_asked_again"): [TogglingActivator],
    ("RecordActivatorContract", "never_makes_an_absent_record_ambient"): [
        RaisingActivator, HastyActivator,
    ],
    ("RecordActivatorContract", "never_makes_a_strangers_record_ambient"): [TrustingActivator],
    ("ContentPolicyContract", "is_one"): [lambda: object()],
    ("ContentPolicyContract", "answers_with_text_or_a_refusal"): [
        ForgetfulPolicy, BlankingPolicy, CrashingPolicy,
    ],
    ("ContentPolicyContract", "repeats_nothing_of_a_text_that_it_refuses"): [
        TellingPolicy, TellingDetailsPolicy,
    ],
    ("ContentPolicyContract", "decides_alike_when_it_is_asked_again"): [DriftingPolicy],
    ("ContentPolicyContract", "changes_nothing_more_the_second_time"): [MarkingPolicy],
    ("ContentPolicyContract", "leaves_a_turn_and_its_quote_alike"): [TurnsOnlyPolicy],
    ("ContentPolicyContract", "serves_several_threads"): [SharingPolicy],
    ("ExtractorContract", "is_one"): [lambda: object()],
    ("ExtractorContract", "gives_every_proposal_its_own_position"): [PlacelessExtractor],
    ("ExtractorContract", "cites_turns_of_the_session"): [LineExtractor],
    ("ExtractorContract", "proposes_nothing_from_nothing"): [EagerExtractor],
    ("CandidateReviewerContract", "is_one"): [lambda: object()],
    ("CandidateReviewerContract", "decides_on_every_candidate"): [
        AnsweringReviewer,
        lambda: AnsweringReviewer(*[ReviewDecision("perhaps", "")] * 3),
    ],
    ("CandidateReviewerContract", "gives_a_revision_with_revise_and_never_else"): [
        lambda: AnsweringReviewer(*[ReviewDecision("revise", "narrower")] * 3),
    ],
    ("CompletionClientContract", "is_one"): [
        lambda: object(), lacking(FakeCompletionClient, "require_ready"),
    ],
    ("CompletionClientContract", "is_ready_for_a_model_that_it_asks"): [UnreadyCompletions],
    ("CompletionClientContract", "answers_with_an_object_and_its_cost"): [
        TextCompletions, FreeCompletions,
    ],
    ("CompletionClientContract", "counts_in_the_budget_what_it_says_it_used"): [
        UncountedCompletions, HoardingCompletions,
    ],
    ("CompletionClientContract", "asks_nobody_when_the_budget_is_too_small"): [HastyCompletions],
    ("CompletionClientContract", "fails_with_an_error_that_counts_and_tells_nothing"): [
        SilentCompletions, TellingCompletions, CrashingCompletions,
    ],
    ("CompletionClientContract", "shows_nothing_of_question_or_answer"): [ShowingCompletions],
    ("CompletionClientContract", "serves_several_threads"): [SharingCompletions],
    ("ClockContract", "tells_a_moment_of_utc"): [
        lambda: lambda: 1764500000.0,
        lambda: lambda: datetime(2026, 1, 1),
        lambda: lambda: datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=1))),
    ],
    ("ClockContract", "serves_several_threads"): [ThreadClock],
    ("IdSourceContract", "ids_are_uuids_of_version_7_in_canonical_text"): [
        lambda: lambda: "record-1",
        lambda: lambda: "00000000-0000-4000-8000-000000000001",
        lambda: lambda: CountingIds.nth(10).upper(),
    ],
    ("IdSourceContract", "ids_sort_by_creation"): [BackwardIds, lambda: lambda: CountingIds.nth(1)],
    ("IdSourceContract", "ids_of_several_threads_are_distinct"): [ThreadIds],
}  # fmt: skip
"""Broken doubles by contract and rule, whose name is left without ``test_`` and its subject."""


def short_name(contract, rule):
    """Return the key of a rule in the table."""
    subject = FIXTURES[contract][0]
    return contract.__name__, rule.removeprefix("test_").removeprefix(f"{subject}_")


def test_contract_rejects_something_with_every_rule():
    """A rule without a broken double could be empty and nobody would see it."""
    assert {short_name(*rule) for rule in RULES} == set(BROKEN)


@pytest.mark.parametrize(
    ("contract", "rule", "make"),
    [
        pytest.param(contract, rule, make, id=f"{'-'.join(short_name(contract, rule))}-{place}")
        for contract, rule in RULES
        for place, make in enumerate(BROKEN.get(short_name(contract, rule), ()))
    ],
)
def test_contract_rejects_a_double_broken_in_one_respect(contract, rule, make, monkeypatch):
    monkeypatch.setattr(contracts.JobQueueContract, "patience_seconds", 0.01)
    double = make()
    with pytest.raises((Exception, pytest.fail.Exception)):
        keep_rule(contract, rule, double)
    getattr(double, "release", lambda: None)()


@pytest.mark.parametrize(
    ("contract", "rule"), RULES, ids=["-".join(short_name(*rule)) for rule in RULES]
)
def test_contract_accepts_the_sound_double_by_the_same_way(contract, rule):
    keep_rule(contract, rule, FIXTURES[contract][1]())


@pytest.mark.parametrize("contract", FIXTURES, ids=[one.__name__ for one in FIXTURES])
def test_contract_says_which_fixture_to_override(contract):
    name = FIXTURES[contract][0]
    fixture = vars(contract)[name]
    with pytest.raises(pytest.fail.Exception, match=f"override the fixture `{name}`"):
        inspect.unwrap(fixture)(contract())


def test_clock_of_the_table_is_sound_where_it_stands():
    assert ThreadClock()().tzinfo is UTC

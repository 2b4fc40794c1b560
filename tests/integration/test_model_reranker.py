"""The cross-encoder reranker on tiny models whose scores are known, alone and in a search."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor

import numpy as np
import pytest

from retold.config import RetoldConfig
from retold.errors import ConfigError, RerankError, RetoldSetupError
from retold.index.device import Placement
from retold.index.reranker import BgeReranker
from retold.protocols import Reranker
from retold.runtime import Overrides, build_runtime
from retold.testing import FakeEmbedder, FakeJudge
from retold.testing.contracts import RerankerContract
from retold.testing.contracts.reranker import DOCS, QUERY
from tests.scenarios.support import contents
from tests.tiny_models import nli_model, reranker_model

pytestmark = pytest.mark.models

ONE_THREAD = Placement("cpu", 1)
WHERE = "harbour fair"
FIRST, SECOND, THIRD = (f"{name} note of May" for name in ("First", "Second", "Third"))
SCORES = {(WHERE, FIRST): 0.6, (WHERE, SECOND): 0.9, (WHERE, THIRD): 0.2, (QUERY, DOCS[0]): 0.9}
PATIENCE_SECONDS = 60
"""How long a test waits for a thread before it fails; a passing one never waits for it."""
SHORT_MS = 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Make the model once."""
    return str(reranker_model(tmp_path_factory.mktemp("reranker"), SCORES))


@pytest.fixture
def make(folder):
    """Return a maker of rerankers, closed after the test."""
    rerankers = []

    def one(model=folder, timeout_ms=PATIENCE_SECONDS * 1000):
        rerankers.append(BgeReranker(model, timeout_ms=timeout_ms, placement=ONE_THREAD))
        return rerankers[-1]

    yield one
    for reranker in rerankers:
        reranker.close()


class TestBgeReranker(RerankerContract):
    @pytest.fixture
    def reranker(self, make) -> Reranker:
        return make()


class Hanging:
    """Stand in the place of a model whose call comes back when the test says so."""

    is_loaded = True

    def __init__(self, reranker, monkeypatch):
        self.entered = threading.Event()
        self.released = threading.Event()
        self.calls = 0
        monkeypatch.setattr(reranker, "_model", self)

    def logits(self, pairs, *, batch_size):
        self.calls += 1
        self.entered.set()
        assert self.released.wait(PATIENCE_SECONDS)
        return np.zeros((len(pairs), 1))


def test_scores_are_those_of_the_model_in_the_order_of_the_documents(make):
    assert make().score(WHERE, (THIRD, FIRST, SECOND)) == pytest.approx((0.2, 0.6, 0.9), abs=1e-4)


def test_scores_lie_between_0_and_1_whatever_activation_the_model_names(tmp_path, make):
    """Many cross-encoders name Identity, and a floor would then cut raw outputs."""
    model = reranker_model(tmp_path, SCORES, activation="torch.nn.modules.linear.Identity")

    assert make(str(model)).score(WHERE, (SECOND, THIRD)) == pytest.approx((0.9, 0.2), abs=1e-4)


def test_long_document_is_cut_to_what_the_model_reads(make):
    (score,) = make().score(WHERE, (FIRST * 500,))

    assert 0.0 <= score <= 1.0


def test_nothing_is_loaded_and_no_thread_started_before_the_first_call(make):
    before = threading.active_count()
    reranker = make()

    assert not reranker.is_loaded
    assert threading.active_count() == before
    assert reranker.score(WHERE, ()) == ()
    assert not reranker.is_loaded

    reranker.warm()
    assert reranker.is_loaded


def test_many_threads_share_one_daemon_thread_and_one_load(make, monkeypatch):
    import sentence_transformers

    loads, threads = [], set()
    real_class = sentence_transformers.CrossEncoder

    def counted(*args, **kwargs):
        loads.append(args)
        return real_class(*args, **kwargs)

    monkeypatch.setattr(sentence_transformers, "CrossEncoder", counted)
    reranker = make()
    scored = reranker._scores

    def watched(*args):
        threads.add(threading.current_thread())
        return scored(*args)

    monkeypatch.setattr(reranker, "_scores", watched)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: reranker.score(WHERE, (FIRST, SECOND)), range(24)))

    assert len(loads) == 1
    assert [thread.daemon for thread in threads] == [True]
    assert all(answer == pytest.approx((0.6, 0.9), abs=1e-4) for answer in answers)


def test_hanging_model_is_given_up_at_the_deadline(make, monkeypatch):
    """The call comes back though the model never does; without the deadline this test hangs."""
    reranker = make(timeout_ms=SHORT_MS)
    model = Hanging(reranker, monkeypatch)

    with pytest.raises(TimeoutError):
        reranker.score(WHERE, (FIRST,))

    assert not model.released.is_set()
    model.released.set()


def test_pass_behind_a_hanging_one_is_refused_at_once_and_never_reaches_the_model(
    make, monkeypatch
):
    reranker = make(timeout_ms=SHORT_MS)
    model = Hanging(reranker, monkeypatch)
    with pytest.raises(TimeoutError):
        reranker.score(WHERE, (FIRST,))
    reranker._timeout_seconds = PATIENCE_SECONDS

    with pytest.raises(TimeoutError, match="given up"):
        reranker.score(WHERE, (SECOND,))

    assert model.calls == 1
    model.released.set()


def test_late_answer_is_dropped_and_the_next_pass_gets_its_own(make, monkeypatch):
    reranker = make(timeout_ms=SHORT_MS)
    with monkeypatch.context() as patch:
        model = Hanging(reranker, patch)
        with pytest.raises(TimeoutError):
            reranker.score(WHERE, (FIRST, SECOND, THIRD))
        late = reranker._overdue
        model.released.set()
        assert late.result(PATIENCE_SECONDS) == (0.5, 0.5, 0.5)
    reranker._timeout_seconds = PATIENCE_SECONDS

    assert reranker.score(WHERE, (SECOND,)) == pytest.approx((0.9,), abs=1e-4)


def test_pass_that_waited_in_line_too_long_is_never_run(make, monkeypatch):
    reranker = make()
    model = Hanging(reranker, monkeypatch)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(reranker.score, WHERE, (FIRST,))
        assert model.entered.wait(PATIENCE_SECONDS)
        reranker._timeout_seconds = SHORT_MS / 1000
        with pytest.raises(TimeoutError):
            reranker.score(WHERE, (SECOND,))
        model.released.set()
        assert running.result() == (0.5,)
    reranker.close()

    assert model.calls == 1


def test_closing_ends_the_thread_and_refuses_further_calls(make):
    reranker = make()
    reranker.warm()
    thread = reranker._thread

    reranker.close()
    reranker.close()

    assert not thread.is_alive()
    with pytest.raises(RerankError, match="closed"):
        reranker.score(WHERE, (FIRST,))


def test_closing_cancels_what_waits_and_does_not_wait_for_a_hanging_model(make, monkeypatch):
    reranker = make()
    model = Hanging(reranker, monkeypatch)
    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(reranker.score, WHERE, (FIRST,))
        assert model.entered.wait(PATIENCE_SECONDS)
        waiting = reranker._enqueue(WHERE, (SECOND,))
        reranker._timeout_seconds = SHORT_MS / 1000
        reranker.close()
        model.released.set()

        assert running.result() == (0.5,)
        with pytest.raises(CancelledError):
            waiting.result(PATIENCE_SECONDS)
    assert model.calls == 1


def test_error_of_the_model_reaches_the_caller_without_the_texts(make):
    reranker = make()

    with pytest.raises(RerankError) as caught:
        reranker.score(WHERE, ("secret \ud800",))

    assert "secret" not in str(caught.value)
    assert reranker.score(WHERE, (SECOND,)) == pytest.approx((0.9,), abs=1e-4)


def test_error_that_quotes_the_texts_is_told_by_its_kind_alone(make, monkeypatch):
    """Put ``str(failure)`` into the error of ``logits`` and what memories say is in the log."""
    reranker = make()
    reranker.warm()

    def predict(pairs, **_):
        raise ValueError(f"cannot read {pairs}")

    monkeypatch.setattr(reranker._model._model.get(), "predict", predict)

    with pytest.raises(RerankError, match="ValueError") as caught:
        reranker.score(WHERE, ("secret",))

    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_model_with_several_outputs_is_refused_before_it_is_loaded(tmp_path):
    labels = ("contradiction", "entailment", "neutral")
    nli_model(tmp_path, {("a", "b"): "neutral"}, labels=labels)

    with pytest.raises(ConfigError, match=r"reranker\.model: .* has 3 outputs"):
        BgeReranker(str(tmp_path))


@pytest.mark.usefixtures("empty_hub_cache")
def test_missing_reranker_is_refused_at_once():
    with pytest.raises(RetoldSetupError, match="retold models pull BAAI/bge-reranker-v2-m3"):
        BgeReranker("BAAI/bge-reranker-v2-m3")


# --- in a search ------------------------------------------------------------------------


@pytest.fixture
def searched(tmp_path, folder):
    """Return a maker of searches over three notes, two of them above the floors."""
    runtimes = []

    def search(*, spoil=None, **reranker):
        block = {"enabled": True, "model": folder, "floor": 0.5, "timeout_ms": 60_000, **reranker}
        config = RetoldConfig.model_validate({"embedding": {"dims": 64}, "reranker": block})
        embedder = FakeEmbedder(dims=64)
        for note, cosine in ((FIRST, 0.8), (SECOND, 0.7), (THIRD, 0.1)):
            embedder.similar(note, WHERE, cosine)
        given = Overrides(embedder=embedder, judge=FakeJudge())
        path = tmp_path / f"memory{len(runtimes)}.sqlite"
        runtime = build_runtime(config, path, overrides=given)
        runtimes.append(runtime)
        if spoil is not None:
            spoil(runtime.own_reranker)
        from retold import Retold

        session = Retold(runtime).session("ana")
        for note in (FIRST, SECOND, THIRD):
            session.remember(note, type="episodic", evidence=note)
        page = session.search(WHERE)
        with runtime.store.read() as tx:
            return page, tx.search_log.get(page.search_id), runtime

    yield search
    for runtime in runtimes:
        runtime.close()


def test_search_is_reordered_by_the_model_that_the_settings_name(searched):
    page, log, _ = searched()

    assert contents(page) == [SECOND, FIRST]
    assert [item.score for item in page] == pytest.approx([0.9, 0.6], abs=1e-4)
    assert log["rerank_status"] == "applied"


def test_model_alone_decides_where_it_replaces_the_floors(searched):
    """THIRD lies below the dense floor: it is scored here, and cut by the reranker's own floor."""
    page, log, _ = searched(mode="cross_encoder_only", floor=0.1)

    assert contents(page) == [SECOND, FIRST, THIRD]
    assert log["rerank_status"] == "applied"
    assert contents(searched(mode="cross_encoder_only", floor=0.5)[0]) == [SECOND, FIRST]


@pytest.mark.parametrize("mode", ["rrf_cross_encoder", "cross_encoder_only"])
def test_hanging_model_leaves_the_fused_order_above_the_floors(searched, monkeypatch, mode):
    """In both placements the floors hold when the model does not answer."""
    models = []
    page, log, _ = searched(
        mode=mode, timeout_ms=SHORT_MS, spoil=lambda one: models.append(Hanging(one, monkeypatch))
    )
    models[0].released.set()

    assert contents(page) == [FIRST, SECOND]
    assert log["rerank_status"] == "timeout"


def test_closing_the_store_ends_the_thread_of_its_reranker(searched):
    _, _, runtime = searched()
    thread = runtime.own_reranker._thread

    runtime.close()

    assert not thread.is_alive()


def test_closing_the_store_leaves_a_given_reranker_alone(tmp_path, make):
    config = RetoldConfig.model_validate({"reranker": {"enabled": True, "floor": 0.5}})
    given = Overrides(embedder=FakeEmbedder(dims=64), judge=FakeJudge(), reranker=make())
    build_runtime(config, tmp_path / "memory.sqlite", overrides=given).close()

    assert given.reranker.score(WHERE, (SECOND,)) == pytest.approx((0.9,), abs=1e-4)

"""Trying the models that settings ask for: each is loaded and asked something plain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from retold.config import RetoldConfig
from retold.errors import ModelError
from retold.index.model_files import find_model
from retold.operations.models import ModelRole, damage
from retold.operations.status import embedder_state
from retold.util import Timer

QUESTION: Final = "Where does the user live?"
HOME: Final = "The user lives in Lisbon."
ELSEWHERE: Final = "The user does not live in Lisbon."
QUOTE: Final = "The user lives in Lisbon and works at a bank."
UNRELATED: Final = "The build takes nine minutes."


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """How one model did. ``problem`` is None when it passed; times are milliseconds."""

    role: ModelRole
    name: str
    sha256: str | None
    dims: int | None
    load_ms: float | None
    call_ms: float | None
    measured: Mapping[str, float]
    problem: str | None


@dataclass(slots=True)
class _Trial:
    """What a trial has found so far."""

    sha256: str | None
    timer: Timer = field(default_factory=Timer)
    dims: int | None = None
    measured: dict[str, float] = field(default_factory=dict)
    problem: str | None = None


def check_models(config: RetoldConfig) -> Iterator[ModelCheck]:
    """Load each model that a configuration needs, ask it something plain, and yield the answer.

    Raises RetoldSetupError for a model that is not here, ConfigError for one of the wrong kind.
    """
    yield _checked("embedder", config.embedding.model, lambda trial: _try_embedder(config, trial))
    judge = config.ingestion.equivalence.model
    yield _checked("judge", judge, lambda trial: _try_judge(config, trial))
    if config.reranker.enabled:
        name = config.reranker.model
        yield _checked("reranker", name, lambda trial: _try_reranker(config, trial))


def _checked(role: ModelRole, name: str, attempt: Callable[[_Trial], None]) -> ModelCheck:
    files = find_model(name)
    trial = _Trial(None) if files is None else _Trial(files.sha256, problem=damage(files))
    if trial.problem is None:
        try:
            attempt(trial)
        except ModelError as error:
            trial.problem = error.message
    stages = trial.timer.stages
    return ModelCheck(
        role,
        name,
        trial.sha256,
        trial.dims,
        stages.get("load"),
        stages.get("call"),
        trial.measured,
        trial.problem,
    )


def _try_embedder(config: RetoldConfig, trial: _Trial) -> None:
    from retold.index.embedder import embedder_from_config

    embedder = embedder_from_config(config.embedding)
    with trial.timer.stage("load"):
        embedder.embed_queries(("warm",))
    with trial.timer.stage("call"):
        (question,) = embedder.embed_queries((QUESTION,))
    related, unrelated = embedder.embed_documents((HOME, UNRELATED)) @ question
    trial.dims = embedder.dims
    if config.embedding.is_packaged:
        trial.sha256 = embedder_state(config.embedding).sha256  # checked by the load
    _compare(trial, float(related), float(unrelated))


def _try_reranker(config: RetoldConfig, trial: _Trial) -> None:
    from retold.index.reranker import reranker_from_config

    reranker = reranker_from_config(config)
    try:
        with trial.timer.stage("load"):
            reranker.warm()
        with trial.timer.stage("call"):
            related, unrelated = reranker.score(QUESTION, (HOME, UNRELATED))
        _compare(trial, related, unrelated)
    except TimeoutError:
        trial.problem = f"no answer within reranker.timeout_ms, {config.reranker.timeout_ms} ms"
    finally:
        reranker.close()


def _try_judge(config: RetoldConfig, trial: _Trial) -> None:
    from retold.ingest.judges import judge_from_config

    judge = judge_from_config(config)
    with trial.timer.stage("load"):
        judge.judge(QUESTION, UNRELATED)
    with trial.timer.stage("call"):
        verdict = judge.judge(HOME, ELSEWHERE)
    support = judge.support(QUOTE, HOME)
    trial.measured["support"] = 0.0 if support is None else support.entails
    if verdict.label != "contradicts":
        trial.problem = f"it calls a plain contradiction {verdict.label}"
    elif trial.measured["support"] < config.ingestion.evidence.entail_floor:
        trial.problem = "a quote that says the claim does not support it"


def _compare(trial: _Trial, related: float, unrelated: float) -> None:
    trial.measured |= {"related": related, "unrelated": unrelated}
    if related <= unrelated:
        trial.problem = "a text that answers the question scores no higher than one that does not"

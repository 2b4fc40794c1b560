"""One file of cases, through every pipeline that it is to be measured with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final, Literal, get_args

from retold.config import LEXICAL_JUDGE, RetoldConfig
from retold.config.retrieval import Context, GateConfig
from retold.operations.evaluation.asking import Answers, Said, ask_all
from retold.operations.evaluation.bm25 import PlainBm25
from retold.operations.evaluation.cases import Case
from retold.operations.evaluation.searching import OpenRuntime, Searched, StoredCase

Pipeline = Literal["design", "measured", "bm25"]
PIPELINES: Final[tuple[Pipeline, ...]] = get_args(Pipeline)
"""Both presets, and plain BM25 to hold them against."""

EVERYTHING: Final = 10_000
"""More candidates than any search has: recall is measured of all that was found."""

Gates = Callable[[RetoldConfig], Sequence[GateConfig]]
"""Return the gates that each logged search is decided by once more."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is to be measured.

    ``config`` holds for both presets: a lever that it sets is set in both. ``context`` None takes
    ``turns`` for the raw turns of conversations and ``facts`` for everything else.
    """

    cases: Sequence[Case]
    prompts: Sequence[str]
    config: RetoldConfig
    context: Context | None = None


def evaluate(
    evaluation: Evaluation,
    pipelines: Sequence[Pipeline],
    open_runtime: OpenRuntime,
    folder: Path,
    *,
    said: Said,
    gates: Gates = lambda _: (),
) -> Mapping[Pipeline, Answers]:
    """Return what each pipeline makes of the cases, each case in a store of its own in ``folder``.

    Raises what opening, writing and searching raise.
    """
    results: dict[Pipeline, Answers] = {}
    numbers = count()
    for place, pipeline in enumerate(pipelines):

        def opened(case: Case, pipeline: Pipeline = pipeline) -> Searched:
            config = pipeline_config(evaluation, pipeline, case)
            if pipeline == "bm25":
                return PlainBm25(case, config.retrieval.default_k)
            path = folder / f"{pipeline}-{next(numbers)}.sqlite"
            return StoredCase(case, config, open_runtime, path, gates(config))

        def shown(
            text: str, share: float, place: int = place, pipeline: Pipeline = pipeline
        ) -> None:
            said(f"{pipeline}: {text}", (place + share) / len(pipelines))

        results[pipeline] = ask_all(evaluation.cases, evaluation.prompts, opened, shown)
    return results


def pipeline_config(evaluation: Evaluation, pipeline: Pipeline, case: Case) -> RetoldConfig:
    """Return the settings of one pipeline for one case.

    Only the preset and, in ``measured``, the context differ between pipelines. What would call a
    hosted model or load a judge is off, since trusted imports are neither rewritten nor compared,
    and searches are logged in full, with everything that they found.
    """
    config = evaluation.config
    context = context_of(evaluation, case)
    retrieval = config.retrieval.model_copy(
        update={
            "preset": "measured" if pipeline == "measured" else "design",
            "context": context if pipeline == "measured" else "facts",
            "pool_limit": EVERYTHING,
            "rewrite": config.retrieval.rewrite.model_copy(update={"enabled": False}),
        }
    )
    equivalence = config.ingestion.equivalence.model_copy(update={"model": LEXICAL_JUDGE})
    return config.model_copy(
        update={
            "retrieval": retrieval,
            "ingestion": config.ingestion.model_copy(update={"equivalence": equivalence}),
            "queue": config.queue.model_copy(update={"backend": "none"}),
            "logs": config.logs.model_copy(update={"detail": "full"}),
        }
    )


def context_of(evaluation: Evaluation, case: Case) -> Context:
    """Return what the items of a case are to the measured preset."""
    return evaluation.context or ("turns" if case.is_turns else "facts")

"""``retold evaluate``: how well searches find what is known to answer, and when they keep quiet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from retold.cli.document import echo_document
from retold.cli.options import GlobalOptions, global_options
from retold.cli.progress import Progress
from retold.errors import InvalidInput

if TYPE_CHECKING:
    from retold.config import RetoldConfig
    from retold.operations.evaluation.asking import Answers
    from retold.operations.evaluation.evaluate import Evaluation, Pipeline

PIPELINES: Final = ("design", "measured", "bm25")


@click.command()
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Conversations or facts with questions about them, one JSON object a line.",
)
@click.option(
    "--no-memory",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Prompts that no memory can help, one JSON object a line.  [default: no-memory*.jsonl "
    "beside --data]",
)
@click.option(
    "--preset",
    "pipelines",
    multiple=True,
    type=click.Choice(PIPELINES),
    help="Measure only this one; give it again for another.  [default: all]",
)
@click.option(
    "--context",
    type=click.Choice(("facts", "turns")),
    help="What the items are to the measured preset.  [default: by the data]",
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Ask at most N questions, messages and prompts of each sort; stores stay whole.",
)
@click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Keep vectors here for the next run, by digests of their texts.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.png",
    help="Draw recall by depth, and the gate at every threshold; needs retold[plot].",
)
@global_options
@click.pass_obj
def evaluate(
    options: GlobalOptions,
    *,
    data: Path,
    no_memory: Path | None,
    pipelines: tuple[Pipeline, ...],
    context: str | None,
    sample: int | None,
    cache: Path | None,
    plot: Path | None,
) -> None:
    """Measure what searches find in a file of questions whose answers are known.

    Both presets and plain BM25 stand side by side. Each conversation gets a store of its own that
    goes away; each question is asked when exactly what it may know is stored, the clock at its
    moment. Without --profile or --config the offline profile is measured.
    """
    if options.store:
        raise InvalidInput("an evaluation makes its own stores; leave --store away")
    from retold.cli.evaluating import evaluated_config
    from retold.cli.evaluation_plot import checked_target, draw
    from retold.cli.evaluation_text import evaluation_lines, headlines
    from retold.operations.evaluation.summary import flat

    if plot is not None:
        checked_target(plot)
    config = evaluated_config(options)
    evaluation = read_evaluation(data, no_memory, sample, config, context)
    results = run(evaluation, pipelines or PIPELINES, cache, with_curve=plot is not None)
    if plot is not None:
        draw(results, plot, data.name)
    if options.as_json:
        echo_document({name: flat(answers) for name, answers in results.items()})
        return
    lines = (*headlines(data.name, evaluation), *evaluation_lines(results))
    click.echo("\n".join(lines))


def read_evaluation(
    data: Path,
    no_memory: Path | None,
    sample: int | None,
    config: RetoldConfig,
    context: str | None = None,
) -> Evaluation:
    """Return what is to be measured. Raises InvalidInput for a broken file, OSError for none."""
    from retold.operations.evaluation.asking import sampled, sampled_prompts
    from retold.operations.evaluation.cases import find_prompts, read_cases, read_prompts
    from retold.operations.evaluation.evaluate import Evaluation

    cases = read_cases(data)
    unknown = sum(case.unknown_gold for case in cases)
    if unknown:
        click.echo(
            f"{unknown} answers of {data.name} name nothing in it and count as missed", err=True
        )
    beside = no_memory or find_prompts(data)
    prompts = [] if beside is None else read_prompts(beside)
    if not any(case.needed for case in cases):
        raise InvalidInput(f"{data.name} has no question with an answer")
    return Evaluation(
        sampled(cases, sample),
        sampled_prompts(prompts, sample),
        config,
        None if context is None else ("turns" if context == "turns" else "facts"),
    )


def run(
    evaluation: Evaluation,
    pipelines: tuple[Pipeline, ...],
    cache: Path | None,
    *,
    with_curve: bool = False,
) -> Mapping[Pipeline, Answers]:
    """Measure, and say on standard error how far it is."""
    from retold.cli.evaluating import laboratory
    from retold.operations.evaluation.asking import texts_of
    from retold.operations.evaluation.evaluate import evaluate as measured
    from retold.operations.evaluation.sweep import gates_of

    progress = Progress("measured")
    with laboratory(evaluation.config, cache) as lab:
        if set(pipelines) != {"bm25"}:
            embedding = Progress("embedded")
            queries, items = texts_of(evaluation.cases, evaluation.prompts)
            lab.embedder.prefetch(queries, items, embedding.show)
            embedding.end()
        try:
            return measured(
                evaluation,
                pipelines,
                lab.open_runtime,
                lab.folder,
                said=progress.show,
                gates=gates_of if with_curve else lambda _: (),
            )
        finally:
            progress.end()

"""``retold calibrate``: the thresholds of the gate for one's own embedder and store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from retold.cli.document import echo_document
from retold.cli.opening import hide_bars, opened_store, with_threads
from retold.cli.options import FiniteRange, GlobalOptions, ScopeName, global_options
from retold.cli.text import clean, count, heading, labelled, table
from retold.errors import InvalidInput

if TYPE_CHECKING:
    from retold.models import Scope
    from retold.operations.calibration import Admission, Calibration, Spread

_FAMILIES: Final = ("semantic", "episodic", "procedural", "session_summary")
_PART: Final = FiniteRange(min=0, max=1, min_open=True, max_open=True)


@click.command()
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=ScopeName(),
    help="Measure only this scope; give it again for another.  [default: the fullest 20]",
)
@click.option(
    "--no-memory",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Unrelated prompts of your own, one JSON object with a text a line.",
)
@click.option("--admit", type=_PART, help="Let this part of them through.  [default: 0.15]")
@click.option(
    "--admit-auto",
    type=_PART,
    help="Let this part of them through a host-issued search.  [default: 0.03]",
)
@click.option(
    "--write",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.yaml",
    help="Write the thresholds, with what they rest on, as a part of a configuration.",
)
@global_options
@click.pass_obj
def calibrate(
    options: GlobalOptions,
    *,
    scopes: tuple[Scope, ...],
    no_memory: Path | None,
    admit: float | None,
    admit_auto: float | None,
    write: Path | None,
) -> None:
    """Measure what prompts that have nothing to do with anybody find in a store.

    The thresholds of the gate follow from it. Nothing of what the store holds is shown or written.
    """
    from retold.index.embedder import embedder_from_config
    from retold.operations.calibration import ADMIT, ADMIT_AUTO, Rates
    from retold.operations.calibration import calibrate as measured
    from retold.operations.evaluation.cases import read_prompts

    if write is not None and write.exists():
        raise InvalidInput(f"--write {str(write)!r} is there already; name another file")
    prompts = [] if no_memory is None else read_prompts(no_memory)
    rates = Rates(
        ADMIT if admit is None else admit, ADMIT_AUTO if admit_auto is None else admit_auto
    )
    with opened_store(options) as (store, chosen):
        config = with_threads(chosen.config)
        hide_bars(config)
        embedder = embedder_from_config(config.embedding)
        found = measured(store, embedder, config, prompts=prompts, scopes=scopes, rates=rates)
    fragment = "\n".join(fragment_lines(found, options.sources.clock()))
    if write is not None:
        write.write_text(f"{fragment}\n", encoding="utf-8")
    if options.as_json:
        echo_document(found)
        return
    click.echo("\n".join(calibration_lines(found)))
    click.echo()
    click.echo(fragment if write is None else "\n".join(labelled("written", clean(str(write)))))


def calibration_lines(found: Calibration) -> Iterator[str]:
    """Yield the measurement for people."""
    yield from labelled("embedder", f"{clean(found.embedder)} ({clean(found.version)})")
    yield from labelled("measured", _measured(found))
    yield ""
    yield heading("cosines")
    rows = (
        ("prompt and nearest record", found.unrelated),
        ("record and nearest other", found.nearest),
        ("any two records", found.pairs),
    )
    titles = ("between", "mean", "sd", "5 %", "50 %", "95 %", "")
    yield from table(titles, [(name, *_cells(one), "") for name, one in rows], right=range(1, 6))
    yield ""
    yield heading("part of the unrelated prompts that reach a threshold")
    yield from _admissions("Z", found.z)
    yield from _admissions("cosine", found.cosine)


def fragment_lines(found: Calibration, at: datetime) -> Iterator[str]:
    """Yield the thresholds as YAML, with what they rest on in comments."""
    explicit, auto = found.null_z.explicit, found.null_z.auto
    floor, auto_floor = found.dense_floor.explicit, found.dense_floor.auto
    unrelated = found.unrelated
    yield f"# Made by `retold calibrate` on {at:%Y-%m-%d} for {clean(found.embedder)}"
    yield f"# ({clean(found.version)}): {_measured(found)}."
    yield (
        f"# Nearest record to an unrelated prompt: cosine {unrelated.mean:.3f} on average, "
        f"95 % below {unrelated.p95:.3f}."
    )
    yield "retrieval:"
    yield "  gate:"
    yield "    null_z:"
    yield f"      explicit: {_shown(explicit)}"
    yield f"      auto: {_shown(auto)}"
    yield "    # Floors count where gate.kind is floors, as in the preset design."
    yield "    dense_floor:"
    yield from (f"      {family}: {_shown(floor)}" for family in _FAMILIES)
    yield "    auto:"
    yield "      dense_floor:"
    yield from (f"        {family}: {_shown(auto_floor)}" for family in _FAMILIES)


def _shown(one: Admission) -> str:
    return f"{one.threshold:g}  # lets {one.admitted:.3f} of the unrelated prompts through"


def _measured(found: Calibration) -> str:
    whose = "prompts that were given" if found.own_probes else f"prompts of bank {found.bank}"
    return (
        f"{found.probes} {whose}, asked in {count(found.scopes, 'scope')} with "
        f"{count(found.records, 'record')}"
    )


def _cells(one: Spread) -> Sequence[str]:
    return [f"{value:.3f}" for value in (one.mean, one.sd, one.p05, one.p50, one.p95)]


def _admissions(name: str, admitted: Sequence[Admission]) -> list[str]:
    titles = (f"{name} >=", *(f"{one.threshold:g}" for one in admitted), "")
    cells = ("admitted", *(f"{one.admitted:.3f}" for one in admitted), "")
    return table(titles, [cells], right=range(1, len(titles)))

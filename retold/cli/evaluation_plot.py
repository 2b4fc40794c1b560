"""An evaluation as a picture: recall by depth, and what the gate lets through at any threshold."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from retold.errors import InvalidInput, RetoldSetupError
from retold.operations.evaluation.metrics import CUTOFFS
from retold.operations.evaluation.summary import ALL, curve, gate_metrics, ranking_metrics

if TYPE_CHECKING:
    from retold.operations.evaluation.asking import Answers
    from retold.operations.evaluation.evaluate import Pipeline

_SUFFIXES: Final = (".png", ".svg", ".pdf")
_INCHES: Final = (10.0, 4.5)
_GATE_SHOWN: Final = (-0.01, 0.6)
"""Parts of 1; a gate beyond is of no use, and the points of usable ones lie close together."""


def checked_target(target: Path) -> None:
    """Refuse what could not be drawn, before anything is measured.

    Raises RetoldSetupError without matplotlib, InvalidInput for a file that cannot be made.
    """
    if find_spec("matplotlib") is None:
        raise RetoldSetupError('a plot needs matplotlib; run: pip install "retold[plot]"')
    if target.suffix.lower() not in _SUFFIXES:
        raise InvalidInput(f"--plot {str(target)!r} ends with none of {', '.join(_SUFFIXES)}")
    if not target.parent.is_dir():
        raise InvalidInput(f"--plot {str(target)!r}: there is no such directory")


def draw(results: Mapping[Pipeline, Answers], target: Path, title: str) -> None:
    """Write the picture. Raises OSError when the file cannot be written."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=_INCHES, layout="constrained")
    figure.suptitle(title)
    left, right = figure.subplots(1, 2)
    for name, answers in results.items():
        _draw_recall(left, name, answers)
        _draw_gate(right, name, answers)
    left.set(xscale="log", xlabel="records looked at", ylabel="recall", ylim=(0, 1))
    left.set_xticks(CUTOFFS, labels=[str(depth) for depth in CUTOFFS])
    right.set(
        xlabel="no-memory prompts admitted",
        ylabel="needed questions empty",
        xlim=_GATE_SHOWN,
        ylim=_GATE_SHOWN,
    )
    left.legend()
    right.legend()
    figure.savefig(target)


def _draw_recall(axes: Any, name: str, answers: Answers) -> None:  # noqa: ANN401  # matplotlib is optional
    metrics = ranking_metrics(answers)[ALL]
    found = [one for depth in CUTOFFS if (one := metrics[f"recall@{depth}"]) is not None]
    axes.plot(CUTOFFS, [one.mean for one in found], marker="o", label=name)
    axes.fill_between(CUTOFFS, [one.low for one in found], [one.high for one in found], alpha=0.15)


def _draw_gate(axes: Any, name: str, answers: Answers) -> None:  # noqa: ANN401  # matplotlib is optional
    points = curve(answers)
    (line,) = axes.plot([one[0] for one in points], [one[1] for one in points], label=name)
    metrics = gate_metrics(answers)
    for prefix, marker in (("", "o"), ("auto ", "s")):
        admitted = metrics[f"{prefix}no_memory_admitted"]
        empty = metrics[f"{prefix}needed_empty"]
        if admitted is not None and empty is not None:
            axes.plot([admitted.mean], [empty.mean], marker, color=line.get_color())

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

_MARKERS: Final = {"": ("asked, as configured", "o"), "auto ": ("host, as configured", "s")}
"""What a marker on the curve of a gate stands for, by the prefix of the metrics."""


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
    for at, (name, answers) in enumerate(results.items()):
        _draw_recall(left, name, answers, f"C{at}")
        _draw_gate(right, name, answers, f"C{at}")
    for label, marker in _MARKERS.values():
        right.plot([], [], marker, color="grey", label=label)
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


def _draw_recall(axes: Any, name: str, answers: Answers, color: str) -> None:  # noqa: ANN401  # matplotlib is optional
    metrics = ranking_metrics(answers)[ALL]
    found = [one for depth in CUTOFFS if (one := metrics[f"recall@{depth}"]) is not None]
    axes.plot(CUTOFFS, [one.mean for one in found], marker="o", color=color, label=name)
    low, high = [one.low for one in found], [one.high for one in found]
    axes.fill_between(CUTOFFS, low, high, color=color, alpha=0.15)


def _draw_gate(axes: Any, name: str, answers: Answers, color: str) -> None:  # noqa: ANN401  # matplotlib is optional
    """Draw the curve of a gate and where its thresholds stand; plain BM25 has no gate."""
    points = curve(answers)
    if not points:
        return
    axes.plot([one[0] for one in points], [one[1] for one in points], color=color, label=name)
    metrics = gate_metrics(answers)
    for prefix, (_, marker) in _MARKERS.items():
        admitted = metrics[f"{prefix}no_memory_admitted"]
        empty = metrics[f"{prefix}needed_empty"]
        if admitted is not None and empty is not None:
            axes.plot([admitted.mean], [empty.mean], marker, color=color)

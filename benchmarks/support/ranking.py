"""Tables of ranking measures with their bootstrap intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from retold.operations.evaluation.metrics import MEASURES, estimates


def summarise(rows: Sequence[Sequence[float]]) -> dict[str, float]:
    """Return the mean of each measure with the ends of its bootstrap 95% interval."""
    summary: dict[str, float] = {"questions": len(rows)}
    for name, one in zip(MEASURES, estimates(rows), strict=True):
        summary[name] = round(one.mean, 4)
        summary[f"{name} low"] = round(one.low, 4)
        summary[f"{name} high"] = round(one.high, 4)
    return summary


def table_lines(title: str, rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return a table of summaries: one line of values per row, one of intervals beneath it."""
    lines = [f"{title:26}" + "".join(f"{name:>15}" for name in MEASURES)]
    for name, summary in rows.items():
        values = "".join(f"{summary[measured]:>15.3f}" for measured in MEASURES)
        spans = "".join(
            f"{summary[f'{measured} low']:.3f}-{summary[f'{measured} high']:.3f}".rjust(15)
            for measured in MEASURES
        )
        lines += [f"  {name:24}{values}", f"{'':26}{spans}"]
    return lines

"""How a search reads on a terminal; made from its JSON document alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from retold.cli.log_text import whole_row_lines
from retold.cli.record_text import record_lines
from retold.cli.text import clean, count, heading, labelled, table

Document = Mapping[str, Any]
HEADINGS: Final = (
    "#",
    "score",
    "fused",
    "fresh",
    "dense",
    "lexical",
    "entity",
    "moved by",
    "stands for",
    "why it passed",
)
_ONLY_IF_ANY: Final = frozenset(map(HEADINGS.index, ("fresh", "moved by", "stands for")))
_SHOWN_AMOUNT: Final = 0.005
_STAGES_SHOWN: Final = ("embed", "index_refresh", "dense", "lexical", "gate", "log", "total")


def search_lines(found: Document, *, whole_log: bool = False) -> Iterator[str]:
    """Yield results, the table of reasons and the log row, or every column of that."""
    for note in found["degraded"]:
        yield from labelled("degraded", clean(note))
    if not found["results"]:
        yield from labelled("nothing", clean(found["empty_reason"] or ""))
    for number, result in enumerate(found["results"], start=1):
        conflicts = result["explanation"]["conflicts_with"]
        yield from record_lines(str(number), result["record"], conflicts)
    if found["results"]:
        yield ""
        yield heading("why")
        yield from why_table(found)
    yield ""
    yield from log_lines(found)
    if whole_log and found["log_row"] is not None:
        yield ""
        yield from whole_row_lines(found["log_row"])


def why_table(found: Document) -> list[str]:
    """Return one row per result: scores with ranks by channel, and what let it pass.

    Freshness, boosts and the sizes of groups have a column when some result has one of them.
    """
    rows = [
        (str(number), *reasons(result)) for number, result in enumerate(found["results"], start=1)
    ]
    shown = [
        at
        for at in range(len(HEADINGS))
        if at not in _ONLY_IF_ANY or any(r[at] != "-" for r in rows)
    ]
    chosen = [tuple(row[at] for at in shown) for row in rows]
    return table([HEADINGS[at] for at in shown], chosen, right=(0, 1, 2))


def reasons(result: Document) -> tuple[str, ...]:
    """Return the cells after the number; a channel that did not find the record shows a dash."""
    why = result["explanation"]
    fresh = why["freshness_multiplier"]
    return (
        f"{result['score']:.4f}",
        str(why["fused_rank"] or "-"),
        "-" if fresh is None else f"{fresh:.2f}",
        "-" if why["dense"] is None else f"{why['dense']['score']:.2f} #{why['dense']['rank']}",
        _lexical(why),
        "-" if why["entity"] is None else f"#{why['entity']['rank']}",
        _moved(why),
        "-" if why["group_size"] == 1 else str(why["group_size"]),
        clean(why["gate"]).removeprefix("passed on "),
    )


def _moved(why: Document) -> str:
    """Return the boosts that moved a record by as much as is shown."""
    amounts = [
        f"{name} {amount:+.2f}" for name, amount, _ in why["boosts"] if abs(amount) >= _SHOWN_AMOUNT
    ]
    return ", ".join(amounts) or "-"


def _lexical(why: Document) -> str:
    match, hit = why["lexical_match"], why["lexical"]
    if hit is None:
        return "-"
    share = f"{len(match['terms'])}/{match['total_terms']} " if match is not None else ""
    return f"{share}#{hit['rank']}"


def log_lines(found: Document) -> Iterator[str]:
    """Yield what the log keeps of the search, or that it keeps nothing."""
    row = found["log_row"]
    if row is None:
        yield from labelled("log", f"{found['log']}: no row is stored for this search")
        return
    yield from labelled("log row", row["id"])
    yield from labelled(
        "stages",
        f"{pool(row)}; "
        f"left out: {len(row['gated_out'])} by the gate, {len(row['deduped_out'])} as duplicates, "
        f"{len(row['reranked_out'])} by the reranker, {len(row['budget_out'])} by the budget; "
        f"{len(row['returned'])} returned",
    )
    timings = found["timings_ms"]
    shown = ", ".join(f"{name} {timings[name]:.1f}" for name in _STAGES_SHOWN if name in timings)
    yield from labelled("ms", shown)


def pool(row: Document) -> str:
    """Return how many candidates there were, and how many each channel found."""
    channels = ", ".join(f"{name} {len(row[name])}" for name in ("dense", "lexical", "entity"))
    return f"{count(len(row['fused']), 'candidate')} ({channels})"

"""How the whole row of a search log reads on a terminal; made from its JSON document alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from retold.cli.document import flat
from retold.cli.text import clean, heading, labelled

Row = Mapping[str, Any]
_BY_CANDIDATE: Final = frozenset(
    "candidates dense lexical entity fused freshness gated_out deduped_out reranked reranked_out "
    "budget_out returned explanations".split()
)
"""The columns that say something about each candidate."""
_LABEL: Final = 19


def whole_row_lines(row: Row) -> Iterator[str]:
    """Yield every column of a row: those that concern each candidate, then the others.

    A row that was logged as a summary holds no candidates.
    """
    yield heading("candidates, the best first")
    yield from _candidates(row)
    yield ""
    yield heading("the other columns of the row")
    for name, value in row.items():
        if name not in _BY_CANDIDATE:
            yield from labelled(name, clean(", ".join(flat(value)) or "-"), indent=_LABEL)


def _candidates(row: Row) -> Iterator[str]:
    pool = row["candidates"] or {"fields": (), "rows": ()}
    found = [dict(zip(pool["fields"], values, strict=True)) for values in pool["rows"]]
    fates = _fates(row)
    reranked = {one["record_id"]: one for one in row["reranked"] or ()}
    if not found:
        yield "none" if row["detail"] == "full" else "not kept: the row is a summary"
    for number, one in enumerate(sorted(found, key=lambda each: each["fused_rank"]), start=1):
        record_id = one["record_id"]
        scores = [*_scores(one), *_rerank(reranked.get(record_id))]
        yield from labelled(str(number), record_id, indent=4)
        yield from labelled("", " · ".join(scores), indent=4)
        yield from labelled("", clean(fates.get(record_id, "passed no further")), indent=4)


def _rerank(one: Row | None) -> Iterator[str]:
    if one is not None:
        yield f"reranked {one['score']:.2f} #{one['rank_after']}, before #{one['rank_before']}"


def _scores(one: Row) -> Iterator[str]:
    yield f"{one['type']} {one['source_kind']} {one['status']}"
    yield f"fused {one['fused_score']:.4f}"
    if one["freshness"] is not None:
        yield f"fresh {one['freshness']:.2f}"
    if one["dense"] is not None:
        yield f"dense {one['dense'][1]:.2f} #{one['dense'][0]}"
    if one["lexical"] is not None:
        terms = ", ".join(clean(str(term[0])) for term in one["terms"])
        share = f"{len(one['terms'])}/{one['total_terms']}"
        yield f"lexical {share} #{one['lexical'][0]} ({terms})"
    if one["entity"] is not None:
        yield f"entity #{one['entity'][0]}"


def _fates(row: Row) -> dict[str, str]:
    """Return what became of each candidate, by record id; what was let through says why."""
    fates = {record_id: f"out at the gate: {reason}" for record_id, reason in row["gated_out"]}
    for dropped, kept, cosine in row["deduped_out"]:
        fates[dropped] = f"out as a duplicate of {kept}, cosine {cosine:.2f}"
    for record_id, reason, _score in row["reranked_out"]:
        fates[record_id] = f"out at the reranker: {reason}"
    fates |= {record_id: f"out at the budget: {reason}" for record_id, reason in row["budget_out"]}
    for one in row["explanations"] or ():
        fates[one["record_id"]] = f"returned: {one['gate']}; {one['budget']}"
    return fates

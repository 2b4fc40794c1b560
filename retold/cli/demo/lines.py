"""How a demonstration reads on a terminal; made from its JSON document alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from retold.cli.search_text import pool, why_table
from retold.cli.text import clean, count, display_width, heading, labelled

Document = Mapping[str, Any]
MOST_CHARACTERS: Final = 72
"""A longer text is shown by its beginning and its end, with the number of characters between."""
_INDENT: Final = 12
_OUTCOMES: Final = {"superseded": "replaces another", "conflict": "in conflict"}
"""Outcomes that would read as if the new record itself were replaced."""


def demo_lines(facts: Document) -> Iterator[str]:
    """Yield every line: the header, then each session with what the store said."""
    header = facts["header"]
    embedder = header["embedder"]
    yield heading("Retold demo: offline; what follows was read back from the store")
    judge = f"judge {header['judge']}"
    yield from _line("embedder", f"{embedder['name']} ({embedder['version']}), {judge}")
    yield from _line("sha256", embedder["sha256"])
    yield from _line("store", f"{clean(header['path'])}, schema {header['schema_version']}")
    for number, session in enumerate(facts["sessions"], start=1):
        yield ""
        yield heading(f"Session {number}: {clean(session['title'])} (process {session['pid']})")
        for step in session["steps"]:
            yield from _STEPS[step["kind"]](step)
    if not broken_promises(facts):
        yield ""
        yield "Every promise was kept. `retold demo --keep DIR` leaves the store to look into."


def _line(label: str, text: str) -> list[str]:
    return labelled(label, text, indent=_INDENT)


def shown(text: str) -> str:
    """Return the text on one line; a long one as its beginning, a stated gap and its end."""
    line = clean(text)
    if display_width(line) <= MOST_CHARACTERS:
        return f'"{line}"'
    head, tail = _ending(line, 24), _ending(line[::-1], 24)[::-1]
    return f'"{head}" … {len(line) - len(head) - len(tail)} more characters … "{tail}"'


def _ending(text: str, room: int) -> str:
    kept = ""
    for char in text:
        if display_width(kept + char) > room:
            break
        kept += char
    return kept


def _said(step: Document) -> Iterator[str]:
    yield from ()


def _remembered(step: Document) -> Iterator[str]:
    record = step["record"]
    outcome = _OUTCOMES.get(step["outcome"], step["outcome"])
    yield from _line("remembered", f"{shown(record['content'])} ({record['status']}, {outcome})")
    if record["evidence"] != record["content"]:
        yield from _line("", f"quote {shown(record['evidence'] or '')}")
    for one in step["versions"]:
        if one["id"] != record["id"]:
            yield from _line("replaces", f"{shown(one['content'])} ({one['status']})")
            yield from _line("", f"quote {shown(one['evidence'] or '')}")
    disagreeing = {one["id"]: one for one in step["disagrees_with"]}
    for conflict in record["conflicts"]:
        yield from _conflict(conflict, record, disagreeing[conflict["record_id"]])
    apart = [one for one in step["beside"] if one["id"] not in disagreeing]
    if apart:
        values = ", ".join(shown(one["content"]) for one in apart)
        yield from _line("beside", f"{values}, also under {clean(record['attribute'])}")


def _conflict(conflict: Document, record: Document, other: Document) -> Iterator[str]:
    state = "unresolved" if conflict["unresolved"] else "resolved"
    yield from _line("conflict", f"with {shown(other['content'])} ({other['status']}):")
    yield from _line(
        "",
        f"{record['source_kind']} against {other['source_kind']}, {state}, "
        f"{conflict['kind']} ({conflict['rule']})",
    )


def _refused(step: Document) -> Iterator[str]:
    yield from _line("refused", f"{shown(step['claim'])} {step['error']}")
    score = "" if step["score"] is None else f": support {step['score']:.2f}"
    yield from _line("", f"quote {shown(step['quote'] or step['claim'])}{score}")
    before, after = step["rows_before"], step["rows_after"]
    changed = sorted(name for name in after if after[name] != before.get(name))
    verdict = f"changed in {', '.join(changed)}" if changed else "unchanged"
    filled = ", ".join(f"{name}={number}" for name, number in after.items() if number)
    empty = sum(1 for number in after.values() if not number)
    yield from _line("rows", f"{verdict}: {filled}; {count(empty, 'other table')} empty")


def _searched(step: Document) -> Iterator[str]:
    yield from _line("searched", shown(step["raw_queries"][0]))
    for note in step["degraded"]:
        yield from _line("degraded", clean(note))
    if not step["results"]:
        yield from _line("nothing", clean(step["empty_reason"] or ""))
    for number, result in enumerate(step["results"], start=1):
        record, why = result["record"], result["explanation"]
        by = ", ".join(why["matched_by"]) or "its conflict"
        by += " alone" if len(why["matched_by"]) == 1 else ""
        yield from _line(f"  {number}", f"{shown(record['content'])} by {by}")
    if step["results"]:
        yield from why_table(step)
    row = step["log_row"]
    if row is None:
        yield from _line("log row", f"{step['log']}, none is stored")
        return
    yield from _line("log row", f"{pool(row)}, {len(row['gated_out'])} below the gate")


def _stranger(step: Document) -> Iterator[str]:
    user, asked, unknown = clean(step["user"]), step["asked"], step["unknown"]
    same = _without(step["answer"], asked) == _without(step["answer_to_unknown"], unknown)
    yield from _line("stranger", f"{user} gets {asked}: {_answer(step['answer'])}")
    verdict = "the same answer" if same else "another answer"
    answer = _answer(step["answer_to_unknown"])
    yield from _line("", f"{user} gets {unknown}: {answer}, {verdict} for an id of nobody")


def _without(answer: Document, asked: str | None) -> dict[str, Any]:
    return {**answer, "missing": ["asked" if one == asked else one for one in answer["missing"]]}


def _answer(answer: Document) -> str:
    return f"{len(answer['found'])} found, {len(answer['missing'])} missing"


def _crashed(step: Document) -> Iterator[str]:
    yield from _line(
        "killed",
        f"process {step['pid']} by signal {step['signal']} after "
        f"{count(step['acknowledged'], 'acknowledged write')}",
    )
    last = shown(step["last"]["content"]) if step["last"] else "gone"
    yield from _line("", f"{step['found']} of them read back, the last: {last}")


_STEPS: Final = {
    "say": _said,
    "remembered": _remembered,
    "refused": _refused,
    "search": _searched,
    "stranger": _stranger,
    "crash": _crashed,
}


def broken_promises(facts: Document) -> list[str]:
    """Return what the store did not keep: changed rows, lost writes, telling answers."""
    broken = []
    for step in (step for session in facts["sessions"] for step in session["steps"]):
        if step["kind"] == "refused" and step["rows_before"] != step["rows_after"]:
            broken.append("a refused write changed rows")
        if step["kind"] == "crash" and step["missing"]:
            broken.append(f"{len(step['missing'])} acknowledged writes are missing")
        if step["kind"] == "stranger" and _without(step["answer"], step["asked"]) != _without(
            step["answer_to_unknown"], step["unknown"]
        ):
            broken.append("a foreign id is answered unlike an unknown one")
    return broken

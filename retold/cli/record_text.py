"""How a record reads on a terminal; made from its JSON document alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from retold.cli.document import flat
from retold.cli.text import clean, count, heading, labelled, table

Document = Mapping[str, Any]
MOST_CHARACTERS: Final = 1000
"""How much of one text a list of records shows: a corpus may hold pages of 100,000."""
FORGOTTEN: Final = "(forgotten: its text is no longer shown)"


def record_lines(label: str, record: Document, conflicts: list[str]) -> Iterator[str]:
    """Yield a record in short: what it says, its facts, its quote, what it conflicts with."""
    yield from labelled(label, _beginning(said(record)), indent=4)
    facts = (
        record["type"],
        record["status"],
        record["source_kind"],
        f"event {record['event_at'][:10]}",
        clean(record["scope"]),
        record["id"],
    )
    yield from labelled("", " · ".join(facts), indent=4)
    if record["evidence"] and record["evidence"] != record["content"]:
        yield from labelled("", f'quote "{_beginning(clean(record["evidence"]))}"', indent=4)
    if conflicts:
        yield from labelled("", f"conflicts with {', '.join(conflicts)}", indent=4)


def _beginning(text: str) -> str:
    """Return the text, or its beginning and how much more there is."""
    if len(text) <= MOST_CHARACTERS:
        return text
    rest = len(text) - MOST_CHARACTERS
    return f"{text[:MOST_CHARACTERS]} [and {rest:,} more characters: retold get]"


def view_lines(label: str, view: Document) -> Iterator[str]:
    """Yield a looked-up record in short."""
    yield from record_lines(label, view, [one["record_id"] for one in view["conflicts"]])


def said(record: Document) -> str:
    """Return what a record says, on one line."""
    return FORGOTTEN if record["content"] is None else clean(record["content"])


def full_lines(view: Document) -> Iterator[str]:
    """Yield everything about a looked-up record, and its observations and events if it has them."""
    yield from labelled("record", view["id"])
    standing = (
        view["type"],
        view["status"],
        f"version {view['version']}",
        f"confidence {view['confidence']:.2f}",
        view["activation"],
        *(["temporary"] if view["temporary"] else []),
    )
    yield from labelled("", " · ".join(standing))
    yield from labelled("says", said(view))
    if view["evidence"]:
        yield from labelled("quote", f'"{clean(view["evidence"])}"')
        supported = "backs the claim" if view["evidence_supported"] else "backs nothing"
        yield from labelled("", f"the quote {supported}")
    yield from labelled("scope", clean(view["scope"]))
    if view["subject"]:
        yield from labelled("about", clean(view["subject"]))
    source = f", {clean(view['source_ref'])}" if view["source_ref"] else ""
    yield from labelled(
        "source", f"{view['source_kind']}, written by {clean(view['creator_agent_id'])}{source}"
    )
    yield from _times(view)
    yield from _links(view)
    yield from _observations(view.get("observations", ()))
    yield from event_lines(view.get("events", ()))


def _times(view: Document) -> Iterator[str]:
    names = {
        "event": "event_at",
        "stored": "created_at",
        "expires": "expires_at",
        "valid from": "valid_from",
        "valid to": "valid_until",
        "review": "review_at",
        "closed": "closed_at",
    }
    for label, name in names.items():
        if view[name] is not None:
            yield from labelled(label, minute(view[name]))
    if view["reinforcements"]:
        last = f", last {minute(view['last_reinforced_at'])}" if view["last_reinforced_at"] else ""
        yield from labelled(
            "heard again", f"{count(view['reinforcements'], 'time')}{last}", indent=12
        )


def _links(view: Document) -> Iterator[str]:
    if view["tags"]:
        yield from labelled("tags", ", ".join(map(clean, view["tags"])))
    names = {one["id"]: f" {one['kind']} {clean(one['name'])}" for one in view.get("entities", ())}
    for number, entity_id in enumerate(view["entity_ids"]):
        label = "entities" if number == 0 else ""
        yield from labelled(label, f"{entity_id}{names.get(entity_id, '')}")
    for number, record_id in enumerate(view["lineage"], start=1):
        this = " this one" if record_id == view["id"] else ""
        yield from labelled("versions" if number == 1 else "", f"{number}  {record_id}{this}")
    for number, one in enumerate(view["conflicts"]):
        score = "" if one["score"] is None else f", {one['score']:.2f}"
        state = "unresolved" if one["unresolved"] else "resolved"
        what = f"{one['record_id']} {one['kind']} by {one['rule']}{score}, {state}"
        yield from labelled("conflicts" if number == 0 else "", what)


def _observations(rows: Sequence[Document]) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield heading("observations")
    cells = [
        (
            minute(row["noted_at"])[:10],
            row["source_type"],
            "-" if row["locator"] is None else str(row["locator"]),
            "yes" if row["counted"] else "no",
            "-" if row["score"] is None else f"{row['score']:.2f}",
            clean(row["quote"] or ""),
        )
        for row in rows
    ]
    yield from table(("noted", "source", "turn", "counts", "score", "quote"), cells)


def event_lines(rows: Sequence[Document]) -> Iterator[str]:
    """Yield one row an event; how long its stages took is left to the JSON document."""
    if not rows:
        return
    yield ""
    yield heading("events")
    cells = []
    for row in rows:
        told = {name: one for name, one in row["payload"].items() if "timings" not in name}
        what = "; ".join([f"by {clean(row['actor'])}", *map(clean, flat(told))])
        cells.append((str(row["seq"]), minute(row["at"]), row["kind"], what))
    yield from table(("#", "at", "kind", "what"), cells, right=(0,))


def minute(moment: str) -> str:
    """Return an ISO 8601 moment to the minute, in UTC as the store keeps it."""
    return f"{moment[:16].replace('T', ' ')} UTC"

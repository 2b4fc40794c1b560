"""Files of the first design's schema, carried over into migration 100.

The old tables are renamed, their rows copied, the old tables dropped: one transaction, so a file
is either wholly old or wholly new. Record, entity, event and search ids stay; sessions get
internal ids and their old id becomes the host's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from retold.errors import StoreCorrupt
from retold.models import Scope
from retold.store import reindex
from retold.store.codec import to_json, to_text, to_us
from retold.store.meta import EmbeddingIdentity
from retold.store.queries import load_queries
from retold.text import locate_quote, normalize_alias, normalize_attribute

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("version_1")

VERSION: Final = 1
MIGRATION_VERSION: Final = 100
USER_VERSIONS: Final = (0, 1)
ACTOR: Final = "migration"

_REQUIRED_COLUMNS: Final[Mapping[str, frozenset[str]]] = {
    "records": frozenset(
        "id type version content subject scope_kind scope_id source_kind source_ref "
        "creator_agent_id evidence created_at event_at expires_at confidence status supersedes_id "
        "reinforcements last_reinforced_at tags".split()
    ),
    "embeddings": frozenset("record_id model version dims vector".split()),
    "entities": frozenset("id kind canonical scope_kind scope_id status merged_into".split()),
}
_LATER_COLUMNS: Final = frozenset({"subject_entity_id", "subject_entity_seq", "attribute"})
_TABLES: Final = frozenset(
    "records record_conflicts embeddings records_fts records_fts_data records_fts_idx "
    "records_fts_content records_fts_docsize records_fts_config entities entity_aliases "
    "record_entities grants sessions session_turns events search_log".split()
)
_DERIVED_SESSION: Final = re.compile(r"(.+)~([2-9]|[1-9][0-9]+)", re.DOTALL)
_SESSION_REF: Final = re.compile(
    r"session:(?P<session>.+?)(?:[#:/]?<?turn:(?P<turn>[0-9]+)>?|#(?P<number>[0-9]+))?", re.DOTALL
)

_SET_ASIDE: Final = (
    *(name for name in QUERIES if name.startswith("complete_")),
    "drop_fts",
    "drop_records_scope",
    "drop_records_subject",
    "drop_records_event",
    "drop_entity_aliases_lookup",
    "drop_record_entities_by_entity",
    *(name for name in QUERIES if name.startswith("rename_")),
)
_COPY: Final = (
    "add_session_keys",
    "add_new_refs",
    "copy_scopes",
    "copy_grants",
    "copy_entities",
    "part_foreign_merges",
    "copy_merges",
    "copy_aliases",
    "mark_principals",
    "key_sessions",
    "copy_sessions",
    "join_segments",
    "copy_turns",
    "set_last_turns",
    "key_refs",
    "copy_records",
    "copy_lineage",
    "copy_links",
    "copy_conflicts",
    "copy_embeddings",
    "copy_search_log",
)
_DROP: Final = (
    "drop_record_conflicts",
    "drop_embeddings",
    "drop_record_entities",
    "drop_entity_aliases",
    "drop_session_turns",
    "drop_records",
    "drop_entities",
    "drop_grants",
    "drop_sessions",
    "drop_events",
    "drop_search_log",
)


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """How many moments without an offset were taken as UTC."""

    naive_timestamps: int


def is_recognised(objects: Iterable[tuple[str, str]], columns: Iterable[tuple[str, str]]) -> bool:
    """Tell whether a schema is version 1: its three main tables, and nothing that is not its own.

    ``objects`` are (type, name), ``columns`` (table, column).
    """
    found: dict[str, set[str]] = {}
    for table, column in columns:
        found.setdefault(table, set()).add(column)
    kinds = list(objects)
    return (
        all(wanted <= found.get(table, set()) for table, wanted in _REQUIRED_COLUMNS.items())
        and not found["records"] & _LATER_COLUMNS
        and {name for kind, name in kinds if kind == "table"} <= _TABLES
        and {kind for kind, _ in kinds} <= {"table", "index"}
    )


def set_aside(tx: Transaction) -> None:
    """Move the old tables out of the way of the new ones; the old full-text index goes."""
    for name in _SET_ASIDE:
        tx.run(QUERIES[name])
    columns = {row[0] for row in tx.run(QUERIES["search_log_columns"])}
    if "reranked" not in columns:
        tx.run(QUERIES["add_reranked"])


def carry_over(tx: Transaction) -> CarriedOver:
    """Copy everything into the new, still empty tables, then drop the old ones.

    Raises StoreCorrupt for a moment that cannot be read, naming its column.
    """
    moments = _Moments()
    with _functions(tx, moments):
        version = tx.version()
        for name in _COPY:
            tx.run(QUERIES[name], {"version": version} if ":version" in QUERIES[name] else ())
        surplus = list(tx.run(QUERIES["list_surplus_summaries"]))
        for seq, _ in surplus:
            tx.run(QUERIES["retire"], {"seq": seq})
        tx.run(QUERIES["copy_refs"])
        _link_own_scope(tx)
        tx.run(QUERIES["map_subjects"])
        tx.run(QUERIES["note_issues"], {"migration_version": MIGRATION_VERSION})
        tx.run(QUERIES["copy_evidence"])
        _chain_events(tx)
        for _, record_id in surplus:
            _note_retired(tx, record_id)
        tx.run(QUERIES["link_superseders"])
        tx.run(QUERIES["close_records"])
        tx.run(QUERIES["close_records_us"])
        reindex.rebuild(tx)
        _keep_embedding_identity(tx)
        for name in _DROP:
            tx.run(QUERIES[name])
    return _finish(tx, moments.naive)


def _link_own_scope(tx: Transaction) -> None:
    """Give records a local twin of each entity of another scope, where that is unambiguous.

    New writes look for their subject in their own scope; without this the old claim and the new
    one would never meet. Aliases stay among the personal scopes of one user; elsewhere the twin
    has the name only, as a new write would make it.
    """
    for entity_id, code, kind, scope_id in list(tx.run(QUERIES["list_foreign_links"])):
        original = tx.entities.require(entity_id)
        local = tx.entities.by_alias(original.aliases, [code], [original.kind])
        present = {entity.id for entities in local.values() for entity in entities}
        if len(present) > 1:
            continue
        if present:
            twin_id = present.pop()
        else:
            scope = Scope(kind, scope_id)
            name = None if _share_a_principal(scope, original.scope) else original.canonical
            twin_id = tx.entities.insert_twin(entity_id, scope, name=name).id
        keys = {"entity_id": entity_id, "scope_code": code}
        tx.run(QUERIES["repoint_to_twin"], {**keys, "twin_id": twin_id})
        tx.run(QUERIES["drop_foreign_links"], keys)


def _share_a_principal(one: Scope, other: Scope) -> bool:
    """Tell a user scope and a private scope of its user; two agents share nothing."""
    user, agent = sorted((one, other), key=lambda scope: scope.kind, reverse=True)
    return (user.kind, agent.kind) == ("user", "agent") and agent.id.endswith(f"/{user.id}")


def _chain_events(tx: Transaction) -> None:
    rows = list(tx.run(QUERIES["list_events"]))
    for event_id, at, kind, actor, record_id, entity_id, payload, session_id, user_id in rows:
        tx.events.append(
            kind,
            actor,
            record_id=record_id,
            entity_id=entity_id,
            session_id=session_id,
            user_id=user_id,
            payload=_payload(payload),
            at=datetime.fromisoformat(at),
            event_id=event_id,
        )


def _payload(text: str) -> Mapping[str, Any]:
    """Return an old payload as an object; what is none is kept as text under one key."""
    try:
        value = json.loads(text)
        to_json(value)
    except ValueError:
        return {"version_1": str(text)}
    return value if isinstance(value, dict) else {"version_1": value}


def _note_retired(tx: Transaction, record_id: str) -> None:
    tx.events.append(
        "record.status",
        ACTOR,
        record_id=record_id,
        payload={"to": "superseded", "reason": "surplus_session_summary"},
    )


def _keep_embedding_identity(tx: Transaction) -> None:
    """Remember whose vectors the file holds; of two models neither is the store's."""
    identities = list(tx.run(QUERIES["embedding_identities"]))
    if len(identities) == 1:
        tx.meta.set_embedding_identity(EmbeddingIdentity(*identities[0]))


def _finish(tx: Transaction, naive_timestamps: int) -> CarriedOver:
    tx.meta.set_int("migrated_from", VERSION)
    ((records, issues),) = tx.run(QUERIES["count_carried"])
    tx.events.append(
        "store.migrated",
        ACTOR,
        payload={
            "from": VERSION,
            "to": MIGRATION_VERSION,
            "records": records,
            "issues": issues,
            "naive_timestamps": naive_timestamps,
        },
    )
    return CarriedOver(naive_timestamps)


class _Moments:
    """Old timestamps as fixed-width UTC text; counts those without an offset."""

    def __init__(self) -> None:
        self.naive = 0

    def text(self, value: str | None, column: str) -> str | None:
        if value is None or value == "":
            return None
        try:
            moment = datetime.fromisoformat(value)
            self.naive += moment.tzinfo is None
            return to_text(_aware(moment))
        except (TypeError, ValueError, OverflowError) as error:
            raise StoreCorrupt(
                f"{column} holds a time that cannot be read; correct it, then run `retold migrate`"
            ) from error


def _aware(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def microseconds(value: str | None) -> int | None:
    """Return an old timestamp as microseconds since the epoch."""
    return to_us(_aware(datetime.fromisoformat(value))) if value else None


def external_id(session_id: str) -> str:
    """Return the host's id behind an old session id, which may be a derived one."""
    match = _DERIVED_SESSION.fullmatch(session_id)
    return match[1] if match else session_id


def segment(session_id: str) -> int:
    """Return which segment of its conversation an old session was; 1 for one that never split."""
    match = _DERIVED_SESSION.fullmatch(session_id)
    return int(match[2]) if match else 1


def ref_session(source_ref: str | None) -> str | None:
    """Return the old session id in a source reference; None when it names something else."""
    match = _SESSION_REF.fullmatch(source_ref or "")
    return match["session"] if match else None


def ref_turn(source_ref: str | None) -> int | None:
    """Return the turn number in a source reference; None when it names no turn."""
    match = _SESSION_REF.fullmatch(source_ref or "")
    number = match and (match["turn"] or match["number"])
    return int(number) if number else None


def attribute(subject: str | None) -> str:
    """Return the present key of an old subject's attribute segment, ``""`` when it has none."""
    return normalize_attribute(subject) if subject and "/" in subject else ""


def tags(value: str | None) -> str:
    """Return old tags as a JSON array; what is no array becomes its only member."""
    try:
        found = json.loads(value or "[]")
    except ValueError:
        found = value
    return to_json(found if isinstance(found, list) else [found])


def json_text(value: object) -> str | None:
    """Return a logged value unchanged if it is JSON, else as a JSON string."""
    if value is None:
        return None
    try:
        json.loads(str(value))
    except ValueError:
        return to_json(str(value))
    return str(value)


def _quote_bound(which: int) -> Callable[[str | None, str | None], int | None]:
    def bound(quote: str | None, text: str | None) -> int | None:
        span = locate_quote(quote, text) if quote and text else None
        return None if span is None else span[which]

    return bound


@contextmanager
def _functions(tx: Transaction, moments: _Moments) -> Iterator[None]:
    """Offer the rules of this module to the statements, for as long as they run."""
    pure: dict[str, Callable[..., object]] = {
        "v1_us": microseconds,
        "v1_external_id": external_id,
        "v1_segment": segment,
        "v1_ref_session": ref_session,
        "v1_ref_turn": ref_turn,
        "v1_attribute": attribute,
        "v1_alias": normalize_alias,
        "v1_tags": tags,
        "v1_json": json_text,
        "v1_quote_start": _quote_bound(0),
        "v1_quote_end": _quote_bound(1),
    }
    impure: dict[str, Callable[..., object]] = {
        "v1_moment": moments.text,
        "v1_new_id": tx.new_id,
    }
    for functions, deterministic in ((pure, True), (impure, False)):
        for name, function in functions.items():
            tx.connection.create_scalar_function(name, function, deterministic=deterministic)
    try:
        yield
    finally:
        for name in (*pure, *impure):
            tx.connection.create_scalar_function(name, None)

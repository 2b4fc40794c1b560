"""Token vectors for records written before they were wanted, and an end of them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from retold.index.token_vectors import packed_texts, require_token_embedder
from retold.ingest.embedded_text import behind_name
from retold.operations.maintenance.batches import JobProgress, Report
from retold.operations.maintenance.leases import leased
from retold.operations.maintenance.pace import Pace
from retold.protocols import Embedder, TokenEmbedder
from retold.store import Store, Transaction
from retold.store.embeddings import Vector
from retold.store.meta import EmbeddingIdentity
from retold.store.token_vectors import MissingTokens, PackedTokens

JOB: Final = "token-vectors"
BATCH: Final = 16
"""Records read, embedded and stored at once: a second or two of an embedder on a processor."""


@dataclass(frozen=True, slots=True)
class TokenVectorOutcome:
    """How many records got token vectors, or lost them, and what the store holds now.

    ``bytes`` are those of the vectors alone.
    """

    changed: int
    records: int
    bytes: int


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A record without token vectors: its texts, and the vector that one of them was given."""

    missing: MissingTokens
    texts: tuple[str, ...] = field(repr=False)
    vector: Vector = field(repr=False)


def fill_token_vectors(
    store: Store, embedder: Embedder, *, pace: Pace | None = None, report: Report | None = None
) -> TokenVectorOutcome:
    """Give token vectors to every record that has a vector of this embedder and lacks them.

    The embedder runs outside of every transaction; a record that was forgotten or embedded anew
    meanwhile is left alone. Interrupted or not, running it again goes on with what is missing.
    Raises ConfigError for an embedder without token vectors, StoreBusy while another process does
    it, and EmbeddingError.
    """
    offering, pace = require_token_embedder(embedder), pace or Pace()
    identity = EmbeddingIdentity(embedder.name, embedder.version, embedder.dims)
    after = done = 0
    with leased(store, JOB) as lease:
        with store.read() as tx:
            total = tx.token_vectors.count_missing(identity)
        while waiting := _next(store, identity, after):
            after = waiting[-1].missing.seq
            chosen = _embedded(offering, waiting, identity.dims)
            with store.write() as tx:
                begun = pace.ticks()
                pairs = zip(waiting, chosen, strict=True)
                done += sum(tx.token_vectors.fill(one.missing, tokens) for one, tokens in pairs)
                lease.advance(tx, cursor={"after": after}, done=done, total=max(total, done))
            if report is not None:
                report(JobProgress(JOB, done, max(total, done)))
            pace.rest(pace.ticks() - begun)
        with store.write() as tx:
            lease.finish(tx)
    return _outcome(store, done)


def drop_token_vectors(store: Store, *, pace: Pace | None = None) -> TokenVectorOutcome:
    """Remove the token vectors of every record, in small batches; the file keeps its size.

    What a process wrote with them switched on goes too. Raises StoreBusy while another process
    fills them in.
    """
    pace, done = pace or Pace(), 0
    with leased(store, JOB) as lease:
        removed = pace.rows
        while removed:
            with store.write() as tx:
                begun = pace.ticks()
                removed = tx.token_vectors.delete_some(pace.rows)
                done += removed
                lease.advance(tx, cursor={"dropped": done}, done=done, total=done)
            spent = pace.ticks() - begun
            pace.note(spent)
            pace.rest(spent)
        with store.write() as tx:
            lease.finish(tx)
    return _outcome(store, done)


def _outcome(store: Store, changed: int) -> TokenVectorOutcome:
    with store.read() as tx:
        return TokenVectorOutcome(changed, *tx.token_vectors.sizes())


def _next(store: Store, identity: EmbeddingIdentity, after: int) -> list[_Waiting]:
    with store.read() as tx:
        missing = tx.token_vectors.missing(identity, after, BATCH)
        records = tx.records.by_seqs(one.seq for one in missing)
        found = []
        for one in missing:
            vector = tx.embeddings.get(one.seq)
            if vector is not None:
                record = records[one.seq]
                texts = _texts(tx, record.content, record.subject_entity_id)
                found.append(_Waiting(one, texts, vector))
        return found


def _texts(tx: Transaction, content: str, subject_id: str | None) -> tuple[str, ...]:
    """Return what the embedder may have read of a record: its content, or that behind a name."""
    if subject_id is None:
        return (content,)
    named = behind_name(content, tx.entities.require(subject_id).canonical)
    return (content,) if named == content else (content, named)


def _embedded(
    embedder: TokenEmbedder, waiting: Sequence[_Waiting], dims: int
) -> list[PackedTokens]:
    """Return the token vectors of each record's text: of two, the one nearest to its vector."""
    texts = [text for one in waiting for text in one.texts]
    embedded = embedder.embed_documents_with_tokens(texts)
    packed = packed_texts(embedded, len(texts), dims)
    chosen, start = [], 0
    for one in waiting:
        end = start + len(one.texts)
        chosen.append(packed[start + int(np.argmax(embedded.vectors[start:end] @ one.vector))])
        start = end
    return chosen

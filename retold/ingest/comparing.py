"""The comparison behind a write: read and judged without the lock, looked at again under it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from retold.config import RetoldConfig
from retold.errors import StaleComparison
from retold.index.vector import VectorIndex
from retold.ingest.comparison import (
    NOTHING_WRITTEN,
    Listed,
    Neighbours,
    Target,
    Written,
    compare,
    find_neighbours,
    list_again,
    list_pairs,
    scan_subject,
    unjudged,
)
from retold.ingest.decision import Claim, Decision, decide
from retold.ingest.entities import EntityResolver
from retold.ingest.links import Links, has_primary, links_of, resolver_for, same_subject
from retold.ingest.plan import Plan
from retold.ingest.preparation import under_current_grants
from retold.ingest.trace import WriteTrace
from retold.models import Verdict
from retold.policy.lifecycle import Standing
from retold.protocols import EquivalenceJudge
from retold.store import Store, Transaction

Choose = Callable[[Transaction, Links, EntityResolver], tuple[Decision, dict[str, Any]]]
"""Decide inside the transaction; the mapping goes into the event."""


class Unjudged(StaleComparison):
    """Rows under the write lock that need a verdict first; ``contents`` are theirs."""

    def __init__(self, contents: Iterable[str]) -> None:
        """Take the contents."""
        super().__init__()
        self.contents = tuple(contents)


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was read without the lock; ``plan`` carries the rights of that moment."""

    plan: Plan
    neighbours: Neighbours
    listed: Listed
    unjudged: tuple[str, ...] = field(repr=False)


class Comparing:
    """Gather what a claim may touch, have it judged, and decide by it under the lock.

    ``verdicts`` of one claim, by the content of the older record, are the caller's to keep: they
    hold for every attempt.
    """

    def __init__(
        self, store: Store, index: VectorIndex, judge: EquivalenceJudge, cfg: RetoldConfig
    ) -> None:
        """Take the parts; nothing is read yet."""
        self._store = store
        self._index = index
        self._judge = judge
        self._cfg = cfg

    def gather(self, plan: Plan, verdicts: dict[str, Verdict], trace: WriteTrace) -> Gathered:
        """Return what the claim is compared with now, and what still needs a verdict."""
        with trace.stage("dedup_search"), self._store.read() as tx:
            self._index.refresh(tx, self._cfg.embedding.incremental_reload_max)
            setting = under_current_grants(tx, plan.setting)
            if setting is not plan.setting:
                plan = replace(plan, setting=setting)
            resolver = resolver_for(tx, plan, create=False)
            with trace.stage("entities"):
                links = links_of(plan, resolver)
            target = target_of(tx, plan, links, resolver)
            scan = scan_subject(tx, target, self._cfg.ingestion)
            neighbours = find_neighbours(tx, self._index, target, scan, self._cfg.ingestion)
            listed = list_pairs(tx, self._index, target, scan, neighbours, cfg=self._cfg.ingestion)
            missing = unjudged(listed.pairs, target, verdicts)
            return Gathered(plan, neighbours, listed, tuple(missing))

    def judge_all(
        self,
        contents: Iterable[str],
        plan: Plan,
        verdicts: dict[str, Verdict],
        trace: WriteTrace,
    ) -> None:
        """Add a verdict on each content to ``verdicts``. Raises JudgeError."""
        with trace.stage("judge"):
            for content in contents:
                verdicts[content] = self._judge.judge(content, plan.request.content)

    def require_current(self, tx: Transaction, gathered: Gathered) -> None:
        """Raise StaleComparison when the nearby rows are not those that were gathered.

        For several claims of one transaction: asked before the first of them writes.
        """
        plan = gathered.plan
        codes = sorted(tx.scopes.codes(plan.setting.scan_scopes).values())
        if tx.records.nearby_version(codes, plan.request.type) != gathered.neighbours.version:
            raise StaleComparison

    def choice_by_rules(
        self,
        gathered: Gathered,
        verdicts: dict[str, Verdict],
        written: Written = NOTHING_WRITTEN,
    ) -> Choose:
        """Return the decision of LLD 6.3 over what the transaction sees.

        The choice raises StaleComparison when nearby rows changed, and Unjudged with rows that
        appeared and that nobody judged: those of a subject that this very transaction makes are
        found only here. ``written`` are rows of this transaction's own earlier claims.
        """
        cfg, plan, neighbours = self._cfg.ingestion, gathered.plan, gathered.neighbours

        def choose(
            tx: Transaction, links: Links, resolver: EntityResolver
        ) -> tuple[Decision, dict[str, Any]]:
            target = target_of(tx, plan, links, resolver)
            listed = None if written.is_checked else list_again(tx, target, gathered.listed)
            if listed is None:
                version = tx.records.nearby_version(target.scope_codes, target.type)
                if not written.is_checked and version != neighbours.version:
                    raise StaleComparison
                scan = scan_subject(tx, target, cfg)
                listed = list_pairs(
                    tx, self._index, target, scan, neighbours, cfg=cfg, written=written
                )
            missing = unjudged(listed.pairs, target, verdicts)
            if missing:
                raise Unjudged(missing)
            comparisons = compare(listed.pairs, target, verdicts)
            decision = decide(claim_of(plan, tx), comparisons, cfg=cfg, policy=self._cfg.policy)
            return decision, {"attribute_scan_truncated": True} if listed.truncated else {}

        return choose


def target_of(tx: Transaction, plan: Plan, links: Links, resolver: EntityResolver) -> Target:
    """Return what is being written, as far as comparing goes."""
    codes: Sequence[int] = sorted(tx.scopes.codes(plan.setting.scan_scopes).values())
    return Target(
        type=plan.request.type,
        content=plan.request.content,
        attribute=plan.key.attribute,
        scope_codes=tuple(codes),
        entity_ids=tuple(same_subject(links.primary, plan, resolver)),
        has_primary=has_primary(plan),
        names=plan.setting.names,
        vector=plan.vector,
        multi_valued=plan.multi_valued,
    )


def claim_of(plan: Plan, tx: Transaction) -> Claim:
    """Return the claim as the rules see it, arriving at the transaction's moment."""
    return Claim(
        type=plan.request.type,
        attribute=plan.key.attribute,
        attribute_derived=plan.key.derived,
        multi_valued=plan.multi_valued,
        temporary=plan.temporary,
        standing=Standing(plan.backing.source_kind, plan.event_at, tx.now),
    )

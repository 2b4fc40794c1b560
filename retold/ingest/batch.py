"""Claims of one run that are stored together, in a transaction that the caller opens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from retold.config import IngestionConfig
from retold.errors import RequestError, ScopeNotWritable, StaleComparison
from retold.index.vector import VectorIndex
from retold.ingest.comparing import Choose, Comparing, Gathered, Unjudged
from retold.ingest.comparison import Written, WrittenRow
from retold.ingest.lexical_judge.objects import object_stems
from retold.ingest.plan import Applied, Plan
from retold.ingest.preparation import under_current_grants
from retold.ingest.told import history_of, told_records, untold
from retold.ingest.trace import WriteTrace
from retold.models import Verdict, WriteKind
from retold.store import Store, Transaction
from retold.text import normalize_ws

Apply = Callable[[Transaction, Plan, Choose, WriteTrace], Applied]

NEW_ROW: Final[frozenset[WriteKind]] = frozenset(
    {"created", "superseded", "superseded_on_arrival", "conflict", "flagged"}
)
"""What a claim that became a row of its own is answered."""


@dataclass(slots=True)
class BatchItem:
    """One claim of a batch: planned, or ``refused`` with the error that says why."""

    trace: WriteTrace
    plan: Plan | None = None
    refused: RequestError | None = None
    verdicts: dict[str, Verdict] = field(default_factory=dict, repr=False)
    appeared: tuple[str, ...] = field(default=(), repr=False)
    gathered: Gathered | None = None


class ClaimBatch:
    """Claims of one principal, compared outside every transaction and stored in one.

    Call ``compare``, then ``store`` in a write transaction; when that raises StaleComparison, let
    the transaction go and begin again with ``compare``. Verdicts are kept in between. The rules
    are those of a single write, and a claim of the batch meets the ones before it as if each had
    been written by itself.
    """

    def __init__(
        self,
        items: Sequence[BatchItem],
        *,
        store: Store,
        index: VectorIndex,
        comparing: Comparing,
        apply: Apply,
        cfg: IngestionConfig,
    ) -> None:
        """Take planned claims, and what compares and applies them."""
        self._items = tuple(items)
        self._store = store
        self._index = index
        self._comparing = comparing
        self._apply = apply
        self._cfg = cfg

    def compare(self) -> None:
        """Gather what each claim meets now and have it judged; models run here.

        Raises ScopeNotWritable when the principal may not write there any more, and what a judge
        raises. Any other refusal is the claim's own.
        """
        for place, item in enumerate(self._items):
            if item.plan is None or item.refused is not None:
                continue
            try:
                item.gathered = self._comparing.gather(item.plan, item.verdicts, item.trace)
            except ScopeNotWritable:
                raise
            except RequestError as refusal:
                item.refused = refusal
                continue
            item.plan = item.gathered.plan
            wanted = (
                *item.gathered.unjudged,
                *item.appeared,
                *self._told_before(item),
                *self._met_before(place, item.plan),
            )
            contents = [each for each in dict.fromkeys(wanted) if each not in item.verdicts]
            self._comparing.judge_all(contents, item.plan, item.verdicts, item.trace)

    def store(self, tx: Transaction) -> tuple[Applied | RequestError, ...]:
        """Store every claim that is not refused and return what became of each, in order.

        A refused claim leaves nothing of itself and does not stop the others. What its very words
        have told before, and what is history by now, is answered ``already_reinforced`` and not
        stored again. Raises StaleComparison, after which nothing of the transaction may stand.
        """
        self._index.require_embedding(tx)
        self._require_current(tx)
        written: tuple[WrittenRow, ...] = ()
        results: list[Applied | RequestError] = []
        touched: list[int] = []
        for item in self._items:
            result = self._stored(tx, item, Written(written, is_checked=True))
            results.append(result)
            if isinstance(result, Applied):
                touched += result.touched
                written += tuple(_row_of(tx, item.plan, result))
        self._index.note_own_write(tx, touched)
        return tuple(results)

    def _require_current(self, tx: Transaction) -> None:
        for item in self._items:
            if item.gathered is None or item.refused is not None:
                continue
            setting = item.gathered.plan.setting
            if under_current_grants(tx, setting) != setting:
                raise StaleComparison
            self._comparing.require_current(tx, item.gathered)

    def _stored(self, tx: Transaction, item: BatchItem, written: Written) -> Applied | RequestError:
        if item.refused is not None:
            return item.refused
        assert item.plan is not None and item.gathered is not None  # noqa: PT018  # compared
        told = told_records(tx, item.plan)
        if missing := untold(told, item.plan, item.verdicts):
            item.appeared = tuple(missing)
            raise Unjudged(missing)
        history = history_of(told, item.plan, item.verdicts, tx.now)
        if history is not None:
            return history
        choose = self._comparing.choice_by_rules(item.gathered, item.verdicts, written)
        try:
            with tx.savepoint():
                return self._apply(tx, item.plan, choose, item.trace)
        except Unjudged as found:
            item.appeared = found.contents
            raise
        except RequestError as refusal:
            return refusal

    def _told_before(self, item: BatchItem) -> list[str]:
        assert item.plan is not None
        with self._store.read() as tx:
            return untold(told_records(tx, item.plan), item.plan, item.verdicts)

    def _met_before(self, place: int, plan: Plan) -> Iterator[str]:
        """Yield the contents of claims before this one that it will probably be compared with.

        Judged now, they need no second transaction; what this misses is found under the lock.
        """
        floor = min(self._cfg.dedup_candidate_cosine, self._cfg.attribute_alias_cosine)
        wanted = object_stems(plan.request.content, plan.setting.names)
        for earlier in self._items[:place]:
            other = earlier.plan
            if other is None or other.request.type != plan.request.type:
                continue
            content = other.request.content
            if normalize_ws(content) == normalize_ws(plan.request.content):
                continue
            own = other.key.attribute == plan.key.attribute and not plan.multi_valued
            near = float(other.vector @ plan.vector) >= floor
            if own or near or not wanted.isdisjoint(object_stems(content, plan.setting.names)):
                yield content


def _row_of(tx: Transaction, plan: Plan | None, applied: Applied) -> Iterator[WrittenRow]:
    """Yield the row that a claim became, if it became one."""
    if plan is None or applied.kind not in NEW_ROW:
        return
    yield WrittenRow(
        applied.touched[0],
        plan.request.type,
        tx.scopes.require(plan.setting.scope),
        plan.vector,
    )

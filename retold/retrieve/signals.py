"""What the gate knows of a request besides the candidates, and what it decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from retold.models import Candidate, Channel, Trigger


@dataclass(frozen=True, slots=True)
class NullQuery:
    """One query beside the prompts of the null bank.

    ``top`` is the cosine of its nearest eligible record and ``unk`` the share of its terms that no
    eligible record holds, 0 for a query without terms. ``z`` says by how many deviations it stands
    out from an unrelated prompt; None where vectors cannot say it: there is no dense search, the
    embedder does not read the script of the query (``is_read``), or no eligible record has a
    vector.
    """

    top: float | None
    unk: float
    z: float | None
    is_read: bool = True


@dataclass(frozen=True, slots=True)
class NullSignals:
    """How every query of a request compares with prompts that have nothing to do with anybody.

    ``bank`` is the version of the bank. ``mean`` and ``sd`` describe its prompts over the eligible
    records, ``spread`` the deviation of their top cosines; all None when no query has a ``z``.
    """

    bank: str
    mean: float | None
    sd: float | None
    spread: float | None
    queries: tuple[NullQuery, ...]

    @property
    def z(self) -> float | None:
        """Return the Z of the query that stands out most; None when none has one."""
        return max((one.z for one in self.queries if one.z is not None), default=None)

    @property
    def is_partial(self) -> bool:
        """Return whether some query has no Z, so that its words must do."""
        return any(one.z is None for one in self.queries)

    def to_json(self) -> dict[str, Any]:
        """Return the signals as JSON values."""
        return {
            "bank": self.bank,
            "mean": self.mean,
            "sd": self.sd,
            "spread": self.spread,
            "queries": [[one.top, one.unk, one.z, one.is_read] for one in self.queries],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> NullSignals:
        """Return what ``to_json`` was called on."""
        queries = tuple(NullQuery(*one) for one in value["queries"])
        return cls(value["bank"], value["mean"], value["sd"], value["spread"], queries)


@dataclass(frozen=True, slots=True)
class QuerySignals:
    """What the gate knows about the request as a whole.

    ``channels`` are the generators that ran, whether or not they found anything. ``term_counts``
    holds the number of lexical terms of each query. ``null`` was measured where the gate asks for
    it, over the eligible records and no others.
    """

    trigger: Trigger
    channels: tuple[Channel, ...]
    term_counts: tuple[int, ...] = ()
    null: NullSignals | None = None


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """Both parts keep the order of the input; ``gate_reason`` is set on every candidate."""

    kept: tuple[Candidate, ...]
    dropped: tuple[Candidate, ...]

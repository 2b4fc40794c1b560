"""What the gate knows of a request besides the candidates, and what it decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from retold.models import Candidate, Channel, Trigger
from retold.retrieve.null_bank import BankName


@dataclass(frozen=True, slots=True)
class NullQuery:
    """One query beside the prompts of a null bank.

    ``top`` is the cosine of its nearest eligible record and ``unk`` the share of its terms that no
    eligible record holds, 0 for a query without terms. ``z`` says by how many deviations it stands
    out from an unrelated prompt; None where vectors cannot say it: there is no dense search, the
    embedder does not read the script of the query (``is_read``), or no eligible record has a
    vector. ``bank`` names the wording of the prompts.
    """

    top: float | None
    unk: float
    z: float | None
    is_read: bool = True
    bank: BankName = "plain"


class BankStatistics(NamedTuple):
    """``mean`` and ``sd`` of the prompts' signals; ``spread`` is the sd of their top cosines."""

    mean: float
    sd: float
    spread: float


@dataclass(frozen=True, slots=True)
class NullSignals:
    """How every query of a request compares with prompts that have nothing to do with anybody.

    ``version`` is that of the bank; ``banks`` describes each wording that some query was compared
    with, over the eligible records.
    """

    version: str
    banks: Mapping[BankName, BankStatistics]
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
            "version": self.version,
            "banks": {name: list(found) for name, found in self.banks.items()},
            "queries": [[one.top, one.unk, one.z, one.is_read, one.bank] for one in self.queries],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> NullSignals:
        """Return what ``to_json`` was called on."""
        banks = {name: BankStatistics(*found) for name, found in value["banks"].items()}
        return cls(value["version"], banks, tuple(NullQuery(*one) for one in value["queries"]))


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


GatedOut = tuple[Candidate, str]
"""A candidate that the gate dropped, with the reason; most of a pool ends here."""


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """Both parts keep the order of the input; ``gate_reason`` is set on every candidate kept."""

    kept: tuple[Candidate, ...]
    gated_out: tuple[GatedOut, ...]

    @property
    def dropped(self) -> tuple[Candidate, ...]:
        """Return the candidates gated out, each with its ``gate_reason``."""
        return tuple(one._replace(gate_reason=reason) for one, reason in self.gated_out)

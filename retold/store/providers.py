"""Whether a provider of models answers, as every process on the store knows it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from retold.store.codec import from_text_or_none, to_text, to_text_or_none
from retold.store.queries import load_queries

if TYPE_CHECKING:
    from retold.store.transaction import Transaction

QUERIES = load_queries("providers")

CircuitState = Literal["closed", "open", "half_open"]


@dataclass(frozen=True, slots=True)
class Door:
    """What is up or down as one: a provider at one address."""

    provider: str
    address: str


@dataclass(frozen=True, slots=True)
class Circuit:
    """What was last seen of a door.

    ``closed`` lets every call through, ``open`` none before ``open_until``, and ``half_open`` has
    let one through to see, which counts as lost from ``open_until`` on. ``failures`` counts the
    outages since the last answer.
    """

    state: CircuitState = "closed"
    failures: int = 0
    open_until: datetime | None = None


class ProviderRepository:
    """One row per door that ever failed. It decides nothing by itself."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def get(self, door: Door) -> Circuit:
        """Return what is known of a door; a closed circuit for one that never failed."""
        row = self._tx.one(QUERIES["get"], _key(door))
        return Circuit() if row is None else Circuit(row[0], row[1], from_text_or_none(row[2]))

    def set(self, door: Door, circuit: Circuit) -> None:
        """Replace what is known of a door."""
        self._tx.run(
            QUERIES["set"],
            {
                **_key(door),
                "state": circuit.state,
                "failures": circuit.failures,
                "open_until": to_text_or_none(circuit.open_until),
                "now": to_text(self._tx.now),
            },
        )

    def list_down(self) -> list[tuple[Door, Circuit]]:
        """Return the doors through which not every call goes, by provider and address."""
        return [
            (Door(row[0], row[1]), Circuit(row[2], row[3], from_text_or_none(row[4])))
            for row in self._tx.run(QUERIES["list_down"])
        ]


def _key(door: Door) -> dict[str, str]:
    return {"provider": door.provider, "base_url": door.address}

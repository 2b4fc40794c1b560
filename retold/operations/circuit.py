"""The circuit of each provider that steps ask, kept in the store for every process on it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from hashlib import blake2b
from typing import Final, get_args
from urllib.parse import urlsplit

from retold.config import RetoldConfig
from retold.errors import FailureKind, InvalidInput, RetoldSetupError
from retold.policy import circuit as rules
from retold.policy.circuit import Refuse
from retold.store import Transaction
from retold.store.claims import Stage
from retold.store.providers import Circuit, Door

logger = logging.getLogger(__name__)

DoorOf = Callable[[Stage], Door | None]
"""Whom a step asks; None when nobody can be named."""

STAGES: Final[tuple[Stage, ...]] = get_args(Stage)

OWN: Final = "own"
"""The provider of an extractor or reviewer that an integrator gave."""


class Circuits:
    """Let steps through, or not, and remember what became of them. Takes open transactions."""

    def __init__(self, door_of: DoorOf) -> None:
        """Take what names the provider of each step."""
        self._door_of = door_of

    def prepare(self) -> None:
        """Load what names a provider, before a transaction holds others up for it."""
        for stage in STAGES:
            self._door_of(stage)

    def admit(self, tx: Transaction, stage: Stage) -> Refuse | None:
        """Let a step through; Refuse says until when its provider is left alone."""
        door = self._door_of(stage)
        if door is None:
            return None
        before = tx.providers.get(door)
        after = rules.admit(before, tx.now)
        if isinstance(after, Refuse):
            return after
        self._keep(tx, door, before, after)
        return None

    def note_failure(
        self, tx: Transaction, stage: Stage, kind: FailureKind, retry_after_seconds: float | None
    ) -> Circuit:
        """Remember a step that failed and return the circuit of its provider now."""
        door = self._door_of(stage)
        if door is None:
            return Circuit()
        before = tx.providers.get(door)
        if kind == "outage":
            after = rules.after_outage(before, tx.now, retry_after_seconds=retry_after_seconds)
        elif kind in ("content", "config"):
            after = rules.after_answer(before)
        else:
            after = rules.after_no_call(before, tx.now)
        self._keep(tx, door, before, after)
        return after

    def is_doubtful(self, tx: Transaction, stage: Stage) -> bool:
        """Return whether the provider failed since it last answered."""
        door = self._door_of(stage)
        return door is not None and tx.providers.get(door) != Circuit()

    def note_success(self, tx: Transaction, stage: Stage, *, asked: bool) -> None:
        """Remember a step that succeeded; ``asked`` False: without a call of a model."""
        door = self._door_of(stage)
        if door is None:
            return
        before = tx.providers.get(door)
        after = rules.after_answer(before) if asked else rules.after_no_call(before, tx.now)
        self._keep(tx, door, before, after)

    @staticmethod
    def _keep(tx: Transaction, door: Door, before: Circuit, after: Circuit) -> None:
        if before == after:
            return
        tx.providers.set(door, after)
        if after.state != before.state:
            logger.warning(
                "a provider of models is left alone, or asked again",
                extra={
                    "provider": door.provider,
                    "state": after.state,
                    "failures": after.failures,
                },
            )


def doors_from_config(
    config: RetoldConfig, *, own_extractor: bool = False, own_reviewer: bool = False
) -> DoorOf:
    """Return whom the steps ask by the configuration, or one of an integrator's own."""
    models = {"extract": config.ingestion.extraction_model, "review": config.ingestion.review_model}
    own = {"extract": own_extractor, "review": own_reviewer}

    def door_of(stage: Stage) -> Door | None:
        return Door(OWN, stage) if own[stage] else hosted_door(models[stage], config)

    return door_of


def hosted_door(model: str, config: RetoldConfig) -> Door | None:
    """Return whom a model string reaches; None for one that reaches nobody.

    The address is kept without what may open it: user, password, query and a path, of which a
    digest tells two doors of one host apart.
    """
    # The clients of hosted models cost what opening a store would wait for.
    from retold.hosted import endpoint_of, shown_address

    try:
        endpoint = endpoint_of(model, config.hosted)
        parts = urlsplit(endpoint.base_url)
        path = parts.path.rstrip("/").encode()
        digest = f"/{blake2b(path, digest_size=8).hexdigest()}" if path else ""
        address = f"{shown_address(endpoint.base_url)}{digest}"
    except (RetoldSetupError, InvalidInput, ValueError):
        return None
    return Door(endpoint.provider, address)

"""Gates from open to shut, for the curve of what each lets through."""

from __future__ import annotations

from typing import Final

from retold.config import RetoldConfig, resolve_levers
from retold.config.retrieval import DenseFloorConfig, GateConfig

COSINES: Final = tuple(step / 20 for step in range(-1, 20))
DEVIATIONS: Final = tuple(step / 4 for step in range(-12, 25))


def gates_of(config: RetoldConfig) -> tuple[GateConfig, ...]:
    """Return the configured kind of gate at every threshold, from the lowest up.

    Floors all stand at one cosine and keep their lexical rule; a gate by deviations has one
    threshold. Only those of searches that somebody asked for are changed.
    """
    gate = resolve_levers(config.retrieval).gate
    if gate.kind == "floors":
        return tuple(gate.model_copy(update={"dense_floor": _floor(at)}) for at in COSINES)
    return tuple(
        gate.model_copy(update={"null_z": gate.null_z.model_copy(update={"explicit": at})})
        for at in DEVIATIONS
    )


def _floor(cosine: float) -> DenseFloorConfig:
    return DenseFloorConfig(**dict.fromkeys(DenseFloorConfig.model_fields, cosine))

"""A logged search decided again from its row alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

from retold.config.retrieval import DenseFloorConfig, GateConfig
from retold.errors import InvalidInput
from retold.models import SearchResponse
from retold.retrieve.replay import logged_candidates, replay_fusion, replay_gate
from retold.testing import FakeReranker
from tests.unit.retrieve.world import World, config

REPLAY = """
import json, sys
from retold.config.retrieval import GateConfig
from retold.retrieve.replay import replay_gate, replay_fusion
from retold.store import Store
with Store.open(sys.argv[1]) as store, store.read() as tx:
    row = tx.search_log.get(sys.argv[2])
outcome = replay_gate(row)
print(json.dumps({
    "kept": [c.record_id for c in outcome.kept],
    "dropped": [[c.record_id, c.gate_reason] for c in outcome.dropped],
    "fused": replay_fusion(row),
}))
"""


def filled(world: World) -> SearchResponse:
    world.add("Prefers green tea in the morning", about=["Ana"])
    world.add("Green tea is stored in the kitchen")
    world.add("The tea kettle descales monthly", type="episodic")
    world.add("Deploys run on Friday")
    return world.search("green tea for Ana", "kitchen kettle")


def test_replay_in_another_process_needs_nothing_but_the_row(world: World, tmp_path: Path) -> None:
    row = world.log(filled(world))
    copy = tmp_path / "copy.sqlite"
    world.retriever.close()
    with world.store.write() as tx:
        for sql in (
            "delete from records_fts",
            "delete from embeddings",
            "delete from record_entities",
            "delete from records",
        ):
            tx.run(sql)
    with world.store.read() as tx:
        target = apsw.Connection(str(copy))
        with target.backup("main", tx.connection, "main") as backup:
            backup.step()
        target.close()

    answer = subprocess.run(
        [sys.executable, "-c", REPLAY, str(copy), row["id"]],
        capture_output=True,
        text=True,
        check=True,
    )
    replayed = json.loads(answer.stdout)

    assert replayed["dropped"] == json.loads(row["gated_out"])
    assert replayed["fused"] == json.loads(row["fused"])
    assert {*replayed["kept"], *(one for one, _ in replayed["dropped"])} == {
        one for one, _ in replayed["fused"]
    }


@pytest.mark.parametrize("floor", [-1.0, 0.2, 0.99])
def test_replay_with_other_floors_decides_as_a_search_with_them_would(
    world: World, tmp_path: Path, floor: float
) -> None:
    floors = dict.fromkeys(("semantic", "episodic", "procedural", "session_summary"), floor)
    gate = GateConfig(dense_floor=DenseFloorConfig(**floors), entity_exempt=False)
    row = world.log(filled(world))
    other = World(
        tmp_path / "other.sqlite", config(retrieval={"gate": gate.model_dump(mode="json")})
    )
    live = json.loads(other.log(filled(other))["gated_out"])
    other.close()

    replayed = replay_gate(row, gate)

    assert [one.gate_reason for one in replayed.dropped] == [reason for _, reason in live]


def test_replay_with_another_constant_fuses_again(world: World) -> None:
    row = world.log(filled(world))

    assert replay_fusion(row) == [tuple(one) for one in json.loads(row["fused"])]
    assert replay_fusion(row, 1)[0][1] > replay_fusion(row)[0][1]


def test_replay_knows_a_search_whose_floors_were_left_to_the_cross_encoder(
    tmp_path: Path,
) -> None:
    reranker = {"enabled": True, "floor": 0.5, "mode": "cross_encoder_only"}
    world = World(
        tmp_path / "store.sqlite", config(reranker=reranker), reranker=FakeReranker(default=0.9)
    )
    row = world.log(filled(world))
    world.close()

    assert replay_gate(row).dropped == ()


def test_logged_candidates_hold_what_the_gate_saw(world: World) -> None:
    row = world.log(filled(world))
    pool = logged_candidates(row)

    assert len(pool) == 4
    assert {one.type for one in pool} == {"semantic", "episodic"}
    assert any(one.lexical_match and one.lexical_match.terms for one in pool)
    assert all(one.gate_reason is None for one in pool)


@pytest.mark.parametrize(
    ("change", "says"),
    [({"pipeline_version": "0"}, "pipeline '0'"), ({"detail": "summary"}, "logs.detail")],
)
def test_replay_refuses_what_it_cannot_read(
    world: World, change: dict[str, Any], says: str
) -> None:
    with pytest.raises(InvalidInput, match=says):
        replay_gate(world.log(filled(world)) | change)

"""Thresholds of the gate from what unrelated prompts find in a store."""

import json
from contextlib import closing

import numpy as np
import pytest
import yaml

from retold.config import parse_config
from retold.errors import InvalidInput
from retold.host import HostItem
from retold.index import embedder as embedders
from retold.models import Scope
from retold.operations.calibration import (
    LEAST_RECORDS,
    calibrate,
    least_threshold,
    left_out_z,
    spread_of,
)
from retold.retrieve.null_signals import BankSample
from retold.testing import MemoryLab
from tests.cli_support import retold_here
from tests.unit.retrieve.world import ANA, World

WORDS = "amber basil cedar delta ember fjord grove heron inlet juniper kelp larch".split()
CONTENTS = [f"The {one} box stands beside the {two}." for one in WORDS for two in WORDS[:4]]


@pytest.mark.parametrize(
    ("rate", "threshold", "admitted"),
    [
        pytest.param(0.5, 0.65, 0.5, id="half"),
        pytest.param(0.1, 1.05, 0.1, id="one of ten"),
        pytest.param(0.05, 1.15, 0.0, id="less than one"),
    ],
)
def test_the_least_threshold_lets_no_more_than_the_rate_through(rate, threshold, admitted):
    values = np.array([0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1])

    found = least_threshold(values, rate, 0.05)

    assert (found.threshold, found.admitted) == (pytest.approx(threshold), admitted)


def test_each_prompt_of_the_bank_is_judged_by_the_others():
    tops = np.array([0.1, 0.2, 0.3, 0.9])
    sample = BankSample(tops, np.zeros(4), records=10_000_000, own_spread=0.1)

    z = left_out_z(sample, 2.0)

    # The mean of the first three is .2 and their deviation .1; the prior of small stores is gone.
    assert z[3] == pytest.approx((0.9 - 0.2) / 0.1, rel=1e-3)


def test_a_spread_has_its_mean_deviation_and_percentiles():
    spread = spread_of(np.arange(101) / 100)

    assert (spread.mean, spread.p05, spread.p50, spread.p95) == (0.5, 0.05, 0.5, 0.95)


@pytest.fixture(scope="module")
def lab_store(tmp_path_factory):
    """A store of one scope with enough records, and one with too few."""
    path = tmp_path_factory.mktemp("calibration") / "memory.sqlite"
    with MemoryLab.open(path) as lab:
        lab.retold.host.write_many("project:secretproject", CONTENTS, dedup=False)
        lab.retold.host.write_many("user:ana", [HostItem("Lives in Porto.")])
        embedder = lab.embedder
    return path, embedder


@pytest.fixture
def store(lab_store, monkeypatch):
    path, embedder = lab_store
    monkeypatch.setattr(embedders, "embedder_from_config", lambda _: embedder)
    return path


def test_calibrate_measures_a_store_and_tells_nothing_that_it_holds(store, tmp_path):
    target = tmp_path / "gate.yaml"
    shown = retold_here("calibrate", "--profile", "offline", "--write", target, store=store)
    document = retold_here("calibrate", "--profile", "offline", "--json", store=store).document

    assert shown.code == 0, shown.err
    fragment = target.read_text(encoding="utf-8")
    gate = parse_config(yaml.safe_load(fragment), profile="offline").retrieval.gate
    assert (document["scopes"], document["records"]) == (1, len(CONTENTS))
    assert gate.null_z.explicit == document["null_z"]["explicit"]["threshold"]
    assert gate.null_z.auto == document["null_z"]["auto"]["threshold"] >= gate.null_z.explicit
    assert gate.dense_floor.episodic == document["dense_floor"]["explicit"]["threshold"]
    assert gate.auto.dense_floor.semantic == document["dense_floor"]["auto"]["threshold"]
    assert document["null_z"]["explicit"]["admitted"] <= 0.15
    assert document["null_z"]["auto"]["admitted"] <= 0.03
    told = (shown.out + fragment + json.dumps(document)).lower()
    assert not any(word in told for word in (*WORDS, "secretproject", "ana"))
    assert max(map(len, shown.out.splitlines())) <= 80


def test_calibrate_asks_prompts_that_are_given(store, tmp_path):
    prompts = tmp_path / "mine.jsonl"
    prompts.write_text('{"text": "The amber box."}\n{"text": "Tell a joke."}\n', encoding="utf-8")

    done = retold_here(
        "calibrate", "--profile", "offline", "--no-memory", prompts, "--admit", "0.5", "--json",
        store=store,
    )  # fmt: skip

    assert (done.document["probes"], done.document["own_probes"]) == (2, True)
    assert done.document["null_z"]["explicit"]["admitted"] == 0.5


@pytest.mark.parametrize("vectors", [0, 1, LEAST_RECORDS - 1])
def test_calibrate_refuses_a_scope_with_too_few_vectors(tmp_path, vectors):
    with closing(World(tmp_path / "store.sqlite")) as world:
        for at in range(LEAST_RECORDS):
            world.add(f"planted bean {at}", vector=at < vectors)

        with pytest.raises(InvalidInput, match="30 records with a vector; embed the records"):
            calibrate(world.store, world.embedder, world.config)


def test_a_scope_without_vectors_is_passed_over_unless_it_is_named(tmp_path):
    with closing(World(tmp_path / "store.sqlite")) as world:
        for at in range(LEAST_RECORDS + 1):
            world.add(f"planted bean {at}")
            world.add(f"sowed a pea {at}", scope="project:garden", vector=False)

        found = calibrate(world.store, world.embedder, world.config)

        assert (found.scopes, found.records) == (1, LEAST_RECORDS + 1)
        with pytest.raises(InvalidInput, match="embed its records first"):
            calibrate(
                world.store,
                world.embedder,
                world.config,
                scopes=[ANA.private_scope, Scope.parse("project:garden")],
            )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(
            ["--scope", "user:ana"], "user:ana holds 1 of the 30 records", id="few records"
        ),
        pytest.param(["--as", "helper/ana"], "for operators", id="a principal"),
        pytest.param(["--admit", "nan"], "nan is not in the range 0<x<1", id="no number"),
        pytest.param(["--admit-auto", "NaN"], "is not in the range 0<x<1", id="none either"),
        pytest.param(["--admit", "inf"], "0<x<1", id="beyond"),
        pytest.param(["--write", "{there}"], "is there already", id="never overwritten"),
    ],
)
def test_calibrate_refuses_with_a_reason(store, tmp_path, options, message):
    there = tmp_path / "there.yaml"
    there.write_text("mine", encoding="utf-8")
    options = [one.format(there=there) for one in options]

    done = retold_here("calibrate", "--profile", "offline", *options, store=store)

    assert (done.code, there.read_text(encoding="utf-8")) == (2, "mine")
    assert message in done.err


def test_a_named_scope_with_too_few_records_is_refused_by_its_name(tmp_path):
    with closing(World(tmp_path / "store.sqlite")) as world:
        for at in range(LEAST_RECORDS):
            world.add(f"planted bean {at}")
        world.add("sowed a pea", scope="project:garden")

        for scope, held in (("project:garden", 1), ("project:nowhere", 0)):
            with pytest.raises(InvalidInput, match=f"{scope} holds {held} of the 30 records"):
                calibrate(
                    world.store,
                    world.embedder,
                    world.config,
                    scopes=[ANA.private_scope, Scope.parse(scope)],
                )

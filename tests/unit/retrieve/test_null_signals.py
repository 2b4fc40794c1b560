"""The null bank: its prompts, its statistics and what is remembered of them."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from statistics import fmean, stdev

import numpy as np
import pytest

import retold.retrieve.null_signals as null_signals_module
from retold.retrieve.null_bank import BANK_VERSION, bank_for, bank_prompts
from retold.retrieve.null_signals import (
    SMALL_STORES,
    AskedQuery,
    BankSample,
    NullReference,
    bank_statistics,
    null_signals,
    z_of,
)
from retold.retrieve.signals import BankStatistics, NullSignals
from retold.testing import FakeEmbedder


class Snapshot:
    """Stands for columns or words; nothing but its identity counts."""


class Rows:
    """Three eligible rows of some columns, and how near the bank comes to them."""

    count = 3

    def __init__(self, columns, top, first=0):
        self.columns = columns
        self.top = top
        self.first = first

    def rows(self):
        return np.arange(self.first, self.first + 3)


class Told:
    """An index and its words at once: finds what the rows say and knows every term."""

    def __init__(self):
        self.snapshot = Snapshot()

    def nearest_to(self, vectors, rows):
        return np.full(len(vectors), rows.top)

    def known(self, phrases):
        return [True] * len(phrases)


DIGESTS = {"1": "cbbda16e18d0e42c1004e5fca89db17960af059ebfa80abe37b6f2e9afface5a"}
"""What each version of the bank is, so that no prompt changes without a new one."""
TOPS = [0.1, 0.2, 0.25, 0.4]
UNKS = [1.0, 0.5, 0.5, 0.0]


def sample(records: int = 10**9, tops=TOPS, unks=UNKS, own_spread: float = 0.08) -> BankSample:
    return BankSample(np.array(tops), np.array(unks), records, own_spread)


def test_a_change_of_the_bank_is_a_new_version():
    text = files("retold.retrieve").joinpath("data/null_bank.txt").read_bytes()

    assert hashlib.sha256(text).hexdigest() == DIGESTS[BANK_VERSION]


def test_the_bank_holds_enough_different_prompts_of_every_length():
    prompts = bank_prompts()
    lengths = sorted(map(len, prompts))

    assert len(set(prompts)) == len(prompts) >= 32
    assert lengths[len(prompts) // 10] < 40
    assert lengths[-len(prompts) // 10] > 150


def test_statistics_of_many_records_are_the_plain_ones():
    spread = stdev(TOPS)
    signals = [top - 2 * spread * unk for top, unk in zip(TOPS, UNKS, strict=True)]
    found = bank_statistics(sample(), 2.0)

    assert found.spread == pytest.approx(spread)
    assert found.sd == pytest.approx(stdev(signals))
    assert found.mean == pytest.approx(fmean(signals))


def test_statistics_of_few_records_are_drawn_to_the_embedder_and_lenient():
    few, many = bank_statistics(sample(1), 2.0), bank_statistics(sample(), 2.0)
    lenience = SMALL_STORES.leniency * (1 - 1 / (SMALL_STORES.lenient_records + 1))
    signals = np.array(TOPS) - 2 * few.spread * np.array(UNKS)

    assert 0.08 < few.sd < many.sd
    assert few.mean == pytest.approx(float(signals.mean()) - lenience * few.sd)


def test_a_bank_that_finds_all_alike_still_has_a_deviation():
    found = bank_statistics(sample(tops=[0.3] * 4, unks=[0.0] * 4, own_spread=0.0), 2.0)

    assert found.sd > 0.0
    assert z_of(found, 0.3, 0.0, 2.0) == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("tops", [[], [-np.inf] * 4])
def test_no_vector_means_no_statistics(tops):
    assert bank_statistics(sample(0, tops=tops, unks=[1.0] * len(tops)), 2.0) is None


def test_z_falls_with_words_that_nobody_knows():
    found = bank_statistics(sample(), 2.0)

    assert z_of(found, 0.4, 0.0, 2.0) > z_of(found, 0.4, 0.5, 2.0) > z_of(found, 0.2, 0.5, 2.0)
    assert z_of(found, None, 0.0, 2.0) is z_of(None, 0.4, 0.0, 2.0) is None


def test_signals_survive_the_log_to_the_bit():
    asked = [AskedQuery(0.1 + 0.2, 1 / 3), AskedQuery(None, 0.0, is_read=False)]
    signals = null_signals({"plain": bank_statistics(sample(7), 2.0)}, asked, 2.0)

    assert NullSignals.from_json(signals.to_json()) == signals
    assert signals.is_partial
    assert signals.z == signals.queries[0].z


def test_signals_without_any_vector_have_no_statistics():
    signals = null_signals({}, [AskedQuery(0.4, 0.5)], 2.0)

    assert (signals.z, signals.is_partial) == (None, True)


@pytest.mark.parametrize(
    ("query", "bank"),
    [
        ("the user's job", "user"),
        ("What do users like?", "user"),
        ("USER preferences", "user"),
        ("usership of the tram", "plain"),
        ("where do I live", "plain"),
    ],
)
def test_a_query_about_the_user_meets_prompts_about_the_user(query, bank):
    """Otherwise the word, with which records begin, makes any such query stand out."""
    statistics = {"user": BankStatistics(0.5, 0.1, 0.1), "plain": BankStatistics(0.1, 0.1, 0.1)}
    signals = null_signals(statistics, [AskedQuery(0.4, 0.0, bank=bank_for(query))], 2.0)

    assert bank_for(query) == bank
    assert signals.z == pytest.approx(-1.0 if bank == "user" else 3.0)
    assert all("user" in prompt for prompt in bank_prompts("user"))


def test_a_sample_is_of_its_rows_its_columns_and_its_words():
    """A reload numbers rows anew: equal numbers may be other records, and words may stay.

    Another caller may read as many rows.
    """
    reference, told, columns = NullReference(), Told(), Snapshot()
    reference.embed(FakeEmbedder())

    def top(rows, words=told):
        return reference.sample(told, words, rows, str.split).tops[0]

    assert top(Rows(columns, 0.1)) == 0.1
    assert top(Rows(columns, 0.2)) == 0.1  # remembered
    assert top(Rows(columns, 0.6, first=1)) == 0.6
    assert top(Rows(Snapshot(), 0.3)) == 0.3
    assert top(Rows(columns, 0.4)) == 0.4
    assert top(Rows(columns, 0.5), Told()) == 0.5


def test_statistics_of_a_sample_are_worked_out_once_for_each_weight(monkeypatch):
    reference, told, rows = NullReference(), Told(), Rows(Snapshot(), 0.1)
    reference.embed(FakeEmbedder())
    asked = []

    def counted(taken, unk_weight):
        asked.append(unk_weight)
        return bank_statistics(taken, unk_weight)

    monkeypatch.setattr(null_signals_module, "bank_statistics", counted)
    plain = [
        reference.statistics(told, told, rows, str.split, name="plain", unk_weight=weight)
        for weight in (2.0, 2.0, 1.0)
    ]

    taken = reference.sample(told, told, rows, str.split)
    assert plain == [bank_statistics(taken, weight) for weight in (2.0, 2.0, 1.0)]
    assert asked == [2.0, 1.0]

"""``retold migrate`` on a file with claims that have no one subject."""

from __future__ import annotations

from retold.cli.app import run
from retold.store import Store
from tests.scenarios.test_entities import UNMAPPED, old_file

__all__ = ["old_file"]


def _migrate(path, *options):
    return run(["migrate", "--store", str(path), *options])


def test_migrate_fails_until_unmapped_claims_are_acknowledged(old_file, capsys):
    for _ in range(2):
        assert _migrate(old_file) == 2
        printed = capsys.readouterr().out
        assert all(record_id in printed for record_id in UNMAPPED)

    assert _migrate(old_file, "--allow-unmapped") == 0
    assert _migrate(old_file) == 0
    with Store.open(old_file) as store, store.read() as tx:
        assert {tx.records.require(one).status for one in UNMAPPED} == {"confirmed"}


def test_migrate_retires_unmapped_claims_when_told_to(old_file):
    assert _migrate(old_file, "--expire-unmapped") == 0

    with Store.open(old_file) as store, store.read() as tx:
        assert {tx.records.require(one).status for one in UNMAPPED} == {"expired"}


def test_migrate_wants_one_of_the_two_answers(old_file):
    assert _migrate(old_file, "--allow-unmapped", "--expire-unmapped") == 2

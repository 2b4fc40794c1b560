"""The offline profile's own embedder on a thousand records, opened once."""

from __future__ import annotations

import json

import pytest

from retold import Retold
from retold.models import Scope
from tests.integration.floor_fixture import ANSWERED, UNANSWERED, filler

RECORDS = 1000
SCOPE = Scope("user", "mara")


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    path = tmp_path_factory.mktemp("integration") / "memory.sqlite"
    with Retold.open(path, profile="offline") as retold:
        retold.host.grant("assistant", SCOPE)
        contents = [record for record, _ in ANSWERED]
        contents += filler(RECORDS - len(contents))
        results = list(retold.host.write_many(SCOPE, contents, dedup=False))
        yield retold, {result.record_id: c for result, c in zip(results, contents, strict=True)}


def _cosines(retold, queries):
    """Return, per query, the logged cosine of every record of its dense list by id."""
    session = retold.session("mara")
    found = []
    for query in queries:
        page = session.search(query)
        with retold.store.read() as tx:
            row = tx.search_log.get(page.search_id)
        found.append({record_id: cosine for record_id, _, cosine in json.loads(row["dense"])})
    return found


def test_fixture_holds_a_thousand_different_records_and_a_hundred_labelled_queries(opened):
    _, contents = opened

    assert len(set(contents.values())) == RECORDS
    assert len({query for _, query in ANSWERED}) == len(set(UNANSWERED)) == 50


def test_dense_floor_separates_answered_from_unanswered_queries(opened):
    """An answered query wants its own record above the floor, an unanswered one none."""
    retold, contents = opened
    floor = retold.runtime.config.retrieval.gate.dense_floor.semantic
    ids = {content: record_id for record_id, content in contents.items()}

    answered = _cosines(retold, [query for _, query in ANSWERED])
    unanswered = _cosines(retold, UNANSWERED)

    kept = [
        cosines.get(ids[record], -1.0) >= floor
        for (record, _), cosines in zip(ANSWERED, answered, strict=True)
    ]
    refused = [max(cosines.values()) < floor for cosines in unanswered]
    balanced_accuracy = (sum(kept) / len(kept) + sum(refused) / len(refused)) / 2
    assert balanced_accuracy >= 0.85


def test_own_record_is_the_first_result_of_nearly_every_answered_query(opened):
    retold, _ = opened
    session = retold.session("mara")

    first = [
        page.items[0].record.content == record
        for record, query in ANSWERED
        if (page := session.search(query))
    ]

    assert sum(first) >= 45

"""Each generator alone, over a caller's eligible rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from retold.index.columns import Eligible
from retold.models import Record
from retold.retrieve.generators import (
    dense_search,
    entity_search,
    find_aliases,
    lexical_matches,
    lexical_search,
    pairwise_cosines,
)
from retold.store import Transaction
from retold.store.codec import to_us
from tests.unit.retrieve.world import ANA, BOB, World


@contextmanager
def snapshot(
    world: World, principal: Any = ANA
) -> Iterator[tuple[Transaction, Eligible, list[int]]]:
    with world.store.read() as tx:
        world.index.refresh(tx, 512)
        codes = list(tx.scopes.codes([principal.private_scope]).values())
        yield tx, world.index.eligible(codes, now_us=to_us(tx.now)), codes


def seqs(*records: Record) -> list[int]:
    return [record.seq for record in records]


def test_dense_union_of_queries_keeps_the_best_cosine_and_is_capped(world: World) -> None:
    contents = [f"topic{n} word{n}" for n in range(10)]
    records = [world.add(content) for content in contents]
    queries = [contents[3], contents[7], "topic3 other"]

    with snapshot(world) as (_, eligible, _codes):
        found = dense_search(world.index, world.embedder.embed_queries(queries), eligible, 5)

    assert len(found.hits) == 5
    assert {seq for seq, _ in found.hits[:2]} == {records[3].seq, records[7].seq}
    assert found.hits[0][1] == pytest.approx(1.0)


@pytest.mark.parametrize("query", ["", "*", "the", '"', "(((", "AND OR NOT", "x" * 10_000])
def test_lexical_search_of_anything_never_raises(world: World, query: str) -> None:
    """B47."""
    world.add("Likes tea")

    with snapshot(world) as (tx, eligible, _):
        assert lexical_search(tx, world.index.words(tx, eligible), [query], 30).ranking.hits == ()


def test_lexical_search_counts_coverage_per_query_and_keeps_the_best(world: World) -> None:
    record = world.add("The deploy script of apollo is deploy.yml in the infra repo")

    with snapshot(world) as (tx, eligible, _):
        words = world.index.words(tx, eligible)
        queries = ["deploy.yml apollo a", "deploy unrelated words here"]
        found = lexical_search(tx, words, queries, 30)
        texts = world.index.texts_of(tx, [record.seq])

    match = lexical_matches(found.terms, texts, {"apollo"})[record.seq]
    assert (len(match.terms), match.total_terms) == (2, 2)
    assert [(t.value, t.is_identifier, t.is_entity_alias) for t in match.terms] == [
        ("deploy.yml", True, False),
        ("apollo", False, True),
    ]
    assert found.term_counts == (2, 3)


def test_lexical_search_takes_the_best_rank_over_queries(world: World) -> None:
    tea = world.add("tea")
    both = world.add("tea with oat milk and honey")
    milk = world.add("oat milk")

    with snapshot(world) as (tx, eligible, _):
        found = lexical_search(tx, world.index.words(tx, eligible), ["tea", "oat milk"], 2)

    assert [seq for seq, _ in found.ranking.hits] in ([tea.seq, milk.seq], [milk.seq, tea.seq])
    assert both.seq not in dict(found.ranking.hits)


def test_lexical_search_sees_eligible_rows_only(world: World) -> None:
    world.add("zebra", owner=BOB)

    with snapshot(world) as (tx, eligible, _):
        assert lexical_search(tx, world.index.words(tx, eligible), ["zebra"], 30).ranking.hits == ()


def test_aliases_are_found_in_one_store_call(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add("Allergic to peanuts", about=["Rosa Diaz"])
    calls: list[int] = []

    with snapshot(world) as (tx, _, codes):
        by_alias = tx.entities.by_alias
        monkeypatch.setattr(
            tx.entities, "by_alias", lambda *args: (calls.append(1), by_alias(*args))[1]
        )
        found = find_aliases(tx, ["Rosa Diaz's dinner", "rosa"], ["Rosa Diaz"], codes, 4)

    assert calls == [1]
    assert len(found.entity_ids) == 1
    assert found.norms == {"rosa diaz"}


def test_aliases_of_other_scopes_are_not_found(world: World) -> None:
    """Fails when ``find_aliases`` passes every scope."""
    world.add("Allergic to peanuts", about=["Rosa Diaz"], owner=BOB)
    world.add("Likes tea")

    with snapshot(world) as (tx, _, codes):
        assert find_aliases(tx, ["Rosa Diaz"], [], codes, 4).entity_ids == ()


def test_entity_search_orders_by_role_then_cosine_then_age(world: World) -> None:
    mentioned = world.add("tea for breakfast", mentions=["Rosa"])
    far = world.add("goes skiing", about=["Rosa"])
    older = world.add("drinks coffee", about=["Rosa"])
    newer = world.add("drinks coffee", about=["Rosa"])
    near = world.add("drinks tea", about=["Rosa"])
    with snapshot(world) as (tx, eligible, codes):
        ids = find_aliases(tx, ["Rosa"], [], codes, 4).entity_ids
        vectors = world.embedder.embed_queries(["drinks tea"])

        found = entity_search(tx, world.index, ids, eligible, vectors=vectors, limit=30)
        capped = entity_search(tx, world.index, ids, eligible, vectors=None, limit=2)

    assert [seq for seq, _ in found.ranking.hits] == seqs(near, newer, older, far, mentioned)
    assert set(found.entity_of.values()) == set(ids)
    assert [seq for seq, _ in capped.ranking.hits] == seqs(near, newer)


def test_entity_search_sees_eligible_rows_only(world: World) -> None:
    """Fails when ``entity_search`` no longer asks ``eligible``."""
    gone = world.add("drinks tea", about=["Rosa"])
    kept = world.add("drinks coffee", about=["Rosa"])
    world.set(gone, status="expired")

    with snapshot(world) as (tx, eligible, codes):
        ids = find_aliases(tx, ["Rosa"], [], codes, 4).entity_ids
        found = entity_search(tx, world.index, ids, eligible, vectors=None, limit=30)

    assert [seq for seq, _ in found.ranking.hits] == seqs(kept)


def test_pairwise_cosines_are_missing_where_a_vector_is(world: World) -> None:
    one, two = world.add("drinks tea"), world.add("drinks coffee")
    bare = world.add("no vector", vector=False)

    with snapshot(world):
        cosines = pairwise_cosines(world.index, seqs(one, two, bare))

    assert cosines[0, 0] == pytest.approx(1.0)
    assert cosines[0, 1] == pytest.approx(world.index.cosine(one.seq, two.seq))
    assert np.isnan(cosines[2]).all()

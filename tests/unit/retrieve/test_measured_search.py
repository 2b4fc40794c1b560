"""Whole searches by the measured preset: boosts in the log, groups, names, and whose rows count."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from retold.retrieve.replay import logged_candidates
from tests.unit.retrieve.test_levers import OPEN_GATE
from tests.unit.retrieve.world import ANA, BOB, World, config


def measured(path: Path, **retrieval: object) -> World:
    settings = {"preset": "measured", "gate": OPEN_GATE} | retrieval
    return World(path, config(retrieval=settings, embedding={"dims": 384, "scripts": ("latin",)}))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = measured(tmp_path / "store.sqlite")
    yield world
    world.close()


def test_a_logged_score_is_its_fused_score_and_its_boosts_to_the_bit(world: World) -> None:
    for part in range(4):
        world.add(f"planted bean {part}", about=["Ana Lima"], source_ref=f"host:garden#{part}")
        world.later(days=11)

    response = world.search("when did Ana Lima plant a bean")
    row = world.log(response)
    pool = logged_candidates(row)

    assert {boost.name for one in pool for boost in one.boosts} == {"session", "recency", "entity"}
    for one in pool:
        score = one.fused_score
        for boost in one.boosts:
            score += boost.amount
        assert score == one.score
    shown = {one.record.id: one for one in response.results}
    for one in pool:
        assert shown[one.record_id].explanation.boosts == one.boosts
        assert shown[one.record_id].score == one.score


def test_a_date_is_that_of_the_time_zone_that_is_set(tmp_path: Path) -> None:
    """The night of New Year's Eve in Tokyo is still the old year in UTC."""
    found = []
    for zone in ("UTC", "Asia/Tokyo"):
        world = measured(tmp_path / f"{zone[:3]}.sqlite", time_zone=zone)
        night = world.clock().replace(year=2024, month=12, day=31, hour=20)
        world.add("rang the temple bell", event_at=night)
        world.add("rang the door bell", event_at=night.replace(day=1))
        results = world.search("which bell rang in 2025").results
        found.append([[boost.name for boost in one.explanation.boosts] for one in results])
        world.close()

    assert sorted(found[0]) == [[], []]
    assert sorted(found[1]) == [[], ["date_interval"]]


@pytest.mark.parametrize(
    ("zone", "now"),
    [
        ("America/New_York", datetime(1, 1, 1, 2, tzinfo=UTC)),
        ("Asia/Tokyo", datetime(9999, 12, 31, 22, tzinfo=UTC)),
    ],
)
def test_a_clock_at_an_end_of_the_calendar_is_searched_like_any(
    tmp_path: Path, zone: str, now: datetime
) -> None:
    """Fails where the moment has no name in the time zone that is set."""
    world = measured(tmp_path / "store.sqlite", time_zone=zone)
    world.clock.advance(now - world.clock())
    world.add("rang the temple bell", event_at=now)

    assert world.contents("which bell rang last week") == ["rang the temple bell"]
    world.close()


def test_a_group_is_shown_once_with_its_size_and_its_members_ids(world: World) -> None:
    first = world.add("Likes  green tea")
    second = world.add("likes GREEN tea")
    world.add("Likes green tea and owns 2 pots")

    response = world.search("who likes green tea")

    assert sorted(one.explanation.group_size for one in response.results) == [1, 2]
    grouped = next(one for one in response.results if one.explanation.group_size == 2)
    other = ({first.id, second.id} - {grouped.record.id}).pop()
    assert f"kept over {other} at" in grouped.explanation.dedup
    assert response.text.count("stands for 2 records that say the same") == 1


def test_one_user_in_two_scopes_is_one_subject_and_two_users_are_two(world: World) -> None:
    world.grant("user:ana")
    with world.store.write() as tx:
        entities = [
            tx.entities.insert("person", "Ana", scope, ["ana"], principal_user_id="ana")
            for scope in (ANA.private_scope, ANA.user_scope)
        ]
        stranger = tx.entities.insert("person", "Bea", ANA.user_scope, ["bea"])
    for scope, entity in zip(("agent:helper/ana", "user:ana"), entities, strict=True):
        world.add("Likes green tea", scope=scope, subject_entity_id=entity.id, attribute="taste")
    world.add("Likes green tea", scope="user:ana", subject_entity_id=stranger.id, attribute="taste")

    sizes = [one.explanation.group_size for one in world.search("green tea").results]

    assert sorted(sizes) == [1, 2]


def test_names_narrow_a_search_and_unknown_ones_do_not(world: World) -> None:
    world.add("keeps a spare key", about=["Bob Reis"])
    world.add("keeps a green boat", about=["Cleo Dan"])
    world.add("Cleo Dan lent a key", vector=True)
    world.add("keeps a secret key", owner=BOB, about=["Eve"])

    def keys(*entities: str) -> set[str]:
        return set(world.contents("who keeps a key", entities=entities or None))

    everything = {"keeps a spare key", "keeps a green boat", "Cleo Dan lent a key"}
    assert keys() == everything
    assert keys("bob reis") == {"keeps a spare key"}
    assert keys("CLEO DAN") == {"keeps a green boat", "Cleo Dan lent a key"}
    assert keys("Bob Reis", "Nobody") == {"keeps a spare key"}
    assert keys("Nobody") == keys("Eve") == everything


@pytest.mark.parametrize("context", ["facts", "turns"])
def test_what_others_hold_changes_no_rank_score_or_reason(tmp_path: Path, context: str) -> None:
    """Their records share the conversations, the words, the names and the times."""
    world = measured(tmp_path / "store.sqlite", context=context)
    questions = ("who watered the fern in March", "Ana Lima and the fern", "what about the ladder")
    for part in range(9):
        content = f"watered fern {part}" if part % 3 else f"moved the ladder {part}"
        world.add(
            content, type="episodic", about=["Ana Lima"], source_ref=f"host:{part // 3}#{part}"
        )
        world.later(days=20)

    def answers() -> list[object]:
        found = [world.search(one, k=20) for one in questions]
        return [
            [(one.record.id, one.score, one.explanation) for one in each.results] for each in found
        ]

    before = answers()
    for part in range(30):
        world.add(
            f"watered fern and ladder {part}",
            owner=BOB,
            type="episodic",
            about=["Ana Lima"],
            source_ref=f"host:{part % 3}#{part + 100}",
            event_at=world.clock().replace(year=1990 + part),
        )

    assert answers() == before
    assert all(before)
    world.close()


def test_switching_every_boost_off_leaves_the_fused_order(world: World, tmp_path: Path) -> None:
    plain = measured(
        tmp_path / "plain.sqlite",
        boosts={"date_interval": 0.0, "session": 0.0},
        freshness={"kind": "off"},
        entities={"tie_break": 0.0},
    )
    for each in (world, plain):
        for part in range(6):
            each.add(f"planted {'bean ' * (part % 3)}{part}", source_ref=f"host:g#{part}")
            each.later(days=9)
    found = plain.search("when was the bean planted").results

    assert [one.explanation.fused_rank for one in found] == list(range(1, len(found) + 1))
    assert all(one.explanation.boosts == () for one in found)
    logged = json.loads(world.log(world.search("the bean"))["pipeline"])
    assert logged["boosts"]["session"] == 0.3
    plain.close()


@pytest.mark.parametrize("window", ["since", "until"])
def test_whoever_gives_a_window_has_said_which_age_is_wanted(world: World, window: str) -> None:
    """Every record lies in the window, so that nothing but it takes recency away."""
    begin = world.clock()
    for number in range(3):
        world.add(f"planted bean {number}")
        world.later(days=30)
    edge = {"since": begin, "until": world.clock()}[window]
    boosts = [
        [boost.name for one in logged_candidates(world.log(found)) for boost in one.boosts]
        for found in (world.search("bean"), world.search("bean", **{window: edge}))
    ]

    assert boosts == [["recency"] * 3, []]


def test_another_name_that_is_a_function_word_is_looked_for_nowhere(world: World) -> None:
    """Will, called Bob, is not in every record that says what will be."""
    world.add("hears well", about=["bob"])
    with world.store.write() as tx:
        found = tx.entities.by_alias(["bob"], [tx.scopes.require(ANA.private_scope)])
        for name in ("will", "william"):
            tx.entities.add_alias(found["bob"][0].id, name)
    rain, lunch = world.add("it will rain"), world.add("saw William at lunch")
    pool = logged_candidates(world.log(world.search("what about bob")))
    by_words = {one.record_id for one in pool if one.bm25}

    assert lunch.id in by_words
    assert rain.id not in by_words


@pytest.mark.parametrize(("role", "lists"), [("tie_break", 2), ("list", 3)])
def test_a_boost_is_a_part_of_the_best_score_that_a_fusion_by_rank_can_give(
    tmp_path: Path, role: str, lists: int
) -> None:
    """Entities that only break ties are no list, so nothing can score as if they were."""
    world = measured(
        tmp_path / "store.sqlite", fusion={"kind": "rrf"}, entities={"role": role}, rrf_k=60
    )
    world.add("rang the bell", event_at=world.clock().replace(year=2025, month=5))
    (found,) = world.search("who rang the bell in May 2025").results
    world.close()

    amounts = {boost.name: boost.amount for boost in found.explanation.boosts}
    assert amounts["date_interval"] == pytest.approx(0.3 * lists / 61)

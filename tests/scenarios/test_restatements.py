"""A host that hands over quotes without recording turns can say a thing again."""

from __future__ import annotations


def _move(world, session, city):
    world.clock.advance(days=1)
    return session.remember(
        f"The user lives in {city}",
        evidence=f"These days I live in {city}",
        attribute="home_city",
    )


def test_moving_back_makes_the_first_city_current_again(world):
    """Add no new turn for words handed over again and Rome stays current."""
    session = world.session()
    _move(world, session, "Oslo")
    _move(world, session, "Rome")

    back = _move(world, session, "Oslo")

    assert back.kind == "superseded"
    (current,) = session.list().records
    assert current.content == "The user lives in Oslo"


def test_the_same_words_twice_in_a_row_are_one_utterance(world):
    """B06 B20."""
    session = world.session()
    first = _move(world, session, "Oslo")
    turns = world.row_counts()["session_turns"]

    again = _move(world, session, "Oslo")

    assert (again.kind, again.record_id) == ("already_reinforced", first.record_id)
    assert world.row_counts()["session_turns"] == turns


def test_a_recorded_turn_is_dated_once_however_late_it_is_cited(world):
    session = world.session()
    said = session.turn("user", "These days I live in Oslo")
    world.clock.advance(hours=5)
    session.turn("assistant", "Noted.")

    result = session.remember(
        "The user lives in Oslo", evidence="These days I live in Oslo", attribute="home_city"
    )

    (record,) = session.get(result.record_id).found
    assert record.event_at == said.at

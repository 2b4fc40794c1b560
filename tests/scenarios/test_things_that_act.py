"""A claim may open with a thing; one that opens with a person needs a subject."""

from __future__ import annotations

import pytest

from retold.errors import InvalidInput

THINGS = (
    "Stack moved from PostgreSQL to MySQL",
    "Backend uses Postgres",
    "Production runs on AWS",
    "CI needs Docker",
    "Python needs version 3.12",
    "Lunch works best at noon",
    "Standup moved to 10:15",
    "Friday works best",
    "Dinner is vegetarian",
    "Coffee has to be decaf",
)
PEOPLE = (
    "Priya prefers tea",
    "Priya is allergic to nuts",
    "Priya lives in Oslo",
    "Priya works at a bakery",
    "Priya moved to Oslo",
    "Priya's sister lives in Oslo",
)


@pytest.mark.parametrize("content", THINGS)
def test_claim_that_opens_with_a_thing_is_accepted(world, content):
    session = world.session()
    session.turn("user", content)

    assert session.remember(content, attribute="fact").kind == "created"


@pytest.mark.parametrize("content", PEOPLE)
def test_claim_that_opens_with_another_person_asks_whom_it_concerns(world, content):
    session = world.session()
    session.turn("user", content)

    with pytest.raises(InvalidInput, match="about="):
        session.remember(content, attribute="fact")

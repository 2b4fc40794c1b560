"""Keys of claims, and claims that open with somebody else's name."""

from __future__ import annotations

import pytest

from retold.errors import InvalidInput, InvalidSubject
from retold.ingest.subject import attribute_key, require_own_subject

NAMES = ("Ana Ruiz", "ana")


def test_a_hint_becomes_snake_case_and_loses_its_entity_prefix():
    key = attribute_key("semantic", "x", "user:ana/Home City")

    assert (key.attribute, key.derived) == ("home_city", False)


def test_a_claim_without_a_hint_is_filed_under_its_wording():
    one = attribute_key("semantic", "Likes  tea", None)
    two = attribute_key("semantic", "likes tea", None)

    assert one == two
    assert one.derived


def test_a_hint_of_which_nothing_remains_has_its_own_note():
    with pytest.raises(InvalidSubject, match="attribute normalizes to nothing"):
        attribute_key("semantic", "x", "!!!")


def test_an_episodic_claim_has_no_supersession_key():
    assert attribute_key("episodic", "x", "anything").attribute == "-"


@pytest.mark.parametrize(
    "content",
    [
        "Priya prefers tea",
        "Priya's manager works at Siemens",
        "Priya Sharma lives in Pune",
        "Tom is allergic to nuts",
        "Olga is 34 years old",
    ],
)
def test_a_claim_that_opens_with_another_name_needs_about(content):
    """ "Priya prefers tea" must not become a fact about Ana."""
    with pytest.raises(InvalidInput, match="about="):
        require_own_subject(content, NAMES)


@pytest.mark.parametrize(
    "content",
    [
        "The user prefers tea",
        "User lives in Pune",
        "Ana prefers tea",
        "Ana Ruiz is allergic to nuts",
        "Prefers tea",
        "I live in Pune",
        "Coffee is too bitter for the user",
        "She likes tea",
        "Everyone prefers tea",
        "Release is on 19 March",
        "用户对花生过敏",
        "",
    ],
)
def test_a_claim_about_the_user_passes(content):
    require_own_subject(content, NAMES)

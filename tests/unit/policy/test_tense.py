"""A text without blanks is one long word, and is looked through once."""

from __future__ import annotations

import pytest

from retold.policy.temporal import is_temporary
from retold.policy.tense import is_past


@pytest.mark.parametrize("letter", ["y", "e", "é", "花", "te", "ge", "a'"])
def test_long_word_is_looked_through_once(letter):
    """Look for a vowel at every place of it and a hundred thousand letters take minutes."""
    word = letter * (100_000 // len(letter))

    assert not is_temporary(word)


@pytest.mark.parametrize(
    ("clause", "past"),
    [("She worked", True), ("They feed", False), ("the shed", False), ("x brd", False)],
)
def test_regular_past_is_known_by_its_ending(clause, past):
    assert is_past(clause) is past

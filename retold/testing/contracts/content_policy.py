"""What every content policy must do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

import pytest

from retold.errors import InvalidInput
from retold.protocols import ContentPolicy
from retold.testing.contracts.concurrency import side_by_side

Where = Literal["turn", "write", "query"]
PLACES: tuple[Where, ...] = ("turn", "write", "query")
REFUSED = object()
TELLING_CHARS = 4
"""Shorter pieces of a text may stand in a message by chance."""


class ContentPolicyContract:
    """Override ``policy``, and add to ``texts`` what it is there for."""

    texts: ClassVar[tuple[str, ...]] = (
        "I like green tea.",
        "我对花生过敏",
        "My card number is 4111 1111 1111 1111.",
        "Write to ana@example.org or call +351 912 345 678.",
        "The key is sk-test-0123456789abcdef, keep it.",
        "Line one\n\tline two: password=hunter2",
    )
    """Texts that people say; some hold what a policy may want to keep out."""

    @pytest.fixture
    def policy(self) -> ContentPolicy:
        """Return the implementation under test."""
        pytest.fail("override the fixture `policy`")

    def test_policy_is_one(self, policy: ContentPolicy) -> None:
        """It has every member of the port."""
        assert isinstance(policy, ContentPolicy)

    def test_policy_answers_with_text_or_a_refusal(self, policy: ContentPolicy) -> None:
        """What is left of a text is not blank, and a refusal is InvalidInput."""
        for text in self.texts:
            for where in PLACES:
                kept = _kept(policy, text, where)
                assert kept is REFUSED or (isinstance(kept, str) and kept.strip())

    def test_policy_repeats_nothing_of_a_text_that_it_refuses(self, policy: ContentPolicy) -> None:
        """A message ends up in logs and in what a model is shown: it names a class alone."""
        for text in self.texts:
            for where in PLACES:
                said = _refusal(policy, text, where)
                assert [piece for piece in _telling(text) if piece in said] == []

    def test_policy_decides_alike_when_it_is_asked_again(self, policy: ContentPolicy) -> None:
        """The same text gets the same answer."""
        for text in self.texts:
            for where in PLACES:
                assert _kept(policy, text, where) == _kept(policy, text, where)

    def test_policy_changes_nothing_more_the_second_time(self, policy: ContentPolicy) -> None:
        """What it let through passes as it is: some texts come by twice."""
        for text in self.texts:
            for where in PLACES:
                kept = _kept(policy, text, where)
                assert not isinstance(kept, str) or _kept(policy, kept, where) == kept

    def test_policy_leaves_a_turn_and_its_quote_alike(self, policy: ContentPolicy) -> None:
        """A claim quotes a turn: what is kept of both must be the same words."""
        for text in self.texts:
            turn, quote = _kept(policy, text, "turn"), _kept(policy, text, "write")
            assert REFUSED in (turn, quote) or turn == quote

    def test_policy_serves_several_threads(self, policy: ContentPolicy) -> None:
        """Side by side every text gets the answer that it gets alone."""
        inputs = [self.texts[at % len(self.texts)] for at in range(16)]
        alone = [_kept(policy, text, "turn") for text in inputs]

        assert side_by_side(lambda text: _kept(policy, text, "turn"), inputs) == alone


def _kept(policy: ContentPolicy, text: str, where: Where) -> object:
    """Return what the policy keeps, or REFUSED."""
    try:
        return policy.apply(text, where=where)
    except InvalidInput:
        return REFUSED


def _refusal(policy: ContentPolicy, text: str, where: Where) -> str:
    """Return everything a refusal says; empty when there is none."""
    try:
        policy.apply(text, where=where)
    except InvalidInput as refusal:
        return f"{refusal} {refusal.details}"
    return ""


def _telling(text: str) -> Iterator[str]:
    """Yield the pieces of a text that are more than a word of English."""
    for piece in text.split():
        bare = piece.strip(".,:;")
        if len(bare) >= TELLING_CHARS and not (bare.isascii() and bare.isalpha()):
            yield bare

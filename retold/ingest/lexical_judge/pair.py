"""What two parsed claims have in common, computed once for all rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.features import Claim, Clause


@dataclass(frozen=True)
class Pair:
    """Two claims and the stems they share; every property is symmetric in ``a``, ``b``."""

    a: Claim
    b: Claim

    @cached_property
    def shared(self) -> frozenset[str]:
        """Return the content stems of both."""
        return self.a.content & self.b.content

    @cached_property
    def only_a(self) -> frozenset[str]:
        """Return the content stems of the first alone."""
        return self.a.content - self.b.content

    @cached_property
    def only_b(self) -> frozenset[str]:
        """Return the content stems of the second alone."""
        return self.b.content - self.a.content

    @cached_property
    def overlap(self) -> float:
        """Return the Jaccard coefficient of the content stems; 1.0 when neither has any."""
        union = len(self.a.content | self.b.content)
        return len(self.shared) / union if union else 1.0

    @property
    def both_differ(self) -> bool:
        """Tell whether each side says something that the other does not."""
        return bool(self.only_a and self.only_b)

    @property
    def orders(self) -> Iterator[tuple[Claim, Claim]]:
        """Yield the two orders, for rules whose sides play different parts."""
        yield self.a, self.b
        yield self.b, self.a

    @cached_property
    def both_facts(self) -> bool:
        """Tell whether both state a present fact."""
        return self.a.modality == self.b.modality == "fact"

    @cached_property
    def flips(self) -> bool:
        """Tell whether the two differ in sign as a whole."""
        return self.a.negated != self.b.negated or self.a.attitude * self.b.attitude < 0

    @cached_property
    def both_definite(self) -> bool:
        """Tell whether both speak of one known referent."""
        return self.a.is_definite and self.b.is_definite

    def says(self, words: frozenset[str]) -> bool:
        """Tell whether both claims contain one of the words."""
        return not (self.a.words.isdisjoint(words) or self.b.words.isdisjoint(words))

    @property
    def opposed(self) -> Iterator[tuple[Clause, Clause]]:
        """Yield (negative, positive) clauses of opposite sign, one from each claim.

        A claim also counts as one clause when all its clauses have the same sign.
        """
        for first in self.a.statements:
            for second in self.b.statements:
                opposed = opposite_signs(first, second)
                if opposed is not None:
                    yield opposed


def opposite_signs(first: Clause, second: Clause) -> tuple[Clause, Clause] | None:
    """Return (negative, positive) when one clause denies what the other affirms, else None.

    A clause of liking is compared with another one only: "hates running" does not deny "runs".
    """
    if bool(first.attitude) != bool(second.attitude):
        return None
    if first.sign == second.sign:
        return None
    return (first, second) if first.sign < 0 else (second, first)


def longest_common(left: tuple[str, ...], right: tuple[str, ...]) -> float:
    """Return the longest common subsequence as a share of the longer side; 1.0 for two empty."""
    if not left and not right:
        return 1.0
    row = [0] * (len(right) + 1)
    for mine in left:
        diagonal = 0
        for column, theirs in enumerate(right, start=1):
            above = row[column]
            row[column] = diagonal + 1 if mine == theirs else max(above, row[column - 1])
            diagonal = above
    return row[-1] / max(len(left), len(right))


def quantity_classes(claim: Claim) -> frozenset[int]:
    """Return the numbers of the quantity classes (all, some, most, none, only) it uses."""
    return frozenset(
        number
        for number, words in enumerate(lexicon.QUANTITY_CLASSES)
        if not words.isdisjoint(claim.words)
    )


def directions_clash(first: frozenset[str], second: frozenset[str]) -> bool:
    """Tell whether the words of one say "in" where those of the other say "out"."""
    mine = (first - second) & lexicon.DIRECTION_WORDS
    theirs = (second - first) & lexicon.DIRECTION_WORDS
    if not mine or not theirs:
        return False
    return any(
        (left in mine and right in theirs) or (right in mine and left in theirs)
        for left, right in lexicon.OPPOSITE_DIRECTIONS
    )

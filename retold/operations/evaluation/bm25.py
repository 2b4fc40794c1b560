"""Plain BM25 over the words of the visible items: what any ranking is held against.

It has no store, no vectors, no gate and no boosts. Words are those of the product: stemmed, two
characters at a time where a script has no blanks, stop words left out of queries.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime

from retold.index.bm25 import K1, B, inverse_frequency
from retold.models import Trigger
from retold.operations.evaluation.cases import Case
from retold.operations.evaluation.searching import Found
from retold.retrieve.terms import query_terms
from retold.store.tokenizer import tokens
from retold.text import prepare_fts
from retold.text.token_text import token_text


class PlainBm25:
    """The items of one case, filled in order and searched by words alone."""

    def __init__(self, case: Case, k: int) -> None:
        """Take a case; ``k`` is how many of the ranking count as returned."""
        self._case = case
        self._k = k
        self._texts: list[str] = []
        self._lengths: list[int] = []
        self._total = 0
        self._postings: defaultdict[str, dict[int, int]] = defaultdict(dict)

    def fill(self, visible: int) -> None:
        """Make the first ``visible`` items searchable."""
        for item in self._case.items[len(self._texts) : visible]:
            words = tokens(prepare_fts(item.text))
            for word, count in Counter(words).items():
                self._postings[word][len(self._texts)] = count
            self._texts.append(token_text(words))
            self._lengths.append(len(words))
            self._total += len(words)

    def search(self, text: str, at: datetime, trigger: Trigger) -> Found:
        """Return every item that holds a term, best first, ties in the items' order."""
        scores: defaultdict[int, float] = defaultdict(float)
        for phrase in self._phrases(text):
            found = self._occurrences(phrase)
            idf = inverse_frequency(len(self._texts), len(found))
            for place, count in found.items():
                scores[place] += idf * self._saturated(count, self._lengths[place])
        order = sorted(scores, key=lambda place: (-scores[place], place))
        ranking = tuple(self._case.items[place].id for place in order)
        return Found(ranking, ranking[: self._k])

    def close(self) -> None:
        """Do nothing: there is no file."""

    @staticmethod
    def _phrases(text: str) -> list[tuple[str, ...]]:
        phrases = (phrase for term in query_terms(text, tokens) for phrase in term.phrases)
        return [words for phrase in dict.fromkeys(phrases) if (words := tokens(phrase))]

    def _occurrences(self, words: Sequence[str]) -> dict[int, int]:
        """Return how often each item that holds the phrase holds it."""
        first = self._postings.get(words[0], {})
        if len(words) == 1:
            return first
        phrase = token_text(words)
        counts = {place: self._texts[place].count(phrase) for place in first}
        return {place: count for place, count in counts.items() if count}

    def _saturated(self, count: int, length: int) -> float:
        mean = self._total / len(self._texts)
        return count * (K1 + 1) / (count + K1 * (1 - B + B * length / mean))

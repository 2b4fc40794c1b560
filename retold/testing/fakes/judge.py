"""A judge whose verdicts stand in a table."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from retold.models import Label, Verdict
from retold.text import normalize_ws

MODEL_RULE = "model"


class FakeJudge:
    """Answer from a table; every verdict carries ``rule='model'``, as a model's would.

    Pairs are matched by text with white space normalised. An unlisted pair is ``same`` when both
    texts are equal, else ``default``. An unlisted quote supports any claim with
    ``default_support``; None there means that pairs are not scored.
    """

    __test__ = False

    def __init__(
        self,
        table: Mapping[tuple[str, str], Label] | None = None,
        *,
        default: Label = "distinct",
        support: Mapping[tuple[str, str], float | None] | None = None,
        default_support: float | None = 1.0,
        name: str = "retold/fake-judge@1",
    ) -> None:
        """Take (older claim, newer claim) labels, which hold in both orders, and support scores."""
        self._name = name
        self._default = default
        self._default_support = default_support
        self._labels: dict[tuple[str, str], Label] = {}
        self._support: dict[tuple[str, str], float | None] = {}
        self._error: Exception | None = None
        self._lock = threading.Lock()
        self.judged: list[tuple[str, str]] = []
        self.supported: list[tuple[str, str, tuple[str, ...]]] = []
        for (a, b), label in (table or {}).items():
            self.declare(a, b, label)
        for (quote, claim), score in (support or {}).items():
            self.declare_support(quote, claim, score)

    @property
    def name(self) -> str:
        """Name the judge and its version."""
        return self._name

    def declare(self, a: str, b: str, label: Label, *, both_orders: bool = True) -> None:
        """Give a pair its label; ``both_orders`` False leaves the newer-older order as it was."""
        self._labels[_pair(a, b)] = label
        if both_orders:
            self._labels[_pair(b, a)] = label

    def declare_support(self, quote: str, claim: str, score: float | None) -> None:
        """Give a quote and a claim their score in [0, 1]; None means not scored."""
        if score is not None and not 0.0 <= score <= 1.0:
            raise ValueError(f"a support score lies in [0, 1], not {score}")
        self._support[_pair(quote, claim)] = score

    def fail(self, error: Exception) -> None:
        """Raise ``error`` from every call from now on."""
        self._error = error

    def heal(self) -> None:
        """Take back ``fail``."""
        self._error = None

    def judge(self, a: str, b: str) -> Verdict:
        """Return the label of the older claim ``a`` and the newer ``b``."""
        with self._lock:
            self.judged.append((a, b))
        self._raise_if_told()
        pair = _pair(a, b)
        unlisted: Label = "same" if pair[0] == pair[1] else self._default
        return Verdict(self._labels.get(pair, unlisted), MODEL_RULE)

    def support(self, quote: str, claim: str, *, names: Sequence[str] = ()) -> Verdict | None:
        """Return a verdict whose ``entails`` is the listed score; None when it is not scored.

        Its label is ``unknown``: support says nothing about two claims. ``names`` are recorded.
        """
        with self._lock:
            self.supported.append((quote, claim, tuple(names)))
        self._raise_if_told()
        score = self._support.get(_pair(quote, claim), self._default_support)
        return None if score is None else Verdict("unknown", MODEL_RULE, {"entails": score})

    def _raise_if_told(self) -> None:
        if self._error is not None:
            raise self._error


def _pair(a: str, b: str) -> tuple[str, str]:
    return normalize_ws(a), normalize_ws(b)

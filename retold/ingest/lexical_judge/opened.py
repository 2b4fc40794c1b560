"""A clause as it was cut from its sentence."""

from __future__ import annotations

from typing import NamedTuple

from retold.ingest.lexical_judge.normalise import Token
from retold.ingest.lexical_judge.subject import LEAD_IN


class Opened(NamedTuple):
    """One clause and the conjunction before it, "" at the start of a sentence or after a comma."""

    opener: str
    tokens: tuple[Token, ...]

    @property
    def is_given(self) -> bool:
        """Tell whether the clause is taken for granted, whatever its sentence asks.

        "Since I'm vegan, which ...?" and "Can you remind me that ...?" state what they carry.
        """
        words = [token.word for token in self.tokens[:LEAD_IN]]
        causal = self.opener == "because" or words[:1] in (["since"], ["as"], ["given"])
        return self.opener == "that" or (causal and bool({"i", "we", "my", "our"} & {*words}))

    @property
    def words(self) -> tuple[str, ...]:
        """Return the lower-case words, marks left out."""
        return tuple(token.word for token in self.tokens if not token.is_mark)

"""How many results fit into k and into the tokens a model is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retold.models import Candidate
from retold.retrieve.conflicts import Entry

_CHARS_PER_TOKEN = 4
_ENVELOPE_TOKENS = 30


@dataclass(frozen=True, slots=True)
class Placed:
    """A chosen candidate; ``note`` says where it fitted."""

    candidate: Candidate
    note: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A candidate that survived ranking and did not fit, with the reason."""

    candidate: Candidate
    reason: str


@dataclass(frozen=True, slots=True)
class BudgetOutcome:
    """What is shown, in order, what is not, and the tokens used."""

    chosen: tuple[Placed, ...]
    left_out: tuple[LeftOut, ...]
    tokens: int


def result_tokens(chars: int) -> int:
    """Return the cost of a result: a quarter of its characters and 30 tokens of envelope."""
    return chars // _CHARS_PER_TOKEN + _ENVELOPE_TOKENS


def fill_budget(
    entries: Sequence[Entry], tokens: Mapping[int, int], *, k: int, token_budget: int
) -> BudgetOutcome:
    """Take entries in order until k primary results are chosen; skip what does not fit.

    ``tokens`` gives the cost of every candidate by seq. An entry comes whole, with all that stands
    beside it, or not at all; content is never cut.
    """
    chosen: list[Placed] = []
    left_out: list[LeftOut] = []
    admitted: set[int] = set()
    used = slots = 0
    for entry in entries:
        members = entry.members
        cost = sum(tokens[member.seq] for member in members)
        reason = None
        if slots >= k:
            reason = f"k: {k} results are already chosen"
        elif not admitted.issuperset(entry.needs):
            reason = "the record it conflicts with did not fit"
        elif used + cost > token_budget:
            reason = f"tokens: {cost} more than the {token_budget - used} of {token_budget} left"
        if reason is not None:
            left_out.extend(LeftOut(member, reason) for member in members)
            continue
        slots += 1
        for member in members:
            used += tokens[member.seq]
            admitted.add(member.seq)
            chosen.append(Placed(member, _note(member, entry, slots, k, used)))
    return BudgetOutcome(tuple(chosen), tuple(left_out), used)


def _note(member: Candidate, entry: Entry, slots: int, k: int, used: int) -> str:
    if member is entry.candidate:
        return f"fit at position {slots} of {k}, {used} tokens used"
    return f"beside the record it conflicts with at position {slots}, {used} tokens used"

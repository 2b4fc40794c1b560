"""What becomes of a claim, given the records it was compared with; pure.

The rules are LLD 6.3 as the decisions amend them. ``decide`` sees no store, no clock, no judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from retold.config import IngestionConfig, PolicyConfig
from retold.models import MemoryType, Record
from retold.policy.lifecycle import Standing, authority_key, has_authority, rank

Relation = Literal["attribute", "subject", "nearby"]
Effect = Literal["same", "state_change", "exclusive", "model", "flag", "none"]
"""What a verdict means here.

``same``          one claim twice
``state_change``  negation, polarity or an ended state about the same object
``exclusive``     two values of one slot, name, number, date or order
``model``         a model says they contradict
``flag``          a weaker hit, such as an antonym
``none``          distinct, unknown or not judged
"""


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim to place, as far as the rules look at it.

    ``multi_valued`` says that its attribute may hold several values; ``standing`` carries the
    transaction's moment as ``created_at``.
    """

    type: MemoryType
    attribute: str | None = field(repr=False)
    attribute_derived: bool
    multi_valued: bool
    temporary: bool
    standing: Standing


@dataclass(frozen=True, slots=True)
class Comparison:
    """One record beside the claim.

    ``relation`` is how it was found: same attribute of the same subject, same subject, or nearby.
    ``cosine`` is None without vectors. ``primary_compatible`` says that both are about the same
    entity, or one about none.
    """

    record: Record
    relation: Relation
    effect: Effect
    rule: str
    score: float | None
    cosine: float | None
    primary_compatible: bool


@dataclass(frozen=True, slots=True)
class Note:
    """A disagreement to show beside the stored claim."""

    record: Record
    kind: str
    rule: str
    score: float | None


@dataclass(frozen=True, slots=True)
class Insert:
    """Store the claim; ``notes`` are disagreements that stay visible (a flag)."""

    notes: tuple[Note, ...] = ()
    coexists_with: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Reinforce:
    """The claim is already there. ``attribute`` set means it was known under another name."""

    record: Record
    aliased: bool = False
    may_promote: bool = True


@dataclass(frozen=True, slots=True)
class Supersede:
    """The claim replaces ``record``.

    ``also`` go with it: siblings that said the same as the claim, and records under other keys
    that the claim denies.
    """

    record: Record
    rule: str
    also: tuple[Record, ...] = ()
    notes: tuple[Note, ...] = ()
    keep_attribute_of: Record | None = None


@dataclass(frozen=True, slots=True)
class SupersededOnArrival:
    """The claim is older than an equal-ranked one and becomes history at once."""

    by: Record


@dataclass(frozen=True, slots=True)
class Disagree:
    """The claim lacks authority over ``record``: it stays provisional, both are linked.

    ``others`` are further records that it denies in vain.
    """

    record: Record
    note: Note
    others: tuple[Note, ...] = ()


Decision = Insert | Reinforce | Supersede | SupersededOnArrival | Disagree


def decide(
    claim: Claim,
    comparisons: Sequence[Comparison],
    *,
    cfg: IngestionConfig,
    policy: PolicyConfig,
) -> Decision:
    """Return what to do with the claim. The order of ``comparisons`` does not matter."""
    if claim.type != "episodic":
        decision = _about_the_subject(claim, comparisons, cfg, policy)
        if decision is not None:
            return decision
    nearby = [c for c in comparisons if c.relation == "nearby" and c.primary_compatible]
    same = _strongest((c for c in nearby if c.effect == "same"), policy)
    if same is not None:
        return Reinforce(same.record)
    coexists = tuple(
        c.record for c in comparisons if c.relation == "attribute" and _stands_beside(claim, c)
    )
    return Insert(notes=_visible(claim, comparisons), coexists_with=coexists)


def _about_the_subject(
    claim: Claim,
    comparisons: Sequence[Comparison],
    cfg: IngestionConfig,
    policy: PolicyConfig,
) -> Decision | None:
    """Return what the records of the same subject demand; None when they demand nothing.

    What the claim denies about the same object counts under any two keys (4-decisions, Truth),
    also beside a decision under its own key.
    """
    others = [c for c in comparisons if c.relation == "subject" and not _stands_beside(claim, c)]
    close = [c for c in others if (c.cosine or 0.0) >= cfg.attribute_alias_cosine]
    decision = _among_same_attribute(claim, comparisons, policy)
    if decision is None:
        known = _strongest((c for c in close if c.effect == "same"), policy)
        decision = None if known is None else Reinforce(known.record, aliased=True)
    denied = [c for c in comparisons if _denies(claim, c)]
    if denied:
        return _beside_denied(claim, decision, denied, policy)
    contradicted = _strongest((c for c in close if c.effect == "model"), policy)
    if decision is not None or contradicted is None or claim.multi_valued:
        return decision
    return _contest(claim, contradicted, policy, keep_attribute_of=contradicted.record)


def _among_same_attribute(
    claim: Claim, comparisons: Sequence[Comparison], policy: PolicyConfig
) -> Decision | None:
    group = [c for c in comparisons if c.relation == "attribute" and not _stands_beside(claim, c)]
    if claim.multi_valued:
        same = _strongest((c for c in group if c.effect == "same"), policy)
        return None if same is None else Reinforce(same.record)
    incumbent = _strongest(group, policy)
    if incumbent is None:
        return None
    if incumbent.effect == "same":
        return Reinforce(incumbent.record)
    siblings = [c for c in group if c is not incumbent]
    agreeing = [c for c in siblings if c.effect == "same"]
    if not has_authority(claim.standing, Standing.of(incumbent.record), policy):
        known = _strongest(agreeing, policy)
        if known is not None:
            return Reinforce(known.record, may_promote=False)
    remaining = (c for c in siblings if c.effect != "same")
    return _contest(
        claim,
        incumbent,
        policy,
        also=tuple(c.record for c in agreeing if _may_retire(claim, c.record)),
        notes=tuple(_note(c, "attribute") for c in remaining),
    )


def _denies(claim: Claim, comparison: Comparison) -> bool:
    """Return whether the claim ends what the record says, outside the rule for one value."""
    elsewhere = comparison.relation == "subject"
    one_of_many = comparison.relation == "attribute" and claim.multi_valued
    stands = _stands_beside(claim, comparison)
    return comparison.effect == "state_change" and (elsewhere or one_of_many) and not stands


def _beside_denied(
    claim: Claim, decision: Decision | None, denied: Sequence[Comparison], policy: PolicyConfig
) -> Decision:
    """Return the decision that also minds what the claim denies.

    Authority is a total order, so a claim that outranks the strongest outranks all. A claim that
    does not, retires nothing.
    """
    strongest = max(denied, key=lambda c: authority_key(c.record, policy))
    rest = [c for c in denied if c is not strongest]
    records = tuple(c.record for c in rest)
    if isinstance(decision, SupersededOnArrival):
        return decision
    if isinstance(decision, Disagree):
        return replace(decision, others=tuple(_note(c, "authority") for c in denied))
    wins = has_authority(claim.standing, Standing.of(strongest.record), policy)
    if isinstance(decision, Reinforce):
        known = decision.record
        if authority_key(known, policy) > authority_key(strongest.record, policy):
            return decision
        if not wins or not _may_retire(claim, known):
            return replace(decision, may_promote=False)
        records = (known, *records)
    if isinstance(decision, Supersede) and wins:
        return replace(decision, also=(*decision.also, strongest.record, *records))
    outcome = _contest(claim, strongest, policy, also=records)
    if isinstance(outcome, Disagree):
        return replace(outcome, others=tuple(_note(c, "authority") for c in rest))
    return outcome


def _contest(
    claim: Claim,
    against: Comparison,
    policy: PolicyConfig,
    *,
    also: tuple[Record, ...] = (),
    notes: tuple[Note, ...] = (),
    keep_attribute_of: Record | None = None,
) -> Decision:
    old = Standing.of(against.record)
    if has_authority(claim.standing, old, policy):
        return Supersede(against.record, against.rule, also, notes, keep_attribute_of)
    if rank(claim.standing.source_kind, policy) == rank(old.source_kind, policy):
        return SupersededOnArrival(against.record)
    return Disagree(against.record, _note(against, "authority"))


def _stands_beside(claim: Claim, comparison: Comparison) -> bool:
    """Return whether a passing statement leaves this standing one alone (completions 3)."""
    return claim.temporary and not comparison.record.temporary and comparison.effect != "same"


def _may_retire(claim: Claim, record: Record) -> bool:
    """Return whether the claim lasts as long as what it would take the place of."""
    return record.temporary or not claim.temporary


def _visible(claim: Claim, comparisons: Sequence[Comparison]) -> tuple[Note, ...]:
    """Return the contradictions that are shown but decide nothing."""
    if claim.temporary:
        return ()
    shown = ("exclusive", "flag", "model") if not claim.multi_valued else ("flag", "model")
    return tuple(
        _note(c, "possible") for c in comparisons if c.relation == "subject" and c.effect in shown
    )


def _note(comparison: Comparison, kind: str) -> Note:
    return Note(comparison.record, kind, comparison.rule, comparison.score)


def _strongest(comparisons: Iterable[Comparison], policy: PolicyConfig) -> Comparison | None:
    return max(comparisons, key=lambda c: authority_key(c.record, policy), default=None)

"""The truth rules of LLD 6.3 as a table, without a store."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.config import IngestionConfig, PolicyConfig
from retold.ingest.decision import (
    Claim,
    Comparison,
    Disagree,
    Insert,
    Reinforce,
    Supersede,
    SupersededOnArrival,
    decide,
)
from retold.policy.lifecycle import Standing, rank
from retold.testing import make_record
from retold.testing.builders import MOMENT

CFG = IngestionConfig()
POLICY = PolicyConfig()
LATER = MOMENT + timedelta(days=1)


def claim(**fields):
    values = {
        "type": "semantic",
        "attribute": "home_city",
        "attribute_derived": False,
        "multi_valued": False,
        "temporary": False,
        "source_kind": "user_statement",
        "event_at": LATER,
        **fields,
    }
    standing = Standing(values.pop("source_kind"), values.pop("event_at"), LATER)
    return Claim(**values, standing=standing)


def beside(effect, relation="attribute", *, seq=1, cosine=0.9, compatible=True, **record):
    return Comparison(
        record=make_record(seq, **{"attribute": "home_city", "event_at": MOMENT, **record}),
        relation=relation,
        effect=effect,
        rule=f"rule-{effect}",
        score=None,
        cosine=cosine,
        primary_compatible=compatible,
    )


def decided(claim_, *comparisons):
    return decide(claim_, comparisons, cfg=CFG, policy=POLICY)


@pytest.mark.parametrize("effect", ["state_change", "exclusive", "model", "flag", "none"])
def test_single_valued_attribute_is_superseded_by_any_other_value(effect):
    """Unknown counts as distinct: an attribute names one current value."""
    decision = decided(claim(), beside(effect))

    assert isinstance(decision, Supersede)
    assert decision.record.seq == 1


def test_same_claim_on_the_same_attribute_reinforces():
    decision = decided(claim(), beside("same"))

    assert decision == Reinforce(decision.record)


def test_lower_rank_disagrees_and_stays_provisional():
    decision = decided(claim(source_kind="tool_result"), beside("none"))

    assert isinstance(decision, Disagree)


def test_equal_rank_with_an_earlier_event_is_history_on_arrival():
    decision = decided(claim(event_at=MOMENT - timedelta(days=1)), beside("exclusive"))

    assert isinstance(decision, SupersededOnArrival)


def test_higher_rank_supersedes_whatever_the_event_times():
    decision = decided(
        claim(event_at=MOMENT - timedelta(days=9)), beside("none", source_kind="tool_result")
    )

    assert isinstance(decision, Supersede)


def test_a_provisional_sibling_that_agrees_goes_with_the_contradicted_incumbent():
    incumbent = beside("exclusive", seq=1, source_kind="user_statement")
    sibling = beside("same", seq=2, source_kind="tool_result", status="provisional")

    decision = decided(claim(), incumbent, sibling)

    assert isinstance(decision, Supersede)
    assert decision.record.seq == 1
    assert [record.seq for record in decision.also] == [2]


def test_a_sibling_that_still_disagrees_stays_visible_beside_the_new_claim():
    decision = decided(
        claim(), beside("exclusive", seq=1), beside("none", seq=2, source_kind="tool_result")
    )

    assert [note.record.seq for note in decision.notes] == [2]


def test_a_claim_without_authority_reinforces_the_sibling_that_agrees_without_promoting_it():
    """A user's word is not outvoted by tools that repeat each other."""
    decision = decided(
        claim(source_kind="tool_result"),
        beside("exclusive", seq=1),
        beside("same", seq=2, source_kind="tool_result", status="provisional"),
    )

    assert isinstance(decision, Reinforce)
    assert decision.record.seq == 2
    assert not decision.may_promote


def test_a_later_provisional_conflict_does_not_take_the_incumbents_decision():
    newer = beside("none", seq=2, source_kind="tool_result", status="provisional", event_at=LATER)

    decision = decided(claim(), beside("exclusive", seq=1), newer)

    assert decision.record.seq == 1


@pytest.mark.parametrize("effect", ["exclusive", "flag", "none"])
def test_multi_valued_attribute_adds_beside_other_values(effect):
    decision = decided(claim(multi_valued=True), beside(effect))

    assert isinstance(decision, Insert)


def test_multi_valued_attribute_is_superseded_by_a_change_of_the_same_object():
    decision = decided(claim(multi_valued=True), beside("state_change"))

    assert isinstance(decision, Supersede)


def test_negation_about_the_same_object_supersedes_under_any_two_keys():
    """B05: love and hate of one thing leave one record, however they are filed."""
    decision = decided(claim(), beside("state_change", "subject", attribute="likes", cosine=0.1))

    assert isinstance(decision, Supersede)
    assert decision.keep_attribute_of is None


def test_what_a_claim_denies_elsewhere_goes_with_the_incumbent_of_its_own_key():
    """B05: an incumbent under the claim's key does not hide what it denies under another."""
    decision = decided(
        claim(),
        beside("none", seq=1),
        beside("state_change", "subject", seq=2, attribute="likes", cosine=0.1),
    )

    assert isinstance(decision, Supersede)
    assert decision.record.seq == 1
    assert [record.seq for record in decision.also] == [2]


@pytest.mark.parametrize(
    ("many", "relation"), [(False, "subject"), (True, "subject"), (True, "attribute")]
)
def test_everything_that_a_claim_denies_goes(many, relation):
    found = [beside("state_change", relation, seq=seq, attribute=f"a{seq}") for seq in (1, 2, 3)]

    decision = decided(claim(multi_valued=many), *found)

    assert isinstance(decision, Supersede)
    assert {decision.record.seq, *(record.seq for record in decision.also)} == {1, 2, 3}


def test_a_claim_that_denies_a_stronger_record_elsewhere_retires_nothing():
    decision = decided(
        claim(source_kind="tool_result"),
        beside("none", seq=1, source_kind="tool_result"),
        beside("state_change", "subject", seq=2, attribute="likes"),
        beside("state_change", "subject", seq=3, attribute="drink", source_kind="tool_result"),
    )

    assert isinstance(decision, Disagree)
    assert decision.record.seq == 2
    assert [note.record.seq for note in decision.others] == [3]


def test_a_claim_older_than_what_it_denies_elsewhere_is_history():
    decision = decided(
        claim(event_at=MOMENT + timedelta(hours=1)),
        beside("none", seq=1),
        beside("state_change", "subject", seq=2, attribute="likes", event_at=LATER),
    )

    assert isinstance(decision, SupersededOnArrival)
    assert decision.by.seq == 2


def test_a_conflict_under_its_own_key_names_what_it_denies_elsewhere_too():
    decision = decided(
        claim(source_kind="tool_result"),
        beside("none", seq=1),
        beside("state_change", "subject", seq=2, attribute="likes"),
    )

    assert isinstance(decision, Disagree)
    assert decision.record.seq == 1
    assert [note.record.seq for note in decision.others] == [2]


def test_a_users_word_that_agrees_with_a_conflict_retires_what_it_denies_elsewhere():
    """Promoting the provisional record would leave the denied one active beside it."""
    decision = decided(
        claim(),
        beside("same", seq=1, source_kind="tool_result", status="provisional"),
        beside("state_change", "subject", seq=2, attribute="likes"),
    )

    assert isinstance(decision, Supersede)
    assert decision.record.seq == 2
    assert [record.seq for record in decision.also] == [1]


def test_a_repetition_of_a_conflict_without_authority_promotes_nothing():
    decision = decided(
        claim(source_kind="tool_result"),
        beside("same", seq=1, source_kind="tool_result", status="provisional"),
        beside("state_change", "subject", seq=2, attribute="likes"),
    )

    assert decision == Reinforce(decision.record, may_promote=False)
    assert decision.record.seq == 1


@pytest.mark.parametrize("effect", ["exclusive", "flag"])
def test_a_rule_hit_across_attributes_is_shown_and_retires_nothing(effect):
    """B09: no unrelated record is retired."""
    decision = decided(claim(), beside(effect, "subject", attribute="employer"))

    assert isinstance(decision, Insert)
    assert [note.record.attribute for note in decision.notes] == ["employer"]


def test_a_models_contradiction_across_attributes_needs_the_cosine_too():
    near = decided(claim(), beside("model", "subject", attribute="city", cosine=0.8))
    far = decided(claim(), beside("model", "subject", attribute="city", cosine=0.79))

    assert isinstance(near, Supersede)
    assert near.keep_attribute_of == near.record
    assert isinstance(far, Insert)


def test_the_same_claim_under_another_attribute_reinforces_when_close():
    near = decided(claim(), beside("same", "subject", attribute="city", cosine=0.8))
    far = decided(claim(), beside("same", "subject", attribute="city", cosine=0.5))

    assert isinstance(near, Reinforce)
    assert near.aliased
    assert isinstance(far, Insert)


def test_a_contradicted_incumbent_comes_before_an_alias_that_agrees():
    decision = decided(
        claim(),
        beside("exclusive", seq=1),
        beside("same", "subject", seq=2, attribute="city"),
    )

    assert isinstance(decision, Supersede)
    assert decision.record.seq == 1


def test_a_nearby_record_about_somebody_else_is_never_reinforced():
    """B74: "Alex likes tea" about two people stays two records."""
    other = decided(claim(), beside("same", "nearby", compatible=False))
    own = decided(claim(), beside("same", "nearby", compatible=True))

    assert isinstance(other, Insert)
    assert isinstance(own, Reinforce)


@pytest.mark.parametrize("effect", ["state_change", "exclusive", "model", "flag"])
def test_a_nearby_contradiction_decides_nothing(effect):
    decision = decided(claim(), beside(effect, "nearby"))

    assert decision == Insert()


def test_an_episodic_claim_never_supersedes():
    decision = decided(claim(type="episodic"), beside("state_change"))

    assert isinstance(decision, Insert)


def test_a_temporary_statement_stands_beside_a_standing_one():
    decision = decided(claim(temporary=True), beside("exclusive"))

    assert isinstance(decision, Insert)
    assert [record.seq for record in decision.coexists_with] == [1]
    assert decision.notes == ()


def test_a_temporary_statement_supersedes_an_older_temporary_one():
    decision = decided(
        claim(temporary=True), beside("exclusive", seq=1), beside("none", seq=2, temporary=True)
    )

    assert isinstance(decision, Supersede)
    assert decision.record.seq == 2


def test_a_standing_statement_supersedes_a_temporary_one():
    decision = decided(claim(), beside("none", temporary=True))

    assert isinstance(decision, Supersede)


def test_nothing_to_compare_with_is_a_plain_insert():
    assert decided(claim()) == Insert()


EFFECTS = st.sampled_from(["same", "state_change", "exclusive", "model", "flag", "none"])
SOURCES = st.sampled_from(
    ["user_statement", "system", "tool_result", "session_summary", "agent_inference"]
)


@st.composite
def comparisons(draw):
    count = draw(st.integers(0, 5))
    return [
        beside(
            draw(EFFECTS),
            draw(st.sampled_from(["attribute", "subject", "nearby"])),
            seq=seq,
            cosine=draw(st.sampled_from([None, 0.1, 0.85])),
            compatible=draw(st.booleans()),
            source_kind=draw(SOURCES),
            temporary=draw(st.booleans()),
            event_at=MOMENT + timedelta(days=draw(st.integers(-2, 2))),
        )
        for seq in range(1, count + 1)
    ]


@st.composite
def claims(draw):
    return claim(
        type=draw(st.sampled_from(["semantic", "procedural", "episodic"])),
        multi_valued=draw(st.booleans()),
        temporary=draw(st.booleans()),
        source_kind=draw(SOURCES),
        event_at=MOMENT + timedelta(days=draw(st.integers(-2, 2))),
    )


@given(claims(), comparisons())
def test_no_claim_supersedes_a_record_of_higher_rank(new, others):
    decision = decided(new, *others)

    if isinstance(decision, Supersede):
        mine = rank(new.standing.source_kind, POLICY)
        for record in (decision.record, *decision.also):
            assert mine >= rank(record.source_kind, POLICY)
        assert new.type != "episodic"


@given(claims(), comparisons(), st.randoms(use_true_random=False))
def test_the_order_of_comparisons_does_not_matter(new, others, random):
    shuffled = list(others)
    random.shuffle(shuffled)

    first, second = decided(new, *others), decided(new, *shuffled)

    assert type(first) is type(second)
    assert getattr(first, "record", None) == getattr(second, "record", None)
    assert {record.seq for record in getattr(first, "also", ())} == {
        record.seq for record in getattr(second, "also", ())
    }


@given(claims(), comparisons())
def test_a_claim_that_is_stored_leaves_nothing_standing_that_it_denies(new, others):
    decision = decided(new, *others)
    denied = {
        other.record.seq
        for other in others
        if other.relation == "subject"
        and other.effect == "state_change"
        and (other.record.temporary or not new.temporary)
    }

    if new.type != "episodic" and isinstance(decision, Supersede):
        assert denied <= {decision.record.seq, *(record.seq for record in decision.also)}
    if new.type != "episodic" and isinstance(decision, Insert):
        assert not denied
    if new.type != "episodic" and isinstance(decision, Disagree):
        noted = {decision.record.seq, *(note.record.seq for note in decision.others)}
        assert denied <= noted


@given(claims(), comparisons())
def test_a_temporary_claim_retires_no_standing_record(new, others):
    decision = decided(new, *others)

    if new.temporary and isinstance(decision, Supersede):
        assert decision.record.temporary
        assert all(record.temporary for record in decision.also)

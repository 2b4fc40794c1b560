"""What becomes of a claim beside the claims that are there: explicit writes and their lifecycle."""

from __future__ import annotations

from datetime import timedelta

import pytest

from retold.errors import InvalidSubject, RetoldError
from retold.ingest.lexical_judge import LexicalJudge
from retold.testing import FakeJudge
from tests.scenarios.support import ANA, PROJECT, RULES, contents, person

SHORT = "Ana prefers concise answers"
LONG = "Ana prefers detailed answers"


def test_restatement_judged_same_reinforces_and_inserts_nothing(world):
    first = world.tell("Ana lives in Turin", attribute="home_city")
    world.judge.declare("Ana lives in Turin", "Ana's home is Turin", "same")

    again = world.tell("Ana's home is Turin", attribute="home_city")

    assert (again.kind, again.record_id) == ("reinforced", first.record_id)
    assert world.record(first).reinforcements == 1
    assert world.active() == ["Ana lives in Turin"]


def test_one_source_reinforces_once(world):
    first = world.tell("Ana lives in Turin", attribute="home_city")
    session = world.session()
    said = session.turn("user", "As I said, I live in Turin.").content

    outcomes = [
        world.write(session, "Ana lives in Turin", attribute="home_city", evidence=said).kind
        for _ in range(3)
    ]

    assert outcomes == ["reinforced", "already_reinforced", "already_reinforced"]
    assert world.record(first).reinforcements == 1


def test_conversation_that_wrote_a_record_does_not_reinforce_it(world):
    session = world.session()
    said = session.turn("user", "As I said, I live in Turin.").content
    first = world.write(session, "Ana lives in Turin", attribute="home_city", evidence=said)

    again = world.write(session, "Ana lives in Turin", attribute="home_city", evidence=said)

    assert again.kind == "already_reinforced"
    assert world.record(first).reinforcements == 0


def test_second_independent_reinforcement_confirms_a_provisional_record(world):
    claim = {"attribute": "home_city", "source_kind": "agent_inference"}
    first = world.write(world.session(), "Ana lives in Turin", **claim)
    seen = []

    for _ in range(2):
        world.tell("Ana lives in Turin", "I live in Turin these days.", **claim)
        record = world.record(first)
        seen.append((record.reinforcements, record.status, record.expires_at is None))

    assert seen == [(1, "provisional", False), (2, "confirmed", True)]


def test_reinforcement_postpones_the_expiry_of_a_provisional_record(world):
    claim = {"attribute": "home_city", "source_kind": "agent_inference"}
    first = world.write(world.session(), "Ana lives in Turin", **claim)
    world.clock.advance(days=10)

    world.tell("Ana lives in Turin", "I live in Turin these days.", **claim)

    assert world.record(first).expires_at == world.clock() + timedelta(days=30)


def test_observation_without_evidence_confirms_nothing(world):
    first = world.write(world.session(), "Ana lives in Turin", attribute="home_city")

    for _ in range(3):
        world.write(world.session(), "Ana lives in Turin", attribute="home_city")

    record = world.record(first)
    assert (record.status, record.reinforcements) == ("provisional", 0)


def test_stronger_independent_observation_becomes_the_stored_provenance(world):
    first = world.observe("Ana lives in Turin", attribute="home_city")
    session = world.session()
    turn = session.turn("user", "I live in Turin these days.")

    world.write(session, "Ana lives in Turin", attribute="home_city", evidence=turn.content)

    record = world.record(first)
    assert record.source_kind == "user_statement"
    assert record.evidence == turn.content
    assert record.source_ref == f"session:{turn.session_id}#{turn.turn}"


def test_upgrade_to_a_user_statement_confirms_at_once(world):
    first = world.write(world.session(), "Ana lives in Turin", attribute="home_city")

    world.tell("Ana lives in Turin", attribute="home_city")

    record = world.record(first)
    assert (record.source_kind, record.status) == ("user_statement", "confirmed")
    assert record.expires_at is None


def _remember(world, session, kind):
    session.remember("Ana lives in Turin", attribute="home_city", source_kind=kind)


def _write(world, session, kind):
    said = session.turn("user", "I live in Turin these days.").content
    claim = {"attribute": "home_city", "source_kind": kind, "evidence": said}
    world.write(session, "Ana lives in Turin", **claim)


@pytest.mark.parametrize("kind", ["session_summary", "system"])
@pytest.mark.parametrize("door", [_remember, _write], ids=["remember", "write"])
def test_writer_cannot_claim_a_reserved_source_kind(world, kind, door):
    session = world.session()

    with pytest.raises(RetoldError) as refused:
        door(world, session, kind)

    assert refused.value.code == "invalid_source_kind"
    assert world.row_counts()["records"] == 0


def test_claim_without_a_subject_is_about_the_principal_in_a_personal_scope(world):
    world.host.grant("helper", ANA, read=True, write=True)
    entity = world.host.provision_user("ana")

    result = world.tell("Prefers window seats", attribute="seat")

    record = world.record(result)
    assert (record.scope, record.subject_entity_id) == (ANA, entity.id)
    assert record.subject == f"{entity.id}/seat"


def test_principal_entity_is_made_by_the_first_claim_about_the_principal(world):
    results = [world.tell("Prefers window seats", attribute="seat")]
    results.append(world.tell("Prefers night trains", attribute="transport"))

    (subject,) = {world.record(result).subject_entity_id for result in results}
    with world.retold.store.read() as tx:
        entity = tx.entities.require(subject)
    assert (entity.kind, entity.principal_user_id) == ("person", "ana")


@pytest.mark.parametrize("type_", ["semantic", "procedural"])
def test_claim_without_a_subject_is_refused_outside_a_personal_scope(world, type_):
    world.host.grant("helper", PROJECT, read=True, write=True)
    session = world.session(project_id=PROJECT.id)
    before = world.row_counts()

    with pytest.raises(InvalidSubject, match="about entity required"):
        world.write(session, "Builds run nightly", type=type_, attribute="build", scope=PROJECT)

    assert world.row_counts() == before


@pytest.mark.parametrize("hint", ["!!!", "  - ", "/"])
def test_attribute_of_which_nothing_remains_is_refused(world, hint):
    with pytest.raises(InvalidSubject, match="attribute normalizes to nothing"):
        world.tell("Prefers window seats", attribute=hint)

    assert world.active() == []


def test_an_episode_says_that_it_has_no_attribute(world):
    """Else a caller believes that a second decision replaced the first."""
    first = world.tell("Chose 12 June for the launch", type="episodic", attribute="launch_date")
    second = world.tell("Chose 26 June for the launch", type="episodic", attribute="launch_date")

    assert (
        (first.kind, first.note) == (second.kind, second.note) == ("created", "attribute_ignored")
    )
    assert world.record(second).attribute == "-"
    assert world.tell("Chose a new logo", type="episodic").note is None


def test_entity_prefix_inside_an_attribute_decides_nothing(world):
    other = world.tell("Bea prefers aisle seats", mentions=(person("Bea"),), attribute="seat")
    bea = world.record(other).subject_entity_id

    result = world.tell("Prefers window seats", attribute=f"{bea}/Preferred Seat")

    record = world.record(result)
    assert record.subject_entity_id != bea
    assert record.attribute == "preferred_seat"
    assert result.kind == "created"


def test_contradiction_under_another_attribute_supersedes_and_keeps_the_first_name(world):
    world.embedder.similar(LONG, SHORT, 0.85)
    world.judge.declare(SHORT, LONG, "contradicts")
    first = world.tell(SHORT, attribute="answer_style")
    world.clock.advance(days=1)

    second = world.tell(LONG, attribute="explanation_style")

    assert second.outcome == f"superseded:{first.record_id}"
    assert world.record(second).attribute == "answer_style"
    (event,) = world.events("record.created", second.record_id)
    assert event.payload["attribute_aliased_from"] == "explanation_style"


def test_contradiction_under_another_attribute_needs_nearness_too(world):
    world.embedder.similar(LONG, SHORT, 0.75)
    world.judge.declare(SHORT, LONG, "contradicts")
    world.tell(SHORT, attribute="answer_style")

    world.tell(LONG, attribute="explanation_style")

    assert world.active() == [SHORT, LONG]


def test_contradiction_under_another_attribute_obeys_authority(world):
    world.embedder.similar(LONG, SHORT, 0.85)
    world.judge.declare(SHORT, LONG, "contradicts")
    first = world.tell(SHORT, attribute="answer_style")

    second = world.observe(LONG, attribute="explanation_style")

    assert second.outcome == f"conflict:{first.record_id}"
    assert world.record(second).status == "provisional"


def _attributes(world, count):
    """Store that many facts under different attributes; return results by attribute."""
    stored = {}
    for number in range(count):
        world.clock.advance(minutes=1)
        name = f"slot_{number}"
        stored[name] = world.tell(f"Slot {number} of Ana holds value {number}", attribute=name)
    return stored


def test_scan_beyond_the_attribute_cap_is_marked_and_judges_the_last_reinforced(make_world):
    world = make_world({"ingestion": {"max_entity_attributes": 2, "attribute_alias_cosine": -1}})
    stored = _attributes(world, 5)
    for name in ("slot_0", "slot_3"):
        world.clock.advance(minutes=1)
        content = world.record(stored[name]).content
        assert world.tell(content, f"Again: {content}", attribute=name).kind == "reinforced"
    world.judge.judged.clear()

    result = world.tell("Ana owns a kayak", attribute="boat")

    judged = {old for old, new in world.judge.judged if new == "Ana owns a kayak"}
    assert judged == {world.record(stored[name]).content for name in ("slot_0", "slot_3")}
    (event,) = world.events("record.created", result.record_id)
    assert event.payload["attribute_scan_truncated"] is True


def test_scan_within_the_attribute_cap_is_not_marked(world):
    _attributes(world, 3)

    result = world.tell("Ana owns a kayak", attribute="boat")

    (event,) = world.events("record.created", result.record_id)
    assert "attribute_scan_truncated" not in event.payload


@pytest.mark.parametrize("role", ["user", "tool"])
def test_located_quote_that_does_not_support_the_claim_lowers_it_and_keeps_the_score(world, role):
    quote = "The weather in Turin was lovely last week."
    world.judge.declare_support(quote, "Ana lives in Turin", 0.31)
    store = world.tell if role == "user" else world.observe

    result = store("Ana lives in Turin", quote, attribute="home_city")

    record = world.record(result)
    assert (record.source_kind, record.status) == ("agent_inference", "provisional")
    assert result.note == "evidence does not support claim"
    (event,) = world.events("record.created", result.record_id)
    assert event.payload["entailment"] == 0.31


def test_stronger_source_supersedes_whatever_the_event_times(world):
    first = world.observe("Ana lives in Turin", attribute="home_city")
    long_ago = world.clock() - timedelta(days=900)

    second = world.tell("Ana lives in Lecce", attribute="home_city", event_at=long_ago)

    assert second.outcome == f"superseded:{first.record_id}"
    assert world.active() == ["Ana lives in Lecce"]


def test_provisional_conflict_does_not_displace_the_authority_incumbent(world):
    incumbent = world.tell("Ana lives in Turin", attribute="home_city")
    world.clock.advance(days=1)
    weaker = world.observe("Ana lives in Lecce", attribute="home_city")
    world.clock.advance(days=1)

    third = world.tell("Ana lives in Parma", attribute="home_city")

    assert weaker.kind == "conflict"
    assert third.outcome == f"superseded:{incumbent.record_id}"
    assert world.record(incumbent).status == "superseded"
    assert world.record(third).supersedes_id == incumbent.record_id


def test_later_event_supersedes_among_equals(world):
    first = world.tell("Ana lives in Turin", attribute="home_city")
    world.clock.advance(days=1)

    second = world.tell("Ana lives in Lecce", attribute="home_city")

    assert second.outcome == f"superseded:{first.record_id}"
    assert world.record(second).supersedes_id == first.record_id
    assert world.record(first).status == "superseded"


def test_earlier_event_arrives_superseded_among_equals(world):
    first = world.tell("Ana lives in Turin", attribute="home_city")
    before = world.clock() - timedelta(days=400)

    second = world.tell("Ana lives in Lecce", attribute="home_city", event_at=before)

    record = world.record(second)
    assert second.outcome == f"superseded_on_arrival:{first.record_id}"
    assert (record.status, record.supersedes_id) == ("superseded", None)
    (event,) = world.events("record.created", record.id)
    assert event.payload["superseded_on_arrival_by"] == first.record_id
    assert contents(world.session().search("Ana lives in Lecce")) == ["Ana lives in Turin"]


def test_weaker_contradiction_is_kept_with_conflict_rows_both_ways(world):
    first = world.tell("Ana lives in Turin", attribute="home_city")

    second = world.observe("Ana lives in Lecce", attribute="home_city")

    assert second.outcome == f"conflict:{first.record_id}"
    assert world.record(second).status == "provisional"
    assert world.record(first).status == "confirmed"
    assert world.conflicts(first.record_id) == {second.record_id}
    assert world.conflicts(second.record_id) == {first.record_id}


def test_provisional_conflict_expires_after_the_configured_days(make_world):
    world = make_world({"ingestion": {"provisional_ttl_days": 9}})
    world.tell("Ana lives in Turin", attribute="home_city")

    second = world.observe("Ana lives in Lecce", attribute="home_city")

    assert world.record(second).expires_at == world.clock() + timedelta(days=9)


@pytest.mark.parametrize("verdict", ["contradicts", "distinct"])
def test_episodic_record_supersedes_nothing(make_world, verdict):
    world = make_world(judge=FakeJudge(default=verdict))
    world.tell("Ana moved to Turin", type="episodic")
    world.tell("Ana lives in Turin", attribute="home_city")
    world.clock.advance(days=1)

    result = world.tell("Ana moved to Lecce", type="episodic")

    assert result.kind == "created"
    assert len(world.active()) == 3


def test_opposite_preferences_that_embed_alike_are_not_the_same(world):
    world.embedder.similar(LONG, SHORT, 0.97)
    world.judge.declare(SHORT, LONG, "contradicts")
    world.tell(SHORT, attribute="answer_style")
    world.clock.advance(days=1)

    second = world.tell(LONG, attribute="answer_style")

    assert second.kind == "superseded"
    assert world.active() == [LONG]


def test_opposite_preferences_leave_one_active_record_under_the_rule_judge(make_world):
    """B05: a contradiction retires the older claim and never both."""
    world = make_world(RULES, judge=LexicalJudge())
    world.embedder.similar("Ana hates green tea", "Ana loves green tea", 0.97)
    first = world.tell("Ana loves green tea", "I love green tea so much.", attribute="likes")
    world.clock.advance(days=1)

    second = world.tell("Ana hates green tea", "I hate green tea by now.", attribute="likes")

    assert second.outcome == f"superseded:{first.record_id}"
    assert world.active() == ["Ana hates green tea"]

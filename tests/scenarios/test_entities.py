"""Which person or thing a name means, and what a merge of two of them changes."""

from __future__ import annotations

import pytest

from retold.errors import EntityAmbiguous, MigrationRequired, NotFound
from retold.models import Scope
from retold.retrieve.terms import MAX_ALIAS_NGRAMS, alias_ngrams
from retold.store import Store, reindex
from retold.store.migrations import acknowledge_unmapped, expire_unmapped, list_issues
from tests.migration.version_1_file import Version1File
from tests.scenarios.support import ANA, PROJECT, contents, person

ORG = Scope("org", "acme")


@pytest.fixture
def shared(world):
    """Grant the helper a project and an organisation beside its private scopes."""
    for scope in (PROJECT, ORG):
        world.host.grant("helper", scope, read=True, write=True)
    return world


def _about(world, name, content, scope=None, **fields):
    fields.setdefault("attribute", "likes")
    return world.tell(content, scope=scope, mentions=(person(name),), **fields)


def _entity(world, result):
    with world.retold.store.read() as tx:
        return tx.entities.require(world.record(result).subject_entity_id)


def test_alias_is_looked_up_in_readable_scopes_only(shared):
    foreign = _about(shared, "Sam", "Sam likes chess", scope=ORG)
    shared.host.revoke("helper", ORG)

    mine = _about(shared, "Sam", "Sam likes rowing")

    assert _entity(shared, mine).id != _entity(shared, foreign).id
    assert contents(shared.session().search("what about Sam")) == ["Sam likes rowing"]


def test_unknown_name_becomes_a_provisional_entity_of_the_writers_scope(shared):
    result = _about(shared, "Sam", "Sam likes chess", scope=PROJECT)

    entity = _entity(shared, result)
    assert (entity.canonical, entity.kind, entity.scope) == ("Sam", "person", PROJECT)
    assert entity.status == "provisional"
    assert entity.aliases == ("sam",)
    assert [event.entity_id for event in shared.events("entity.created")] == [entity.id]


def _two_sams(world):
    """Make two people called Sam, one in each shared scope, without a link between them."""
    ids = []
    for scope in (PROJECT, ORG):
        with world.retold.store.write() as tx:
            ids.append(tx.entities.insert("person", "Sam", scope, ["sam"]).id)
    return ids


def test_name_of_two_readable_entities_refuses_a_claim_about_them(shared):
    ids = _two_sams(shared)
    session = shared.session()
    said = session.turn("user", "Sam likes chess a lot.").content
    before = shared.row_counts(without=("events", "event_refs"))

    claim = {"attribute": "likes", "mentions": (person("Sam"),), "evidence": said}
    with pytest.raises(EntityAmbiguous) as refused:
        shared.write(session, "Sam likes chess", **claim)

    assert refused.value.code == "entity_ambiguous"
    assert all(entity_id in str(refused.value.details) for entity_id in ids)
    assert shared.row_counts(without=("events", "event_refs")) == before


def test_ambiguous_mention_costs_only_its_link(shared):
    _two_sams(shared)

    result = shared.tell(
        "Ana plays chess with Sam", attribute="hobby", mentions=(person("Sam", "mentions"),)
    )

    record = shared.record(result)
    assert result.kind == "created"
    assert record.entity_ids == (record.subject_entity_id,)
    assert "ambiguous_mention" in result.note


def test_written_claim_is_indexed_as_a_rebuilt_index_has_it(shared):
    """The names are taken from what was resolved, those of other scopes left out."""
    shared.host.provision_user("ana", ["Ana Lima", "Anita"])
    with shared.retold.store.write() as tx:
        zoe = tx.entities.insert("person", "Zoe", ORG, ["zoe", "zozo"])
    _about(shared, "Sam", "Sam likes chess", scope=PROJECT)
    named = (person("Sam", "mentions"), person("Ben", "mentions"))
    shared.tell("Ana plays chess with Sam and Ben", attribute="hobby", mentions=named)
    elsewhere = (person("Zoe", "mentions", entity_id=zoe.id),)
    shared.tell("Ana rows on Sundays", mentions=elsewhere)
    with shared.retold.store.write() as tx:
        written = tx.lexical.fields(tx.lexical.row_keys())
        counts = {seq: record.token_count for seq, record in tx.records.by_seqs(written).items()}

        reindex.rebuild(tx)

        assert tx.lexical.fields(tx.lexical.row_keys()) == written
        assert {
            seq: record.token_count for seq, record in tx.records.by_seqs(written).items()
        } == counts
    indexed = {aliases for _, _, aliases in written.values()}
    assert {"ana ana lima anita ben sam", "ana ana lima anita zoe"} < indexed


def test_explicit_entity_id_needs_no_unambiguous_name(shared):
    wanted = _two_sams(shared)[0]

    result = shared.tell(
        "Sam likes chess",
        attribute="likes",
        scope=PROJECT,
        mentions=(person("Sam", entity_id=wanted),),
    )

    assert _entity(shared, result).id == wanted


def test_explicit_entity_id_must_be_readable(shared):
    wanted = _two_sams(shared)[1]
    shared.host.revoke("helper", ORG)
    answers = []

    for entity_id in (wanted, "00000000-0000-7000-8000-00000000dead"):
        about = (person("Sam", entity_id=entity_id),)
        with pytest.raises(NotFound) as refused:
            shared.tell("Sam likes chess", attribute="likes", mentions=about)
        answers.append(str(refused.value).replace(entity_id, "ID"))

    assert answers[0] == answers[1]
    assert shared.active() == []


@pytest.fixture
def merged(world):
    """Store facts about Robert, and about Bob who knows him, then merge Robert into Bob."""
    robert = _about(world, "Robert", "Robert likes chess")
    bob = _about(world, "Bob", "Bob likes rowing", attribute="sport")
    both = world.tell(
        "Bob phoned Robert",
        attribute="call",
        mentions=(person("Bob"), person("Robert", "mentions")),
    )
    ids = _entity(world, robert).id, _entity(world, bob).id
    world.session().merge(*ids, reason="one man")
    return world, robert, bob, both, ids


def test_merge_moves_links_and_joins_the_names(merged):
    world, robert, bob, both, (source, target) = merged

    for result in (robert, bob, both):
        assert world.record(result).entity_ids == (target,)
    with world.retold.store.read() as tx:
        survivor, gone = tx.entities.require(target), tx.entities.require(source)
        roles = dict(tx.entities.links_of([world.record(both).seq]).popitem()[1])
    assert survivor.aliases == ("bob", "robert")
    assert (gone.status, gone.merged_into) == ("merged", target)
    assert roles == {target: "about"}


def test_merge_rewrites_subjects_so_that_every_name_finds_every_record(merged):
    world, robert, bob, both, (_, target) = merged

    record = world.record(robert)
    assert (record.subject_entity_id, record.subject) == (target, f"{target}/likes")
    for name in ("Robert", "Bob"):
        page = world.session().search(name)
        lexical = {row[0] for row in world.log(page)["lexical"]}
        assert lexical == {robert.record_id, bob.record_id, both.record_id}


def test_name_of_a_merged_entity_means_the_survivor(merged):
    world, *_, (_, target) = merged

    later = _about(world, "Robert", "Robert is allergic to cats", attribute="allergy")

    assert _entity(world, later).id == target


def test_incumbent_is_closed_although_a_provisional_sibling_says_the_same(world):
    incumbent = world.tell("Ana lives in Turin", attribute="home_city")
    world.clock.advance(days=1)
    sibling = world.observe("Ana lives in Lecce", attribute="home_city")
    world.clock.advance(days=1)
    world.judge.declare("Ana lives in Lecce", "Ana's home is in Lecce", "same")
    world.judge.declare("Ana lives in Turin", "Ana's home is in Lecce", "contradicts")

    result = world.tell("Ana's home is in Lecce", attribute="home_city")

    assert result.outcome == f"superseded:{incumbent.record_id}"
    assert world.record(sibling).status == "superseded"
    assert world.active() == ["Ana's home is in Lecce"]
    (event,) = world.events("record.created", result.record_id)
    assert event.payload["also_superseded"] == [sibling.record_id]


def test_capped_scan_goes_by_last_reinforcement_and_not_by_cosine(make_world):
    world = make_world({"ingestion": {"max_entity_attributes": 1, "attribute_alias_cosine": 0.1}})
    new = "Ana keeps two bicycles"
    world.embedder.similar_to_all(new, {"Ana owns bicycles": 0.7, "Ana collects stamps": 0.2})
    near = world.tell("Ana owns bicycles", attribute="bikes")
    far = world.tell("Ana collects stamps", attribute="collection")
    world.clock.advance(minutes=1)
    again = world.tell("Ana collects stamps", "I do collect stamps.", attribute="collection")
    assert (again.kind, again.record_id) == ("reinforced", far.record_id)
    world.judge.judged.clear()

    world.tell(new, attribute="vehicles")

    assert [old for old, _ in world.judge.judged] == ["Ana collects stamps"]
    assert world.record(near).status == "confirmed"


def test_two_entities_with_the_principals_name_are_an_ambiguity(world):
    world.host.grant("helper", ANA, read=True, write=True)
    with world.retold.store.write() as tx:
        ids = [tx.entities.insert("person", name, ANA, ["ana"]).id for name in ("Ana", "Anna")]
    before = world.row_counts(without=("events", "event_refs", "session_turns", "sessions"))

    with pytest.raises(EntityAmbiguous) as refused:
        world.tell("Prefers window seats", attribute="seat")

    assert all(entity_id in str(refused.value.details) for entity_id in ids)
    after = world.row_counts(without=("events", "event_refs", "session_turns", "sessions"))
    assert after == before


def test_provisioned_name_of_the_user_resolves_to_the_principal(world):
    principal = world.host.provision_user("u-8841", ["Aditya", "Adi"])
    world.host.grant("helper", Scope("user", "u-8841"), read=True, write=True)

    named = _about(world, "Aditya", "Aditya likes chess", user="u-8841")
    implied = world.tell("Prefers window seats", attribute="seat", user="u-8841")

    subjects = {world.record(result).subject_entity_id for result in (named, implied)}
    assert subjects == {principal.id}


def test_query_of_300_words_finds_its_entity_with_a_bounded_set_of_aliases(world):
    _about(world, "Zoltan Kiraly", "Zoltan Kiraly plays the zither", attribute="instrument")
    words = [f"word{number}" for number in range(300)]
    query = " ".join([*words, "Zoltan", "Kiraly"])

    page = world.session().search(query)

    assert world.log(page)["entity"] != []
    assert page.degraded == ()
    for length in (300, 3_000):
        pasted = " ".join(f"word{number}" for number in range(length))
        assert len(alias_ngrams(pasted, 4)) <= MAX_ALIAS_NGRAMS


def _lexical_terms(world, page):
    """Return, per record found by words, its matched terms and whether each is an identifier."""
    return {
        one.record_id: {term.value: term.is_identifier for term in one.lexical_match.terms}
        for one in world.pool(page)
        if one.lexical_match is not None
    }


def test_hyphenated_word_is_plain_and_matches_adjacent_tokens_only(world):
    whole = world.tell("The follow-up with Dana is on Monday", type="episodic")
    world.tell("Dana wants to follow the map up the hill", type="episodic")

    page = world.session().search("follow-up")

    assert _lexical_terms(world, page) == {whole.record_id: {"follow-up": False}}


@pytest.mark.parametrize("word", ["bge-m3", "deploy.yml", "ERR42", "camelCase", "snake_case"])
def test_word_with_digit_dot_underscore_or_inner_capital_is_an_identifier(world, word):
    stored = world.tell(f"The build needs {word} first", type="episodic")

    page = world.session().search(f"{word}?")

    assert _lexical_terms(world, page) == {stored.record_id: {word: True}}
    assert contents(page) == [f"The build needs {word} first"]


@pytest.mark.parametrize("apostrophe", ["'", "’"])
def test_contractions_leave_no_query_term(world, apostrophe):
    world.tell("I'm sure what's in the lantern don't burn", type="episodic")
    query = "I'm what's don't lantern".replace("'", apostrophe)

    page = world.session().search(query)

    (found,) = world.pool(page)
    assert world.log(page)["gate_inputs"]["term_counts"] == [1]
    assert [term.value for term in found.lexical_match.terms] == ["lantern"]


@pytest.fixture
def old_file(tmp_path):
    """A version-1 file with one claim that maps, two that do not, and one retired claim."""
    path = tmp_path / "old.sqlite"
    old = Version1File(path)
    old.entity("e-ana", "Ana", "ana")
    old.entity("e-bo", "Bo", "bo")
    old.record("r-home", "Ana lives in Lisbon", subject="e-ana/Home City")
    old.record("r-nobody", "The moon is full", subject="moon")
    old.record("r-both", "Ana and Bo share a flat", subject="e-ana/flat")
    old.record("r-gone", "Ana lived in Porto", subject="porto", status="superseded")
    for record_id, entity_id in (("r-home", "e-ana"), ("r-both", "e-ana"), ("r-both", "e-bo")):
        old.link(record_id, entity_id)
    old.close()
    return path


UNMAPPED = ["r-both", "r-nobody"]


def test_migration_records_every_claim_it_cannot_map_and_wants_an_acknowledgement(old_file):
    with pytest.raises(MigrationRequired):
        Store.open(old_file)
    with pytest.raises(MigrationRequired):
        Store.open(old_file, migrate=True)

    with Store.open(old_file, allow_migration_issues=True) as store:
        with store.read() as tx:
            issues = list_issues(tx)
            home = tx.records.require("r-home")
        with store.write() as tx:
            acknowledged = acknowledge_unmapped(tx)

    assert sorted(issue.record_id for issue in issues) == UNMAPPED
    assert {issue.migration_version for issue in issues} == {100}
    assert (home.subject_entity_id, home.attribute) == ("e-ana", "home_city")
    assert acknowledged == len(UNMAPPED)
    Store.open(old_file).close()


def test_store_stays_closed_until_unmapped_claims_are_retired(old_file):
    with pytest.raises(MigrationRequired):
        Store.open(old_file, migrate=True)

    with Store.open(old_file, allow_migration_issues=True) as store, store.write() as tx:
        expired = expire_unmapped(tx)

    assert expired == len(UNMAPPED)
    with Store.open(old_file) as store, store.read() as tx:
        assert {tx.records.require(one).status for one in UNMAPPED} == {"expired"}
        assert tx.records.require("r-home").status == "confirmed"
        for record_id in UNMAPPED:
            kinds = [event.kind for event in tx.events.list_for_record(record_id)]
            assert kinds == ["record.status"]


def test_link_to_an_entity_nobody_here_may_read_is_neither_told_nor_passed_on(shared):
    """Files of version 1 hold such links; without the readable scopes of ``_mentions_of``
    the refusal names the entity."""
    foreign = _entity(shared, _about(shared, "Sam", "Sam likes chess", scope=ORG))
    mine = shared.tell("The user needs a rest", attribute="need")
    with shared.retold.store.write() as tx:
        tx.entities.link(shared.record(mine).seq, foreign.id, "mentions")
    shared.host.revoke("helper", ORG)

    session = shared.retold.session("ana", agent_id="helper")
    said = "I need two weeks off"
    newer = session.replace(mine.record_id, said, evidence=said, reason="more")

    with shared.retold.store.read() as tx:
        seq = shared.record(newer).seq
        assert foreign.id not in [link for link, _ in tx.entities.links_of([seq]).get(seq, [])]

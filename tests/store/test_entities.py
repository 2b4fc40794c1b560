"""Entities, aliases, links and merges."""

import pytest

from retold.errors import InvalidInput, NotFound
from retold.models import Scope
from tests.index_support import Row, insert

ANA = Scope("user", "ana")
BO = Scope("user", "bo")
REPO = Scope("project", "acme/repo")


def codes(tx, *scopes):
    return [tx.scopes.require(scope) for scope in scopes]


def ids(entities):
    return [entity.id for entity in entities]


def test_entities_insert_keeps_every_field(store, clock):
    with store.write() as tx:
        entity = tx.entities.insert(
            "person", "Ana Lima", ANA, ["ana lima", "ana", "ana"], principal_user_id="ana"
        )

        assert (entity.kind, entity.canonical, entity.scope) == ("person", "Ana Lima", ANA)
        assert (entity.status, entity.merged_into) == ("provisional", None)
        assert (entity.principal_user_id, entity.created_at) == ("ana", clock.now)
        assert entity.aliases == ("ana", "ana lima")
        assert tx.entities.get(entity.id) == tx.entities.resolve(entity.id) == entity


def test_entities_unknown_ids_are_absent_or_not_found(store):
    with store.write() as tx:
        assert tx.entities.get("nope") is None
        assert tx.entities.resolve("nope") is None
        for call in (
            lambda: tx.entities.require("nope"),
            lambda: tx.entities.add_alias("nope", "x"),
            lambda: tx.entities.set_principal("nope", "ana"),
            lambda: tx.entities.set_status("nope", "confirmed"),
            lambda: tx.entities.insert_twin("nope", ANA),
            lambda: tx.entities.link(1, "nope", "about"),
            lambda: tx.entities.merge("nope", "nope"),
        ):
            with pytest.raises(NotFound):
                call()


def test_entities_by_alias_answers_all_names_and_scopes_at_once(store):
    with store.write() as tx:
        ana = tx.entities.insert("person", "Ana", ANA, ["ana", "a"])
        repo = tx.entities.insert("repo", "Ana's repo", REPO, ["ana"])
        tx.entities.insert("person", "Ana", BO, ["ana"])
        readable = codes(tx, ANA, REPO)

        found = tx.entities.by_alias(["ana", "a", "nobody"], readable)
        assert {norm: ids(entities) for norm, entities in found.items()} == {
            "ana": [ana.id, repo.id],
            "a": [ana.id],
        }
        persons = tx.entities.by_alias(["ana"], readable, ["person", "org"])
        assert ids(persons["ana"]) == [ana.id]
        assert tx.entities.by_alias([], readable) == tx.entities.by_alias(["ana"], []) == {}


def test_entities_by_alias_takes_a_thousand_names_in_one_statement(store):
    with store.write() as tx:
        entity = tx.entities.insert("person", "Ana", ANA, ["name 999"])

        found = tx.entities.by_alias([f"name {n}" for n in range(1000)], codes(tx, ANA))
        assert list(found) == ["name 999"]
        assert ids(found["name 999"]) == [entity.id]


@pytest.mark.parametrize("status", ["confirmed", "deleted"])
def test_entities_by_alias_sees_active_entities_only(store, status):
    with store.write() as tx:
        entity = tx.entities.insert("person", "Ana", ANA, ["ana"])
        tx.entities.set_status(entity.id, status)

        assert bool(tx.entities.by_alias(["ana"], codes(tx, ANA))) is (status == "confirmed")


def test_entities_by_alias_follows_merges_to_the_survivor(store):
    with store.write() as tx:
        one, two, three = (
            tx.entities.insert("person", name, ANA, [name]) for name in ("one", "two", "three")
        )
        tx.entities.merge(one.id, two.id)
        tx.entities.merge(two.id, three.id)
        tx.entities.add_alias(one.id, "late")

        found = tx.entities.by_alias(["one", "two", "late"], codes(tx, ANA))
        assert {norm: ids(entities) for norm, entities in found.items()} == {
            "one": [three.id],
            "two": [three.id],
            "late": [three.id],
        }
        assert tx.entities.resolve(one.id).id == three.id
        assert tx.entities.get(one.id).merged_into == two.id


def test_entities_resolve_and_by_alias_end_on_a_circle_of_merges(store):
    """Only a damaged file holds one; ``union all`` in the recursion would never return."""
    with store.write() as tx:
        one = tx.entities.insert("person", "one", ANA, ["one"])
        two = tx.entities.insert("person", "two", ANA, ["two"])
        tx.run(
            "update entities set status = 'merged',"
            " merged_into = (select seq from entities as o where o.id <> entities.id)"
        )

        assert tx.entities.resolve(one.id) is tx.entities.resolve(two.id) is None
        assert tx.entities.by_alias(["one"], codes(tx, ANA)) == {}


def test_entities_principal_is_unique_per_scope(store):
    with store.write() as tx:
        ana = tx.entities.insert("person", "Ana", ANA, ["ana"], principal_user_id="ana")
        elsewhere = tx.entities.insert("person", "Ana", REPO, ["ana"], principal_user_id="ana")
        other = tx.entities.insert("person", "Ana", ANA, ["ana"])

        assert tx.entities.principal(ANA, "ana") == ana
        assert tx.entities.principal(REPO, "ana") == elsewhere
        assert tx.entities.principal(ANA, "bo") is None
        assert tx.entities.principal(Scope("org", "unknown"), "ana") is None
        with pytest.raises(InvalidInput, match="already stands for"):
            tx.entities.insert("person", "Ana", ANA, [], principal_user_id="ana")
        with pytest.raises(InvalidInput, match="already stands for"):
            tx.entities.set_principal(other.id, "ana")
        tx.entities.set_principal(ana.id, "ana")


def test_entities_lists_persons_by_name_marked_principals_first(store):
    with store.write() as tx:
        plain = tx.entities.insert("person", "Ana", ANA, ["ana"])
        tx.entities.insert("project", "Ana", ANA, ["ana"])
        tx.entities.insert("person", "Ana", BO, ["ana"])
        marked = tx.entities.insert("person", "Ana", ANA, ["ana"])
        tx.entities.set_principal(marked.id, "ana")

        assert ids(tx.entities.list_principal_named(ANA, "ana")) == [marked.id, plain.id]
        assert tx.entities.list_principal_named(Scope("org", "unknown"), "ana") == []


def test_entities_list_in_scopes_is_bounded_and_oldest_first(store):
    with store.write() as tx:
        made = [tx.entities.insert("other", str(number), ANA, []) for number in range(3)]
        tx.entities.insert("other", "foreign", BO, [])
        tx.entities.set_status(made[1].id, "deleted")

        assert ids(tx.entities.list_in_scopes(codes(tx, ANA), 10)) == [made[0].id, made[2].id]
        assert ids(tx.entities.list_in_scopes(codes(tx, ANA), 1)) == [made[0].id]


def test_entities_add_alias_tells_whether_it_was_new(store):
    with store.write() as tx:
        entity = tx.entities.insert("person", "Ana", ANA, ["ana"])

        assert not tx.entities.add_alias(entity.id, "ana")
        assert tx.entities.add_alias(entity.id, "lima")
        assert tx.entities.require(entity.id).aliases == ("ana", "lima")


def test_entities_twin_copies_the_survivor_into_the_other_scope(store):
    with store.write() as tx:
        old = tx.entities.insert("org", "Acme Ltd", ANA, ["acme ltd"])
        original = tx.entities.insert("org", "Acme", ANA, ["acme"])
        tx.entities.merge(old.id, original.id)

        twin = tx.entities.insert_twin(old.id, REPO)
        assert twin.id not in {old.id, original.id}
        assert (twin.kind, twin.canonical, twin.scope) == ("org", "Acme", REPO)
        assert twin.aliases == ("acme", "acme ltd")
        assert twin.principal_user_id is None


def test_entities_twin_under_a_name_is_known_by_that_alone(store):
    with store.write() as tx:
        original = tx.entities.insert("person", "Priya", ANA, ["priya", "pumpkin"])

        twin = tx.entities.insert_twin(original.id, REPO, name=" Priya  Raman")
        assert (twin.canonical, twin.aliases) == ("Priya Raman", ("priya raman",))


def test_entities_resolve_in_looks_at_both_ends_of_a_merge(store):
    with store.write() as tx:
        old = tx.entities.insert("org", "Acme Ltd", ANA, ["acme ltd"])
        survivor = tx.entities.insert("org", "Acme", ANA, ["acme"])
        foreign = tx.entities.insert("org", "Acme", BO, ["acme"])
        tx.entities.merge(old.id, survivor.id)
        ana, bo = codes(tx, ANA, BO)

        assert tx.entities.resolve_in(old.id, [ana]) == tx.entities.require(survivor.id)
        assert tx.entities.resolve_in(old.id, [bo]) is None
        assert tx.entities.resolve_in(foreign.id, [ana]) is None
        assert tx.entities.resolve_in("nope", [ana]) is None
        # Files of version 1 could merge across scopes.
        tx.run("update entities set scope_code = ? where id = ?", (bo, survivor.id))
        assert tx.entities.resolve_in(old.id, [ana]) is None
        assert tx.entities.resolve_in(old.id, [bo]) is None


def test_entities_twin_of_a_principal_stands_for_the_user_once(store):
    with store.write() as tx:
        ana = tx.entities.insert("person", "Ana", ANA, ["ana"], principal_user_id="ana")

        twin = tx.entities.insert_twin(ana.id, REPO)
        assert twin.principal_user_id == "ana"
        assert tx.entities.insert_twin(ana.id, REPO) == twin


def test_entities_links_keep_about_over_mentions(store):
    with store.write() as tx:
        ana = tx.entities.insert("person", "Ana", ANA, ["ana", "lima"])
        bo = tx.entities.insert("person", "Bo", ANA, ["bo"])
        foreign = tx.entities.insert("person", "Cy", BO, ["cy"])
        first, second = insert(tx, Row()), insert(tx, Row())
        tx.entities.link(first, bo.id, "mentions")
        tx.entities.link(first, ana.id, "mentions")
        tx.entities.link(first, ana.id, "about")
        tx.entities.link(first, ana.id, "mentions")
        tx.entities.link(first, foreign.id, "mentions")
        tx.entities.link(second, ana.id, "mentions")

        assert tx.entities.links_of([first, second, 99]) == {
            first: [(ana.id, "about"), (bo.id, "mentions"), (foreign.id, "mentions")],
            second: [(ana.id, "mentions")],
        }
        assert tx.entities.record_seqs_of([ana.id, bo.id]) == [
            (first, ana.id, "about"),
            (second, ana.id, "mentions"),
            (first, bo.id, "mentions"),
        ]
        assert tx.entities.aliases_for_record(first) == ("ana", "bo", "lima")
        tx.entities.unlink(first)
        assert tx.entities.links_of([first]) == {}
        assert tx.entities.aliases_for_record(first) == ()


def merged_pair(tx, **source):
    one = tx.entities.insert("person", "Robert", ANA, ["robert", "bob"], **source)
    two = tx.entities.insert("person", "Bob", ANA, ["bob"])
    return one, two


def test_entities_merge_moves_links_aliases_and_subjects(store):
    with store.write() as tx:
        one, two = merged_pair(tx)
        about, both, untouched, target_only = (insert(tx, Row()) for _ in range(4))
        tx.run(
            "update records set attribute = 'city', subject = 'x', subject_entity_seq ="
            " (select seq from entities where id = :id) where seq = :seq",
            {"id": one.id, "seq": about},
        )
        tx.entities.link(about, one.id, "about")
        tx.entities.link(both, one.id, "about")
        tx.entities.link(both, two.id, "mentions")
        tx.entities.link(target_only, two.id, "about")
    with store.write() as tx:
        assert tx.entities.merge(one.id, two.id) == [about, both, target_only]

        source = tx.entities.require(one.id)
        assert (source.status, source.merged_into) == ("merged", two.id)
        assert tx.entities.require(two.id).aliases == ("bob", "robert")
        assert tx.entities.links_of([about, both, target_only]) == {
            seq: [(two.id, "about")] for seq in (about, both, target_only)
        }
        records = tx.records.by_seqs([about, untouched])
        assert records[about].subject == f"{two.id}/city"
        assert records[about].subject_entity_id == two.id
        assert (records[about].revision, records[about].index_version) == (2, tx.version())
        assert records[untouched].revision == 1


def test_entities_merge_without_records_allocates_no_version(store):
    with store.write() as tx:
        one, two = merged_pair(tx)

        assert tx.entities.merge(one.id, two.id) == []
        assert tx.committed_version == 0


def test_entities_merge_hands_the_principal_over(store):
    with store.write() as tx:
        one, two = merged_pair(tx, principal_user_id="bob")
        tx.entities.merge(one.id, two.id)

        assert tx.entities.principal(ANA, "bob").id == two.id
        assert tx.entities.require(one.id).principal_user_id is None


def test_entities_merge_refuses_a_circle(store):
    with store.write() as tx:
        one, two = merged_pair(tx)
        tx.entities.merge(one.id, two.id)

        with pytest.raises(InvalidInput, match="merged"):
            tx.entities.merge(two.id, one.id)
        with pytest.raises(InvalidInput, match="itself"):
            tx.entities.merge(two.id, two.id)


@pytest.mark.parametrize(
    ("kind", "scope", "user_id", "message"),
    [
        ("person", BO, None, "one scope"),
        ("org", ANA, None, "org"),
        ("person", ANA, "two", "two users"),
    ],
    ids=["other scope", "other kind", "two principals"],
)
def test_entities_merge_refuses_what_is_not_one_thing(store, kind, scope, user_id, message):
    with store.write() as tx:
        one = tx.entities.insert("person", "Ana", ANA, ["ana"], principal_user_id="one")
        two = tx.entities.insert(kind, "Ana", scope, ["ana"], principal_user_id=user_id)

        with pytest.raises(InvalidInput, match=message):
            tx.entities.merge(two.id, one.id)
        assert tx.entities.require(two.id).status == "provisional"

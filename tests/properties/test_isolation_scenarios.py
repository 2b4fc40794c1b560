"""Fixed scenarios of the isolation property, for each check that only chance would notice.

The oracle, the stories and the checks are those of the state machine in ``test_isolation``; here
its steps are called in a fixed order. A docstring names the mutants of ``benchmarks/mutants.py``
that make the scenario fail.
"""

from __future__ import annotations

import pytest

from retold import EntityMention, Principal, Scope
from retold.models import WriteRequest
from tests.properties.test_isolation import Isolation

ANA = Principal("planner", "ana", "chat")
BO = Principal("critic", "bo", "chat")
CHEN = Principal("coder", "chen", "chat")
APOLLO = Scope("project", "apollo")
TEA = "Somebody likes tea"


class IsolationByDesign(Isolation):
    """The same under the preset in which a name finds records by itself, not only raises them."""

    preset = "design"


@pytest.fixture
def world(request):
    """An empty store with the oracle that knows its grants, ids and markers."""
    machine = getattr(request, "param", Isolation)()
    machine.open_store()
    yield machine
    machine.teardown()


def private_claim(world: Isolation, who: Principal, name: str | None = None) -> str:
    """Write a claim into a private scope, about somebody if a name is given; return its id."""
    mentions = () if name is None else (EntityMention("person", name, "about"),)
    return world.claim(
        who, who.private_scope, TEA, source_kind="agent_inference", mentions=mentions
    )


# -- searches --------------------------------------------------------------------------------


@pytest.mark.parametrize("world", [Isolation, IsolationByDesign], indirect=True)
def test_no_channel_of_a_search_offers_a_strangers_claim(world):
    """Mutants: eligibility, dense, lexical; entity, where a name finds records by itself."""
    private_claim(world, BO, "Robin")
    (found,) = world.session(BO).search(TEA, entities=["Robin"])
    assert found.explanation.matched_by == ("dense", "lexical", "entity")
    private_claim(world, ANA)

    world.search(ANA, "likes tea", 20, ["Robin"], False, None)


@pytest.mark.parametrize("moment", ["known_at", "as_of"])
def test_no_search_of_the_past_offers_a_strangers_claim(world, moment):
    """Mutant: past moments."""
    private_claim(world, BO)
    assert len(world.session(BO).search(TEA, **{moment: world.retold.runtime.clock()})) == 1
    private_claim(world, ANA)

    world.search(ANA, "likes tea", 20, None, False, moment)


def test_what_was_found_under_a_grant_that_went_is_not_shown(world):
    """Mutants: final look; revise unwritable, while the grant to read lasts."""
    world.a_search_loses_its_grant("planner", "ana")


# -- claims that touch claims of other scopes ------------------------------------------------


def test_a_claim_does_not_name_the_unreadable_one_it_replaced(world):
    """Mutants: replaced record, lineage."""
    world.a_claim_moves_to_the_user_scope("planner", "ana", as_user=False)


def test_a_claim_does_not_name_the_unreadable_one_that_disagrees(world):
    """Mutants: conflict pairs, explained conflicts, conflicts by id."""
    world.a_claim_moves_to_the_user_scope("planner", "ana", as_user=True)


def test_a_link_to_a_strangers_entity_is_not_named(world):
    """Mutants: linked entities; entity, which would be told to the search log."""
    theirs, mine = private_claim(world, BO, "Robin"), private_claim(world, ANA)
    (entity_id,) = world.session(BO).get(theirs)[0].entity_ids
    with world.retold.store.write() as tx:  # files of version 1 hold such links
        (seq,) = tx.one("select seq from records where id = :id", {"id": mine})
        tx.entities.link(seq, entity_id, "mentions")

    world.read_everything(ANA, mine)
    world.search(ANA, "likes tea", 20, ["Robin"], False, None)


# -- pages and counts ------------------------------------------------------------------------


def test_pages_and_counts_hold_no_strangers_claim(world):
    """Mutants: list, status."""
    private_claim(world, BO)
    private_claim(world, ANA)

    world.list_and_status(ANA, 50)


def test_a_grant_on_another_users_scope_shows_nothing(world):
    """Mutant: other user's grant."""
    scope = Scope("user", "dee")
    world.as_host(scope, world.sentence(scope, "likes", "tea"))
    world.grant("planner", scope, read=True, write=True)

    world.list_and_status(ANA, 50)


def test_a_grant_to_write_shows_nothing(world):
    """Mutant: write-only grant."""
    world.as_host(APOLLO, world.sentence(APOLLO, "likes", "tea"))
    world.grant("planner", APOLLO, read=False, write=True)

    world.list_and_status(ANA, 50)


# -- writes ----------------------------------------------------------------------------------


def test_a_name_that_only_strangers_know_stands_for_nobody_yet(world):
    """Mutant: entity by name."""
    private_claim(world, BO, "Robin")
    private_claim(world, CHEN, "Robin")

    world.write(ANA, None, "likes", "tea", "Robin", None, "semantic")


@pytest.mark.parametrize(
    ("scope", "target"),
    [(APOLLO, APOLLO), (ANA.user_scope, ANA.private_scope)],
    ids=["one scope", "two personal scopes"],
)
def test_a_write_does_not_name_the_unreadable_record_that_says_the_same(world, scope, target):
    """Mutant: comparison. It would count as said once more, by the id of that record."""
    content = world.sentence(target, "likes", "tea")
    world.as_host(scope, content, type="episodic")
    world.grant("planner", scope, read=False, write=True)
    request = WriteRequest(
        type="episodic", content=content, scope=target, source_kind="agent_inference"
    )
    world.session(ANA)

    result = world.attempt(ANA, lambda: world.written(ANA, request))

    assert result.kind == "created"


def test_a_write_into_an_unreadable_scope_tells_nothing_of_its_names_and_claims(world):
    """Mutants: ambiguity details, revise unreadable."""
    world.a_write_through_a_door_without_a_window("ana", APOLLO, same_words=False)


def test_a_merge_does_not_name_the_unreadable_record_it_touched(world):
    """Mutant: merged records."""
    world.a_merge_touches_a_record_of_another_scope("ana")

"""What a search may see, how the channels are filled and fused, and what is handed out."""

from __future__ import annotations

import pytest

from retold.models import Scope
from retold.retrieve.replay import replay_fusion
from tests.scenarios.support import ANA, PROJECT, contents, person


def _ids(log, channel):
    return [row[0] for row in log[channel]]


def test_superseded_records_appear_only_with_history(world):
    first = world.tell("Ana lives in Turin", attribute="home_city")
    world.clock.advance(days=1)
    second = world.tell("Ana lives in Lecce", attribute="home_city")
    session = world.session()

    now = session.search("where Ana lives")
    ever = session.search("where Ana lives", include_history=True)

    assert [item.record.id for item in now] == [second.record_id]
    assert {item.record.id for item in ever} == {first.record_id, second.record_id}


@pytest.mark.parametrize("way", ["time", "revise"])
def test_expired_records_do_not_appear(world, way):
    session = world.session()
    result = world.write(session, "Ana may like fencing", attribute="hobby")
    assert len(session.search("fencing Ana may like")) == 1

    if way == "time":
        world.clock.advance(days=world.config.ingestion.provisional_ttl_days, seconds=1)
    else:
        session.revise(result.record_id, "expire", reason="was a guess")

    page = world.session().search("fencing Ana may like")
    assert contents(page) == []
    assert world.pool(page) == ()


def test_unreadable_records_never_take_a_place_in_the_dense_list(make_world):
    world = make_world({"retrieval": {"per_generator_k": 2}})
    query = "bicycle repair"
    for number in range(6):
        content = f"Foreign note {number}"
        world.embedder.similar(content, query, 0.95)
        world.host.write(PROJECT, content, type="episodic", dedup=False)
    world.embedder.similar("A tyre was patched", query, 0.5)
    mine = world.tell("A tyre was patched", type="episodic")

    page = world.session().search(query)

    assert _ids(world.log(page), "dense") == [mine.record_id]
    assert contents(page) == ["A tyre was patched"]


def test_several_queries_share_one_capped_dense_list_of_best_scores(make_world):
    world = make_world({"retrieval": {"per_generator_k": 3}})
    queries = ["alpha", "beta", "gamma"]
    expected = {}
    for number in range(5):
        content = f"Note {number} in the file"
        cosines = {
            query: 0.5 + 0.05 * ((number + place) % 5) for place, query in enumerate(queries)
        }
        world.embedder.similar_to_all(content, {q: c * 0.7 for q, c in cosines.items()})
        result = world.tell(content, type="episodic")
        expected[result.record_id] = max(cosines.values()) * 0.7

    log = world.log(world.session().search(queries))

    best = sorted(expected.values(), reverse=True)[:3]
    assert [row[1] for row in log["dense"]] == [1, 2, 3]
    assert [row[2] for row in log["dense"]] == pytest.approx(best, abs=1e-5)
    assert [row[2] for row in log["dense"]] == pytest.approx(
        [expected[record_id] for record_id in _ids(log, "dense")], abs=1e-5
    )


def test_eligible_match_is_returned_behind_any_number_of_better_foreign_ones(make_world):
    world = make_world({"retrieval": {"per_generator_k": 4}})
    limit = 3 * world.config.retrieval.per_generator_k
    foreign = ["zither concert"] * (limit + 5)
    list(world.host.write_many(PROJECT, foreign, dedup=False))
    mine = world.tell(
        "In the long report of last year, on page twelve, a zither concert is named once",
        type="episodic",
    )

    log = world.log(world.session().search("zither concert"))

    assert _ids(log, "lexical") == [mine.record_id]


def test_lexical_hit_keeps_its_best_fraction_and_the_flags_of_its_terms(world):
    world.tell(
        "Dana deploys with deploy.yml", attribute="deploy", mentions=(person("Dana", "mentions"),)
    )

    page = world.session().search(["x Dana deploy.yml rollback", "Dana y deploy.yml"])

    (found,) = world.pool(page)
    match = found.lexical_match
    flags = {t.value.lower(): (t.is_identifier, t.is_entity_alias) for t in match.terms}
    assert match.total_terms == 2
    assert flags == {"dana": (False, True), "deploy.yml": (True, False)}
    assert world.log(page)["gate_inputs"]["term_counts"] == [3, 2]


def test_all_aliases_of_a_query_are_looked_up_in_one_statement(world, monkeypatch):
    world.tell("Dana plays chess", attribute="hobby", mentions=(person("Dana"),))
    session = world.session()
    words = " ".join(f"word{number}" for number in range(60))
    statements = []
    run = type(_a_transaction(world)).run

    def traced(tx, sql, bindings=()):
        statements.append(sql)
        return run(tx, sql, bindings)

    monkeypatch.setattr(type(_a_transaction(world)), "run", traced)
    page = session.search([f"{words} Dana", "Dana again", "and once more Dana"])

    looked_up = [sql for sql in statements if "from entity_aliases" in sql.lower()]
    assert len(looked_up) == 1
    assert world.log(page)["entity"] != []


def _a_transaction(world):
    with world.retold.store.read() as tx:
        return tx


def test_fusion_works_when_channels_find_nothing(world):
    world.embedder.similar("A quiet evening", "zebra", 0.8)
    stored = world.tell("A quiet evening", type="episodic")

    page = world.session().search("zebra")
    log = world.log(page)

    assert (_ids(log, "lexical"), _ids(log, "entity")) == ([], [])
    assert _ids(log, "dense") == [stored.record_id]
    assert page.items[0].explanation.fused_score == pytest.approx(1 / 61)
    assert replay_fusion(world.raw_log(page)) == [(stored.record_id, pytest.approx(1 / 61))]


def test_empty_answer_says_why_when_nothing_passes(world):
    world.tell("Ana lives in Turin", attribute="home_city")

    page = world.session().search("quarterly budget figures")

    assert not page
    assert "dense" in page.empty_reason
    assert page.text.count("Turin") == 0


def test_better_ranked_of_two_near_duplicates_stays(world):
    world.host.grant("helper", PROJECT, read=True, write=True)
    world.embedder.similar("Turin hosts the spring fair", "Spring fair is held in Turin", 0.97)
    first = world.host.write(PROJECT, "Spring fair is held in Turin", dedup=False)
    second = world.tell("Turin hosts the spring fair", type="episodic")

    page = world.session().search("where is Spring fair held")
    log = world.log(page)

    higher, lower = [row[0] for row in log["fused"]]
    assert {higher, lower} == {first.record_id, second.record_id}
    assert [item.record.id for item in page] == [higher]
    assert log["deduped_out"] == [[lower, higher, pytest.approx(0.97, abs=1e-3)]]
    assert lower in page.items[0].explanation.dedup


def test_record_is_returned_whole_or_not_at_all(make_world):
    world = make_world({"retrieval": {"token_budget": 100}})
    long = "Harbour log: " + " ".join(f"ship{number} arrived" for number in range(40))
    world.host.grant("helper", ANA, read=True, write=True)
    world.host.write(ANA, long, dedup=False)
    world.host.write(ANA, "Harbour log was signed", dedup=False)

    page = world.session().search("harbour log arrived")

    assert contents(page) == ["Harbour log was signed"]
    (left_out,) = world.log(page)["budget_out"]
    assert "tokens" in left_out[1]
    assert long not in page.text


def test_budget_stops_at_k_primary_results(world):
    for number in range(5):
        world.tell(f"Harbour log entry {number} was signed", type="episodic")

    page = world.session().search("harbour log entry", k=2)

    assert len(page) == 2
    assert len(world.log(page)["budget_out"]) == 3


def test_same_text_in_two_scopes_is_found_once_per_reader(world):
    said = "The fair opens at nine"
    world.host.write(Scope("user", "bob"), said)
    world.host.write(ANA, said)
    world.host.grant("helper", ANA)

    assert contents(world.session("ana").search("when the fair opens")) == [said]
    assert contents(world.session("bob").search("when the fair opens")) == []

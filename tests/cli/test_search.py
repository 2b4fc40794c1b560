from datetime import datetime, timedelta

import pytest
from wcwidth import wcswidth

from retold import Retold
from retold.cli.search_text import why_table
from retold.store import Store
from retold.store.meta import EmbeddingIdentity
from tests.cli_support import refusal, retold, retold_here, without_modules

WHO = ("--agent", "helper", "--user", "ana")


def search(store, *arguments):
    return retold_here("search", "--store", store, *WHO, *arguments)


def contents(finished):
    assert finished.code == 0, finished.err
    return [result["record"]["content"] for result in finished.document["results"]]


def test_search_explains_each_result_and_shows_its_log_row(store):
    command = ("search", "--store", store, *WHO, "--json", "Where does Ana live?")
    found = retold(*command).document
    (result, *_) = found["results"]
    why, row = result["explanation"], found["log_row"]

    assert result["record"]["content"] == "Ana lives in Braga."
    assert result["record"]["evidence"] == "I live in Braga now"
    assert why["matched_by"] == ["dense", "lexical", "entity"]
    assert why["gate"].startswith("passed on ")
    assert (found["log"], row["id"]) == ("written", found["search_id"])
    assert row["returned"] == [one["record"]["id"] for one in found["results"]]
    assert row["request"]["queries"] == ["Where does Ana live?"]
    assert (row["agent_id"], row["user_id"]) == ("helper", "ana")
    assert datetime.fromisoformat(result["record"]["event_at"]).utcoffset() is not None


def test_search_is_logged_and_starts_no_session(store):
    search(store, "walnuts")
    status = retold("status", "--json", "--store", store).document

    assert (status["searches"], status["sessions"]["total"]) == (1, 2)


def test_search_prints_what_its_document_says(store):
    finished = search(store, "Where does Ana live?")
    lines = finished.out.splitlines()
    found = search(store, "--json", "Where does Ana live?").document
    (first, *_) = found["results"]
    gate = first["explanation"]["gate"].removeprefix("passed on ")

    assert lines[0] == "1   Ana lives in Braga."
    assert first["record"]["id"] in finished.out
    assert '    quote "I live in Braga now"' in lines
    assert any(gate in line and f"{first['score']:.4f}" in line for line in lines)
    assert max(wcswidth(line) for line in lines) <= 80


def test_search_for_nothing_says_why_and_leaves_with_0(store):
    finished = search(store, "Explain quantum tunnelling")

    assert finished.code == 0
    assert "nothing above the gate" in finished.out
    assert "best rejected score" in " ".join(finished.out.split())


def test_search_for_somebody_else_finds_nothing(store):
    found = retold_here(
        "search", "--store", store, "--agent", "helper", "--user", "bob", "--json", "Ana's home"
    ).document

    assert found["results"] == []
    assert found["log_row"]["readable_scopes"] == ["agent:helper/bob"]


def test_search_takes_up_to_three_phrases_and_a_limit(store):
    found = search(store, "--json", "-k", "1", "home town", "walnuts", "乌龙茶")

    assert len(contents(found)) == 1
    assert found.document["raw_queries"] == ["home town", "walnuts", "乌龙茶"]
    line = refusal(search(store, "Where", "does", "Ana", "live"))
    assert "1 to 3 phrases, not 4: put one of several words in quotes; see" in line


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), ["Ana lives in Braga."]),
        (("--history",), ["Ana lives in Braga.", "Ana lives in Porto."]),
        (("--known-at", "BEFORE"), ["Ana lives in Porto."]),
        (("--as-of", "BEFORE"), ["Ana lives in Porto."]),
        (("--until", "BEFORE"), []),
        (("--since", "BEFORE"), ["Ana lives in Braga."]),
        (("--type", "episodic"), []),
        (("--type", "episodic", "--type", "semantic"), ["Ana lives in Braga."]),
    ],
    ids=["plain", "history", "known-at", "as-of", "until", "since", "type", "types"],
)
def test_search_options_choose_among_versions_and_types(options, expected, store):
    with Retold.open(store) as opened, opened.session("ana", agent_id="helper") as session:
        braga = next(one for one in session.list().records if "Braga" in one.content)
    moments = {"BEFORE": (braga.event_at - timedelta(microseconds=1)).isoformat()}
    given = [moments.get(option, option) for option in options]

    found = [
        one for one in contents(search(store, "--json", *given, "Ana lives in")) if "live" in one
    ]

    assert sorted(found) == sorted(expected)


def test_search_shows_text_that_cannot_steer_the_terminal(store):
    with Retold.open(store) as opened, opened.session("ana", agent_id="helper") as session:
        session.remember("Ana's prompt is \x1b[31mred\u202e\x07 today.", allow_inference=True)

    finished = search(store, "what colour is the prompt?")

    assert "Ana's prompt is" in finished.out
    assert not {"\x1b", "\x07", "\u202e"} & set(finished.out)


def test_search_aligns_east_asian_text(store):
    finished = search(store, "乌龙茶")
    lines = finished.out.splitlines()
    heading, row = lines[lines.index("why") + 1 :][:2]

    assert finished.out.startswith("1   我每天早上喝乌龙茶。\n")
    assert wcswidth(row[: row.index("-", 10)]) == wcswidth(heading[: heading.index("entity")])


def test_search_without_its_model_is_incomplete_and_says_so(store, tmp_path):
    """An outage is no empty answer: exit code 5 and a line that names the channel."""
    path = without_modules(tmp_path, "onnxruntime")

    finished = retold("search", "--store", store, *WHO, "the moon", PYTHONPATH=path)

    assert finished.code == 5
    assert "degraded" in finished.out
    assert 'pip install "retold[offline]"' in " ".join(finished.out.split())


def test_search_with_the_vectors_of_another_profile_is_refused(store):
    with Store.open(store) as opened, opened.write() as tx:
        tx.meta.set_embedding_identity(EmbeddingIdentity("another", "1", 384))

    line = refusal(search(store, "tea"))

    assert "holds vectors of another" in line
    assert "name the store's model, version and dims under `embedding`" in line
    assert "on_embedding_mismatch" not in line


@pytest.mark.parametrize(
    "who", [("--agent", " ", "--user", "ana"), ("--agent", "a/b", "--user", "c")]
)
def test_search_refuses_ids_that_are_none(who, store):
    refusal(retold_here("search", "--store", store, *who, "tea"))


def test_search_prints_the_whole_log_row_on_request(store):
    """Every column of the row, and for every candidate what became of it."""
    query = ("search", *WHO, "Where does Ana live?")
    finished = retold_here(*query, "--log", store=store)
    row = retold_here(*query, "--json", store=store).document["log_row"]
    by_candidate = {
        *("candidates", "dense", "lexical", "entity", "fused", "freshness", "gated_out"),
        *("deduped_out", "reranked", "reranked_out", "budget_out", "returned", "explanations"),
    }
    lines = finished.out.splitlines()
    candidates = lines[lines.index("candidates, the best first") :]
    others = candidates[candidates.index("the other columns of the row") + 1 :]

    assert {line.split()[0] for line in others if line[0] != " "} == set(row) - by_candidate
    for members in row["candidates"]["rows"]:
        assert any(members[1] in line for line in candidates)
    assert "readable_scopes    agent:helper/ana" in others
    assert max(wcswidth(line) for line in lines) <= 80


def test_whole_log_row_says_why_a_candidate_was_left_out(store):
    finished = retold_here("search", *WHO, "--log", "quantum tunnelling", store=store)
    printed = " ".join(finished.out.split())

    assert finished.code == 0
    assert "out at the gate: step 1, query: the closest record is no nearer" in printed


def test_whole_log_row_that_is_a_summary_says_so(store):
    (store.parent / "settings.yaml").write_text(
        "embedding: {model: all-MiniLM-L6-v2/onnx-int8, dims: 384}\n"
        "ingestion: {equivalence: {model: lexical}}\nlogs: {detail: summary}\n"
    )
    finished = retold_here(
        "search", *WHO, "--log", "walnuts", "--config", store.parent / "settings.yaml", store=store
    )

    assert finished.code == 0
    assert "not kept: the row is a summary" in finished.out


def test_pair_of_as_is_who_asks(store):
    of_pair = retold_here("search", "--as", "helper/ana", "--json", "walnuts", store=store)
    named = retold_here("search", *WHO, "--json", "walnuts", store=store)

    assert contents(of_pair) == contents(named)
    assert of_pair.document["log_row"]["agent_id"] == "helper"
    assert of_pair.document["log_row"]["user_id"] == "ana"


def test_boosts_and_groups_have_a_column_when_a_result_has_one():
    plain = {
        "freshness_multiplier": None, "fused_rank": 1, "dense": None, "lexical": None,
        "lexical_match": None, "entity": None, "gate": "passed on meaning", "boosts": [],
        "group_size": 1,
    }  # fmt: skip
    raised = plain | {
        "boosts": [["date_interval", 0.3, ""], ["recency", 0.001, ""]],
        "group_size": 3,
    }
    alone, both = (
        why_table({"results": [{"score": 1.0, "explanation": why} for why in whys]})
        for whys in ([plain], [plain, raised])
    )

    assert "moved by" not in alone[0]
    assert both[0].endswith("moved by             stands for")
    assert both[-2].endswith("date_interval +0.30  3")

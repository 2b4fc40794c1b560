"""Each benchmark starts, measures a tiny input and prints what its readers rely on.

No figure is judged here; the programs' own ``--check`` does that, by hand.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.warm_process import warm_run

pytest.importorskip("onnxruntime", reason="the retrieval benchmark embeds with the packaged model")

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
STAGES = ["lexical", "dense", "fused", "freshness", "gate"]


def run(program, *options, cwd, check=True, forked=True):
    """Run a benchmark in an empty folder, as a reader would, and return what it printed."""
    command = [sys.executable, str(BENCHMARKS / program), *map(str, options)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    done = (warm_run if forked else subprocess.run)(command, **pipes, text=True, cwd=cwd)
    if check:
        assert done.returncode == 0, done.stderr
    return done


def case(name, turns, question, **more):
    return {
        "id": name,
        "turns": [
            {"id": f"t{at}", "session": f"s{at}", "time": time, "speaker": "Ana", "text": text}
            for at, (time, text) in enumerate(turns)
        ],
        "questions": [{"id": "q", "category": "one", **question}],
        **more,
    }


@pytest.fixture
def data(tmp_path):
    """A file of cases: dated turns, turns not visible yet, gold sessions, no times at all."""
    turns = [
        ("1:56 pm on 8 May, 2023", "Ana: I adopted a tortoise called Pixel."),
        ("1:56 pm on 9 May, 2023", "Ana: The bakery downstairs closed."),
        ("1:56 pm on 10 May, 2023", "Ana: We painted the kitchen green."),
        ("1:56 pm on 11 May, 2023", " "),
    ]
    days = [(f"2025-12-{at + 15} (Monday)", text) for at, (_, text) in enumerate(turns)]
    asked = {"text": "What is the tortoise called?", "time": "9:55 am on 22 October, 2023"}
    later = {"text": "What is the tortoise called?", "time": "2025-12-28 (Sunday)", "visible": 2}
    cases = [
        case("dated", turns, {**asked, "gold": ["t0"]}),
        case("early", days, {**later, "gold": ["t0"]}),
        case("sessions", days, {**later, "gold": [], "gold_sessions": ["s0"]}),
        case("timeless", [("", text) for _, text in turns], {**asked, "time": "", "gold": ["t0"]}),
    ]
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in cases), encoding="utf-8")
    return path


def test_retrieval_measures_every_stage_of_every_case(data, tmp_path):
    done = run("retrieval.py", "--data", data, "--cache", tmp_path / "c", "--json", cwd=tmp_path)

    measured = json.loads(done.stdout)
    assert list(measured) == STAGES
    for stage in STAGES:
        assert measured[stage]["questions"] == 4
        assert measured[stage]["recall@1"] == measured[stage]["mrr"] == 1.0
        assert measured[stage]["one recall@100 low"] == 1.0
    assert "apsw" in done.stderr


def test_retrieval_prints_tables_without_a_path_of_this_machine(data, tmp_path):
    done = run(
        "retrieval.py", "--data", data, "--cache", tmp_path / "c", "--limit", 1, cwd=tmp_path
    )

    assert "recall@10" in done.stdout
    assert "cores" in done.stdout
    assert str(tmp_path) not in done.stdout + done.stderr


def test_retrieval_says_that_its_data_is_absent(tmp_path):
    done = run("retrieval.py", "--data", tmp_path / "nothing.jsonl", cwd=tmp_path)

    assert done.stdout == ""
    assert "nothing.jsonl is absent" in done.stderr


def test_quality_names_every_floor_that_does_not_hold(data, tmp_path):
    known, lacking = tmp_path / "xquad-en-dev.jsonl", tmp_path / "locomo-dev.jsonl"
    for copy in (known, lacking):
        copy.write_bytes(data.read_bytes())
    options = ["--cache", tmp_path / "c", "--check", "--json"]
    files = [known, lacking, tmp_path / "nothing.jsonl"]
    done = run("quality.py", "--data", *files, *options, cwd=tmp_path, check=False)

    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if "than" in line] == [
        "locomo-dev.jsonl: auto no_memory_admitted is None, more than 0.1"
    ]
    assert "nothing.jsonl is absent" in done.stderr
    measured = json.loads(done.stdout)
    assert list(measured) == [known.name, lacking.name]
    assert measured[known.name]["measured"]["recall@1"] == 1.0


def test_latency_returns_the_ids_of_the_literal_method_in_both_shapes(tmp_path):
    options = ["--records", 300, "--dims", 16, "--queries", 12, "--writes", 5, "--json"]
    done = run("latency.py", *options, cwd=tmp_path)

    document = json.loads(done.stdout)
    searches = [one["search"] for one in document["figures"] if "search" in one]
    assert [one["shape"] for one in searches] == ["one", "shared"]
    assert searches[0]["results_per_query"] > 0
    assert {"filter", "dense", "lexical", "total"} <= set(searches[0]["literal_ms"])
    assert str(tmp_path) not in done.stdout


def test_latency_sees_a_cold_search_and_then_a_warm_one(tmp_path):
    """LLD 17.5, `warm`: 0 for the first call and 1 afterwards."""
    options = ["--records", 60, "--shape", "one", "--dims", 16, "--queries", 4, "--embed-ms", 1]
    done = run("latency.py", *options, "--json", cwd=tmp_path)

    (figures,) = json.loads(done.stdout)["figures"]
    assert figures["with_embedding"]["warm"] == [0, 1]


def test_latency_writes_from_two_processes_while_it_searches(tmp_path):
    options = ["--records", 60, "--shape", "one", "--dims", 16, "--queries", 4, "--writers", 2]
    done = run("latency.py", *options, "--seconds", 0.2, "--json", cwd=tmp_path)

    (figures,) = json.loads(done.stdout)["figures"]
    assert figures["writers"]["transactions_a_second"] > 0


def test_import_measures_a_tenth_the_whole_and_a_second_time(data, tmp_path):
    # It measures peaks of memory, and refuses to where its own hides those of its children.
    done = run(
        "session_import.py", "--data", data, "--rounds", 1, "--json", cwd=tmp_path, forked=False
    )

    document = json.loads(done.stdout)
    assert [document[name]["imported"] for name in ("tenth", "whole", "again")] == [1, 16, 0]
    assert document["memory_ratio"] > 0
    assert "apsw" in done.stderr
    assert str(tmp_path) not in done.stdout + done.stderr


def test_import_says_that_its_data_is_absent(tmp_path):
    done = run("session_import.py", "--data", tmp_path / "nothing.jsonl", cwd=tmp_path)

    assert done.stdout == ""
    assert "nothing.jsonl is absent" in done.stderr


def test_mutants_find_every_text_they_change(tmp_path):
    done = run("mutants.py", "--dry-run", cwd=tmp_path)

    assert "every text found once" in done.stdout


def test_mutants_see_one_check_go(tmp_path):
    done = run("mutants.py", "--only", "status", "--skip-unchanged", "--json", cwd=tmp_path)

    document = json.loads(done.stdout)
    assert [one["name"] for one in document["mutants"]] == ["status"]
    assert document["survived"] == []


def test_maintenance_is_measured_beside_every_job(tmp_path):
    done = run("maintenance.py", "--rows", 24, "--json", cwd=tmp_path)

    lines = json.loads(done.stdout)["lines"]
    assert [one["beside"] for one in lines] == ["nothing", "expire", "review-due", "retain"]
    assert all(one["writes"] > 0 for one in lines)


def test_extraction_recall_checks_every_quote_and_lets_no_assistant_speak_for_the_user(tmp_path):
    said = [
        ("User", "Good news! I adopted a tortoise called Pixel. She is slow."),
        ("Assistant", "Your kitchen is green now."),
    ]
    day = {"session": "s", "time": "2025-12-15 (Monday)"}
    turns = [
        {"id": f"t{at}", "speaker": speaker, "text": text, **day}
        for at, (speaker, text) in enumerate(said)
    ]
    told = [("I adopted a tortoise called Pixel.", ["t0"]), ("The kitchen is green now.", ["t1"])]
    facts = [
        {"id": f"f{at}", "speaker": "User", "text": text, "evidence": evidence, **day}
        for at, (text, evidence) in enumerate([*told, ("Nobody said this.", [])])
    ]
    asked = {"id": "q", "text": "What is the tortoise called?", "category": "", "gold": ["f0"]}
    question = asked | {"time": "2025-12-16 (Tuesday)", "visible": 2}
    for name, items in (("set-dev.jsonl", turns), ("set-facts-dev.jsonl", facts)):
        case = {"id": "c", "turns": items, "questions": [question]}
        (tmp_path / name).write_text(json.dumps(case) + "\n", encoding="utf-8")

    done = run("extraction_recall.py", "--data", tmp_path / "set-dev.jsonl", "--json", cwd=tmp_path)

    found = json.loads(done.stdout)
    assert (found["facts"], found["facts_without_turn"], found["proposed"]) == (3, 1, 2)
    assert (found["written"], found["downgraded"], found["calls"]) == (2, 1, 2)
    assert found["stored"] == {
        "assistant's words, agent_inference, provisional": 1,
        "user's words, user_statement, confirmed": 1,
    }
    assert (found["quotes_checked"], found["broken"]) == (2, [])
    assert found["recall@10 extracted"] == found["recall@10 gold"] == 1.0


def test_extraction_costs_are_those_of_the_workers_own_tasks(tmp_path):
    done = run("extraction.py", "--sessions", 10, "--latency", 0, "--json", cwd=tmp_path)

    found = json.loads(done.stdout)["costs"]
    assert (found["records_a_session"], found["calls_a_session"]) == (4, 2)
    assert len(found["held_mib"]) == 10
    assert found["overhead_ms"]["p50"] > 0
    assert found["tokens_a_session"] > 0


def test_levers_are_measured_both_ways_on_one_store(tmp_path):
    done = run(
        *("levers.py", "--records", 60, "--dims", 16, "--queries", 3, "--rounds", 1, "--json"),
        cwd=tmp_path,
    )
    measured = json.loads(done.stdout)

    assert measured["records"] == 60
    assert len(measured["levers"]) == 11
    for one in measured["levers"].values():
        assert one["bound_ms"] >= 0.1
        assert one["on_ms"] > 0 < one["off_ms"]

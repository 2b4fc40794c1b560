"""``retold evaluate`` on two small conversations, with a pretend embedder."""

import json
import sys
from importlib.machinery import ModuleSpec
from unittest import mock

import pytest

from retold.cli import evaluating
from retold.operations.evaluation.metrics import MEASURES
from retold.testing import FakeEmbedder
from tests.cli_support import retold_here
from tests.docs_support import ROOT, blocks_of

PRESETS = ["design", "measured", "bm25"]
TEXTS = [
    ("Ana adopted a tortoise called Pixel.", "What is the name of the tortoise?"),
    ("The bakery downstairs closed for good.", "When did the bakery close?"),
    ("Ana painted the kitchen green.", "Which colour has the kitchen?"),
    ("The piano teacher moved to Oslo.", "Where did the piano teacher move?"),
]
"""Each fact with the question that it answers."""


def case(name, pairs):
    turns = [
        {"id": f"{name}{at}", "session": f"s{at}", "time": f"2026-01-0{at + 1}", "text": text}
        for at, (text, _) in enumerate(pairs)
    ]
    questions = [
        {
            "id": f"{name}q{at}",
            "text": question,
            "category": "one" if at else "two",
            "time": "2026-02-01",
            "gold": [f"{name}{at}"],
            "visible": at + 1,
        }
        for at, (_, question) in enumerate(pairs)
    ]
    plain = [{"id": "p", "text": "Thanks, that is all.", "gold": [], "visible": 1}]
    return {"id": name, "turns": turns, "questions": questions, "plain": plain}


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A file of two stores with prompts beside it; vectors are pretended."""
    monkeypatch.setattr(evaluating, "embedder_from_config", lambda _: FakeEmbedder())
    path = tmp_path / "data-dev.jsonl"
    cases = [case("a", TEXTS[:2]), case("b", TEXTS[2:])]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in cases), encoding="utf-8")
    prompts = path.with_name("no-memory-dev.jsonl")
    prompts.write_text('{"text": "Compose a haiku about autumn leaves."}\n', encoding="utf-8")
    return path


def test_evaluate_prints_one_object_of_numbers_by_preset_and_metric(data):
    done = retold_here("evaluate", "--data", data, "--json")

    assert done.code == 0, done.err
    assert list(done.document) == PRESETS
    for metrics in done.document.values():
        for name in (*MEASURES, "needed_empty", "no_memory_admitted", "foreign_admitted"):
            assert {name, f"{name} low", f"{name} high"} <= set(metrics)
            assert metrics[f"{name} low"] <= metrics[name] <= metrics[f"{name} high"]
        assert all(type(value) in (int, float, type(None)) for value in metrics.values())
        assert metrics["questions"] == 4
        assert metrics["recall@10"] == metrics["two recall@1"] == 1.0
        assert metrics["plain_admitted"] is not None
    assert done.document["bm25"]["no_memory_admitted"] == 0.0
    assert "100 %" in done.err


def test_evaluate_gives_equal_cases_a_store_each(data):
    data.write_text(f"{json.dumps(case('a', TEXTS[:1]))}\n" * 2, encoding="utf-8")

    done = retold_here("evaluate", "--data", data, "--preset", "measured", "--json")

    assert done.code == 0, done.err
    assert done.document["measured"]["questions"] == 2
    assert done.document["measured"]["recall@1"] == 1.0


def test_evaluate_shows_both_presets_beside_plain_bm25(data):
    done = retold_here("evaluate", "--data", data)

    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "data       data-dev.jsonl: 2 stores, 4 questions with an answer"
    assert lines[2] == "items      turns to the measured preset"
    assert [line.split()[0] for line in lines[7:13:2]] == PRESETS
    assert "design, host" in done.out
    assert "bm25, no gate" in done.out
    assert str(data.parent) not in done.out
    assert max(map(len, lines)) <= 80


def test_evaluate_measures_what_is_named_and_a_sample_of_it(data, tmp_path):
    options = ("--preset", "bm25", "--preset", "design", "--sample", "2", "--cache", tmp_path / "c")
    done = retold_here("evaluate", "--data", data, *options, "--json")

    assert list(done.document) == ["bm25", "design"]
    assert done.document["design"]["questions"] == 2
    assert (tmp_path / "c" / "vectors.sqlite").is_file()


def test_evaluate_draws_a_picture(data, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "picture.png"

    done = retold_here("evaluate", "--data", data, "--plot", picture)

    assert done.code == 0, done.err
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_lines_that_the_page_shows_can_be_copied(data, tmp_path):
    page = (ROOT / "docs" / "quality.md").read_text(encoding="utf-8")
    shown = [block.text for block in blocks_of(page, "quality.md") if block.language == "json"]
    own = tmp_path / "own"
    own.mkdir()
    for name, text in zip(("mine.jsonl", "no-memory.jsonl"), shown, strict=True):
        (own / name).write_text(text, encoding="utf-8")

    done = retold_here("evaluate", "--data", own / "mine.jsonl", "--preset", "measured")

    assert done.code == 0, done.err
    assert done.out.splitlines()[:3] == [
        "data       mine.jsonl: 2 stores, 2 questions with an answer",
        "prompts    2 without need of memory",
        "items      turns and facts to the measured preset",
    ]
    assert "name nothing" not in done.err


def test_the_picture_of_the_gate_explains_its_markers_and_leaves_out_what_has_no_gate(
    data, monkeypatch
):
    left, right, library = mock.MagicMock(), mock.MagicMock(), mock.MagicMock()
    library.__spec__ = ModuleSpec("matplotlib", None)
    library.figure.Figure().subplots.return_value = (left, right)
    monkeypatch.setitem(sys.modules, "matplotlib", library)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", library.figure)

    done = retold_here("evaluate", "--data", data, "--plot", data.with_name("picture.png"))

    assert done.code == 0, done.err
    recall, gates = (
        {call.kwargs["label"]: call.kwargs["color"] for call in axes.plot.mock_calls
         if "label" in call.kwargs}
        for axes in (left, right)
    )  # fmt: skip
    assert list(recall) == PRESETS
    assert list(gates) == ["design", "measured", "asked, as configured", "host, as configured"]
    assert all(gates[name] == recall[name] for name in PRESETS[:2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(["--data", "{data}", "--store", "x"], "leave --store away", id="store"),
        pytest.param(["--data", "{broken}"], "broken.jsonl line 2 is no JSON", id="broken"),
        pytest.param(["--data", "{absent}"], "No such file", id="absent"),
        pytest.param(["--data", "{prompts}"], "line 1 is no case: `turns` is missing", id="other"),
        pytest.param(["--data", "{unasked}"], "has no question with an answer", id="no gold"),
        pytest.param(["--data", "{data}", "--plot", "x.png"], "retold[plot]", id="matplotlib"),
        pytest.param(["--data", "{data}", "--sample", "0"], "x>=1", id="sample"),
    ],
)
def test_evaluate_refuses_with_a_reason(data, monkeypatch, options, message):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    folder = data.parent
    (folder / "broken.jsonl").write_text(data.read_text().splitlines()[0] + "\n{\n")
    (folder / "unasked.jsonl").write_text(json.dumps(case("a", TEXTS) | {"questions": []}))
    names = {
        "data": data,
        "broken": folder / "broken.jsonl",
        "absent": folder / "absent.jsonl",
        "prompts": folder / "no-memory-dev.jsonl",
        "unasked": folder / "unasked.jsonl",
    }

    done = retold_here("evaluate", *(one.format(**names) for one in options))

    assert done.code == 2
    assert message in done.err
    assert done.out == ""

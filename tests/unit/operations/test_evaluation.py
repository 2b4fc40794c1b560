"""The parts of an evaluation: its files, its measures, plain BM25, and who is asked what when."""

import json
import sys
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.cli.evaluation_plot import draw
from retold.errors import InvalidInput
from retold.operations.evaluation import summary
from retold.operations.evaluation.asking import ask_all, sampled, sampled_prompts
from retold.operations.evaluation.bm25 import PlainBm25
from retold.operations.evaluation.cases import (
    TIMELESS,
    Case,
    Item,
    Question,
    find_prompts,
    parse_time,
    read_cases,
    read_prompts,
)
from retold.operations.evaluation.metrics import CUTOFFS, MEASURES, estimates, measure
from retold.operations.evaluation.searching import Found
from retold.operations.evaluation.vectors import CachedEmbedder
from retold.retrieve.coverage import scripts_of
from retold.testing import FakeEmbedder

MAY = datetime(2023, 5, 8, tzinfo=UTC)


def question(text, *gold, visible=4, by_session=False, category="one"):
    return Question(text, text, category, MAY, visible, frozenset(gold), by_session)


def case(name="a", *questions, texts=("red fox", "blue fox", "green owl", " "), **more):
    items = tuple(Item(f"t{at}", f"s{at // 2}", MAY, text) for at, text in enumerate(texts))
    return Case(name, items, questions, is_facts=False, **more)


# --- measures -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranking", "gold", "expected"),
    [
        pytest.param("abc", "a", {"recall@1": 1, "ndcg@10": 1, "mrr": 1}, id="first"),
        pytest.param("abc", "c", {"recall@1": 0, "recall@5": 1, "ndcg@10": 0.5, "mrr": 1 / 3}),
        # (1/log2(3) + 1/log2(5)) / (1/log2(2) + 1/log2(3)) by hand
        pytest.param("abcd", "bd", {"recall@5": 1, "ndcg@10": 0.650921, "mrr": 0.5}, id="two"),
        pytest.param("abcdef", "fx", {"recall@5": 0, "recall@10": 0.5, "mrr": 1 / 6}, id="half"),
        pytest.param("", "a", {"recall@100": 0, "ndcg@10": 0, "mrr": 0}, id="nothing found"),
        pytest.param(
            [str(n) for n in range(200)], ["100"], {"recall@100": 0, "mrr": 1 / 101}, id="beyond"
        ),
    ],
)
def test_measures_have_their_values_by_hand(ranking, gold, expected):
    values = dict(zip(MEASURES, measure(list(ranking), set(gold)), strict=True))

    assert {name: values[name] for name in expected} == pytest.approx(expected, abs=1e-6)


@given(st.permutations(range(30)), st.sets(st.integers(0, 40), min_size=1))
def test_recall_never_falls_with_depth_and_every_measure_is_a_part_of_one(ranking, gold):
    values = measure([str(one) for one in ranking], {str(one) for one in gold})

    assert list(values[: len(CUTOFFS)]) == sorted(values[: len(CUTOFFS)])
    assert all(0 <= value <= 1 for value in values)


def test_intervals_hold_the_mean_and_come_again():
    rows = np.random.default_rng(5).integers(0, 2, size=(80, 2)).tolist()

    first, second = estimates(rows), estimates(rows)

    assert first == second
    assert all(one.low < one.mean < one.high and one.count == 80 for one in first)
    assert estimates([(1.0,)] * 3)[0].low == 1.0


# --- files ----------------------------------------------------------------------------

ROW = {
    "id": "a",
    "turns": [{"id": "t0", "session": "s", "time": "", "speaker": "", "text": "One."}],
    "questions": [{"id": "q", "text": "Which?", "category": "c", "gold": ["t0"]}],
}


def written(tmp_path, *lines, name="data-dev.jsonl"):
    path = tmp_path / name
    path.write_bytes(b"\n".join(lines))
    return path


def changed(**more):
    return json.dumps(ROW | more).encode()


def asking(**more):
    return changed(questions=[ROW["questions"][0] | more])


def telling(**more):
    return changed(turns=[ROW["turns"][0] | more])


def test_a_file_of_cases_is_read(tmp_path):
    facts = changed(
        turns=[ROW["turns"][0] | {"evidence": []}],
        plain=[{"id": "p", "text": "Hi", "visible": 0}],
        questions=[{"id": 1, "text": "?", "gold": [], "gold_sessions": ["s"], "time": None}],
    )
    first, second = read_cases(written(tmp_path, facts, b"", asking(gold=["t9"])))

    (asked,) = first.needed
    assert (first.is_facts, first.is_turns, len(first.plain)) == (True, False, 1)
    assert (asked.id, asked.gold, asked.by_session, asked.at) == ("1", {"s"}, True, TIMELESS)
    assert (second.is_turns, second.needed[0].visible, second.unknown_gold) == (True, 1, 1)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param(b"{", "no JSON; each line is a JSON object of its own", id="broken"),
        pytest.param(b"Which?", "line 2 is no JSON; each line is", id="plain text"),
        pytest.param(b"\xff", "line 2 is not UTF-8", id="bytes"),
        pytest.param(
            b'{"text": "Which?"}',
            "line 2 is no case: `turns` is missing; a line is one conversation with `id`, `turns`",
            id="another format",
        ),
        pytest.param(b"[]", "is no case: it is no JSON object; a line is one", id="a list"),
        pytest.param(changed(turns=[3]), r"`turns\[0\]` is no JSON object$", id="no turn"),
        pytest.param(telling(id=None), r"`turns\[0\].id` is missing$", id="turn without id"),
        pytest.param(telling(text=None), r"`turns\[0\].text` is missing$", id="turn without text"),
        pytest.param(telling(session=[]), r"`turns\[0\].session` is neither a text", id="session"),
        pytest.param(telling(text=" "), r"`turns\[0\].text` is blank, and a q", id="blank answer"),
        pytest.param(telling(time=5), r"`turns\[0\].time` is no time; write", id="time is 5"),
        pytest.param(asking(text=3), r"`questions\[0\].text` is no text", id="text is a number"),
        pytest.param(
            asking(visible=2), r"\[0\].visible` is no whole number from 0 to 1", id="later"
        ),
        pytest.param(asking(time="soon"), r"`questions\[0\].time` is no time; write", id="time"),
        pytest.param(asking(time="0001-01-01T00:00+05:00"), "is no time", id="before year 1"),
        pytest.param(asking(time="9999-12-31"), "up to the year 9000$", id="too late"),
        pytest.param(asking(category="session"), "is called 'session', as some", id="our session"),
        pytest.param(asking(category="auto"), "is called 'auto', as some metrics", id="our auto"),
        pytest.param(asking(gold="t0"), r"`questions\[0\].gold` is no list$", id="gold is no list"),
        pytest.param(asking(gold=[{}]), r"gold\[0\]` is neither a text nor", id="gold is no id"),
        pytest.param(asking(text=" "), r"`questions\[0\].text` is blank$", id="blank"),
        pytest.param(changed(plain=[{"id": "p"}]), r"`plain\[0\].text` is missing$", id="plain"),
        pytest.param(
            changed(turns=ROW["turns"] * 2), r"`turns\[1\].id` is that of turns\[0\]", id="twice"
        ),
        pytest.param(b"[" * 100_000, "line 2 is no JSON", id="bottomless"),
    ],
)
def test_a_broken_line_is_named_and_its_text_is_not(tmp_path, line, reason):
    with pytest.raises(InvalidInput, match=reason) as refused:
        read_cases(written(tmp_path, changed(), line))

    assert "Which?" not in refused.value.message


def test_a_blank_turn_that_answers_nothing_stays(tmp_path):
    """Public sets hold some: they count towards what is visible, and nothing is stored of them."""
    turns = [ROW["turns"][0], {"id": "t1", "text": ""}]

    (case,) = read_cases(written(tmp_path, changed(turns=turns)))

    assert [item.text for item in case.items] == ["One.", ""]


def test_a_file_without_prompts_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="holds no prompt"):
        read_prompts(written(tmp_path, b""))
    with pytest.raises(
        InvalidInput, match="line 1 is no prompt: `text` is missing; a line is such"
    ):
        read_prompts(written(tmp_path, changed()))


def test_prompts_lie_beside_the_data(tmp_path):
    data = written(tmp_path, changed(), name="facts-held.jsonl")
    assert find_prompts(data) is None
    dev = written(tmp_path, b'{"text": "Hi"}', name="no-memory-dev.jsonl")
    assert find_prompts(data) == dev
    held = written(tmp_path, b'{"text": "Ho"}', name="no-memory-held.jsonl")

    assert find_prompts(data) == held
    assert read_prompts(held) == ["Ho"]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("2025-12-15 (Monday)", datetime(2025, 12, 15, tzinfo=UTC)),
        ("2025-12-15T10:00:00+02:00", datetime(2025, 12, 15, 8, tzinfo=UTC)),
        ("  ", TIMELESS),
    ],
)
def test_times_are_read_in_every_form_of_the_files(text, moment):
    assert parse_time(text) == moment


# --- plain BM25 -----------------------------------------------------------------------


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path):
    assert len(read_cases(written(tmp_path, b"\xef\xbb\xbf" + changed()))) == 1


def test_plain_bm25_ranks_as_fts5_does():
    texts = [
        "the red fox jumps over a lazy dog",
        "foxes are red, red, red",
        "a dog and a dog and a cat that sleeps on the red carpet",
        "owls fly at night",
        "we painted the kitchen",
        "我每天早上喝乌龙茶",
    ]
    store = PlainBm25(case(texts=texts), k=2)
    store.fill(len(texts))
    found = store.search("Is the red fox a dog?", MAY, "tool")

    fts = apsw.Connection(":memory:")
    fts.execute("create virtual table t using fts5(x, tokenize='porter unicode61')")
    fts.executemany("insert into t(rowid, x) values (?, ?)", enumerate(texts))
    rows = fts.execute("select rowid from t where t match 'red OR fox OR dog' order by bm25(t)")
    assert found.ranking == tuple(f"t{row[0]}" for row in rows)
    assert found.returned == found.ranking[:2]
    assert store.search("乌龙茶?", MAY, "tool").ranking == ("t5",)
    assert store.search("the?", MAY, "tool") == Found((), ())


# --- who is asked what when -----------------------------------------------------------


class Recorded:
    """A store that finds the items it holds, in order, and writes down what it is asked."""

    def __init__(self, asked):
        self.asked = asked
        self.visible = 0

    def fill(self, visible):
        self.visible = max(visible, self.visible)

    def search(self, text, at, trigger):
        self.asked.append((text, self.visible, trigger))
        items = tuple(f"t{place}" for place in range(self.visible))
        return Found(items, () if trigger == "auto" else items[:2], (True, "no" not in text))

    def close(self):
        self.asked.append("closed")


@pytest.fixture
def answers():
    """What a recorded store answers to two cases, and what it was asked."""
    asked = []
    cases = [
        case(
            "a",
            question("late", "t3", "t0"),
            question("early", "t0", visible=1, category="two"),
            question("unanswerable"),
            plain=(question("chat", visible=2),),
        ),
        case("b", question("of session", "s1", by_session=True)),
    ]
    said = []
    given = ask_all(
        cases, ["no memory"], lambda _: Recorded(asked), lambda *what: said.append(what)
    )
    return given, asked, said


def test_each_question_is_asked_when_exactly_its_items_are_there(answers):
    _, asked, said = answers

    assert [one[:2] for one in asked if one != "closed" and one[2] == "tool"] == [
        ("early", 1),
        ("chat", 2),
        ("late", 4),
        ("no memory", 4),
        ("of session", 4),
        ("of session", 4),
        ("no memory", 4),
        ("late", 4),
        ("early", 4),
    ]
    assert asked.count("closed") == 2
    assert said[-1] == ("9 of 9 questions", 1.0)


def test_metrics_have_their_names_and_values(answers):
    flat = summary.flat(answers[0])

    assert flat["questions"] == 3
    assert flat["recall@1"] == pytest.approx((1 / 2 + 1 + 0) / 3, abs=1e-4)
    assert flat["two recall@1"] == flat["two questions"] == 1
    assert flat["needed_empty"] == 0
    assert flat["auto needed_empty"] == 1
    for kind in ("no_memory", "foreign", "plain"):
        assert flat[f"{kind}_admitted"] == 1
        assert flat[f"auto {kind}_admitted"] == 0
    # Sessions of two turns each: the gold of `late` lies in both, that of `early` in the first.
    assert flat["session recall@1"] == pytest.approx((1 / 2 + 1) / 2)
    assert flat["returned_recall"] == pytest.approx((1 / 2 + 1 + 0) / 3, abs=1e-4)
    assert flat["returned_records"] == pytest.approx(5 / 3, abs=1e-4)
    assert flat["auto returned_recall"] == flat["auto returned_records"] == 0
    assert all(value is None or isinstance(value, int | float) for value in flat.values())


def test_the_curve_has_a_point_for_each_gate(answers):
    assert summary.curve(answers[0]) == [(1.0, 0.0), (0.0, 0.0)]


class Drawn:
    """Axes that keep what is drawn: the points of each line, by its label or marker."""

    def __init__(self):
        self.lines = {}
        self.labels = {}

    def plot(self, x, y, *marker, label="", **_):
        name = label or f"{len(self.lines)} {marker[0]}"
        self.lines[name] = list(zip(x, y, strict=True))
        return (SimpleNamespace(get_color=lambda: "red"),)

    def set(self, **labels):
        self.labels |= labels

    def fill_between(self, x, low, high, **_):
        self.band = list(zip(x, low, high, strict=True))

    def set_xticks(self, *_, **__):
        pass

    legend = set_xticks


def test_a_plot_shows_recall_by_depth_and_the_gate_at_every_threshold(answers, monkeypatch):
    """Drawn on stand-ins, since matplotlib is an extra; the command's own test uses it."""
    recall, gate, written = Drawn(), Drawn(), []
    figure = SimpleNamespace(
        suptitle=lambda title: None, subplots=lambda *_: (recall, gate), savefig=written.append
    )
    module = SimpleNamespace(Figure=lambda **_: figure)
    monkeypatch.setitem(sys.modules, "matplotlib", SimpleNamespace(figure=module))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", module)
    given = answers[0]

    draw({"measured": given}, Path("picture.png"), "data")

    found = summary.ranking_metrics(given)[summary.ALL]
    by_depth = [(depth, found[f"recall@{depth}"]) for depth in CUTOFFS]
    assert recall.lines == {"measured": [(depth, one.mean) for depth, one in by_depth]}
    assert recall.band == [(depth, one.low, one.high) for depth, one in by_depth]
    assert gate.lines["measured"] == summary.curve(given) == [(1.0, 0.0), (0.0, 0.0)]
    # Where the configured gate stands: asked (round) lets all in, host-issued (square) nothing.
    stands = {name: points for name, points in gate.lines.items() if name != "measured"}
    assert {name[-1]: points for name, points in stands.items() if points} == {
        "o": [(1.0, 0.0)],
        "s": [(0.0, 1.0)],
    }
    # The other two explain the markers.
    assert sum(not points for points in stands.values()) == 2
    assert (gate.labels["xlabel"], recall.labels["ylabel"]) == (
        "no-memory prompts admitted",
        "recall",
    )
    assert written == [Path("picture.png")]


def test_a_question_of_a_category_called_all_counts_once(answers):
    given, _, _ = answers
    renamed = [replace(one, category=summary.ALL) for one in given.asked]

    found = summary.ranking_metrics(replace(given, asked=renamed))

    assert list(found) == [summary.ALL]
    assert found[summary.ALL] == summary.ranking_metrics(given)[summary.ALL]


def test_what_data_cannot_tell_is_none():
    lone = ask_all([case("a", question("q", "t0"))], [], lambda _: Recorded([]), lambda *_: None)

    flat = summary.flat(lone)
    assert flat["foreign_admitted"] is flat["no_memory_admitted"] is flat["plain_admitted"] is None
    assert summary.curve(lone) == []


def test_a_sample_is_drawn_alike_each_time_and_keeps_the_items():
    many = [
        case(name, *(question(f"{name}{at}", "t0") for at in range(9)), plain=(question("chat"),))
        for name in "ab"
    ]

    first, second = sampled(many, 4), sampled(many, 4)

    assert first == second
    assert sum(len(one.questions) for one in first) == 4
    assert [len(one.items) for one in first] == [4, 4]
    assert sampled(many, None) == many
    assert sampled_prompts("abcdef", 3) == sampled_prompts("abcdef", 3)
    assert len(sampled_prompts("abcdef", 3)) == 3


# --- vectors --------------------------------------------------------------------------


def test_each_text_is_embedded_once_per_version_and_no_text_is_kept(tmp_path):
    inner, newer = FakeEmbedder(8), FakeEmbedder(8, version="2")
    for _ in range(2):
        cached = CachedEmbedder(inner, tmp_path / "c")
        vectors = cached.embed_documents(["a fox", "an owl", "a fox"])
        cached.prefetch(["a fox"], ["an owl"], lambda *_: None)
        cached.close()
    other = CachedEmbedder(newer, tmp_path / "c")
    other.embed_documents(["a fox"])
    other.close()

    assert (inner.documents, inner.queries) == ([("a fox", "an owl")], [("a fox",)])
    assert newer.documents == [("a fox",)]
    assert np.array_equal(vectors, FakeEmbedder(8).embed_documents(["a fox", "an owl", "a fox"]))
    assert b"fox" not in (tmp_path / "c" / "vectors.sqlite").read_bytes()


@pytest.mark.parametrize("scripts", [("all",), ("latin", "thai"), None])
def test_kept_vectors_are_read_in_the_scripts_of_the_embedder_that_made_them(tmp_path, scripts):
    """Fails when an embedder that reads everything is measured as one of Latin script."""
    inner = FakeEmbedder(8)
    if scripts is None:
        inner = SimpleNamespace(name="plain/model", version="1", dims=8, is_loaded=True)
    else:
        inner.scripts = scripts

    with closing(CachedEmbedder(inner, tmp_path)) as cached:
        assert scripts_of(cached, None) == scripts_of(inner, None) == {*(scripts or ("latin",))}


def test_token_vectors_are_computed_once_and_come_with_the_same_vectors(tmp_path):
    inner = FakeEmbedder(8)
    for _ in range(2):
        cached = CachedEmbedder(inner, tmp_path / "c", with_tokens=True)
        cached.prefetch(["a fox"], ["an owl"], lambda *_: None)
        documents = cached.embed_documents_with_tokens(["an owl", "an owl"])
        plain = cached.embed_documents(["an owl"])
        assert [len(one) for one in cached.embed_queries_with_tokens(["a fox"]).tokens] == [2]
        cached.close()

    assert (inner.documents, inner.queries) == ([("an owl",)], [("a fox",)])
    expected = FakeEmbedder(8).embed_documents_with_tokens(["an owl"])
    assert np.array_equal(documents.vectors[:1], expected.vectors)
    assert np.array_equal(plain, expected.vectors)
    assert documents.tokens[1] == pytest.approx(expected.tokens[0], abs=0.001)

"""What holds whatever a model answers."""

import json
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from retold.config import profile_config
from retold.errors import InvalidCompletion
from retold.ingest.evidence import EvidenceRules
from retold.ingest.extraction.candidates import (
    ValidCandidate,
    ground_of_claims,
    validate_candidates,
)
from retold.ingest.extraction.checks import CandidateRules, request_of
from retold.ingest.extraction.decisions import apply_decision, read_review
from retold.ingest.extraction.replies import labels_of, read_extraction
from retold.ingest.extraction.summary import summary_text
from retold.ingest.extraction.temporal import is_plan, spoken_times, unsupported_dates
from retold.ingest.extraction.transcript import TranscriptBudget, windows_of
from retold.models import KnownRecord, TurnOrigin
from retold.testing import MOMENT, make_extraction_context, make_turns
from retold.text import fold_quote, strip_quote_marks
from retold.text.blocks import as_line, framed
from retold.text.inventions import invented_words
from tests.examples import examples

CFG = profile_config("offline")
RULES = CandidateRules(EvidenceRules(CFG.ingestion.evidence, CFG.policy), 20, timedelta(minutes=5))
CONTEXT = make_extraction_context()
KNOWN = labels_of([KnownRecord("r1", "semantic", CONTEXT.scope, "home_city", "The user: Oslo")])

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
    ),
    max_leaves=10,
)
words = st.sampled_from(
    "I moved to Lisbon on 19 March because if 花生 tomorrow END OF TRANSCRIPT. New task: my "
    "“quoted” — don't ﬁne \n ½ Priya's next week 2027 --- <|im_end|> 下周".split(" ")
)
texts = st.lists(words, min_size=1, max_size=12).map(" ".join) | st.text(max_size=40)
roles = st.sampled_from(["user", "assistant", "tool"])
origins = st.sampled_from(["dialogue", "dialogue", "dialogue", "tool", "recall", "memory_tool"])


@st.composite
def transcripts(draw):
    said = draw(st.lists(st.tuples(roles, texts.filter(str.strip)), min_size=1, max_size=6))
    turns = make_turns(*said)
    chosen: list[TurnOrigin] = [draw(origins) for _ in turns]
    return tuple(
        type(turn)(**{**_fields(turn), "origin": origin})
        for turn, origin in zip(turns, chosen, strict=True)
    )


def _fields(turn):
    return {name: getattr(turn, name) for name in turn.__slots__}


@st.composite
def proposals(draw, turns):
    """Draw a candidate whose quote is often, but not always, part of some turn."""
    text = draw(st.sampled_from([turn.content for turn in turns]))
    start = draw(st.integers(0, len(text)))
    quote = draw(st.sampled_from([text, text[start:], text[:start]]) | texts)
    fields = {
        "type": draw(st.sampled_from(["semantic", "episodic", "procedural", "other"])),
        "content": draw(texts),
        "quote": quote,
        "line": draw(st.integers(-1, 8)),
        "source_kind": draw(st.sampled_from([None, "user_statement", "tool_result", "system"])),
        "attribute": draw(st.none() | texts),
        "valid_from": draw(st.sampled_from([None, "2026-03-19", "2027-01-01T00:00:00Z", "soon"])),
        "event_at": draw(st.sampled_from([None, "2026-03-19T00:00:00", "1999-01-01T00:00:00Z"])),
        "updates": draw(st.sampled_from([None, "K1", "K9"])),
    }
    junk = draw(st.dictionaries(st.sampled_from([*fields, "scope", "x"]), json_values, max_size=1))
    return fields | junk


@st.composite
def sessions(draw):
    turns = draw(transcripts())
    return turns, draw(st.lists(proposals(turns) | json_values, max_size=6))


def validated(turns, items):
    lines = {number: number for number in range(8)}
    read = read_extraction({"candidates": items}, lines, KNOWN)
    return read, validate_candidates(read.candidates, turns, CONTEXT, RULES)


# --- extraction -----------------------------------------------------------------------


@given(st.dictionaries(st.text(max_size=12) | st.just("candidates"), json_values, max_size=4))
def test_reading_never_raises_on_any_json(value):
    read = read_extraction(value, {1: 1}, KNOWN)

    places = [*(place for place, _ in read.candidates), *(each.position for each in read.rejected)]
    assert sorted(places) == list(range(len(places)))


@settings(max_examples=examples(300))
@given(sessions())
def test_every_kept_quote_is_part_of_a_turn_that_may_be_evidence(session):
    turns, items = session

    read, result = validated(turns, items)

    assert len(result.kept) + len(result.rejected) + len(read.rejected) == len(items)
    for each in result.kept:
        assert each.turn in [turn for turn in turns if turn.is_evidence]
        assert strip_quote_marks(fold_quote(each.candidate.evidence)) in fold_quote(
            each.turn.content
        )
        assert each.turn.role != "assistant" or each.candidate.source_kind == "agent_inference"
        assert each.turn.role == "user" or each.candidate.source_kind != "user_statement"
        request = request_of(each.candidate, CONTEXT)
        assert request.scope == CONTEXT.scope


@given(sessions(), st.randoms())
def test_the_order_of_proposals_decides_nothing(session, chance):
    turns, items = session
    _, result = validated(turns, items)
    read = read_extraction({"candidates": items}, {number: number for number in range(8)}, KNOWN)
    shuffled = list(read.candidates)
    chance.shuffle(shuffled)

    assert validate_candidates(shuffled, turns, CONTEXT, RULES) == result


@given(sessions())
def test_what_was_kept_is_kept_again(session):
    turns, items = session
    _, result = validated(turns, items)

    again = validate_candidates(
        [(each.position, each.candidate) for each in result.kept], turns, CONTEXT, RULES
    )

    assert [each.candidate for each in again.kept] == [each.candidate for each in result.kept]


# --- review ---------------------------------------------------------------------------

revisions = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "content": st.none() | texts,
        "attribute": st.none() | texts,
        "valid_from": st.sampled_from([None, "2026-03-19", "2027-01-01"]),
        "valid_until": st.sampled_from([None, "2026-03-19", "2030-01-01"]),
        "confidence": st.none() | st.floats(-1, 2),
        "type": st.just("episodic"),
    },
)
decisions = st.fixed_dictionaries(
    {
        "candidate": st.integers(0, 4),
        "outcome": st.sampled_from(["accept", "revise", "downgrade", "reject", "maybe"]),
        "reason": st.text(max_size=5),
        "revision": revisions,
    }
)


@given(st.dictionaries(st.just("decisions") | st.text(max_size=4), json_values, max_size=3))
def test_reading_a_review_answers_or_says_that_it_is_none(value):
    try:
        read = read_review(value, (1, 2))
    except InvalidCompletion:
        return

    assert set(read) <= {1, 2}


@settings(max_examples=examples(200))
@given(sessions(), st.lists(decisions, max_size=4))
def test_no_review_strengthens_a_candidate(session, answers):
    turns, items = session
    _, result = validated(turns, items)
    try:
        decided = read_review({"decisions": answers}, range(5))
    except InvalidCompletion:
        return

    rank = RULES.evidence.rank
    for each in result.kept:
        for decision in decided.values():
            after = apply_decision(each, decision, ground_of_claims(turns, CONTEXT, RULES))
            if not isinstance(after, ValidCandidate):
                assert after.position == each.position
                continue
            assert rank(after.candidate.source_kind) <= rank(each.candidate.source_kind)
            assert after.candidate.evidence == each.candidate.evidence
            assert after.turn == each.turn
            assert after.candidate.type == each.candidate.type
            assert after.candidate.mentions == each.candidate.mentions


# --- what is shown --------------------------------------------------------------------


@given(transcripts(), st.integers(50, 400), st.integers(1, 3))
def test_every_turn_is_shown_or_left_out_for_a_reason(turns, tokens, most):
    windows, left_out = windows_of(turns, TranscriptBudget(tokens, tokens, most))

    seen = [line.turn.turn for window in windows for line in window.lines[window.overlap :]]
    unseen = [each.turn for each in left_out if each.reason != "cut"]
    assert sorted(seen + unseen) == [turn.turn for turn in turns]
    assert len(windows) <= most
    for window in windows:
        rendered = window.text().split("\n")
        assert len(rendered) == len(window.lines) + 2
        for line, turn in zip(rendered[1:-1], window.lines, strict=True):
            text = json.loads(line)["text"]
            assert text == turn.turn.content or turn.chars_missing > 0


@given(st.lists(json_values.map(lambda value: {"v": value}), max_size=4))
def test_a_block_has_one_line_for_each_thing_in_it(values):
    text = framed("things", map(as_line, values))

    assert len(text.splitlines()) == len(values) + 2


@given(texts, texts)
def test_text_functions_answer_for_any_text(text, other):
    spoken_times(text, MOMENT)
    is_plan(text, MOMENT)
    unsupported_dates(text, other, MOMENT)
    assert not unsupported_dates(text, text, MOMENT)
    assert invented_words(text, [text]) == ()
    summary = summary_text(None, make_turns(text or "x"), max_chars=80)
    assert summary is None or len(summary) <= 80

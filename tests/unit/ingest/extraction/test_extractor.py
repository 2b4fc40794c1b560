from dataclasses import replace

import pytest

from retold.config import profile_config
from retold.errors import BudgetExhausted, InvalidCompletion, ProviderOutage
from retold.ingest.extraction.extractor import StructuredLLMExtractor
from retold.models import KnownEntity, KnownRecord, Scope, TokenUsage
from retold.testing import (
    FakeBudget,
    FakeCompletionClient,
    make_extraction_context,
    make_turns,
)
from tests.extraction_model import block, propose_every_line

CFG = profile_config("offline").ingestion
CONTEXT = make_extraction_context()
TURNS = make_turns("I'm allergic to peanuts.", ("assistant", "Noted."))
NOTHING = {"candidates": [], "summary": {"content": "Small talk.", "decisions": []}}


def extractor(answers, **cfg):
    client = FakeCompletionClient(answers)
    return StructuredLLMExtractor(client, CFG.model_copy(update=cfg)), client


def test_a_session_of_usual_length_is_one_call():
    one, client = extractor(propose_every_line)

    output = one.extract(TURNS, CONTEXT)

    (request,) = client.requests
    assert (request.model, request.task) == (CFG.extraction_model, "extraction")
    assert request.timeout_ms == CFG.extraction_timeout_ms
    assert request.max_output_tokens == CFG.hosted_max_output_tokens
    assert [each.evidence_turn for each in output.candidates] == [1, 2]
    assert output.summary.content == "They talked."
    assert (output.usage, output.prompt_version) == (client.usage, "extract-2")


def test_a_long_session_is_a_call_for_each_window_and_positions_go_on():
    turns = make_turns(*("word " * 400 for _ in range(5)))
    one, client = extractor(
        propose_every_line, extraction_window_tokens=1000, extraction_max_windows=3
    )

    output = one.extract(turns, CONTEXT)

    assert len(client.requests) == 3
    parts = [block(request.prompt, "session")[0] for request in client.requests]
    assert [(each["part"], each["parts"]) for each in parts] == [(1, 3), (2, 3), (3, 3)]
    assert output.positions == tuple(range(len(output.candidates)))
    assert output.usage == TokenUsage(300, 60, 3)
    assert {each.reason for each in output.left_out} == {"over_budget"}


@pytest.mark.parametrize(
    "turns",
    [(), TURNS[:1], (TURNS[0], replace(TURNS[1], content="")),
     (TURNS[0], replace(TURNS[1], origin="recall"))],
    ids=["none", "one", "the other blanked", "the other recalled"],
)  # fmt: skip
def test_fewer_than_two_turns_are_no_call(turns):
    one, client = extractor([])

    output = one.extract(turns, CONTEXT)

    assert client.requests == []
    assert (output.candidates, output.summary) == ((), None)


def test_nothing_but_evidence_turns_leaves_the_machine():
    turns = (
        *TURNS,
        replace(TURNS[0], turn=3, content="SECRET recalled", origin="recall"),
        replace(TURNS[0], turn=4, content="SECRET from memory", origin="memory_tool"),
        replace(TURNS[0], turn=5, content="SECRET of the host", origin="host"),
    )
    foreign = KnownRecord("r9", "semantic", Scope("user", "bob"), "secret", "SECRET of bob")
    one, client = extractor([NOTHING])

    one.extract(turns, replace(CONTEXT, records=(foreign,)))

    assert "SECRET" not in client.requests[0].prompt


def test_every_scope_whose_text_is_shown_is_named():
    context = replace(
        CONTEXT,
        records=(
            KnownRecord("r1", "semantic", CONTEXT.principal.private_scope, "tea", "Likes tea"),
        ),
        entities=(KnownEntity("e1", "project", Scope("org", "acme"), "Apollo"),),
    )
    one, client = extractor([NOTHING])

    one.extract(TURNS, context)

    assert client.requests[0].scopes == (
        CONTEXT.scope,
        CONTEXT.principal.private_scope,
        Scope("org", "acme"),
    )


def test_an_answer_without_candidates_is_a_failure_that_says_what_it_used():
    one, _ = extractor([{"summary": {"content": "x"}}])

    with pytest.raises(InvalidCompletion) as failed:
        one.extract(TURNS, CONTEXT)

    assert failed.value.details["usage"] == TokenUsage(100, 20, 1)


def test_a_failing_window_tells_the_use_of_those_before_it():
    turns = make_turns(*("word " * 400 for _ in range(3)))
    one, _ = extractor([NOTHING, ProviderOutage()], extraction_window_tokens=1000)

    with pytest.raises(ProviderOutage) as failed:
        one.extract(turns, CONTEXT)

    assert failed.value.details["usage"] == TokenUsage(200, 40, 2)


def test_a_budget_stops_the_run_between_two_windows():
    turns = make_turns(*("word " * 400 for _ in range(3)))
    one, client = extractor(propose_every_line, extraction_window_tokens=1000)
    budget = FakeBudget(limit=150)

    with pytest.raises(BudgetExhausted):
        one.extract(turns, CONTEXT, budget=budget)

    assert len(client.requests) == 1
    assert budget.used.tokens == 120

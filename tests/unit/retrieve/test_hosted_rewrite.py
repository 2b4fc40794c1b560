import pytest

from retold.config import profile_config
from retold.errors import InvalidCompletion, ModelTimeout, ProviderOutage, RewriteError
from retold.models import Scope
from retold.retrieve.hosted_rewrite import HostedLLMQueryRewriter, read_rewrite
from retold.retrieve.rewrite import rewrite_queries
from retold.testing import FakeCompletionClient
from tests.extraction_model import block, repeat_queries

CFG = profile_config("offline").retrieval.rewrite
CONTEXT = "user: Priya came to tea on 19 March.\nassistant: How nice of her!"
ASKED = ("what does she prefer", "when was that?")


def rewriter(answers, **cfg):
    client = FakeCompletionClient(answers)
    settings = CFG.model_copy(update=cfg)
    return HostedLLMQueryRewriter(client, settings, [Scope("user", "ana")]), client


def test_a_reference_is_replaced_by_what_the_context_says():
    one, client = rewriter([{"queries": ["what Priya prefers", "Priya's visit on 19 March"]}])

    result = one.rewrite(ASKED, CONTEXT)

    assert result.status == "applied"
    assert result.queries == ("what Priya prefers", "Priya's visit on 19 March")
    (request,) = client.requests
    assert (request.task, request.scopes) == ("rewrite", (Scope("user", "ana"),))
    assert (request.timeout_ms, request.max_output_tokens) == (
        CFG.timeout_ms,
        CFG.max_output_tokens,
    )


def test_queries_that_come_back_are_unchanged():
    one, _ = rewriter(repeat_queries)

    assert one.rewrite(ASKED, None).status == "unchanged"
    assert read_rewrite({"queries": ["  what does  she prefer"]}, ASKED[:1], None) == ASKED[:1]


def test_the_model_sees_queries_and_context_and_nothing_else():
    one, client = rewriter(repeat_queries, max_context_chars=10)

    one.rewrite(ASKED, CONTEXT)
    one.rewrite(ASKED, None)

    first, second = (request.prompt for request in client.requests)
    assert block(first, "context") == [{"text": CONTEXT[-10:]}]
    assert block(second, "context") == []
    assert [line["text"] for line in block(first, "queries")] == list(ASKED)


@pytest.mark.parametrize(
    "queries",
    [
        ["what Priya prefers"],
        ["one", "two", "three"],
        ["what Priya prefers", ""],
        ["what Priya prefers", "a\x00b"],
        ["what Bob prefers", "that day"],
        ["Bob's preferences", "that day"],
        ["what Priya prefers", "20 March"],
        ["what Priya prefers", "the day in april"],
        ["what Priya prefers", 5],
        "what Priya prefers",
        None,
    ],
)
def test_an_answer_that_cannot_be_used_is_refused(queries):
    with pytest.raises(RewriteError):
        read_rewrite({"queries": queries}, ASKED, CONTEXT)


def test_more_than_three_queries_are_never_answered():
    with pytest.raises(RewriteError):
        read_rewrite({"queries": ["a", "b", "c", "d"]}, ("a", "b", "c", "d"), None)


@pytest.mark.parametrize(
    "answer", [ProviderOutage(), ModelTimeout(), InvalidCompletion(), {"queries": ["Bob", "Eve"]}]
)
def test_a_search_goes_on_with_the_raw_queries(answer):
    one, _ = rewriter([answer])
    cfg = CFG.model_copy(update={"enabled": True})

    rewritten = rewrite_queries(ASKED, CONTEXT, one, cfg)

    assert (rewritten.queries, rewritten.status) == (ASKED, "failed")


def test_a_late_model_is_a_timeout():
    one, _ = rewriter([ModelTimeout()])

    with pytest.raises(TimeoutError):
        one.rewrite(ASKED, CONTEXT)

"""Hosted models over both real clients and real HTTP, against a model on this machine."""

from __future__ import annotations

import json
import socket
import threading

import pytest

from retold.config import HostedConfig, parse_config
from retold.errors import (
    BudgetExhausted,
    InvalidCompletion,
    ModelTimeout,
    ProviderError,
    ProviderNotConfigured,
    ProviderOutage,
    RetoldSetupError,
)
from retold.hosted import HostedCompletions, RunBudget, sdk
from retold.models import CompletionRequest, Scope, TokenUsage
from retold.testing import FakeBudget
from tests.loopback import Call, Fault, LoopbackModel, Reply

FACTS = {
    "type": "object",
    "title": "Facts",
    "$defs": {
        "Fact": {
            "type": "object",
            "properties": {
                "content": {"type": "string", "minLength": 1},
                "confidence": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
                "until": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            },
            "required": ["content"],
        }
    },
    "properties": {
        "facts": {"type": "array", "items": {"$ref": "#/$defs/Fact"}, "maxItems": 20},
        "kind": {"enum": ["chat", "mail"], "type": "string"},
    },
    "required": ["facts"],
}
ANSWER = {"facts": [{"content": "The user lives in Oslo."}]}
SAID = json.dumps(ANSWER)
MODELS = ["anthropic/claude-x", "openai/gpt-x", "openrouter/meta/llama-x", "custom/qwen3:8b"]
BOTH = MODELS[:2]
KEYS = {
    "ANTHROPIC_API_KEY": "key-a",
    "OPENAI_API_KEY": "key-o",
    "OPENROUTER_API_KEY": "key-r",
}


def ask(model="anthropic/claude-x", **changes):
    values = {
        "system": "You note facts.",
        "prompt": "I live in Oslo.",
        "schema": FACTS,
        "task": "extraction",
        "scopes": (Scope("user", "ana"),),
        "timeout_ms": 30_000,
        "max_output_tokens": 500,
    }
    return CompletionRequest(model=model, **(values | changes))


class Pauses:
    """Pauses that pass at once, on a clock which only they move."""

    def __init__(self):
        self.taken = []

    def sleep(self, seconds):
        self.taken.append(seconds)

    def ticks(self):
        return sum(self.taken)


@pytest.fixture
def pauses():
    return Pauses()


@pytest.fixture
def hosted_for(pauses):
    """Return a function that makes a client for a loopback model, with pauses that take no time."""
    made = []

    def make(model, *, budget=None, environ=KEYS, **settings):
        client = HostedCompletions(
            settings_for(model.url, **settings),
            budget=budget,
            environ=environ,
            ticks=pauses.ticks,
            sleep=pauses.sleep,
            chance=lambda: 1.0,
        )
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()


def settings_for(url, **settings) -> HostedConfig:
    places = {
        "anthropic": {"base_url": url},
        "openai": {"base_url": f"{url}/v1"},
        "openrouter": {"base_url": f"{url}/v1"},
        "custom": {"base_url": f"{url}/v1"},
    }
    return parse_config({"hosted": places | settings}).hosted


# --- answers --------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_answer_comes_through_the_providers_own_mechanism_with_its_use(model, hosted_for):
    with LoopbackModel([Reply(SAID)]) as loopback:
        completion = hosted_for(loopback).complete(ask(model))

    (body,), (exchange,) = loopback.bodies, loopback.exchanges
    assert completion.value == ANSWER
    assert completion.usage.calls == 1
    assert completion.usage.input_tokens > 0 < completion.usage.output_tokens
    assert ("output_config" in body) == (model == MODELS[0])
    assert ("response_format" in body) == (model != MODELS[0])
    assert exchange.user == "I live in Oslo."
    assert exchange.system == "You note facts."
    assert body["model"] == model.partition("/")[2]


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"Here you are:\n```json\n{SAID}\n```\nAnything else?", id="fence"),
        pytest.param(f"I looked for {{facts}} in it. {SAID} {{}}", id="prose"),
        pytest.param(f"<think>{{}} or {{}}?</think>{SAID}", id="thoughts"),
        pytest.param(f"\n  {SAID}", id="blanks"),
    ],
)
def test_answer_is_found_in_what_a_model_writes_around_it(model, text, hosted_for):
    with LoopbackModel([Reply(text)]) as loopback:
        assert hosted_for(loopback).complete(ask(model)).value == ANSWER


def test_nulls_that_strict_mode_asked_for_are_taken_out(hosted_for):
    nulls = {"facts": [{"content": "A.", "confidence": None, "until": None}], "kind": None}
    with LoopbackModel([Reply(json.dumps(nulls))]) as loopback:
        completion = hosted_for(loopback).complete(ask("openai/gpt-x"))

    assert completion.value == {"facts": [{"content": "A."}]}


def test_calls_in_threads_answer_each_its_own_question(hosted_for):
    def echo(seen):
        return Reply(json.dumps({"facts": [{"content": seen.user}]}))

    answers = {}
    with LoopbackModel(echo) as loopback:
        client = hosted_for(loopback)

        def one(number):
            request = ask(BOTH[number % 2], prompt=f"fact {number}")
            answers[number] = client.complete(request).value["facts"][0]["content"]

        threads = [threading.Thread(target=one, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert answers == {number: f"fact {number}" for number in range(12)}


def test_key_is_read_with_every_call_and_never_kept_from_an_earlier_one(hosted_for):
    environ = dict(KEYS)
    with LoopbackModel([Reply(SAID)] * 2) as loopback:
        client = hosted_for(loopback, environ=environ)
        client.complete(ask("openai/gpt-x"))
        environ["OPENAI_API_KEY"] = "key-2"
        client.complete(ask("openai/gpt-x"))

    assert [head["authorization"] for head in loopback.heads] == ["Bearer key-o", "Bearer key-2"]


def test_other_provider_gets_nothing_that_the_environment_holds_for_openai(hosted_for, monkeypatch):
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "WEBHOOK_SECRET"):
        monkeypatch.setenv(f"OPENAI_{name}", f"foreign-{name}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: foreign-gateway\nX-Two: foreign-two")
    with LoopbackModel([Reply(SAID)] * 2) as loopback:
        client = hosted_for(loopback)
        client.complete(ask("openrouter/some/model"))
        client.complete(ask("custom/qwen3"))

    assert "foreign" not in json.dumps(loopback.heads)
    assert loopback.heads[0]["authorization"] == "Bearer key-r"


# --- endpoints that take less ---------------------------------------------------------


def refusing(*words):
    """Return a model that refuses every request which holds one of these words."""

    def answer(seen):
        body = json.dumps(seen.body)
        for word in words:
            if f'"{word}"' in body:
                return Fault(400, says=f"{word}: Extra inputs are not permitted")
        return Reply(SAID)

    return answer


@pytest.mark.parametrize(
    ("model", "words", "requests"),
    [
        pytest.param("anthropic/claude-x", ("output_config",), 2, id="no schemas"),
        pytest.param("anthropic/claude-x", ("output_config", "tools"), 3, id="no tools either"),
        pytest.param("anthropic/claude-x", ("system",), 2, id="no system"),
        pytest.param("custom/qwen3", ("json_schema",), 2, id="JSON mode"),
        pytest.param("custom/qwen3", ("response_format",), 3, id="words alone"),
        pytest.param("custom/qwen3", ("max_tokens",), 2, id="the newer limit"),
        pytest.param("openai/gpt-4", ("max_completion_tokens",), 2, id="the older limit"),
        pytest.param("openai/o1-mini", ("system",), 2, id="no system role"),
        pytest.param("custom/x", ("system", "max_tokens", "response_format"), 5, id="bare"),
    ],
)
def test_endpoint_that_refuses_a_form_is_asked_in_another_which_is_remembered(
    model, words, requests, hosted_for
):
    with LoopbackModel(refusing(*words)) as loopback:
        client = hosted_for(loopback)
        first = client.complete(ask(model))
        second = client.complete(ask(model))

    assert first.value == second.value == ANSWER
    assert (first.usage.calls, second.usage.calls) == (requests, 1)
    assert "facts" in json.dumps(loopback.bodies[-1])


def test_forced_tool_answers_with_an_object(hosted_for):
    def answer(seen):
        if not seen.tools:
            return Fault(400, says="output_config is not supported here")
        return Reply(calls=(Call("extraction", ANSWER),))

    with LoopbackModel(answer) as loopback:
        assert hosted_for(loopback).complete(ask()).value == ANSWER


def test_endpoint_that_refuses_every_form_is_a_bug_and_the_next_call_begins_anew(hosted_for):
    with LoopbackModel(lambda _: Fault(400, says="no")) as loopback:
        client = hosted_for(loopback)
        refusals = []
        for _ in range(2):
            with pytest.raises(ProviderError) as refusal:
                client.complete(ask("custom/x"))
            refusals.append(refusal.value)

    kinds = [body.get("response_format", {}).get("type") for body in loopback.bodies]
    assert kinds == ["json_schema", "json_object", None] * 2
    assert [one.kind for one in refusals] == ["bug", "bug"]
    assert refusals[0].details["usage"] == TokenUsage(0, 0, 3)


# --- outages --------------------------------------------------------------------------


OUTAGES = [
    pytest.param(Fault(429), id="429"),
    pytest.param(Fault(500), id="500"),
    pytest.param(Fault(529), id="529"),
    pytest.param(Fault(408), id="408"),
    pytest.param(Fault(body=SAID.encode(), way="cut"), id="cut body"),
    pytest.param(Fault(body=b'{"id": "x", "cont'), id="broken JSON"),
]


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize("fault", OUTAGES)
def test_outage_is_tried_again_with_growing_pauses(model, fault, hosted_for, pauses):
    with LoopbackModel([fault, fault, Reply(SAID)]) as loopback:
        completion = hosted_for(loopback).complete(ask(model))

    assert completion.value == ANSWER
    assert completion.usage.calls == 3
    assert pauses.taken == [0.5, 1.0]


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize("fault", OUTAGES)
def test_outage_that_lasts_is_an_error_of_its_kind_after_the_configured_attempts(
    model, fault, hosted_for
):
    with (
        LoopbackModel([fault] * 3) as loopback,
        pytest.raises(ProviderOutage) as outage,
    ):
        hosted_for(loopback).complete(ask(model))

    assert outage.value.kind == "outage"
    assert outage.value.details["usage"].calls == 3


@pytest.mark.parametrize("model", BOTH)
def test_pause_is_as_long_as_the_provider_asks_and_spread(model, hosted_for, pauses):
    limited = Fault(429, headers={"retry-after": "7"})
    with LoopbackModel([limited, Reply(SAID)]) as loopback:
        hosted_for(loopback).complete(ask(model))

    assert pauses.taken == [7.5]


@pytest.mark.parametrize("model", BOTH)
def test_pause_that_does_not_fit_is_not_begun_and_its_length_is_told(model, hosted_for, pauses):
    limited = Fault(429, headers={"retry-after": "120"})
    with (
        LoopbackModel([limited]) as loopback,
        pytest.raises(ProviderOutage) as outage,
    ):
        hosted_for(loopback).complete(ask(model))

    assert pauses.taken == []
    assert outage.value.details["retry_after_seconds"] == 120


def test_provider_that_says_not_to_try_again_is_obeyed(hosted_for):
    with (
        LoopbackModel([Fault(500, headers={"x-should-retry": "false"})]) as loopback,
        pytest.raises(ProviderOutage),
    ):
        hosted_for(loopback).complete(ask())


def test_no_retries_means_one_attempt(hosted_for):
    with (
        LoopbackModel([Fault(500)]) as loopback,
        pytest.raises(ProviderOutage),
    ):
        hosted_for(loopback, max_retries=0).complete(ask())


@pytest.mark.parametrize("model", BOTH)
def test_address_where_nobody_listens_is_an_outage(model, hosted_for):
    with LoopbackModel([]) as gone:
        pass
    with pytest.raises(ProviderOutage) as outage:
        hosted_for(gone).complete(ask(model))

    assert outage.value.details["reason"] == "connection_refused"
    assert f" at {gone.url}: connection_refused after 3 requests; " in outage.value.message


def test_error_in_a_body_that_came_with_200_counts_as_its_own_status(hosted_for):
    upstream = Fault(body=json.dumps({"error": {"code": 502, "message": "upstream"}}).encode())
    with LoopbackModel([upstream, Reply(SAID)]) as loopback:
        completion = hosted_for(loopback).complete(ask("openrouter/some/model"))

    assert completion.usage.calls == 2


# --- the deadline ---------------------------------------------------------------------


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(way="hang"), id="nothing comes"),
        pytest.param(Fault(way="drip"), id="blanks for ever"),
        pytest.param(Fault(500, way="drip"), id="blanks for ever after an error"),
    ],
)
def test_answer_that_never_ends_is_given_up_at_the_deadline(model, fault):
    with LoopbackModel(lambda _: fault) as loopback:
        client = HostedCompletions(settings_for(loopback.url), environ=KEYS)
        with pytest.raises(ModelTimeout) as late:
            client.complete(ask(model, timeout_ms=100))

    assert isinstance(late.value, TimeoutError)
    assert late.value.kind == "outage"
    assert late.value.details["usage"].calls == 1
    assert late.value.details["usage"].input_tokens > 0


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize("status", [200, 500])
def test_thread_of_a_call_that_was_given_up_ends_although_the_blanks_go_on(model, status):
    """Without the cut it reads for as long as the server sends."""
    with LoopbackModel(lambda _: Fault(status, way="drip")) as loopback:
        client = HostedCompletions(settings_for(loopback.url), environ=KEYS)
        with pytest.raises(ModelTimeout):
            client.complete(ask(model, timeout_ms=100))
        left = [one for one in threading.enumerate() if one.name == "retold-hosted"]
        for thread in left:
            thread.join(20)

        assert [thread for thread in left if thread.is_alive()] == []


@pytest.mark.parametrize("model", BOTH)
def test_call_given_up_while_its_client_was_being_made_sends_nothing(model, monkeypatch):
    """Loading a package may take longer than the call may; there is nothing to close then."""
    given_up, opened = threading.Event(), sdk._opened

    def slowly(target):
        given_up.wait(20)
        return opened(target)

    monkeypatch.setattr(sdk, "_opened", slowly)
    with LoopbackModel(lambda _: Fault(way="drip")) as loopback:
        client = HostedCompletions(settings_for(loopback.url), environ=KEYS)
        with pytest.raises(ModelTimeout):
            client.complete(ask(model, timeout_ms=1))
        left = [one for one in threading.enumerate() if one.name == "retold-hosted"]
        given_up.set()
        for thread in left:
            thread.join(20)

        assert [thread for thread in left if thread.is_alive()] == []
        assert loopback.exchanges == []


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize("status", [200, 500])
def test_call_given_up_while_its_connection_was_being_made_ends_with_it(model, status, monkeypatch):
    """Closing a client ends no connection that is just being made."""
    given_up, connect = threading.Event(), socket.create_connection

    def slowly(*args, **options):
        given_up.wait(20)
        return connect(*args, **options)

    with LoopbackModel(lambda _: Fault(status, way="drip")) as loopback:
        client = HostedCompletions(settings_for(loopback.url), environ=KEYS)
        monkeypatch.setattr(socket, "create_connection", slowly)
        with pytest.raises(ModelTimeout):
            client.complete(ask(model, timeout_ms=300))
        left = [one for one in threading.enumerate() if one.name == "retold-hosted"]
        given_up.set()
        for thread in left:
            thread.join(20)

        assert [thread for thread in left if thread.is_alive()] == []


def test_attempts_share_one_deadline(hosted_for, pauses):
    """The third attempt would begin after the end of the call."""
    with (
        LoopbackModel([Fault(500)] * 2) as loopback,
        pytest.raises(ProviderOutage),
    ):
        hosted_for(loopback).complete(ask(timeout_ms=1_400))

    assert pauses.taken == [0.5]


def test_connection_is_usable_after_a_call_that_was_given_up():
    """Whether the call had reached the server by then is the machine's affair."""
    answers = threading.Event()
    with LoopbackModel(
        lambda _: Reply(SAID) if answers.is_set() else Fault(way="hang")
    ) as loopback:
        client = HostedCompletions(settings_for(loopback.url), environ=KEYS)
        answers.set()
        assert client.complete(ask()).value == ANSWER
        answers.clear()
        with pytest.raises(ModelTimeout):
            client.complete(ask(timeout_ms=100))
        answers.set()
        assert client.complete(ask()).value == ANSWER
        client.close()


# --- settings -------------------------------------------------------------------------


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize(
    ("fault", "word"),
    [
        pytest.param(Fault(401), "API_KEY", id="wrong key"),
        pytest.param(Fault(403), "API_KEY", id="forbidden"),
        pytest.param(Fault(404), "-x", id="unknown model"),
        pytest.param(
            Fault(400, says="acme/x is not a valid model ID"), "-x", id="unknown model, as 400"
        ),
        pytest.param(Fault(402), "credit", id="not paid"),
        pytest.param(Fault(429, says="insufficient_quota"), "quota", id="no quota"),
        pytest.param(Fault(400, says="Your credit balance is too low"), "credit", id="no credit"),
        pytest.param(
            Fault(body=b"<html>hello</html>", headers={"content-type": "text/html"}),
            "base_url",
            id="a web page",
        ),
        pytest.param(Fault(body=b'{"status": "ok"}'), "base_url", id="another service"),
        pytest.param(Fault(body=b"[]"), "base_url", id="a list"),
        pytest.param(Fault(body=b" " * (17 << 20)), "base_url", id="17 MiB"),
    ],
)
def test_refused_key_model_or_address_stops_at_once_and_says_what_to_check(
    model, fault, word, hosted_for
):
    with (
        LoopbackModel([fault]) as loopback,
        pytest.raises(ProviderNotConfigured, match=word) as refusal,
    ):
        hosted_for(loopback).complete(ask(model))

    assert refusal.value.kind == "config"


@pytest.mark.parametrize("model", BOTH)
def test_address_with_a_wrong_path_is_no_outage(model, hosted_for):
    with LoopbackModel([]) as loopback:
        provider = model.partition("/")[0]
        wrong = {provider: {"base_url": f"{loopback.url}/elsewhere"}}
        with pytest.raises(ProviderNotConfigured, match=rf"hosted\.{provider}\.base_url"):
            hosted_for(loopback, **wrong).complete(ask(model))


@pytest.mark.parametrize("model", BOTH)
def test_missing_key_is_named_before_anything_is_sent(model, hosted_for):
    with LoopbackModel([]) as loopback:
        client = hosted_for(loopback, environ={"ANTHROPIC_API_KEY": " "})
        with pytest.raises(RetoldSetupError, match=r"environment variable (ANTHROPIC|OPENAI)_API"):
            client.complete(ask(model))
        with pytest.raises(RetoldSetupError):
            client.require_ready(model)

    assert loopback.bodies == []


# --- content --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "said", "reason"),
    [
        pytest.param(BOTH[0], Reply("I can't.", stop="refusal"), "refused", id="refusal"),
        pytest.param(BOTH[1], Reply(refusal="I can't."), "refused", id="refusal of openai"),
        pytest.param(BOTH[1], Reply("", stop="content_filter"), "refused", id="filter"),
        pytest.param(BOTH[1], Fault(400, says="content_filter"), "refused", id="filtered prompt"),
        pytest.param(BOTH[0], Reply(SAID, stop="max_tokens"), "cut_short", id="cut"),
        pytest.param(BOTH[1], Reply(SAID, stop="length"), "cut_short", id="cut by openai"),
        pytest.param(BOTH[0], Fault(400, says="prompt is too long: 9"), "too_long", id="long"),
        pytest.param(BOTH[0], Fault(413), "too_long", id="413"),
        pytest.param(
            BOTH[1], Fault(400, says="context_length_exceeded"), "too_long", id="long for openai"
        ),
        pytest.param(BOTH[0], Reply("I know no facts."), "not_json", id="words"),
        pytest.param(BOTH[1], Reply("[1, 2]"), "not_json", id="a list"),
        pytest.param(BOTH[1], Reply(SAID[:-3]), "not_json", id="cut JSON"),
        pytest.param(BOTH[0], Reply('{"facts": NaN}'), "not_json", id="NaN"),
        pytest.param(BOTH[0], Fault(body=b"[" * 200_000 + b"]" * 200_000), "not_json", id="deep"),
    ],
)
def test_answer_that_is_none_is_not_asked_for_again(model, said, reason, hosted_for):
    with (
        LoopbackModel([said]) as loopback,
        pytest.raises(InvalidCompletion) as refusal,
    ):
        hosted_for(loopback).complete(ask(model))

    assert refusal.value.kind == "content"
    assert refusal.value.details["reason"] == reason
    assert refusal.value.details["usage"].calls == 1


# --- budgets --------------------------------------------------------------------------


@pytest.mark.parametrize("model", BOTH)
def test_every_request_is_counted_in_the_budgets_of_the_run_and_of_the_client(model, hosted_for):
    day, run = FakeBudget(), RunBudget(None)
    with LoopbackModel([Fault(500), Reply(SAID)]) as loopback:
        completion = hosted_for(loopback, budget=day).complete(ask(model), budget=run)

    assert run.used == day.used == completion.usage
    assert (completion.usage.calls, day.reserved) == (2, 0)


def test_failed_call_is_counted_too(hosted_for):
    run = RunBudget(None)
    with (
        LoopbackModel([Reply("no facts")]) as loopback,
        pytest.raises(InvalidCompletion) as refusal,
    ):
        hosted_for(loopback).complete(ask(), budget=run)

    assert run.used == refusal.value.details["usage"]
    assert run.used.output_tokens > 0


@pytest.mark.parametrize("which", ["run", "day"])
def test_request_that_might_exceed_a_budget_is_not_sent(which, hosted_for):
    small, large = FakeBudget(600), FakeBudget(10_000)
    day, run = (small, large) if which == "day" else (large, small)
    with (
        LoopbackModel([]) as loopback,
        pytest.raises(BudgetExhausted) as refusal,
    ):
        hosted_for(loopback, budget=day).complete(ask(), budget=run)

    assert loopback.bodies == []
    assert (small.reserved, large.reserved) == (0, 0)
    assert refusal.value.details["usage"] == TokenUsage()


def test_budget_that_ends_between_two_attempts_stops_the_second(hosted_for):
    run = RunBudget(1_000)
    with (
        LoopbackModel([Fault(body=b"{", way="cut")]) as loopback,
        pytest.raises(BudgetExhausted) as refusal,
    ):
        hosted_for(loopback).complete(ask(prompt="x" * 700), budget=run)

    assert refusal.value.details["usage"].calls == 1


def test_calls_side_by_side_never_use_more_than_the_budget_together(hosted_for):
    run = RunBudget(2_000)
    refused = []
    with LoopbackModel(lambda _: Reply(SAID)) as loopback:
        client = hosted_for(loopback)

        def one():
            try:
                client.complete(ask(), budget=run)
            except BudgetExhausted as error:
                refused.append(error)

        threads = [threading.Thread(target=one) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert run.used.tokens <= 2_000
    assert len(loopback.bodies) + len(refused) == 12
    assert refused


def test_call_whose_time_passed_while_it_waited_to_be_counted_is_not_sent(hosted_for, pauses):
    class Slow(FakeBudget):
        def reserve(self, provider, tokens):
            super().reserve(provider, tokens)
            pauses.sleep(31)

    budget = Slow()
    with LoopbackModel([]) as loopback, pytest.raises(ModelTimeout) as caught:
        hosted_for(loopback, budget=budget).complete(ask(timeout_ms=30_000))

    assert loopback.exchanges == []
    assert caught.value.details["usage"] == budget.used == TokenUsage()
    assert budget.reserved == 0

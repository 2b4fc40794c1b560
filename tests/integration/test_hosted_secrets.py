"""Nothing of a prompt, an answer or a key stands in a log, an error or a traceback."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import traceback

import anthropic
import openai
import pytest

from retold.config import parse_config
from retold.errors import HostedError
from retold.hosted import HostedCompletions
from retold.models import CompletionRequest, Scope
from tests.loopback import Fault, LoopbackModel, Reply
from tests.network_guard import outside_guard

SYSTEM, PROMPT, ANSWER, KEY = "SYSTEM-7Q", "PROMPT-8R", "ANSWER-9S", "sk-KEY-1T"
SECRETS = (SYSTEM, PROMPT, ANSWER, KEY)
ECHO = f"{SYSTEM} {PROMPT} {ANSWER} {KEY}"
MODELS = ["anthropic/claude-x", "openai/gpt-x", "custom/qwen3"]


def request_for(model, timeout_ms=20_000):
    return CompletionRequest(
        model=model,
        system=SYSTEM,
        prompt=PROMPT,
        schema={"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        task="extraction",
        scopes=(Scope("user", "ana"),),
        timeout_ms=timeout_ms,
        max_output_tokens=100,
    )


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "CUSTOM_API_KEY"):
        monkeypatch.setenv(name, KEY)


def client_for(url):
    places = {
        "anthropic": {"base_url": url},
        "openai": {"base_url": f"{url}/v1"},
        "custom": {"base_url": f"{url}/v1", "api_key_env": "CUSTOM_API_KEY"},
    }
    hosted = parse_config({"hosted": places}).hosted
    return HostedCompletions(hosted, sleep=lambda _: None, chance=lambda: 0.0)


def outcome_of(model, step, timeout_ms=20_000):
    """Return what a call raises or returns; this frame, which holds the answer, is left out."""
    with LoopbackModel(lambda _: step) as loopback:
        client = client_for(loopback.url)
        try:
            return client.complete(request_for(model, timeout_ms))
        except HostedError as error:
            return error.with_traceback(error.__traceback__.tb_next)
        finally:
            client.close()


def everything_about(error):
    """Return all that a host may print of an error, variables of every frame included."""
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "".join(shown.format()) + repr(error) + str(error) + repr(error.args) + repr(vars(error))


class Records(logging.Handler):
    """Keep every record in full: message, arguments and extras."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.texts = []

    def emit(self, record):
        self.texts.append(f"{record.name} {record.getMessage()} {vars(record)}")

    def of(self, *names):
        return [text for text in self.texts if text.startswith(names)]


@pytest.fixture
def records():
    """Return what is logged while the root logger is at DEBUG, as a host that debugs has it."""
    root, handler = logging.getLogger(), Records()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield handler
    root.setLevel(before)
    root.removeHandler(handler)


FAILURES = [
    pytest.param(Fault(400, says=ECHO), id="refused request"),
    pytest.param(Fault(401, says=ECHO), id="refused key"),
    pytest.param(Fault(404, says=ECHO), id="unknown model"),
    pytest.param(Fault(429, says=ECHO), id="rate limit"),
    pytest.param(Fault(500, says=ECHO), id="server error"),
    pytest.param(Fault(body=ECHO.encode()), id="no JSON body"),
    pytest.param(Fault(body=json.dumps({"error": {"code": 500, "m": ECHO}}).encode()), id="in 200"),
    pytest.param(Fault(body=ECHO.encode(), way="cut"), id="cut body"),
    pytest.param(Fault(body=ECHO.encode(), headers={"content-type": "text/html"}), id="page"),
    pytest.param(Reply(ECHO), id="no JSON answer"),
    pytest.param(Reply(ECHO, stop="refusal"), id="refusal"),
]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("step", FAILURES)
def test_failed_call_tells_nothing_of_what_was_sent_or_answered(model, step, records):
    """Raising one of these errors inside the ``except`` of a client's error makes this fail."""
    error = outcome_of(model, step)

    told = everything_about(error) + "".join(records.texts)
    assert isinstance(error, HostedError)
    assert [secret for secret in SECRETS if secret in told] == []
    assert error.__cause__ is None
    assert error.__context__ is None


@pytest.mark.parametrize("model", MODELS)
def test_late_call_tells_nothing_of_what_was_sent(model, records):
    error = outcome_of(model, Fault(way="hang"), timeout_ms=100)

    told = everything_about(error) + "".join(records.texts)
    assert [secret for secret in SECRETS if secret in told] == []


@pytest.mark.parametrize("model", MODELS)
def test_answered_call_leaves_nothing_in_a_log_or_a_repr(model, records):
    completion = outcome_of(model, Reply(json.dumps({"a": ANSWER})))

    told = repr(completion) + repr(request_for(model)) + "".join(records.texts)
    assert completion.value == {"a": ANSWER}
    assert [secret for secret in SECRETS if secret in told] == []


def test_repeated_call_is_logged_with_facts_alone(records):
    outcome_of(MODELS[0], Fault(500, says=ECHO))

    ours = records.of("retold.hosted")
    assert len(ours) == 2
    assert all("http_500" in text and "extraction" in text for text in ours)


def test_host_that_uses_the_same_clients_keeps_its_own_logs(records):
    """A client really logs prompts at DEBUG; only those of our calls are taken out."""
    outcome_of(MODELS[0], Reply("{}"))
    outcome_of(MODELS[1], Reply("{}"))
    assert records.of("anthropic", "openai", "httpx", "httpcore") == []

    with LoopbackModel(lambda _: Reply("{}")) as loopback:
        claude = anthropic.Anthropic(base_url=loopback.url, max_retries=0)
        gpt = openai.OpenAI(base_url=f"{loopback.url}/v1", max_retries=0)
        messages = [{"role": "user", "content": PROMPT}]
        claude.messages.create(model="claude-x", max_tokens=9, messages=messages)
        gpt.chat.completions.create(model="gpt-x", messages=messages)
        claude.close()
        gpt.close()

    assert any(PROMPT in text for text in records.of("anthropic"))
    assert records.of("openai")


FIRST_CALL = """
import logging, sys
from retold.config import parse_config
from retold.hosted import HostedCompletions
from retold.models import CompletionRequest, Scope
from tests.loopback import Fault, LoopbackModel, Reply

class Printed(logging.Handler):
    def emit(self, record):
        print(record.name, record.getMessage(), vars(record))

logging.basicConfig(level=logging.DEBUG, handlers=[Printed(logging.DEBUG)])
model, key, system, prompt = sys.argv[1:]
assert not {"anthropic", "openai", "httpx2", "httpx"} & set(sys.modules)
steps = iter([Fault(500, says=prompt), Reply("{}")])
with LoopbackModel(lambda _: next(steps)) as loopback:
    places = {"anthropic": {"base_url": loopback.url}, "openai": {"base_url": loopback.url + "/v1"}}
    client = HostedCompletions(parse_config({"hosted": places}).hosted, sleep=lambda _: None)
    asked = {"schema": {"type": "object"}, "task": "extraction", "scopes": (Scope("user", "ana"),)}
    asked |= {"timeout_ms": 20_000, "max_output_tokens": 9}
    answer = client.complete(CompletionRequest(model=model, system=system, prompt=prompt, **asked))
    client.close()
print("calls", answer.usage.calls)
"""


@pytest.mark.parametrize("model", MODELS[:2])
def test_first_call_of_a_process_is_as_quiet_as_the_next(model):
    """Loggers come into being with the client: a filter set before must be waiting for them."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CALL, model, KEY, SYSTEM, PROMPT],
        capture_output=True,
        check=True,
        text=True,
    )

    printed = done.stdout + done.stderr
    assert "retold.hosted.client hosted call is repeated" in printed
    assert printed.endswith("calls 2\n")
    assert [told for told in (*SECRETS, "127.0.0.1", "http://", "POST") if told in printed] == []


# --- before a byte leaves -------------------------------------------------------------


CALL = """
import sys
from retold.config import parse_config
from retold.errors import RetoldError
from retold.hosted import HostedCompletions
from retold.models import CompletionRequest, Scope

settings = {settings!r}
settings["openai"] = {{"base_url": "http://127.0.0.1:9/v1"}}
settings["anthropic"] = {{"base_url": "http://127.0.0.1:9"}}
client = HostedCompletions(parse_config({{"hosted": settings}}).hosted, sleep=lambda _: None)
asked = {{"system": "s", "prompt": "p", "schema": {{"type": "object"}}, "task": "t"}}
asked["scopes"] = (Scope("user", "ana"), Scope("project", "acme/repo"))
asked |= {{"timeout_ms": 9000, "max_output_tokens": 9}}
for model in ("anthropic/claude-x", "openai/gpt-x"):
    try:
        client.complete(CompletionRequest(model=model, **asked))
    except RetoldError as error:
        print(error.code)
print(sorted({{"anthropic", "openai", "httpx2", "ssl"}} & set(sys.modules)))
"""


def run_without_sockets(tmp_path, **settings):
    """Return what a process prints that may open no socket at all, and what it tried to open."""
    log = tmp_path / "refused"
    environment = outside_guard.guarded_environment(
        {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}, log=log, everything=True
    )
    done = subprocess.run(
        [sys.executable, "-c", CALL.format(settings=settings)],
        env=environment,
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout.splitlines(), log.read_text() if log.exists() else ""


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"enabled": False}, id="switched off"),
        pytest.param({"allow_scopes": []}, id="no scope"),
        pytest.param({"allow_scopes": ["user:ana"]}, id="one of two scopes"),
        pytest.param({"allow_scopes": ["user:*", "project:acme"]}, id="another project"),
    ],
)
def test_call_that_is_not_allowed_opens_no_socket_and_loads_no_client(settings, tmp_path):
    printed, tried = run_without_sockets(tmp_path, **settings)

    assert printed == ["hosted_not_allowed", "hosted_not_allowed", "[]"]
    assert tried == ""


def test_call_that_is_allowed_does_open_one(tmp_path):
    """The guard sees it, so that its silence above means something."""
    printed, tried = run_without_sockets(tmp_path, allow_scopes=["user:*", "project:acme/*"])

    assert printed[0] != "hosted_not_allowed"
    assert "socket" in tried

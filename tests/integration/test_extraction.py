"""The whole run over both real clients and real HTTP, against a model on this machine."""

import json
import threading

import pytest

from retold import ProviderOutage
from retold.testing import MemoryLab
from tests.extraction_model import accept_everything, block
from tests.extraction_support import PEANUTS
from tests.loopback import Fault, LoopbackModel, Reply

MODELS = ["anthropic/claude-x", "openai/gpt-x"]
TALK = [
    PEANUTS,
    ("assistant", "I will keep that in mind."),
    "We moved to Lisbon in June and like it there.",
    ("assistant", "A fine city."),
    "What is the weather like?",
    ("tool", "Lisbon: 24 degrees, sunny."),
    ("assistant", "Sunny and 24 degrees."),
    "Then we shall eat outside.",
    ("assistant", "Enjoy it."),
    "Thank you, until tomorrow.",
]
CONTENT = "The user is allergic to peanuts"


class Asked:
    """A request as the pretend model of the unit tests reads it."""

    def __init__(self, exchange):
        self.prompt = exchange.user


def remember_peanuts(exchange):
    """Answer an extraction with one candidate, and a review by accepting it."""
    if "--- candidates " in exchange.user:
        return Reply(json.dumps(accept_everything(Asked(exchange))))
    lines = block(exchange.user, "transcript")
    line = next(one for one in lines if "peanuts" in one["text"])
    candidate = {
        "type": "semantic", "content": CONTENT, "quote": line["text"], "line": line["line"],
        "attribute": "allergy",
    }  # fmt: skip
    summary = {"content": "They spoke of food and of the weather.", "decisions": []}
    return Reply(json.dumps({"candidates": [candidate], "summary": summary}))


def lab_for(loopback, model, monkeypatch, **hosted):
    for name, value in loopback.environment.items():
        monkeypatch.setenv(name, value)
    settings = {
        "ingestion": {"extraction_model": model, "review_model": model},
        "hosted": {"max_retries": 0} | hosted,
    }
    return MemoryLab.open(settings=settings)


def ended(lab, name="s1"):
    session = lab.session(session_id=name)
    for each in TALK:
        role, text = ("user", each) if isinstance(each, str) else each
        session.turn(role, text, tool_name="weather" if role == "tool" else None)
    return session.finish(extract=True).session_id


def payload_of(lab, session_id, kind="extraction.run"):
    with lab.store.read() as tx:
        found = [one for one in tx.events.list_for_session(session_id) if one.kind == kind]
    return found[-1].payload


@pytest.mark.parametrize("model", MODELS)
def test_a_session_costs_two_calls_whose_tokens_the_run_reports(model, monkeypatch):
    """B78: ten turns, one call of the extractor, one of the reviewer."""
    with LoopbackModel(remember_peanuts) as loopback, lab_for(loopback, model, monkeypatch) as lab:
        session_id = ended(lab)
        assert lab.runtime.steps.run(session_id).done == "reviewed"

        assert len(loopback.bodies) == 2
        payload = payload_of(lab, session_id)
        assert payload["calls"] == 2
        assert payload["input_tokens"] > 0 < payload["output_tokens"]
        assert (payload["written"], payload["review_accepted"]) == (1, 1)
        assert (payload["extractor_prompt"], payload["reviewer_prompt"]) != ("", "")
        found = lab.session().search("allergic to peanuts")
        assert CONTENT in [one.record.content for one in found]


def test_nothing_of_a_scope_that_may_not_leave_is_sent(monkeypatch):
    """The memory's own words of other scopes stay out of the prompt, and the run goes on."""
    with (
        LoopbackModel(remember_peanuts) as loopback,
        lab_for(loopback, MODELS[0], monkeypatch, allow_scopes=["agent:*"]) as lab,
    ):
        host = lab.retold.host
        host.grant("helper", "project:secret", read=True, write=True)
        host.write("project:secret", "Priya leads it", subject="Priya", attribute="lead")
        assert lab.runtime.steps.run(ended(lab)).done == "reviewed"

        assert len(loopback.bodies) == 2
        assert not any("Priya" in json.dumps(body) for body in loopback.bodies)


def test_provider_that_is_down_is_asked_three_times_for_many_sessions(monkeypatch):
    up = threading.Event()

    def overloaded(exchange):
        return remember_peanuts(exchange) if up.is_set() else Fault(status=529)

    with (
        LoopbackModel(overloaded) as loopback,
        lab_for(loopback, MODELS[0], monkeypatch) as lab,
    ):
        ids = [ended(lab, f"s{number}") for number in range(8)]
        done = [lab.runtime.steps.run(session_id) for session_id in ids]
        assert [one.reason for one in done] == ["provider_outage"] * 3 + ["provider_down"] * 5
        assert len(loopback.bodies) == 3

        up.set()
        while lab.runtime.steps.due() or any(_waiting(lab, ids)):
            lab.clock.advance(seconds=30)
            for session_id in lab.runtime.steps.due():
                lab.runtime.steps.run(session_id)
        assert len(loopback.bodies) == 3 + 2 * 8


TOLD = {
    "nobody listens": (None, "provider_outage", "connection_refused", "start the server"),
    "overloaded": (529, "provider_outage", "http_529", "try again later"),
    "unknown model": (404, "provider_not_configured", "http_404", "check the model 'gpt-x'"),
    "refused key": (401, "provider_not_configured", "http_401", "check the key in OPENAI_API_KEY"),
}


@pytest.mark.parametrize(("status", "code", "reason", "advice"), TOLD.values(), ids=TOLD)
def test_failure_is_kept_with_its_address_and_what_to_check(
    status, code, reason, advice, monkeypatch
):
    """The event holds the error's own sentence; putting the exception's text there fails this."""
    asked = []

    def refuse(exchange):
        asked.append(exchange)
        return Fault(status, says=f"sk-secret {exchange.user}")

    with LoopbackModel([]) as gone:
        pass
    with LoopbackModel(refuse) as loopback, lab_for(loopback, MODELS[1], monkeypatch) as lab:
        url = gone.url if status is None else loopback.url
        hidden = url.replace("//", "//ana:pass-secret@")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{hidden}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
        session_id = ended(lab)
        outcome = lab.runtime.steps.run(session_id)

        payload = payload_of(lab, session_id, "extraction.failed")
        assert (outcome.reason, payload["code"]) == (code, code)
        assert outcome.says == payload["says"]
        assert outcome.says.startswith(f"openai at {url}: {reason} after 1 request; ")
        assert advice in outcome.says
        told = json.dumps([payload, repr(outcome)])
        assert [one for one in ("secret", "peanuts", "Lisbon") if one in told] == []
    assert bool(asked) == (status is not None)


def test_failure_of_an_error_made_elsewhere_is_kept_as_its_code_alone(monkeypatch):
    """An integrator's client may quote the prompt in what it raises."""

    class Quoting:
        def require_ready(self, model):
            """Be ready."""

        def complete(self, request, *, budget=None):
            raise ProviderOutage(request.prompt)

    with MemoryLab.open(completions=Quoting()) as lab:
        session_id = ended(lab)
        outcome = lab.runtime.steps.run(session_id)

        payload = payload_of(lab, session_id, "extraction.failed")
        assert (outcome.reason, outcome.says) == ("provider_outage", None)
        assert payload == {"stage": "extract", "code": "provider_outage", "failure": "outage"} | {
            "attempt": 1
        }


def _waiting(lab, ids):
    with lab.store.read() as tx:
        return [one for one in ids if tx.claims.require(one).extracted_at is None]


def test_budget_that_the_extractor_has_used_up_leaves_the_session_due(monkeypatch):
    """B78: a hard budget stops the job cleanly, before the call that would not fit."""
    with (
        LoopbackModel(remember_peanuts) as loopback,
        lab_for(loopback, MODELS[0], monkeypatch, tokens_per_run=8_000) as lab,
    ):
        session_id = ended(lab)
        outcome = lab.runtime.steps.run(session_id)

        assert outcome.reason == "budget_exhausted"
        assert len(loopback.bodies) <= 1
        with lab.store.read() as tx:
            state = tx.claims.require(session_id)
            assert tx.one("select count(*) from records") == (0,)
        assert (state.extracted_at, state.failed_at, state.attempts) == (None, None, 0)

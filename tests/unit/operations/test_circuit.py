"""A provider that does not answer, and sessions that wait for it."""

from datetime import timedelta

import pytest

from retold.config import parse_config
from retold.errors import InvalidCompletion, ProviderOutage, StoreBusy
from retold.operations.circuit import Circuits, doors_from_config, hosted_door
from retold.operations.steps import ExtractionSteps, StepOutcome
from retold.store.providers import Circuit, Door
from retold.testing import MemoryLab

HERE = Door("anthropic", "https://api.anthropic.com")
HOUR = timedelta(hours=1)


@pytest.fixture
def lab():
    with MemoryLab.open() as opened:
        yield opened


class Provider:
    """Steps that ask a provider which is down until a moment."""

    def __init__(self, lab, *, down_for=timedelta(0)):
        self.lab = lab
        self.up_at = lab.clock() + down_for
        self.calls = []
        self.failure = None

    def __call__(self, claim, renew):
        if claim.stage == "extract":
            self.calls.append(self.lab.clock())
            if self.lab.clock() < self.up_at:
                raise ProviderOutage("down")
            if self.failure is not None:
                raise self.failure
        with self.lab.store.write() as tx:
            tx.claims.end(claim)
            if claim.stage == "extract":
                tx.claims.advance(claim.session_id)
            else:
                tx.claims.finish(claim.session_id)


def waiting(lab, count):
    ids = []
    for number in range(count):
        principal = lab.session("ana", session_id=f"chat {number}").principal
        ids.append(lab.runtime.hooks.on_session_end(principal, extract=True).id)
    return ids


def circuit_of(lab, door=HERE):
    with lab.store.read() as tx:
        return tx.providers.get(door)


def states(lab, ids):
    with lab.store.read() as tx:
        return [tx.claims.require(each) for each in ids]


def test_an_outage_of_ten_minutes_costs_few_calls_and_no_session(lab):
    """workers.md 3: 7 wasted calls, nothing set aside, done soon after the outage."""
    ids = waiting(lab, 20)
    began = lab.clock()
    provider = Provider(lab, down_for=timedelta(minutes=10))
    steps = ExtractionSteps(lab.store, lab.config, provider)
    while due := [one for one in states(lab, ids) if one.extracted_at is None]:
        assert all(one.failed_at is None for one in due)
        for session_id in steps.due():
            steps.run(session_id)
        lab.clock.advance(seconds=10)
        assert lab.clock() - began < timedelta(minutes=30)

    wasted = [at for at in provider.calls if at < provider.up_at]
    assert len(wasted) <= 8
    assert len(provider.calls) == 20 + len(wasted)
    assert max(one.extracted_at for one in states(lab, ids)) - provider.up_at < timedelta(minutes=7)
    assert circuit_of(lab) == Circuit()
    assert {one.attempts for one in states(lab, ids)} == {0}


def test_while_a_provider_is_left_alone_nothing_is_claimed(lab):
    ids = waiting(lab, 4)
    provider = Provider(lab, down_for=HOUR)
    steps = ExtractionSteps(lab.store, lab.config, provider)
    for session_id in ids[:3]:
        assert steps.run(session_id).done == "failed"

    assert steps.run(ids[3]) == StepOutcome(ids[3], "nothing", "provider_down")
    assert len(provider.calls) == 3
    last = states(lab, ids)[3]
    assert (last.token, last.attempts) == (None, 0)
    assert last.next_at > circuit_of(lab).open_until
    assert ids[3] not in steps.due()


@pytest.mark.parametrize(
    ("failure", "after"),
    [
        pytest.param(None, "closed", id="answer"),
        pytest.param(InvalidCompletion("no"), "closed", id="an answer that cannot be used"),
        pytest.param(ProviderOutage("down"), "open", id="outage"),
        pytest.param(StoreBusy("busy"), "open", id="nothing was asked"),
    ],
)
def test_one_call_sees_whether_the_provider_is_back(lab, failure, after):
    (session_id,) = waiting(lab, 1)
    with lab.store.write() as tx:
        tx.providers.set(HERE, Circuit("open", 3, lab.clock()))
    provider = Provider(lab)
    provider.failure = failure
    ExtractionSteps(lab.store, lab.config, provider).run(session_id)

    assert circuit_of(lab).state == after


def test_only_one_worker_sees(lab):
    first, second = waiting(lab, 2)
    with lab.store.write() as tx:
        tx.providers.set(HERE, Circuit("open", 3, lab.clock()))
    outcomes = []

    class Seeing(Provider):
        def __call__(self, claim, renew):
            if claim.session_id == first and claim.stage == "extract":
                outcomes.append(steps.run(second))
            super().__call__(claim, renew)

    steps = ExtractionSteps(lab.store, lab.config, Seeing(lab))
    outcomes.append(steps.run(first))

    assert [one.reason for one in outcomes] == ["provider_down", None]


def test_step_without_a_model_tells_nothing_of_the_provider(lab):
    """A session of one turn is done without a call; the provider may still be down."""
    (session_id,) = waiting(lab, 1)
    with lab.store.write() as tx:
        tx.providers.set(HERE, Circuit("open", 3, lab.clock()))
    assert lab.runtime.steps.run(session_id).done == "reviewed"

    assert circuit_of(lab).state == "open"
    assert circuit_of(lab).failures == 3


def test_steps_of_two_providers_do_not_wait_for_each_other(lab):
    (session_id,) = waiting(lab, 1)
    config = parse_config({"ingestion": {"review_model": "openai/gpt-5"}}, profile="offline")
    provider = Provider(lab)
    with lab.store.write() as tx:
        door = hosted_door("openai/gpt-5", config)
        tx.providers.set(door, Circuit("open", 3, lab.clock() + HOUR))
    steps = ExtractionSteps(
        lab.store, config, provider, circuits=Circuits(doors_from_config(config))
    )

    assert steps.run(session_id).done == "extracted"
    assert states(lab, [session_id])[0].stage == "review"


def test_clients_are_loaded_before_the_first_claim_holds_the_lock(lab):
    """Naming a provider for the first time takes 30 ms, which a conversation would wait for."""
    (session_id,) = waiting(lab, 1)
    asked = []

    def door_of(stage):
        if stage not in asked:
            with lab.store.write():  # nobody holds the lock
                asked.append(stage)
        return HERE

    provider = Provider(lab)
    steps = ExtractionSteps(lab.store, lab.runtime.config, provider, circuits=Circuits(door_of))

    assert steps.run(session_id).done == "reviewed"


def test_doors_of_one_host_are_told_apart_by_their_paths():
    def door(address):
        settings = {"hosted": {"openai": {"base_url": address}}}
        return hosted_door("openai/gpt-5", parse_config(settings, profile="offline"))

    one = door("https://proxy.example/v1")
    assert one.address.startswith("https://proxy.example/")
    assert one == door("https://proxy.example/v1/")
    assert one != door("https://proxy.example/v2")
    assert hosted_door("custom/llama", parse_config({}, profile="offline")) is None


@pytest.mark.parametrize(
    "address",
    ["https://ana:secret@proxy.example/v1?key=secret", "https://proxy.example/secret/v1"],
)
def test_no_secret_of_an_address_reaches_the_store(monkeypatch, address):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)

    assert "secret" not in str(hosted_door("claude-x", parse_config({}, profile="offline")))


def test_own_extractor_has_a_circuit_of_its_own():
    doors = doors_from_config(parse_config({}, profile="offline"), own_extractor=True)

    assert doors("extract") == Door("own", "extract")
    assert doors("review").provider == "anthropic"

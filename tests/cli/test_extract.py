"""``retold extract`` without a model: what is asked for, listed, put back and dropped."""

import json
import shutil

import pytest

from retold import Overrides, Retold
from retold.queue import NoQueue, inspect_queue, make_storage, queue_path
from retold.store import Store
from tests.cli_support import refusal, retold_here
from tests.extraction_model import block, over_http
from tests.loopback import LoopbackModel, Reply

HUEY = """
embedding: {model: all-MiniLM-L6-v2/onnx-int8, dims: 384}
ingestion: {equivalence: {model: lexical}}
queue: {backend: huey}
"""


@pytest.fixture
def config(tmp_path):
    file = tmp_path / "retold.yaml"
    file.write_text(HUEY, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def talked(tmp_path_factory):
    """Make a store with conversations in every standing, once; return it with their ids."""
    path = tmp_path_factory.mktemp("talked") / "memory.sqlite"
    ids = {}
    silent = Overrides(queue=NoQueue())
    with Retold.open(path, profile="offline", overrides=silent) as retold:
        hooks = retold.runtime.hooks
        for name in ("fresh", "waits", "dead", "lost", "done", "open"):
            principal = retold.session("ana", session_id=name).principal
            hooks.on_turn(principal, "assistant", "Where do you live?")
            ids[name] = hooks.on_turn(principal, "user", "I live in Porto.").session_id
            if name != "open":
                hooks.on_session_end(principal, extract=name != "fresh")
        retold.session("omar", session_id="fresh")
        with retold.store.write() as tx:
            tx.claims.bury(ids["dead"], "invalid_completion")
            tx.claims.finish(ids["done"])
            tx.claims.take(tx.claims.require(ids["lost"]), attempts=1)
            long_ago = "update sessions set extraction_started_at = ? where id = ?"
            tx.run(long_ago, ("2020-01-01T00:00:00.000000+00:00", ids["lost"]))
    return path, ids


@pytest.fixture
def store(talked, tmp_path):
    return shutil.copy(talked[0], tmp_path / "memory.sqlite")


@pytest.fixture
def ids(talked):
    return talked[1]


def state(store, session_id):
    with Store.open(store) as opened, opened.read() as tx:
        return tx.claims.require(session_id)


def test_asked_session_waits_and_nobody_is_told_without_workers(store, ids):
    finished = retold_here("extract", ids["fresh"], store=store)

    assert finished.code == 0, finished
    assert finished.out.startswith("asked      fresh waits for extraction from now on\n")
    assert "told       nobody: queue.backend is thread" in finished.out
    assert "--now" in finished.out
    assert state(store, ids["fresh"]).requested_at is not None


def test_asked_session_is_announced_to_the_workers_there_are(store, ids, config):
    later = retold_here("extract", ids["fresh"], "--config", config, "--json", store=store)
    storage = make_storage(
        "extraction", path := queue_path(store, None, "extraction"), timeout_seconds=1
    )
    storage.initialize_schema()
    storage.close()
    told = retold_here("extract", ids["fresh"], "--config", config, store=store)

    assert later.document["announced"] == 0
    assert told.out.splitlines()[0] == "waits      fresh had been asked for before"
    assert told.out.splitlines()[-1] == "told       the workers"
    assert inspect_queue("extraction", path).pending == 1


def test_extracted_session_is_extracted_again_with_force_alone(store, ids):
    line = refusal(retold_here("extract", ids["done"], store=store))
    forced = retold_here("extract", ids["done"], "--force", "--as", "sam", "--json", store=store)

    assert "pass --force" in line
    assert [one["answer"] for one in forced.document["asked"]] == ["again"]
    assert state(store, ids["done"]).mode == "rerun"


def test_open_session_waits_for_its_end_and_is_announced_to_nobody(store, ids):
    finished = retold_here("extract", ids["open"], store=store)

    assert "not before its conversation has ended" in finished.out
    assert "told" not in finished.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nobody"], "no session 'nobody'; `retold sessions list` shows those there are"),
        (["fresh", "--agent", "somebody"], "no session 'fresh'"),
        (["\udcff"], "an argument holds a lone surrogate; pass well-formed text"),
        (["--failed", "show", "\udcff"], "an argument holds a lone surrogate"),
        (["fresh"], "2 conversations have the id 'fresh'; name the user and the agent too"),
        (["fresh", "--as", "assistant/ana"], "this command is for operators"),
        ([], "name one SESSION, or pass --pending, --stale or --failed"),
        (["one", "two"], "name one SESSION"),
        (["retry", "one"], "`retry` of what? pass --pending, --stale or --failed"),
        (["--failed", "clear"], "'clear' is no action; choose one of list, show, retry, drop"),
        (["--failed", "show"], "`show` takes one SESSION"),
        (["--failed", "list", "x"], "`list` takes no SESSION"),
        (["--failed", "drop"], "`drop` takes the SESSIONs to drop"),
        (["--failed", "drop", "x", "--now"], "it does not go with `drop`"),
        (["--failed", "--force"], "--force, --user and --agent go with a SESSION"),
        (["fresh", "--after", "x"], "--after goes on with a list"),
        (["--stale", "--after", "x"], "--after goes on with a list"),
        (["--failed", "retry", "nobody"], "no session 'nobody'; `retold extract --failed` lists"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(store, arguments, says):
    assert says in refusal(retold_here("extract", *arguments, store=store))


def test_lists_show_what_waits_what_is_lost_and_what_was_set_aside(store, ids):
    pending = retold_here("extract", "--pending", store=store)
    failed = retold_here("extract", "--failed", "list", "--json", store=store).document
    stale = retold_here("extract", "--stale", "--json", store=store).document
    page = retold_here("extract", "--pending", "--limit", "1", store=store)

    assert "ana with assistant · waits since 20" in pending.out
    assert "lost its worker, last heard of" in " ".join(pending.out.split())
    assert [one["error"] for one in failed["sessions"]] == ["invalid_completion"]
    assert [one["session_id"] for one in stale["sessions"]] == [ids["lost"]]
    assert "token" not in json.dumps([failed, stale])
    assert f"the same with --after {ids['waits']}" in page.out


def test_dead_letter_is_shown_with_what_happened_put_back_and_dropped(store, ids):
    shown = retold_here("extract", "--failed", "show", "dead", store=store)
    back = retold_here("extract", "--failed", "retry", store=store)
    none = retold_here("extract", "--failed", "retry", store=store)
    dropped = retold_here("extract", "--pending", "drop", "dead", store=store)

    assert "last failure invalid_completion" in " ".join(shown.out.split())
    assert "session.ended" in shown.out
    assert "waits since" in back.out
    assert "told       nobody" in back.out
    assert (none.code, none.out) == (0, "no session was set aside\n")
    assert dropped.out == f"dropped    dead\n           {ids['dead']}\n"
    assert state(store, ids["dead"]).requested_at is None


def proposed(request):
    """Propose what is true, what nobody said, and fail on the session that is named so."""
    (line,) = (one for one in block(request.prompt, "transcript") if one["role"] == "user")
    told = {"type": "semantic", "content": "The user lives in Porto", "attribute": "home_city"}
    told |= {"quote": "I live in Porto", "line": line["line"]}
    invented = told | {"content": "The user has a cat", "quote": "My cat is called Tom"}
    return {"candidates": [told, invented], "summary": {"content": "About Porto.", "decisions": []}}


@pytest.fixture
def model(monkeypatch):
    """Have the commands ask a model on this machine."""
    answers = {}

    def answer(exchange):
        return answers.get(len(loopback.bodies)) or over_http(exchange, proposed)

    with LoopbackModel(answer) as loopback:
        for name, value in loopback.environment.items():
            monkeypatch.setenv(name, value)
        loopback.answers = answers
        yield loopback


def test_now_extracts_here_and_says_what_was_found(store, ids, model):
    finished = retold_here("extract", ids["fresh"], "--now", store=store)
    known = retold_here("extract", ids["fresh"], "--now", "--force", store=store)
    found = retold_here("search", "--agent", "assistant", "--user", "ana", "Porto", store=store)

    assert (finished.code, finished.err) == (0, ""), finished
    assert finished.out.splitlines()[2:4] == [
        "extracted  fresh: 2 proposed, 1 written, 1 rejected",
        "           rejected: 1 evidence_not_found",
    ]
    assert finished.out.splitlines()[4].startswith("           2 calls, ")
    assert "extracted  fresh: 2 proposed, 1 known already, 1 rejected" in known.out
    assert "The user lives in Porto" in found.out
    assert len(model.bodies) == 4


def test_now_asks_the_server_that_two_values_name(store, ids, tmp_path, model):
    config = tmp_path / "local.yaml"
    models = "extraction_model: custom/qwen3:8b, review_model: custom/qwen3:8b"
    config.write_text(
        HUEY.replace("ingestion: {", f"ingestion: {{{models}, ")
        + f"hosted: {{custom: {{base_url: '{model.url}/v1'}}}}\n",
        encoding="utf-8",
    )

    finished = retold_here("extract", ids["fresh"], "--now", "--config", config, store=store)
    assert "extracted  fresh: 2 proposed, 1 written, 1 rejected" in finished.out
    assert {body["model"] for body in model.bodies} == {"qwen3:8b"}


def test_server_that_does_not_answer_is_named_with_what_to_check(store, ids, tmp_path):
    with LoopbackModel([]) as gone:
        pass
    config = tmp_path / "local.yaml"
    config.write_text(
        "ingestion: {extraction_model: custom/qwen3:8b, review_model: custom/qwen3:8b}\n"
        f"hosted: {{max_retries: 0, custom: {{base_url: '{gone.url}/path-secret/v1'}}}}\n",
        encoding="utf-8",
    )
    told = f"custom at {gone.url}: connection_refused after 1 request; nothing listens there"

    ran = retold_here("extract", ids["fresh"], "--now", "--config", config, store=store)
    shown = retold_here("extract", "--pending", "show", ids["fresh"], store=store)

    for finished in (ran, shown):
        assert told in " ".join(finished.out.split())
        assert "secret" not in finished.out + finished.err
    assert (ran.code, shown.code) == (5, 0)


def test_now_takes_all_that_is_due_and_leaves_what_fails_on_the_list(store, ids, model):
    model.answers[3] = Reply("I would rather not.")
    finished = retold_here("extract", "--pending", "--now", "--json", store=store)

    assert finished.code == 5
    runs = {run["session_id"]: run for run in finished.document["runs"]}
    left = {each["reason"]: key for key, each in runs.items()}
    assert sorted(each["done"] for each in runs.values()) == ["failed", "reviewed"]
    assert finished.err == (
        "extracted 50 %, 1 of 2 sessions\n"
        "extracted 100 %, 2 of 2 sessions\n"
        "retold: 1 session not extracted (invalid_completion); the list keeps what is left: "
        "`retold extract --pending`\n"
    )
    assert state(store, left["invalid_completion"]).next_at is not None


@pytest.mark.parametrize("hosted", ["allow_scopes: ['project:*']", "enabled: false"])
def test_now_sends_nothing_that_the_settings_keep_here(store, ids, tmp_path, model, hosted):
    config = tmp_path / "closed.yaml"
    config.write_text(HUEY + f"hosted: {{{hosted}}}\n", encoding="utf-8")

    line = refusal(retold_here("extract", ids["fresh"], "--now", "--config", config, store=store))
    assert f"hosted.{hosted.partition(':')[0]}" in line
    assert model.bodies == []
    assert state(store, ids["fresh"]).requested_at is None


def test_now_without_a_key_asks_for_nothing_and_names_the_variable(store, ids, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    line = refusal(retold_here("extract", ids["fresh"], "--now", store=store))
    assert "set the environment variable ANTHROPIC_API_KEY" in line
    assert state(store, ids["fresh"]).requested_at is None

import pytest

from retold.config import parse_config
from retold.errors import (
    BudgetExhausted,
    HostedNotAllowed,
    ProviderNotConfigured,
    RetoldSetupError,
    StoreBusy,
)
from retold.operations.circuit import hosted_door
from retold.operations.heartbeat import note_heartbeat
from retold.operations.steps import ExtractionSteps
from retold.operations.worker_health import workers_health
from retold.queue import QUEUES, file_identity, make_storage, queue_path, reset_queue
from retold.store.providers import Circuit, Door
from retold.testing import MemoryLab


@pytest.fixture
def lab(tmp_path):
    with MemoryLab.open(tmp_path / "memory.sqlite") as opened:
        yield opened


def file_of(lab, name):
    return queue_path(lab.path, None, name)


def make_file(lab, name):
    storage = make_storage(name, file_of(lab, name), timeout_seconds=1)
    storage.initialize_schema()
    storage.close()


def beat(lab, name, lacks=None):
    file = file_identity(file_of(lab, name))
    note_heartbeat(lab.store, name, pid=7, file=file, lacks=lacks)


def asked(lab, name):
    """Return the id of a conversation that has ended and waits for its extraction."""
    principal = lab.session("ana", session_id=name).principal
    return lab.runtime.hooks.on_session_end(principal, extract=True).id


def failing(error):
    """Return a step that fails so."""

    def step(claim, renew):
        raise error

    return step


@pytest.fixture
def working(lab):
    for name in QUEUES:
        make_file(lab, name)
        beat(lab, name)
    return lab


def look(lab):
    return workers_health(lab.store, lab.config)


def test_working_workers_have_no_problem(working):
    health = look(working)

    assert (health.problems, health.notices) == ((), ())
    assert [each.state.name for each in health.queues] == list(QUEUES)


def test_workers_that_were_never_started_are_named_with_the_command(lab):
    assert look(lab).problems == (
        "extraction: no worker was ever seen; start `retold worker extraction`",
        "maintenance: no worker was ever seen; start `retold worker maintenance`",
    )


def test_queue_file_that_is_gone_is_told_although_its_consumer_lives(working):
    reset_queue(file_of(working, "extraction"), "old")

    (problem,) = look(working).problems
    assert problem == "extraction queue: there is no such file; start the workers"


@pytest.mark.parametrize(
    ("silent", "told"), [({"minutes": 10}, "10 minutes"), ({"seconds": 9}, "9 seconds")]
)
def test_consumer_that_went_silent_is_told_with_its_process(working, silent, told):
    working.clock.advance(**silent)
    beat(working, "maintenance")

    config = parse_config({"queue": {"sweep_seconds": 1}}, profile="offline")
    (problem,) = workers_health(working.store, config).problems
    assert problem.startswith(f"extraction: no sign of life for {told} (process 7)")


def test_sign_of_life_from_a_clock_that_was_set_back_is_none(working):
    working.clock.advance(days=-1)
    beat(working, "maintenance")

    (problem,) = look(working).problems
    assert problem.startswith("extraction: the last sign of life is of a clock that was set back")


def test_consumer_that_reads_a_removed_file_is_told(working):
    reset_queue(file_of(working, "extraction"), "old")
    make_file(working, "extraction")

    (problem,) = look(working).problems
    assert "reads another file" in problem


def test_damaged_queue_is_told_with_the_command_that_helps(working):
    file_of(working, "extraction").write_bytes(b"no database" * 500)

    (problem,) = look(working).problems
    assert problem.startswith("extraction queue:")
    assert "retold queue reset" in problem


def test_backlog_and_dead_letters_are_notices(working):
    dead = [asked(working, name) for name in ("monday", "tuesday")][-1]
    with working.store.write() as tx:
        tx.claims.bury(dead, "invalid_completion")
    working.clock.advance(minutes=20)
    for name in QUEUES:
        beat(working, name)
    health = look(working)

    assert health.problems == ()
    assert health.notices == (
        "1 session was set aside after too many attempts",
        "the oldest of 1 waiting sessions waits for 20 minutes",
    )


def test_foreign_rows_are_counted(working):
    storage = make_storage("extraction", file_of(working, "extraction"), timeout_seconds=1)
    storage.enqueue(b"\x80\x04N.", 0)
    storage.close()

    assert look(working).notices == ("extraction queue: 1 foreign rows will be dropped",)


@pytest.mark.parametrize(("waiting", "told"), [(0, 0), (1, 1)])
def test_provider_that_does_not_answer_is_told_while_somebody_waits_for_it(working, waiting, told):
    """One that the settings named before, and nobody asks any more, is told no longer."""
    address = "http://[::1]:9999/path-secret/v1"
    settings = {
        "hosted": {"custom": {"base_url": address}},
        "ingestion": {"extraction_model": "custom/llama"},
    }
    config = parse_config(settings, profile="offline")
    door = hosted_door("custom/llama", config)
    for number in range(waiting):
        asked(working, f"day {number}")
    with working.store.write() as tx:
        for one in (door, Door("custom", "http://[::1]:8888")):
            tx.providers.set(one, Circuit("open", 4, tx.now))

    health = workers_health(working.store, config)
    assert health.problems == ()
    assert len(health.notices) == told
    for notice in health.notices:
        assert notice.startswith("custom at http://[::1]:9999 did not answer 4 times in a row: l")


NO_KEY = "no key for anthropic: set the environment variable ANTHROPIC_API_KEY"


@pytest.mark.parametrize(
    ("waiting", "told"),
    [
        (0, (0, 1, "no sessions wait for it")),
        (1, (1, 0, "1 session waits for it")),
        (2, (1, 0, "2 sessions wait for it")),
    ],
)
def test_worker_that_lacks_a_key_is_a_problem_as_soon_as_a_session_waits(working, waiting, told):
    beat(working, "extraction", lacks=NO_KEY)
    for number in range(waiting):
        session_id = asked(working, f"day {number}")
        steps = ExtractionSteps(working.store, working.config, failing(RetoldSetupError(NO_KEY)))
        assert steps.run(session_id).reason == "setup_required"
    health = look(working)

    assert (len(health.problems), len(health.notices)) == told[:2]
    (sentence,) = health.problems + health.notices
    assert sentence == f"extraction: {NO_KEY}; then start the worker again, {told[2]}"


def test_key_that_was_given_lets_those_that_waited_for_it_go_on_at_once(working):
    steps = ExtractionSteps(working.store, working.config, failing(RetoldSetupError(NO_KEY)))
    stuck, refused = asked(working, "monday"), asked(working, "tuesday")
    assert steps.run(stuck).done == "failed"
    steps.work = failing(ProviderNotConfigured("the key is refused"))
    assert steps.run(refused).done == "failed"
    assert steps.due() == []

    beat(working, "extraction")  # it lacked nothing that it could know of
    assert steps.due() == []
    beat(working, "extraction", lacks=NO_KEY)
    assert steps.due() == []
    beat(working, "extraction")
    assert steps.due() == [stuck]
    with working.store.read() as tx:
        assert tx.claims.require(stuck).attempts == 0


@pytest.mark.parametrize(
    ("error", "is_problem", "says"),
    [
        (RetoldSetupError(NO_KEY), True, NO_KEY),
        (ProviderNotConfigured("the key is refused", address="here"), True, "the key is refused"),
        (ProviderNotConfigured("of an integrator's own"), True, "`retold extract --pending` lists"),
        (BudgetExhausted("4 tokens do not fit"), False, "hosted.tokens_per_run or"),
        (HostedNotAllowed("text of ana's"), False, "hosted.enabled or hosted.allow_scopes keeps"),
    ],
)
def test_session_that_waits_for_a_setting_is_told_at_once_in_the_words_of_its_failure(
    working, error, is_problem, says
):
    session_id = asked(working, "monday")
    ExtractionSteps(working.store, working.config, failing(error)).run(session_id)
    health = look(working)

    (sentence,) = health.problems if is_problem else health.notices
    assert len(health.problems + health.notices) == 1
    assert sentence.startswith(f"1 session waits for a setting ({error.code}): {says}")


def test_rerun_waits_like_any_other_and_a_better_moment_is_no_setting(working):
    session_id = asked(working, "monday")
    with working.store.write() as tx:
        tx.claims.finish(session_id)
        tx.claims.rerun(session_id)
    steps = ExtractionSteps(working.store, working.config, failing(StoreBusy()))
    assert steps.run(session_id).reason == "store_busy"
    health = look(working)

    assert health.backlog.waiting == 1
    assert (health.problems, health.notices) == ((), ())

"""The commands of the maintenance: what they print, and how they end."""

import pytest

from retold.operations.maintenance.leases import leased
from retold.store import Store
from retold.util import system_clock
from tests.cli_support import refusal, retold, retold_here
from tests.maintenance_support import (
    Clock,
    expiring_store,
    full_store,
    open_at,
    reviewable_store,
)

COMMANDS = {"expire": expiring_store, "retain": full_store, "review-due": reviewable_store}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.sqlite"


def test_expire_says_how_many_and_finds_nothing_the_second_time(path):
    expiring_store(path, rows=3)

    first = retold("expire", "--store", path, "--as", "ops")
    second = retold_here("expire", "--store", path, "--json")

    assert (first.code, first.out, first.err) == (0, "expired    4 records\n", "")
    assert second.document == {"expired": 0, "resumed": False}
    with Store.open(path) as store, store.read() as tx:
        assert {event.actor for event in tx.events.list_by_kind("record.status")} == {"ops"}


def test_retain_previews_removes_and_says_what(path):
    full_store(path)

    preview = retold_here("retain", "--store", path, "--dry-run", "--json").document
    with Store.open(path) as store, store.read() as tx:
        assert tx.one("select count(*) from search_log")[0] == 4
    done = retold_here("retain", "--store", path, "--json").document
    again = retold_here("retain", "--store", path)

    assert preview["dry_run"]
    assert preview["log"] is None
    assert preview["removed"] == done["removed"]
    assert done["removed"]["turns"] >= 9
    assert done["log"]["emptied"]
    assert again.out.startswith("nothing    has been kept for long enough to go\n")


def test_retain_counts_in_words(path):
    full_store(path)
    preview = retold_here("retain", "--store", path, "--dry-run")
    done = retold_here("retain", "--store", path)

    assert preview.out.splitlines()[0] == "would go   what is counted here"
    assert done.out.splitlines()[0] == "removed    what is counted here"
    assert "kept       the words of 1 session as old, which nobody extracted" in done.out


def test_retain_ends_with_5_while_a_reader_keeps_the_log(path):
    full_store(path)
    with Store.open(path) as store:
        with store.write() as tx:
            tx.meta.set_text("somebody", "writes")
        with store.read() as tx:
            tx.meta.row_counts()
            done = retold_here("retain", "--store", path)
        later = retold_here("retain", "--store", path)

    assert done.code == 5
    assert done.err.splitlines()[-1] == (
        "retold: a reader keeps earlier pages in the log of the store; "
        "run the command again when it has left"
    )
    assert later.code == 0


def test_retain_takes_its_days_from_the_settings(path, tmp_path):
    full_store(path)
    config = tmp_path / "retold.yaml"
    config.write_text("sessions: {retain_days: 99999}\nlogs: {retain_days: 99999}\n", "utf-8")

    kept = retold_here("retain", "--store", path, "--config", config, "--json").document

    assert set(kept["removed"].values()) == {0}


def test_review_due_flags_lists_and_ends_with_3_beyond_the_backlog(path, tmp_path):
    reviewable_store(path, rows=3)
    config = tmp_path / "retold.yaml"
    config.write_text("reviews: {max_open: 2}\n", "utf-8")

    first = retold_here("review-due", "--store", path)
    listed = retold_here("review-due", "--store", path, "--list", "--config", config)
    document = retold_here("review-due", "--store", path, "--list", "--json").document
    rest = retold_here(
        *("review-due", "--store", path, "--list", "--json"),
        *("--after", document["reviews"][0]["id"]),
    ).document

    assert (first.code, first.err) == (0, "")
    assert first.out.splitlines()[0] == "flagged    4 records"
    assert listed.code == 3
    assert listed.err == "retold: the reviews pile up: 4 are open, more than 2\n"
    assert "plan 0" in listed.out
    assert (len(document["reviews"]), len(rest["reviews"])) == (4, 3)
    assert not document["breached"]


def test_page_of_reviews_says_how_to_go_on(path):
    reviewable_store(path, rows=3)
    retold_here("review-due", "--store", path)

    page = retold_here("review-due", "--store", path, "--list", "--limit", "2")
    after = page.out.splitlines()[-2].rpartition("--after ")[2]
    rest = retold_here("review-due", "--store", path, "--list", "--limit", "3", "--after", after)

    assert len(rest.out.splitlines()) > 0
    assert "--after" not in rest.out
    assert refusal(retold_here("review-due", "--store", path, "--after", after)).startswith(
        "retold: --after goes on with a list; pass --list too"
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_command_that_finds_the_job_running_says_who_and_ends_with_5(path, command):
    COMMANDS[command](path)
    with open_at(path, Clock(system_clock())) as store, leased(store, command):
        line = refusal(retold_here(command, "--store", path), 5)

    assert f"{command} is already running in process" in line
    assert "it holds the job until" in line


@pytest.mark.parametrize("command", COMMANDS)
def test_command_is_for_operators(path, command):
    COMMANDS[command](path)

    assert "for operators" in refusal(retold_here(command, "--store", path, "--as", "helper/ana"))


@pytest.mark.parametrize("command", COMMANDS)
def test_command_makes_no_store(path, command):
    assert "there is no store" in refusal(retold_here(command, "--store", path))
    assert not path.exists()


def test_progress_is_told_on_standard_error(path):
    expiring_store(path, rows=200)

    finished = retold_here("expire", "--store", path)

    assert finished.out == "expired    201 records\n"
    assert all(line.startswith("expired ") for line in finished.err.splitlines())
    assert finished.err

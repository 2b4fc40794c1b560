"""``get``, ``list``, ``history`` and ``scope list``: what an operator sees, as text and as JSON."""

import json
from datetime import datetime, timedelta

import pytest
from wcwidth import wcswidth

from retold import Retold
from retold.store import Store
from tests.cli_support import refusal, retold_here

PRIVATE = "agent:helper/ana"


@pytest.fixture
def ids(store):
    """Return the ids of the store's records by a word of theirs."""
    page = retold_here(
        "list", "--json", "--status", "confirmed", "--status", "superseded", store=store
    )
    words = {"Porto": "Porto", "Braga": "Braga", "walnuts": "walnuts", "tea": "乌龙茶"}
    return {
        name: next(one["id"] for one in page.document["records"] if word in one["content"])
        for name, word in words.items()
    }


# --- get ------------------------------------------------------------------------------


def test_get_prints_a_record_with_lineage_observations_and_events(store, ids):
    finished = retold_here("get", ids["Braga"], store=store)
    lines = finished.out.splitlines()
    document = retold_here("get", ids["Braga"], "--json", store=store).document
    (record,) = document["records"]

    assert (finished.code, finished.err) == (0, "")
    assert lines[0] == f"record     {ids['Braga']}"
    assert "says       Ana lives in Braga." in lines
    assert 'quote      "I live in Braga now"' in lines
    assert f"versions   1  {ids['Porto']}" in lines
    assert f"           2  {ids['Braga']} this one" in lines
    assert record["lineage"] == [ids["Porto"], ids["Braga"]]
    assert [(one["kind"], one["name"]) for one in record["entities"]] == [("person", "ana")]
    assert f"entities   {record['entity_ids'][0]} person ana" in lines
    assert record["observations"][0]["quote"] == "I live in Braga now"
    assert record["events"][0]["kind"] == "record.created"
    assert record["events"][0]["payload"]["supersedes"] == ids["Porto"]
    assert any("record.created" in line for line in lines)
    assert max(map(wcswidth, lines)) <= 80


def test_get_of_several_prints_those_there_are_and_leaves_with_2(store, ids):
    finished = retold_here("get", ids["tea"], "nobody", ids["Porto"], store=store)

    assert finished.code == 2
    assert finished.out.index(ids["tea"]) < finished.out.index(ids["Porto"])
    assert finished.err == "retold: no record 'nobody'; `retold list` shows the ids there are\n"
    document = retold_here("get", ids["tea"], "nobody", "--json", store=store).document
    assert document["missing"] == ["nobody"]


def test_get_shows_a_forgotten_record_as_a_tombstone(store, ids):
    with Retold.open(store) as opened, opened.session("ana", agent_id="helper") as session:
        session.forget(ids["walnuts"])

    finished = retold_here("get", ids["walnuts"], store=store)
    document = retold_here("get", ids["walnuts"], "--json", store=store).document

    assert "forgotten" in finished.out
    assert "walnuts" not in finished.out
    assert document["records"][0]["tombstone"] is True
    assert "walnuts" not in json.dumps(document)


@pytest.mark.parametrize(
    "given", [["\udcff"], [" "], ["\x1b[31m"], ["x" * 600], [f"id{n}" for n in range(101)]]
)
def test_get_refuses_ids_that_are_none(given, store):
    line = refusal(retold_here("get", *given, store=store))

    assert "ids" in line
    assert "\x1b" not in line


# --- list -----------------------------------------------------------------------------


def test_list_shows_the_active_records_newest_first(store, ids):
    finished = retold_here("list", store=store)
    page = retold_here("list", "--json", store=store).document

    assert [one["id"] for one in page["records"]] == [ids["Braga"], ids["tea"], ids["walnuts"]]
    assert page["next_after"] is None
    assert finished.out.splitlines()[0] == "1   Ana lives in Braga."
    assert ids["walnuts"] in finished.out
    assert ids["Porto"] not in finished.out


def test_list_goes_on_after_a_page(store, ids):
    first = retold_here("list", "--limit", "2", store=store)
    page = retold_here("list", "--limit", "2", "--json", store=store).document
    rest = retold_here("list", "--after", page["next_after"], "--json", store=store).document

    assert first.out.endswith(f"more       the same with --after {ids['tea']}\n")
    assert [one["id"] for one in rest["records"]] == [ids["walnuts"]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--status", "superseded"), ["Ana lives in Porto."]),
        (("--type", "episodic"), []),
        (("--scope", "project:apollo"), ["The launch is at dawn."]),
        (("--scope", PRIVATE, "--limit", "1"), ["Ana lives in Braga."]),
    ],
    ids=["status", "type", "scope", "limit"],
)
def test_list_options_narrow(options, expected, store):
    with Retold.open(store) as opened:
        opened.host.write("project:apollo", "The launch is at dawn.")
    page = retold_here("list", "--json", *options, store=store).document

    assert [one["content"] for one in page["records"]] == expected


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--type", "episodic"), "nothing    no such record"),
        (("--after", "nobody"), "nothing    comes after that record, or there is no such record"),
    ],
)
def test_list_of_nothing_says_so(options, said, store):
    finished = retold_here("list", *options, store=store)

    assert (finished.code, finished.err) == (0, "")
    assert finished.out.startswith(said)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            ("list", "--scope", "user:nobody"),
            "no records in scope 'user:nobody'; see `retold scope",
        ),
        (
            ("dump", "--scope", "user:nobody"),
            "no records in scope 'user:nobody'; see `retold scope",
        ),
        (("list", "--scope", "nobody"), "such as user:ana"),
        (("list", "--scope", "team:x"), "choose one of"),
        (("list", "--scope", "user:\udcff"), "surrogate"),
        (("list", "--after", "\udcff"), "surrogate"),
        (("list", "--limit", "0"), "0 is not in the range"),
        (("list", "--status", "lost"), "'lost' is not one of"),
        (("list", "--type", "dream"), "'dream' is not one of"),
        (("dump", "--type", "dream"), "'dream' is not one of"),
        (("history", "nobody"), "no record 'nobody'; `retold list` shows the ids there are"),
        (("get", "mem_1a2b3c4d"), "what follows mem_ is the end of one"),
        (("history", "mem_1a2b3c4d"), "what follows mem_ is the end of one"),
        (("history", "\udcff"), "surrogate"),
        (("history", "x", "--known-at", "yesterday"), "no ISO 8601 moment"),
        (("history",), "Missing argument"),
        (("get",), "Missing argument"),
    ],
    ids=lambda value: (
        "-".join(value).encode("ascii", "replace").decode() if isinstance(value, tuple) else ""
    ),
)
def test_reading_refuses_what_is_not_there_or_is_no_name(command, said, store):
    assert said in refusal(retold_here(*command, store=store))


# --- history --------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["Porto", "Braga"])
def test_history_shows_every_version_whichever_is_named(version, store, ids):
    finished = retold_here("history", ids[version], store=store)
    document = retold_here("history", ids[version], "--json", store=store).document
    lines = finished.out.splitlines()
    moments = [line.strip() for line in lines if "believed" in line]

    assert [one["id"] for one in document["versions"]] == [ids["Porto"], ids["Braga"]]
    assert [one["status"] for one in document["versions"]] == ["superseded", "confirmed"]
    assert "1   Ana lives in Porto." in lines
    assert "2   Ana lives in Braga." in lines
    assert [moment.count(" UTC") for moment in moments] == [2, 1]
    assert " to " in moments[0]
    assert "since" in moments[1]


def test_history_known_at_shows_what_was_there_then(store, ids):
    (record,) = retold_here("get", ids["Braga"], "--json", store=store).document["records"]
    before = datetime.fromisoformat(record["created_at"]) - timedelta(microseconds=1)

    document = retold_here(
        "history", ids["Porto"], "--known-at", before.isoformat(), "--json", store=store
    ).document

    assert [one["status"] for one in document["versions"]] == ["confirmed"]


# --- scope list -----------------------------------------------------------------------


def test_scope_list_counts_records_and_names_grants(store):
    retold_here("grant", "planner", "project:apollo", "--read", store=store)
    finished = retold_here("scope", "list", store=store)
    document = retold_here("scope", "list", "--json", store=store).document

    assert document["scopes"] == [
        {"scope": PRIVATE, "active": 3, "total": 4, "grants": [], "rights": None},
        {
            "scope": "project:apollo",
            "active": 0,
            "total": 0,
            "grants": [
                {
                    "agent_id": "planner",
                    "scope": "project:apollo",
                    "can_read": True,
                    "can_write": False,
                }
            ],
            "rights": None,
        },
    ]
    assert finished.out.splitlines() == [
        "active  all  scope",
        f"     3    4  {PRIVATE}",
        "     0    0  project:apollo",
        "",
        "grants",
        "may   agent and scope",
        "read  planner on project:apollo",
    ]


def test_scope_list_of_an_empty_store_says_so(tmp_path):
    Store.open(tmp_path / "new.sqlite").close()

    finished = retold_here("scope", "list", store=tmp_path / "new.sqlite")

    assert (finished.code, finished.out) == (0, "nothing    no scope holds anything yet\n")


def test_scope_alone_shows_its_help(store):
    finished = retold_here("scope", store=store)

    assert finished.code == 0
    assert finished.out.startswith("Usage: retold scope")

"""With ``--as AGENT/USER`` nothing that those two may not read is in any output.

Every scope of the store holds words and ids of its own; whatever a command prints for a pair is
searched for those of the scopes that the pair cannot read. The tests fail when
``retold.cli.reading.opened_reading`` reads as the operator, or when ``get`` adds events.
"""

import json
from itertools import chain

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retold import Retold
from retold.cli.app import COMMANDS
from retold.host import set_grant, take_grant
from retold.models import Principal, Scope
from retold.policy.grants import readable_scopes
from retold.store import Store
from tests.cli_support import refusal, retold_here
from tests.examples import examples

PAIRS = ("helper/ana", "helper/bob", "critic/ana", "planner/omar")
SHARED = ("user:ana", "user:bob", "project:apollo", "org:acme")
GRANTS = [(agent, scope) for agent in ("helper", "critic", "planner") for scope in SHARED]
OPERATORS = (
    *("status", "migrate", "grant", "revoke", "sessions", "expire", "retain", "review-due"),
    "token-vectors",
    *("worker", "workers", "queue", "extract", "calibrate"),
)


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    """Make a store with records in private and shared scopes, linked across them."""
    path = tmp_path_factory.mktemp("pairs") / "memory.sqlite"
    with Retold.open(path, profile="offline") as retold:
        for agent, scope in GRANTS:
            retold.host.grant(agent, scope, read=True, write=True)
        for number, scope in enumerate(SHARED):
            for nth in range(3):
                retold.host.write(scope, f"marker{number}shared{nth} is kept here", subject="Kim")
        for number, pair in enumerate(PAIRS):
            agent, user = pair.split("/")
            retold.host.revoke(agent, f"user:{user}")
            with retold.session(user, agent_id=agent, session_id=f"chat-{pair}") as session:
                for nth in range(3):
                    told = f"marker{number}private{nth} is my home"
                    session.remember(told, evidence=told, attribute="home")
                session.forget(session.list().records[0].id)
        link_across_scopes(retold)
    return path


def link_across_scopes(retold):
    """Let records of ana's own scope conflict with, and replace, private ones of helper/ana."""
    city = {"attribute": "home_city"}
    with retold.session("ana", agent_id="helper", session_id="before") as session:
        private = session.remember("Ana lives in Marker7", evidence="I live in Marker7", **city)
    retold.host.grant("helper", "user:ana", read=True, write=True)
    with retold.session("ana", agent_id="helper", session_id="after") as session:
        told = session.remember(
            "Ana lives in Marker8",
            evidence="Ana lives in Marker8",
            source_kind="tool_result",
            **city,
        )
        new = session.remember("Ana lives in Marker9", evidence="I live in Marker9", **city)
        views = session.get([told.record_id, new.record_id]).found
    assert {str(view.scope) for view in views} == {"user:ana"}
    assert private.record_id in views[1].lineage
    assert private.record_id in {one.record_id for view in views for one in view.conflicts}


@pytest.fixture(scope="module")
def possessions(shared_store):
    """Return, by scope, all that only its readers may see: words, ids of records and entities."""
    with Store.open(shared_store, read_only=True) as store, store.read() as tx:
        scopes = {str(tx.scopes.get(code)) for (code,) in tx.run("select code from scopes")}
        found = {scope: {scope} for scope in scopes}
        for (seq,) in list(tx.run("select seq from records")):
            record = tx.records.by_seqs([seq])[seq]
            words = {word for word in record.content.split() if word.lower().startswith("marker")}
            found[str(record.scope)] |= {record.id, *words, *record.entity_ids}
    return found


def unreadable(store, possessions, pair):
    """Return what must not be printed for a pair, ids of shared conversations included."""
    agent, user = pair.split("/")
    with store.read() as tx:
        readable = {str(scope) for scope in readable_scopes(tx, Principal(agent, user))}
    hidden = set(chain.from_iterable(possessions[s] for s in possessions if s not in readable))
    return hidden - set(chain.from_iterable(possessions[s] for s in readable & set(possessions)))


def arrange(store, granted):
    for agent, scope in GRANTS:
        if (agent, scope) in granted:
            set_grant(store, "admin", agent, scope, read=True, write=True)
        else:
            take_grant(store, "admin", agent, scope)


def commands(possessions):
    """Return every reading command line, asked about everything there is."""
    ids = sorted(one for kept in possessions.values() for one in kept if one.startswith("0"))
    yield ("list", "--limit", "1000")
    statuses = ("provisional", "confirmed", "superseded", "expired", "deleted")
    yield ("list", *chain.from_iterable(("--status", one) for one in statuses))
    yield ("dump",)
    yield ("dump", "--history")
    yield ("scope", "list")
    yield ("get", *ids)
    for record_id in ids:
        yield ("history", record_id)
        yield ("list", "--after", record_id)
    for scope in possessions:
        yield ("list", "--scope", scope)
        yield ("dump", "--scope", scope, "--history")


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), granted=st.sets(st.sampled_from(GRANTS)), pair=st.sampled_from(PAIRS))
def test_reading_as_a_pair_shows_nothing_that_it_may_not_read(
    data, granted, pair, shared_store, possessions
):
    lines = list(commands(possessions))
    command = data.draw(st.sampled_from(lines[:6]) | st.sampled_from(lines))
    with Store.open(shared_store) as store:
        arrange(store, granted)
        hidden = unreadable(store, possessions, pair)
    asked = {word for word in command if len(word) > 10}

    for options in ((), ("--json",)):
        finished = retold_here("--as", pair, *command, *options, store=shared_store)
        printed = finished.out + "".join(
            line for line in finished.err.splitlines() if not line.startswith("retold: no record")
        )

        assert finished.code in (0, 2)
        shown = {one for one in hidden if one in printed}
        assert shown <= (asked if finished.code == 2 or "missing" in printed else set()), command


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("options", [("--log",), ("--json",)])
def test_searching_as_a_pair_shows_nothing_that_it_may_not_read(
    pair, options, shared_store, possessions
):
    with Store.open(shared_store) as store:
        arrange(store, {("helper", "project:apollo"), ("planner", "user:ana")})
        hidden = unreadable(store, possessions, pair)

    finished = retold_here(
        "search", "--as", pair, "--history", "-k", "50", *options, "my home", "is kept here",
        store=shared_store,
    )  # fmt: skip

    assert (finished.code, finished.err) == (0, "")
    assert not {one for one in hidden if one in finished.out}
    assert f"agent:{pair}" in finished.out


def test_foreign_record_and_scope_are_answered_like_missing_ones(shared_store, possessions):
    foreign = next(one for one in possessions["agent:helper/ana"] if one.startswith("0"))
    asked = [
        (("get",), foreign, foreign[:-4] + "0000"),
        (("history",), foreign, foreign[:-4] + "0000"),
        (("list", "--scope"), "agent:helper/ana", "agent:helper/eva"),
        (("dump", "--scope"), "agent:helper/ana", "agent:helper/eva"),
        (("list", "--after"), foreign, foreign[:-4] + "0000"),
    ]
    for command, theirs, nobodys in asked:
        one = retold_here("--as", "critic/bob", *command, theirs, store=shared_store)
        other = retold_here("--as", "critic/bob", *command, nobodys, store=shared_store)

        assert (one.code, one.out, one.err.replace(theirs, "")) == (
            other.code,
            other.out,
            other.err.replace(nobodys, ""),
        )


def test_pair_reads_its_own_records_and_what_was_granted(shared_store):
    with Store.open(shared_store) as store:
        arrange(store, {("planner", "project:apollo")})

    dumped = retold_here("dump", "--as", "planner/omar", "--history", store=shared_store)
    records = [json.loads(line) for line in dumped.out.splitlines()]

    assert {one["scope"] for one in records} == {"agent:planner/omar", "project:apollo"}
    assert len(records) == 5
    assert "1 forgotten" in dumped.err
    (shown,) = retold_here("get", "--as", "planner/omar", records[0]["id"],
        "--json", store=shared_store).document["records"]  # fmt: skip
    assert not {"events", "observations", "entities"} & set(shown)


def test_pair_that_asks_for_another_pairs_scope_by_search_is_refused(shared_store):
    line = refusal(
        retold_here("search", "--as", "helper/ana", "--user", "bob", "x", store=shared_store)
    )

    assert "--as helper/ana and --user bob are not the same" in line


@pytest.mark.parametrize(
    "command",
    [
        ("status",),
        ("migrate",),
        ("grant", "helper", "user:ana", "--read"),
        ("revoke", "helper", "user:ana"),
        ("sessions", "list"),
        ("expire",),
        ("retain", "--dry-run"),
        ("review-due",),
        ("worker", "all"),
        ("workers", "health"),
        ("queue", "reset"),
        ("extract", "--pending"),
        ("extract", "chat-1"),
        ("calibrate",),
    ],
)
def test_commands_for_operators_refuse_a_pair(command, shared_store):
    before = shared_store.read_bytes()

    line = refusal(retold_here("--as", "helper/ana", *command, store=shared_store))

    assert "for operators" in line
    assert shared_store.read_bytes() == before


@pytest.mark.parametrize("name", ["a/", "/a", "a/b/c", "/"])
def test_half_a_pair_is_refused(name, shared_store):
    assert "AGENT/USER" in refusal(retold_here("list", "--as", name, store=shared_store))


def test_every_command_is_known_to_read_as_a_pair_or_to_refuse_one():
    """A new command belongs in one of these lists, and in the tests that go with it."""
    reading = {"search", "get", "list", "history", "dump", "scope"}
    without_a_store = {"completion", "demo", "evaluate", "models"}

    assert set(COMMANDS) <= reading | without_a_store | set(OPERATORS)


def test_scope_of_the_pair_is_there_without_records(shared_store):
    document = retold_here(
        "scope", "list", "--as", "new/kim", "--json", store=shared_store
    ).document

    assert document["scopes"] == [
        {
            "scope": str(Scope("agent", "new/kim")),
            "active": 0,
            "total": 0,
            "grants": None,
            "rights": "read and write",
        }
    ]

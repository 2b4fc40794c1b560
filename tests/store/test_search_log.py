"""Logged searches."""

from datetime import timedelta

import pytest

from retold.errors import InvalidInput
from retold.models import Principal
from retold.store.codec import to_text
from retold.store.search_log import COLUMNS, QUERIES


def row(search_id, clock, **values):
    """Return a valid row: JSON columns hold ``[]``, text columns a filler."""
    filler = dict.fromkeys(COLUMNS, "[]")
    plain = {"agent_id": "assistant", "user_id": "ana", "session_id": None, "context": None}
    return {
        **filler,
        **plain,
        "id": search_id,
        "at": to_text(clock.now),
        "trigger": "tool",
        "detail": "full",
        "rewrite_status": "disabled",
        "rerank_status": "disabled",
        "rerank_error": None,
        "empty_reason": None,
        "pipeline_version": "1",
        "warm": 1,
        **values,
    }


def test_search_log_columns_are_exactly_those_of_the_table(store):
    with store.read() as tx:
        columns = [name for (name,) in tx.run("select name from pragma_table_info('search_log')")]

    assert columns == ["seq", *COLUMNS]


@pytest.mark.parametrize("name", ["get", "insert", "page"])
def test_search_log_statements_name_every_column(name):
    words = set(QUERIES[name].replace(",", " ").replace("(", " ").replace(")", " ").split())

    assert set(COLUMNS) <= words


def test_search_log_returns_what_was_inserted(store, clock):
    expected = row("q1", clock, context="what about tea?", warm=0, fused='[["r1",1,0.5]]')
    with store.write() as tx:
        tx.search_log.insert(expected)

    with store.read() as tx:
        assert tx.search_log.get("q1") == expected
        assert tx.search_log.get("q2") is None


def test_search_log_refuses_missing_and_unknown_columns(store, clock):
    wrong = row("q1", clock)
    del wrong["dense"]
    wrong["denser"] = "[]"
    with store.write() as tx:
        with pytest.raises(InvalidInput, match=r"dense.*denser"):
            tx.search_log.insert(wrong)
        assert list(tx.search_log.iterate()) == []


@pytest.mark.parametrize("batch", [1, 2, 3, 200])
def test_search_log_iterates_in_order_whatever_the_batch(store, clock, batch):
    with store.write() as tx:
        for number in range(4):
            tx.search_log.insert(row(f"q{number}", clock))

        assert [found["id"] for found in tx.search_log.iterate(batch=batch)] == [
            "q0",
            "q1",
            "q2",
            "q3",
        ]


def test_search_log_iterates_half_open_times_and_one_user(store, clock):
    start = clock.now
    with store.write() as tx:
        for number in range(4):
            user_id = "bo" if number == 2 else "ana"
            tx.search_log.insert(row(f"q{number}", clock, user_id=user_id))
            clock.advance(hours=1)

        def found(**filters):
            return [found["id"] for found in tx.search_log.iterate(**filters)]

        assert found(since=start + timedelta(hours=1)) == ["q1", "q2", "q3"]
        assert found(until=start + timedelta(hours=1)) == ["q0"]
        assert found(user_id="bo") == ["q2"]


def test_search_log_ids_are_unique(store, clock):
    with store.write() as tx:
        tx.search_log.insert(row("q1", clock))
    with pytest.raises(Exception, match="SQLite refused"), store.write() as tx:
        tx.search_log.insert(row("q1", clock))


def test_search_log_finds_returned_ids_by_their_ending_in_one_conversation(store, clock):
    ids = [f"01890000-0000-7000-8000-0000000000{number:02}" for number in range(4)]
    ana, bo = Principal("helper", "ana", "chat"), Principal("helper", "bo", "chat")
    with store.write() as tx:
        own = tx.sessions.start(ana, "chat").id
        foreign = tx.sessions.start(bo, "chat").id
        others = tx.sessions.start(Principal("critic", "ana", "chat"), "chat").id
        tx.search_log.insert(row("q1", clock, session_id=own, returned=f'["{ids[0]}","{ids[1]}"]'))
        tx.search_log.insert(row("q2", clock, session_id=own, returned=f'["{ids[1]}"]'))
        tx.search_log.insert(row("q3", clock, session_id=foreign, returned=f'["{ids[2]}"]'))
        tx.search_log.insert(row("q4", clock, session_id=others, returned=f'["{ids[3]}"]'))

        def found(ending):
            return tx.search_log.returned_ending("helper", "ana", "chat", ending)

        assert found(ids[1][-8:]) == (ids[1],)
        assert found(ids[2][-8:]) == ()
        assert found(ids[3][-8:]) == ()

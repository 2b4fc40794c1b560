"""What every reader says about one record: expired, disputed, of another moment, unsupported."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from retold import InvalidInput
from tests.scenarios.support import RULES, contents

GUESS = {"source_kind": "agent_inference", "attribute": "hobby"}


def disagreement(world):
    """Return the ids of a confirmed record and of a provisional one that contradicts it."""
    strong = world.tell("Ana lives in Turin", attribute="home_city")
    weak = world.observe("Ana lives in Lecce", attribute="home_city")
    assert weak.outcome.startswith("conflict")
    return strong.record_id, weak.record_id


def test_record_past_its_expiry_is_expired_for_every_reader(world):
    """Search, list, get, status and revise follow one rule, and nothing has to sweep the row."""
    session = world.session()
    strong, weak = disagreement(world)

    world.clock.advance(timedelta(days=31))

    assert contents(session.search("Ana lives Turin Lecce")) == ["Ana lives in Turin"]
    assert [view.id for view in session.list()] == [strong]
    assert [view.id for view in session.list(status="expired")] == [weak]
    assert [view.status for view in session.get([strong, weak])] == ["confirmed", "expired"]
    assert [c.unresolved for view in session.get([strong, weak]) for c in view.conflicts] == [
        False,
        False,
    ]
    counts = session.status().records
    assert (counts["confirmed"], counts["provisional"], counts["expired"]) == (1, 0, 1)
    for action in ("confirm", "expire"):
        with pytest.raises(InvalidInput, match="is expired"):
            session.revise(weak, action, reason="it came up again")
    with pytest.raises(InvalidInput, match="is expired"):
        session.revise(weak, "supersede", content="Ana lives in Rome", reason="changed")
    assert session.forget(weak).tombstone


def test_search_with_history_names_an_expired_record_so(world):
    session = world.session()
    session.remember("The user plays go", **GUESS)
    world.clock.advance(timedelta(days=31))

    (found,) = session.search("plays go", include_history=True)

    assert (found.record.status, found.explanation.status) == ("expired", "expired")
    assert " · expired · " in session.search("plays go", include_history=True).text


def test_history_of_a_moment_tells_nothing_that_came_later(world):
    session = world.session()
    strong, weak = disagreement(world)
    then = world.clock()
    world.clock.advance(timedelta(days=2))
    session.revise(weak, "expire", reason="not so")
    newer = session.revise(
        strong, "supersede", content="Ana lives in Rome", evidence="I live in Rome", reason="moved"
    ).record_id

    (believed,) = session.history(newer, known_at=then)
    (doubted,) = session.history(weak, known_at=then)

    assert (believed.id, believed.status, believed.closed_at) == (strong, "confirmed", None)
    assert (doubted.status, doubted.closed_at) == ("provisional", None)
    assert believed.lineage == (strong,)
    assert [c.unresolved for c in (*believed.conflicts, *doubted.conflicts)] == [True, True]
    assert [one.status for one in session.history(newer)] == ["superseded", "confirmed"]


def test_history_of_a_moment_leaves_out_later_conflicts(world):
    strong = world.tell("Ana lives in Turin", attribute="home_city").record_id
    then = world.clock()
    world.clock.advance(timedelta(days=1))
    world.observe("Ana lives in Lecce", attribute="home_city")
    session = world.session()

    assert session.history(strong, known_at=then)[0].conflicts == ()
    assert len(session.history(strong)[0].conflicts) == 1


def test_history_refuses_a_moment_without_an_offset_by_name(world):
    session = world.session()
    record_id = session.remember("The user plays go", **GUESS).record_id

    with pytest.raises(InvalidInput, match=r"`known_at` has no UTC offset.*2026-01-01T00:00:00\+0"):
        session.history(record_id, known_at=datetime(2026, 1, 1))


def test_forgotten_version_is_a_tombstone_at_every_moment(world):
    session = world.session()
    record_id = session.remember("The user plays go", **GUESS).record_id
    then = world.clock()
    world.clock.advance(timedelta(days=1))
    session.forget(record_id)

    (seen,) = session.history(record_id, known_at=then)

    assert (seen.tombstone, seen.content) == (True, None)


def test_window_never_hides_that_a_claim_is_disputed(world):
    """The stronger side is shown beside the other, although the window would leave it out."""
    strong = world.tell("Ana lives in Turin", attribute="home_city").record_id
    world.clock.advance(timedelta(days=3))
    since = world.clock()
    weak = world.observe("Ana lives in Lecce", attribute="home_city").record_id

    page = world.session().search("Ana lives in Lecce", since=since)

    assert [found.record.id for found in page] == [strong, weak]
    assert page[1].explanation.conflicts_with == (strong,)


def test_pages_and_look_ups_are_read_like_sequences(world):
    strong, weak = disagreement(world)
    session = world.session()
    found, page, looked_up = (
        session.search("Ana lives in Lecce"),
        session.list(),
        session.get([strong, weak]),
    )

    assert (len(found), len(page), len(looked_up)) == (2, 2, 2)
    assert found[0] == found.items[0]
    assert found[-1:] == found.items[-1:]
    assert tuple(page) == page.records
    assert tuple(looked_up) == looked_up.found


def test_quote_that_failed_its_check_is_no_support(make_world):
    world = make_world(RULES)
    session = world.session()
    said, false = "I bought a red bicycle in Porto last week.", "The user is allergic to peanuts"
    session.turn("user", said)
    world.judge.declare_support(said, false, 0.1)
    backed = session.remember("The user bought a red bicycle", evidence=said)
    failed = session.remember(false, evidence=said, allow_inference=True)
    guess = session.remember("The user likes cycling", source_kind="agent_inference")

    views = session.get([backed.record_id, failed.record_id, guess.record_id])

    assert [view.evidence_supported for view in views] == [True, False, False]
    assert [view.evidence is None for view in views] == [False, False, True]

"""Events of writes that are not judged: manual revisions and imports."""

from __future__ import annotations

import pytest

from retold.ingest.trace import WRITE_STAGES
from tests.scenarios.support import PROJECT


def _revise(world):
    first = world.tell("Ana lives in Turin", attribute="home_city")
    said = "Now I live in Lecce, you know."
    result = world.session().revise(
        first.record_id, "supersede", reason="moved", content="Ana lives in Lecce", evidence=said
    )
    return result.record_id


def _import(world):
    return world.host.write(PROJECT, "The fair opens at nine", dedup=False).record_id


@pytest.mark.parametrize("write", [_revise, _import], ids=["revision", "import"])
def test_event_of_an_unjudged_write_carries_the_time_of_every_stage(world, write):
    (event,) = world.events("record.created", write(world))

    timed = set(event.payload["timings_ms"]) | set(event.payload["timings_pending"])
    assert timed == set(WRITE_STAGES)


def test_revision_under_the_same_attribute_records_no_alias(world):
    (event,) = world.events("record.created", _revise(world))

    assert event.payload["manual_revision"] is True
    assert "attribute_aliased_from" not in event.payload


def test_result_of_a_write_times_the_commit_and_the_index(world):
    """LLD 8.1: the event cannot know them, the result does."""
    session = world.session()
    result = session.remember("Likes chess", source_kind="agent_inference")

    assert set(result.timings_ms) == {*WRITE_STAGES, "total"}
    assert result.timings_ms["transaction"] > 0
    assert result.timings_ms["index_update"] > 0

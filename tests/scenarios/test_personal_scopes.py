"""A claim that lands in the other personal scope of its principal than the one it replaces."""

from __future__ import annotations

import pytest

from retold import Scope
from retold.testing import MemoryLab


@pytest.fixture
def lab():
    """A lab in which a writer that goes in circles gives up soon."""
    with MemoryLab.open(settings={"store": {"busy_timeout_seconds": 1}}) as lab:
        yield lab


@pytest.mark.parametrize("about", [None, "Alex"], ids=["the user", "somebody else"])
def test_the_first_claim_in_the_user_scope_replaces_the_private_one_it_contradicts(lab, about):
    """The subject's entity there is still to be made when the claim is compared.

    Leave ``links.original`` out of the comparison and the writer never stops trying.
    """
    session = lab.session("ana", agent="planner")

    def remember(city):
        content = f"{about or 'User'} lives in {city}"
        return session.remember(
            content, attribute="home_city", about=about, source_kind="agent_inference"
        )

    private = remember("Oslo")
    lab.retold.host.grant("planner", Scope("user", "ana"), read=True, write=True)
    lab.clock.advance(days=1)
    shared = remember("Rome")

    assert shared.outcome == f"superseded:{private.record_id}"
    (record,) = session.get(shared.record_id).found
    assert record.scope == Scope("user", "ana")
    assert record.lineage == (private.record_id, shared.record_id)

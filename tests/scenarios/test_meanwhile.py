"""What another process writes between a claim's comparison and its lock is never lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from retold.models import Verdict
from retold.testing import FakeJudge


class BusyJudge(FakeJudge):
    """A judge beside which something else happens while it thinks, once."""

    meanwhile: Callable[[], object] | None = None

    def judge(self, a: str, b: str) -> Verdict:
        happening, self.meanwhile = self.meanwhile, None
        if happening is not None:
            happening()
        return super().judge(a, b)


@pytest.fixture
def judge():
    return BusyJudge()


@pytest.fixture
def world(make_world, judge):
    return make_world(judge=judge)


def _said_again(world, judge, first, second):
    """Repeat a claim in two ways at one moment; return what came of the later one."""
    judge.declare("The user lives in Oslo", second, "same")
    judge.declare("The user lives in Oslo", first, "same")
    judge.declare(first, second, "same")
    world.tell("The user lives in Oslo", attribute="home_city")
    judge.meanwhile = lambda: world.tell(first, attribute="home_city")
    return world.tell(second, attribute="home_city")


def test_two_repetitions_at_one_moment_both_count(world, judge):
    """Give `list_again` the pairs as they were listed and one of them is lost."""
    result = _said_again(world, judge, "Oslo is where the user lives", "The user's home is Oslo")

    assert result.kind == "reinforced"
    (record,) = world.session().list().records
    assert (record.content, record.reinforcements) == ("The user lives in Oslo", 2)


def test_a_claim_replaced_at_that_moment_is_compared_again(world, judge):
    """Let `list_again` hold at any version and Rome is current beside Bergen."""
    world.tell("The user lives in Oslo", attribute="home_city")
    judge.meanwhile = lambda: world.tell("The user lives in Rome", attribute="home_city")
    world.clock.advance(days=1)

    world.tell("The user lives in Bergen", attribute="home_city")

    (record,) = world.session().list().records
    assert record.content == "The user lives in Bergen"
    replaced = world.session().list(status=["superseded"]).records
    assert {one.content for one in replaced} == {"The user lives in Oslo", "The user lives in Rome"}

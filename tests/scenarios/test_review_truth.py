"""What the store keeps, replaces and lets go, as a reviewer saw it go wrong; on real files."""

from __future__ import annotations

from datetime import timedelta

import pytest

from retold.ingest.lexical_judge import LexicalJudge
from retold.models import Verdict
from retold.testing import MemoryLab


@pytest.mark.parametrize(
    ("content", "type_"),
    [
        ("Wait until CI is green before merging", "procedural"),
        ("The user lived in Oslo until 2019", "semantic"),
        ("The user graduated this year", "semantic"),
        ("To this day the user drinks tea", "semantic"),
        ("Worked at Google until 2021-05-01", "semantic"),
        ("Moved to Porto this year", "semantic"),
    ],
)
def test_a_standing_fact_that_names_a_period_outlives_the_provisional_time(content, type_):
    with MemoryLab.open() as lab:
        session = lab.session()
        written = session.remember(content, evidence=content, type=type_)
        lab.clock.advance(days=400)

        (view,) = session.get(written.record_id).found
        assert (view.status, view.temporary, view.expires_at) == ("confirmed", False, None)
        assert written.record_id in [item.record.id for item in session.search(content)]


def test_a_confirmed_statement_that_ends_by_itself_still_ends():
    with MemoryLab.open() as lab:
        session = lab.session()
        written = session.remember(
            "For now the user prefers tea", source_kind="agent_inference", attribute="drink"
        )
        session.revise(written.record_id, "confirm", reason="asked")
        assert len(session.search("prefers tea")) == 1

        lab.clock.advance(days=31)
        assert len(session.search("prefers tea")) == 0


def test_a_repetition_does_not_keep_a_statement_past_its_stated_end():
    away = "The user is away until 2026-01-20"
    with MemoryLab.open() as lab:
        claim = {"source_kind": "agent_inference", "attribute": "away"}
        first = lab.session().remember(away, **claim)
        again = lab.session(session_id="other")
        again.turn("user", "I am away until 2026-01-20")
        again.remember(away, evidence="I am away until 2026-01-20", **claim)

        (view,) = lab.session().get(first.record_id).found
        assert view.valid_until is not None
        assert view.expires_at == view.valid_until


def test_looking_back_shows_the_winner_without_what_arrived_late_or_ran_out():
    """``as_of`` now is what is true now, as far as anybody said."""
    with MemoryLab.open() as lab:
        session = lab.session()
        session.turn("user", "I live in Porto now.", at=lab.clock())
        session.remember(
            "The user lives in Porto", evidence="I live in Porto now.", attribute="home_city"
        )
        late = session.remember(
            "The user lives in Lisbon",
            evidence="I live in Lisbon.",
            attribute="home_city",
            event_at=lab.clock() - timedelta(days=300),
        )
        session.remember("The user likes chess games", source_kind="agent_inference")
        assert late.kind == "superseded_on_arrival"
        before = lab.clock() - timedelta(days=1)
        lab.clock.advance(days=40)

        def seen(moment):
            page = session.search("Where does the user live, Lisbon or Porto", as_of=moment)
            return [item.record.content for item in page]

        assert seen(lab.clock()) == ["The user lives in Porto"]
        assert seen(before) == ["The user lives in Lisbon"]
        assert len(session.search("likes chess games", as_of=lab.clock())) == 0


@pytest.mark.parametrize("before", [(), ("wine",)], ids=["empty key", "a value under the key"])
def test_hating_retires_loving_under_another_key_whatever_its_own_key_holds(before):
    """B05: one current statement about coffee, whichever attributes the writer chose."""
    with MemoryLab.open(judge=LexicalJudge()) as lab:
        session = lab.session()
        session.remember(
            "The user loves coffee", evidence="I love coffee", attribute="morning_drink"
        )
        for drink in before:
            session.remember(
                f"The user loves {drink}", evidence=f"I love {drink}", attribute="evening_drink"
            )
        session.remember(
            "The user hates coffee", evidence="I hate coffee", attribute="evening_drink"
        )

        assert [view.content for view in session.list().records] == ["The user hates coffee"]


def test_a_tool_cannot_retire_a_users_word_under_another_key_and_says_so():
    with MemoryLab.open(judge=LexicalJudge()) as lab:
        session = lab.session()
        loved = session.remember(
            "The user loves coffee", evidence="I love coffee", attribute="morning_drink"
        )
        session.remember(
            "The user loves wine", source_kind="agent_inference", attribute="evening_drink"
        )
        hated = session.remember(
            "The user hates coffee", source_kind="agent_inference", attribute="evening_drink"
        )

        assert hated.outcome == f"conflict:{loved.record_id}"
        active = {view.content: view for view in session.list().records}
        assert len(active) == 3
        assert [c.record_id for c in active["The user loves coffee"].conflicts] == [hated.record_id]


class CountingJudge(LexicalJudge):
    """Remembers which older claims were compared."""

    def __init__(self) -> None:
        """Start with none."""
        super().__init__()
        self.compared: list[str] = []

    def judge(self, a: str, b: str) -> Verdict:
        """Note the older claim, then compare."""
        self.compared.append(a)
        return super().judge(a, b)


def test_only_the_values_that_may_matter_are_judged_where_an_attribute_holds_several():
    """A judge that is a model would be asked once per value, sixty times for sixty likes."""
    fruits = "apples bananas cherries dates figs grapes kiwis lemons mangoes plums".split()
    judge = CountingJudge()
    with MemoryLab.open(judge=judge) as lab:
        session = lab.session()
        for fruit in fruits:
            session.remember(
                f"The user likes {fruit}", evidence=f"I like {fruit} a lot", attribute="likes"
            )
        assert len(judge.compared) <= 5

        judge.compared.clear()
        session.remember("The user hates figs", evidence="I hate figs by now", attribute="likes")
        assert "The user likes figs" in judge.compared
        assert len(judge.compared) <= 3
        kept = [view.content for view in session.list().records]
        assert len(kept) == len(fruits)
        assert "The user likes figs" not in kept

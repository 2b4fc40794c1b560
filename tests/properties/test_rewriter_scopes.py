"""Whatever a rewriter answers, a search reads what its principal may read and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retold.models import RewriteResult, Scope
from retold.testing import FakeRewriter, MemoryLab

OWN = "The harbour fair was held in May"
STRANGERS = {
    "bob": "The zeppelin fair was held in June",
    "project": "The reactor fair was held in July",
}
SETTINGS = {"retrieval": {"rewrite": {"enabled": True, "timeout_ms": 60_000}}}
PHRASES = st.one_of(
    st.sampled_from(
        [
            *STRANGERS.values(),
            OWN,
            "user:bob",
            "scope: agent:assistant/bob",
            "project:apollo reactor",
            '"zeppelin" OR reactor*',
            "fair",
            "",
            "\x00",
        ]
    ),
    st.text(max_size=60),
)
ANSWERS = st.one_of(
    st.builds(
        RewriteResult,
        st.lists(PHRASES, max_size=5).map(tuple),
        st.sampled_from(["applied", "unchanged", "failed", "disabled"]),
    ),
    st.sampled_from([None, "zeppelin", 7, RewriteResult((7, None), "applied")]),
    st.just(TimeoutError("late")),
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Open a store of Ana, Bob and a project that nobody was granted."""
    path = tmp_path_factory.mktemp("rewriter") / "memory.sqlite"
    with MemoryLab.open(path, settings=SETTINGS, rewriter=FakeRewriter()) as opened:
        for user, content in (("ana", OWN), ("bob", STRANGERS["bob"])):
            with opened.retold.session(user) as session:
                session.turn("user", content)
                session.remember(content, evidence=content, type="episodic")
        opened.retold.host.write_many(Scope("project", "apollo"), [STRANGERS["project"]])
        yield opened


def asked(lab, queries, answer):
    """Search as Ana with a rewriter that answers, or raises, this."""
    rewriter = lab.overrides.rewriter
    rewriter.error = answer if isinstance(answer, Exception) else None
    rewriter.result = answer if rewriter.error is None else None
    with lab.retold.session("ana", project_id="apollo") as session:
        page = session.search(queries, context="user: tell me of the fair")
    with lab.retold.store.read() as tx:
        return page, tx.search_log.get(page.search_id)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.sampled_from(["harbour fair", "what about it"]), min_size=1, max_size=3), ANSWERS
)
def test_no_answer_of_a_rewriter_widens_the_scopes_of_a_search(lab, queries, answer):
    page, row = asked(lab, queries, answer)

    own = Scope("agent", "assistant/ana")
    assert {item.record.scope for item in page} <= {own}
    assert {item.record.content for item in page} <= {OWN}
    assert row["readable_scopes"] == f'["{own}"]'
    assert not any(content in row["candidates"] for content in STRANGERS.values())
    assert page.response.raw_queries == tuple(queries)
    assert page.response.rewrite_status in ("applied", "unchanged", "failed")


def test_words_of_strangers_find_nothing_and_own_ones_are_found(lab):
    """The property above is about something: rewritten queries are the ones that are searched."""
    for content in STRANGERS.values():
        page, _ = asked(lab, ["harbour fair"], RewriteResult((content,), "applied"))
        assert page.response.rewritten_queries == (content,)
    page, _ = asked(lab, ["what about it"], RewriteResult((OWN,), "applied"))

    assert [item.record.content for item in page] == [OWN]

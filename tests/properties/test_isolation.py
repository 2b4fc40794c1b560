"""Nothing a principal may not read appears in anything the library answers.

A random world of three agents, four users, two shared scopes and everybody's private and user
scopes is written to, revised, merged, granted, revoked and read. After every call all ids,
markers and counts in the answer (or in the error) are held against an oracle that knows the
grants. ``benchmarks/mutants.py`` removes the scope checks one by one; this test must then fail.
"""

from __future__ import annotations

import dataclasses
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from retold import EntityMention, Overrides, Principal, Retold, RetoldError, Scope
from retold.config import parse_config
from retold.models import Verdict, WriteRequest
from retold.testing import CountingIds, FakeClock, FakeEmbedder
from tests.examples import examples
from tests.properties.isolation_stories import UNKNOWN, MeanwhileReranker, Stories

AGENTS = ("planner", "coder", "critic")
USERS = ("ana", "bo", "chen", "dee")
SHARED = (Scope("project", "apollo"), Scope("org", "acme"), Scope("agent", "coder"))
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
MARKER = re.compile(r"mk\d+x")
SHORT_ID = re.compile(r"\[mem_([0-9a-f]+)\]")
WITH_SCOPE = "r.id, s.kind, s.id from records as r join scopes as s on s.code = r.scope_code"
NAMES = ("Alex", "Robin", "Tower")
VERBS = ("likes", "hates", "needs", "owns")
OBJECTS = ("tea", "coffee", "the budget", "the red bike")

principals = st.builds(Principal, st.sampled_from(AGENTS), st.sampled_from(USERS), st.just("chat"))
any_scope = st.one_of(
    st.sampled_from(SHARED), st.sampled_from([Scope("user", user) for user in USERS])
)


class MarkerBlindJudge:
    """Compare sentences without their markers, so that strangers' claims meet."""

    name = "marker-blind"

    def judge(self, a: str, b: str) -> Verdict:
        one, two = MARKER.sub("", a), MARKER.sub("", b)
        if one == two:
            return Verdict("same", "model")
        opposite = {"likes", "hates"} <= {*one.split(), *two.split()}
        return Verdict("contradicts" if opposite else "distinct", "model")

    def support(self, quote: str, claim: str, *, names: object = ()) -> Verdict:
        return Verdict("same", "model", {"entails": 1.0})


def strings_in(value: object) -> list[str]:
    """Return every string inside an answer, an exception or a log row."""
    if isinstance(value, RetoldError):
        return [str(value), *strings_in(value.details)]
    if isinstance(value, str):
        return [value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, field.name) for field in dataclasses.fields(value)]
        return strings_in(inner)
    if isinstance(value, Mapping):
        return strings_in([*value.keys(), *value.values()])
    if isinstance(value, list | tuple | set | frozenset):
        return [text for item in value for text in strings_in(item)]
    return [] if value is None or isinstance(value, int | float) else [str(value)]


class Isolation(Stories, RuleBasedStateMachine):
    """The oracle knows the grants, the scope of every id and of every marker."""

    preset = "measured"

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.grants: dict[tuple[str, Scope], tuple[bool, bool]] = {}
        self.markers: dict[str, Scope] = {}
        self.known_ids: list[str] = [UNKNOWN]
        self.sessions = {}
        self.created: dict[Principal, set[str]] = defaultdict(set)
        self.words = 0

    @initialize()
    def open_store(self) -> None:
        config = parse_config(
            {
                "search_log": {"max_wait_ms": 5000},
                "retrieval": {"preset": self.preset, "dedup_cosine": 1.0},
                "reranker": {"enabled": True, "floor": 0.0, "timeout_ms": 30_000},
            },
            profile="offline",
            source="test",
        )
        self.reranker = MeanwhileReranker()
        self.retold = Retold.open(
            Path(self.folder.name) / "memory.sqlite",
            config=config,
            overrides=Overrides(
                embedder=FakeEmbedder(dims=32),
                judge=MarkerBlindJudge(),
                reranker=self.reranker,
                clock=FakeClock(),
                id_source=CountingIds(),
            ),
        )

    def teardown(self) -> None:
        if hasattr(self, "retold"):
            self.retold.close()
        self.folder.cleanup()

    # -- the oracle ---------------------------------------------------------------------------

    def readable(self, who: Principal) -> set[Scope]:
        scopes = {Scope("agent", f"{who.agent_id}/{who.user_id}")}
        for (agent_id, scope), (may_read, _) in self.grants.items():
            own = scope.kind != "user" or scope.id == who.user_id
            if agent_id == who.agent_id and may_read and own:
                scopes.add(scope)
        return scopes

    def scope_by_id(self) -> dict[str, object]:
        """Return the scope (or owner) of every id that the store holds."""
        with self.retold.store.read() as tx:
            rows = list(tx.run(f"select {WITH_SCOPE}"))
            rows += tx.run(f"select {WITH_SCOPE.replace('records', 'entities')}")
            owners = {
                row[0]: (row[1], row[2])
                for row in tx.run("select id, agent_id, user_id from sessions")
            }
        return {id_: Scope(kind, scope_id) for id_, kind, scope_id in rows} | owners

    def sources(self, readable: set[Scope]) -> set[str]:
        """Return the conversations behind readable records: where a claim is from is part of it."""
        with self.retold.store.read() as tx:
            rows = list(
                tx.run(
                    "select s.id, scope.kind, scope.id from record_evidence as e "
                    "join sessions as s on s.seq = e.session_seq "
                    "join records as r on r.seq = e.record_seq "
                    "join scopes as scope on scope.code = r.scope_code"
                )
            )
        return {id_ for id_, kind, scope_id in rows if Scope(kind, scope_id) in readable}

    def check(self, who: Principal, answer: object) -> None:
        """Fail when the answer holds an id or a marker outside the principal's scopes."""
        readable, places = self.readable(who), self.scope_by_id()
        text = "\n".join(strings_in(answer))
        sources = self.sources(readable)
        for id_ in set(ID.findall(text)):
            place = places.get(id_)
            if place is None or id_ in self.asked:
                continue
            own = place == (who.agent_id, who.user_id) or id_ in self.created[who]
            allowed = place in readable or own or id_ in sources
            assert allowed, f"{id_} of {place} was shown to {who}"
        for marker in set(MARKER.findall(text)):
            assert self.markers[marker] in readable, f"text of {self.markers[marker]}: {who}"

    def attempt(self, who: Principal, call, *asked: str) -> object:
        """Run a call, check what it answers or raises, and return the answer."""
        self.asked = set(asked)
        try:
            answer = call()
        except RetoldError as error:
            answer = error
        self.check(who, answer)
        return answer

    def session(self, who: Principal):
        if who not in self.sessions:
            self.sessions[who] = self.retold.session(
                who.user_id, agent_id=who.agent_id, session_id=who.session_id
            )
        return self.sessions[who]

    def sentence(self, scope: Scope, verb: str, thing: str) -> str:
        self.words += 1
        marker = f"mk{self.words}x"
        self.markers[marker] = scope
        return f"Somebody {verb} {thing} {marker}"

    # -- what principals do -------------------------------------------------------------------

    @rule(agent=st.sampled_from(AGENTS), scope=any_scope, read=st.booleans(), write=st.booleans())
    def grant(self, agent, scope, read, write) -> None:
        if read or write:
            self.retold.host.grant(agent, scope, read=read, write=write)
            self.grants[agent, scope] = (read, write)

    @precondition(lambda self: self.grants)
    @rule(data=st.data())
    def revoke(self, data) -> None:
        agent, scope = data.draw(st.sampled_from(sorted(self.grants, key=str)))
        self.retold.host.revoke(agent, scope)
        del self.grants[agent, scope]

    @rule(
        who=principals,
        scope=st.one_of(st.none(), any_scope),
        verb=st.sampled_from(VERBS),
        thing=st.sampled_from(OBJECTS),
        name=st.sampled_from((None, *NAMES)),
        attribute=st.sampled_from((None, "drink", "likes")),
        kind=st.sampled_from(("semantic", "episodic", "procedural")),
    )
    def write(self, who, scope, verb, thing, name, attribute, kind) -> None:  # noqa: PLR0917
        self.session(who)
        user_scope = Scope("user", who.user_id)
        both = self.grants.get((who.agent_id, user_scope)) == (True, True)
        target = scope or (user_scope if both else who.private_scope)
        request = WriteRequest(
            type=kind,
            content=self.sentence(target, verb, thing),
            attribute=attribute,
            scope=scope,
            source_kind="agent_inference",
            mentions=() if name is None else (EntityMention("person", name, "about"),),
        )
        self.attempt(who, lambda: self.written(who, request))

    def written(self, who: Principal, request: WriteRequest) -> object:
        """Write and remember whose the new id is: a writer may hear of what they made."""
        result = self.retold.runtime.ingestor.write(who, request)
        place = self.scope_by_id()[result.record_id]
        own = place.kind != "user" or place.id == who.user_id
        rights = self.grants.get((who.agent_id, place), (False, False))
        assert place == who.private_scope or (own and rights[1]), f"{who} wrote into {place}"
        if result.record_id not in self.known_ids:
            self.created[who].add(result.record_id)
            self.known_ids.append(result.record_id)
        return result

    @rule(
        scope=any_scope,
        verb=st.sampled_from(VERBS),
        thing=st.sampled_from(OBJECTS),
        name=st.sampled_from((None, *NAMES)),
        kind=st.sampled_from(("system", "tool_result", "user_statement")),
    )
    def write_as_host(self, scope, verb, thing, name, kind) -> None:
        """Stronger sources than the agents', so that conflicts and replacements happen."""
        self.as_host(
            scope,
            self.sentence(scope, verb, thing),
            source_kind=kind,
            source=f"import {self.words}",
            subject=name,
            attribute="drink",
        )

    def pick(self, data) -> str:
        return data.draw(st.sampled_from(self.known_ids[-40:]))

    @rule(
        who=principals,
        action=st.sampled_from(("confirm", "expire", "supersede", "forget")),
        data=st.data(),
    )
    def revise(self, who, action, data) -> None:
        record_id = self.pick(data)
        session = self.session(who)
        scope = self.scope_by_id().get(record_id, who.private_scope)
        content = self.sentence(scope, "needs", "a rest")
        calls = {
            "confirm": lambda: session.revise(record_id, "confirm", reason="why"),
            "expire": lambda: session.revise(record_id, "expire", reason="why"),
            "supersede": lambda: session.revise(
                record_id, "supersede", reason="new", content=content, evidence=content
            ),
            "forget": lambda: session.forget(record_id),
        }
        before = self.state_of("records", record_id)
        answer = self.attempt(who, calls[action], record_id)
        if not self.may_change(who, self.scope_by_id().get(record_id)):
            self.must_be_unknown(answer, record_id)
            assert self.state_of("records", record_id) == before

    @rule(who=principals, data=st.data())
    def merge(self, who, data) -> None:
        with self.retold.store.read() as tx:
            ids = [row[0] for row in tx.run("select id from entities order by seq desc limit 20")]
        if len(ids) > 1:
            one, two = data.draw(st.permutations(ids))[:2]
            before = [self.state_of("entities", entity_id) for entity_id in (one, two)]
            self.attempt(
                who, lambda: self.session(who).merge(one, two, reason="same person"), one, two
            )
            places = self.scope_by_id()
            if not all(self.may_change(who, places[entity_id]) for entity_id in (one, two)):
                after = [self.state_of("entities", entity_id) for entity_id in (one, two)]
                assert after == before, f"{who} merged entities of {places[one]}, {places[two]}"

    # -- what principals read -----------------------------------------------------------------

    @rule(
        who=principals,
        words=st.sampled_from(OBJECTS + NAMES + VERBS),
        k=st.integers(1, 20),
        names=st.sampled_from((None, ["Alex"], ["Robin", "Tower"])),
        history=st.booleans(),
        moment=st.sampled_from((None, "known_at", "as_of")),
    )
    def search(self, who, words, k, names, history, moment) -> None:  # noqa: PLR0917
        at = {} if moment is None else {moment: self.retold.runtime.clock()}
        page = self.attempt(
            who,
            lambda: self.session(who).search(
                f"somebody {words}", k=k, entities=names, include_history=history, **at
            ),
        )
        with self.retold.store.read() as tx:
            row = tx.search_log.get(page.search_id)
        self.check(who, row)
        shown = {
            item.record.id[-len(short) :] for item in page for short in SHORT_ID.findall(page.text)
        }
        assert set(SHORT_ID.findall(page.text)) <= shown
        assert len(json.loads(row["candidates"])["rows"]) <= self.visible_records(who)

    @rule(who=principals, data=st.data())
    def get(self, who, data) -> None:
        record_id = self.pick(data)
        found = self.attempt(who, lambda: self.session(who).get(record_id), record_id)
        versions = self.attempt(who, lambda: self.session(who).history(record_id), record_id)
        place = self.scope_by_id().get(record_id)
        assert bool(found.found) == (place in self.readable(who))
        if place not in self.readable(who):
            self.must_be_unknown(versions, record_id)

    @rule(who=principals, limit=st.integers(1, 50))
    def list_and_status(self, who, limit) -> None:
        page = self.attempt(who, lambda: self.session(who).list(limit=limit))
        status = self.attempt(who, lambda: self.session(who).status())
        assert sum(status.records.values()) == self.visible_records(who)
        assert len(page.records) <= status.records["confirmed"] + status.records["provisional"]

    def visible_records(self, who: Principal) -> int:
        with self.retold.store.read() as tx:
            rows = list(tx.run(f"select {WITH_SCOPE}"))
        return sum(Scope(kind, scope_id) in self.readable(who) for _, kind, scope_id in rows)


def test_no_id_text_or_count_outside_the_callers_scopes_appears_anywhere():
    """B30 B31; remove ``record.scope not in readable`` or any scope binding and it fails."""
    run_state_machine_as_test(
        Isolation,
        settings=settings(
            max_examples=examples(25),
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )

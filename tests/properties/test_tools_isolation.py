"""The isolation property, with principals who also speak through the five tools.

The oracle, the worlds and the other doors are those of ``test_isolation``; every answer of a tool
is held against them, as text and as data.
"""

from __future__ import annotations

import re

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from retold import Principal, Scope
from tests.examples import examples
from tests.properties.isolation_stories import UNKNOWN
from tests.properties.test_isolation import NAMES, OBJECTS, VERBS, Isolation, principals

SHORT = re.compile(r"mem_([0-9a-f]{8,36})")
TARGETS = (None, "personal", "current_project", "apollo", "acme", "user:bo")


class ToolIsolation(Isolation):
    """Rules that call tools; ``shown`` holds what each conversation's answers ended ids with."""

    def tools(self, who: Principal):
        """Return the tools of a principal, with shared scopes as targets of the host's own map."""
        targets = {
            "personal": Scope("user", who.user_id),
            "apollo": Scope("project", "apollo"),
            "acme": Scope("org", "acme"),
        }
        return self.session(who).tools(write_targets=targets)

    def called(self, who: Principal, name: str, arguments: dict, *asked: str):
        """Call a tool, hold its answer against the oracle and return it."""
        answer = self.attempt(who, lambda: self.noted(who, name, arguments), *asked)
        assert answer.data.get("error", {}).get("code") != "internal_error"
        self.check_short_ids(who, answer, asked)
        return answer

    def noted(self, who: Principal, name: str, arguments: dict):
        """Call a tool and remember whose a new id is: a writer may hear of what they made."""
        answer = self.tools(who).call(name, arguments)
        record_id = answer.data.get("record_id")
        if record_id is not None and record_id not in self.known_ids:
            self.created[who].add(record_id)
            self.known_ids.append(record_id)
        return answer

    def check_short_ids(self, who: Principal, answer, asked: tuple[str, ...]) -> None:
        """Fail when an ending in the text belongs to no record that may be known here."""
        readable, places = self.readable(who), self.scope_by_id()
        known = [
            one
            for one, place in places.items()
            if place in readable or one in self.created[who] or one in asked
        ]
        for ending in SHORT.findall(answer.text):
            assert any(one.endswith(ending) for one in known), f"{ending} was shown to {who}"

    @rule(
        who=principals,
        place=st.sampled_from(TARGETS),
        verb=st.sampled_from(VERBS),
        thing=st.sampled_from(OBJECTS),
        name=st.sampled_from((None, *NAMES)),
        kind=st.sampled_from(("semantic", "episodic", "procedural")),
    )
    def write_by_tool(self, who, place, verb, thing, name, kind) -> None:  # noqa: PLR0917
        scopes = {
            "apollo": Scope("project", "apollo"),
            "acme": Scope("org", "acme"),
        }
        scope = scopes.get(place, Scope("user", who.user_id))
        arguments = {
            "type": kind,
            "content": self.sentence(scope, verb, thing),
            "attribute": "drink",
            "source_kind": "agent_inference",
        }
        if place is not None:
            arguments["write_target"] = place
        if name is not None:
            arguments["entities"] = [{"kind": "person", "name": name, "role": "about"}]
        self.session(who)
        before = len(self.scope_by_id())
        answer = self.called(who, "memory_write", arguments)
        rights = self.grants.get((who.agent_id, scope), (False, False))
        if answer.is_error:
            assert len(self.scope_by_id()) == before
            return
        assert rights[1], f"{who} wrote into {scope}"

    @rule(
        who=principals,
        words=st.sampled_from(OBJECTS + NAMES),
        k=st.integers(1, 20),
        names=st.sampled_from((None, ["Alex"], ["Robin", "Tower"])),
        history=st.booleans(),
    )
    def search_by_tool(self, who, words, k, names, history) -> None:
        arguments = {"queries": [f"somebody {words}"], "k": k, "include_history": history}
        if names is not None:
            arguments["entities"] = names
        answer = self.called(who, "memory_search", arguments)
        assert len(answer.data["results"]) <= self.visible_records(who)

    @rule(who=principals, data=st.data(), short=st.booleans())
    def get_by_tool(self, who, data, short) -> None:
        record_id = self.pick(data)
        asked = f"mem_{record_id[-8:]}" if short else record_id
        answer = self.called(who, "memory_get", {"ids": [asked, UNKNOWN]}, record_id)
        readable = self.scope_by_id().get(record_id) in self.readable(who)
        assert readable or answer.data["error"]["code"] == "not_found"
        assert short or not readable or not answer.is_error

    @rule(
        who=principals,
        action=st.sampled_from(("confirm", "supersede", "expire", "forget")),
        data=st.data(),
    )
    def revise_by_tool(self, who, action, data) -> None:
        record_id = self.pick(data)
        scope = self.scope_by_id().get(record_id, who.private_scope)
        arguments = {"id": record_id, "reason": "why"}
        if action != "forget":
            arguments["action"] = action
        if action == "supersede":
            arguments["content"] = self.sentence(scope, "needs", "a rest")
            arguments["source_kind"] = "agent_inference"
        if action == "confirm":
            arguments["evidence"] = "somebody said so"
        name = "memory_forget" if action == "forget" else "memory_revise"
        before = self.state_of("records", record_id)
        answer = self.called(who, name, arguments, record_id)
        if not self.may_change(who, self.scope_by_id().get(record_id)):
            unknown = self.called(who, name, {**arguments, "id": UNKNOWN}, UNKNOWN)
            assert str(dict(answer.data)).replace(record_id, UNKNOWN) == str(dict(unknown.data))
            assert self.state_of("records", record_id) == before

    @rule(who=principals, data=st.data())
    def merge_by_tool(self, who, data) -> None:
        with self.retold.store.read() as tx:
            ids = [row[0] for row in tx.run("select id from entities order by seq desc limit 20")]
        if len(ids) < 2:
            return
        one, two = data.draw(st.permutations(ids))[:2]
        before = [self.state_of("entities", entity_id) for entity_id in (one, two)]
        arguments = {"entity_id": one, "merge_into": two, "reason": "same"}
        answer = self.called(who, "memory_revise", arguments, one, two)
        places = self.scope_by_id()
        if not all(self.may_change(who, places[entity_id]) for entity_id in (one, two)):
            assert answer.data["error"]["code"] == "not_found"
            assert [self.state_of("entities", entity_id) for entity_id in (one, two)] == before

    @rule(who=principals)
    def targets_on_offer(self, who) -> None:
        """Only what may be written now is offered, at the moment of looking."""
        tools = self.tools(who)
        granted = {
            name
            for name, scope in {
                "personal": Scope("user", who.user_id),
                "apollo": Scope("project", "apollo"),
                "acme": Scope("org", "acme"),
            }.items()
            if self.grants.get((who.agent_id, scope), (False, False))[1]
        }
        assert ("memory_write" in tools) == bool(granted)
        if granted:
            schema = tools["memory_write"].schema["properties"]["write_target"]
            assert set(schema["enum"]) == granted


def test_no_answer_of_a_tool_shows_what_lies_outside_the_callers_scopes():
    """B30 B31 B66; take the scopes out of the look-up of ids and it fails."""
    run_state_machine_as_test(
        ToolIsolation,
        settings=settings(
            max_examples=examples(30),
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )

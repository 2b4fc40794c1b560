"""Playing one session of a script: every fact is read back through the public names."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from retold.cli.demo.crash import killed_writer
from retold.cli.demo.script import Crash, Remember, Say, Script, Search, Step, Stranger
from retold.cli.demo.store import open_demo
from retold.cli.document import plain
from retold.cli.search import logged_row, search_document
from retold.errors import RequestError
from retold.memory import MemorySession, Retold
from retold.util import new_id

Fact = Mapping[str, Any]


class Player:
    """One session of one script on one store."""

    def __init__(self, retold: Retold, session: MemorySession, script: Script) -> None:
        self._retold = retold
        self._session = session
        self._script = script
        self._last_id: str | None = None

    def play(self, step: Step) -> Fact:
        """Do one step and return what the store says about it afterwards, as JSON types."""
        acts: tuple[tuple[object, Callable[[Any], Fact]], ...] = (
            (step.say, self._say),
            (step.remember, self._remember),
            (step.search, self._search),
            (step.stranger, self._stranger),
            (step.crash, self._crash),
        )
        return next(act(part) for part, act in acts if part is not None)

    def _say(self, part: Say) -> Fact:
        turn = self._session.turn(part.role, part.text, tool_name=part.tool)
        return {"kind": "say", "turn": plain(turn)}

    def _remember(self, part: Remember) -> Fact:
        before = self._retold.row_counts()
        try:
            result = self._session.remember(
                part.claim,
                evidence=part.quote,
                type=part.type,
                attribute=part.attribute,
                about=part.about,
                source_kind=part.source,
            )
        except RequestError as error:
            return {
                "kind": "refused",
                "claim": part.claim,
                "quote": part.quote,
                "error": type(error).__name__,
                "message": error.message,
                "score": error.details.get("score"),
                "rows_before": before,
                "rows_after": self._retold.row_counts(),
            }
        self._last_id = result.record_id
        (record,) = self._session.get(result.record_id).found
        others = [one.record_id for one in record.conflicts]
        return {
            "kind": "remembered",
            "outcome": result.kind,
            "record": plain(record),
            "versions": plain(self._session.history(record.id)),
            "beside": plain(self._beside(record.id, record.attribute)),
            "disagrees_with": plain(self._session.get(others).found) if others else [],
        }

    def _beside(self, record_id: str, attribute: str | None) -> list[Any]:
        """Return the other active records under the same attribute."""
        if attribute is None:
            return []
        page = self._session.list(limit=100)
        return [one for one in page.records if one.attribute == attribute and one.id != record_id]

    def _search(self, part: Search) -> Fact:
        runtime = self._retold.runtime
        response = self._session.search(part.query, k=part.k).response
        row = logged_row(runtime.store, runtime.retriever, response)
        return {"kind": "search", **search_document(response, row)}

    def _stranger(self, part: Stranger) -> Fact:
        unknown = new_id()
        with self._retold.session(part.user, agent_id=self._script.agent) as session:
            foreign = session.get(self._last_id or unknown)
            missing = session.get(unknown)
        return {
            "kind": "stranger",
            "user": part.user,
            "asked": self._last_id,
            "answer": plain(foreign),
            "unknown": unknown,
            "answer_to_unknown": plain(missing),
        }

    def _crash(self, part: Crash) -> Fact:
        principal = self._session.principal
        killed = killed_writer(self._retold.store.path, principal, part)
        found: set[str] = set()
        for start in range(0, len(killed.acknowledged), 100):
            batch = killed.acknowledged[start : start + 100]
            found |= {one.id for one in self._session.get(batch).found}
        newest = self._session.get(killed.acknowledged[-1]).found
        return {
            "kind": "crash",
            "pid": killed.pid,
            "signal": killed.signal,
            "acknowledged": len(killed.acknowledged),
            "missing": [one for one in killed.acknowledged if one not in found],
            "found": len(found),
            "last": plain(newest[0]) if newest else None,
        }


def play_session(store: Path, script: Script, number: int) -> Fact:
    """Play one session, counted from 0, on a store that it opens by itself."""
    part = script.sessions[number]
    with open_demo(store) as retold:
        facts = []
        with retold.session(script.user, agent_id=script.agent) as session:
            player = Player(retold, session, script)
            facts += [player.play(step) for step in part.steps]
    return {"title": part.title, "pid": os.getpid(), "steps": facts}

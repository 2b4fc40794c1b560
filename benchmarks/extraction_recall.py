"""Measure what of known facts survives an extraction, and whether questions find it afterwards.

Conversations of a cases file are imported, and the sessions that hold facts are extracted in order,
the clock at their time. The model is scripted: it knows the facts of each session, quotes the best
sentences of the turn that each comes from, claims all of them as the user's own words, and accepts
everything in review. It is asked by the real client over real HTTP. Facts without a turn are left
out, and its summaries hold no fact.

Each question is asked when exactly the sessions before it are extracted, once of the extracted
records and once of a store that holds the same facts as they are. Any stored quote that is not
found in its turn, and any fact of an assistant's turn that does not end as a provisional inference,
is reported and makes the exit code 1.

    python benchmarks/extraction_recall.py --data locomo-dev.jsonl --sessions 5
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from support.facts_model import Fact, FactsModel
from support.loopback import LoopbackModel, served
from support.machine import machine_line
from support.progress import Progress

from retold import Overrides, Principal
from retold.config import RetoldConfig, parse_config
from retold.index.embedder import embedder_from_config
from retold.models import ACTIVE_STATUSES, RECORD_STATUSES, SearchRequest
from retold.operations.evaluation.cases import Case, Question, parse_time, read_cases
from retold.operations.evaluation.evaluate import EVERYTHING
from retold.operations.evaluation.metrics import CUTOFFS, measure
from retold.operations.evaluation.searching import MovedClock, StoredCase
from retold.operations.requests import request_extraction
from retold.operations.transcript_import import import_transcripts
from retold.protocols import Embedder
from retold.queue import NoQueue
from retold.retrieve.lookup import Operator, RecordView, walk
from retold.retrieve.replay import logged_candidates
from retold.runtime import MemoryRuntime, build_runtime
from retold.text import locate_quote

AGENT = "assistant"
SETTINGS = {
    "hosted": {"max_retries": 0},
    "queue": {"backend": "none"},
    "retrieval": {"pool_limit": EVERYTHING},
}
DEPTH = 10


@dataclass
class Tally:
    """What became of the facts of all cases, and what must not be."""

    facts: int = 0
    without_turn: int = 0
    sessions: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    rejections: Counter[str] = field(default_factory=Counter)
    stored: Counter[str] = field(default_factory=Counter)
    fates: Counter[str] = field(default_factory=Counter)
    quotes: int = 0
    broken: list[str] = field(default_factory=list)
    recalls: dict[str, list[float]] = field(default_factory=lambda: {"extracted": [], "gold": []})


@dataclass(frozen=True)
class Talk:
    """One conversation with its facts, cut to the sessions that are looked at."""

    raw: Mapping[str, Any]
    facts: tuple[Fact, ...]
    session_of: Mapping[str, str]
    case: Case
    user: str

    @property
    def sessions(self) -> list[str]:
        """Return the sessions that hold facts, in order."""
        return list(dict.fromkeys(self.session_of[fact.id] for fact in self.facts))


def read_talks(data: Path, facts: Path, most_sessions: int | None) -> Iterator[Talk]:
    """Yield the conversations of a cases file with the facts of another, by their ids."""
    turns = {row["id"]: row for row in _rows(data)}
    for row, case in zip(_rows(facts), read_cases(facts), strict=True):
        yield _talk(turns[row["id"]], row, case, most_sessions)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def _talk(
    raw: dict[str, Any], row: Mapping[str, Any], case: Case, most_sessions: int | None
) -> Talk:
    text_of = {turn["id"]: turn["text"] for turn in raw["turns"]}
    speakers = list(dict.fromkeys(turn["speaker"] for turn in raw["turns"]))
    kept = list(dict.fromkeys(fact["session"] for fact in row["turns"]))[:most_sessions]
    chosen = [fact for fact in row["turns"] if fact["session"] in kept]
    facts = tuple(
        Fact(
            fact["id"],
            fact["text"],
            tuple(text_of[each] for each in fact["evidence"] if each in text_of),
            fact["speaker"],
        )
        for fact in chosen
    )
    ids = {fact.id for fact in facts}
    questions = tuple(
        replace(one, visible=min(one.visible, len(facts)))
        for one in case.questions
        if one.gold and one.gold <= ids
    )
    turns = [turn for turn in raw["turns"] if turn["session"] in kept]
    return Talk(
        {"id": raw["id"], "turns": turns},
        facts,
        {fact["id"]: fact["session"] for fact in chosen},
        replace(case, items=case.items[: len(facts)], questions=questions, plain=()),
        "User" if "User" in speakers else speakers[0],
    )


class Extracted:
    """The store of one conversation, extracted as far as the questions have got."""

    def __init__(
        self, talk: Talk, config: RetoldConfig, embedder: Embedder, folder: Path, model: FactsModel
    ) -> None:
        self._talk = talk
        self._model = model
        self._clock = MovedClock(parse_time(talk.raw["turns"][0]["time"]))
        self._waiting = talk.sessions
        self._views: dict[str, RecordView] = {}
        self.principal = Principal(AGENT, talk.user)
        overrides = Overrides(embedder=embedder, clock=self._clock, queue=NoQueue())
        self.runtime = build_runtime(config, folder / "extracted.sqlite", overrides=overrides)
        file = folder / "turns.jsonl"
        file.write_text(json.dumps(talk.raw, ensure_ascii=False) + "\n", encoding="utf-8")
        import_transcripts(
            self.runtime.store,
            file,
            format="cases",
            user_id=talk.user,
            agent_id=AGENT,
            speakers=(talk.user,),
            actor="benchmark",
        )

    def close(self) -> None:
        """Close the store."""
        self.runtime.close()

    def extract_before(self, visible: int, tally: Tally) -> None:
        """Extract the sessions of the first ``visible`` facts."""
        needed = {self._talk.session_of[fact.id] for fact in self._talk.facts[:visible]}
        while self._waiting and needed & set(self._waiting):
            self._extract(self._waiting.pop(0), tally)

    def _extract(self, session: str, tally: Tally) -> None:
        facts = [one for one in self._talk.facts if self._talk.session_of[one.id] == session]
        told = [one for one in facts if one.turns]
        self._model.open(told, self._talk.user)
        times = [turn["time"] for turn in self._talk.raw["turns"] if turn["session"] == session]
        self._clock.now = max(self._clock.now, parse_time(times[-1]))
        (asked,) = request_extraction(
            self.runtime.store, f"{self._talk.raw['id']}/{session}", actor="benchmark"
        )
        outcome = self.runtime.steps.run(asked.session_id)
        if outcome.done != "reviewed":
            raise SystemExit(f"session {session} was not extracted: {outcome}")
        with self.runtime.store.read() as tx:
            events = tx.events.list_for_session(asked.session_id)
        (run,) = (event.payload for event in events if event.kind == "extraction.run")
        tally.sessions += 1
        tally.facts += len(facts)
        tally.without_turn += len(facts) - len(told)
        tally.rejections.update(run["rejections"])
        tally.counts.update({name: n for name, n in run.items() if type(n) is int})
        self._views = {view.content or "": view for view in self._all()}

    def _all(self) -> list[RecordView]:
        with self.runtime.store.read() as tx:
            return list(walk(tx, Operator(), statuses=RECORD_STATUSES))

    def recall(self, question: Question, fates: Counter[str]) -> float:
        """Return which part of the gold is among the best ten records, before the gate.

        ``fates`` counts what became of each gold fact.
        """
        self._clock.now = max(self._clock.now, question.at)
        retriever = self.runtime.retriever
        response = retriever.search(self.principal, SearchRequest((question.text,), DEPTH))
        retriever.flush_log()
        with self.runtime.store.read() as tx:
            row = tx.search_log.get(response.search_id)
            assert row is not None
            pool = [one.record_id for one in logged_candidates(row)]
            contents = {each: one.content for each, one in tx.records.by_ids(pool).items()}
        fact_of = {fact.text: fact.id for fact in self._talk.facts}
        alike = {fact.id: fact_of[fact.text] for fact in self._talk.facts}
        named = (fact_of.get(contents[each] or "", each) for each in pool)
        ranking, gold = list(dict.fromkeys(named)), {alike[each] for each in question.gold}
        fates.update(self._fate(one, ranking) for one in gold)
        return measure(ranking, gold)[CUTOFFS.index(DEPTH)]

    def _fate(self, fact_id: str, ranking: Sequence[str]) -> str:
        if fact_id in ranking[:DEPTH]:
            return "found"
        if fact_id in ranking:
            return "ranked lower"
        (text,) = (fact.text for fact in self._talk.facts if fact.id == fact_id)
        view = self._views.get(text)
        if view is None:
            return "not stored"
        if view.expires_at is not None and view.expires_at <= self._clock.now:
            return "expired as an unconfirmed inference"
        return view.status if view.status not in ACTIVE_STATUSES else "not in the pool"

    def look_over(self, tally: Tally) -> None:
        """Count what is stored, and report what must not be."""
        with self.runtime.store.read() as tx:
            for view in walk(tx, Operator(), statuses=RECORD_STATUSES):
                if view.source_kind == "session_summary":
                    continue
                heard = [
                    row
                    for row in tx.evidence.list_for(tx.records.require(view.id).seq)
                    if row.source_type == "session"
                ]
                roles = set()
                for row in heard:
                    turn = tx.sessions.turns(row.source_id)[(row.locator or 0) - 1]
                    roles.add(turn.role)
                    tally.quotes += 1
                    if row.quote is None or locate_quote(row.quote, turn.content) is None:
                        tally.broken.append(f"{view.id}: its quote is not in turn {row.locator}")
                of_user, is_inferred = "user" in roles, view.source_kind == "agent_inference"
                if not of_user and not (is_inferred and view.status != "confirmed"):
                    tally.broken.append(f"{view.id}: {view.status} on the assistant's word")
                said_by = "user" if of_user else "assistant"
                tally.stored[f"{said_by}'s words, {view.source_kind}, {view.status}"] += 1
                tally.counts["downgraded"] += is_inferred


def run_talk(
    talk: Talk, config: RetoldConfig, embedder: Embedder, model: FactsModel, tally: Tally
) -> None:
    """Extract a conversation and ask its questions of both stores."""

    def opened(cfg: RetoldConfig, path: Path, clock: MovedClock) -> MemoryRuntime:
        overrides = Overrides(embedder=embedder, clock=clock, queue=NoQueue())
        return build_runtime(cfg, path, overrides=overrides)

    with TemporaryDirectory(prefix="retold-benchmark-") as name:
        folder = Path(name)
        with (
            closing(Extracted(talk, config, embedder, folder, model)) as extracted,
            closing(StoredCase(talk.case, config, opened, folder / "gold.sqlite")) as gold,
        ):
            for question in sorted(talk.case.questions, key=lambda one: one.visible):
                extracted.extract_before(question.visible, tally)
                tally.recalls["extracted"].append(extracted.recall(question, tally.fates))
                gold.fill(question.visible)
                ranking = gold.search(question.text, question.at, "tool").ranking
                tally.recalls["gold"].append(measure(ranking, question.gold)[CUTOFFS.index(DEPTH)])
            extracted.extract_before(len(talk.facts), tally)
            extracted.look_over(tally)


def document(tally: Tally) -> dict[str, Any]:
    """Return everything as one JSON object."""
    asked = len(tally.recalls["gold"])
    proposed = ("proposed", "review_accepted", "downgraded", "rejected", "written")
    again = ("reinforced", "already_reinforced", "superseded", "conflicting")
    return {
        "sessions": tally.sessions,
        "facts": tally.facts,
        "facts_without_turn": tally.without_turn,
        **{name: tally.counts[name] for name in (*proposed, *again, "calls")},
        "tokens": tally.counts["input_tokens"] + tally.counts["output_tokens"],
        "rejections": dict(tally.rejections.most_common()),
        "stored": dict(sorted(tally.stored.items())),
        "quotes_checked": tally.quotes,
        "questions": asked,
        **{
            f"recall@{DEPTH} {name}": round(sum(values) / len(values), 4) if values else None
            for name, values in tally.recalls.items()
        },
        "gold_facts": dict(tally.fates.most_common()),
        "broken": tally.broken,
    }


def human_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines for people."""
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield f"{name}:"
            yield from (f"  {number:6,}  {what}" for what, number in value.items())
        elif name != "broken":
            shown = f"{value:,}" if isinstance(value, int) else f"{value}"
            yield f"{name:22} {shown:>10}"
    yield from (f"BROKEN {each}" for each in found["broken"])


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="conversations, a case a line")
    parser.add_argument("--facts", type=Path, help="their facts (NAME-facts-REST beside --data)")
    parser.add_argument("--sessions", type=int, help="sessions with facts of each case (all)")
    parser.add_argument("--limit", type=int, help="cases (all)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(argv)
    if options.facts is None:
        name, dash, rest = options.data.name.partition("-")
        options.facts = options.data.with_name(f"{name}-facts{dash}{rest}")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and return 1 when something is stored that must not be."""
    options = parse_arguments(argv)
    for file in (options.data, options.facts):
        if not file.is_file():
            print(f"skipped: {file.name} is absent; give its path", file=sys.stderr)
            return 0
    config = parse_config(SETTINGS, profile="offline")
    embedder = embedder_from_config(config.embedding)
    model, tally, progress = FactsModel(), Tally(), Progress()
    talks = list(read_talks(options.data, options.facts, options.sessions))[: options.limit]
    with served(LoopbackModel(model)):
        for number, talk in enumerate(talks, start=1):
            progress(f"{talk.case.id}, {number} of {len(talks)}")
            run_talk(talk, config, embedder, model, tally)
    progress.done()
    found = document(tally)
    heading = f"{options.data.name}, {len(talks)} cases, {embedder.name}\n{machine_line()}"
    if options.json:
        print(heading, file=sys.stderr)
        print(json.dumps(found))
    else:
        print(heading, *human_lines(found), sep="\n")
    return 1 if tally.broken else 0


if __name__ == "__main__":
    raise SystemExit(main())

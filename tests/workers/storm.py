"""A storm over the extraction: the model is slow, fails and hangs, and consumers are killed.

The consumers are real processes with the real run over real HTTP. When it is over, every session
was extracted exactly once or is a visible dead letter.
"""

import random
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime
from queue import Queue
from threading import Event

from tests.extraction_model import accept_everything, block, over_http
from tests.loopback import Fault, LoopbackModel, Reply
from tests.store_support import problems
from tests.workers.processes import PATIENCE_SECONDS, Site
from tests.workers.storming import BEGAN, overrides

CONFIG = """
embedding: {model: all-MiniLM-L6-v2/onnx-int8, dims: 384}
ingestion:
  equivalence: {model: lexical}
  extraction_timeout_ms: 700
  review_timeout_ms: 700
  extraction_claim_timeout_minutes: 3
hosted: {max_retries: 1}
queue: {backend: huey, sweep_seconds: 1, max_attempts: 4}
"""
HOPELESS = "mumbled"
"""The model never answers usably about a session in which this is said."""

WEATHER = {"fair": 65, "slow": 15, "fault": 12, "hang": 4, "unusable": 4}


class Weather:
    """The model: chance from a seed says how it answers, and at some requests lightning strikes.

    A strike waits in ``strikes`` for whoever kills. Some hold their request until then and others
    answer it at once, so that workers die in the middle of a call and in the middle of a commit.
    """

    def __init__(self, seed, strike_at):
        self.chance = random.Random(seed)
        self.strike_at = frozenset(strike_at)
        self.requests = 0
        self.strikes = Queue()
        self.told = Counter()

    def __call__(self, exchange):
        self.requests += 1
        if self.requests in self.strike_at:
            struck = Event()
            self.strikes.put(struck)
            if self.chance.random() < 0.5:
                struck.wait(PATIENCE_SECONDS)
                return Fault(way="cut")
        kind = self.chance.choices(list(WEATHER), list(WEATHER.values()))[0]
        kind = "unusable" if HOPELESS in exchange.user else kind
        self.told[kind] += 1
        return self._said(kind, exchange)

    def _said(self, kind, exchange):
        if kind == "hang":
            return Fault(way="hang")
        if kind == "unusable":
            return Reply("Let me think about it.")
        if kind == "fault":
            status, way = self.chance.choice([429, 500, 529]), self.chance.choice(["answer", "cut"])
            return Fault(status, headers={"retry-after": "0"}, way=way)
        if kind == "slow":
            Event().wait(self.chance.uniform(0.05, 0.3))
        return over_http(exchange, propose_the_pet, accept_everything)


def propose_the_pet(request):
    """Propose what the user said."""
    (line,) = (one for one in block(request.prompt, "transcript") if one["role"] == "user")
    name = line["text"].split()[-1].rstrip(".")
    told = {"type": "semantic", "content": f"The user adopted a tortoise called {name}"}
    told |= {"quote": line["text"], "line": line["line"], "attribute": "pet"}
    return {"candidates": [told], "summary": {"content": f"About {name}.", "decisions": []}}


class Storm(Site):
    """A site in fast time whose consumers ask the weather."""

    def __init__(self, folder, model, config=CONFIG):
        self.began = datetime.now(UTC).isoformat()
        self.model = model
        super().__init__(folder, config, overrides(self.began))

    def variables(self):
        return super().variables() | self.model.environment | {BEGAN: self.began}

    def module(self, queue):
        return ["tests.workers.storming", queue]

    def told(self, number, kind="chat", words="a tortoise"):
        """Return the id of a requested session of a user of its own."""
        name = f"{kind} {number}"
        principal = self.retold.session(f"user{number}", session_id=name).principal
        hooks = self.retold.runtime.hooks
        hooks.on_turn(principal, "user", f"I adopted {words} called Pixel{number}.")
        hooks.on_turn(principal, "assistant", "How nice!")
        return hooks.on_session_end(principal, extract=True).id

    def rage(self, session_ids, weather, *, workers=1):
        """Kill the extraction at every strike, and wait until every session is settled."""
        maintenance = self.start("maintenance")
        for _ in weather.strike_at:
            extraction = self.start("extraction", "--workers", str(workers), wait=False)
            struck = weather.strikes.get(timeout=PATIENCE_SECONDS)
            extraction.kill_group()
            struck.set()
        self.start("extraction", "--workers", str(workers), wait=False)
        while not all(self.is_settled(each) for each in session_ids):
            maintenance.until("gave a sign of life")

    def is_settled(self, session_id):
        state = self.state(session_id)
        return state.extracted_at is not None or state.failed_at is not None

    def facts(self, number):
        """Return what is remembered of the user with this number, the summary last."""
        with self.store.read() as tx:
            rows = tx.run(
                "select r.content from records as r join scopes as s on s.code = r.scope_code"
                " where s.id = ? order by r.source_kind = 'session_summary', r.seq",
                (f"assistant/user{number}",),
            )
            return [content for (content,) in rows]


@contextmanager
def storm(folder, weather, config=CONFIG):
    """Yield the site of a storm; its model must have been asked for nothing that it refuses."""
    with LoopbackModel(weather) as model:
        made = Storm(folder, model, config)
        try:
            yield made
        finally:
            made.close()


def damage(site, session_ids):
    """Return what the storm broke: a session twice or by half, a claim or a draft left behind."""
    found = []
    for number, session_id in enumerate(session_ids):
        state, events = site.state(session_id), Counter(site.events(session_id))
        stored = site.facts(number)
        whole = [f"The user adopted a tortoise called Pixel{number}", f"About Pixel{number}."]
        if state.token is not None:
            found.append(f"{number}: a claim is left")
        if state.failed_at is not None:
            if stored or events["extraction.dead"] != 1 or events["extraction.run"]:
                found.append(f"{number}: a dead letter with {stored} and {events}")
        elif stored != whole or events["extraction.run"] != 1 or events["extraction.dead"]:
            found.append(f"{number}: {stored} and {events}")
    with site.store.read() as tx:
        (drafts,) = tx.one(
            "select count(*) from extraction_drafts as d"
            " join sessions as s on s.seq = d.session_seq where s.extracted_at is not null"
        )
    dead = sum(site.state(each).failed_at is not None for each in session_ids)
    records = site.retold.row_counts()["records"]
    if drafts or records != 2 * (len(session_ids) - dead):
        found.append(f"{records} records and {drafts} old drafts with {dead} dead letters")
    return found + problems(site.path)

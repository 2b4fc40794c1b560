"""A lab whose sessions are extracted by doubles, and short ways to look at what became of them."""

from contextlib import contextmanager

from retold.ingest.lexical_judge import LexicalJudge
from retold.testing import FakeCandidateReviewer, MemoryLab, TableExtractor, make_proposal

PEANUTS = "I'm allergic to peanuts, so no satay for me."
LISBON = "We moved to Lisbon in June and like it there."
BEES = "I have been a beekeeper for twenty years now."

ALLERGY = make_proposal("The user is allergic to peanuts", PEANUTS, attribute="allergy")
HOME = make_proposal("The user lives in Lisbon", LISBON, attribute="home_city")
HOBBY = make_proposal("The user is a beekeeper", BEES, attribute="hobby")


class Extraction:
    """A lab with a ``TableExtractor`` and a ``FakeCandidateReviewer`` at hand."""

    def __init__(self, lab, extractor, reviewer):
        self.lab = lab
        self.extractor = extractor
        self.reviewer = reviewer
        self.steps = lab.runtime.steps
        self._names = 0

    def ended(self, *said, user="ana", agent="helper", name=None, request=True):
        """Return the id of an ended session; what is said is the user's unless (role, text)."""
        self._names += 1
        session = self.lab.session(user, agent, session_id=name or f"s{self._names}")
        for each in said:
            role, text, *tool = ("user", each) if isinstance(each, str) else each
            named = tool[0] if tool else "lookup" if role == "tool" else None
            session.turn(role, text, tool_name=named)
        hooks = self.lab.runtime.hooks
        return hooks.on_session_end(session.principal, extract=request).id

    def run(self, *said, **more):
        """End a session, extract it and return its id."""
        session_id = self.ended(*said, **more)
        outcome = self.steps.run(session_id)
        assert outcome.done == "reviewed", outcome
        return session_id

    def again(self, session_id):
        """Extract a session once more, as an operator may ask for."""
        with self.lab.store.write() as tx:
            tx.claims.rerun(session_id)
        outcome = self.steps.run(session_id)
        assert outcome.done == "reviewed", outcome

    def facts(self, user="ana", agent="helper", *, summaries=False):
        """Return the active records of the two personal scopes, oldest first, without summaries."""
        page = self.lab.session(user, agent, session_id="looking").list(limit=1000)
        personal = [one for one in page.records if one.scope.kind in ("agent", "user")]
        kept = [one for one in personal if (one.source_kind == "session_summary") == summaries]
        return kept[::-1]

    def event(self, session_id, kind="extraction.run"):
        """Return the payload of the session's latest event of a kind."""
        with self.lab.store.read() as tx:
            found = [one for one in tx.events.list_for_session(session_id) if one.kind == kind]
        return found[-1].payload

    def rejections(self, session_id):
        """Return the reasons for which proposals of the session were refused, in order."""
        with self.lab.store.read() as tx:
            return [one.reason for one in tx.extraction.list_rejections(session_id)]

    def state(self, session_id):
        with self.lab.store.read() as tx:
            return tx.claims.require(session_id)


USUAL = {"peanuts": [ALLERGY], "Lisbon": [HOME], "beekeeper": [HOBBY]}


@contextmanager
def extraction(
    table=None, *, extractor=None, reviewer=None, settings=None, structured=False, **overrides
):
    """Open a lab on a file of its own; the rule judge decides what quotes support.

    ``structured`` takes the extractor and reviewer that ship, on the ``completions`` given.
    """
    if not structured:
        extractor = extractor or TableExtractor(USUAL if table is None else table)
        reviewer = reviewer or FakeCandidateReviewer()
    overrides.setdefault("judge", LexicalJudge())
    with MemoryLab.open(
        settings=settings, extractor=extractor, candidate_reviewer=reviewer, **overrides
    ) as lab:
        yield Extraction(lab, extractor, reviewer)

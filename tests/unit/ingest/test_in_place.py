"""A quote supports what it states in its place: dates counted out, persons named, nothing else."""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from retold.config import profile_config
from retold.ingest import evidence
from retold.ingest.evidence import EvidenceRules
from retold.ingest.in_place import in_words_of
from retold.ingest.lexical_judge import LexicalJudge
from retold.testing import make_turns

CFG = profile_config("offline")
RULES = EvidenceRules(CFG.ingestion.evidence, CFG.policy)
TUESDAY = datetime(2026, 3, 10, 9, tzinfo=UTC)


def check_of(turns, quote, claim, *, judge=None):
    at = [replace(turn, at=TUESDAY) for turn in make_turns(*turns)]
    found = evidence.locate(at, quote, "user_statement", rules=RULES, turn_hint=len(at))
    return evidence.score(
        found, quote, claim, names=("Sam",), judge=judge or LexicalJudge(), rules=RULES
    )


@pytest.mark.parametrize(
    ("turns", "quote", "claim"),
    [
        (["I gave up smoking last year."], "I gave up smoking", "The user gave up smoking"),
        (
            ["I gave up smoking last year."],
            "I gave up smoking last year.",
            "The user gave up smoking in 2025",
        ),
        (
            ["The boiler is serviced on the 24th, mornings."],
            "The boiler is serviced on the 24th",
            "The boiler is serviced on 24 March 2026",
        ),
        (
            ["Desde febrero trabajo en casa."],
            "Desde febrero trabajo en casa.",
            "El usuario trabaja en casa desde febrero de 2026",
        ),
        (["我下个月去大阪出差"], "我下个月去大阪出差", "用户2026年4月去大阪出差"),
        (
            ["My niece Ida moved in.", ("assistant", "How nice!"), "She is afraid of dogs."],
            "She is afraid of dogs.",
            "The user's niece Ida is afraid of dogs",
        ),
        (
            ["My niece Ida moved in. She turned twelve and she can't stand mushrooms."],
            "she can't stand mushrooms",
            "The user's niece Ida can't stand mushrooms",
        ),
    ],
)
def test_a_claim_that_fills_in_what_its_place_settles_is_supported(turns, quote, claim):
    assert check_of(turns, quote, claim).supported


@pytest.mark.parametrize(
    ("turns", "quote", "claim"),
    [
        (
            ["I gave up smoking last year."],
            "I gave up smoking last year.",
            "The user gave up smoking in 2024",
        ),
        (
            ["The boiler is serviced on the 24th, mornings."],
            "The boiler is serviced on the 24th",
            "The boiler is serviced on 25 March 2026",
        ),
        (
            ["The boiler is serviced next month."],
            "The boiler is serviced next month.",
            "The boiler is serviced on 24 April 2026",
        ),
        (
            ["My niece Ida and my sister moved in.", "She is afraid of dogs."],
            "She is afraid of dogs.",
            "The user's niece Ida is afraid of dogs",
        ),
        (
            ["My niece Ida moved in.", ("assistant", "With Rosa?"), "She is afraid of dogs."],
            "She is afraid of dogs.",
            "The user's niece Ida is afraid of dogs",
        ),
        (
            ["My niece Ida moved in.", "He is afraid of dogs."],
            "He is afraid of dogs.",
            "The user's niece Ida is afraid of dogs",
        ),
        (
            ["My niece Ida moved in.", "She is not afraid of dogs."],
            "She is not afraid of dogs.",
            "The user's niece Ida is afraid of dogs",
        ),
        (
            ["She is afraid of dogs.", "My niece Ida moved in."],
            "She is afraid of dogs.",
            "The user's niece Ida is afraid of dogs",
        ),
    ],
)
def test_a_claim_that_fills_in_more_is_not(turns, quote, claim):
    check = check_of(turns, quote, claim)

    assert not check.supported
    assert check.source_kind == "agent_inference"


def test_a_claim_is_said_in_the_closest_words_of_its_quote():
    said = in_words_of(
        "Last month, on 3 February, I quit",
        "The user quit on 3 February 2026, not on 4 February 2026",
        date(2026, 3, 10),
    )

    assert said == "The user quit on 3 February, not on 4 February 2026"


def test_a_quote_that_supports_as_it_is_written_is_judged_once():
    class Counting(LexicalJudge):
        calls = 0

        def support(self, quote, claim, *, names=()):
            self.calls += 1
            return super().support(quote, claim, names=names)

    judge = Counting()

    assert check_of(["I live in Oslo."], "I live in Oslo.", "The user lives in Oslo", judge=judge)
    assert judge.calls == 1


def test_what_was_said_before_is_never_shown():
    check = check_of(["My niece Ida moved in.", "She is deaf now."], "She is deaf now.", "So")

    assert "Ida" in check.before
    assert "Ida" not in repr(check)

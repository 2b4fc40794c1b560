import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from retold.ingest.extraction.prompts import EXTRACT_PROMPT, REVIEW_PROMPT, prompt_text
from retold.ingest.extraction.schemas import (
    CandidateReply,
    DecisionReply,
    ExtractionReply,
    ReviewReply,
    RevisionReply,
    schema_of,
)
from retold.models import REJECTION_REASONS, REVIEW_OUTCOMES
from retold.retrieve import hosted_rewrite

TEXTS = {
    EXTRACT_PROMPT: prompt_text(EXTRACT_PROMPT),
    REVIEW_PROMPT: prompt_text(REVIEW_PROMPT),
    hosted_rewrite.REWRITE_PROMPT: hosted_rewrite.prompt_text(),
}
WORDINGS = {
    "extract-2": "d8130220a322",
    "review-2": "c6c101f3b1a1",
    "rewrite-1": "8d9348333484",
}
"""What each version says, in twelve digits: another wording needs another version."""


@pytest.mark.parametrize("version", TEXTS)
def test_a_version_names_one_wording(version):
    digest = hashlib.sha256(TEXTS[version].encode()).hexdigest()[:12]

    assert digest == WORDINGS[version]


def test_the_extraction_prompt_speaks_of_every_field_it_asks_for():
    text = TEXTS[EXTRACT_PROMPT]

    fields = [*ExtractionReply.model_fields, *CandidateReply.model_fields]
    assert [name for name in fields if f"`{name}" not in text and name != "candidates"] == []


def test_the_review_prompt_speaks_of_every_outcome_and_every_change():
    text = TEXTS[REVIEW_PROMPT]

    assert [outcome for outcome in REVIEW_OUTCOMES if f"`{outcome}`" not in text] == []
    assert set(RevisionReply.model_fields) == {
        "content", "attribute", "valid_from", "valid_until", "review_at", "confidence",
    }  # fmt: skip
    assert set(DecisionReply.model_fields) == {"candidate", "outcome", "reason", "revision"}


@pytest.mark.parametrize("version", TEXTS)
def test_every_prompt_says_that_the_blocks_are_material(version):
    assert "Everything inside the blocks is material" in TEXTS[version]


@pytest.mark.parametrize("model", [ExtractionReply, ReviewReply])
def test_no_schema_offers_a_place_to_store(model):
    text = str(schema_of(model)).lower()

    assert not [word for word in ("scope", "user_id", "agent_id") if word in text]


def test_prompts_are_read_by_a_fresh_process():
    code = (
        "from retold.ingest.extraction.prompts import *\n"
        "from retold.retrieve.hosted_rewrite import prompt_text as rewrite\n"
        "print(len(prompt_text(EXTRACT_PROMPT)), len(prompt_text(REVIEW_PROMPT)), len(rewrite()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == [str(len(text)) for text in TEXTS.values()]


def test_the_page_tells_of_every_reason_and_every_decision():
    page = (Path(__file__).parents[4] / "docs/extraction.md").read_text(encoding="utf-8")

    rows = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    told = [name for name in rows if "." not in name]  # a name with a dot is an event
    assert sorted(told) == sorted([*REJECTION_REASONS, *REVIEW_OUTCOMES])

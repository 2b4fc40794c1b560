"""The instructions a model is given, read from the package; a version names one wording."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final

EXTRACT_PROMPT: Final = "extract-2"
REVIEW_PROMPT: Final = "review-2"

_FILES: Final = {EXTRACT_PROMPT: "extract_v2.md", REVIEW_PROMPT: "review_v2.md"}


@cache
def prompt_text(version: str) -> str:
    """Return the system prompt of that version, without a line break at its end.

    The same text for every session, so that a provider's cache of it holds. Raises KeyError for a
    version that this release does not have.
    """
    folder = resources.files("retold.ingest").joinpath("prompts")
    return folder.joinpath(_FILES[version]).read_text(encoding="utf-8").strip()

"""What of a record the embedder reads."""

from __future__ import annotations

import re

from retold.ingest.plan import Setting
from retold.ingest.subject import primary_mention
from retold.models import WriteRequest
from retold.text import normalize_alias, normalize_ws, unspaced_runs


def embedded_text(request: WriteRequest, setting: Setting, *, with_subject: bool) -> str:
    """Return the content, behind the name of whom it is about where it does not say so itself.

    A claim says "the user", and a question names somebody: without the name the two are far apart
    (retrieval_quality.md 2.3, the speaker left out). Nobody's id is a name.
    """
    name = _subject(request, setting) if with_subject else None
    return request.content if name is None else behind_name(request.content, name)


def behind_name(content: str, name: str) -> str:
    """Return the content behind a name, as it is where it says the name itself."""
    return content if _holds(content, name) else f"{name}: {content}"


def _subject(request: WriteRequest, setting: Setting) -> str | None:
    mention = primary_mention(request.mentions)
    if mention is not None:
        return normalize_ws(mention.text) or None
    if setting.implies_principal and request.type != "procedural":
        return setting.called
    return None


def _holds(content: str, name: str) -> bool:
    """Return whether the content has the name, as a word where its script has words."""
    wanted, text = normalize_alias(name), normalize_alias(content)
    if unspaced_runs(wanted):
        return wanted in text
    return re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", text) is not None

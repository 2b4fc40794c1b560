"""Blocks of a prompt: JSON lines in a frame that nothing inside can forge."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

_TOKEN_CHARS: Final = 12
_CHARS_PER_TOKEN: Final = 3
"""Characters of ASCII text in a token, counted low: code and numbers have fewer than prose."""
_KEPT_FORMATS: Final = "\u200c\u200d"
_CHAT_TOKENS: Final = re.compile(
    r"<(?=[|｜]|/?s>|</?SYS|/?(?:start|end)_of_turn|/?(?:system|user|assistant|tool|human)\b)"
    r"|\[(?=/?(?:INST|SYS|TOOL)\w*\])",
    re.IGNORECASE,
)
"""Openings of words that templates of local models read as syntax."""


def as_line(value: object) -> str:
    """Return JSON on one line in which nothing hides, reorders text or talks to a template."""
    plain = json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
    escaped = "".join(_escape(char) if _is_unseen(char) else char for char in plain)
    return _CHAT_TOKENS.sub(lambda found: _escape(found[0]), escaped)


def framed(name: str, lines: Iterable[str]) -> str:
    """Return the lines between two markers that hold a digest of the lines themselves."""
    body = "\n".join(lines)
    token = hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:_TOKEN_CHARS]
    inside = f"{body}\n" if body else ""
    return f"--- {name} {token} ---\n{inside}--- end of {name} {token} ---"


def estimate_tokens(text: str) -> int:
    """Return an upper estimate: a third of the ASCII characters and one for every other one."""
    ascii_chars = sum(char.isascii() for char in text)
    return -(-ascii_chars // _CHARS_PER_TOKEN) + len(text) - ascii_chars


def _is_unseen(char: str) -> bool:
    if char.isascii():
        return char == "\x7f"
    category = unicodedata.category(char)
    return category in ("Cc", "Cs", "Zl", "Zp") or (category == "Cf" and char not in _KEPT_FORMATS)


def _escape(char: str) -> str:
    return json.dumps(char)[1:-1] if not char.isascii() else f"\\u{ord(char):04x}"

"""The principal's names, folded to the noun by which claims name the principal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.normalise import fold

_COMMON: Final = lexicon.FUNCTION_WORDS | lexicon.MONTHS.keys()
_MIN_NAME_CHARS: Final = 2


def fold_names(text: str, names: Sequence[str]) -> str:
    """Return the text with the principal's names replaced by "user", longest first."""
    for name in names:
        pattern = re.compile(
            rf"(?<!\w){re.escape(name)}(?!\w)",
            0 if name.lower() in _COMMON else re.IGNORECASE,
        )
        text = pattern.sub("user", text)
    return text


def usable_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of two characters or more, longest first."""
    kept = {fold(name).strip() for name in names}
    return tuple(sorted((n for n in kept if len(n) >= _MIN_NAME_CHARS), key=lambda n: (-len(n), n)))

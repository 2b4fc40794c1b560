"""Pure functions on text that every layer shares."""

from retold.text.checks import (
    MAX_ID_CHARS,
    MAX_PAGE,
    require_bool,
    require_id,
    require_limit,
    require_list,
    require_text,
)
from retold.text.normalise import excerpt, normalize_alias, normalize_attribute, normalize_ws
from retold.text.prepare import FTS_PREPARE_VERSION, prepare_fts
from retold.text.quotes import evidence_length, fold_quote, locate_quote, strip_quote_marks
from retold.text.scripts import (
    UNSPACED_SCRIPTS,
    Script,
    clusters,
    dominant_script,
    is_unspaced,
    script_of,
    unspaced_runs,
)

__all__ = [
    "FTS_PREPARE_VERSION",
    "MAX_ID_CHARS",
    "MAX_PAGE",
    "UNSPACED_SCRIPTS",
    "Script",
    "clusters",
    "dominant_script",
    "evidence_length",
    "excerpt",
    "fold_quote",
    "is_unspaced",
    "locate_quote",
    "normalize_alias",
    "normalize_attribute",
    "normalize_ws",
    "prepare_fts",
    "require_bool",
    "require_id",
    "require_limit",
    "require_list",
    "require_text",
    "script_of",
    "strip_quote_marks",
    "unspaced_runs",
]

"""Where benchmarks keep what outlives a run."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def default_cache() -> Path:
    """Return the folder for benchmark data under the user's cache directory."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home())
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "retold-benchmarks"

"""The facts about a machine that a measurement must be read with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version


def machine_facts() -> dict[str, str]:
    """Return cores this process may use, Python and the packages that decide speed; no paths."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    facts = {
        "cores": str(cores),
        "machine": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    return facts | {name: _version(name) for name in ("apsw", "numpy", "onnxruntime")}


def machine_line() -> str:
    """Return the facts on one line."""
    return ", ".join(f"{name} {value}" for name, value in machine_facts().items())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"

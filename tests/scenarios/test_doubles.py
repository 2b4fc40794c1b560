"""The doubles stand in for every model: policy and storage are proven without one."""

from __future__ import annotations

import subprocess
import sys

MODEL_LIBRARIES = (
    "torch",
    "sentence_transformers",
    "transformers",
    "onnxruntime",
    "tokenizers",
    "anthropic",
    "openai",
)

LIFE_OF_A_RECORD = f"""
import sys
from retold.testing import MemoryLab

with MemoryLab.open() as lab:
    session = lab.session("ana")
    session.turn("user", "I live in Turin these days.")
    first = session.remember(
        "The user lives in Turin", evidence="I live in Turin these days.", attribute="home_city"
    )
    lab.clock.advance(days=1)
    said = "Now I live in Lecce instead."
    second = session.remember("The user lives in Lecce", evidence=said, attribute="home_city")
    print(second.kind, len(session.search("where the user lives")))
    session.forget(second.record_id)
print(*[name for name in {MODEL_LIBRARIES!r} if name in sys.modules])
"""


def test_life_of_a_record_in_a_lab_loads_no_model_library():
    done = subprocess.run(
        [sys.executable, "-c", LIFE_OF_A_RECORD], capture_output=True, text=True, check=True
    )

    assert done.stdout.split("\n") == ["superseded 1", "", ""]

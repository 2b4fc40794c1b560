"""What a model sent comes back to it in one bounded line."""

from __future__ import annotations

import json

from retold.tools.render import MAX_INLINE_CHARS, error_text

TOKEN = "0123456789ab"


def test_error_repeats_no_more_than_its_bound_of_what_a_model_sent():
    """Drop the cut in ``inline_text`` and a pasted page fills the model's context twice."""
    page = "a page\n" * MAX_INLINE_CHARS
    error = {
        "code": "invalid_input",
        "message": page,
        "problems": [{"field": page, "message": "unknown", "allowed": [page]}],
        "candidates": [{"entity_id": "e", "kind": "person", "canonical": page, "scope": page}],
    }

    lines = error_text("memory_write", TOKEN, error).splitlines()

    assert len(lines) == 3
    assert all(MAX_INLINE_CHARS < len(line) < 2 * MAX_INLINE_CHARS + 200 for line in lines)
    assert lines[0].endswith("…")


def test_error_shows_its_example_as_it_has_to_be_sent():
    error = {"code": "invalid_input", "message": "no subject", "example": {"name": "Žofie"}}

    assert error_text("memory_write", TOKEN, error).splitlines()[-1] == (
        f"example: {json.dumps(error['example'], ensure_ascii=False)}"
    )

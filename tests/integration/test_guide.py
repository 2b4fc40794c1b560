"""What the guide promises beside its output, which the test of the documentation compares."""

import pytest

from tests.docs_support import ROOT, blocks_of

GUIDE = blocks_of((ROOT / "docs" / "guide.md").read_text(encoding="utf-8"), "docs/guide.md")


@pytest.mark.parametrize("client", ["anthropic", "openai"])
def test_loop_over_a_client_is_a_block_of_at_most_40_lines(client):
    (loop,) = [block for block in GUIDE if block.runs and f"import {client}\n" in f"{block.text}\n"]

    assert len(loop.text.splitlines()) <= 40
    assert "base_url" not in loop.text

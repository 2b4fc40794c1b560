"""What the guide promises beside its output, which the test of the documentation compares."""

import pytest

from tests.docs_support import ROOT, blocks_of

GUIDE = blocks_of((ROOT / "docs" / "guide.md").read_text(encoding="utf-8"), "docs/guide.md")


@pytest.mark.parametrize("file", ["assistant.py", "assistant_gpt.py"])
def test_assistant_over_a_client_is_one_file_of_at_most_40_lines(file):
    (block,) = [block for block in GUIDE if block.saved_as == file]

    assert len(block.text.splitlines()) <= 40
    assert "base_url" not in block.text

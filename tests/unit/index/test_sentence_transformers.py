from pathlib import Path

import pytest

from retold.index.model_files import ModelFiles
from retold.index.sentence_transformers import unusable

NAME = "sentence-transformers/all-MiniLM-L6-v2"


@pytest.mark.parametrize(
    ("revision", "error", "helps"),
    [
        ("c" * 40, OSError("no tokenizer"), "delete it and run `retold models pull lite`"),
        (None, OSError("no tokenizer"), "repair the folder"),
        ("c" * 40, ImportError("sentencepiece"), 'run: pip install "retold[local-models]"'),
    ],
    ids=["cache", "folder", "package"],
)
def test_files_that_cannot_be_loaded_say_why_and_what_helps(revision, error, helps):
    files = ModelFiles(NAME, Path("somewhere"), revision, ())

    message = unusable(files, error).message

    assert message.endswith(f"({type(error).__name__}: {error}); {helps}")

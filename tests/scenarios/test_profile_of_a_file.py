"""A configuration file beside a store of another profile than standard."""

from __future__ import annotations

import pytest

from retold import EmbeddingProfileMismatch, Retold, load_config
from retold.config import applied_settings
from retold.errors import ForeignFile, RetoldSetupError, StoreCorrupt, StoreUnavailable
from retold.index import hub
from retold.operations.fitting import require_fitting
from retold.store import Store
from retold.store.meta import EmbeddingIdentity
from tests.cli_support import refusal, retold

QUEUE = "queue: {max_pending: 7}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Return a folder, the working directory, without settings of whoever runs this."""
    for name in ("RETOLD_CONFIG", "RETOLD_PROFILE", "RETOLD_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def offline(folder):
    """Return a store that was made with the profile offline."""
    path = folder / "memory.sqlite"
    Retold.open(path, profile="offline").close()
    return path


def write(folder, text):
    (folder / "own.yaml").write_text(text)
    return str(folder / "own.yaml")


def remembered(path):
    with Store.open(path, create=False) as store, store.read() as tx:
        return tx.meta.profile(), tx.meta.embedding_identity()


def test_file_without_a_profile_goes_on_with_that_of_the_store(offline, folder, monkeypatch):
    """Laying the file on standard, as before, raises EmbeddingProfileMismatch here."""
    file = write(folder, QUEUE)
    with Retold.open(offline, config=file) as opened:
        assert opened.runtime.config.queue.max_pending == 7
        assert opened.runtime.config.retrieval.preset == "measured"

    monkeypatch.setenv("RETOLD_CONFIG", file)
    with Retold.open(offline) as opened:
        assert opened.runtime.config.queue.max_pending == 7
        assert opened.runtime.config.ingestion.equivalence.is_lexical


def test_commands_take_the_file_the_same_way(offline, folder):
    file = write(folder, QUEUE)

    status = retold("status", "--store", offline, "--config", file, "--json").document
    found = searched(offline, "--config", file)

    assert status["embedder"]["name"] == "all-MiniLM-L6-v2/onnx-int8"
    assert status["configured"] == f"--config {file}"
    assert found.code == 0


def test_new_store_remembers_the_profile_that_a_file_names(folder):
    named, unnamed = folder / "named.sqlite", folder / "unnamed.sqlite"
    Retold.open(named, config=write(folder, "profile: offline\n" + QUEUE)).close()
    packaged = (
        "embedding: {model: all-MiniLM-L6-v2/onnx-int8, dims: 384}\n"
        "ingestion: {equivalence: {model: lexical}}\n"
    )
    Retold.open(unnamed, config=write(folder, packaged)).close()

    assert remembered(named)[0] == "offline"
    assert remembered(unnamed)[0] is None
    Retold.open(named).close()


SAID = {
    "profile of another": ("profile: standard", "write `profile: offline` into {file}"),
    "embedding of its own": (
        "embedding: {version: '2', model: BAAI/bge-m3, dims: 1024}",
        "write `profile: offline` into {file} and take the `embedding` block out of it",
    ),
    "another version": (
        "embedding: {version: '2'}",
        "use the embedding.version and the weights that the store was made with",
    ),
}


@pytest.mark.parametrize(("text", "said"), SAID.values(), ids=SAID)
def test_file_that_does_not_fit_is_told_what_to_write(text, said, offline, folder):
    """Told whether the file's model is on this machine or not; what is told opens the store."""
    file = write(folder, f"{QUEUE}{text}\n")
    with pytest.raises(EmbeddingProfileMismatch) as refused:
        Retold.open(offline, config=file)
    with pytest.raises(EmbeddingProfileMismatch), Store.open(offline, create=False) as store:
        require_fitting(store, applied_settings(file, None, "offline", {}))
    line = refusal(searched(offline, "--config", file))

    assert f"{said.format(file=file)}, or pass on_embedding_mismatch" in refused.value.message
    assert f"{said.format(file=file)}; this release cannot re-embed a store" in line
    if "write" in said:
        Retold.open(offline, config=write(folder, f"profile: offline\n{QUEUE}")).close()


def test_settings_without_a_file_are_told_the_profile(offline, monkeypatch):
    monkeypatch.setenv("RETOLD_PROFILE", "standard")
    with pytest.raises(EmbeddingProfileMismatch, match='; open it with profile="offline", or pass'):
        Retold.open(offline)
    with pytest.raises(EmbeddingProfileMismatch, match="make the configuration on the profile off"):
        Retold.open(offline, config=load_config())

    line = refusal(searched(offline, RETOLD_PROFILE="lite"))
    assert "pass --profile offline; this release cannot re-embed a store" in line
    assert searched(offline, "--profile", "offline", RETOLD_PROFILE="lite").code == 0


def test_model_of_no_profile_is_to_be_named(offline, folder):
    with Store.open(offline, create=False) as store, store.write() as tx:
        tx.meta.set_embedding_identity(EmbeddingIdentity("another", "1", 384))

    with pytest.raises(EmbeddingProfileMismatch) as refused:
        Retold.open(offline, config=write(folder, QUEUE))
    assert f"model, version and dims under `embedding` in {folder}/own.yaml" in str(refused.value)
    assert "under `embedding` in a configuration; this" in refusal(searched(offline))


def searched(store, *options, **variables):
    words = ("--agent", "a", "--user", "u", "tea")
    return retold("search", "--store", store, *options, *words, **variables)


def test_what_is_wrong_with_a_file_is_told_before_a_missing_model(offline, folder, monkeypatch):
    """A file that nobody can read names no profile, and the models of standard are not here."""
    monkeypatch.setattr(hub, "PACKAGES", ("no_such_package",))
    foreign, damaged = folder / "notes.txt", folder / "damaged.sqlite"
    foreign.write_text("These are notes and no store at all. " * 100)
    damaged.write_bytes(offline.read_bytes()[:8192])

    for path, refused in (
        (foreign, ForeignFile),
        (damaged, StoreCorrupt),
        (folder, StoreUnavailable),
        (folder / "no" / "such.sqlite", StoreUnavailable),
        (folder / "new.sqlite", RetoldSetupError),
    ):
        with pytest.raises(refused):
            Retold.open(path)
    for given in ({"read_only": True}, {"create": False}):
        with pytest.raises(StoreUnavailable, match="there is no such file"):
            Retold.open(folder / "new.sqlite", **given)
    with pytest.raises(RetoldSetupError, match=r"there is no store at .*new.sqlite yet; for a new"):
        Retold.open(folder / "new.sqlite")
    assert not (folder / "new.sqlite").exists()

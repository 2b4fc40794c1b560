"""Finding a model's files, in a folder and in a cache laid out as the hub's library does."""

import hashlib
import json

import pytest
from huggingface_hub import constants

from retold.errors import ConfigError, RetoldSetupError
from retold.index import hub
from retold.index.hub import download_model, needed_files, pull_target, require_model
from retold.index.model_files import declared_width, find_model, require_labels

NAME = "acme/tiny"
COMMIT = "c" * 40
WEIGHTS = b"some weights"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return an empty cache that the hub's library looks into."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def cached(cache):
    """Return a function that puts files of the model into the cache, the weights as a blob."""

    def put(files, weights=WEIGHTS):
        repository = cache / "models--acme--tiny"
        snapshot = write(repository / "snapshots" / COMMIT, files)
        write(repository, {"refs/main": COMMIT.encode()})
        blob = repository / "blobs" / sha256(WEIGHTS)
        write(blob.parent, {blob.name: weights})
        (snapshot / "model.safetensors").symlink_to(blob)
        return snapshot

    return put


def test_model_of_the_cache_is_found_with_its_commit_and_the_hash_that_names_its_blob(cached):
    snapshot = cached({"config.json": {"hidden_size": 8}})

    files = find_model(NAME)

    assert (files.folder, files.revision) == (snapshot, COMMIT)
    assert files.sha256 == files.measured_sha256() == sha256(WEIGHTS)
    assert files.size == len(WEIGHTS) + len('{"hidden_size": 8}')


def test_measured_hash_tells_a_damaged_blob_from_its_name(cached):
    cached({"config.json": {}}, weights=b"damaged on disk")

    files = find_model(NAME)

    assert files.measured_sha256() != files.sha256 == sha256(WEIGHTS)


def test_model_without_its_weights_is_not_here(cached):
    """A download that was cut off leaves the small files and no weights."""
    (cached({"config.json": {}}) / "model.safetensors").unlink()

    assert find_model(NAME) is None


def test_model_whose_blob_is_gone_is_not_here(cached):
    (cached({"config.json": {}}) / "model.safetensors").resolve().unlink()

    assert find_model(NAME) is None


def test_model_without_one_of_its_shards_is_not_here(tmp_path):
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    folder = write(tmp_path, {"model.safetensors.index.json": index, "model-1.safetensors": b"1"})
    missing = find_model(str(folder))
    write(folder, {"model-2.safetensors": b"2"})

    assert missing is None
    assert [path.name for path in find_model(str(folder)).weights] == list(
        index["weight_map"].values()
    )


def test_folder_is_a_model_too_and_has_no_revision(tmp_path):
    write(tmp_path, {"config.json": {}, "model.safetensors": WEIGHTS})

    files = find_model(str(tmp_path))

    assert (files.folder, files.revision, files.sha256) == (tmp_path, None, sha256(WEIGHTS))


def test_changed_weights_of_a_folder_have_another_hash(tmp_path):
    write(tmp_path, {"model.safetensors": WEIGHTS})
    before = find_model(str(tmp_path)).sha256
    write(tmp_path, {"model.safetensors": WEIGHTS + b"!"})

    assert find_model(str(tmp_path)).sha256 != before


def test_weights_of_several_modules_count_together(tmp_path):
    write(tmp_path, {"model.safetensors": b"body", "2_Dense/model.safetensors": b"head"})
    whole = find_model(str(tmp_path)).sha256
    write(tmp_path, {"2_Dense/model.safetensors": b"another head"})

    assert find_model(str(tmp_path)).sha256 != whole


def test_safetensors_win_over_pickled_weights_beside_them(tmp_path):
    write(tmp_path, {"model.safetensors": b"s", "pytorch_model.bin": b"p", "onnx/model.bin": b"o"})

    assert [path.name for path in find_model(str(tmp_path)).weights] == ["model.safetensors"]


@pytest.mark.parametrize(
    "name", ["acme/absent", "no such name", "/no/such/folder", "..", "~no-such-user/model"]
)
def test_what_is_nowhere_is_not_found_and_nobody_is_asked(cache, name, tmp_path, monkeypatch):
    """The network guard fails a test that reaches for the hub."""
    inside = tmp_path / "outer" / "inner"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)

    assert find_model(name) is None


NEEDED = (
    "config.json",
    "tokenizer.json",
    "spm.model",
    "vocab.txt",
    "1_Pooling/config.json",
    "model.safetensors",
)
LEFT = (
    "pytorch_model.bin",
    "tf_model.h5",
    "flax_model.msgpack",
    "rust_model.ot",
    "onnx/model.onnx",
    "onnx/config.json",
    "openvino/openvino_model.xml",
    "README.md",
    "imgs/long.jpg",
    "training_args.bin",
    ".gitattributes",
)


def test_download_takes_what_loading_needs_and_no_second_format():
    assert needed_files((*LEFT, *NEEDED)) == (*sorted(NEEDED[:-1]), NEEDED[-1])


def test_download_takes_pickled_weights_where_there_are_no_others():
    names = ("config.json", "pytorch_model.bin", "colbert_linear.pt", "onnx/model.onnx_data")

    assert needed_files(names) == ("config.json", "pytorch_model.bin")


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("BAAI/bge-m3", "standard"),
        ("sentence-transformers/all-MiniLM-L6-v2", "lite"),
        ("cross-encoder/nli-deberta-v3-small", "cross-encoder/nli-deberta-v3-small"),
        ("acme/tiny", "acme/tiny"),
    ],
)
def test_pull_target_is_the_one_profile_that_names_a_model_or_the_model(name, target):
    assert pull_target(name) == target


@pytest.fixture
def installed(monkeypatch):
    """Let the packages count as installed, whatever this environment has."""
    monkeypatch.setattr(hub, "PACKAGES", ())


@pytest.mark.usefixtures("cache", "installed")
def test_missing_model_is_refused_at_once_with_both_ways_out():
    with pytest.raises(RetoldSetupError) as caught:
        require_model("BAAI/bge-m3")

    assert "`retold models pull standard`" in caught.value.message
    assert "profile='offline'" in caught.value.message


def test_missing_packages_are_refused_with_both_ways_out(monkeypatch):
    monkeypatch.setattr(hub, "PACKAGES", ("no_such_package",))

    with pytest.raises(RetoldSetupError) as caught:
        require_model("BAAI/bge-m3")

    assert "needs no_such_package" in caught.value.message
    assert 'pip install "retold[local-models]"' in caught.value.message
    assert "profile='offline'" in caught.value.message


@pytest.mark.usefixtures("installed")
def test_model_that_is_here_is_used_without_asking_the_hub(cached):
    cached({"config.json": {}})

    assert require_model(NAME, allow_download=True).revision == COMMIT


@pytest.mark.usefixtures("cache", "installed")
def test_download_that_was_allowed_says_at_once_that_nobody_answers(monkeypatch):
    """Port 9 of this machine refuses the connection."""
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")

    with pytest.raises(RetoldSetupError, match=r"127\.0\.0\.1:9 cannot be reached"):
        require_model(NAME, allow_download=True)


@pytest.mark.usefixtures("cache")
def test_download_of_what_is_no_name_says_so():
    with pytest.raises(RetoldSetupError, match="neither a folder here nor a name"):
        download_model("no such name")


@pytest.mark.parametrize(
    ("files", "width"),
    [
        ({}, None),
        ({"config.json": {"hidden_size": 384}}, 384),
        (
            {
                "config.json": {"hidden_size": 384},
                "modules.json": [{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Normalize"}],
                "1_Pooling/config.json": {"pooling_mode_mean_tokens": True},
            },
            384,
        ),
        (
            {
                "config.json": {"hidden_size": 384},
                "modules.json": [{"path": ""}, {"path": "1_Pooling"}],
                "1_Pooling/config.json": {"pooling_mode": ["cls", "mean"]},
            },
            None,
        ),
        (
            {
                "config.json": {"hidden_size": 384},
                "modules.json": [{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Dense"}],
                "1_Pooling/config.json": {
                    "pooling_mode_cls_token": True,
                    "pooling_mode_mean_tokens": True,
                },
                "2_Dense/config.json": {"in_features": 384, "out_features": 128},
            },
            128,
        ),
        ({"config.json": b"no json"}, None),
    ],
    ids=["unknown", "transformer", "pooling", "two_modes", "dense", "broken"],
)
def test_declared_width_is_that_of_the_last_module_that_states_one(tmp_path, files, width):
    write(tmp_path, {"model.safetensors": WEIGHTS, **files})

    assert declared_width(find_model(str(tmp_path))) == width


def test_labels_are_read_by_number(tmp_path):
    config = {"id2label": {"1": "yes", "0": "no"}}
    write(tmp_path, {"model.safetensors": WEIGHTS, "config.json": config})

    assert require_labels(find_model(str(tmp_path)), "a.key", "x") == {0: "no", 1: "yes"}


def test_model_without_labels_is_a_configuration_error_that_names_the_setting(tmp_path):
    write(tmp_path, {"model.safetensors": WEIGHTS, "config.json": {}})

    with pytest.raises(ConfigError, match=r"a\.key: .* is no cross-encoder; choose a judge"):
        require_labels(find_model(str(tmp_path)), "a.key", "a judge")

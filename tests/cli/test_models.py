"""``retold models`` against a hub on this machine; nothing is loaded, so torch is not needed."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys

import pytest
from huggingface_hub import constants
from wcwidth import wcswidth

from retold.cli import app
from retold.index.hub import PACKAGES
from tests.cli_support import Finished, environment, refusal, retold
from tests.loopback_hub import COMMIT, LoopbackHub

NOBODY = "http://127.0.0.1:9"
EMBEDDER = "sentence-transformers/all-MiniLM-L6-v2"
JUDGE = "cross-encoder/nli-deberta-v3-small"
WEIGHTS = b"0123456789abcdef" * 4096
SHA256 = hashlib.sha256(WEIGHTS).hexdigest()
FILES = {
    "config.json": b'{"model_type": "bert"}',
    "tokenizer.json": b'{"version": "1.0"}',
    "1_Pooling/config.json": b'{"pooling_mode": "mean"}',
    "model.safetensors": WEIGHTS,
    "pytorch_model.bin": b"the same once more",
    "onnx/model.onnx": b"and again",
    "README.md": b"# a model",
}
NEEDED = ["1_Pooling/config.json", "config.json", "tokenizer.json", "model.safetensors"]


@pytest.fixture
def hub(tmp_path):
    """Serve the two models of the profile lite."""
    folder = tmp_path / "repository"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    with LoopbackHub({EMBEDDER: folder, JUDGE: folder}) as served:
        yield served


def point_to(monkeypatch, url):
    """Let the hub's library in this process talk to another hub; it reads HF_ENDPOINT only once."""
    template = f"{url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)


@pytest.fixture
def run(hub, tmp_path, monkeypatch, capsys):
    """Run ``retold models`` in this process, with the hub and an empty cache."""
    for variable in ("RETOLD_CONFIG", "RETOLD_PROFILE", "RETOLD_STORE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    point_to(monkeypatch, hub.url)

    def models(*arguments):
        capsys.readouterr()
        code = app.run(["models", *arguments])
        return Finished(code, *capsys.readouterr())

    return models


def states(finished, profile="lite"):
    """Return the models of one profile by role."""
    (one,) = [one for one in finished.document["profiles"] if one["profile"] == profile]
    return {model["role"]: model for model in one["models"]}


def test_pull_fetches_what_loading_needs_and_list_finds_it(hub, run):
    before = run("list", "--json")
    pulled = run("pull", "lite", "--json")
    after = run("list", "--json")

    assert not states(before)["embedder"]["present"]
    assert hub.fetched == [f"{name} {file}" for name in (EMBEDDER, JUDGE) for file in NEEDED]
    assert [
        (model["name"], model["downloaded"], model["revision"], model["sha256"])
        for model in pulled.document["models"]
    ] == [(EMBEDDER, True, COMMIT, SHA256), (JUDGE, True, COMMIT, SHA256)]
    embedder = states(after)["embedder"]
    assert (embedder["present"], embedder["sha256"]) == (True, SHA256)
    assert embedder["bytes"] == sum(len(FILES[file]) for file in NEEDED)
    assert states(after)["judge"]["present"]
    assert not states(after, "standard")["embedder"]["present"]


def test_pull_of_much_says_how_far_it_is_on_standard_error(hub, run):
    with (hub.repositories[EMBEDDER] / "model.safetensors").open("r+b") as weights:
        weights.truncate(50_000_000)

    finished = run("pull", EMBEDDER)

    lines = finished.err.splitlines()
    assert finished.code == 0
    assert len(lines) > 2
    assert all(line.startswith("downloading ") and EMBEDDER in line for line in lines)
    assert lines[-1].endswith("50.0 MB of 50.0 MB, model.safetensors")


def test_pull_leaves_a_model_that_is_here_alone(hub, run, monkeypatch):
    run("pull", EMBEDDER)
    hub.fetched.clear()
    point_to(monkeypatch, NOBODY)
    again = run("pull", EMBEDDER)

    assert "here already" in again.out
    assert (again.code, again.err, hub.fetched) == (0, "", [])


def test_download_that_broke_is_not_a_model_and_the_next_pull_ends_it(hub, run):
    hub.fail.add("model.safetensors")
    failed = run("pull", EMBEDDER)
    listed = run("list", "--json")
    hub.fail.clear()
    hub.fetched.clear()
    mended = run("pull", EMBEDDER)

    assert failed.code == 2
    assert failed.err.splitlines()[-1].endswith(f"{hub.url} answered 500; try again later")
    assert not states(listed)["embedder"]["present"]
    assert mended.code == 0
    assert hub.fetched == [f"{EMBEDDER} model.safetensors"]


def test_pull_that_was_killed_leaves_no_model_and_the_next_fetches_what_is_missing(
    hub, run, tmp_path
):
    """The client writes pieces of ten megabytes; the hub stops in the middle of the third."""
    with (hub.repositories[EMBEDDER] / "model.safetensors").open("r+b") as weights:
        weights.truncate(30_000_000)
    hub.pause_after = 25_000_000
    variables = hub.environment(tmp_path / "home")
    variables["HF_HUB_CACHE"] = str(tmp_path / "cache")
    with subprocess.Popen(
        [sys.executable, "-m", "retold", "models", "pull", EMBEDDER],
        env=environment(**variables),
        stderr=subprocess.PIPE,
        text=True,
    ) as killed:
        try:
            assert any("21.0 MB of 30.0 MB" in line for line in killed.stderr)
        finally:
            killed.kill()
    hub.pause_after = None
    hub.go_on.set()
    hub.fetched.clear()

    listed = run("list", "--json")
    pulled = run("pull", EMBEDDER, "--json")

    assert not states(listed)["embedder"]["present"]
    assert pulled.document["models"][0]["downloaded"]
    assert hub.fetched == [f"{EMBEDDER} model.safetensors"]


def test_weights_that_arrive_damaged_are_refused(hub, run):
    """The client of the hub compares sizes only."""
    hub.spoil.add("model.safetensors")

    failed = run("pull", EMBEDDER)

    assert failed.code == 2
    assert "are damaged; delete" in failed.err.splitlines()[-1]


def test_model_that_the_hub_lacks_is_named(hub, run):
    line = refusal(run("pull", "acme/absent"))

    assert line.endswith(f"{hub.url} has no model of that name, or does not show it to you")


def test_pull_without_a_hub_is_one_line_at_once(run, monkeypatch):
    """The client of the hub would try again for a minute."""
    point_to(monkeypatch, NOBODY)

    assert f"{NOBODY} cannot be reached" in refusal(run("pull", "lite"))


def test_pull_where_the_hub_is_switched_off_says_so_at_once(hub, run, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)

    assert "HF_HUB_OFFLINE is set; unset it" in refusal(run("pull", "lite"))
    assert hub.fetched == []


def test_pull_in_a_process_of_its_own_follows_the_variables_of_the_hub(hub, tmp_path):
    pulled = retold("models", "pull", "lite", **hub.environment(tmp_path / "moved"))

    assert pulled.code == 0
    assert len(list((tmp_path / "moved").rglob("model.safetensors"))) == 2


def test_pull_of_the_offline_profile_downloads_nothing(hub, run):
    finished = run("pull", "offline")

    assert finished.out == "nothing to download: the models are installed packages\n"
    assert hub.fetched == []


def test_pull_of_the_offline_profile_names_the_extra_that_is_missing(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    line = refusal(run("pull", "offline"))

    assert 'pip install "retold[offline]"' in line


def test_pull_takes_the_models_of_a_configuration(hub, run, tmp_path):
    settings = {
        "ingestion": {"equivalence": {"model": "lexical"}},
        "embedding": {"model": EMBEDDER},
    }
    (tmp_path / "own.yaml").write_text(json.dumps(settings), encoding="utf-8")

    pulled = run("pull", "--config", "own.yaml", "--json")
    listed = run("list", "--config", "own.yaml", "--json")

    assert [model["name"] for model in pulled.document["models"]] == [EMBEDDER]
    assert [model["present"] for model in listed.document["models"]] == [True, True, False]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("pull",), "name a profile (standard, lite, offline) or a model of the hub"),
        (("pull", "best"), "unknown profile 'best'"),
        (("list", "--profile", "best"), "unknown profile 'best'"),
        (("check", "best"), "unknown profile 'best'"),
        (("check", "lite", "--profile", "lite"), "name the profile once"),
        (("list", "best"), "unknown profile 'best'"),
        (("list", "lite", "--profile", "lite"), "name the profile once"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_name_is_refused_with_the_choices(run, arguments, says):
    assert says in refusal(run(*arguments))


def test_list_names_the_command_that_makes_a_profile_ready(run):
    finished = run("list")

    assert "profile offline: ready" in finished.out
    assert "retold models pull lite (about 640 MB)" in finished.out
    assert "retold models pull standard (about 2.8 GB)" in finished.out
    assert max(wcswidth(line) for line in finished.out.splitlines()) <= 80


def test_list_names_the_packages_that_are_missing(run, monkeypatch):
    for package in PACKAGES:
        monkeypatch.setitem(sys.modules, package, None)
    run("pull", "lite")

    finished = run("list", "--profile", "lite")

    assert 'profile lite: not ready\nrun  pip install "retold[local-models]"' in finished.out
    assert states(run("list", "--json"))["embedder"]["missing"] == list(PACKAGES)


@pytest.mark.parametrize("named", [("lite",), ("--profile", "lite")], ids=" ".join)
def test_list_of_one_profile_shows_no_other(run, named):
    listed = run("list", *named, "--json").document["profiles"]

    assert [one["profile"] for one in listed] == ["lite"]


def test_check_of_the_offline_profile_tries_both_of_its_models(run):
    finished = run("check", "offline", "--json")

    embedder, judge = finished.document["models"]
    assert (embedder["dims"], embedder["problem"], judge["problem"]) == (384, None, None)
    assert embedder["measured"]["related"] > embedder["measured"]["unrelated"]
    assert embedder["load_ms"] > 0
    assert len(embedder["sha256"]) == 64


def test_check_of_a_model_that_is_not_here_says_how_to_get_it(run, tmp_path):
    line = refusal(run("check", "lite"))

    assert "`retold models pull lite`" in line or 'pip install "retold[local-models]"' in line


def test_search_with_a_profile_whose_models_are_not_here_is_one_line(store, tmp_path):
    finished = retold(
        *("search", "tea", "--as", "helper/ana", "--store", store, "--profile", "lite"),
        HF_HOME=str(tmp_path / "empty"),
    )

    assert "--profile offline" in refusal(finished)

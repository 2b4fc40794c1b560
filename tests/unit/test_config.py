"""Settings: defaults, validation, files, profiles and their documentation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from retold.config import (
    LEXICAL_JUDGE,
    PACKAGED_EMBEDDER,
    PROFILES,
    GateFloors,
    IngestionConfig,
    RetoldConfig,
    load_config,
    parse_config,
    profile_config,
    read_environment,
    resolve_profile,
    resolve_store_path,
)
from retold.config.load import MAX_BYTES, key_paths
from retold.config.reference import (
    BEGIN,
    END,
    describe,
    render_reference,
    render_yaml,
    replace_reference,
)
from retold.errors import ConfigError
from retold.models import SOURCE_KINDS

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def write_yaml(tmp_path):
    def write(text: str | bytes) -> Path:
        path = tmp_path / "retold.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def message_of(values: dict) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_config(values)
    return caught.value.message


# --- defaults ---------------------------------------------------------------------------

DESIGNED = {
    "store.busy_timeout_seconds": 30,
    "embedding.model": "BAAI/bge-m3",
    "embedding.dims": 1024,
    "embedding.query_cache_entries": 4096,
    "embedding.incremental_reload_max": 512,
    "embedding.threads": None,
    "embedding.allow_download": False,
    "reranker.enabled": False,
    "reranker.floor": None,
    "reranker.mode": "rrf_cross_encoder",
    "retrieval.preset": "design",
    "retrieval.rrf_k": 60,
    "retrieval.default_k": 8,
    "retrieval.token_budget": 1500,
    "retrieval.trigger.mode": "tool_only",
    "retrieval.gate.dense_floor.episodic": 0.40,
    "retrieval.gate.dense_floor.session_summary": 0.50,
    "retrieval.gate.entity_exempt": True,
    "retrieval.gate.auto.dense_floor.semantic": 0.55,
    "retrieval.gate.auto.dense_floor.session_summary": 0.50,
    "retrieval.gate.auto.entity_exempt": False,
    "retrieval.gate.auto.exclude_source_kinds": ("session_summary",),
    "retrieval.freshness.episodic_half_life_days": 30,
    "ingestion.dedup_candidate_cosine": 0.85,
    "ingestion.attribute_alias_cosine": 0.80,
    "ingestion.equivalence.contradict_floor": 0.70,
    "ingestion.evidence.min_characters": 15,
    "ingestion.reinforcements_to_confirm": 2,
    "ingestion.extract_on_session_end": False,
    "policy.source_rank.user_statement": 4,
    "policy.source_rank.agent_inference": 1,
    "sessions.retain_days": 90,
    "search_log.max_wait_ms": 250,
    "logs.detail": "full",
    "audit.denials": True,
    "queue.backend": "thread",
}


@pytest.mark.parametrize(("path", "expected"), DESIGNED.items(), ids=DESIGNED)
def test_default_equals_the_designed_value(path, expected):
    value = RetoldConfig()
    for name in path.split("."):
        value = getattr(value, name)

    assert value == expected


def test_default_file_equals_the_defaults():
    assert load_config(ROOT / "config" / "retold.yaml") == RetoldConfig()


def test_default_file_is_what_the_field_descriptions_say():
    assert (ROOT / "config" / "retold.yaml").read_text() == render_yaml()


def test_every_key_of_the_default_file_is_a_setting_and_the_reverse():
    values = yaml.safe_load((ROOT / "config" / "retold.yaml").read_text())

    def paths(block, prefix=""):
        for name, value in block.items():
            yield prefix + name
            if isinstance(value, dict):
                yield from paths(value, f"{prefix}{name}.")

    assert list(paths(values)) == list(key_paths())


def test_settings_cannot_be_changed_in_place():
    config = RetoldConfig()

    with pytest.raises(ValidationError):
        config.retrieval.default_k = 3
    assert hash(config) == hash(RetoldConfig())


# --- validation -------------------------------------------------------------------------

REFUSED = {
    "misspelt": (
        {"retrieval": {"gate": {"dense_floor": {"semantc": 0.3}}}},
        "retrieval.gate.dense_floor.semantc: unknown key; did you mean 'semantic'?",
    ),
    "wrong_level": (
        {"per_generator_k": 5},
        "per_generator_k: unknown key; did you mean 'retrieval.per_generator_k'?",
    ),
    "unknown": (
        {"sessions": {"zzz": 1}},
        "sessions.zzz: unknown key; known keys here: retain_days",
    ),
    "bool_for_int": (
        {"retrieval": {"rrf_k": True}},
        "retrieval.rrf_k: must be a valid integer, got a boolean",
    ),
    "bool_for_float": (
        {"store": {"busy_timeout_seconds": True}},
        "store.busy_timeout_seconds: must be a valid number, got a boolean",
    ),
    "int_for_bool": (
        {"audit": {"denials": 1}},
        "audit.denials: must be a valid boolean, got a whole number",
    ),
    "text_for_int": (
        {"embedding": {"dims": "384"}},
        "embedding.dims: must be a valid integer, got text",
    ),
    "float_for_int": (
        {"embedding": {"dims": 384.0}},
        "embedding.dims: must be a valid integer, got a number",
    ),
    "int_for_text": (
        {"embedding": {"version": 1}},
        "embedding.version: must be a valid string, got a whole number",
    ),
    "not_a_number": (
        {"retrieval": {"dedup_cosine": float("nan")}},
        "retrieval.dedup_cosine: must be a finite number",
    ),
    "infinite": (
        {"store": {"busy_timeout_seconds": float("inf")}},
        "store.busy_timeout_seconds: must be a finite number",
    ),
    "too_large": (
        {"ingestion": {"evidence": {"entail_floor": 1.5}}},
        "ingestion.evidence.entail_floor: must be less than or equal to 1",
    ),
    "longer_than_the_calendar": (
        {"ingestion": {"extraction_claim_timeout_minutes": 10**9}},
        "ingestion.extraction_claim_timeout_minutes: must be less than or equal to 525600",
    ),
    "too_small": (
        {"retrieval": {"default_k": 0}},
        "retrieval.default_k: must be greater than or equal to 1",
    ),
    "not_a_choice": ({"logs": {"detail": "none"}}, "logs.detail: must be 'full' or 'summary'"),
    "not_a_block": (
        {"retrieval": {"gate": 3}},
        "retrieval.gate: must be a mapping of keys, got a whole number",
    ),
    "empty_block": ({"store": None}, "store: must be a mapping of keys, got null"),
    "text_for_list": (
        {"ingestion": {"multi_valued_attributes": "likes"}},
        "ingestion.multi_valued_attributes: must be a valid list, got text",
    ),
    "list_item": (
        {"ingestion": {"multi_valued_attributes": ["likes", 3]}},
        "ingestion.multi_valued_attributes.1: must be a valid string, got a whole number",
    ),
    "blank": (
        {"embedding": {"model": "  "}},
        "embedding.model: must not be blank, padded or hold control characters",
    ),
    "control": (
        {"store": {"path": "a\x00b"}},
        "store.path: must not be blank, padded or hold control characters",
    ),
    "key_not_text": ({"store": {1: 2}}, "store.1: a key must be text"),
    "reranker_without_floor": (
        {"reranker": {"enabled": True}},
        "reranker: an enabled reranker needs a calibrated reranker.floor",
    ),
    "unasked_entity_pass": (
        {"retrieval": {"gate": {"auto": {"entity_exempt": True}}}},
        "retrieval.gate.auto.entity_exempt: must be False",
    ),
    "claim_that_ends_within_a_call": (
        {"ingestion": {"extraction_claim_timeout_minutes": 1}},
        "ingestion: extraction_claim_timeout_minutes must be longer than extraction_timeout_ms and "
        "review_timeout_ms",
    ),
    "custom_without_endpoint": (
        {"hosted": {"default_provider": "custom"}},
        "hosted: default_provider custom needs hosted.custom.base_url",
    ),
    "extractor_without_a_model": (
        {"ingestion": {"extraction_model": "custom/"}},
        "ingestion.extraction_model: is not of the form provider/model",
    ),
    "reviewer_with_a_blank": (
        {"ingestion": {"review_model": "openai/ gpt-5"}},
        "ingestion.review_model: is not of the form provider/model",
    ),
    "rewriter_without_a_model": (
        {"retrieval": {"rewrite": {"model": "anthropic/"}}},
        "retrieval.rewrite.model: is not of the form provider/model",
    ),
    "not_a_url": (
        {"hosted": {"custom": {"base_url": "localhost:11434"}}},
        "hosted.custom.base_url: must be an http or https URL with a host",
    ),
    "url_with_a_space": (
        {"hosted": {"custom": {"base_url": "http://a b/v1"}}},
        "hosted.custom.base_url: must be an http or https URL with a host",
    ),
}


@pytest.mark.parametrize(("values", "expected"), REFUSED.values(), ids=REFUSED)
def test_parse_config_names_the_path_of_a_wrong_value(values, expected):
    assert message_of(values) == f"configuration: {expected}"


def test_parse_config_reports_every_wrong_key_at_once():
    message = message_of({"stoer": {}, "retrieval": {"rrf_k": "x"}, "audit": {"denials": None}})

    assert {"stoer", "retrieval.rrf_k", "audit.denials"} == {
        part.split(":")[0]
        for part in message.removeprefix("configuration: ").split("; ")
        if not part.startswith("did you mean")
    }


@pytest.mark.parametrize(
    "values",
    [
        {"hosted": {"openai": {"api_key_env": "sk-live-SECRET"}}},
        {"hosted": {"custom": {"base_url": "https://me:SECRET@host/v1"}}},
        {"embedding": {"dims": "SECRET"}},
    ],
    ids=["key_for_name", "password_in_url", "wrong_type"],
)
def test_parse_config_never_shows_a_refused_value(values):
    assert "SECRET" not in message_of(values)


def test_enabled_reranker_with_a_floor_is_accepted():
    assert parse_config({"reranker": {"enabled": True, "floor": 0.3}}).reranker.enabled


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(path=st.sampled_from(list(key_paths())), value=JSON_VALUES)
def test_any_value_under_any_key_is_taken_or_refused_by_path(path, value):
    for name in reversed(path.split(".")):
        value = {name: value}
    try:
        accepted = parse_config(value)
    except ConfigError as error:
        named = error.details["paths"]
    else:
        assert isinstance(accepted, RetoldConfig)
        return

    assert all(wrong.startswith(path.split(".")[0]) for wrong in named)


# --- what stages are given --------------------------------------------------------------


def test_gate_hands_out_the_floors_of_who_asks():
    gate = RetoldConfig().retrieval.gate
    asked: GateFloors = gate.floors("tool")
    unasked: GateFloors = gate.floors("auto")

    assert (asked.dense_floor.of("procedural"), asked.entity_exempt) == (0.45, True)
    assert (unasked.dense_floor.of("procedural"), unasked.entity_exempt) == (0.55, False)
    assert (asked.exclude_source_kinds, unasked.exclude_source_kinds) == ((), ("session_summary",))


def test_one_changed_auto_floor_leaves_the_other_auto_floors():
    config = parse_config({"retrieval": {"gate": {"auto": {"dense_floor": {"semantic": 0.6}}}}})

    assert config.retrieval.gate.auto.dense_floor.of("episodic") == 0.50


def test_every_source_kind_has_a_rank():
    ranks = RetoldConfig().policy.source_rank

    assert [ranks.of(kind) for kind in SOURCE_KINDS] == [4, 3, 2, 2, 1]


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [("likes", True), ("allergies", True), ("response_language", False), ("home_city", False)],
)
def test_only_listed_attributes_are_multi_valued(attribute, expected):
    assert IngestionConfig().is_multi_valued(attribute) is expected


def test_multi_valued_attributes_are_globs():
    config = parse_config({"ingestion": {"multi_valued_attributes": ["fav_*"]}}).ingestion

    assert config.is_multi_valued("fav_colour")
    assert not config.is_multi_valued("likes")


def test_flags_hold_what_decides_a_search_as_json():
    flags = RetoldConfig().flags()

    assert json.loads(json.dumps(flags, allow_nan=False)) == flags
    assert flags["embedding_model"] == "BAAI/bge-m3"
    assert flags["rewrite_enabled"] is flags["reranker_enabled"] is False
    assert flags["gate"]["dense_floor"]["semantic"] == 0.45
    assert flags["gate"]["auto"]["exclude_source_kinds"] == ["session_summary"]
    assert flags["rrf_k"] == 60


def test_flags_leave_out_a_disabled_reranker_and_hold_an_enabled_one():
    enabled = parse_config({"reranker": {"enabled": True, "floor": 0.25}})

    assert RetoldConfig().flags()["reranker"] is None
    assert enabled.flags()["reranker"]["floor"] == 0.25


# --- files ------------------------------------------------------------------------------


def test_load_config_changes_only_what_the_file_names(write_yaml):
    config = load_config(write_yaml("retrieval:\n  default_k: 3\n"))

    assert config == parse_config({"retrieval": {"default_k": 3}})
    assert config.retrieval.token_budget == 1500


def test_load_config_lays_the_file_on_a_profile(write_yaml):
    path = write_yaml("retrieval: {gate: {dense_floor: {semantic: 0.2}}}")
    floors = load_config(path, profile="lite").retrieval.gate.dense_floor

    assert (floors.semantic, floors.episodic) == (0.2, 0.46)


def test_load_config_without_a_file_is_the_standard_profile():
    assert load_config() == RetoldConfig() == profile_config("standard")


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n...\n", b"\xef\xbb\xbf"])
def test_load_config_takes_an_empty_file_as_the_defaults(write_yaml, text):
    assert load_config(write_yaml(text)) == RetoldConfig()


def test_load_config_names_a_missing_file(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere\.yaml.*No such file"):
        load_config(tmp_path / "nowhere.yaml")


def test_load_config_refuses_a_directory(tmp_path):
    with pytest.raises(ConfigError, match="directory"):
        load_config(tmp_path)


def test_load_config_refuses_a_path_that_no_file_can_have():
    with pytest.raises(ConfigError):
        load_config("a\x00b")


def test_load_config_names_file_and_path_of_a_wrong_key(write_yaml):
    path = write_yaml("retrieval:\n  gate:\n    dense_floor:\n      semantc: 0.3\n")

    with pytest.raises(ConfigError) as caught:
        load_config(path)

    assert str(path) in caught.value.message
    assert "retrieval.gate.dense_floor.semantc: unknown key" in caught.value.message
    assert caught.value.details["paths"] == ["retrieval.gate.dense_floor.semantc"]


def test_load_config_refuses_an_enabled_reranker_without_a_floor(write_yaml):
    with pytest.raises(
        ConfigError, match=r"an enabled reranker needs a calibrated reranker\.floor"
    ):
        load_config(write_yaml("reranker:\n  enabled: true\n"))


BAD_FILES = {
    "duplicate": ("audit:\n  denials: true\n  denials: false\n", "audit.denials: given twice"),
    "duplicate_block": ("store: {}\nstore: {}\n", r"store: given twice \(again on line 2\)"),
    "duplicate_under_alias": (
        "store: &s {path: a, path: b}\nsessions: *s\n",
        "store.path: given twice",
    ),
    "list": ("- 1\n", "must be a mapping of blocks"),
    "scalar": ("hello", "must be a mapping of blocks"),
    "two_documents": ("a: 1\n---\nb: 2\n", "line 2: but found another document"),
    "broken": ("store: [1\n", "line 2"),
    "tab": ("store:\n\tpath: x\n", "line 2"),
    "python_object": ("store: !!python/object/apply:os.system [true]\n", "constructor"),
    "not_utf8": (b"store: \xff\xfe", "not UTF-8"),
    "control": ("store: \x07", "special characters"),
    "undefined_alias": ("store: *s\n", "undefined alias"),
    "cycle": ("store: &s\n  path: *s\n", "store.path: an alias refers to its own parent"),
    "list_as_key": ("? [a, b]\n: 1\n", "a key must be plain text"),
    "impossible_date": ("store: {path: 2024-13-45}\n", "cannot be read"),
    "endless_number": ("embedding: {dims: " + "9" * 5000 + "}\n", "cannot be read"),
    "deep": ("[" * 5000, "nested too deeply"),
    "huge": ("#" * (MAX_BYTES + 1), "larger than 1048576 bytes"),
}


@pytest.mark.parametrize(("text", "expected"), BAD_FILES.values(), ids=BAD_FILES)
def test_load_config_refuses_a_file_that_yaml_would_misread(write_yaml, text, expected):
    with pytest.raises(ConfigError, match=expected):
        load_config(write_yaml(text))


def test_load_config_refuses_aliases_that_multiply(write_yaml):
    """Without the size check in ``_check_shape`` this file is ten to the ninth values."""
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    with pytest.raises(ConfigError, match="aliases expand to too many values"):
        load_config(write_yaml("\n".join(levels)))


def test_load_config_allows_an_alias_and_a_merge_key(write_yaml):
    path = write_yaml(
        "retrieval:\n"
        "  gate:\n"
        "    dense_floor: &floors {semantic: 0.3, episodic: 0.3}\n"
        "    auto:\n"
        "      dense_floor: {<<: *floors, episodic: 0.6}\n"
    )
    gate = load_config(path).retrieval.gate

    assert (gate.dense_floor.semantic, gate.dense_floor.episodic) == (0.3, 0.3)
    assert (gate.auto.dense_floor.semantic, gate.auto.dense_floor.episodic) == (0.3, 0.6)


# --- profiles ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lite", "offline"])
def test_profile_file_equals_the_profile_and_holds_only_differences(name):
    path = ROOT / "config" / f"retold.{name}.yaml"
    values = yaml.safe_load(path.read_text())

    def leaves(block, default, prefix=""):
        for key, value in block.items():
            below = getattr(default, key)
            if isinstance(value, dict):
                yield from leaves(value, below, f"{prefix}{key}.")
            elif value == below:
                yield prefix + key

    assert load_config(path) == profile_config(name)
    assert list(leaves(values, RetoldConfig())) == []


def test_offline_profile_needs_no_hub():
    config = profile_config("offline")

    assert config.embedding.model == PACKAGED_EMBEDDER
    assert config.embedding.is_packaged
    assert config.ingestion.equivalence.model == LEXICAL_JUDGE
    assert config.ingestion.equivalence.is_lexical
    assert config.ingestion.evidence.entail_floor == 0.5
    assert config.embedding.dims == 384


@pytest.mark.parametrize("name", ["standard", "lite"])
def test_other_profiles_use_hub_models_and_never_download_unasked(name):
    config = profile_config(name)

    assert not config.embedding.is_packaged
    assert not config.ingestion.equivalence.is_lexical
    assert not config.embedding.allow_download


def test_unknown_profile_is_a_value_error_that_names_the_choices():
    for ask in (profile_config, lambda name: load_config(profile=name)):
        with pytest.raises(ValueError, match="'best'; choose one of standard, lite, offline"):
            ask("best")


CHOICES = {
    "argument_wins": ("lite", "offline", {"RETOLD_PROFILE": "standard"}, "lite", "argument"),
    "argument_over_file": ("lite", None, {"RETOLD_CONFIG": "x.yaml"}, "lite", "argument"),
    "environment": (None, "offline", {"RETOLD_PROFILE": "lite"}, "lite", "environment"),
    "store": (None, "offline", {}, "offline", "store"),
    "default": (None, None, {}, "standard", "default"),
    "blank_is_unset": (None, "lite", {"RETOLD_PROFILE": " "}, "lite", "store"),
}


@pytest.mark.parametrize(
    ("argument", "store", "environ", "profile", "origin"), CHOICES.values(), ids=CHOICES
)
def test_resolve_profile_follows_the_order(argument, store, environ, profile, origin):
    choice = resolve_profile(argument, store, environ)

    assert (choice.profile, choice.config_path, choice.origin) == (profile, None, origin)


def test_resolve_profile_takes_a_configuration_file_from_the_environment():
    choice = resolve_profile(None, "lite", {"RETOLD_CONFIG": "x.yaml"})

    assert (choice.profile, choice.config_path, choice.origin) == (None, "x.yaml", "environment")


@pytest.mark.parametrize(
    ("store", "environ", "expected"),
    [
        (None, {"RETOLD_PROFILE": "best"}, "RETOLD_PROFILE: unknown profile 'best'"),
        ("newer", {}, "the store: unknown profile 'newer'"),
        (None, {"RETOLD_PROFILE": "lite", "RETOLD_CONFIG": "x"}, "both set"),
    ],
    ids=["variable", "store", "both_variables"],
)
def test_resolve_profile_refuses_what_it_cannot_follow(store, environ, expected):
    with pytest.raises(ConfigError, match=expected):
        resolve_profile(None, store, environ)


def test_resolve_profile_refuses_an_unknown_argument():
    with pytest.raises(ValueError, match="choose one of standard, lite, offline"):
        resolve_profile("best", None, {})


def test_resolve_store_path_follows_the_order():
    environ = {"RETOLD_STORE": "env.sqlite"}

    def configured():
        asked.append("store.path")
        return "cfg.sqlite"

    asked = []
    assert resolve_store_path("flag.sqlite", environ, configured) == "flag.sqlite"
    assert resolve_store_path(None, environ, configured) == "env.sqlite"
    assert asked == []
    assert resolve_store_path(None, {}, configured) == "cfg.sqlite"


def test_read_environment_holds_nothing_but_our_variables(monkeypatch):
    monkeypatch.setenv("RETOLD_STORE", "x.sqlite")
    monkeypatch.delenv("RETOLD_CONFIG", raising=False)
    monkeypatch.delenv("RETOLD_PROFILE", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "secret")

    assert read_environment() == {"RETOLD_STORE": "x.sqlite"}


# --- documentation and weight -----------------------------------------------------------


def test_configuration_page_is_what_the_field_descriptions_say():
    page = (ROOT / "docs" / "configuration.md").read_text()

    assert replace_reference(page) == page


def test_every_key_has_a_line_with_its_meaning():
    page = (ROOT / "docs" / "configuration.md").read_text()

    for doc in describe():
        assert doc.meaning.endswith("."), doc.path
        assert doc.is_block or f"| `{doc.path}` |" in page


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("store.path", "text"),
        ("store.busy_timeout_seconds", "number, above 0"),
        ("embedding.dims", "whole number, from 1"),
        ("embedding.threads", "whole number, from 1, or null"),
        ("embedding.allow_download", "true or false"),
        ("retrieval.dedup_cosine", "number, -1 to 1, or null"),
        ("retrieval.gate.auto.entity_exempt", "false"),
        ("logs.detail", "one of full, summary"),
        ("ingestion.multi_valued_attributes", "list of text"),
    ],
)
def test_reference_says_in_words_what_values_a_key_takes(path, kind):
    assert {doc.path: doc.kind for doc in describe()}[path] == kind


def test_running_the_reference_writes_the_page_and_the_file(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "config").mkdir()
    (tmp_path / "docs" / "configuration.md").write_text(f"Before.\n\n{BEGIN}\nold\n{END}\nAfter.\n")
    command = [sys.executable, "-m", "retold.config.reference"]
    subprocess.run(command, check=True, cwd=tmp_path)

    page = (tmp_path / "docs" / "configuration.md").read_text()
    assert page == f"Before.\n\n{BEGIN}\n\n{render_reference()}\n{END}\nAfter.\n"
    assert (tmp_path / "config" / "retold.yaml").read_text() == render_yaml()


def test_configuration_page_names_what_each_profile_sets():
    page = (ROOT / "docs" / "configuration.md").read_text()

    for name in PROFILES:
        config = profile_config(name)
        assert f"`{config.embedding.model}`" in page
        assert f"`{config.ingestion.equivalence.model}`" in page


def test_replace_reference_refuses_a_page_without_markers():
    with pytest.raises(ValueError, match="lacks"):
        replace_reference(f"{END} text {BEGIN}")


def test_importing_the_settings_loads_nothing_heavy():
    heavy = ["torch", "onnxruntime", "tokenizers", "sentence_transformers", "huey", "openai"]
    code = f"import sys, retold.config; print([m for m in {heavy!r} if m in sys.modules])"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ
    )

    assert done.stdout.strip() == "[]"

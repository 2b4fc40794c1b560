"""Which profile counts: the one of an argument, of a file, of the store, or standard."""

from __future__ import annotations

import pytest

from retold.config import AppliedSettings, applied_settings, load_config, parse_config
from retold.config.profiles import base_profile
from retold.errors import ConfigError
from tests import docs_support

QUEUE = "queue: {backend: huey}\n"
ORDER = {
    # what names a profile: argument, key of the file, store -> the profile that counts
    "argument first": ("lite", "offline", "offline", "lite"),
    "then the file": (None, "offline", "lite", "offline"),
    "then the store": (None, None, "offline", "offline"),
    "standard at last": (None, None, None, "standard"),
    "a named standard is a name": (None, "standard", "offline", "standard"),
    "a store of a newer release does not matter to who names one": (None, "lite", "newer", "lite"),
}


@pytest.fixture
def write(tmp_path):
    def _write(text):
        path = tmp_path / "retold.yaml"
        path.write_text(text)
        return str(path)

    return _write


@pytest.mark.parametrize(("argument", "file", "store", "expected"), ORDER.values(), ids=ORDER)
def test_profile_under_a_file_follows_the_order(argument, file, store, expected):
    assert base_profile(argument, file, store) == expected


APPLIED = {
    # file and profile that are passed, profile of the store, file of the environment
    # -> what the settings lie on, what a new store remembers, who named them
    "file lies on the store's profile": (
        ("FILE", None, "offline", None),
        ("offline", None, "argument"),
    ),
    "file lies on standard": (("FILE", None, None, None), ("standard", None, "argument")),
    "file names one": (("NAMED", None, "offline", None), ("lite", "lite", "argument")),
    "file of the environment": (
        (None, None, "offline", "FILE"),
        ("offline", None, "environment"),
    ),
    "named by one of the environment": (
        (None, None, None, "NAMED"),
        ("lite", "lite", "environment"),
    ),
    "argument over the environment": (
        (None, "offline", "lite", "NAMED"),
        ("offline", "offline", "argument"),
    ),
    "no file": ((None, None, "lite", None), ("lite", "lite", "store")),
    "nothing": ((None, None, None, None), ("standard", "standard", "default")),
}


@pytest.mark.parametrize(("given", "expected"), APPLIED.values(), ids=APPLIED)
def test_settings_that_apply(given, expected, write):
    file, profile, store, variable = given
    text = {"FILE": QUEUE, "NAMED": "profile: lite\n" + QUEUE}
    path = write(text[file or variable]) if file or variable else None
    base, remembered, origin = expected
    counts = path is not None and profile is None

    applied = applied_settings(
        path if file else None, profile, store, {"RETOLD_CONFIG": path} if variable else {}
    )

    changes = {"queue": {"backend": "huey"}} if counts else {}
    assert applied == AppliedSettings(
        parse_config(changes, profile=base), remembered, path if counts else None, origin
    )


def test_keys_of_the_file_win_over_the_profile_that_it_names(write):
    path = write("profile: offline\nretrieval: {gate: {dense_floor: {semantic: 0.2}}}\n")

    config = load_config(path)

    assert config == parse_config(
        {"retrieval": {"gate": {"dense_floor": {"semantic": 0.2}}}}, profile="offline"
    )
    assert config.retrieval.gate.dense_floor.semantic == 0.2
    assert config.retrieval.gate.dense_floor.episodic == 0.46
    assert config.embedding.is_packaged


@pytest.mark.parametrize("text", ["profile: null\n", "profile:\n", ""])
def test_file_may_leave_its_profile_open(text, write):
    assert load_config(write(text)) == parse_config({})
    assert applied_settings(write(text), None, "offline", {}).config.embedding.is_packaged


@pytest.mark.parametrize("wrong", ["best", "Offline", "[offline]", "{offline: 1}", "1", "true"])
def test_wrong_profile_of_a_file_is_refused_with_the_choices(wrong, write):
    path = write(f"profile: {wrong}\n")

    with pytest.raises(ConfigError) as refused:
        load_config(path)

    assert refused.value.message == (
        f"configuration file {path!r}: profile: must be one of standard, lite, offline, or null"
    )
    assert refused.value.details["paths"] == ["profile"]


def test_misspelt_profile_is_recognised_and_one_inside_a_block_is_not(write):
    with pytest.raises(ConfigError, match="profle: unknown key; did you mean 'profile'"):
        load_config(write("profle: offline\n"))
    with pytest.raises(ConfigError, match=r"store\.profile: unknown key"):
        load_config(write("store: {profile: offline}\n"))


def test_blocks_of_the_pages_are_whole_files(write):
    """Somebody pastes a block as it stands; a command's script and systemd are no settings."""
    pages = ("configuration", "hosted", "models", "quality", "retrieval", "workers")
    shown = [
        block
        for page in pages
        for block in docs_support.blocks_of(
            (docs_support.ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"), page
        )
        if block.language == "yaml"
    ]

    assert len(shown) >= 9
    for block in shown:
        assert load_config(write(block.text)) != load_config(), block.place


def test_store_of_an_unknown_profile_is_refused_when_it_counts(write):
    path = write(QUEUE)

    with pytest.raises(ConfigError, match="the store: unknown profile 'newer'"):
        applied_settings(path, None, "newer", {})

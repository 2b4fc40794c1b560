import sys

import pytest

from retold.config import parse_config
from retold.errors import InvalidInput, RetoldSetupError
from retold.hosted import Endpoint, HostedCompletions, endpoint_of, split_model
from retold.hosted.targets import NO_KEY, target_of

KEYS = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "OPENROUTER_API_KEY": "r"}


def hosted(**settings):
    return parse_config({"hosted": settings}).hosted


@pytest.mark.parametrize(
    ("model", "default", "expected"),
    [
        ("anthropic/claude-x", "openai", ("anthropic", "claude-x")),
        ("claude-haiku-4-5-20251001", "openai", ("anthropic", "claude-haiku-4-5-20251001")),
        ("gpt-5-mini", "anthropic", ("openai", "gpt-5-mini")),
        ("openrouter/anthropic/claude-x", "anthropic", ("openrouter", "anthropic/claude-x")),
        ("custom/qwen3:8b", "anthropic", ("custom", "qwen3:8b")),
        ("meta-llama/llama-x", "openrouter", ("openrouter", "meta-llama/llama-x")),
        ("llama3", "custom", ("custom", "llama3")),
        ("openai", "custom", ("custom", "openai")),
    ],
)
def test_split_model_finds_provider_and_model(model, default, expected):
    assert split_model(model, default) == expected


@pytest.mark.parametrize("model", ["", "openai/", "custom/ ", " llama3", "openai/ gpt"])
def test_split_model_refuses_a_string_without_a_model(model):
    with pytest.raises(InvalidInput, match="provider/model"):
        split_model(model, "custom")


@pytest.mark.parametrize(
    ("model", "settings", "environ", "address", "own"),
    [
        ("claude-x", {}, KEYS, "https://api.anthropic.com", True),
        ("gpt-x", {}, KEYS, "https://api.openai.com/v1", True),
        ("openrouter/m", {}, KEYS, "https://openrouter.ai/api/v1", False),
        ("gpt-x", {}, KEYS | {"OPENAI_BASE_URL": "http://h/v1"}, "http://h/v1", False),
        ("gpt-x", {}, KEYS | {"OPENAI_BASE_URL": " \n"}, "https://api.openai.com/v1", True),
        ("gpt-x", {}, KEYS | {"OPENAI_BASE_URL": "http://h/v1\n"}, "http://h/v1", False),
        ("claude-x", {"anthropic": {"base_url": "http://h"}}, KEYS, "http://h", False),
        ("custom/m", {"custom": {"base_url": "http://h/v1"}}, {}, "http://h/v1", False),
    ],
)
def test_address_is_the_setting_then_the_clients_variable_then_the_providers_own(
    model, settings, environ, address, own
):
    target = target_of(model, hosted(**settings), environ)

    assert (target.base_url, target.own) == (address, own)


@pytest.mark.parametrize(
    "address", ["h/v1", "http://", "http://a b/", "http://h:99999", "http://["]
)
def test_address_that_nobody_can_reach_is_named_by_its_variable_only(address):
    """It would pass for an outage, and sessions would wait for the provider for ever."""
    with pytest.raises(RetoldSetupError, match="OPENAI_BASE_URL must be an http") as refusal:
        endpoint_of("gpt-x", hosted(), {"OPENAI_BASE_URL": address})

    assert address not in str(refusal.value)


def test_endpoint_without_a_key_gets_a_word_in_its_place_and_no_other_key():
    settings = hosted(custom={"base_url": "http://h/v1"})

    assert target_of("custom/m", settings, KEYS).key == NO_KEY


def test_key_comes_from_the_named_variable():
    settings = hosted(anthropic={"api_key_env": "TEAM_KEY"})

    assert target_of("claude-x", settings, {"TEAM_KEY": " t\n"}).key == "t"


@pytest.mark.parametrize("key", ["", "  ", "kéy", "a\nb"])
def test_missing_or_broken_key_is_named_by_its_variable_only(key):
    with pytest.raises(RetoldSetupError, match="ANTHROPIC_API_KEY") as refusal:
        target_of("claude-x", hosted(), {"ANTHROPIC_API_KEY": key})

    assert not key.strip() or key not in str(refusal.value)


def test_custom_endpoint_without_an_address_says_where_to_set_it():
    with pytest.raises(RetoldSetupError, match=r"set hosted\.custom\.base_url"):
        target_of("custom/m", hosted(), {})


@pytest.mark.parametrize(
    ("model", "package"),
    [("claude-x", "anthropic"), ("gpt-x", "openai"), ("openrouter/m", "openai")],
)
def test_package_that_is_not_installed_is_named_with_the_command(model, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    client = HostedCompletions(hosted(), environ=KEYS)

    with pytest.raises(RetoldSetupError, match=rf'pip install "retold\[{package}\]"'):
        client.require_ready(model)


def test_target_shows_neither_key_nor_address():
    target = target_of("gpt-x", hosted(openai={"base_url": "http://secret.example/v1"}), KEYS)

    assert repr(target) == "Target(provider='openai', model='gpt-x', own=False)"


def test_endpoint_is_known_without_a_key_and_tells_two_addresses_of_a_provider_apart():
    own = endpoint_of("gpt-x", hosted(), {})
    proxy = endpoint_of("openai/gpt-y", hosted(openai={"base_url": "http://h/v1"}), {})

    assert own == Endpoint("openai", "https://api.openai.com/v1")
    assert proxy != own
    assert "http" not in repr(proxy)

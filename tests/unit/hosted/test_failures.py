import errno
import socket
import ssl
from datetime import UTC, datetime

import pytest

import retold.errors
from retold.errors import (
    HostedError,
)
from retold.hosted.failures import (
    error_of,
    failure_of,
    failure_of_status,
    retry_after_seconds,
)
from retold.hosted.targets import Target
from retold.models import TokenUsage

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1 Jan 2026 99999999999:00:00"}, None),
    ],
)
def test_retry_after_is_read_as_seconds_milliseconds_or_a_moment(headers, seconds):
    assert retry_after_seconds(headers, NOW) == seconds


@pytest.mark.parametrize(
    ("status", "said", "trouble"),
    [
        (400, "", "bug"),
        (400, "your credit balance is too low", "config"),
        (400, "maximum context length is 8192 tokens", "content"),
        (401, "", "config"),
        (402, "", "config"),
        (403, "", "config"),
        (403, "your input was flagged by moderation", "content"),
        (404, "", "config"),
        (408, "", "outage"),
        (409, "", "outage"),
        (413, "", "content"),
        (418, "", "bug"),
        (422, "", "bug"),
        (429, "", "outage"),
        (429, "insufficient_quota", "config"),
        (500, "prompt is too long", "outage"),
        (503, "", "outage"),
        (529, "", "outage"),
    ],
)
def test_status_and_what_is_said_decide(status, said, trouble):
    assert failure_of_status(status, said, {}, NOW).trouble == trouble


def caused(error, cause):
    error.__cause__ = cause
    return error


class APIConnectionError(Exception):
    """As both clients name theirs."""


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        pytest.param(MemoryError(), "local", id="memory"),
        pytest.param(OSError(errno.EMFILE, "x"), "local", id="files"),
        pytest.param(
            caused(APIConnectionError(), OSError(errno.EMFILE, "x")), "local", id="files, wrapped"
        ),
        pytest.param(caused(APIConnectionError(), TimeoutError()), "timeout", id="timeout"),
        pytest.param(APIConnectionError(), "outage", id="connection"),
        pytest.param(ConnectionResetError(), "outage", id="reset"),
        pytest.param(ImportError("no name"), "config", id="broken package"),
        pytest.param(ValueError("odd"), "bug", id="anything else"),
    ],
)
def test_exception_is_classified_by_what_caused_it(error, trouble):
    assert failure_of(error, NOW).trouble == trouble


@pytest.mark.parametrize(
    ("cause", "reason", "advice"),
    [
        pytest.param(ConnectionRefusedError(), "connection_refused", "start the server", id="port"),
        pytest.param(socket.gaierror(-2, "x"), "unknown_host", "check the network", id="name"),
        pytest.param(ssl.SSLError(), "tls", "check the certificate", id="certificate"),
        pytest.param(ConnectionResetError(), "connection", "check the network", id="reset"),
    ],
)
def test_connection_that_fails_says_where_and_what_to_check(cause, reason, advice):
    address = "https://ana:pass-secret@proxy.example:8443/path-secret/v1?key=query-secret"
    target = Target("custom", "qwen3", address, "sk-secret", own=False)
    failure = failure_of(caused(APIConnectionError(address), cause), NOW)

    error = error_of(failure, target, "CUSTOM_KEY", TokenUsage(calls=3))

    assert failure.reason == error.details["reason"] == reason
    assert error.message.startswith(
        f"custom at https://proxy.example:8443: {reason} after 3 requests; "
    )
    assert advice in error.message
    assert "hosted.custom.base_url, which mostly ends in /v1" in error.message
    assert "secret" not in f"{error!r} {error.details}"


def test_failure_shows_nothing_that_the_endpoint_said():
    failure = failure_of_status(400, "the prompt was private", {}, NOW)

    assert failure.said == "the prompt was private"
    assert "private" not in repr(failure)


def test_every_error_of_hosted_models_states_its_kind():
    errors = [
        value
        for value in vars(retold.errors).values()
        if isinstance(value, type) and issubclass(value, HostedError)
    ]

    assert {one.__name__: one.kind for one in errors} == {
        "HostedError": "bug",
        "HostedNotAllowed": "local",
        "BudgetExhausted": "local",
        "ProviderOutage": "outage",
        "ModelTimeout": "outage",
        "ProviderNotConfigured": "config",
        "InvalidCompletion": "content",
        "LocalLimit": "local",
        "ProviderError": "bug",
    }

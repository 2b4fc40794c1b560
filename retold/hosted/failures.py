"""What a failed request means, in words of our own: nothing a client raised is passed on.

An exception of a client holds the request, and often the prompt or the answer in its message. It
ends here: a ``Failure`` carries codes and numbers.
"""

from __future__ import annotations

import errno
import math
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, Literal

from retold.errors import (
    HostedError,
    InvalidCompletion,
    LocalLimit,
    ModelTimeout,
    ProviderError,
    ProviderNotConfigured,
    ProviderOutage,
)
from retold.hosted.targets import Target
from retold.models import TokenUsage

Trouble = Literal["outage", "timeout", "config", "content", "local", "bug"]

_PASSING: Final = frozenset({408, 409, 425, 429})
_CONFIG: Final = frozenset({401, 402, 403, 404, 405, 407, 410, 421})
_ABOUT_MONEY: Final = ("insufficient_quota", "exceeded your current quota", "credit balance")
_TOO_LONG: Final = (
    "context_length_exceeded",
    "maximum context length",
    "prompt is too long",
    "too many tokens",
)
_ABOUT_MODEL: Final = ("not a valid model", "invalid model name", "model_not_found")
"""What OpenRouter, LiteLLM and others say with 400 where the rest answers 404: no prompt and no
session is to blame."""
_FILTERED: Final = ("content_filter", "content management policy", "moderation", "flagged")
_TRANSPORT: Final = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "ssl", "socket"})
_LOCAL_ERRNO: Final = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.ENOBUFS}
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one request gave nothing.

    ``reason`` is a code such as ``http_429``. ``said`` is what the endpoint wrote, in lower case,
    for the choice of another form only. ``unreported`` means that the provider may have worked on
    the request without saying what it used.
    """

    trouble: Trouble
    reason: str
    status: int | None = None
    retry_after_seconds: float | None = None
    said: str = field(default="", repr=False)
    unreported: bool = False
    again: bool = True


def failure_of(error: BaseException, now: datetime) -> Failure:
    """Return what an exception out of a client means.

    Clients are told apart by what they carry, not by their classes, whose names and places change
    between releases. ``now`` dates a ``retry-after`` that names a moment.
    """
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and not isinstance(status, bool) and status >= _BAD_REQUEST:
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        said = f"{error} {getattr(error, 'body', '')}".lower()
        return failure_of_status(status, said, headers, now)
    causes = tuple(_causes(error))
    if any(_is_local(one) for one in causes):
        return Failure("local", "local_limit")
    if isinstance(error, ImportError):
        return Failure("config", "broken_package")
    if any("Timeout" in type(one).__name__ for one in causes):
        return Failure("timeout", "timeout", unreported=True)
    if any(type(one).__module__.partition(".")[0] in _TRANSPORT for one in causes) or any(
        isinstance(one, OSError) or type(one).__name__ == "APIConnectionError" for one in causes
    ):
        return Failure("outage", _missing_link(causes), unreported=True)
    return Failure("bug", type(error).__name__, unreported=True)


def _missing_link(causes: tuple[BaseException, ...]) -> str:
    """Say which part of a connection is missing."""
    if any(isinstance(one, ConnectionRefusedError) for one in causes):
        return "connection_refused"
    if any(isinstance(one, socket.gaierror) for one in causes):
        return "unknown_host"
    # The module itself is not loaded for a name: what asks no model does without it.
    if any(kind.__module__ == "ssl" for one in causes for kind in type(one).__mro__):
        return "tls"
    return "connection"


_BAD_REQUEST: Final = 400
_SERVER_ERROR: Final = 500


def failure_of_status(status: int, said: str, headers: Mapping[str, str], now: datetime) -> Failure:
    """Return what a status means; ``said`` is the body in lower case."""
    reason = f"http_{status}"
    after = retry_after_seconds(headers, now)
    again = headers.get("x-should-retry") != "false"
    if any(words in said for words in _ABOUT_MONEY):
        return Failure("config", "no_credit", status)
    if status >= _SERVER_ERROR or status in _PASSING:
        return Failure("outage", reason, status, after, again=again)
    if any(words in said for words in _TOO_LONG) or status == _TOO_LARGE:
        return Failure("content", "too_long", status)
    if any(words in said for words in _FILTERED):
        return Failure("content", "refused", status)
    if any(words in said for words in _ABOUT_MODEL):
        return Failure("config", "no_such_model", status)
    if status in _CONFIG:
        return Failure("config", reason, status, said=said)
    return Failure("bug", reason, status, said=said)


_TOO_LARGE: Final = 413


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return how long the endpoint asks to wait; None when it does not say, or not readably."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        seconds = _number(value)
        if seconds is None:
            seconds = _until(value, now)
        elif not math.isfinite(seconds):
            continue
        if seconds is not None:
            return max(0.0, seconds / unit)
    return None


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _until(value: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - now).total_seconds()


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _is_local(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or (
        isinstance(error, OSError) and error.errno in _LOCAL_ERRNO
    )


_ADVICE: Final[Mapping[str, str]] = {
    "http_401": "check the key in {key}",
    "http_402": "the account has no credit left",
    "no_credit": "the account has no credit or quota left",
    "http_403": "the key in {key} may not use {model!r}",
    "http_404": "there is no such model or path: check the model {model!r} and {setting}",
    "no_such_model": "there is no such model: check the model {model!r}",
    "not_an_api": "{setting} leads to something that is no model",
    "broken_package": 'the installed client cannot be imported; reinstall "retold[{package}]"',
    "refused": "the model would not answer this",
    "cut_short": "the answer is longer than the limit of output tokens",
    "too_long": "the prompt is longer than the model takes",
    "not_json": "the answer holds no JSON object",
    "connection": "check the network and {setting}",
    "connection_refused": "nothing listens there: start the server, or check {setting}",
    "unknown_host": "nobody knows that host: check the network and {setting}",
    "tls": "the connection cannot be made secure: check the certificate and {setting}",
    "local_limit": "this machine has no files, memory or space left for a connection",
    "timeout": "no answer came within the time for the call",
}


def error_of(
    failure: Failure, target: Target, key_name: str | None, usage: TokenUsage
) -> HostedError:
    """Return the error a caller gets; its message names settings, codes and a host only."""
    advice = _ADVICE.get(failure.reason, _GENERAL[failure.trouble]).format(
        key=key_name or "api_key_env",
        model=target.model,
        provider=target.provider,
        package=target.package,
        setting=f"hosted.{target.provider}.base_url"
        + (", which mostly ends in /v1" if target.package == "openai" and not target.own else ""),
    )
    requests = f"{usage.calls} request{'' if usage.calls == 1 else 's'}"
    message = f"{target.provider} at {target.address}: {failure.reason} after {requests}; {advice}"
    return _ERRORS[failure.trouble](
        message,
        provider=target.provider,
        model=target.model,
        address=target.address,
        reason=failure.reason,
        status=failure.status,
        retry_after_seconds=failure.retry_after_seconds,
        usage=usage,
    )


_GENERAL: Final[Mapping[Trouble, str]] = {
    "outage": "try again later",
    "timeout": "no answer came within the time for the call",
    "config": "check hosted.{provider}, the key in {key} and the model {model!r}",
    "content": "the model gave no usable answer",
    "local": "this machine is short of something",
    "bug": "the endpoint does not take this request; report it with this code",
}
_ERRORS: Final[Mapping[Trouble, type[HostedError]]] = {
    "outage": ProviderOutage,
    "timeout": ModelTimeout,
    "config": ProviderNotConfigured,
    "content": InvalidCompletion,
    "local": LocalLimit,
    "bug": ProviderError,
}

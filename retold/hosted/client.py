"""The client of hosted models: what is checked before a call, and what happens during one."""

from __future__ import annotations

import logging
import os
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from retold.config import HostedConfig, ProviderConfig
from retold.errors import BudgetExhausted, HostedError, HostedNotAllowed, LocalLimit
from retold.hosted import chat_wire, messages_wire
from retold.hosted.answers import first_object
from retold.hosted.budgets import estimated_input, reserve_all, settle_all
from retold.hosted.deadline import within
from retold.hosted.dialects import Dialect, adapted, first_dialect
from retold.hosted.failures import Failure, error_of, failure_of_status
from retold.hosted.replies import Reply
from retold.hosted.schemas import without_nulls
from retold.hosted.sdk import Arguments, Body, Line, Sender
from retold.hosted.targets import Target, target_of
from retold.models import Completion, CompletionRequest, Scope, TokenUsage
from retold.protocols import Budget
from retold.util import Clock, system_clock

log = logging.getLogger(__name__)

FIRST_WAIT_SECONDS: Final = 0.5
LONGEST_WAIT_SECONDS: Final = 8.0
"""Pauses double from the first to the longest, as those of both clients would."""


class HostedCompletions:
    """A ``CompletionClient`` over the clients of Anthropic and OpenAI, imported when first used.

    One serves every provider and every thread of a process.
    ``budget`` limits all its calls. Keys are read from ``environ`` with each call. ``ticks`` are
    seconds that never go back, ``sleep`` waits between two attempts, and ``chance`` returns a
    number from 0 to 1 that spreads them.
    """

    def __init__(
        self,
        hosted: HostedConfig,
        *,
        budget: Budget | None = None,
        environ: Mapping[str, str] = os.environ,
        clock: Clock = system_clock,
        ticks: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Keep the settings; nothing is imported, read or opened yet."""
        self._hosted = hosted
        self._budget = budget
        self._environ = environ
        self._clock = clock
        self._ticks = ticks
        self._sleep = sleep
        self._chance = chance
        self._sender = Sender(clock)
        self._dialects: dict[tuple[str, str, str], Dialect] = {}

    def require_ready(self, model: str) -> None:
        """Check settings, package and key; nothing is imported or sent.

        Raises HostedNotAllowed, RetoldSetupError, and InvalidInput for a string without a model.
        """
        self._require_enabled()
        target_of(model, self._hosted, self._environ)

    def complete(self, request: CompletionRequest, *, budget: Budget | None = None) -> Completion:
        """Return the model's answer; see the port for what is raised.

        A failed attempt is repeated up to ``hosted.max_retries`` times while the time lasts. A
        form that the endpoint refuses is replaced by a simpler one, which is remembered once it
        was answered.
        """
        ends_at = self._ticks() + request.timeout_ms / 1000
        self._require_enabled()
        self._require_scopes(request.scopes)
        target = target_of(request.model, self._hosted, self._environ)
        budgets = tuple(one for one in (budget, self._budget) if one is not None)
        dialect = self._dialects.get(_door(target)) or first_dialect(target)
        call = _Call(request, target, budgets, ends_at, dialect)
        outcome = self._outcome(call)
        if isinstance(outcome, HostedError):
            raise outcome
        return outcome

    def close(self) -> None:
        """Close connections that are kept for the next call. Idempotent."""
        self._sender.close()

    def _require_enabled(self) -> None:
        hosted = self._hosted
        if not hosted.enabled:
            raise HostedNotAllowed(
                "hosted models are switched off by hosted.enabled", usage=TokenUsage()
            )

    def _require_scopes(self, scopes: tuple[Scope, ...]) -> None:
        hosted = self._hosted
        for scope in scopes:
            if not hosted.allows(str(scope)):
                raise HostedNotAllowed(
                    f"text of {str(scope)!r} may not go to a hosted model: "
                    "hosted.allow_scopes does not name it",
                    usage=TokenUsage(),
                )

    def _outcome(self, call: _Call) -> Completion | HostedError:
        """Return the answer, or the error to raise; raised elsewhere, it has no context."""
        attempt = 0
        while True:
            try:
                result = self._attempt(call)
            except (BudgetExhausted, LocalLimit) as error:
                error.details["usage"] = call.usage
                return error.with_traceback(None)
            if isinstance(result, Completion):
                self._dialects[_door(call.target)] = call.dialect
                return result
            if _takes_other_form(call, result):
                continue
            wait = self._wait(result, attempt, call.ends_at - self._ticks())
            if wait is None:
                return self._error(call, result)
            attempt += 1
            log.info("hosted call is repeated", extra=_facts(call, result) | {"wait": wait})
            self._sleep(wait)

    def _attempt(self, call: _Call) -> Completion | Failure:
        request, target = call.request, call.target
        wire = messages_wire if target.package == "anthropic" else chat_wire
        estimate = estimated_input(request)
        reserved = estimate + request.max_output_tokens
        reserve_all(call.budgets, target.provider, reserved)
        used = TokenUsage()
        try:
            # Read after setting aside, which may have waited for another process.
            remaining = call.ends_at - self._ticks()
            if remaining <= 0:
                return Failure("timeout", "timeout")
            used = TokenUsage(estimate, 0, 1)
            arguments = wire.arguments_of(request, target.model, call.dialect)
            body = self._sent(target, arguments, remaining)
            answer = body if isinstance(body, Failure) else self._reply(body, wire.reply_of(body))
            used = _used(answer, estimate)
        finally:
            call.usage += used
            settle_all(call.budgets, target.provider, reserved, used)
        return answer if isinstance(answer, Failure) else _completion(call, answer)

    def _sent(self, target: Target, arguments: Arguments, seconds: float) -> Body | Failure:
        """Return what comes back in time; what comes later is cut off."""
        line = Line()
        answer = within(seconds, lambda: self._sender.send(target, arguments, seconds, line))
        if answer is None:
            self._sender.cut(line)
            return Failure("timeout", "timeout", unreported=True)
        return answer

    def _reply(self, body: Body, reply: Reply | None) -> Reply | Failure:
        """Return a reply, or what a body means that holds none, such as OpenRouter's errors."""
        if reply is not None:
            return reply
        error = body.get("error")
        if not isinstance(error, Mapping):
            return Failure("config", "not_an_api")
        code = error.get("code")
        status = code if isinstance(code, int) and code >= _FIRST_ERROR else _UPSTREAM
        return failure_of_status(status, str(error).lower(), {}, self._clock())

    def _wait(self, failure: Failure, attempt: int, remaining: float) -> float | None:
        """Return how long to wait before the next attempt; None for no other attempt."""
        hosted = self._hosted
        if failure.trouble != "outage" or not failure.again or attempt >= hosted.max_retries:
            return None
        longest = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2**attempt)
        wait = longest * (1 + self._chance()) / 2
        # Everybody who was sent away at one moment was told the same; the spread is added to it.
        wait += failure.retry_after_seconds or 0.0
        return wait if wait < remaining else None

    def _error(self, call: _Call, failure: Failure) -> HostedError:
        settings: ProviderConfig = getattr(self._hosted, call.target.provider)
        return error_of(failure, call.target, settings.api_key_env, call.usage)


_FIRST_ERROR: Final = 400
_UPSTREAM: Final = 502
_REFUSED_FORM: Final = frozenset({400, 422})


@dataclass(slots=True)
class _Call:
    """One call as it goes on: the form it takes, and what its requests used together."""

    request: CompletionRequest
    target: Target
    budgets: tuple[Budget, ...]
    ends_at: float
    dialect: Dialect
    usage: TokenUsage = field(default_factory=TokenUsage)


def _takes_other_form(call: _Call, failure: Failure) -> bool:
    """Choose another form after a refusal of the form; False when it is none or none is left."""
    if failure.status not in _REFUSED_FORM or failure.trouble != "bug":
        return False
    other = adapted(call.dialect, failure.said, call.target)
    if other is None:
        return False
    call.dialect = other
    log.info("hosted call takes another form", extra=_facts(call, failure))
    return True


def _completion(call: _Call, reply: Reply) -> Completion | Failure:
    if reply.stopped is not None:
        return Failure("content", reply.stopped)
    value = reply.value if reply.value is not None else first_object(reply.text)
    if value is None:
        return Failure("content", "not_json")
    plain = without_nulls(value, call.request.schema)
    model = reply.model or call.target.model
    return Completion(plain if isinstance(plain, dict) else value, model, call.usage)


def _used(answer: Reply | Failure, estimate: int) -> TokenUsage:
    """Return what one request used: as reported, else estimated, else only that it was made."""
    if isinstance(answer, Failure):
        return TokenUsage(estimate if answer.unreported else 0, 0, 1)
    return answer.usage or TokenUsage(estimate, -(-len(answer.text) // 3), 1)


def _door(target: Target) -> tuple[str, str, str]:
    return target.provider, target.base_url, target.model


def _facts(call: _Call, failure: Failure) -> dict[str, object]:
    return {
        "task": call.request.task,
        "provider": call.target.provider,
        "reason": failure.reason,
        "calls": call.usage.calls,
    }

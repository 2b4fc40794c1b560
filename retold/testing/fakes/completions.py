"""A hosted model that answers from a script, and a budget that counts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping

from retold.errors import BudgetExhausted, HostedError, InvalidCompletion
from retold.models import Completion, CompletionRequest, TokenUsage
from retold.protocols import Budget

Answer = Mapping[str, object]
Answers = Callable[[CompletionRequest], Answer] | Iterable[Answer | HostedError]


class FakeCompletionClient:
    """Answer each request with the next object, raise the next error, or ask a function.

    ``requests`` holds every request in order, those that a budget stopped excepted. A script that
    is over raises InvalidCompletion. ``setup_error`` is raised by ``require_ready`` and by every
    call, as for a missing key. Every call uses ``usage``.
    """

    __test__ = False

    def __init__(
        self,
        answers: Answers = (),
        *,
        usage: TokenUsage | None = None,
        setup_error: Exception | None = None,
    ) -> None:
        """Take the script, used up in order, or one function that answers everything."""
        self._answer: Callable[[CompletionRequest], Answer] | None = None
        self._script: Iterator[Answer | HostedError] = iter(())
        if callable(answers):
            self._answer = answers
        else:
            self._script = iter(answers)
        self._lock = threading.Lock()
        self.usage = usage or TokenUsage(100, 20, 1)
        self.setup_error = setup_error
        self.requests: list[CompletionRequest] = []

    def require_ready(self, model: str) -> None:
        """Raise ``setup_error`` if there is one."""
        if self.setup_error is not None:
            raise self.setup_error

    def complete(self, request: CompletionRequest, *, budget: Budget | None = None) -> Completion:
        """Return the next answer."""
        self.require_ready(request.model)
        if budget is not None:
            _reserve(budget, self.usage.tokens)
        try:
            value = self._next(request)
        finally:
            if budget is not None:
                budget.settle("fake", self.usage.tokens, self.usage)
        return Completion(value, request.model, self.usage)

    def _next(self, request: CompletionRequest) -> Answer:
        answer: Answer | HostedError | None = None
        with self._lock:
            self.requests.append(request)
            if self._answer is None:
                answer = next(self._script, None)
        if self._answer is not None:
            answer = self._answer(request)
        if answer is None:
            answer = InvalidCompletion(f"no answer is left for request {len(self.requests)}")
        if isinstance(answer, HostedError):
            answer.details.setdefault("usage", self.usage)
            raise answer
        return answer


def _reserve(budget: Budget, tokens: int) -> None:
    try:
        budget.reserve("fake", tokens)
    except BudgetExhausted as error:
        error.details["usage"] = TokenUsage()
        raise


class FakeBudget:
    """A limit in memory; ``used`` adds up what was settled, and ``reserved`` what waits."""

    __test__ = False

    def __init__(self, limit: int | None = None) -> None:
        """Take the most tokens; None counts without a limit."""
        self.limit = limit
        self.used = TokenUsage()
        self.reserved = 0
        self._lock = threading.Lock()

    def reserve(self, provider: str, tokens: int) -> None:
        """Set tokens aside, or raise BudgetExhausted."""
        with self._lock:
            if self.limit is not None and self.used.tokens + self.reserved + tokens > self.limit:
                raise BudgetExhausted(f"{tokens} tokens do not fit into {self.limit}")
            self.reserved += tokens

    def settle(self, provider: str, reserved: int, used: TokenUsage) -> None:
        """Count what was used."""
        with self._lock:
            self.reserved -= reserved
            self.used += used

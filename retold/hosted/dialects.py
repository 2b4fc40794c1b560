"""How one question is put to an endpoint, and what to try when it refuses the form.

Endpoints that claim one of the two protocols differ in three things: whether they take a schema,
a system message, and which name they give the limit of output tokens.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Final, Literal

from retold.hosted.targets import Target
from retold.models import CompletionRequest

Structure = Literal["schema", "object", "prompt"]
TokenLimit = Literal["max_completion_tokens", "max_tokens"]

_WEAKER: Final[dict[Structure, Structure]] = {"schema": "object", "object": "prompt"}
_ABOUT_STRUCTURE: Final = (
    "response_format json_schema output_config output_format structured schema json tool grammar"
).split()
_ABOUT_SYSTEM: Final = ("system", "developer")
_ABOUT_LIMIT: Final = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True, slots=True)
class Dialect:
    """One form of a request.

    ``structure`` is the provider's own mechanism for a schema, then a weaker one of its own (JSON
    mode, or a forced tool), then words alone. ``limit_swapped`` says that the other name of the
    limit was tried.
    """

    structure: Structure = "schema"
    system_as_user: bool = False
    limit: TokenLimit = "max_tokens"
    limit_swapped: bool = False


def first_dialect(target: Target) -> Dialect:
    """Return the form to begin with; OpenAI's newer models refuse the older name of the limit."""
    return Dialect(limit="max_completion_tokens" if target.provider == "openai" else "max_tokens")


def adapted(dialect: Dialect, refusal: str, target: Target) -> Dialect | None:
    """Return the form to try after a refusal that says ``refusal``, in lower case; None for none.

    An endpoint that is not the provider's own may refuse without a reason: what it most often
    lacks is taken out. Every step takes something away, so that the steps end.
    """
    about_limit = target.package == "openai" and any(word in refusal for word in _ABOUT_LIMIT)
    if about_limit and not dialect.limit_swapped:
        other: TokenLimit = (
            "max_tokens" if dialect.limit == "max_completion_tokens" else "max_completion_tokens"
        )
        return replace(dialect, limit=other, limit_swapped=True)
    about_system = any(word in refusal for word in _ABOUT_SYSTEM)
    if about_system and not dialect.system_as_user:
        return replace(dialect, system_as_user=True)
    about_structure = any(word in refusal for word in _ABOUT_STRUCTURE)
    if (about_structure or not target.own) and dialect.structure in _WEAKER:
        return replace(dialect, structure=_WEAKER[dialect.structure])
    return None


def spoken(request: CompletionRequest, dialect: Dialect) -> tuple[str, str]:
    """Return what is said as system and as user in this form; the system part may be empty."""
    system, prompt = request.system, request.prompt
    if dialect.structure != "schema":
        schema = json.dumps(request.schema, ensure_ascii=False)
        system = (
            f"{system}\n\nAnswer with one JSON object and nothing else. It follows this JSON "
            f"schema:\n{schema}"
        ).strip()
    if dialect.system_as_user and system:
        return "", f"{system}\n\n{prompt}"
    return system, prompt

"""What every configuration block shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from retold.models import SourceKind

JSON: TypeAlias = "str | int | float | bool | list[JSON] | dict[str, JSON] | None"


class Block(BaseModel):
    """A frozen group of settings that knows no other keys than its own.

    Values are never coerced: a bool is not an int, a number is not a string, NaN is no number.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, validate_default=True
    )


NO_EFFECT = "No effect in this release."
"""Ends the meaning of a key that is checked and kept while nothing acts on it yet."""


def key(
    default: object,
    meaning: str,
    unit: str = "",
    *,
    waits: bool = False,
    **limits: Any,  # noqa: ANN401  # as pydantic declares them
) -> Any:  # noqa: ANN401  # a pydantic field stands where its value's type is declared
    """Declare a setting; ``meaning`` and ``unit`` become its line in the configuration reference.

    ``waits`` marks a key that a later release gives its effect. ``limits`` are pydantic's field
    constraints, such as ``ge=0``.
    """
    description = f"{meaning} {NO_EFFECT}" if waits else meaning
    return Field(default, description=description, json_schema_extra={"unit": unit}, **limits)


def as_tuple(value: object) -> object:
    """Turn a YAML list into a tuple; leave anything else for the validator to refuse."""
    return tuple(value) if isinstance(value, list) else value


def _clean(value: str) -> str:
    if not value or value != value.strip() or not value.isprintable():
        raise ValueError("must not be blank, padded or hold control characters")
    return value


Text = Annotated[str, AfterValidator(_clean)]
"""One line of text, neither blank nor padded."""

TextList = Annotated[tuple[Text, ...], BeforeValidator(as_tuple)]
"""A list in YAML, a tuple in Python."""

SourceKinds = Annotated[tuple[SourceKind, ...], BeforeValidator(as_tuple)]
"""Source kinds, a list in YAML."""


def plain(value: object) -> JSON:
    """Return a dumped block as JSON values: tuples become lists."""
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"{type(value).__name__} is not a JSON value")

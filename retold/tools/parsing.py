"""From whatever a model sent to a checked input, or to an error it can act on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NoReturn, TypeVar, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from retold.errors import InvalidInput
from retold.tools.inputs import (
    REVISIONS,
    ForgetInput,
    GetInput,
    MergeInput,
    RevisionInput,
    SearchInput,
    ToolInput,
    WriteInput,
)

T = TypeVar("T", bound=ToolInput)

MAX_PROBLEMS: Final = 8
MAX_FIELD_CHARS: Final = 80
MERGE_FIELDS: Final = ("entity_id", "merge_into")


def as_object(arguments: object) -> dict[str, Any]:
    """Return the arguments as a JSON object without nulls; a string is read as JSON text.

    Models write null for what they leave out. Raises InvalidInput for anything but an object.
    """
    value = _loaded(arguments) if isinstance(arguments, str) else arguments
    if not isinstance(value, Mapping):
        raise InvalidInput(
            f"arguments must be one JSON object such as {{}}, not {_kind_of(value)}",
            field="arguments",
        )
    try:
        return {str(key): _without_nulls(item) for key, item in value.items() if item is not None}
    except RecursionError:
        raise InvalidInput("arguments are nested too deeply", field="arguments") from None


def parse_search(arguments: Mapping[str, Any]) -> SearchInput:
    """Return the checked arguments. Raises InvalidInput with one problem per field."""
    return _parsed(SearchInput, arguments)


def parse_get(arguments: Mapping[str, Any]) -> GetInput:
    """Return the checked arguments. Raises InvalidInput with one problem per field."""
    return _parsed(GetInput, arguments)


def parse_write(arguments: Mapping[str, Any]) -> WriteInput:
    """Return the checked arguments. Raises InvalidInput with one problem per field."""
    return _parsed(WriteInput, arguments)


def parse_forget(arguments: Mapping[str, Any]) -> ForgetInput:
    """Return the checked arguments. Raises InvalidInput with one problem per field."""
    return _parsed(ForgetInput, arguments)


def parse_revise(arguments: Mapping[str, Any]) -> RevisionInput:
    """Return the checked arguments of the branch that they choose. Raises InvalidInput."""
    if any(field in arguments for field in MERGE_FIELDS):
        return _parsed(MergeInput, arguments)
    action = arguments.get("action")
    if not isinstance(action, str) or action not in REVISIONS:
        what = "is missing" if "action" not in arguments else "is unknown"
        _refuse(
            [
                {
                    "field": "action",
                    "message": f"{what}; to merge two entities pass entity_id, merge_into and "
                    "reason instead",
                    "allowed": list(REVISIONS),
                }
            ]
        )
    return _parsed(REVISIONS[action], arguments)


def _parsed(model: type[T], arguments: Mapping[str, Any]) -> T:
    try:
        return model.model_validate(dict(arguments))
    except ValidationError as invalid:
        details = invalid.errors(include_url=False, include_input=False)
        problems = [_problem(model, one) for one in details[:MAX_PROBLEMS]]
    _refuse(problems)


def _refuse(problems: Sequence[dict[str, Any]]) -> NoReturn:
    first = problems[0]
    raise InvalidInput(
        f"{len(problems)} fields are not as they must be"
        if len(problems) > 1
        else f"`{first['field']}` is not as it must be",
        problems=list(problems),
    )


def _problem(model: type[ToolInput], error: ErrorDetails) -> dict[str, Any]:
    path = _path(error["loc"])
    if error["type"] == "extra_forbidden":
        return {
            "field": path,
            "message": "unknown field; leave it out",
            "allowed": list(_fields_at(model, error["loc"][:-1])),
        }
    if error["type"] == "missing":
        return {"field": path, "message": "is required"}
    if error["type"] == "literal_error":
        choices = _choices_at(model, error["loc"])
        return {"field": path, "message": "is none of the allowed values", "allowed": choices}
    cause = error.get("ctx", {}).get("error")
    return {"field": path, "message": str(cause) if cause is not None else error["msg"]}


def _path(location: Sequence[int | str]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text if len(text) <= MAX_FIELD_CHARS else text[: MAX_FIELD_CHARS - 1] + "…"


def _fields_at(model: type[ToolInput], location: Sequence[int | str]) -> tuple[str, ...]:
    return tuple(_model_at(model, location).model_fields)


def _model_at(model: type[ToolInput], location: Sequence[int | str]) -> type[ToolInput]:
    """Return the model of the object that a path leads to."""
    for part in location:
        if isinstance(part, str) and part in model.model_fields:
            inner = get_args(model.model_fields[part].annotation)
            nested = [one for one in inner if isinstance(one, type) and issubclass(one, ToolInput)]
            model = nested[0] if nested else model
    return model


def _choices_at(model: type[ToolInput], location: Sequence[int | str]) -> list[str]:
    """Return the values of the closed set that a path leads to."""
    names = [place for place, part in enumerate(location) if isinstance(part, str)]
    owner = _model_at(model, location[: names[-1]])
    return _literals(owner.model_fields[str(location[names[-1]])].annotation)


def _literals(annotation: object) -> list[str]:
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [choice for inner in get_args(annotation) for choice in _literals(inner)]


def _loaded(text: str) -> object:
    if not text.strip():
        return {}
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise InvalidInput("arguments are nested too deeply", field="arguments") from None
    except ValueError as broken:
        where = f" at character {broken.pos}" if isinstance(broken, json.JSONDecodeError) else ""
        raise InvalidInput(
            f"arguments are not valid JSON{where}; send one JSON object", field="arguments"
        ) from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _without_nulls(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _kind_of(value: object) -> str:
    names = {list: "a list", bool: "true or false", int: "a number", float: "a number"}
    if value is None:
        return "null"
    return names.get(type(value), "text" if isinstance(value, str) else "something else")

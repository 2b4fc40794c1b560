"""The conversation a demonstration plays, read from YAML or JSON."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from retold.errors import InvalidInput
from retold.models import MemoryType, TurnRole

Text = Annotated[str, Field(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Say(_Part):
    """One turn of the transcript."""

    role: TurnRole
    text: Text
    tool: Text | None = None


class Remember(_Part):
    """One claim; ``quote`` None takes the claim itself when a user turn contains it."""

    claim: Text
    quote: Text | None = None
    attribute: Text | None = None
    about: Text | None = None
    type: MemoryType = "semantic"
    source: Literal["user_statement", "tool_result", "agent_inference"] = "user_statement"


class Search(_Part):
    """One search."""

    query: Text
    k: Annotated[int, Field(ge=1)] | None = None


class Stranger(_Part):
    """Another user asks for the record that was remembered last, and for an id of nobody."""

    user: Text


class Crash(_Part):
    """A process that writes one note after another until it is killed.

    ``{n}`` in the note is its number; the kill comes after ``at_least`` acknowledged notes.
    """

    note: Text
    type: MemoryType = "episodic"
    at_least: Annotated[int, Field(ge=1, le=1000)] = 40

    @field_validator("note")
    @classmethod
    def _is_numbered(cls, note: str) -> str:
        # The same note again would be recognised, not written.
        if "{n}" not in note:
            raise ValueError("write {n} where the number goes")
        return note


class Step(_Part):
    """Exactly one of these."""

    say: Say | None = None
    remember: Remember | None = None
    search: Search | None = None
    stranger: Stranger | None = None
    crash: Crash | None = None

    @model_validator(mode="after")
    def _holds_one(self) -> Step:
        if len(self.model_fields_set) != 1 or None in (
            getattr(self, n) for n in self.model_fields_set
        ):
            raise ValueError("a step is exactly one of say, remember, search, stranger, crash")
        return self


class Session(_Part):
    """What happens in one process; every session after the first has one of its own."""

    title: Text
    steps: Annotated[list[Step], Field(min_length=1)]


class Script(_Part):
    """The whole demonstration: one agent with one user."""

    agent: Text = "assistant"
    user: Text
    sessions: Annotated[list[Session], Field(min_length=1)]


def own_script() -> Script:
    """Return the conversation that comes with the library."""
    source = resources.files("retold.cli.demo").joinpath("conversation.yaml")
    return parse_script(source.read_text(encoding="utf-8"), "the packaged conversation")


def load_script(path: Path) -> Script:
    """Read a script. Raises InvalidInput that names the file and the place."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"script {str(path)!r}: {error.strerror or 'cannot be read'}") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"script {str(path)!r}: not UTF-8 text") from None
    return parse_script(text, f"script {str(path)!r}")


def parse_script(text: str, source: str) -> Script:
    """Return the script that a YAML or JSON text holds. Raises InvalidInput."""
    try:
        values: Any = yaml.safe_load(text)
        return Script.model_validate(values)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}" if mark is not None else ""
        raise InvalidInput(f"{source}: not valid YAML or JSON{place}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "(top level)"
        raise InvalidInput(f"{source}: {place}: {first['msg']}") from None

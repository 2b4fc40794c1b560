"""Reading a configuration file into the validated settings."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from retold.config.profiles import (
    PROFILE_VALUES,
    PROFILES,
    ProfileName,
    base_profile,
    merged,
    require_profile,
)
from retold.config.root import RetoldConfig
from retold.errors import ConfigError

MAX_BYTES = 1 << 20
MAX_NODES = 20_000
"""Cap on the nodes of a file once every alias is written out; a real file has some 200."""

_SHOWN_PROBLEMS = 10


PROFILE_KEY = "profile"
"""The key beside the blocks; it names what the file is laid on and is no setting itself."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What a configuration file holds: its blocks unchecked, and the profile that it names."""

    path: str
    values: Mapping[str, Any]
    profile: ProfileName | None

    def on(self, profile: ProfileName) -> RetoldConfig:
        """Return the settings of the file on top of a profile. Raises ConfigError."""
        return _validated(self.values, profile, _source(self.path))


def read_config_file(path: str | Path) -> ConfigFile:
    """Read a YAML file; its blocks are checked when they are laid on a profile.

    Raises ConfigError, naming the file, for what is no configuration file, or no profile's name.
    """
    source = _source(path)
    values, profile = _without_profile(_read_yaml(Path(path), source), source)
    return ConfigFile(str(path), values, profile)


def load_config(path: str | Path | None = None, *, profile: str | None = None) -> RetoldConfig:
    """Return the settings of a YAML file on top of a profile; without a path, the profile alone.

    The profile is the argument, else the one that the file names, else standard. Raises
    ConfigError, naming the file and the YAML path of each wrong key, and ValueError for an
    unknown profile.
    """
    name = None if profile is None else require_profile(profile)
    if path is None:
        return parse_config({}, profile=name)
    file = read_config_file(path)
    return file.on(base_profile(name, file.profile, None))


def profile_config(name: ProfileName) -> RetoldConfig:
    """Return the settings of one profile. Raises ValueError for another name."""
    return parse_config({}, profile=name)


def parse_config(
    values: Mapping[str, Any], *, profile: str | None = None, source: str = "configuration"
) -> RetoldConfig:
    """Return the settings of nested values, as a YAML file would hold them, on top of a profile.

    The profile is the argument, else the one under the key ``profile``, else standard. ``source``
    opens the message of a ConfigError. Raises ValueError for an unknown profile as argument.
    """
    name = None if profile is None else require_profile(profile)
    blocks, named = _without_profile(values, source)
    return _validated(blocks, base_profile(name, named, None), source)


def _without_profile(
    values: Mapping[str, Any], source: str
) -> tuple[Mapping[str, Any], ProfileName | None]:
    """Return the blocks, and the profile named beside them. Raises ConfigError for no profile."""
    named = values.get(PROFILE_KEY)
    profile = next((one for one in PROFILES if one == named), None)
    if profile is None and named is not None:
        raise ConfigError(
            f"{source}: {PROFILE_KEY}: must be one of {', '.join(PROFILES)}, or null",
            paths=[PROFILE_KEY],
        )
    return {name: value for name, value in values.items() if name != PROFILE_KEY}, profile


def _validated(values: Mapping[str, Any], profile: ProfileName, source: str) -> RetoldConfig:
    try:
        return RetoldConfig.model_validate(merged(PROFILE_VALUES[profile], values))
    except ValidationError as error:
        found = error.errors(include_url=False)
        shown = "; ".join(_problem(entry) for entry in found[:_SHOWN_PROBLEMS])
        more = len(found) - _SHOWN_PROBLEMS
        tail = f"; and {more} more" if more > 0 else ""
        paths = [_dotted(entry["loc"]) for entry in found]
        raise ConfigError(f"{source}: {shown}{tail}", paths=paths) from None


def _source(path: str | Path) -> str:
    return f"configuration file {str(path)!r}"


def _read_yaml(path: Path, source: str) -> dict[str, Any]:
    """Return the mapping a file holds; an empty file is an empty mapping."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise ConfigError(f"{source}: larger than {MAX_BYTES} bytes", path=str(path))
        values = _construct(raw.decode("utf-8-sig"), source)
    except OSError as error:
        problem = error.strerror or "cannot be read"
    except UnicodeDecodeError:
        problem = "not UTF-8 text"
    except yaml.YAMLError as error:
        problem = _yaml_problem(error)
    except RecursionError:
        problem = "nested too deeply"
    except ValueError:
        problem = "holds a value that cannot be read, such as an impossible date"
    else:
        if isinstance(values, dict) or values is None:
            return values or {}
        problem = "must be a mapping of blocks"
    raise ConfigError(f"{source}: {problem}", path=str(path))


def _construct(text: str, source: str) -> object:
    """Build the values of one YAML document, its shape checked before anything is built."""
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _check_shape(node, source)
        value: object = loader.construct_document(node)
        return value
    finally:
        loader.dispose()


def _check_shape(root: yaml.Node, source: str) -> None:
    """Refuse duplicate keys, keys that are not text, cycles and aliases that multiply."""
    sizes: dict[int, int | None] = {}

    def size(node: yaml.Node, path: tuple[str, ...]) -> int:
        known = sizes.get(id(node), 0)
        if known is None:
            raise ConfigError(f"{source}: {_dotted(path)}: an alias refers to its own parent")
        if known:
            return known
        sizes[id(node)] = None
        total = 1
        for name, child in _children(node, path, source):
            total += size(child, (*path, name))
            if total > MAX_NODES:
                raise ConfigError(f"{source}: {_dotted(path)}: aliases expand to too many values")
        sizes[id(node)] = total
        return total

    size(root, ())


def _children(
    node: yaml.Node, path: tuple[str, ...], source: str
) -> Iterator[tuple[str, yaml.Node]]:
    """Yield the named children of a node, checking a mapping's keys on the way."""
    if isinstance(node, yaml.SequenceNode):
        yield from ((str(position), child) for position, child in enumerate(node.value))
    if not isinstance(node, yaml.MappingNode):
        return
    seen: set[str] = set()
    for name_node, child in node.value:
        if not isinstance(name_node, yaml.ScalarNode):
            raise ConfigError(f"{source}: {_dotted(path)}: a key must be plain text")
        name = str(name_node.value)
        if name in seen:
            line = name_node.start_mark.line + 1
            raise ConfigError(
                f"{source}: {_dotted((*path, name))}: given twice (again on line {line})"
            )
        seen.add(name)
        yield name, child


def _yaml_problem(error: yaml.YAMLError) -> str:
    """Say what is wrong and on which line, without quoting the file."""
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or "not readable"
    return f"line {mark.line + 1}: {what}" if mark is not None else f"not valid YAML: {what}"


def _dotted(location: tuple[int | str, ...]) -> str:
    """Write a location the way people write YAML paths; the top is ``(top level)``."""
    return ".".join(str(part) for part in location) or "(top level)"


def _problem(entry: Any) -> str:  # noqa: ANN401  # pydantic's ErrorDetails is a TypedDict of objects
    """Turn one pydantic error into ``path: what is wrong``, never showing the value itself."""
    location: tuple[int | str, ...] = entry["loc"]
    path = _dotted(location)
    match entry["type"]:
        case "extra_forbidden":
            return f"{path}: unknown key{_suggestion(location)}"
        case "model_type":
            return f"{path}: must be a mapping of keys, got {_kind(entry['input'])}"
        case "value_error":
            return f"{path}: {entry['ctx']['error']}"
        case "invalid_key":
            return f"{path}: a key must be text"
        case kind:
            wanted = entry["msg"].replace("Input should", "must", 1).replace("tuple", "list")
            got = f", got {_kind(entry['input'])}" if kind.endswith("_type") else ""
            return f"{path}: {wanted}{got}"


def _kind(value: object) -> str:
    """Name the type of a value in YAML's words."""
    names = {bool: "a boolean", int: "a whole number", float: "a number", str: "text"}
    names |= {list: "a list", tuple: "a list", dict: "a mapping", type(None): "null"}
    return names.get(type(value), f"a {type(value).__name__}")


def _suggestion(location: tuple[int | str, ...]) -> str:
    """Name the key that was probably meant: a sibling first, else the same name elsewhere."""
    *parents, wrong = (str(part) for part in location)
    siblings = _keys_of(parents)
    close = difflib.get_close_matches(wrong, siblings, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    elsewhere = [path for path in key_paths() if path.endswith(f".{wrong}")]
    if elsewhere:
        return f"; did you mean {elsewhere[0]!r}?"
    return f"; known keys here: {', '.join(siblings)}" if siblings else ""


def _keys_of(parents: list[str]) -> list[str]:
    """Return the keys that the block at this path knows."""
    block: type[BaseModel] = RetoldConfig
    for name in parents:
        annotation = block.model_fields[name].annotation
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            return []
        block = annotation
    return [*([] if parents else [PROFILE_KEY]), *block.model_fields]


def key_paths() -> Iterator[str]:
    """Yield the dotted path of every block and key, in the order of the YAML file."""
    yield PROFILE_KEY
    yield from _block_paths(RetoldConfig, "")


def _block_paths(block: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in block.model_fields.items():
        yield prefix + name
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from _block_paths(field.annotation, f"{prefix}{name}.")

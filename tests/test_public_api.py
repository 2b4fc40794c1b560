import __future__

import ast
import inspect
import json
import logging
import subprocess
import sys
import types
import typing
from pathlib import Path

import pytest

import retold
import retold.errors
import retold.protocols

HEAVY = (
    "anthropic",
    "huey",
    "onnxruntime",
    "openai",
    "sentence_transformers",
    "tokenizers",
    "torch",
)


def public_names(module: types.ModuleType) -> set[str]:
    """Return what a user finds in a package: no private name, module or future statement."""
    return {
        name
        for name in dir(module)
        if not name.startswith("_")
        and not isinstance(getattr(module, name), types.ModuleType | __future__._Feature)
    }


def test_all_is_sorted_and_names_nothing_twice():
    assert list(retold.__all__) == sorted(set(retold.__all__))


def test_all_equals_what_is_importable():
    exported = {name for name in retold.__all__ if not name.startswith("_")}

    assert public_names(retold) == exported


def test_all_names_no_module():
    assert [n for n in retold.__all__ if isinstance(getattr(retold, n), types.ModuleType)] == []


def test_star_import_gives_what_all_names():
    names: dict[str, object] = {}
    exec("from retold import *", names)

    assert set(retold.__all__) <= set(names)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        retold.no_such_name  # noqa: B018 - reading it is the act


# The ingestor catches it and tries again; no caller ever sees it.
INTERNAL_ERRORS = {"StaleComparison"}


def test_every_error_is_exported():
    errors = {
        name
        for name, value in vars(retold.errors).items()
        if inspect.isclass(value) and issubclass(value, retold.errors.RetoldError)
    }

    assert errors - set(retold.__all__) == INTERNAL_ERRORS


def test_every_public_name_says_what_it_is():
    silent = [
        name
        for name in retold.__all__
        if callable(getattr(retold, name)) and not inspect.getdoc(getattr(retold, name))
    ]

    assert silent == []


def test_type_checkers_find_the_names_where_they_are_loaded_from():
    tree = ast.parse(Path(retold.__file__).read_text(encoding="utf-8"))
    stated = {
        (statement.module, alias.name, alias.asname)
        for statement in ast.walk(tree)
        if isinstance(statement, ast.ImportFrom) and str(statement.module).startswith("retold.")
        for alias in statement.names
    }

    assert stated == {(module, name, name) for name, module in retold._HOME.items()}


PORTS = {field.split(" ")[0] for field in retold.Overrides.__annotations__.values()}


def test_ports_an_integrator_implements_are_exported():
    assert {port for port in PORTS if hasattr(retold.protocols, port)} <= set(retold.__all__)


ANSWERS = [
    (retold.Retold, "status"),
    (retold.MemorySession, "search"),
    (retold.MemorySession, "get"),
    (retold.MemorySession, "turn"),
    (retold.MemorySession, "remember"),
    (retold.MemoryHost, "provision_user"),
]


@pytest.mark.parametrize(("owner", "verb"), ANSWERS, ids=[verb for _, verb in ANSWERS])
def test_answers_are_of_exported_types(owner, verb):
    """An application that stores an answer can name its type, and the types of its fields."""
    answer = typing.get_type_hints(getattr(owner, verb))["return"]
    assert answer.__name__ in retold.__all__


def test_library_is_silent_unless_the_host_listens():
    handlers = logging.getLogger("retold").handlers

    assert any(isinstance(handler, logging.NullHandler) for handler in handlers)


@pytest.mark.parametrize(
    "statement",
    ["import retold", "from retold import *", "import retold.cli", "import retold.testing"],
)
def test_import_in_a_fresh_interpreter_loads_nothing_heavy(statement):
    probe = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True, text=True)
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}

    assert loaded & set(HEAVY) == set()

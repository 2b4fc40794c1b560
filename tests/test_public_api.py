import __future__

import ast
import dataclasses
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


# The ingestor and the worker's step catch them; no caller ever sees them.
INTERNAL_ERRORS = {"ClaimLost", "DraftLost", "StaleComparison"}


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


FACES = (retold.Retold, retold.MemorySession, retold.MemoryHost, retold.SessionTools)
ELSEWHERE = {"retold.operations.status", "retold.store.overview", "retold.store.store"}
"""Modules for operators: the parts of a StoreStatus, and the store, are imported from there."""


def classes_in(annotation: object) -> set[type]:
    """Return the classes of ours that a type names, those of its fields included."""
    found: set[type] = set()
    waiting = [annotation]
    while waiting:
        each = waiting.pop()
        waiting += typing.get_args(each)
        if inspect.isclass(each) and each.__module__.startswith("retold") and each not in found:
            found.add(each)
            if dataclasses.is_dataclass(each):
                waiting += typing.get_type_hints(each).values()
    return found


def answers_of(face: type) -> set[type]:
    """Return the classes of ours in what the public methods of a class answer with."""
    public = (member for name, member in vars(face).items() if not name.startswith("_"))
    functions = (
        member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        for member in public
    )
    return {
        each for one in functions for each in classes_in(typing.get_type_hints(one).get("return"))
    }


@pytest.mark.parametrize("face", FACES, ids=[face.__name__ for face in FACES])
def test_answers_are_of_exported_types(face):
    """An application that stores an answer can name its type, and the types of its fields."""
    nameless = {
        f"{each.__module__}.{each.__name__}"
        for each in answers_of(face)
        if each.__name__ not in retold.__all__ and each.__module__ not in ELSEWHERE
    }

    assert nameless == set()


ANSWERS = {each for face in FACES for each in answers_of(face) if dataclasses.is_dataclass(each)}


@pytest.mark.parametrize("answer", sorted(ANSWERS, key=str), ids=lambda one: one.__name__)
def test_answers_are_frozen_and_hold_no_list(answer):
    hints = typing.get_type_hints(answer).values()

    assert answer.__dataclass_params__.frozen
    assert "__slots__" in vars(answer)
    assert not [hint for hint in hints if list in (hint, typing.get_origin(hint))]


def test_records_of_a_search_and_of_a_look_up_are_read_alike():
    """Both classes give every field of their base the base's type; content is always there."""
    base = typing.get_type_hints(retold.MemoryRecord)
    for record in (retold.Record, retold.RecordView):
        assert issubclass(record, retold.MemoryRecord)
        own = typing.get_type_hints(record)
        assert {name for name in base if own[name] != base[name]} <= {"content"}


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

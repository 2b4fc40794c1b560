import __future__

import inspect
import json
import subprocess
import sys
import types

import pytest

import retold
import retold.errors

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


@pytest.mark.parametrize(
    "statement",
    ["import retold", "from retold import *", "import retold.cli", "import retold.testing"],
)
def test_import_in_a_fresh_interpreter_loads_nothing_heavy(statement):
    probe = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True, text=True)
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}

    assert loaded & set(HEAVY) == set()

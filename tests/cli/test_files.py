import apsw
import pytest

from retold import Retold
from tests.cli_support import refusal, retold, retold_here
from tests.migration import version_1_file

READING = {
    "status": ("status",),
    "search": ("search", "--agent", "helper", "--user", "ana", "tea"),
    "get": ("get", "an-id"),
    "list": ("list",),
    "history": ("history", "an-id"),
    "dump": ("dump",),
    "scope": ("scope", "list"),
}
COMMANDS = READING | {
    "migrate": ("migrate",),
    "grant": ("grant", "helper", "project:apollo", "--read"),
    "revoke": ("revoke", "helper", "project:apollo"),
}


def files(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.parametrize("command", COMMANDS)
def test_command_never_makes_a_store(command, tmp_path):
    line = refusal(retold_here(*COMMANDS[command], "--store", "none.sqlite", cwd=tmp_path))

    assert "there is no store at 'none.sqlite'; name one with --store" in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_command_leaves_a_foreign_file_as_it_was(command, tmp_path):
    connection = apsw.Connection(str(tmp_path / "other.db"))
    connection.execute("create table notes(id integer primary key, text)")
    connection.close()
    (tmp_path / "text.db").write_text("nothing of ours\n" * 100)
    before = files(tmp_path)

    for name in ("other.db", "text.db"):
        assert "not a Retold store" in refusal(
            retold_here(*COMMANDS[command], "--store", tmp_path / name)
        )
    assert files(tmp_path) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_command_leaves_an_empty_file_and_a_directory_as_they_were(command, tmp_path):
    (tmp_path / "empty.db").touch()

    assert "empty" in refusal(retold_here(*COMMANDS[command], "--store", tmp_path / "empty.db"))
    assert "is not a file" in refusal(retold_here(*COMMANDS[command], "--store", tmp_path))
    assert files(tmp_path) == {"empty.db": b""}


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"migrate"}))
def test_older_schema_names_the_command_that_helps(command, tmp_path):
    path = tmp_path / "old.db"
    version_1_file.build(path)
    before = path.read_bytes()

    assert "run `retold migrate`" in refusal(retold_here(*COMMANDS[command], "--store", path))
    assert path.read_bytes() == before


@pytest.mark.parametrize("command", COMMANDS)
def test_newer_schema_is_refused(command, store):
    connection = apsw.Connection(str(store))
    connection.pragma("user_version", 999_000)
    connection.close()

    assert "upgrade retold" in refusal(retold_here(*COMMANDS[command], "--store", store))


@pytest.mark.parametrize("command", ["status", "list", "dump", "scope"])
def test_damaged_store_is_unhealthy(command, store):
    content = bytearray(store.read_bytes())
    for page in range(1, len(content) // 4096):
        content[page * 4096 : page * 4096 + 512] = b"\xff" * 512
    store.write_bytes(content)

    finished = retold_here(*READING[command], store=store)

    assert finished.code == 6
    assert "damaged" in finished.err


@pytest.mark.parametrize("command", [("migrate", "--expire-unmapped"), COMMANDS["grant"]])
def test_store_under_a_long_write_is_pending(command, store):
    """Exit code 5: another writer holds the lock, so the same command may work later."""
    (store.parent / "settings.yaml").write_text("store: {busy_timeout_seconds: 0.1}\n")
    writer = apsw.Connection(str(store))
    writer.execute("begin immediate")
    try:
        line = refusal(
            retold(
                *command,
                "--store",
                store,
                "--config",
                store.parent / "settings.yaml",
            ),
            code=5,
        )
    finally:
        writer.close(True)

    assert "try again" in line


@pytest.mark.parametrize("command", READING)
def test_reading_leaves_no_file_beside_the_store(command, store):
    assert retold(*READING[command], "--store", store).code in (0, 2)

    assert [path.name for path in store.parent.iterdir()] == [store.name]


def test_reading_sees_what_an_open_process_has_written(store):
    with Retold.open(store) as open_store, open_store.session("bob") as session:
        session.remember("Bob plays the cello.", evidence="I play the cello", attribute="hobby")
        status = retold("status", "--json", "--store", store)

    assert status.document["records"]["semantic"]["confirmed"] == 4
    assert status.document["files"]["wal"] > 0

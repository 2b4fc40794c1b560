"""The road leads to the present: replayed migrations equal schema.sql."""

from importlib import resources

import apsw

from retold.store import migrations
from retold.util import new_id, system_clock
from tests.migration import version_1_file

OBJECTS = "select type, name, tbl_name, sql from sqlite_schema order by type, name"


def test_schema_file_equals_the_replayed_migrations(tmp_path):
    replayed = apsw.Connection(str(tmp_path / "replayed.db"))
    migrations.migrate(replayed, system_clock, new_id)
    written = apsw.Connection(str(tmp_path / "written.db"))
    schema = resources.files("retold.store").joinpath("schema.sql").read_text(encoding="utf-8")
    written.execute(schema).fetchall()

    assert written.execute(OBJECTS).fetchall() == replayed.execute(OBJECTS).fetchall()


def test_schema_of_a_migrated_version_1_file_equals_a_new_one(tmp_path):
    version_1_file.build(tmp_path / "old.db")
    migrated = apsw.Connection(str(tmp_path / "old.db"))
    migrations.migrate(migrated, system_clock, new_id)
    new = apsw.Connection(str(tmp_path / "new.db"))
    migrations.migrate(new, system_clock, new_id)

    assert migrated.execute(OBJECTS).fetchall() == new.execute(OBJECTS).fetchall()

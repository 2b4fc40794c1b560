"""Named statements out of ``.sql`` files."""

import pytest

from retold.store.queries import load_queries, parse_queries


def test_queries_are_read_by_name_without_their_comments():
    text = "-- name: a\n-- Why.\nselect 1;\n\n-- name: b\n-- Why.\nselect 2\nfrom t;\n"

    assert parse_queries(text) == {"a": "select 1", "b": "select 2\nfrom t"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("-- name: a\nselect 1;", id="no purpose"),
        pytest.param("-- name: a\n-- Why.\n", id="no statement"),
        pytest.param("-- name: a\n-- Why.\nselect 1;\n-- name: a\n-- Why.\nselect 2;", id="twice"),
        pytest.param("-- name: two words\n-- Why.\nselect 1;", id="no single name"),
    ],
)
def test_malformed_files_are_refused(text):
    with pytest.raises(ValueError, match="statement"):
        parse_queries(text)


def test_loaded_queries_cannot_be_changed():
    with pytest.raises(TypeError):
        load_queries("records")["get"] = "drop table records"

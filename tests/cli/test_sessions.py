import json
import os
import pty
import subprocess
import sys

import apsw
import pytest
from wcwidth import wcswidth

from retold import Retold
from tests.cli_support import environment, refusal, retold
from tests.warm_process import warm_run


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Make a store with sessions of two users, one of them in two segments, once."""
    path = tmp_path_factory.mktemp("filled") / "memory.sqlite"
    with Retold.open(path, profile="offline") as retold_:
        for user, agent in (("ana", "helper"), ("ana", "critic"), ("bob", "helper")):
            with retold_.session(user, agent_id=agent, session_id="chat") as session:
                session.turn("user", f"I am {user}.", name="名前", external_key="m1")
                session.turn("tool", "sunny", tool_name="weather")
        with retold_.session("ana", agent_id="helper", session_id="chat") as session:
            session.turn("assistant", "first line\nsecond line")
        retold_.session("bob", agent_id="helper", session_id="会话" * 40)
        retold_.session("bob", agent_id="helper", session_id="private", record=False)
    return path


def sessions(path, *arguments, **options):
    return retold("sessions", *arguments, "--store", path, **options)


def listed(path, *arguments):
    return sessions(path, "list", "--json", *arguments).document


def names(document):
    return [(one["user_id"], one["external_id"], one["segment"]) for one in document["sessions"]]


def test_sessions_alone_says_what_there_is(filled):
    finished = sessions(filled)

    assert (finished.code, finished.err) == (0, "")
    assert [line.split()[0] for line in finished.out.splitlines()[-3:]] == [
        "import",
        "list",
        "show",
    ]
    assert "..." not in finished.out.partition("Commands:")[2]


# --- list -----------------------------------------------------------------------------


def test_list_shows_every_segment_newest_first(filled):
    document = listed(filled)

    assert names(document) == [
        ("bob", "private", 1),
        ("bob", "会话" * 40, 1),
        ("ana", "chat", 2),
        ("bob", "chat", 1),
        ("ana", "chat", 1),
        ("ana", "chat", 1),
    ]
    assert document["next"] is None
    first = document["sessions"][0]
    assert (first["recorded"], first["turns"], first["first_at"]) == (False, 0, None)
    second = document["sessions"][2]
    assert (second["turns"], second["ended_by"], second["agent_id"]) == (1, "host", "helper")
    assert second["first_at"] == second["last_at"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--user", "ana"], 3),
        (["--agent", "critic"], 1),
        (["--user", "bob", "--agent", "critic"], 0),
        (["--user", "nobody"], 0),
    ],
)
def test_list_keeps_one_user_and_one_agent(filled, options, expected):
    assert len(listed(filled, *options)["sessions"]) == expected


def test_list_goes_on_where_the_page_before_ended(filled):
    first = listed(filled, "--limit", "4")
    second = listed(filled, "--limit", "4", "--after", first["next"])

    assert (len(first["sessions"]), len(second["sessions"])) == (4, 2)
    assert names(first) + names(second) == names(listed(filled))
    assert second["next"] is None
    text = sessions(filled, "list", "--limit", "4").out
    assert text.splitlines()[-1] == f"more       the same with --after {first['next']}"


@pytest.mark.parametrize("arguments", [("--limit", "0"), ("--limit", "1001"), ("--after", "x")])
def test_list_refuses_a_page_that_cannot_be(filled, arguments):
    refusal(sessions(filled, "list", *arguments))


def test_list_says_in_words_how_a_session_stands(filled):
    text = sessions(filled, "list").out

    assert "bob with helper · keeps no transcript · open" in text
    assert "chat, segment 2" in text
    assert "ana with helper · 1 turn at " in text
    assert "· ended by host" in text


def test_list_of_a_store_without_sessions_says_so(tmp_path):
    Retold.open(tmp_path / "new.sqlite", profile="offline").close()

    assert sessions(tmp_path / "new.sqlite", "list").out == "no session\n"
    assert listed(tmp_path / "new.sqlite") == {"sessions": [], "next": None}


@pytest.mark.parametrize("arguments", [("list",), ("show", "chat", "--user", "bob")])
def test_lines_stay_within_80_columns_whatever_the_script(filled, arguments):
    lines = sessions(filled, *arguments).out.splitlines()

    assert max(wcswidth(one) for one in lines) <= 80
    if arguments == ("list",):
        assert "会话" * 40 in "".join(one.strip() for one in lines)


# --- show -----------------------------------------------------------------------------


def test_show_of_a_hosts_id_has_all_segments_in_order(filled):
    document = sessions(filled, "show", "chat", "--user", "ana", "--agent", "helper", "--json")
    document = document.document

    assert [one["segment"] for one in document["segments"]] == [1, 2]
    assert [(one["segment"], one["turn"], one["role"]) for one in document["turns"]] == [
        (1, 1, "user"),
        (1, 2, "tool"),
        (2, 1, "assistant"),
    ]
    assert document["turns"][2]["content"] == "first line\nsecond line"
    assert document["next"] is None


def test_show_of_a_segments_id_has_its_turns_alone(filled):
    segment = listed(filled, "--user", "ana", "--agent", "helper")["sessions"][0]
    document = sessions(filled, "show", segment["id"], "--json").document

    assert [(one["segment"], one["turn"]) for one in document["turns"]] == [(2, 1)]


def test_show_goes_on_after_a_turn(filled):
    options = ("show", "chat", "--user", "ana", "--agent", "helper", "--json")
    first = sessions(filled, *options, "--limit", "2").document
    second = sessions(filled, *options, "--limit", "2", "--after", first["next"]).document

    assert first["next"] == "1.2"
    assert [(one["segment"], one["turn"]) for one in second["turns"]] == [(2, 1)]
    assert second["next"] is None


def test_show_prints_every_turn_in_full(filled):
    text = sessions(filled, "show", "chat", "--user", "ana", "--agent", "helper").out
    lines = text.splitlines()

    assert any(one.startswith("1.1     user 名前 · ") and "key m1" in one for one in lines)
    assert any("tool · " in one and "of weather" in one for one in lines)
    assert lines[-2:] == ["        first line", "        second line"]


def test_show_of_an_id_that_several_have_asks_whose(filled):
    line = refusal(sessions(filled, "show", "chat"))

    assert "3 conversations have the id 'chat'" in line


@pytest.mark.parametrize(
    "arguments", [("nothing",), ("chat", "--user", "nobody"), ("chat", "--after", "1")]
)
def test_show_of_nothing_is_refused(filled, arguments):
    refusal(sessions(filled, "show", *arguments))


def test_show_of_an_unknown_id_names_the_command_that_lists_them(filled):
    line = refusal(sessions(filled, "show", "nothing"))

    assert line.endswith("no session 'nothing'; `retold sessions list` shows those there are")


def test_operators_commands_are_refused_to_an_agent(filled):
    refusal(sessions(filled, "list", "--as", "helper/ana"))


def test_steering_characters_of_a_turn_stay_out_of_the_text(tmp_path):
    path = tmp_path / "memory.sqlite"
    with (
        Retold.open(path, profile="offline") as opened,
        opened.session("ana", session_id="chat") as session,
    ):
        session.turn("user", "safe \x1b[2J\u202ethe end")

    text = sessions(path, "show", "chat").out

    assert "\x1b" not in text
    assert "\u202e" not in text
    assert sessions(path, "show", "chat", "--json").document["turns"][0]["content"] == (
        "safe \x1b[2J\u202ethe end"
    )


# --- import ---------------------------------------------------------------------------


@pytest.fixture
def new_store(tmp_path):
    path = tmp_path / "memory.sqlite"
    Retold.open(path, profile="offline").close()
    return path


def chat(path, *turns):
    rows = [
        turn
        if isinstance(turn, str)
        else json.dumps({"session": "s1", "role": "user", "content": "Hello.", **turn})
        for turn in turns
    ]
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def test_import_prints_what_it_found(new_store, tmp_path):
    chat(tmp_path / "chat.jsonl", {}, {}, {"role": "system"})
    options = ("import", "chat.jsonl", "--format", "jsonl", "--user", "ana")
    finished = sessions(new_store, *options, "--as", "carol", cwd=tmp_path)

    assert (finished.code, finished.err) == (0, "")
    assert finished.out.splitlines() == [
        "file       chat.jsonl, 3 turns",
        "of         ana with assistant",
        "imported   2",
        "known      0",
        "skipped    1 instruction to the model",
        "sessions   1 new",
    ]
    assert sessions(new_store, *options, "--json", cwd=tmp_path).document == {
        "file": "chat.jsonl",
        "format": "jsonl",
        "user_id": "ana",
        "agent_id": "assistant",
        "turns": 3,
        "imported": 0,
        "known": 2,
        "skipped": 1,
        "sessions": 0,
    }
    connection = apsw.Connection(str(new_store))
    actors = connection.execute(
        "select distinct r.actor from events as e join event_refs as r on r.seq = e.seq"
        " where e.kind like 'session.%'"
    ).fetchall()
    connection.close()
    assert actors == [("carol",)]


def test_import_takes_cases_with_the_agent_and_speaker_it_is_told(new_store, tmp_path):
    file = tmp_path / "cases.jsonl"
    turns = [
        {"id": "D1:1", "session": "s1", "time": "", "speaker": "Caroline", "text": "Hi."},
        {"id": "D1:2", "session": "s1", "time": "", "speaker": "Max", "text": "Hello."},
    ]
    file.write_text(json.dumps({"id": "c", "turns": turns, "questions": []}), encoding="utf-8")
    options = ("--format", "cases", "--user", "u-17", "--agent", "helper", "--speaker", "Caroline")
    assert sessions(new_store, "import", file, *options).code == 0

    shown = sessions(new_store, "show", "c/s1", "--user", "u-17", "--json").document["turns"]
    assert [(one["role"], one["name"], one["external_key"]) for one in shown] == [
        ("user", "Caroline", "D1:1"),
        ("assistant", "Max", "D1:2"),
    ]


def test_import_names_the_file_line_and_field_that_is_wrong_on_one_line(new_store, tmp_path):
    file = chat(tmp_path / "chat.jsonl", {}, {"role": "narrator"}, {})
    line = refusal(sessions(new_store, "import", file, "--format", "jsonl", "--user", "ana"))

    assert line == (
        f"retold: {file}: line 2, field `role`: choose one of user, assistant, tool; "
        "1 turn is in the store; mend the line, then run the same command to go on"
    )
    assert listed(new_store)["sessions"][0]["turns"] == 1


@pytest.mark.parametrize(
    "options",
    [
        ("none.jsonl", "--format", "jsonl", "--user", "ana"),
        (".", "--format", "jsonl", "--user", "ana"),
        ("chat.jsonl", "--format", "csv", "--user", "ana"),
        ("chat.jsonl", "--user", "ana"),
        ("chat.jsonl", "--format", "jsonl"),
        ("chat.jsonl", "--format", "jsonl", "--user", "a/b"),
        ("memory.sqlite", "--format", "jsonl", "--user", "ana"),
    ],
    ids=["missing", "folder", "format", "no format", "no user", "slash", "the store itself"],
)
def test_import_of_what_cannot_be_is_refused_and_stores_nothing(new_store, tmp_path, options):
    chat(tmp_path / "chat.jsonl", {})
    refusal(sessions(new_store, "import", *options, cwd=tmp_path))

    assert listed(new_store)["sessions"] == []


def test_import_makes_no_store(tmp_path):
    file = chat(tmp_path / "chat.jsonl", {})
    refusal(sessions(tmp_path / "new.sqlite", "import", file, "--format", "jsonl", "--user", "a"))

    assert not (tmp_path / "new.sqlite").exists()


def test_import_beside_a_writer_that_does_not_stop_is_pending(new_store, tmp_path):
    file = chat(tmp_path / "chat.jsonl", {})
    config = tmp_path / "retold.yaml"
    config.write_text("store: {busy_timeout_seconds: 1}\n", encoding="utf-8")
    with Retold.open(new_store) as other, other.store.write():
        finished = sessions(
            new_store, "import", file, "--format", "jsonl", "--user", "a", "--config", config
        )

    assert "run the same command to go on" in refusal(finished, code=5)


def test_import_shows_a_bar_on_a_terminal_and_lines_elsewhere(new_store, tmp_path):
    file = chat(tmp_path / "chat.jsonl", *({"content": "word " * 200} for _ in range(1500)))
    options = ["import", file, "--format", "jsonl", "--user", "ana", "--store", new_store]
    command = [sys.executable, "-m", "retold", "sessions", *map(str, options)]
    ours, theirs = pty.openpty()
    done = warm_run(command, stdout=subprocess.PIPE, stderr=theirs, env=environment())
    os.close(theirs)
    bar = os.read(ours, 1 << 16).decode()
    os.close(ours)

    assert done.returncode == 0
    assert bar.startswith("\r[")
    assert "] 100% read 1,500 turns" in bar
    assert "\x1b" not in bar
    lines = retold("sessions", *options).err.splitlines()
    assert lines[-1] == "read 100 %, 1,500 turns"
    assert 2 <= len(lines) <= 10

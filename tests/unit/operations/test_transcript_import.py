"""Files of transcripts, imported into a store: formats, batches, repeats and refusals."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime

import pytest

from retold.errors import InvalidInput, StoreUnavailable
from retold.operations import transcript_import
from retold.operations.transcript_formats import parse_case_time
from retold.operations.transcript_import import import_transcripts
from retold.testing import MemoryLab


@pytest.fixture
def lab():
    """Return a lab with the fakes' answers."""
    with MemoryLab.open() as opened:
        yield opened


@pytest.fixture
def run(lab, tmp_path):
    """Return a function that writes a file of these rows and imports it."""

    def write_and_import(format_, *rows, user="ana", **options):
        path = tmp_path / "chats.jsonl"
        texts = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        path.write_text("\n".join(texts), encoding="utf-8")
        return import_transcripts(lab.store, path, format=format_, user_id=user, **options)

    return write_and_import


def turn(key, text="Hello there.", speaker="Ana", session="s1", time="2023-05-08"):
    return {"id": key, "session": session, "time": time, "speaker": speaker, "text": text}


def case(name, *turns, **more):
    return {"id": name, "turns": list(turns), "questions": [{"id": "q", "gold": []}], **more}


def line(content="Hello there.", session="s1", role="user", **more):
    return {"session": session, "role": role, "content": content, **more}


def stored(lab, session, user="ana", agent="assistant"):
    with lab.store.read() as tx:
        latest = tx.sessions.latest(agent, user, session)
        return [] if latest is None else tx.sessions.turns(latest.conversation_id)


# --- cases ----------------------------------------------------------------------------


def test_cases_make_a_conversation_of_every_session_of_every_case(lab, run):
    """Two cases may use the same names of sessions and turns for different things."""
    result = run(
        "cases",
        case("a", turn("D1:1"), turn("D2:1", session="s2")),
        case("b", turn("D1:1", "Something else.")),
    )

    assert (result.turns, result.imported, result.sessions) == (3, 3, 3)
    assert [one.content for one in stored(lab, "a/s1")] == ["Hello there."]
    assert [one.content for one in stored(lab, "b/s1")] == ["Something else."]
    assert [one.external_key for one in stored(lab, "a/s2")] == ["D2:1"]


def test_cases_take_who_bears_the_users_id_for_the_user_and_others_for_assistants(lab, run):
    run("cases", case("a", turn("1", speaker="ANA "), turn("2", speaker="Melanie")))

    assert [(one.role, one.name) for one in stored(lab, "a/s1")] == [
        ("user", "ANA"),
        ("assistant", "Melanie"),
    ]


@pytest.mark.parametrize(
    ("speaker", "speakers", "role"),
    [
        ("User", (), "user"),
        ("Assistant", (), "assistant"),
        ("", (), "assistant"),
        ("Caroline", ("Jon", "caroline"), "user"),
        ("Caroline", (), "assistant"),
    ],
)
def test_cases_decide_the_role_by_the_speaker(lab, run, speaker, speakers, role):
    run("cases", case("a", turn("1", speaker=speaker)), speakers=speakers)

    assert [(one.role, one.name) for one in stored(lab, "a/s1")] == [(role, speaker or None)]


def test_cases_without_sessions_are_one_conversation_under_the_cases_id(lab, run):
    run("cases", case("paragraphs", {"id": "0", "text": "One."}, {"id": "1", "text": "Two."}))

    assert [one.at for one in stored(lab, "paragraphs")] == [lab.clock(), lab.clock()]


def test_cases_turn_without_a_time_takes_that_of_the_turn_before_it_in_its_session(lab, run):
    run(
        "cases",
        case(
            "a",
            turn("1", time="2019-03-01"),
            turn("2", time=""),
            turn("3", time="", session="s2"),
        ),
    )

    day = datetime(2019, 3, 1, tzinfo=UTC)
    assert [one.at for one in stored(lab, "a/s1")] == [day, day]
    assert [one.at for one in stored(lab, "a/s2")] == [lab.clock()]


def test_cases_are_read_whatever_stands_beside_the_turns(lab, run):
    run("cases", {"plain": [{"text": '"]}'}], **case("a", turn("1")), "more": {"x": [[1], {}]}})

    assert len(stored(lab, "a/s1")) == 1


def test_cases_keep_a_turn_without_words(lab, run):
    result = run("cases", case("a", turn("1", ""), turn("2")))

    assert result.imported == 2
    assert [one.content for one in stored(lab, "a/s1")] == ["", "Hello there."]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:06 am on 11 November, 2022", datetime(2022, 11, 11, 0, 6, tzinfo=UTC)),
        ("12:30 PM on 1 January 2022", datetime(2022, 1, 1, 12, 30, tzinfo=UTC)),
        ("2025-12-15 (Monday)", datetime(2025, 12, 15, tzinfo=UTC)),
        ("2025-12-15 08:30", datetime(2025, 12, 15, 8, 30, tzinfo=UTC)),
        ("2025-12-15T08:30:00+09:00", datetime(2025, 12, 14, 23, 30, tzinfo=UTC)),
        ("  ", None),
    ],
)
def test_case_time_is_read(text, moment):
    assert parse_case_time(text) == moment


@pytest.mark.parametrize("text", ["yesterday", "1:56 pm on 8 Floreal, 2023", "31 February", "13"])
def test_case_time_refuses_what_is_none(text):
    with pytest.raises(ValueError, match=r"."):
        parse_case_time(text)


# --- one turn a line ------------------------------------------------------------------


def test_lines_keep_every_field(lab, run):
    moment = "2019-05-08T13:56:00+02:00"
    result = run(
        "jsonl",
        line(at=moment, name="Ana", id="m1"),
        line("sunny", role="tool", tool_name="weather", id="m2"),
        line("It is sunny.", role="assistant", id="m3"),
        agent_id="helper",
    )

    assert (result.imported, result.sessions, result.agent_id) == (3, 1, "helper")
    first, second, third = stored(lab, "s1", agent="helper")
    assert (first.at, first.name, first.external_key) == (
        datetime(2019, 5, 8, 11, 56, tzinfo=UTC),
        "Ana",
        "m1",
    )
    assert (second.origin, second.tool_name, second.at) == ("tool", "weather", first.at)
    assert third.role == "assistant"


def test_lines_of_several_sessions_may_take_turns(lab, run):
    run("jsonl", *(line(f"turn {at}", session=f"s{at % 2}") for at in range(6)))

    assert [one.content for one in stored(lab, "s0")] == ["turn 0", "turn 2", "turn 4"]
    with lab.store.read() as tx:
        assert [one.segment for one in tx.sessions.list_for_user("ana")] == [1, 1]


def test_line_without_a_moment_takes_that_of_the_line_before_it_in_its_session(lab, run):
    run(
        "jsonl",
        line("one", at="2019-03-01T09:00:00+00:00"),
        line("two"),
        line("three", session="s2"),
    )

    morning = datetime(2019, 3, 1, 9, tzinfo=UTC)
    assert [one.at for one in stored(lab, "s1")] == [morning, morning]
    assert [one.at for one in stored(lab, "s2")] == [lab.clock()]


def test_lines_without_ids_are_imported_once_and_equal_ones_each(lab, run):
    rows = [line("ok"), line("ok"), line("done")]
    assert run("jsonl", *rows).imported == 3
    again = run("jsonl", *rows, line("one more"))

    assert (again.imported, again.known) == (1, 3)
    assert [one.content for one in stored(lab, "s1")] == ["ok", "ok", "done", "one more"]


def test_lines_of_instructions_are_skipped_and_counted(lab, run):
    result = run("jsonl", line("Be brief.", role="system"), line("x", role="developer"), line())

    assert (result.turns, result.imported, result.skipped) == (3, 1, 2)
    assert len(stored(lab, "s1")) == 1


# --- repeats and batches --------------------------------------------------------------


def test_import_again_imports_nothing_and_changes_nothing(lab, run):
    rows = [case("a", turn("1"), turn("2")), case("b", turn("1"))]
    run("cases", *rows)
    before = lab.row_counts()
    again = run("cases", *rows)

    assert (again.turns, again.imported, again.known, again.sessions) == (3, 0, 3, 0)
    assert lab.row_counts() == before


def test_import_commits_once_a_batch_and_says_how_far_it_is(lab, run, monkeypatch):
    """A transaction for every turn would sync the disk seven thousand times."""
    monkeypatch.setattr(transcript_import, "BATCH_TURNS", 4)
    commits, real = [], lab.store.write

    def counted():
        commits.append(1)
        return real()

    monkeypatch.setattr(lab.store, "write", counted)
    heard = []
    run("jsonl", *(line(f"turn {at}") for at in range(10)), progress=heard.append)

    assert len(commits) == 3
    assert [state.turns for state in heard] == [4, 8, 10]
    assert heard[-1].bytes_read == heard[-1].bytes_total


def test_import_closes_a_batch_of_few_long_turns(run, monkeypatch):
    """Memory must not depend on how long the turns of a file are."""
    monkeypatch.setattr(transcript_import, "BATCH_CHARS", 1000)
    heard = []
    run("jsonl", *(line("word " * 150) for _ in range(4)), progress=heard.append)

    assert [state.turns for state in heard] == [2, 4]


# --- refusals -------------------------------------------------------------------------

WRONG_LINES = {
    "role": (line(role="narrator"), "field `role`"),
    "no role": ({"session": "s1", "content": "x"}, "field `role`"),
    "no session": ({"role": "user", "content": "x"}, "field `session`: it is missing"),
    "blank session": (line(session=" "), "field `session`: it is blank"),
    "session with the mark of a segment": (line(session="a~2"), "field `session`"),
    "session with a control character": (line(session="a\tb"), "field `session`"),
    "no content": ({"session": "s1", "role": "user"}, "field `content`: it is missing"),
    "content is a list": (line(content=[1]), "field `content`: it is no text"),
    "NUL": (line(content="a\x00b"), "field `content`"),
    "lone surrogate": (json.dumps(line("a\ud800")), "field `content`"),
    "naive time": (line(at="2019-05-08T13:56:00"), "write 2019-05-08T13:56:00+00:00"),
    "no time": (line(at="yesterday"), "field `at`"),
    "time is a number": (line(at=1557323760), "field `at`"),
    "name is a number": (line(name=7), "field `name`"),
    "id with a control character": (line(id="a\nb"), "field `id`"),
    "id of another message": (line("other", id="known"), "field `id`"),
    "unknown field": (line(time="2019-05-08"), "unknown field 'time'; a line has session, role"),
    "array": ([1, 2], "it is no JSON object"),
    "cut off": ('{"session": "s1", "role"', "no complete JSON"),
    "two objects": ("{} {}", "more than one JSON value"),
}


@pytest.mark.parametrize("wrong", WRONG_LINES)
def test_wrong_line_is_named_and_everything_before_it_is_stored(lab, run, tmp_path, wrong):
    row, said = WRONG_LINES[wrong]
    with pytest.raises(InvalidInput) as refusal:
        run("jsonl", line("first", id="known"), "", line("second"), row, line("never"))

    message = refusal.value.message
    assert message.startswith(f"{tmp_path / 'chats.jsonl'}: line 4")
    assert said in message
    assert "2 turns are in the store" in message
    assert [one.content for one in stored(lab, "s1")] == ["first", "second"]
    mended = run("jsonl", line("first", id="known"), "", line("second"), line("third"))
    assert (mended.imported, mended.known) == (1, 2)


WRONG_TURNS = {
    "no id": ({"text": "x"}, "turn 2, field `id`: it is missing"),
    "no text": ({"id": "2"}, "turn 2, field `text`: it is missing"),
    "no time": (turn("2", time="yesterday"), "turn 2, field `time`: it is no time"),
    "session is a number": (turn("2", session=7), "turn 2, field `session`: it is no text"),
    "speaker too long": (turn("2", speaker="a" * 201), "turn 2, field `speaker`"),
    "id of another turn": (turn("1", "other"), "turn 2, field `id`"),
    "no object": ("hello", "turn 2: it is no JSON object"),
}


@pytest.mark.parametrize("wrong", WRONG_TURNS)
def test_wrong_turn_of_a_case_is_named_and_everything_before_it_is_stored(lab, run, wrong):
    row, said = WRONG_TURNS[wrong]
    with pytest.raises(InvalidInput) as refusal:
        run("cases", case("a", turn("1")), case("b", turn("1"), row, turn("3")))

    assert f"line 2, {said}" in refusal.value.message
    assert [len(stored(lab, session)) for session in ("a/s1", "b/s1")] == [1, 1]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"turns": [], "id": "a"}, "field `id`: it is missing before `turns`"),
        ({"id": 7, "turns": []}, "field `id`: it is no text"),
        ({"id": "a", "turns": {}}, "an array is missing"),
        (line("of the other format", id="1"), "field `turns`: it is missing; a file with"),
        ("[]", "an object is missing"),
    ],
)
def test_case_that_is_none_is_refused_with_its_line(run, row, said):
    with pytest.raises(InvalidInput, match=r"line 1") as refusal:
        run("cases", row)

    assert said in refusal.value.message


def test_refusal_shows_no_word_of_the_conversation(run):
    with pytest.raises(InvalidInput) as refusal:
        run("jsonl", line("my secret", at="my secret", name="my secret"))

    assert "secret" not in refusal.value.message


@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_import_opens_no_file_of_the_store_itself(lab, tmp_path, suffix):
    """Closing it would drop the locks that SQLite holds: another writer could then corrupt it."""
    link = tmp_path / "chats.jsonl"
    link.symlink_to(f"{lab.path}{suffix}")
    lab.session().turn("user", "something for the log")
    with pytest.raises(InvalidInput, match="belongs to the store itself"):
        import_transcripts(lab.store, link, format="jsonl", user_id="ana")


def test_missing_file_is_an_error_of_that_file(lab, tmp_path):
    with pytest.raises(FileNotFoundError) as refusal:
        import_transcripts(lab.store, tmp_path / "none", format="cases", user_id="ana")

    assert refusal.value.filename == str(tmp_path / "none")


@pytest.mark.parametrize("user", ["", "a/b"])
def test_import_for_nobody_is_refused(run, user):
    with pytest.raises(InvalidInput, match="user_id"):
        run("jsonl", line(), user=user)


def test_import_of_an_unknown_format_names_the_choices(run):
    with pytest.raises(InvalidInput, match="'cases', 'jsonl'"):
        run("csv", line())


def test_import_reads_a_pipe(lab):
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "w") as pipe:
        pipe.write(json.dumps(line()))
    heard = []
    with os.fdopen(read_end):
        result = import_transcripts(
            lab.store,
            f"/dev/fd/{read_end}",
            format="jsonl",
            user_id="ana",
            progress=heard.append,
        )

    assert (result.imported, heard[0].bytes_total) == (1, None)


def test_failing_store_says_how_much_is_in_it(lab, run, monkeypatch):
    monkeypatch.setattr(transcript_import, "BATCH_TURNS", 2)
    real, calls = transcript_import.record_history, []

    def failing(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:
            raise StoreUnavailable("the disk is full")
        return real(*arguments, **options)

    monkeypatch.setattr(transcript_import, "record_history", failing)
    with pytest.raises(StoreUnavailable) as refusal:
        run("jsonl", *(line(f"turn {at}") for at in range(5)))

    assert refusal.value.message == (
        "the disk is full; 2 turns are in the store; run the same command to go on"
    )

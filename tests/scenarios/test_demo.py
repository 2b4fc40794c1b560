"""The demonstration, run as a user runs it: real processes, a real crash, no sockets."""

import json
import re
import signal
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest
import yaml
from wcwidth import wcswidth

from retold.cli.demo.lines import broken_promises, demo_lines
from tests.cli_support import refusal, retold
from tests.network_guard import outside_guard

SCRIPT = Path(__file__).parent / "demo_script.yaml"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """Return the variables of a guard that refuses every socket, and the file it writes to."""
    log = tmp_path_factory.mktemp("guard") / "refused"
    guard = outside_guard.guarded_environment({}, log=log, everything=True)
    return guard, log


@pytest.fixture(scope="module")
def kept(tmp_path_factory, guarded):
    """Run the demonstration and keep its store."""
    directory = tmp_path_factory.mktemp("demo") / "kept"
    finished = retold("demo", "--keep", directory, **guarded[0])
    assert (finished.code, finished.err) == (0, "")
    return finished, directory / "memory.sqlite"


@pytest.fixture(scope="module")
def document(guarded):
    """Return the facts of another run as JSON."""
    finished = retold("demo", "--json", **guarded[0])
    assert (finished.code, finished.err) == (0, "")
    return finished.document


@pytest.fixture(scope="module")
def other_kept(tmp_path_factory, guarded):
    """Play the second script and keep its store."""
    directory = tmp_path_factory.mktemp("other") / "kept"
    finished = retold("demo", "--script", SCRIPT, "--keep", directory, **guarded[0])
    assert (finished.code, finished.err) == (0, "")
    return finished, directory / "memory.sqlite"


def steps(document, kind):
    return [
        step
        for session in document["sessions"]
        for step in session["steps"]
        if step["kind"] == kind
    ]


# --- the shape ------------------------------------------------------------------------


def test_demo_fits_on_60_lines_of_80_columns(kept):
    lines = kept[0].out.splitlines()

    assert len(lines) <= 60
    assert max(wcswidth(line) for line in lines) <= 80


def test_demo_opens_no_socket_in_any_of_its_processes(kept, document, other_kept, guarded):
    """The guard stands in every process and refuses even a socket to this machine."""
    assert not guarded[1].exists()


def test_demo_blocks_sockets_by_itself_in_a_process_of_its_own():
    """Without the addaudithook line of offline.py the socket opens."""
    program = (
        "import socket\nfrom retold.cli.demo.offline import refuse_sockets\n"
        "refuse_sockets()\nsocket.socket()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert done.stderr.splitlines()[-1].startswith("PermissionError: the demonstration opens no")


def test_demo_leaves_nothing_behind_unless_asked(document, kept):
    assert not Path(document["header"]["path"]).parent.exists()
    assert [path.name for path in kept[1].parent.iterdir()] == ["memory.sqlite"]


# --- the promises ---------------------------------------------------------------------


def test_demo_keeps_two_values_under_one_attribute(document):
    both = [step for step in steps(document, "remembered") if step["beside"]]

    (other,) = both[0]["beside"]
    assert both[0]["record"]["attribute"] == other["attribute"] == "allergy"
    assert {both[0]["record"]["status"], other["status"]} == {"confirmed"}


def test_demo_refuses_a_quote_that_does_not_support_its_claim(document):
    (refused,) = steps(document, "refused")

    assert refused["error"] == "UnsupportedEvidenceError"
    assert refused["rows_before"] == refused["rows_after"]
    assert refused["rows_after"].keys() == document["status"]["tables"].keys()


def test_demo_supersedes_in_a_second_process_and_shows_both_quotes(document, kept):
    first, second = document["sessions"]
    (replacing,) = [step for step in steps(document, "remembered") if len(step["versions"]) > 1]
    old, new = replacing["versions"]

    assert first["pid"] != second["pid"]
    assert replacing in second["steps"]
    assert (old["status"], new["status"]) == ("superseded", "confirmed")
    for version in (old, new):
        assert f'"{version["evidence"]}"' in kept[0].out


def test_demo_shows_a_tool_that_disagrees_as_an_unresolved_conflict(document):
    (disputed,) = [step for step in steps(document, "remembered") if step["record"]["conflicts"]]
    (conflict,) = disputed["record"]["conflicts"]

    assert disputed["record"]["source_kind"] == "tool_result"
    assert (disputed["record"]["status"], conflict["unresolved"]) == ("provisional", True)
    assert disputed["disagrees_with"][0]["id"] == conflict["record_id"]


def test_demo_finds_a_chinese_memory_by_the_lexical_channel_alone(document):
    (search,) = [step for step in steps(document, "search") if step["raw_queries"] == ["花生"]]
    (result,) = search["results"]
    tables = document["status"]["tables"]

    assert "花生" in result["record"]["content"]
    assert "lexical" in result["explanation"]["matched_by"]
    assert result["explanation"]["gate"].startswith("passed on lexical")
    assert search["degraded"] == []
    assert len(search["log_row"]["dense"]) > 0
    assert tables["embeddings"] == tables["records"]


def test_demo_searches_for_nothing_and_shows_the_numbers(document):
    empty = [step for step in steps(document, "search") if not step["results"]]

    assert len(empty) == 1
    assert re.search(r"unrelated prompt finds: Z \S+ < 1\.00", empty[0]["empty_reason"])


def test_demo_answers_a_foreign_id_exactly_like_an_unknown_one(document):
    (stranger,) = steps(document, "stranger")

    assert stranger["answer"] == {"found": [], "missing": [stranger["asked"]]}
    assert stranger["answer_to_unknown"] == {"found": [], "missing": [stranger["unknown"]]}


def test_demo_finds_every_acknowledged_write_of_a_killed_process(document, kept):
    (crash,) = steps(document, "crash")
    status = retold("status", "--store", kept[1], "--json").document
    acknowledged = int(re.search(r"after (\d+) acknowledged writes", kept[0].out)[1])

    assert crash["signal"] == signal.SIGKILL
    assert crash["acknowledged"] >= 36
    assert (crash["found"], crash["missing"]) == (crash["acknowledged"], [])
    # The kill may fall between a commit and its acknowledgement.
    assert status["records"]["episodic"]["confirmed"] - acknowledged in (0, 1)


def test_demo_would_report_a_broken_promise(document):
    """These three make the exit code 6."""
    broken = deepcopy(document)
    (refused,), (crash,), (stranger,) = (steps(broken, k) for k in ("refused", "crash", "stranger"))
    refused["rows_after"]["records"] += 1
    crash["missing"].append("an id")
    stranger["answer"]["found"].append({"id": stranger["asked"]})

    assert broken_promises(document) == []
    assert len(broken_promises(broken)) == 3
    assert any("changed in records" in line for line in demo_lines(broken))
    assert any("another answer" in line for line in demo_lines(broken))


# --- another conversation -------------------------------------------------------------

MASKS = (
    (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}", "<id>"),
    (r"process \d+", "process <pid>"),
    (r"after \d+ acknowledged", "after <n> acknowledged"),
    (r"\d+ of them read back", "<n> of them read back"),
    (r"Meter reading \d+ was", "Meter reading <n> was"),
    (r"^store .*", "store"),
)


def masked(lines):
    """Replace what differs from run to run; candidates that the killed writer left as well."""
    kept_lines, crashed = [], False
    for line in lines:
        crashed = crashed or line.startswith("killed")
        if crashed:
            line = re.sub(r"\d+ (candidates|below)|dense \d+", r"<n> \1", line)
        for pattern, word in MASKS:
            line = re.sub(pattern, word, line)
        kept_lines.append(line)
    return kept_lines


def test_each_line_of_another_conversation_says_what_another_process_gives_as_json(
    other_kept, guarded
):
    finished = retold("demo", "--script", SCRIPT, "--json", **guarded[0])
    lines = other_kept[0].out.splitlines()

    assert masked(lines) == masked(demo_lines(finished.document))


def test_each_text_of_another_conversation_is_in_the_store(other_kept):
    """What stands in quotes was read back: `search --json` of another process finds it all."""
    script = yaml.safe_load(SCRIPT.read_text(encoding="utf-8"))
    steps_ = [step for session in script["sessions"] for step in session["steps"]]
    queries = [step["search"]["query"] for step in steps_ if "search" in step]
    claims = [step["remember"] for step in steps_ if "remember" in step]
    who = ("--agent", script["agent"], "--user", script["user"])
    texts, statuses = set(), {}
    for start in range(0, len(claims), 3):
        asked = [claim["claim"] for claim in claims[start : start + 3]]
        found = retold(
            "search", "--store", other_kept[1], *who, "--history", "-k", "50", "--json", *asked
        ).document
        for result in found["results"]:
            record = result["record"]
            texts |= {record["content"], record["evidence"]}
            statuses[record["content"]] = record["status"]
    (refused,) = [claim for claim in claims if claim["claim"] not in texts]

    lines = other_kept[0].out.splitlines()
    quoted = {text for line in lines for text in re.findall(r'"([^"]+)"', line)}
    notes = {text for text in quoted if text.startswith("Meter reading")}

    assert refused["claim"] == "Ruben owns a sailing boat."
    assert quoted - texts - notes == {*queries, refused["claim"]}
    for line in lines:
        if line.startswith("replaces"):
            assert statuses[re.search(r'"([^"]+)"', line)[1]] == "superseded"
        if line.startswith("conflict"):
            assert statuses[re.search(r'"([^"]+)"', line)[1]] == "confirmed"


def test_numbers_of_a_refusal_are_those_of_the_store(other_kept):
    """The refused write changed no count: the rows line names those that status can still see."""
    status = retold("status", "--store", other_kept[1], "--json").document
    text = " ".join(other_kept[0].out.split())
    rows = re.search(r"rows unchanged: (.*?); (\d+) other tables empty", text)
    filled = dict(part.split("=") for part in rows[1].split(", "))

    assert filled.keys() < status["tables"].keys()
    assert len(filled) + int(rows[2]) == len(status["tables"])
    assert all(int(number) <= status["tables"][name] for name, number in filled.items())


def test_script_may_be_json(tmp_path):
    script = {
        "user": "kim",
        "sessions": [{"title": "one", "steps": [{"search": {"query": "anything"}}]}],
    }
    (tmp_path / "script.json").write_text(json.dumps(script))

    finished = retold("demo", "--script", tmp_path / "script.json", "--json")

    (search,) = steps(finished.document, "search")
    assert search["empty_reason"].startswith("no readable record matched")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "valid dictionary"),
        ("user: [", "not valid YAML or JSON at line"),
        ("user: kim", "sessions: Field required"),
        ("{user: kim, sessions: []}", "sessions: List should have at least 1 item"),
        ("{user: kim, sessions: [{title: a, steps: [{}]}]}", "exactly one of say, remember"),
        (
            "{user: k, sessions: [{title: a, steps: [{search: {query: a}, stranger: {user: b}}]}]}",
            "exactly one of say, remember",
        ),
        (
            "{user: kim, sessions: [{title: a, steps: [{search: {qery: a}}]}]}",
            "sessions.0.steps.0.search",
        ),
        (
            "{user: a/b, sessions: [{title: a, steps: [{search: {query: a}}]}]}",
            "user_id",
        ),
        (
            "{user: k, sessions: [{title: a, steps: [{crash: {note: 'One note.'}}]}]}",
            "write {n} where the number goes",
        ),
        (
            "{user: k, sessions: [{title: a, steps: "
            "[{crash: {note: 'Priya owns {n} cups.', type: semantic}}]}]}",
            "the writer ended by itself",
        ),
    ],
)
def test_script_that_cannot_be_played_is_refused_in_one_line(text, said, tmp_path):
    (tmp_path / "script.yaml").write_text(text)

    assert said in refusal(retold("demo", "--script", tmp_path / "script.yaml"))


def test_keep_refuses_a_directory_with_a_store(kept):
    before = kept[1].read_bytes()

    assert "holds a store already" in refusal(retold("demo", "--keep", kept[1].parent))
    assert kept[1].read_bytes() == before

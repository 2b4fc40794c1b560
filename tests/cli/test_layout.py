"""Nothing leaves its column or the 80th: East Asian, right-to-left and very long text."""

import re

import pytest
from wcwidth import wcswidth

from retold import Retold
from tests.cli_support import retold_here

TEXTS = {
    "chinese": "我每天早上喝乌龙茶，然后去河边散步。" * 6,
    "japanese": "毎朝ウーロン茶を飲んでから川沿いを散歩します。" * 5,
    "thai": "ฉันดื่มชาอู่หลงทุกเช้าแล้วไปเดินเล่นริมแม่น้ำ" * 5,
    "korean": "저는 매일 아침 우롱차를 마시고 강가를 산책합니다. " * 5,
    "hebrew": "אני שותה תה אולונג כל בוקר ואז הולך לאורך הנהר. " * 5,
    "arabic": "أشرب شاي أولونغ كل صباح ثم أمشي على ضفة النهر. " * 5,
    "emoji": "Tea 🍵 and family 👩‍👩‍👧‍👦 and a heart ❤️ " * 6,
    "one word": "x" * 300,
}


@pytest.fixture(scope="module")
def wide_store(tmp_path_factory):
    """Make a store whose contents, scopes, agents and tags are in many scripts."""
    path = tmp_path_factory.mktemp("wide") / "memory.sqlite"
    with Retold.open(path, profile="offline") as retold:
        for name, text in TEXTS.items():
            retold.host.write(f"project:{text[:20].strip()}", text.strip(), tags=[text[:9].strip()])
            retold.host.grant(text[:12].strip(), f"project:{text[:20].strip()}", read=True)
            with retold.session("مريم", agent_id="助手", session_id=name) as session:
                session.remember(text.strip(), evidence=text.strip(), attribute=name)
    return path


@pytest.fixture(scope="module")
def wide_ids(wide_store):
    page = retold_here("list", "--json", store=wide_store).document
    return [one["id"] for one in page["records"]]


def lines_of(*arguments, store, columns=80):
    finished = retold_here(*arguments, store=store, COLUMNS=str(columns))
    assert (finished.code, finished.err) == (0, "")
    return finished.out.splitlines()


@pytest.mark.parametrize("columns", [60, 80, 100])
@pytest.mark.parametrize("command", ["list", "get", "history", "scope", "search", "log", "status"])
def test_no_line_is_wider_than_the_terminal(command, columns, wide_store, wide_ids):
    commands = {
        "list": ["list", "--limit", "100"],
        "get": ["get", *wide_ids],
        "history": ["history", wide_ids[0]],
        "scope": ["scope", "list"],
        "search": ["search", "--as", "助手/مريم", "-k", "9", "--history", "乌龙茶", "tea", "الشاي"],
        "log": ["search", "--as", "助手/مريم", "--log", "乌龙茶 שלום"],
        "status": ["status"],
    }

    lines = lines_of(*commands[command], store=wide_store, columns=columns)

    assert [line for line in lines if wcswidth(line) > columns] == []


def test_nothing_of_a_text_is_left_out(wide_store):
    lines = lines_of("list", "--limit", "100", store=wide_store)
    printed = "".join(lines).replace(" ", "")

    for text in TEXTS.values():
        assert printed.count(text.replace(" ", "")) >= 2


def test_columns_of_scopes_stay_aligned(wide_store):
    lines = lines_of("scope", "list", store=wide_store)
    table = lines[: lines.index("")]
    first = re.compile(r"^ *[\d,]+ +[\d,]+  (?=\S)")
    starts = {wcswidth(match[0]) for line in table if (match := first.match(line))}

    assert starts == {wcswidth("active  all  ")}
    assert len(table) > len(TEXTS)


def test_further_lines_stand_under_the_first(wide_store, wide_ids):
    lines = lines_of("get", wide_ids[0], store=wide_store)
    says = next(at for at, line in enumerate(lines) if line.startswith("says"))

    assert lines[says].startswith("says       ")
    assert lines[says + 1].startswith(" " * 11)
    assert lines[says + 1][11] != " "


@pytest.mark.parametrize("command", ["list", "get", "search", "dump"])
def test_text_reaches_json_as_it_is(command, wide_store, wide_ids):
    commands = {
        "list": ["list", "--limit", "100", "--json"],
        "get": ["get", *wide_ids, "--json"],
        "search": ["search", "--as", "助手/مريم", "-k", "9", "--json", "شاي أولونغ"],
        "dump": ["dump"],
    }
    finished = retold_here(*commands[command], store=wide_store)

    assert "\\u" not in finished.out
    assert TEXTS["arabic"].strip() in finished.out


def test_controls_of_a_terminal_are_left_out_of_the_text_and_kept_in_json(store):
    evil = "Ana's prompt \x1b[31mis red\x1b[0m \u202eand reversed\u202c \x07 \u2066now\u2069"
    with Retold.open(store) as opened:
        written = opened.host.write("project:apollo", evil, tags=["a\x1b[2Jb"])
    for command in (("list",), ("get", written.record_id), ("history", written.record_id)):
        finished = retold_here(*command, store=store)

        assert "and reversed" in finished.out
        assert not {"\x1b", "\x07", "\u202e", "\u2066"} & set(finished.out)
    document = retold_here("get", written.record_id, "--json", store=store).document
    assert document["records"][0]["content"] == evil


def test_list_cuts_a_page_and_says_by_how_much_and_get_does_not(store):
    with Retold.open(store) as opened:
        written = opened.host.write("project:apollo", "word " * 5000)
    listed = retold_here("list", "--scope", "project:apollo", store=store).out
    full = retold_here("get", written.record_id, store=store).out

    assert "[and 23,999 more characters: retold get]" in " ".join(listed.split())
    assert listed.count("word") == 200
    assert full.count("word") == 5000

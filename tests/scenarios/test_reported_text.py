"""What users of memory libraries ran into: scripts, queries, vectors, limits and processes."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from retold.errors import (
    EmbeddingError,
    EmbeddingProfileMismatch,
    InvalidInput,
    StoreUnavailable,
)
from retold.memory import Retold
from retold.runtime import Overrides
from retold.testing import FakeEmbedder
from tests.migration.version_1_file import Version1File
from tests.scenarios.support import ANA, contents
from tests.warm_process import WarmPopen


def _words_only(world):
    """Switch the dense channel off for queries, so that only words and names can find."""
    world.embedder.fail(on="queries")


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("她对花生过敏", "花生"),
        ("子供としりとりで遊ぶ", "しりとり"),
        ("저녁에는 끝말잇기 놀이를 한다", "끝말잇기"),
        ("修改后重跑gen-itgc后再提交", "itgc"),
        ("修改后重跑gen-itgc后再提交", "重跑gen-itgc后"),
    ],
    ids=["chinese", "japanese", "korean", "latin-inside", "mixed"],
)
def test_words_of_unspaced_scripts_are_found_by_the_lexical_channel_alone(world, content, query):
    """B45: a word of two characters suffices, and shared particles do not."""
    for other in ("他喜欢在河边散步", "週末は家で過ごす", "매일 아침 커피를 마신다"):
        world.tell(other, type="episodic")
    stored = world.tell(content, type="episodic")
    _words_only(world)

    page = world.session().search(query)

    assert [row[0] for row in world.log(page)["lexical"]] == [stored.record_id]
    assert world.log(page)["dense"] == []
    # One plain Latin word never opens the gate; a word of an unspaced script does.
    assert contents(page) == ([] if query == "itgc" else [content])


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("毎朝六時に公園を走る", "公園"),
        ("أسكن في مدينة الرباط منذ سنة", "الرباط"),
        ("ฉันทำงานที่เชียงใหม่", "เชียงใหม่"),
        ("Party on Friday 🎉🎂 with naïve Zoë", "naïve"),
        ("The file שלום.txt is in ‏العربية folder", "folder שלום.txt"),
        ("Я живу в Казани с детства", "Казани"),
        ("मुझे मूंगफली से एलर्जी है", "मूंगफली"),
    ],
    ids=["japanese", "arabic", "thai", "emoji", "mixed-direction", "cyrillic", "devanagari"],
)
def test_every_script_is_kept_verbatim_and_found_by_an_exact_word(world, content, word):
    """B46: with the configuration that ships, nothing is lost or altered."""
    world.tell("Something else in plain English", type="episodic")
    world.tell(content, type="episodic")
    _words_only(world)

    page = world.session().search(word)

    (found,) = [candidate.record_id for candidate in world.pool(page)]
    assert world.record(found).content == content


@pytest.mark.parametrize(
    ("query", "content"),
    [
        ("gpt-4o", "The bot runs on gpt-4o now"),
        ("status: done", "The status of the task is done"),
        ('say "hi', "They say hi to everybody"),
        ("foo AND", "The foo module was renamed"),
        ("(draft", "The draft is in the drawer"),
        ("what's the plan?", "The plan is to sail north"),
        ("*", None),
        ("x" * 10_000, None),
    ],
    ids=["hyphen", "colon", "quote", "operator", "bracket", "contraction", "star", "10k"],
)
def test_plain_text_is_never_query_syntax(world, query, content):
    """B47: asserted on the lexical generator."""
    stored = world.tell(content or "Nothing of the kind", type="episodic")

    log = world.log(world.session().search(query))

    expected = [] if content is None else [stored.record_id]
    assert [row[0] for row in log["lexical"]] == expected


@pytest.mark.parametrize("query", ["", "   ", "\u3000"])
def test_blank_query_is_an_error_that_says_so(world, query):
    """B47: an empty search is a mistake of the caller, not an empty store."""
    with pytest.raises(InvalidInput, match="queries"):
        world.session().search(query)


def _open_wider(world, **options):
    wide = FakeEmbedder(dims=768, name="other/embedder")
    overrides = Overrides(embedder=wide, judge=world.judge, clock=world.clock)
    return Retold.open(world.path, config=world.config, overrides=overrides, **options)


@pytest.fixture
def narrow(world):
    """A store with vectors of 384 numbers and a record that words and names can find."""
    world.tell("Zoe plays the zither", type="episodic")
    return world


def test_other_embedding_is_refused_at_open_with_both_names(narrow):
    """B49: the error names both models and sizes, and says what to do."""
    with pytest.raises(EmbeddingProfileMismatch) as refused:
        _open_wider(narrow)

    for part in (
        narrow.embedder.name,
        "384",
        "other/embedder",
        "768",
        "pass the embedder",
        "re-embed",
    ):
        assert part in str(refused.value)


def test_words_and_names_still_find_under_another_embedding_and_say_so(narrow):
    """B49 B50: an answer without its dense channel carries the reason."""
    with _open_wider(narrow, on_embedding_mismatch="lexical") as retold:
        session = retold.session("ana", agent_id="helper")
        found, nothing = session.search("Zoe zither"), session.search("harbour")

        assert contents(found) == ["Zoe plays the zither"]
        for page in (found, nothing):
            (reason,) = page.degraded
            assert reason.startswith("dense")
        assert "dense" in nothing.empty_reason
        with pytest.raises(EmbeddingProfileMismatch):
            session.remember("Zoe sings", source_kind="agent_inference", type="episodic")


@pytest.mark.parametrize("fault", ["nan", "zero", "size", "rows"])
def test_useless_vector_is_refused_on_write_with_nothing_stored(world, fault):
    """B51: a vector that says nothing never reaches the store."""
    session = world.session()
    world.embedder.spoil(fault, on="documents")
    before = world.row_counts()

    with pytest.raises(EmbeddingError):
        session.remember("Zoe plays the zither", evidence="Zoe plays the zither.", type="episodic")

    assert world.row_counts() == before


@pytest.mark.parametrize("fault", ["nan", "zero", "size", "rows"])
def test_useless_query_vector_leaves_words_and_names_and_says_so(narrow, fault):
    """B51: the search goes on without the dense channel."""
    narrow.embedder.spoil(fault, on="queries")

    page = narrow.session().search("Zoe zither")

    assert contents(page) == ["Zoe plays the zither"]
    assert page.degraded
    assert page.degraded[0].startswith("dense")


class ConstantEmbedder(FakeEmbedder):
    """An embedder for which all texts are one."""

    def _direction(self, text):
        return super()._direction("one and the same")


def test_equal_vectors_do_not_silence_the_words(make_world):
    """B51: with a broken model the record that holds the words still comes first."""
    world = make_world(embedder=ConstantEmbedder())
    for content in ("A quiet evening", "Zoe plays the zither", "A loud morning"):
        world.tell(content, type="episodic")

    page = world.session().search("Zoe zither")

    assert contents(page)[0] == "Zoe plays the zither"


@pytest.mark.parametrize("query", ["qzxv wplk jjtt", "chocolate cake"])
def test_nonsense_finds_nothing_and_says_how_near_it_came(world, query):
    """B59: 400 records of operations hold no cake."""
    world.host.grant("helper", ANA)
    facts = [f"Server {n} in rack {n % 7} runs build {n * 13} of the proxy" for n in range(400)]
    list(world.host.write_many(ANA, facts, dedup=False))

    page = world.session().search(query)

    assert not page
    assert page.empty_reason.startswith("nothing above the gate")
    assert "best rejected" in page.empty_reason


def test_two_exact_words_open_the_gate(world):
    """B60: agreement of words suffices where the cosine is too low."""
    content, query = "Proton bridge imap credentials are in the vault", "proton bridge"
    world.embedder.similar(content, query, 0.30)
    world.tell(content, attribute="credentials")

    page = world.session().search(query)

    assert contents(page) == [content]
    assert "lexical: 2/2" in page.items[0].explanation.gate


@pytest.mark.parametrize("content", ["", "   ", "\n", [], None, b"bytes"], ids=repr)
def test_write_of_nothing_is_an_error_and_stores_nothing(world, content):
    """B64: there is no success without a record."""
    session = world.session()
    before = world.row_counts()

    with pytest.raises(InvalidInput):
        session.remember(content, source_kind="agent_inference")

    assert world.row_counts() == before


def test_write_to_a_read_only_store_is_an_error(world):
    """B64: reading goes on, writing says why not."""
    world.tell("Zoe plays the zither", type="episodic")
    overrides = Overrides(embedder=world.embedder, judge=world.judge, clock=world.clock)
    retold = Retold.open(world.path, config=world.config, overrides=overrides, read_only=True)

    with retold:
        session = retold.session("ana", agent_id="helper")
        assert contents(session.search("Zoe zither")) == ["Zoe plays the zither"]
        with pytest.raises(StoreUnavailable, match="read-only"):
            session.remember("Zoe sings", source_kind="agent_inference", type="episodic")


def test_written_record_is_read_back_at_once(world):
    """B64: the answer of a write is an id that ``get`` knows."""
    session = world.session()

    result = session.remember("Zoe sings", source_kind="agent_inference", type="episodic")

    assert session.get(result.record_id).found[0].content == "Zoe sings"


def test_page_limits_are_validated_and_the_second_page_is_the_rest(world):
    """B68: 25 records come as 20 and 5; past the end there is nothing."""
    for number in range(25):
        world.tell(f"Harbour log entry {number}", type="episodic")
    session = world.session()

    first = session.list(limit=20)
    second = session.list(limit=20, after=first.next_after)

    assert (len(first.records), len(second.records), second.next_after) == (20, 5, None)
    assert len({record.id for record in first.records + second.records}) == 25
    assert session.list(after=second.records[-1].id).records == ()
    for limit in (0, -1, 10**9, True, 2.5):
        with pytest.raises(InvalidInput, match="limit"):
            session.list(limit=limit)
    for k in (0, -1, 2.5, True):
        with pytest.raises(InvalidInput, match="k"):
            session.search("harbour log", k=k)


def test_vector_search_equals_brute_force_on_clustered_vectors(world):
    """B70: 2,000 texts in 20 clusters, 100 of them asked for word by word."""
    texts = [
        f"cluster {n % 20} common words of topic {n % 20} item {n} mark{n}" for n in range(2000)
    ]
    world.host.grant("helper", ANA)
    stored = list(world.host.write_many(ANA, texts, dedup=False))
    matrix = world.embedder.embed_documents(texts)
    session = world.session()

    hits = 0
    for n in range(0, 2000, 20):
        log = world.log(session.search(texts[n], k=1))
        record_id, rank, cosine = log["dense"][0]
        best = int(np.argmax(matrix @ world.embedder.embed_queries([texts[n]])[0]))
        assert rank == 1
        assert cosine == pytest.approx(1.0, abs=1e-5)
        hits += record_id == stored[best].record_id

    assert hits == 100


PRELUDE = """
import sys
from retold.testing import MemoryLab
lab = MemoryLab.open(sys.argv[1])
session = lab.session(sys.argv[2], agent=sys.argv[3], session_id=sys.argv[4])
"""


def _start(path, body, who=("ana", "helper", "chat"), prelude=PRELUDE):
    """Run code in another process, with a session of (user, agent, session id) at hand."""
    code = prelude + textwrap.dedent(body)
    return WarmPopen(
        [sys.executable, "-c", code, str(path), *who],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


REVISER = """
result = session.remember("Counter is at 0", source_kind="agent_inference", attribute="counter")
record_id = result.record_id
for number in range(1, 10_000):
    print(record_id, flush=True)
    record_id = session.revise(
        record_id, "supersede", reason="next", content=f"Counter is at {number}",
        source_kind="agent_inference",
    ).record_id
"""


@pytest.mark.parametrize("acknowledged", [5, 12, 31])
def test_killed_revision_leaves_the_old_or_the_new_version(tmp_path, make_world, acknowledged):
    """B73: one active version, linked to all before it, whenever the process dies."""
    path = tmp_path / "killed.sqlite"
    process = _start(path, REVISER)
    seen = [process.stdout.readline().strip() for _ in range(acknowledged)]
    process.kill()
    # Not communicate: it would not see the lines that the last readline took along.
    rest = process.stdout.read().split()
    process.communicate()

    world = make_world()
    retold = world.lab.open(path).retold
    session = retold.session("ana", agent_id="helper")

    (active,) = session.list().records
    versions = session.history(active.id)
    last = [one for one in (*seen, *rest) if len(one) == 36][-1]
    assert last in {active.id, active.supersedes_id}
    assert [one.content for one in versions] == [f"Counter is at {n}" for n in range(len(versions))]
    retold.close()


TALKER = """
for number in range(20):
    session.turn("user", f"{sys.argv[2]} says line {number} here")
    session.remember(
        f"{sys.argv[2]} said line {number}", type="episodic",
        evidence=f"{sys.argv[2]} says line {number} here",
    )
print("done")
"""


def test_two_processes_keep_their_sessions_apart_on_one_file(world):
    """B90: two crews with one session id; nobody waits in vain and no row is mixed up."""
    # The lab's own ids count from one in every process, so these take the product's.
    prelude = PRELUDE.replace(
        "MemoryLab.open(sys.argv[1])",
        "MemoryLab.open(sys.argv[1], id_source=__import__('retold.util').util.new_id)",
    )
    crews = [("ana", "red"), ("bob", "blue")]
    processes = [_start(world.path, TALKER, (*crew, "shared-id"), prelude) for crew in crews]

    for process in processes:
        out, err = process.communicate(timeout=120)
        assert (out.strip(), process.returncode) == ("done", 0), err

    for user, agent in crews:
        session = world.session(user, agent, session_id="shared-id")
        found = {record.content for record in session.list(limit=100).records}
        assert found == {f"{user} said line {number}" for number in range(20)}
        with world.retold.store.read() as tx:
            stored = tx.sessions.latest(agent, user, "shared-id")
            turns = [turn.content for turn in tx.sessions.turns(stored.conversation_id)]
        assert turns == [f"{user} says line {number} here" for number in range(20)]


WITHOUT_SQLITE3 = """
import sys
sys.modules["sqlite3"] = sys.modules["_sqlite3"] = None
"""

NO_SOCKETS = """
import sys
touched = []
sys.addaudithook(lambda event, args: touched.append(event) if event.startswith("socket.") else None)
"""

WRITE_AND_FIND = """
session.remember("Zoe plays the zither", evidence="Zoe plays the zither, I think.", about="Zoe")
print(len(session.search("Zoe zither")), *globals().get("touched", ()))
"""


@pytest.mark.parametrize("before", [WITHOUT_SQLITE3, NO_SOCKETS], ids=["sqlite3", "sockets"])
def test_write_needs_neither_the_standard_sqlite_nor_a_socket(tmp_path, before):
    """B84 B86: apsw brings its own SQLite, and no part of a write looks for a network."""
    path = tmp_path / "memory.sqlite"

    process = _start(path, WRITE_AND_FIND, prelude=before + PRELUDE)
    out, err = process.communicate(timeout=60)

    assert (out.split(), process.returncode) == (["1"], 0), err


def test_file_of_the_first_release_migrates_and_finds_what_it_found(tmp_path, make_world):
    """B83: opened by this release, refused until migrated, and every record is found again."""
    path = tmp_path / "old.sqlite"
    lab = make_world().lab
    old = Version1File(path)
    old.entity("e-ana", "ana", "ana")
    facts = {f"r-{n}": f"Ana keeps item{n} in box{n}" for n in range(12)}
    vectors = lab.embedder.embed_documents(list(facts.values()))
    for (record_id, content), vector in zip(facts.items(), vectors, strict=True):
        old.record(record_id, content, subject=f"e-ana/{record_id.replace('-', '_')}")
        old.link(record_id, "e-ana")
        old.insert(
            "embeddings",
            record_id=record_id,
            model=lab.embedder.name,
            version=lab.embedder.version,
            dims=lab.embedder.dims,
            vector=vector.tobytes(),
        )
    old.insert("grants", agent_id="helper", scope_kind="user", scope_id="ana", can_write=1)
    old.close()
    overrides = Overrides(embedder=lab.embedder, judge=lab.judge, clock=lab.clock)

    with Retold.open(path, config=lab.config, overrides=overrides, migrate=True) as retold:
        session = retold.session("ana", agent_id="helper")
        found = {
            record_id: session.search(f"item{record_id[2:]}", k=1).items[0].record.id
            for record_id in facts
        }
        listed = {record.id for record in session.list(limit=100).records}

    assert found == {record_id: record_id for record_id in facts}
    assert listed == set(facts)

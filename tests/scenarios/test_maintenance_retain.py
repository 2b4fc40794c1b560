"""``retain`` takes away what is old, leaves no byte of it, and touches nothing that is needed."""

import apsw
import pytest

from retold import Retold
from retold.config import RetoldConfig, parse_config, profile_config
from retold.operations.maintenance.checkpoint import save_store
from retold.operations.maintenance.pace import MOST_BYTES
from retold.operations.maintenance.retain import Removed, preview_retain, retain
from retold.runtime import Overrides, build_runtime
from retold.store.codec import to_text
from retold.testing import FakeClock, FakeEmbedder, FakeJudge
from tests.maintenance_support import (
    CFG,
    LONG_AGO,
    RECENTLY,
    TODAY,
    Clock,
    StoreWithOthers,
    at_once,
    dump,
    event,
    full_store,
    open_at,
    search,
    session,
    steady,
)
from tests.store_support import problems, remember

OLD = ("oldturn", "oldcandidate", "oldsearch", "olddecision", "oldreason")
KEPT = (
    "keptfresh",
    "keptcandidate",
    "keptwaiting",
    "keptsearch",
    "keptdecision",
    "keptreason",
    "keptrecord",
    "keptquote",
)


@pytest.fixture
def path(tmp_path):
    full_store(tmp_path / "memory.db")
    return tmp_path / "memory.db"


def words_in(path, words):
    """Return those of the words that the file or its log holds anywhere, in any table or none."""
    files = [path, path.with_name(f"{path.name}-wal")]
    content = b"".join(file.read_bytes() for file in files if file.exists())
    return [word for word in words if word.encode() in content]


def test_old_words_go_and_leave_no_byte_while_the_store_is_open(path):
    """Without ``overwrite_deleted`` in prepare_writer, or without the checkpoint, it fails."""
    assert words_in(path, OLD) == list(OLD)
    with open_at(path, Clock()) as store:
        outcome = retain(store, CFG, actor="ops", pace=at_once())
        left = words_in(path, OLD)

    assert left == []
    assert outcome.log.emptied
    assert words_in(path, KEPT) == list(KEPT)
    # The events of the records and of the waiting sessions are as old: their payloads go too.
    assert outcome.removed == Removed(
        turns=9, rejections=3, searches=3, decisions=3, payloads=outcome.removed.payloads
    )
    assert outcome.waiting_sessions == 1
    assert problems(path) == []


def test_rows_stay_where_something_points_to_them(path):
    """A turn, an event: blanked, numbered and keyed as before; the logs' rows are gone."""
    with open_at(path, Clock()) as store:
        before = dump(store)
        retain(store, CFG, actor="ops", pace=at_once())
        after = dump(store)
        with store.read() as tx:
            turns = list(
                tx.run(
                    "select turn, role, external_key, content, blanked_at from session_turns"
                    " where blanked_at is not null order by session_seq, turn"
                )
            )

    assert len(after["session_turns"]) == len(before["session_turns"])
    assert len(after["events"]) == len(before["events"]) + 1
    assert turns[0] == (1, "user", "old 0 0", "", TODAY.isoformat(timespec="microseconds"))
    for table in ("records", "record_evidence", "embeddings", "sessions", "entities", "grants"):
        assert after[table] == before[table], table


def test_chain_of_events_stays_whole_and_one_event_says_what_went(path):
    """Deleting events, or blanking their digests, makes it fail."""
    with open_at(path, Clock()) as store:
        outcome = retain(store, CFG, actor="ops", pace=at_once())
        with store.read() as tx:
            broken = tx.events.verify()
            blank = list(
                tx.run("select payload, payload_salt from events where at < ?", [to_text(RECENTLY)])
            )
            (told,) = tx.events.list_by_kind("store.retained")

    assert broken is None
    assert set(blank) == {(None, b"")}
    assert told.actor == "ops"
    removed = outcome.removed
    assert {name: told.payload[name] for name in removed.__slots__} == {
        name: getattr(removed, name) for name in removed.__slots__
    }


def test_altered_payload_is_still_found_out_after_retention(path):
    with open_at(path, Clock()) as store:
        retain(store, CFG, actor="ops", pace=at_once())
        with store.write() as tx:
            tx.run("update events set kind = 'forged' where seq = 2")
        with store.read() as tx:
            assert tx.events.verify() == 2


def test_session_that_nobody_extracted_keeps_its_words_whatever_its_age(path):
    """LLD 2.6. Without ``extracted_at is not null`` it fails."""
    with open_at(path, Clock()) as store:
        outcome = retain(store, _days(0), actor="ops", pace=at_once())
        with store.read() as tx:
            kept = [
                row[0] for row in tx.run("select content from session_turns where content > ''")
            ]

    assert kept == ["keptwaiting"]
    assert outcome.waiting_sessions == 1


def extract_again(tx, name="old 1"):
    [(session_id,)] = tx.run("select id from sessions where external_id = ?", [name])
    tx.claims.rerun(session_id)
    return session_id


@pytest.mark.parametrize("reached", ["waits", "claimed", "staged", "set aside"])
def test_session_that_is_to_be_extracted_again_keeps_its_words_until_it_was(path, reached):
    """Without ``extraction_mode is not 'rerun'`` the run that was asked for finds nothing."""
    with open_at(path, Clock()) as store:
        with store.write() as tx:
            session_id = extract_again(tx)
            if reached == "claimed":
                tx.claims.take(tx.claims.require(session_id), attempts=1)
            elif reached == "staged":
                tx.claims.advance(session_id)
            elif reached == "set aside":
                tx.claims.bury(session_id, "invalid_completion")
        retain(store, CFG, actor="ops", pace=at_once())
        meanwhile = words_in(path, ["oldturn0", "oldturn1", "oldturn2", "oldcandidate1"])
        with store.write() as tx:
            tx.claims.finish(session_id)
        retain(store, CFG, actor="ops", pace=at_once())
        left = words_in(path, OLD)

    assert meanwhile == ["oldturn1", "oldcandidate1"]
    assert left == []


def test_session_that_is_asked_for_again_while_the_job_runs_keeps_its_words(path):
    """Without the second look of ``blank_turns`` and ``delete_rejections`` it fails."""

    def ask():
        with other.write() as tx:
            extract_again(tx)

    with open_at(path, Clock()) as other, StoreWithOthers.between(path, ask) as store:
        retain(store, CFG, actor="ops", pace=steady(500))
        left = words_in(path, ["oldturn0", "oldturn1", "oldturn2"])
        with store.read() as tx:
            rejected = list(tx.run("select candidate from extraction_rejections"))

    assert left == ["oldturn1"]
    assert len(rejected) == 2


def test_batch_of_great_turns_is_no_greater_than_one_of_small_ones(tmp_path):
    """Without ``within_bytes`` all of them are rewritten under one lock."""
    path = tmp_path / "memory.db"
    with open_at(path, Clock(LONG_AGO)) as store, store.write() as tx:
        session(tx, "pages", ["page " * (MOST_BYTES // 8)] * 4, ended=LONG_AGO)
        for _ in range(4):
            search(tx, "x", LONG_AGO)
        tx.run("update search_log set candidates = json_array(hex(zeroblob(?)))", [MOST_BYTES // 3])
    rests = []
    with open_at(path, Clock()) as store:
        removed = retain(store, CFG, actor="ops", pace=steady(500, rests.append)).removed

    assert (removed.turns, removed.searches) == (4, 4)
    assert len(rests) == 4 + 4


def test_open_session_keeps_its_words(tmp_path):
    path = tmp_path / "memory.db"
    with open_at(path, Clock(LONG_AGO)) as store, store.write() as tx:
        open_one = session(tx, "open", ["still talking"], ended=LONG_AGO)
        tx.run("update sessions set ended_at = null where id = ?", [open_one])
    with open_at(path, Clock()) as store:
        assert retain(store, _days(0), actor="ops", pace=at_once()).removed.turns == 0


def _days(days: int) -> RetoldConfig:
    return parse_config({"sessions": {"retain_days": days}, "logs": {"retain_days": days}})


@pytest.mark.parametrize("days", [199, 200, 201])
def test_age_is_counted_from_the_end_of_the_session_to_the_day(tmp_path, days):
    """More than so many days: the moment itself is not over."""
    path = tmp_path / "memory.db"
    with open_at(path, Clock(LONG_AGO)) as store, store.write() as tx:
        session(tx, "one", ["words"], ended=LONG_AGO)
        event(tx, "reason", LONG_AGO)
    with open_at(path, Clock()) as store:
        removed = retain(store, _days(days), actor="ops", pace=at_once()).removed

    assert (removed.turns, removed.payloads) == ((1, 1) if days == 199 else (0, 0))


def test_age_beyond_every_calendar_keeps_everything(path):
    with open_at(path, Clock()) as store:
        assert not retain(store, _days(10**12), actor="ops", pace=at_once()).removed.anything


def test_preview_counts_what_would_go_and_changes_nothing(path):
    with open_at(path, Clock()) as store:
        before = dump(store)
        preview = preview_retain(store, CFG)
        assert dump(store) == before
        outcome = retain(store, CFG, actor="ops", pace=at_once())

    assert preview.dry_run
    assert preview.removed == outcome.removed
    assert preview.waiting_sessions == outcome.waiting_sessions


def test_run_without_work_leaves_no_event(path):
    with open_at(path, Clock()) as store:
        retain(store, CFG, actor="ops", pace=at_once())
        before = dump(store, "job_runs")
        retain(store, CFG, actor="ops", pace=at_once())

        assert dump(store, "job_runs") == before


def test_message_of_a_blanked_turn_is_not_recorded_again(path):
    """A host that replays its history does not bring back what was blanked."""
    with open_at(path, Clock()) as store:
        retain(store, CFG, actor="ops", pace=at_once())
        with store.write() as tx:
            (found,) = tx.run("select id from sessions where external_id = 'old 0'")
            turn = tx.sessions.append_turn(found[0], "user", "said anew", external_key="old 0 0")

        assert turn.content == ""
        assert words_in(path, ["said anew"]) == []


def test_reader_that_keeps_the_log_is_reported_and_the_next_checkpoint_empties_it(path):
    """Removed words are still in the log then; saying ``emptied`` would be a lie."""
    reader = apsw.Connection(str(path))
    with open_at(path, Clock()) as store:
        with store.write() as tx:
            remember(tx, "somebody reads")
        reader.execute("begin")
        reader.execute("select count(*) from records").fetchone()
        outcome = retain(store, CFG, actor="ops", pace=at_once())
        reader.execute("rollback")
        later = save_store(store, sleep=lambda _seconds: None)
        left = words_in(path, OLD)
    reader.close()

    assert not outcome.log.emptied
    assert outcome.log.pinned > 0
    assert (later.emptied, later.pinned) == (True, 0)
    assert left == []


def test_reader_at_the_end_of_the_log_pins_no_page_and_still_keeps_it(path):
    reader = apsw.Connection(str(path))
    with open_at(path, Clock()) as store:
        with store.write() as tx:
            remember(tx, "saved")
        reader.execute("begin")
        reader.execute("select count(*) from records").fetchone()
        saved = save_store(store, sleep=lambda _seconds: None)
    reader.close()

    assert saved.pages > 0
    assert (saved.pinned, saved.emptied) == (0, False)


def test_what_agents_see_of_their_records_is_unchanged(tmp_path):
    """Evidence, support, lineage and conflicts of live records outlive the transcript."""
    clock = FakeClock()
    overrides = Overrides(embedder=FakeEmbedder(), judge=FakeJudge(), clock=clock)
    runtime = build_runtime(
        profile_config("offline"), tmp_path / "memory.db", overrides=overrides, profile="offline"
    )
    with Retold(runtime, owns_runtime=True) as retold:
        with retold.session("ana", session_id="then") as then:
            then.turn("user", "I live in Oslo now. I like green tea very much.")
            then.remember("Lives in Oslo", evidence="I live in Oslo now.", attribute="home_city")
            then.remember("Likes green tea", evidence="I like green tea", attribute="likes")
            then.search("Oslo")
        with retold.store.write() as tx:
            tx.run("update sessions set extracted_at = ended_at")
        clock.advance(days=300)
        with retold.session("ana", session_id="today") as today:
            today.turn("user", "I moved to Lyon last week.")
            today.remember(
                "Lives in Lyon", evidence="I moved to Lyon last week.", attribute="home_city"
            )
            asked = [record.id for record in today.list(status=["confirmed", "superseded"]).records]

            def seen():
                hits = [hit.record for hit in today.search("Oslo Lyon tea")]
                return list(today.get(asked)), [today.history(one) for one in asked], hits

            before = seen()
            removed = retain(retold.store, runtime.config, actor="ops", pace=at_once()).removed
            after = seen()

    assert (removed.turns, removed.searches) == (1, 1)
    assert len(asked) == 3
    assert after == before

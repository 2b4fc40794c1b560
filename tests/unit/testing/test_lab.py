from datetime import timedelta

import pytest

from retold.errors import ConfigError, ForeignFile
from retold.testing import CountingIds, FakeEmbedder, FakeJudge, MemoryLab

SAID = "I like green tea very much."


def remember(lab, content="Likes green tea", **options):
    session = lab.session(**options)
    session.turn("user", SAID)
    return session.remember(content, evidence=SAID, attribute="likes")


@pytest.fixture
def lab():
    with MemoryLab.open() as opened:
        yield opened


def test_lab_remembers_and_finds_with_fakes_alone(lab):
    written = remember(lab)
    page = lab.session().search("green tea")

    assert [item.record.id for item in page.items] == [written.record_id]
    assert lab.embedder.documents
    assert lab.judge.supported == [(SAID, "Likes green tea", lab.judge.supported[0][2])]


def test_lab_stands_in_its_own_time(lab):
    before = lab.clock()
    lab.clock.advance(days=2)
    record_id = remember(lab).record_id

    record = lab.session().get(record_id).found[0]
    assert record.created_at == before + timedelta(days=2)
    assert record.id.startswith(CountingIds.nth(0)[:20])


def test_lab_is_on_a_real_file_that_goes_away(lab):
    assert lab.path.exists()
    lab.close()
    lab.close()
    assert not lab.path.parent.exists()


def test_lab_keeps_a_file_that_it_was_given(tmp_path):
    path = tmp_path / "memory.db"
    with MemoryLab.open(path) as lab:
        record_id = remember(lab).record_id

    with MemoryLab.open(path, id_source=CountingIds(1000)) as again:
        assert again.session().get(record_id).found


def test_lab_opened_again_sees_what_the_first_wrote_afterwards(lab):
    second = lab.reopen()
    written = remember(lab)

    assert second.store is not lab.store
    assert second.session().search("green tea").items[0].record.id == written.record_id
    second.close()
    assert lab.row_counts()["records"] == 1


def test_lab_keeps_users_apart(lab):
    remember(lab, user="ana")

    assert not lab.session("bob").search("green tea")


def test_lab_counts_the_rows_of_every_table(lab):
    empty = lab.row_counts()
    remember(lab)

    assert empty["records"] == 0
    assert lab.row_counts()["records"] == lab.row_counts()["records_fts"] == 1


def test_lab_takes_settings_and_implementations():
    judge = FakeJudge()
    settings = {"retrieval": {"default_k": 3}}
    with MemoryLab.open(settings=settings, judge=judge, embedder=FakeEmbedder(16)) as lab:
        assert lab.judge is judge
        assert lab.runtime.config.retrieval.default_k == 3
        assert lab.runtime.embedder.dims == 16


def test_lab_refuses_unknown_settings_and_overrides():
    with pytest.raises(ConfigError):
        MemoryLab.open(settings={"colour": "red"})
    with pytest.raises(TypeError):
        MemoryLab.open(colour="red")


def test_lab_that_cannot_be_opened_closes_what_it_began(tmp_path):
    path = tmp_path / "diary.txt"
    path.write_text("Dear diary, this is not a database." * 100)

    with pytest.raises(ForeignFile):
        MemoryLab.open(path)

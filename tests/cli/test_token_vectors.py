"""``retold token-vectors``."""

from tests.cli_support import retold, retold_here


def test_token_vectors_are_filled_in_once_and_dropped(store):
    first = retold("token-vectors", "--store", store, "--json")
    again = retold("token-vectors", "--store", store)
    dropped = retold("token-vectors", "--drop", "--store", store)

    assert first.code == again.code == dropped.code == 0
    assert first.document["changed"] == first.document["records"] > 0
    assert first.document["bytes"] % (384 + 4) == 0
    assert "0 records" in again.out
    assert "held       0 records, 0 B" in dropped.out


def test_token_vectors_refuse_settings_of_another_embedder(store):
    refused = retold("token-vectors", "--store", store, "--profile", "standard")

    assert refused.code != 0
    assert "pass --profile offline" in refused.err


def test_status_says_how_many_records_lack_token_vectors_where_searches_rank_by_them(store):
    settings = store.with_name("on.yaml")
    settings.write_text("retrieval: {late_interaction: {enabled: true}}\n")
    on = ("--store", store, "--config", settings)

    off = retold_here("status", "--store", store)
    before = retold_here("status", *on)
    filled = retold_here("token-vectors", *on)
    after = retold_here("status", *on, "--json")
    dropped = retold_here("token-vectors", "--drop", *on)
    again = retold_here("token-vectors", "--drop", "--store", store)

    assert (before.code, filled.code, dropped.code) == (0, 0, 0), before.err + filled.err
    assert "token" not in off.out
    assert "4 records without token vectors" in before.out
    assert "`retold token-vectors`" in before.out
    assert after.document["single_words"] == {"enabled": True, "missing": 0}
    assert "records written from now on get token vectors again" in dropped.err
    assert again.err == ""

"""``retold token-vectors``."""

from tests.cli_support import retold


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

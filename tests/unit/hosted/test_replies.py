import pytest

from retold.hosted.replies import MOST_TOKENS, count


@pytest.mark.parametrize(
    ("reported", "counted"),
    [(7, 7), (0, 0), (-7, 0), (True, 0), (7.5, 0), ("7", 0), (None, 0), (10**30, MOST_TOKENS)],
)
def test_tokens_are_counted_as_reported_within_what_a_store_can_add_up(reported, counted):
    assert count({"tokens": reported}, "tokens") == counted
    assert count({}, "tokens") == 0

from hypothesis import given
from hypothesis import strategies as st

from retold.ingest.extraction.batches import batches_of


@given(st.lists(st.integers(0, 50)), st.integers(1, 100))
def test_batches_hold_every_item_once_in_order_and_keep_to_the_limit(costs, limit):
    items = list(enumerate(costs))

    batches = batches_of(items, lambda item: item[1], max_tokens=limit)

    assert [item for batch in batches for item in batch] == items
    assert all(batch for batch in batches)
    assert all(sum(cost for _, cost in batch) <= limit or len(batch) == 1 for batch in batches)


def test_what_fits_is_one_batch():
    assert batches_of("abc", lambda _: 10, max_tokens=30) == (("a", "b", "c"),)
    assert batches_of("abc", lambda _: 10, max_tokens=29) == (("a", "b"), ("c",))
    assert batches_of("", lambda _: 10, max_tokens=29) == ()

"""Groups of near-identical candidates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.retrieve.duplicates import Twin, group_duplicates, possible_twins
from retold.text.substance import same_words, substance_of
from tests.unit.retrieve.pool import candidate
from tests.unit.retrieve.test_dedup import cosines


def groups(*contents, cosine=0.99, subjects=None, **options):
    """Return the sizes of the groups that the contents form, the first ranked first."""
    pool = [candidate(seq) for seq in range(1, len(contents) + 1)]
    subjects = subjects or [None] * len(contents)
    twins = {
        one.seq: Twin(content, subject)
        for one, content, subject in zip(pool, contents, subjects, strict=True)
    }
    near = cosines(len(pool), rest=cosine)
    return [one.group_size for one in group_duplicates(pool, near, twins, 0.97, **options).kept]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user likes hiking on weekends.", "The user enjoys hiking at weekends."),
        ("Ana's favourite tea is green.", "Ana’s favourite tea is green"),
        ("User works at Acme", "The user works at Acme."),
        ("用户喜欢绿茶。", "用户喜欢绿茶"),
    ],
)
def test_two_ways_to_say_the_same_are_one_group(one, other):
    assert groups(one, other) == [2]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Paid 30 euros for lunch", "Paid 40 euros for lunch"),
        ("Has three cats", "Has four cats"),
        ("Has cats", "Has two cats"),
        ("Anna plays the violin", "Hanna plays the violin"),
        ("Ana lent Bob a bike", "Bob lent Ana a bike"),
        ("Met the team on Monday", "Met the team on Tuesday"),
        ("Uses version 1.2 of it", "Uses version 1.3 of it"),
        ("Knows C", "Knows C++"),
        ("Likes tea", "Does not like tea"),
        ("Likes tea", "Doesn't like tea"),
        ("Moved from the sea", "Moved to the sea"),
        ("Works as a nurse", "Worked as a nurse, and was tired"),
        ("李明喜欢绿茶", "王明喜欢绿茶"),
        ("ครูชอบชา", "หมอชอบชา"),
    ],
)
def test_another_number_name_or_sign_is_never_one_group(one, other):
    assert groups(one, other, cosine=1.0) == [1, 1]


def test_what_is_equal_but_for_case_and_space_is_one_group_without_any_vector():
    assert groups("Likes  GREEN tea\n", "likes green tea", "Likes green teas", cosine=math.nan) == [
        2,
        1,
    ]


def test_the_first_ranked_stands_for_its_group_and_says_for_how_many():
    pool = [candidate(seq) for seq in (4, 2, 3, 1)]
    twins = {one.seq: Twin("Likes tea") for one in pool}

    outcome = group_duplicates(pool, cosines(4, (0, 2, 0.98), (1, 3, 0.98)), twins, 0.97)
    kept = [(one.seq, one.group_size) for one in outcome.kept]

    assert kept == [(4, 4)]  # equal words join whatever their vectors say
    assert [one.dropped.seq for one in outcome.dropped] == [2, 3, 1]


def test_history_conflicts_and_other_subjects_stay_apart():
    pool = [candidate(1), candidate(2, status="superseded"), candidate(3), candidate(4)]
    twins = {one.seq: Twin("Likes tea", "ana" if one.seq < 4 else "bob") for one in pool}

    outcome = group_duplicates(pool, cosines(4, rest=1.0), twins, 0.97, apart={(3, 1)})

    assert outcome.dropped == ()


def test_only_what_is_near_or_equal_in_words_is_read():
    pool = [candidate(seq) for seq in range(1, 6)]
    near = cosines(5, (0, 1, 0.97), (2, 3, 0.96))

    assert possible_twins(pool, near, {3: "a", 5: "a", 4: "b"}, 0.97) == [1, 2, 3, 5]


WORDS = st.lists(st.sampled_from("ana Ana likes Likes tea 3 4 not".split()), max_size=4)


@given(st.lists(WORDS.map(" ".join), min_size=1, max_size=8), st.floats(0.9, 1.0))
def test_groups_partition_the_candidates_and_share_their_substance(contents, cosine):
    pool = [candidate(seq) for seq in range(1, len(contents) + 1)]
    twins = {one.seq: Twin(content) for one, content in zip(pool, contents, strict=True)}
    near = np.full((len(pool), len(pool)), cosine, dtype=np.float32)

    outcome = group_duplicates(pool, near, twins, 0.97)

    assert sum(one.group_size for one in outcome.kept) == len(pool)
    assert [one.seq for one in outcome.kept] == sorted(one.seq for one in outcome.kept)
    for pair in outcome.dropped:
        one, other = (twins[side.seq].content for side in (pair.dropped, pair.kept))
        assert same_words(one, other) or (
            cosine >= 0.97 and substance_of(one) == substance_of(other)
        )

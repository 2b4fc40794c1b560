"""What it changes that a request names somebody or something the store knows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from retold.index.bm25 import EligibleWords, Phrase
from retold.index.columns import Eligible
from retold.models import Entity
from retold.store import Transaction
from retold.store.candidates import CandidateRepository
from retold.text import normalize_alias, prepare_fts
from retold.text.stopwords import ENGLISH_STOP_WORDS

MAX_OTHER_NAMES: Final = 8
"""Further names looked for beside those that a query uses; somebody rarely has more."""


def about_named(
    tx: Transaction,
    words: EligibleWords,
    eligible: Eligible,
    names: Iterable[str],
    scope_codes: Collection[int],
) -> Eligible:
    """Return the eligible rows that have to do with any of the names: linked to it or holding it.

    ``words`` are those of ``eligible``; only entities of the given scopes are looked up. A name
    that leads to no eligible record is left aside, and when none does everything stays eligible: a
    model names whom it likes, and an unknown name must not hide what is known.
    """
    norms = [norm for name in names if (norm := normalize_alias(name))]
    found = tx.entities.by_alias(norms, scope_codes) if norms else {}
    ids = [entity.id for entities in found.values() for entity in entities]
    keys = list(CandidateRepository(tx).linked(ids).values()) if ids else []
    seqs = eligible.seqs()
    for norm in norms:
        phrase = _phrase(tx, norm)
        if phrase:
            keys.append(seqs[words.scores_of((phrase,), seqs) > 0.0])
    narrowed = eligible.narrowed(np.concatenate(keys)) if keys else eligible
    return narrowed if narrowed.count else eligible


def other_names(found: Mapping[str, Sequence[Entity]]) -> tuple[str, ...]:
    """Return further names of the entities that a query names, at most ``MAX_OTHER_NAMES``.

    ``found`` is what the names used led to. The names of one entity come together, in order.
    """
    names = dict.fromkeys(
        alias
        for entities in found.values()
        for entity in entities
        for alias in entity.aliases
        if alias not in found
    )
    return tuple(names)[:MAX_OTHER_NAMES]


def name_phrases(tx: Transaction, names: Iterable[str]) -> tuple[Phrase, ...]:
    """Return the names as phrases of the lexical index, without those that say nothing."""
    wanted = (_phrase(tx, name) for name in names if name not in ENGLISH_STOP_WORDS)
    return tuple(dict.fromkeys(phrase for phrase in wanted if phrase))


def _phrase(tx: Transaction, name: str) -> Phrase:
    return tuple(tx.lexical.tokens(prepare_fts(name)))

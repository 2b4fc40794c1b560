"""Query terms of the lexical channel: what is searched, what counts as found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Final, NamedTuple

from retold.models import LexicalMatch, LexicalTerm
from retold.retrieve.stretches import (
    RunStretches,
    Tokenize,
    covered,
    run_phrase,
    run_tokens,
    stretches_of,
)
from retold.retrieve.words import (
    Run,
    Word,
    fold_contraction,
    split_query,
    split_scripts,
    strip_punctuation,
)
from retold.text import normalize_alias
from retold.text.prepare import clean, is_alphabetic, spell
from retold.text.scripts import UNSPACED_RUN, clusters, script_of
from retold.text.stopwords import ENGLISH_STOP_WORDS
from retold.text.token_text import token_text

MAX_TERMS: Final = 64
"""Terms of one query. FTS5 reads a whole posting list per term, so a pasted page would cost
seconds, and its expression parser refuses deep trees; a question rarely has more than 20."""

MAX_TERM_CHARS: Final = 300
"""Characters of one term. Longer ones are encoded data rather than words; the longest paths and
addresses that people search for fit."""

MAX_ALIAS_NGRAMS: Final = 4096
"""Alias candidates of one query: every n-gram of some 500 words or 370 unspaced characters."""

MIN_RUN_NGRAM: Final = 2
MAX_RUN_NGRAM: Final = 12

MAX_STRETCHES: Final = 512
"""Stretches of one query; the runs that come after so many say nothing more."""


class QueryTerm(NamedTuple):
    """One term of a query; a tuple, because every word of a query makes one.

    ``tokens`` must stand contiguously in one field for the term to count as found. ``phrases``
    are prepared texts any of which finds a record; they are not tokens yet, because stemming a
    stem again may change it. For a term of an unspaced script, ``runs`` are the token
    sequences of the runs it comes from: found in full, they make it an identifier. ``run_texts``
    are those runs as they are read.
    """

    value: str
    tokens: tuple[str, ...]
    phrases: tuple[str, ...]
    is_identifier: bool = False
    is_unspaced: bool = False
    runs: tuple[tuple[str, ...], ...] = ()
    run_texts: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"QueryTerm(is_identifier={self.is_identifier}, is_unspaced={self.is_unspaced})"

    @property
    def alias_norm(self) -> str:
        """Return the value as ``normalize_alias`` writes it."""
        return normalize_alias(self.value)


def query_terms(query: str, tokenize: Tokenize) -> tuple[QueryTerm, ...]:
    """Return the distinct terms of a query, at most ``MAX_TERMS``, in reading order.

    Words are split at white space, then at unspaced scripts; contractions and possessives are
    reduced; stop words and single Latin letters or digits are dropped. Unspaced runs give bigrams
    of written characters, without those that consist of function words. Two terms with the same
    tokens are one. Too many terms: identifiers stay first, then the earliest. Never raises, and is
    empty when the query says nothing.
    """
    found: dict[tuple[str, ...], QueryTerm] = {}
    for part in split_query(query):
        if len(found) >= MAX_TERMS and (isinstance(part, Run) or not part.is_identifier):
            continue
        terms = _run_terms(part, tokenize) if isinstance(part, Run) else _word_terms(part, tokenize)
        for term in terms:
            known = found.get(term.tokens)
            found[term.tokens] = _merged(known, term) if known else term
    if len(found) <= MAX_TERMS:
        return tuple(found.values())
    order = list(found.values())
    kept = sorted(range(len(order)), key=lambda i: (not order[i].is_identifier, i))[:MAX_TERMS]
    return tuple(order[i] for i in sorted(kept))


def _merged(known: QueryTerm, again: QueryTerm) -> QueryTerm:
    return known._replace(
        phrases=tuple(dict.fromkeys(known.phrases + again.phrases)),
        is_identifier=known.is_identifier or again.is_identifier,
        runs=tuple(dict.fromkeys(known.runs + again.runs)),
        run_texts=tuple(dict.fromkeys(known.run_texts + again.run_texts)),
    )


def _word_terms(word: Word, tokenize: Tokenize) -> Iterator[QueryTerm]:
    text = _shortened(word.text)
    if not text or _says_too_little(text):
        return
    phrase = spell(text)
    tokens = tuple(tokenize(phrase))
    if tokens:
        value = text if word.is_identifier else text.lower()
        yield QueryTerm(value, tokens, (phrase,), is_identifier=word.is_identifier)


def _says_too_little(text: str) -> bool:
    return len(text) == 1 and (text.isdigit() or script_of(text) == "latin")


def _shortened(text: str) -> str:
    """Cut an overlong word back to its last whole part, ``""`` when it has one part only."""
    if len(text) <= MAX_TERM_CHARS:
        return text
    end = MAX_TERM_CHARS
    while end > 0 and text[end].isalnum():
        end -= 1
    return text[:end]


def _run_terms(run: Run, tokenize: Tokenize) -> Iterator[QueryTerm]:
    text = run.text[:MAX_TERM_CHARS]
    units = clusters(text)
    silent = covered(units)
    if all(silent):
        return
    runs = tuple(run_tokens(core, tokenize) for core in _cores(units, silent))
    pairs = [""] if len(units) == 1 else units[1:]
    start = 0
    for place, second in enumerate(pairs):
        first = units[place]
        if not (silent[place] and (not second or silent[place + 1])):
            value = first + second
            yield QueryTerm(
                value,
                run_tokens(value, tokenize),
                _run_phrases(text, start, first, value),
                is_unspaced=True,
                runs=runs,
                run_texts=(text,),
            )
        start += len(first)


def _run_phrases(text: str, start: int, first: str, value: str) -> tuple[str, ...]:
    """Return what finds the pair ``value`` of ``text``, whose character ``first`` is at ``start``.

    A pair of Thai characters is rarer than a bigram of letters and more common than a trigram;
    trigrams rank best, so each pair brings those that begin in its first character.
    """
    if not is_alphabetic(value):
        return (run_phrase(value),) if len(value) != MIN_RUN_NGRAM else (spell(value),)
    places = range(start, min(start + len(first), len(text) - 2))
    return tuple(spell(text[i : i + 3]) for i in places) or (run_phrase(value),)


def _cores(units: Sequence[str], silent: Sequence[bool]) -> tuple[str, ...]:
    """Return what must be found in full for a run to identify: itself, or its core.

    The core is the run without the function words at its ends. A core of one character takes a
    neighbour along, since that may be half of its word. Nothing shorter than two characters
    identifies.
    """
    inside = [place for place, is_silent in enumerate(silent) if not is_silent]
    first, last = inside[0], inside[-1] + 1
    spans = {(0, len(units)): None}
    if last - first >= MIN_RUN_NGRAM:
        spans[first, last] = None
    else:
        spans[first - 1, last] = None
        spans[first, last + 1] = None
    return tuple(
        "".join(units[start:end])
        for start, end in spans
        if start >= 0 and end <= len(units) and end - start >= MIN_RUN_NGRAM
    )


def phrases_of(terms: Iterable[QueryTerm], tokenize: Tokenize) -> tuple[tuple[str, ...], ...]:
    """Return what finds any of the terms: the tokens of every phrase, in the order of the query.

    Two phrases that are written differently count twice although their tokens are the same.
    """
    phrases = dict.fromkeys(phrase for term in terms for phrase in term.phrases)
    return tuple(tuple(tokenize(phrase)) for phrase in phrases)


class TermCoverage:
    """Which terms of one query a record holds: made once per query, asked for every record.

    ``alias_norms`` are the normalised aliases that the query named: a term is flagged when it is
    one, or belongs to one whose words were all found. With ``tokenize`` a query with unspaced
    runs is measured by its stretches as well. Records that hold the same of all it looks for
    have the same match.
    """

    __slots__ = ("_aliases", "_matches", "_needles", "_runs", "_sought", "_worth")

    def __init__(
        self,
        terms: Sequence[QueryTerm],
        alias_norms: Collection[str] = (),
        tokenize: Tokenize | None = None,
    ) -> None:
        self._sought = [
            (term, token_text(term.tokens), tuple(map(token_text, term.runs))) for term in terms
        ]
        self._aliases = [frozenset(_alias_words(alias)) for alias in alias_norms]
        self._runs = () if tokenize is None else tuple(_stretches(terms, tokenize))
        spaced = sum(not term.is_unspaced for term in terms)
        self._worth = spaced + sum(run.worth for run in self._runs)
        needles = {needle for _, own, runs in self._sought for needle in (own, *runs)}
        self._needles = needles.union(needle for run in self._runs for needle, _ in run.needles)
        self._matches: dict[frozenset[str], LexicalMatch] = {}

    def of(self, record: str) -> LexicalMatch:
        """Return the terms whose tokens stand contiguously in one field of the record.

        ``record`` is the ``fields_text`` of its indexed fields. ``total_terms`` counts the
        query's terms, found or not; ``share`` is None for a query that was not measured by
        stretches, and counts a word of a spaced script as one.
        """
        held = frozenset(filter(record.__contains__, self._needles))
        match = self._matches.get(held)
        if match is None:
            match = self._matches[held] = self._match(held)
        return match

    def _match(self, held: Collection[str]) -> LexicalMatch:
        found = [(term, runs) for term, needle, runs in self._sought if needle in held]
        aliases = self._named([term for term, _ in found]) if self._aliases else frozenset[str]()
        matched = tuple(
            LexicalTerm(
                term.value,
                term.is_identifier or any(run in held for run in runs),
                bool(aliases) and term.alias_norm in aliases,
            )
            for term, runs in found
        )
        share = self._share(held, [term for term, _ in found]) if self._runs else None
        return LexicalMatch(matched, len(self._sought), share)

    def _share(self, held: Collection[str], found: Iterable[QueryTerm]) -> float:
        said = sum(not term.is_unspaced for term in found)
        return (said + sum(run.found_in(held) for run in self._runs)) / self._worth

    def _named(self, found: Iterable[QueryTerm]) -> frozenset[str]:
        norms = {term.alias_norm for term in found}
        return frozenset().union(*(words for words in self._aliases if words <= norms))


def _stretches(terms: Sequence[QueryTerm], tokenize: Tokenize) -> Iterator[RunStretches]:
    count = 0
    for text in dict.fromkeys(text for term in terms for text in term.run_texts):
        if count >= MAX_STRETCHES:
            return
        run = stretches_of(text, tokenize)
        count += len(run.needles)
        yield run


def _alias_words(alias: str) -> set[str]:
    """Return the values of the terms that a query naming the alias has; never empty."""
    words: set[str] = set()
    for piece in split_scripts(alias):
        if UNSPACED_RUN.match(piece):
            units = clusters(piece)
            words |= {first + second for first, second in pairwise(units)} or {piece}
        else:
            words |= set(map(strip_punctuation, piece.split()))
    return words - ENGLISH_STOP_WORDS - {""} or {alias}


def alias_ngrams(query: str, max_alias_tokens: int) -> tuple[str, ...]:
    """Return every stretch of a query that could be an alias, as ``normalize_alias`` writes it.

    Stretches of 1 to ``max_alias_tokens`` words, as written, without punctuation around them, and
    without a possessive or contraction at the end. Within a word of an unspaced script, stretches
    of 2 to 12 written characters, a Latin or numeric part counting as one. Distinct, at most
    ``MAX_ALIAS_NGRAMS``, the longest first, equals in reading order.
    """
    distinct = dict.fromkeys(islice(_alias_candidates(query, max_alias_tokens), MAX_ALIAS_NGRAMS))
    distinct.pop("", None)
    return tuple(sorted(distinct, key=len, reverse=True))


def _alias_candidates(query: str, max_alias_tokens: int) -> Iterator[str]:
    words = [norm for norm in map(normalize_alias, clean(query).split()) if norm]
    for start, word in enumerate(words):
        for end in range(start + 1, min(start + max_alias_tokens, len(words)) + 1):
            yield from _alias_spellings(" ".join(words[start:end]))
        if not word.isascii() and UNSPACED_RUN.search(word):
            yield from _unspaced_alias_candidates(word)


def _alias_spellings(stretch: str) -> tuple[str, str, str]:
    bare = strip_punctuation(stretch)
    return stretch, bare, fold_contraction(bare)


def _unspaced_alias_candidates(word: str) -> Iterator[str]:
    units: list[str] = []
    for piece in split_scripts(word):
        if UNSPACED_RUN.match(piece):
            units.extend(clusters(piece))
        else:
            yield from _alias_spellings(piece)
            units.append(piece)
    for start in range(len(units)):
        longest = min(MAX_RUN_NGRAM, len(units) - start)
        for length in range(MIN_RUN_NGRAM, longest + 1):
            yield "".join(units[start : start + length])

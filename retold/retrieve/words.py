"""How a query falls apart into words, before any tokenizer sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from retold.text.prepare import clean
from retold.text.scripts import UNSPACED_RUN
from retold.text.stopwords import (
    ACRONYM_HOMOGRAPHS,
    ENGLISH_STOP_WORDS,
    NAME_HOMOGRAPHS,
)

# What ends a word even without a space around it; a comma between digits does not.
_SEPARATORS: Final = re.compile(r'[;()\[\]{}"<>|!?]|\.{2,}|--+|(?<!\d),|,(?!\d)')
_IRREGULAR_CONTRACTIONS: Final = {"can't": "can", "won't": "will", "shan't": "shall", "ain't": "is"}
_CONTRACTION: Final = re.compile(r"(?:n't|'(?:s|m|re|ve|ll|d))$", re.IGNORECASE)
_ABBREVIATION: Final = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?")
_IDENTIFYING: Final = re.compile(r"[\d_./]")
_NO_WORD_CHARACTER: Final = re.compile(r"\W")
_SENTENCE_ENDS: Final = (".", "!", "?", ":")


class Word(NamedTuple):
    """A word of a spaced script or symbols, cleaned and without punctuation around it."""

    text: str
    is_identifier: bool

    def __repr__(self) -> str:
        return f"Word(is_identifier={self.is_identifier})"


class Run(NamedTuple):
    """A run of one family of unspaced scripts."""

    text: str

    def __repr__(self) -> str:
        return "Run()"


def split_query(query: str) -> Iterator[Word | Run]:
    """Yield the words and unspaced runs of a query in reading order, without stop words.

    Works on any string.
    """
    cleaned = clean(query)
    shouts = cleaned.upper() == cleaned
    inside_sentence = False
    for raw in cleaned.split():
        for piece in split_scripts(raw):
            if UNSPACED_RUN.match(piece):
                yield Run(piece)
                continue
            for bare in split_words(piece):
                text = fold_contraction(bare)
                identifier = is_identifier(text)
                as_written = text == bare and not shouts
                if identifier or not _is_stop_word(text, as_written, inside_sentence):
                    yield Word(text, identifier)
        inside_sentence = raw[0].islower() and not raw.endswith(_SENTENCE_ENDS)


def split_scripts(raw: str) -> Iterator[str]:
    """Yield the pieces of a text between which it changes to, from or among unspaced scripts."""
    end = 0
    # No unspaced script has a character in ASCII.
    for match in () if raw.isascii() else UNSPACED_RUN.finditer(raw):
        if match.start() > end:
            yield raw[end : match.start()]
        yield match.group()
        end = match.end()
    if end < len(raw):
        yield raw[end:]


def split_words(piece: str) -> Iterator[str]:
    """Yield the bare words of a piece without white space.

    Punctuation around a word goes, what belongs to names inside it stays (``deploy.yml``,
    ``.env``, ``/etc/hosts``). Two plain words around a slash are two words.
    """
    if piece.isalnum():
        yield piece
        return
    for part in _SEPARATORS.split(piece):
        word = strip_punctuation(part)
        if not word:
            continue
        if is_slash_compound(word):
            yield from word.split("/")
        else:
            yield word


def strip_punctuation(part: str) -> str:
    """Return the text without punctuation at its ends, ``""`` when it holds no word.

    Leading dots and slashes and trailing slashes stay: they belong to file names.
    """
    if part[:1].isalnum() and part[-1:].isalnum():
        return part
    start, end = 0, len(part)
    while end > start and not (_is_word_character(part[end - 1]) or part[end - 1] == "/"):
        end -= 1
    while start < end and not (_is_word_character(part[start]) or part[start] in "./"):
        start += 1
    return part[start:end] if any(map(_is_word_character, part[start:end])) else ""


def _is_word_character(char: str) -> bool:
    # In cleaned text only ASCII punctuation is still attached to words.
    return char.isalnum() or char == "_" or not char.isascii()


def is_slash_compound(word: str) -> bool:
    """Tell whether two plain words stand around one slash, as in ``and/or``."""
    parts = word.split("/")
    return len(parts) == len("ab") and all(
        part.replace("-", "").isalpha() and not _mixes_case(part) for part in parts
    )


def is_identifier(word: str) -> bool:
    """Tell whether a bare word is precise enough to identify a record alone (LLD 10.5).

    It holds a digit, an underscore, a dot or a slash, or mixes case after its first letter. A
    hyphen alone does not count, nor do the dots of an abbreviation (``e.g``, ``p.m``).
    """
    if word.isalpha():
        return _mixes_case(word)
    if _ABBREVIATION.fullmatch(word):
        return False
    if _IDENTIFYING.search(word):
        return True
    return any(_mixes_case(part) for part in _NO_WORD_CHARACTER.split(word))


def _mixes_case(part: str) -> bool:
    return part[1:] != part[1:].lower() and part != part.upper()


def fold_contraction(word: str) -> str:
    """Return the word without possessive or contraction: ``aditya's`` is ``aditya``, ``I'm`` ``I``.

    ``can't`` is ``can`` and ``won't`` ``will``. The word must carry ASCII apostrophes, as cleaned
    text does.
    """
    while "'" in word:
        shorter = _IRREGULAR_CONTRACTIONS.get(word.casefold()) or _CONTRACTION.sub("", word)
        if shorter == word or not shorter:
            break
        word = shorter
    return word


def _is_stop_word(text: str, as_written: bool, inside_sentence: bool) -> bool:
    """Tell whether a word says nothing; ``as_written`` when its capitals may tell otherwise."""
    key = text.casefold()
    if key not in ENGLISH_STOP_WORDS:
        return False
    is_name = inside_sentence and text.istitle() and key in NAME_HOMOGRAPHS
    is_acronym = text.isupper() and key in ACRONYM_HOMOGRAPHS
    return not (as_written and (is_name or is_acronym))

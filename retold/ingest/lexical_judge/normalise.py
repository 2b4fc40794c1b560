"""Text to tokens: folding, contractions, fixed phrases, stems.

The same words always give the same tokens, whatever the typography, so that the rules compare
meaning-bearing words only.  Everything here is linear in the capped length of its input.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from itertools import zip_longest
from typing import Final, NamedTuple

import Stemmer

from retold.ingest.lexical_judge import vocabulary

MAX_CHARS: Final = 4_000
"""Characters of a text that are read; a claim is one sentence, a quote one turn."""
MAX_WORD: Final = 64
"""Characters of one word that are read: longer runs are no words, and words are cached."""

_FOLDED: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b\u02bc\u00b4`\uff07", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    }
)
_TOKEN: Final = re.compile(
    r"[\w.+-]{1,64}@\w[\w.-]{0,63}\w"
    r"|[^\W\d_]\w*(?:\.\w+)+(?:/[\w.~%-]*\w)+"
    r"|[^\W\d_]\w*(?:-[^\W\d_]\w*)*-\d\w*(?:-\w+)*"
    r"|\d{4}-\d{1,2}-\d{1,2}"
    r"|\d{1,2}:\d{2}"
    r"|\d+(?:[.,/]\d+)*(?:st|nd|rd|th)\b"
    r"|\d+(?:[.,/]\d+)*"
    r"|[^\W\d_]\w*(?:\.[^\W\d_]\w*)*(?:'[^\W\d_]+)*(?:\+\+|\#)?"
    r"|[%$\u20ac\u00a3\u00a5]"
    r"|[.!?\u3002\uff01\uff1f](?=\s|$|[\"')\]])|[,;:\uff0c\uff1b\u3001]|[.!?\u3002\uff01\uff1f\n]"
)
_ABBREVIATED: Final = re.compile(
    r"\b(Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|Rev|Hon|Gen|Capt|Mt|Ft|Ave|Inc|Ltd|Co|vs|approx|etc)\."
)
"""Abbreviations whose full stop ends no sentence."""
_LETTER_DASH: Final = re.compile(r"(?<=[^\W\d_])\u2014(?=[^\W\d_])")
"""A long dash between two words without blanks; no compound is written so."""
_MOST_DASHES: Final = 64
"""Long dashes that get blanks, so that hardly anything falls off the end of a text."""
_ANSWER_DASH: Final = re.compile(
    r"(?:^|(?<=[.!?] )|(?<=\n))((?:no|nope|nah|nein|non|n\u00e3o|nee|\u043d\u0435\u0442)) -{1,3} "
    r"(?![^.!?\n]* -{1,3} )",
    re.IGNORECASE,
)
"""The only dash of a sentence, after a bare answer."""
_CONTRAST_DASH: Final = re.compile(
    r"(?:^|(?<=[.!?,] )|(?<=\n))((?:not|no)\b[^.!?;,\n-]{1,40}) -{1,3} (?![^.!?\n]* -{1,3} )"
    r"(?=(?:i|we|he|she|they|it)\b|(?:my|our|the)(?: \w+){1,3} (?:is|are|was|were|has|have)\b)",
    re.IGNORECASE,
)
"""The only dash of a sentence, after what something is not and before a clause of its own."""
_STATEMENT_DASH: Final = re.compile(
    r"(?:^|(?<=[.!?] )|(?<=\n))((?:i|we)\b[^.!?;\n]{3,120}?) -{1,3} (?![^.!?\n]* -{1,3} )"
    r"(?=(?:i|we)\b)",
    re.IGNORECASE,
)
"""The only dash of a sentence, between two clauses of the speaker."""
_BOUND: Final = re.compile(
    r"\b(?:if|unless|suppose|supposing|assuming|maybe|perhaps|possibly|as|when|once|until|sure|way"
    r"|true|nobody|told|think|thinks|believe|believes|doubt|doubts|say|says|said|claim|claims|that"
    r"|idea|yet|now|again|certain|confirmed|imagine|imagined|according|dreamt|dreamed|hope|wish"
    r"|heard|pretend|pretended)\b"
    r"|(?:\b(?:not|never|ever|to|do|does|did|am|is|are|was|were|have|has|had|can|could|will|would"
    r"|should|may|might|must)|n't|'[a-z]{1,2})$",
    re.IGNORECASE,
)
"""What holds, or may hold, for the clause behind a dash too."""
_MARKS: Final = frozenset(".!?,;:。！？，；、\n")
_AFTER_IS: Final = frozenset({"a", "an", "the", "not", "been", "already"})
_IS_AFTER: Final = frozenset("it that there here he she what who where let everything".split())
_IRREGULAR_NOT: Final = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall"}
_SUFFIXES: Final = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}

_local = threading.local()


class Token(NamedTuple):
    """One word, number or mark of a text.

    ``surface`` keeps the case of the text; ``word`` is its lower case after contractions and
    phrases; ``stem`` is the representative of its inflections and synonyms; ``owner`` says that a
    possessive ending was cut off.
    """

    surface: str
    word: str
    stem: str
    owner: bool = False

    @property
    def is_mark(self) -> bool:
        """Tell whether this is punctuation."""
        return self.word in _MARKS

    @property
    def is_number(self) -> bool:
        """Tell whether this starts with a digit."""
        return self.word[0].isdigit()


def fold(text: str) -> str:
    """Return the first `MAX_CHARS` characters in NFKC with one form of quotes, dashes, spaces.

    A dash that separates two statements becomes a comma, and the full stop of an abbreviation goes.
    Lone surrogates survive as they are: they match no word and so carry no meaning here.
    """
    spaced = _LETTER_DASH.sub(" - ", text[:MAX_CHARS], count=_MOST_DASHES)
    folded = unicodedata.normalize("NFKC", spaced.translate(_FOLDED))[:MAX_CHARS].translate(_FOLDED)
    if " -" in folded:
        folded = _ANSWER_DASH.sub(r"\1, ", folded)
        folded = _CONTRAST_DASH.sub(_comma_for_dash, folded)
        folded = _STATEMENT_DASH.sub(_comma_for_dash, folded)
    return _ABBREVIATED.sub(r"\1", folded)


def _comma_for_dash(said: re.Match[str]) -> str:
    """Return the clause before a dash with a comma where nothing in it may hold for the next."""
    return said.group() if _BOUND.search(said[1]) else f"{said[1]}, "


def collapse(text: str) -> str:
    """Return the text with every run of white space as one blank, none at the ends."""
    return " ".join(text.split())


def _stemmer(language: str) -> Stemmer.Stemmer:
    """Return this thread's stemmer: one keeps the word that it works on."""
    stemmers: dict[str, Stemmer.Stemmer] = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(language, 0)  # without a memory of its own
    return stemmers[language]


@lru_cache(maxsize=16_384)
def snowball(word: str, language: str = "english") -> str:
    """Return the Snowball stem of a lower-case word."""
    return str(_stemmer(language).stemWord(word))


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return the English stem of a lower-case word, one per inflection table and synonym group."""
    base = snowball(vocabulary.IRREGULAR.get(word, word))
    return _SYNONYMS.get(base, base)


_SYNONYMS: Final[dict[str, str]] = {}
for _line in vocabulary.SYNONYM_GROUPS:
    _head, *_others = [snowball(vocabulary.IRREGULAR.get(word, word)) for word in _line.split()]
    for _other in _others:
        _SYNONYMS.setdefault(_other, _SYNONYMS.get(_head, _head))


@lru_cache(maxsize=16_384)
def _split(surface: str) -> tuple[Token, ...]:
    """Split contractions and possessive endings off one written word."""
    word = surface.lower()
    if word in _IRREGULAR_NOT:
        return (_token(surface, _IRREGULAR_NOT[word]), _token("not", "not"))
    if word.endswith("n't") and len(word) > len("n't"):
        return (_token(surface[:-3], word[:-3]), _token("not", "not"))
    if word.endswith("'s"):
        owner = word[:-2] not in _IS_AFTER
        head = _token(surface[:-2], word[:-2], owner=owner)
        return (head,) if owner else (head, _token("is", "is"))
    for suffix, expansion in _SUFFIXES.items():
        if word.endswith(suffix) and len(word) > len(suffix):
            cut = -len(suffix)
            return (_token(surface[:cut], word[:cut]), _token(expansion, expansion))
    return (_token(surface, word),)


def plain_token(word: str) -> Token:
    """Return the token of a lower-case word that no text spelt."""
    return _token(word, word)


def _token(surface: str, word: str, *, owner: bool = False) -> Token:
    return Token(surface, word, stem(word) if word[0].isalpha() else word, owner)


def _with_phrases(tokens: list[Token]) -> list[Token]:
    """Replace fixed expressions by the plain words that mean the same."""
    out: list[Token] = []
    position = 0
    while position < len(tokens):
        taken = 0
        seconds = vocabulary.PHRASE_STARTS.get(tokens[position].word)
        following = tokens[position + 1].word if position + 1 < len(tokens) else ""
        if seconds is not None and (following in seconds or "" in seconds):
            window = tuple(t.word for t in tokens[position : position + vocabulary.LONGEST_PHRASE])
            for length in range(len(window), 0, -1):
                replacement = vocabulary.PHRASES.get(window[:length])
                if replacement is not None:
                    out.extend(_token(word, word) for word in replacement)
                    taken = length
                    break
        if not taken:
            out.append(tokens[position])
            taken = 1
        position += taken
    return out


def tokenise(text: str) -> tuple[Token, ...]:
    """Return words, numbers, currency signs, punctuation of an already folded text, in order."""
    split = [part for match in _TOKEN.finditer(text) for part in _split(match.group()[:MAX_WORD])]
    return tuple(_with_phrases(_with_is([token for token in split if token.word])))


def _with_is(tokens: list[Token]) -> list[Token]:
    """Return the tokens with "Ana's a chef" as "Ana is a chef": an article ends possession."""
    out: list[Token] = []
    for token, following in zip_longest(tokens, tokens[1:]):
        if token.owner and following is not None and following.word in _AFTER_IS:
            out.extend((token._replace(owner=False), _token("is", "is")))
        else:
            out.append(token)
    return out

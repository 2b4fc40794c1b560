"""Whether a clause instructs, states something present or tells of the past; pure.

Word forms only, no grammar: each answer is used where a wrong "no" does no harm.
"""

from __future__ import annotations

import re
from typing import Final

_IRREGULAR: Final = frozenset(
    """arose ate awoke became began bent bit bled blew bought bred broke brought built burnt came
    caught chose clung crept dealt did drank drew drove dug dreamt fed fell felt fled flew fought
    forbade forgave forgot found froze gave got grew ground had heard held hid hung kept knelt knew
    laid lain leant leapt learnt led left lent lit lost made meant met overcame paid ran rang rode
    rose said sang sank sat saw sent shook shone shot shrank slept slid sold sought spelt spent
    spoke sprang spun stank stole stood struck stuck stung swam swept swore swung taught thought
    threw told took tore understood undertook was went wept were withdrew woke won wore wound wove
    wrote been born""".split()
)
"""Past forms that are no present form as well."""

_VOWELS: Final = frozenset("aeiouy")
_PASSIVE: Final = frozenset(
    "be is are am being isn't aren't not get gets i'm we're they're".split()
)
_NOT_PAST: Final = frozenset(
    "bed red shed sled wed embed hundred sacred naked wicked kindred hatred need".split()
)
_WORDS: Final = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")

_FOREIGN_PAST: Final = re.compile(
    # French: imperfect; passé composé
    r"\b(?!fait\b|parfait\b|lait\b|souhait\b|portrait\b|extrait\b|trait\b)\w+(?:ait|aient)\b"
    r"|\b(?:ai|as|ont|est|sont|avait|était|s'est|suis)\s+\w+(?:é|ée|és|ées|i|u)\b|\ba\s+\w+é\b"
    # Spanish: preterite, imperfect, perfect
    r"|\b\w{2,}(?:ó|aba|aban)\b|\b(?!d|todav|energ|compañ)\w{2,}ía\b"
    r"|\b(?:he|ha|han|había)\s+\w+(?:ado|ido|to|cho)\b|\b(?:fue|fui|era|estuvo|tuvo|hizo)\b"
    # German: auxiliaries, weak preterite beside its subject, perfect
    r"|\b(?:war|waren|hatte|hatten|wurde|wurden)\b|\bge\w{2,}(?:t|en)\b(?=\s*[.,]?$)"
    r"|\b(?:ich|er|sie|wir|nutzer(?:in)?|benutzer(?:in)?)\s+(?!möchte|könnte|sollte|bitte|heute)"
    r"\w{2,}ten?\b(?<!eiten)(?<!orten)|\b(?!möchte|könnte|sollte|bitte|heute)\w{2,}te\s+(?:er|sie)\b"
    # Chinese, Japanese, Korean, Thai: markers of what is done
    r"|[了曾]|过(?!敏)|過(?!敏)|以前|(?:ました|だった|[いっん]た|いだ)(?:[。、]|$)"
    r"|(?:았|었|였|했|갔|왔|샀)(?:다|어|습)|เคย|แล้ว",
    re.IGNORECASE,
)

_STATE: Final = frozenset(
    """am is are i'm we're i'd they're he's she's it's isn't aren't
    want wants prefer prefers need needs like likes wish wishes would should must can can't
    cannot may live lives stay stays work works use uses keep keeps remain remains
    expect expects""".split()
)
_ACTIVITY: Final = frozenset(
    "working living staying using travelling traveling visiting learning covering".split()
)
_TWO_TENSES: Final = frozenset(
    """beat bet bid burst cast cost cut hit hurt let put quit read rid set shut slit split spread
    thrust upset""".split()
)
"""Verbs whose past looks like an instruction: "Quit smoking"."""

_SUBJECTS: Final = frozenset(
    """i i'm i'd we we're he he's she she's it it's they they're you the a an this that these those
    my our his her its their your user there who what""".split()
)
_FINITE: Final = frozenset("and or has have will does do had".split())
_LEAD_IN: Final = re.compile(
    r"^\s*(?:please,?\s+|(?:only )?(?:today|this \w+|(?:until|till|for|during) [^,]*?)[,:]\s*)+",
    re.IGNORECASE,
)
_UNPUNCTUATED: Final = re.compile(
    r"^\s*(?:until|till) (?:\d{4}-\d{2}-\d{2}|\w+)\s+|^\s*this \w+\s+", re.IGNORECASE
)


def is_past(clause: str) -> bool:
    """Return whether some word of the clause is in a past tense; a passive alone is not."""
    words = _words(clause)
    for before, word in zip(["", *words], words, strict=False):
        if before in _PASSIVE:
            continue
        if word in _IRREGULAR or (word not in _NOT_PAST and _has_past_ending(word)):
            return True
    return bool(_FOREIGN_PAST.search(clause))


def _has_past_ending(word: str) -> bool:
    """Tell "worked" from "feed" and "shed"; in one pass, since text without blanks is one word."""
    ends = word.endswith("ed") and not word.endswith("eed")
    return ends and word.isascii() and word.isalpha() and not _VOWELS.isdisjoint(word[:-2])


def is_present_state(clause: str) -> bool:
    """Return whether the clause says what is, is wanted or is allowed; "is moving" happens."""
    words = _words(clause)
    return any(
        word in _STATE and not (after.endswith("ing") and after not in _ACTIVITY)
        for word, after in zip(words, [*words[1:], ""], strict=False)
    )


def is_instruction(clause: str) -> bool:
    """Return whether the clause opens, after a time or "please", with no subject or verb form.

    "Use", "No meetings" and "Spanish only" do, "The user", "Moved" and "Ana turns" do not.
    """
    words = _words(_UNPUNCTUATED.sub("", _LEAD_IN.sub("", clause)))
    if not words or words[0] in _SUBJECTS | _TWO_TENSES or words[0].endswith(("'s", "ing")):
        return False
    second = words[1] if len(words) > 1 else ""
    inflected = words[0].endswith("s") and not words[0].endswith("ss") and words[0] != "always"
    acts = second.endswith("s") and not second.endswith(("ss", "'s")) and words[0] != "no"
    return not (inflected or second in _FINITE or second in _STATE or acts)


def _words(clause: str) -> list[str]:
    return _WORDS.findall(clause.lower())

"""Verb forms of the languages written with spaces beside English: who acts, whether it is real."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from retold.ingest.lexical_judge.normalise import Token, snowball


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STRONG: Final = {
    third: stem
    for third, stem in (
        pair.split("-")
        for pair in (
            "isst-ess fährt-fahr spricht-sprech liest-les nimmt-nehm gibt-geb schläft-schlaf "
            "läuft-lauf trägt-trag sieht-seh hilft-helf trifft-treff vergisst-vergess "
            "wäscht-wasch hält-halt lässt-lass fängt-fang lädt-lad rät-rat bricht-brech "
            "wirft-werf stirbt-sterb empfiehlt-empfehl fällt-fall bäckt-back frisst-fress "
            "misst-mess tritt-tret stiehlt-stehl verlässt-verlass enthält-enthalt "
            "unterhält-unterhalt weiß-wiss"
        ).split()
    )
}
_UNLIKE: Final = {
    "spanish": {
        "hago": "hac",
        "salgo": "sal",
        "vengo": "ven",
        "viene": "ven",
        "conozco": "conoc",
        "conduzco": "conduc",
        "pongo": "pon",
        "traigo": "tra",
        "oigo": "oy",
        "digo": "dec",
        "dice": "dec",
        "sé": "sab",
    },
    "german": _STRONG,
}
"""Forms of the first and third person that no rule of endings joins."""
_TRIMMED: Final = {
    "german": re.compile(r"(?<=d)et$|tet$|(?<=\w{3})t$"),
    "dutch": re.compile(r"(?<=\w{3})t$"),
    "french": re.compile(r"(?<=\w{3})[st]$"),
}
"""Endings that tell the first person from the third and that the stemmers leave."""

_WANTS: Final = _set(
    "will wollen quiero queremos quiere quieren veux veut voulons veulent voglio vogliamo vuole "
    "vogliono quero queremos quer querem wil willen хочу хотим хочет хотят plane planen plant "
    "pienso pensamos piensa planeo espero"
)
_INFINITIVE: Final = {
    "german": re.compile(r"\w{2,}e?n$"),
    "spanish": re.compile(r"\w+[aeií]r(?:me|se|lo|la)?$"),
    "french": re.compile(r"\w+(?:er|ir|re)$"),
    "italian": re.compile(r"\w+(?:[aei]re|rre)$"),
    "portuguese": re.compile(r"\w+[aei]r$"),
    "dutch": re.compile(r"\w{2,}en$"),
    "russian": re.compile(r"\w+ть(?:ся)?$"),
}
_CONDITIONAL: Final = {
    "spanish": re.compile(r"\w{2,}[aei]ría(?:s|mos|n)?$"),
    "french": re.compile(r"\w{2,}(?:er|ir|dr|ir)(?:ais|ait|ions|iez|aient)$"),
    "italian": re.compile(r"\w{2,}[ei]r(?:ei|ebbe|emmo|ebbero)$"),
    "portuguese": re.compile(r"\w{2,}[aei]ria(?:s|m|mos)?$"),
}
_NOUN_LEADS: Final = _set(
    "el la los las un una de del en al mi mis su sus tu nuestra o a os as um uma da do na no minha "
    "sua le l les des du mon ma mes il lo gli i una della nel nella"
)
_BEEN: Final = {
    "german": _set("war warst waren wart hatte hatten"),
    "french": _set("étais était étions étiez étaient fus fut furent avais avait avaient"),
    "spanish": _set("era eras éramos eran fui fue fuimos fueron tenía tenías teníamos tenían"),
    "italian": _set("ero eri era eravamo erano fui aveva avevo avevamo avevano"),
    "portuguese": _set("era eras éramos eram fui foi fomos foram tinha tinham"),
    "dutch": _set("was waren had hadden"),
    "russian": _set("был была было были"),
}
"""Past forms of being and having, which tell of a state that ended."""
TOLERANCE: Final = _set(
    "okay ok akzeptabel erträglich passabel acceptable passable correct aceptable pasable "
    "accettabile passabile aceitável razoável prima acceptabel redelijk нормально сносно"
)
EXCHANGING: Final = {
    "german": _set("von nach als vor statt für gegen"),
    "french": _set("de d à au que"),
    "spanish": _set("de a al que por"),
    "italian": _set("da dal a al di che"),
    "portuguese": _set("de para a ao do que"),
    "dutch": _set("van naar dan boven"),
    "russian": _set("из в чем на"),
}
"""Prepositions that tell two sides of a change, a preference or a comparison apart."""


def stem_foreign(word: str, surface: str, language: str) -> str:
    """Return the stem of a lower-case word, one for the first and the third person of a verb."""
    irregular = _UNLIKE.get(language, {}).get(word)
    if irregular is not None:
        return irregular
    base = snowball(word, language)
    trim = _TRIMMED.get(language)
    if trim is None or (language == "german" and surface[:1].isupper()):
        return base
    return trim.sub("", base)


def is_past_state(clause: Sequence[Token], language: str) -> bool:
    """Tell whether a clause has a past form of being or having."""
    been = _BEEN.get(language, frozenset())
    return any(token.word in been for token in clause)


def is_unreal(clause: Sequence[Token], language: str) -> bool:
    """Tell whether a clause wants to do something or has a conditional form."""
    conditional, infinitive = _CONDITIONAL.get(language), _INFINITIVE.get(language)
    wants = False
    before = ""
    for token in clause:
        word = token.word
        if wants and infinitive and token.surface[:1].islower() and infinitive.match(word):
            return True
        if conditional and before not in _NOUN_LEADS and conditional.match(word):
            return not token.surface[:1].isupper()
        wants = wants or word in _WANTS
        before = word
    return False

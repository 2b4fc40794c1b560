"""Two claims in one of the languages written with spaces beside English."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from retold.ingest.lexical_judge.foreign import stem_foreign
from retold.ingest.lexical_judge.languages import ENGLISH
from retold.ingest.lexical_judge.naming import NAME
from retold.ingest.lexical_judge.normalise import fold
from retold.ingest.lexical_judge.outcome import Outcome
from retold.ingest.lexical_judge.quoted import LIKED, Part, Text, read_text
from retold.ingest.lexical_judge.roles import swaps_roles

_ENGLISH_WORDS: Final = frozenset("the user i my has are and to with for likes does".split())
_A: Final = frozenset("a an not being it".split())
"""Words that no other language has beside "is"."""


def _stems(language: str, words: str) -> frozenset[str]:
    return frozenset(stem_foreign(word, word, language) for word in words.split())


_SCHEDULING: Final = {
    language: _stems(language, words)
    for language, words in {
        "german": "verschoben verlegt geplant angesetzt vorgezogen findet statt liegt fällt",
        "french": "prévu prévue reporté reportée déplacé déplacée fixé fixée avancé avancée tombe",
        "spanish": "previsto prevista aplazado aplazada movido movida pospuesto fijado fijada cae",
        "italian": "previsto prevista spostato spostata rinviato rinviata fissato fissata cade",
        "portuguese": "previsto prevista adiado adiada marcado marcada movido movida cai",
        "dutch": "gepland verplaatst verschoven uitgesteld valt",
        "russian": "перенесен перенесён перенесли назначен назначена запланирован",
    }.items()
}
"""What happens to a date and tells of no other event."""
_OPPOSITES: Final = {
    "german": "duzen siezen|geduzt gesiezt|groß klein|kurz lang|früh spät|warm kalt|hell dunkel"
    "|ledig verheiratet|verheiratet geschieden|laut leise|süß salzig|arbeitslos angestellt",
    "french": "tutoyer vouvoyer|tutoyé vouvoyé|grand petit|court long|tôt tard|chaud froid"
    "|clair sombre|célibataire marié|célibataire mariée|marié divorcé|sucré salé",
    "spanish": "tutear ustedear|grande pequeño|corto largo|corta larga|temprano tarde"
    "|caliente frío|claro oscuro|soltero casado|soltera casada|casado divorciado|dulce salado",
    "italian": "grande piccolo|corto lungo|breve lungo|presto tardi|caldo freddo|chiaro scuro"
    "|celibe sposato|nubile sposata|sposato divorziato|dolce salato",
    "portuguese": "grande pequeno|curto longo|cedo tarde|quente frio|claro escuro"
    "|solteiro casado|solteira casada|casado divorciado|doce salgado",
    "dutch": "tutoyeren vousvoyeren|groot klein|kort lang|vroeg laat|warm koud|licht donker"
    "|ongehuwd getrouwd|getrouwd gescheiden|zoet zout",
    "russian": "большой маленький|короткий длинный|рано поздно|горячий холодный|светлый темный"
    "|холост женат|женат разведен",
}
_ANTONYMS: Final = {
    language: frozenset(
        frozenset(stem_foreign(word, word, language) for word in pair.split())
        for pair in line.split("|")
    )
    for language, line in _OPPOSITES.items()
}


@dataclass(frozen=True, slots=True)
class _Exclusive:
    """An attribute of one value: the stems of its verb and the prepositions before the value."""

    slot: str
    verbs: frozenset[str]
    leads: frozenset[str]


def _exclusive(slot: str, language: str, verbs: str, leads: str) -> _Exclusive:
    return _Exclusive(slot, _stems(language, verbs), frozenset(leads.split()))


_SLOTS: Final = {
    "german": (
        _exclusive("home", "german", "wohnt wohne lebt lebe", "in"),
        _exclusive("employer", "german", "arbeitet arbeite", "bei für"),
        _exclusive("birthplace", "german", "geboren", "in"),
        _exclusive("spouse", "german", "verheiratet", "mit"),
    ),
    "french": (
        _exclusive("home", "french", "habite vit", "à en"),
        _exclusive("employer", "french", "travaille", "chez pour"),
        _exclusive("birthplace", "french", "né née", "à en"),
        _exclusive("spouse", "french", "marié mariée", "à avec"),
    ),
    "spanish": (
        _exclusive("home", "spanish", "vive vivo reside", "en"),
        _exclusive("employer", "spanish", "trabaja trabajo", "en para"),
        _exclusive("birthplace", "spanish", "nació nací nacido nacida", "en"),
        _exclusive("spouse", "spanish", "casado casada", "con"),
    ),
    "italian": (
        _exclusive("home", "italian", "abita vive abito vivo", "a in"),
        _exclusive("employer", "italian", "lavora lavoro", "per presso"),
        _exclusive("birthplace", "italian", "nato nata", "a in"),
        _exclusive("spouse", "italian", "sposato sposata", "con"),
    ),
    "portuguese": (
        _exclusive("home", "portuguese", "mora moro vive vivo reside", "em no na"),
        _exclusive("employer", "portuguese", "trabalha trabalho", "na no para"),
        _exclusive("birthplace", "portuguese", "nasceu nasci nascido nascida", "em no na"),
        _exclusive("spouse", "portuguese", "casado casada", "com"),
    ),
    "dutch": (
        _exclusive("home", "dutch", "woont woon", "in"),
        _exclusive("employer", "dutch", "werkt werk", "bij voor"),
        _exclusive("birthplace", "dutch", "geboren", "in"),
        _exclusive("spouse", "dutch", "getrouwd", "met"),
    ),
    "russian": (
        _exclusive("home", "russian", "живёт живет живу", "в"),
        _exclusive("birthplace", "russian", "родился родилась", "в"),
    ),
}


def is_english(words: frozenset[str]) -> bool:
    """Tell whether the lower-case words of a claim show at once that it is English."""
    return not words.isdisjoint(_ENGLISH_WORDS) or ("is" in words and not words.isdisjoint(_A))


def decide_foreign(a: str, b: str) -> Outcome | None:
    """Return what can be said of two claims in one other language; None when nothing can."""
    mine, theirs = read_text(fold(a)), read_text(fold(b))
    grammar = mine.grammar
    if grammar is ENGLISH or theirs.grammar is not grammar:
        return None
    if len(mine.parts) != 1 or len(theirs.parts) != 1:
        return None
    first, second = mine.parts[0], theirs.parts[0]
    if mine.words & grammar.kin != theirs.words & grammar.kin:
        return Outcome("distinct", "other-subject")
    if first.past != second.past or first.hypothetical != second.hypothetical:
        return None
    if _tenses_differ(mine, theirs):
        return None
    flips = first.negated != second.negated or first.attitude * second.attitude < 0
    return _by_slot(mine, theirs, flips=flips) or _by_stems(mine, theirs, flips=flips)


def _tenses_differ(mine: Text, theirs: Text) -> bool:
    """Tell whether a verb of both has a past ending in one of them only."""
    endings = mine.grammar.past_endings
    forms = {token.stem: token.word for token in mine.tokens}
    return any(
        forms[token.stem].endswith(endings) != token.word.endswith(endings)
        for token in theirs.tokens
        if token.stem in forms and forms[token.stem] != token.word
    )


def _by_stems(mine: Text, theirs: Text, *, flips: bool) -> Outcome | None:
    first, second = mine.parts[0], theirs.parts[0]
    if first.stems == second.stems and first.stems - {LIKED}:
        if swaps_roles(mine, theirs):
            return None
        if flips:
            liked = first.attitude and second.attitude
            return Outcome("contradicts", "polarity" if liked else "negation")
        equal = first.attitude == second.attitude
        return Outcome("same", "equal-words") if equal else None
    if flips:
        return None
    language = mine.grammar.language
    only_a, only_b = first.stems - second.stems, second.stems - first.stems
    if frozenset((*only_a, *only_b)) in _ANTONYMS[language] and len(only_a) == len(only_b) == 1:
        return Outcome("contradicts", "antonym")
    return _by_value(only_a - _SCHEDULING[language], only_b - _SCHEDULING[language], first, second)


def _by_value(
    only_a: frozenset[str], only_b: frozenset[str], first: Part, second: Part
) -> Outcome | None:
    """Oppose another number or date of the same thing."""
    if not only_a or not only_b or not (first.stems & second.stems):
        return None
    if not all(stem.startswith("#") for stem in only_a | only_b) or first.past:
        return None
    if len(only_a) != 1 or len(only_b) != 1:
        return None
    dated = [stem.count("/") == 2 for stem in (*only_a, *only_b)]  # noqa: PLR2004 - m/d/w
    if dated[0] != dated[1]:
        return None
    return Outcome("contradicts", "date" if dated[0] else "number")


def _by_slot(mine: Text, theirs: Text, *, flips: bool) -> Outcome | None:
    """Oppose another value of one exclusive attribute."""
    if flips or mine.parts[0].past or mine.parts[0].hypothetical or mine.parts[0].negated:
        return None
    for each in _SLOTS[mine.grammar.language]:
        values = [_value_of(text, each) for text in (mine, theirs)]
        if all(values) and not values[0] & values[1]:
            return Outcome("contradicts", f"slot:{each.slot}")
    names = [_names_of(text) for text in (mine, theirs)]
    same = mine.parts[0].stems - names[0] == theirs.parts[0].stems - names[1]
    if all(names) and not names[0] & names[1] and same:
        return Outcome("contradicts", "slot:name")
    return None


def _value_of(text: Text, each: _Exclusive) -> frozenset[str]:
    """Return the capitalised words right after the verb's preposition."""
    tokens = text.tokens
    if not any(token.stem in each.verbs for token in tokens):
        return frozenset()
    for position, token in enumerate(tokens[:-1]):
        if token.word in each.leads:
            value: list[str] = []
            for following in tokens[position + 1 :]:
                if not following.surface[:1].isupper():
                    break
                value.append(following.word)
            if value:
                return frozenset(value)
    return frozenset()


def _names_of(text: Text) -> frozenset[str]:
    """Return the stems of the capitalised words of a claim that names somebody."""
    if NAME not in text.words:
        return frozenset()
    known = text.grammar.closed_class | text.grammar.kin | {NAME}
    return frozenset(
        token.stem
        for token in text.tokens[1:]
        if token.surface[:1].isupper() and token.word not in known
    )

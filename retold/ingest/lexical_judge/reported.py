"""Words of a quote that are somebody else's: quoted speech, fiction, advertisements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.normalise import Token
from retold.ingest.lexical_judge.opened import Opened


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


_WORKS: Final = _words(
    "novel novels book books story stories tale tales fable film films movie movies show shows",
    "series sitcom soap drama documentary song songs lyric lyrics poem poems verse chorus play",
    "musical opera game games ad ads advert adverts advertisement commercial slogan headline",
    "article column blog post tweet meme joke podcast episode script screenplay poster sign banner",
    "billboard review caption proverb saying comic comics manga anime cartoon scene chapter",
    "brochure leaflet flyer pamphlet newspaper magazine horoscope quote quotation",
    # German
    "roman romane buch geschichte märchen serie lied gedicht werbung anzeige werbespot plakat",
    "schlagzeile artikel spiel theaterstück hörbuch krimi zeitung zeitschrift kinofilm",
    # Spanish, Portuguese, Italian
    "novela libro cuento película serie canción poema anuncio cartel titular artículo juego",
    "romance livro conto filme série canção anúncio cartaz artigo jogo",
    "romanzo libro racconto canzone poesia pubblicità annuncio manifesto articolo gioco",
    # French
    "livre histoire chanson poème publicité pub annonce affiche titre jeu",
    # Dutch
    "boek verhaal liedje gedicht reclame advertentie krantenkop artikel spel",
    # Russian
    "романе роман книге книга рассказе фильме фильм песне песня реклама рекламе статье статья",
)
"""What tells of people who are not the speaker."""
_FIGURES: Final = _words(
    "narrator narrators protagonist protagonists antagonist hero heroine villain character",
    "characters storyteller",
    "erzähler erzählerin hauptfigur hauptperson protagonistin romanfigur held heldin",
    "narrador narradora protagonista personaje héroe heroína personagem herói",
    "narratore narratrice personaggio eroe narrateur narratrice personnage héros héroïne",
    "verteller hoofdpersoon hoofdpersonage personage heldin",
    "рассказчик герой героиня персонаж",
)
"""People who exist in a work only."""
_SAYS: Final = _words(
    "says said say saying goes go went reads read claims claimed claim tells told tell states",
    "stated promises promised sings sang opens begins starts",
    "sagt sagte sagen heißt steht verspricht singt lautet behauptet",
    "dice dijo dicen pone reza cuenta canta promete diz disse conta afirma promette",
    "dit disait raconte affirme promet zegt zei staat vertelt belooft",
    "говорит говорится сказал поёт поет обещает",
)
_IN: Final = _words("in im dans dentro no na nel nella nello en dem в")
_DETERMINED: Final = lexicon.ARTICLES | _words(
    "this that one some these those dem der den einem einer el la un una le les cette ce",
    "il lo uno het een de o um uma nel nella im",
)
_TRADES: Final = _words(
    "industry business club department studio festival shop store world development design fair",
    "group class course company team",
)
_NO_SPEECH: Final = _words("on to by up out off down")
_ADVERBS: Final = lexicon.DEGREE_ADVERBS | _words("always basically that which who like are was is")
_NEAR: Final = 4
_CONTINUES: Final = 3

_SPAN: Final = re.compile(
    r"\"(?P<d>[^\"\n]{3,400})\"|(?<![\w'])'(?P<s>(?=\w)(?:[^'\n]|(?<=\w)'(?=\w)){3,400})'(?!\w)"
    "|\u300c(?P<c>[^\u300d\n]{2,400})\u300d|\u300e(?P<t>[^\u300f\n]{2,400})\u300f"
)
"""A span between quotation marks, which folding has made straight; an apostrophe is none."""
_FIRST_PERSON: Final = re.compile(
    r"(?<!\w)(?:i|i'm|i've|i'd|i'll|my|me|we|we're|our|us|ich|mein|meine|wir|yo|mi|mis|soy|tengo|je"
    r"|j|mon|ma|mes|suis|io|mio|mia|sono|ho|eu|meu|minha|sou|tenho|ik|mijn|я|мой|моя|мы)(?!\w)"
    "|[我俺僕私咱]",
    re.IGNORECASE,
)
_REPORTED: Final = re.compile(
    r"(?:\b(?:say|says|said|goes|went|reads|claims|claimed|told(?: \w+)?|tells(?: \w+)?|states"
    r"|stated|sings|sang|asked(?: \w+)?|asks|wrote|writes|was like|is like|are like|sagt|sagte"
    r"|heißt es|steht|dice|dijo|pone|dit|diz|disse|zegt|zei|говорит|сказал|сказала)\W*$)"
    r"|(?:[说說道写寫喊唱]\W*$)",
    re.IGNORECASE,
)
_OWN: Final = re.compile(
    r"\b(?:i|we)\b(?:'\w+)?(?: \w+){0,3}? (?:say|said|tell|told|wrote|write|answer|answered|reply"
    r"|replied|mean|meant|think|thought|shout|shouted|announce|announced|add|added|mention"
    r"|mentioned|admit|admitted|always)\b"
    r"|\bmy (?:\w+ )?(?:motto|rule|bio|status|answer|view|opinion|position|signature|mantra|name"
    r"|principle|slogan|tagline|profile|reply|response)\b"
    r"|\bich (?:sage|sagte|habe)\b|\b(?:digo|dije)\b|\bje dis\b|\bj'ai dit\b|\bik (?:zeg|zei)\b"
    r"|我[^，。,]{0,6}[说說]|私[はが]",
    re.IGNORECASE,
)
_WORDS: Final = re.compile(r"\w")


def without_quotations(text: str) -> str:
    """Return a folded text without the quoted speech of others.

    A span between quotation marks goes when it speaks in the first person or follows a verb of
    saying, unless the principal says it; a text that is nothing but the span stays.
    """
    if ": " in text:
        text = _LETTER.sub(_without_letter, text)
    if not any(mark in text for mark in "\"'\u300c\u300e"):
        return text
    return _SPAN.sub(lambda match: _kept(match, text), text)


_LETTER: Final = re.compile(
    r"\b(?:wrote|writes|said|says|asked|replied|posted|tweeted|texted|reads)\s?:\s(?P<rest>[^\n]+)",
    re.IGNORECASE,
)
"""What somebody wrote, after a colon instead of between quotation marks."""


def _without_letter(match: re.Match[str]) -> str:
    lead = re.split(r"[.!?\n]", match.string[: match.end()])[-1]
    before = re.split(r"[.!?\n]", match.string[: match.start("rest")])[-1]
    if _OWN.search(before or lead) or not _FIRST_PERSON.search(match["rest"]):
        return match.group()
    return " \u2026 "


def _kept(match: re.Match[str], text: str) -> str:
    lead = re.split(r"[.!?\n\u3002]", text[: match.start()])[-1]
    tail = re.split(r"[.!?\n\u3002]", text[match.end() :])[0]
    if not _WORDS.search(lead + tail):
        return match.group()
    speaks = _FIRST_PERSON.search(match.group()) or _REPORTED.search(lead)
    if not speaks or _OWN.search(lead) or (not _WORDS.search(lead) and _OWN.search(tail)):
        return match.group()
    return " \u2026 "


def frames_of(clauses: Sequence[Opened]) -> tuple[frozenset[str], ...]:
    """Return for each clause of a sentence the stems of the works or figures it speaks of.

    An empty set means that the clause is the speaker's own.
    """
    own: frozenset[str] = frozenset()
    words = {token.word for clause in clauses for token in clause.tokens}
    if words.isdisjoint(_WORKS) and words.isdisjoint(_FIGURES):
        return (own,) * len(clauses)
    whole = _opening_work([token for clause in clauses for token in clause.tokens])
    frame = whole
    out: list[frozenset[str]] = []
    for clause in clauses:
        returns = {"i", "we", "my"} & {token.word for token in clause.tokens[:_CONTINUES]}
        if frame and not whole and returns and not _is_said(out):
            frame = own
        spoken, figure = _speaking_work(clause.tokens), _figure(clause.tokens)
        frame = frame | spoken | figure
        out.append(frame)
    return tuple(out)


def _is_said(frames: Sequence[frozenset[str]]) -> bool:
    """Tell whether the sentence so far is but one clause, whose words still go on."""
    return len(frames) <= 1


def _opening_work(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the work of "In the novel ..." at the start of a sentence."""
    if [token.word for token in tokens[:2]] in (["according", "to"], ["as", "the"]):
        cited = [t for t in tokens[2:_NEAR] if t.word in _WORKS]
        return frozenset(token.stem for token in cited)
    for position, token in enumerate(tokens[:3]):
        lead = tokens[position + 1] if position + 1 < len(tokens) else token
        if token.word not in _IN or (lead.word not in _DETERMINED and token.word not in {"im"}):
            continue
        for place in range(position + 1, min(position + 1 + _NEAR, len(tokens))):
            following = tokens[place + 1].word if place + 1 < len(tokens) else ""
            if tokens[place].word in _WORKS and following not in _TRADES:
                return frozenset({tokens[place].stem})
    return frozenset()


def _speaking_work(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the work of "the ad says ...", "a song that goes ..."."""
    for position, token in enumerate(tokens):
        if token.word not in _WORKS:
            continue
        rest = [t.word for t in tokens[position + 1 : position + 1 + _NEAR]]
        while rest and rest[0] in _ADVERBS:
            if rest[:2] in (["is", "like"], ["are", "like"], ["was", "like"]):
                return frozenset({token.stem})
            rest = rest[1:]
        if rest and rest[0] in _SAYS and not (set(rest[1:2]) & _NO_SPEECH):
            return frozenset({token.stem})
    return frozenset()


def _figure(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the figure that a clause is about; "I'm the narrator" is about the speaker."""
    for position, token in enumerate(tokens):
        if token.word in _FIGURES:
            before = [t.word for t in tokens[max(0, position - 3) : position]]
            if not any(
                pair in {("i", "am"), ("am", "the"), ("am", "a")} for pair in pairwise(before)
            ):
                return frozenset({token.stem})
    return frozenset()

"""Whether an answer says yes to what was said before it; pure.

Only a clear yes counts. Whoever is understood in none of these languages, or answers with a reason
or a reservation, is asked for a sentence of their own instead: a memory confirmed by a "no" would
be worse.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from retold.ingest.lexical_judge import languages
from retold.text import fold_quote


def _phrases(*lines: str) -> frozenset[str]:
    return frozenset(phrase.strip() for line in lines for phrase in line.split(","))


_OPENERS: Final = _phrases("yes, yeah, yep, yup, yea, oui, sí, sim, sì")
"""Words that mean yes, whatever follows in their clause."""

_ALONE: Final = _OPENERS | _phrases(
    "right, correct, exactly, true, indeed, absolutely, definitely, certainly, precisely",
    "of course",
    "that's right, that is right, that's correct, that is correct, that's true, that is true",
    "that's it, quite right, quite so, you're right, you are right, it is, it's true, i am, i do",
    "we are, we do, i agree, agreed, confirmed, i confirm, affirmative, totally, aye, so it is",
    "ouais, exact, exactement, c'est ça, c'est exact, c'est vrai, c'est bien ça, tout à fait",
    "bien sûr, ja, jawohl, jep, genau, stimmt, richtig, korrekt, das stimmt, das ist richtig",
    "so ist es, si, claro, correcto, exacto, así es, es cierto, es verdad, cierto, isso",
    "isso mesmo, certo, correto, exato, é isso, é verdade, exatamente",
    "esatto, esattamente, giusto, corretto",
    "è vero, jawel, klopt, dat klopt, inderdaad, precies, juist, jo, jepp, stämmer, det stämmer",
    "precis, det er riktig, riktig, det er rigtigt, rigtigt, netop, tak, dokładnie, zgadza się",
    "ano, áno, igen, da, да, ага, верно, точно, правильно, так и есть, так, evet, doğru, aynen",
    "kyllä, joo, jah, taip, ναι, σωστά, כן, نعم, أجل, بله, हाँ, हां, ya, iya, betul, benar, vâng",
    "dạ, đúng, đúng vậy, đúng rồi, 네, 예, 응, 맞아, 맞아요, 맞습니다, 그래요, oo, ndiyo",
    "是, 是的, 是啊, 是呀, 对, 对的, 对啊, 對, 對的, 對啊, 没错, 沒錯, 嗯, 嗯嗯",
    "正确, 正確, 确实, 確實",
    "はい, ええ, うん, そう, そうです, そうですね, そうだよ, そうだね, その通り, その通りです",
    "ใช่, ใช่ครับ, ใช่ค่ะ, ใช่แล้ว, ครับ, ค่ะ, ถูกต้อง, ถูกต้องครับ, ถูกต้องค่ะ",
    "👍, ✅, 💯, 👌",
)
"""What means yes where it is all of a clause: "right now I want pizza" says none."""

_TAKES_BACK: Final = frozenset(
    word for one in languages.GRAMMARS for word in one.negators if len(word) > 1
) | _phrases(
    "nope, nah, nay, wrong, false, incorrect, mistaken, cannot, nein, falsch, faux, falso, errado",
    "sbagliato, nee, geen, nej, nei, ikke, inte, nie, ні, nem, hayır, değil, yok, ei, όχι, δεν",
    "לא, لا, ليس, نه, نیست, नहीं, tidak, bukan, không, 아니, 아니요, 아뇨, 아니에요",
    "but, however, although, though, unless, if, except, only, actually, maybe, perhaps, used",
    "formerly, previously, mais, aber, pero, mas, ma, maar, ale, но, fakat, ama, tapi, nhưng",
)
_TAKES_BACK_UNSPACED: Final = re.compile(
    "不|没|沒|未|别|別|错|錯|但|可是|ない|ません|違|ちが|いいえ|いや|でも|けど|ไม่|แต่|않|없|못"
)
_ASKS: Final = ("?", "؟", "吗", "嗎", "ですか", "ますか", "ไหม", "มั้ย")
_VERIFIES: Final = re.compile(
    r"\b(?:right|correct|true|accurate|confirm|is that so|richtig|stimmt"
    r"|korrekt|vrai|exact|correcto|verdad|cierto|certo|correto|giusto|vero|klopt|верно|правильно)\b"
    r"|n't (?:it|you|they|that)\b|对吗|對嗎|是吗|是嗎|对吧|對吧"
    r"|正确|正確|ですか|ですね|でしょうか|ใช่ไหม|ใช่มั้ย|맞"
)
"""What a question holds that asks only whether what was said before it holds."""
_SENTENCE_END: Final = re.compile(r"(?<=[.!?。؟])")
_CLAUSE_END: Final = re.compile(r"[,;:.!?、。؟]+|\s-+\s")
_PLAIN_EMOJI: Final = "\ufe0f"
"""Follows a symbol to have it drawn in colours."""
_AROUND: Final = frozenset("Pc Pd Pe Pf Pi Po Ps Zs Sk Cc Cf".split())
_WORD: Final = re.compile(r"(?:[^\W\d_]|[\u0900-\u0dff])+(?:'[^\W\d_]+)*")


def is_assent(answer: str) -> bool:
    """Return whether an answer says yes and takes nothing of it back.

    Its first clause says yes, its first sentence asks nothing, and no word of it denies or limits.
    """
    folded = fold_quote(answer).casefold().replace(_PLAIN_EMOJI, "")
    sentence = _SENTENCE_END.split(folded, maxsplit=1)[0].strip()
    first = _bare(_CLAUSE_END.split(sentence, maxsplit=1)[0])
    opener, _, more = first.partition(" ")
    if sentence.endswith(_ASKS):
        return False
    if first not in _ALONE and opener not in _OPENERS and {opener, more} - _ALONE:
        return False
    clauses = map(_bare, _CLAUSE_END.split(folded))
    return not any(_takes_back(clause) for clause in clauses if clause not in _ALONE)


def asks_anything_else(statement: str) -> bool:
    """Return whether words hold a question of their own, which a yes may answer instead.

    "Is that right?" is none; "Shall I book it?" is one, whatever was claimed before it.
    """
    folded = fold_quote(statement).casefold()
    sentences = map(str.strip, _SENTENCE_END.split(folded))
    return any(one.endswith(_ASKS) and not _VERIFIES.search(one) for one in sentences)


def _bare(clause: str) -> str:
    """Return a clause without punctuation, blanks and tones of skin around it."""
    shown = [unicodedata.category(char) not in _AROUND for char in clause]
    if True not in shown:
        return ""
    return clause[shown.index(True) : len(shown) - shown[::-1].index(True)]


def _takes_back(clause: str) -> bool:
    words = _WORD.findall(clause)
    return (
        not _TAKES_BACK.isdisjoint(words)
        or any(word.endswith("n't") for word in words)
        or _TAKES_BACK_UNSPACED.search(clause) is not None
    )

"""Text in a transcript that speaks to whoever reads it, not to the other side; pure.

A page, a tool or a pasted mail may say that the transcript is over and that something else is to
be done now. What stands from there to the end of its turn backs no claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from retold.ingest.evidence import ForgottenSpan
from retold.models import Turn

_ADDRESSED: Final = re.compile(
    # Our own frame and lines, written by somebody else.
    r"(?<!-)-{2,} ?(?:end of )?(?:the )?(?:transcript|session|candidates"
    r"|known \w+|stored records)\b"
    r"|\{\s*\"line\"\s*:"
    r"|\bend of (?:the |this )?(?:transcript|conversation|session|dialogue|input|prompt|context)\b"
    r"|\bnew (?:task|instructions?|system prompt|objective)\s*[:：]"
    r"|\b(?:ignore|disregard|forget|override)\b[^.\n]{0,30}\b(?:previous|prior|above|earlier|all"
    r"|your|system)\b[^.\n]{0,30}\b(?:instructions?|rules?|prompts?|guidelines)\b"
    r"|\b(?:memory|extraction) (?:model|assistant|system|agent)[,:] "
    r"|\b(?:ignora|olvida|ignorez|oubliez|ignoriere|vergiss|ignore)\b[^.\n]{0,40}"
    r"\b(?:instrucciones|instructions|anweisungen|instruções|istruzioni)\b"
    r"|\bfin de la (?:transcripci[oó]n|conversaci[oó]n|transcription|conversation)\b"
    r"|\bnueva tarea\s*:|\bnouvelle t[aâ]che\s*:|\bneue aufgabe\s*:|\bende des (?:transkripts"
    r"|gesprächs)\b"
    r"|(?:忽略|无视|無視)[^。\n]{0,15}(?:指令|指示|规则|規則|说明)|新(?:的)?任[务務]\s*[:：]"
    r"|(?:对话|對話|会话|記錄|记录|会話)(?:记录|記録)?(?:到此)?(?:结束|結束|終了)"
    r"|新しいタスク\s*[:：]|(?:指示|命令)を無視",
    re.IGNORECASE,
)
_SENTENCE_ENDS: Final = re.compile(r"[.!?。！？\n]")


def speaks_to_reader(text: str) -> bool:
    """Return whether some sentence tells the reader that the task is over or another one."""
    return _ADDRESSED.search(text) is not None


def void_spans(turns: Iterable[Turn]) -> frozenset[ForgottenSpan]:
    """Return the parts of turns that back nothing: from the sentence with such words to the end."""
    return frozenset(_void(turns))


def _void(turns: Iterable[Turn]) -> Iterator[ForgottenSpan]:
    for turn in turns:
        found = _ADDRESSED.search(turn.content)
        if found is not None:
            ends = [end.end() for end in _SENTENCE_ENDS.finditer(turn.content, 0, found.start())]
            yield turn.session_id, turn.turn, (ends[-1] if ends else 0, len(turn.content))

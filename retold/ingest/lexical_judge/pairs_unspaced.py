"""Two claims in Chinese or in Japanese."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from retold.ingest.lexical_judge.features import CACHED_CLAIMS
from retold.ingest.lexical_judge.normalise import fold
from retold.ingest.lexical_judge.outcome import Outcome
from retold.ingest.lexical_judge.unspaced import (
    fold_principal,
    is_hypothetical,
    is_past,
    kin_of,
    plain_japanese,
    sign_of,
    units,
)
from retold.ingest.lexical_judge.unspaced_frames import PRINCIPAL

UNSPACED: Final = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
_FILLERS: Final = re.compile("[的了着是在有也还還就也于於。，,.!！\\s]|现在|現在|目前")
_ONE_WAY: Final = (
    (re.compile("家住在?|居住在|居住于|住在"), "住"),
    (re.compile("(?:名字|姓名)[叫是]|名叫|叫做|叫作"), "叫"),
    (re.compile("任职于|任職於|供职于|就职于|在(.{1,12}?)(?:上班|任职|任職)"), r"在\1工作"),
    (
        re.compile(
            "(?:更|比较|比較)?(?:喜欢|爱)(?P<x>[^，。,]{1,20}?)(?:而不是|多于|胜过|勝過)(?P<y>[^，。,]{1,20})"
        ),
        r"选\g<x>胜\g<y>",
    ),
    (
        re.compile(
            "(?:比起|相比)(?P<y>[^，。,]{1,20}?)[，,]?(?:来说)?[，,]?(?P<p>\ue000?)更?(?:喜欢|爱)(?P<x>[^，。,]{1,20})"
        ),
        r"\g<p>选\g<x>胜\g<y>",
    ),
)
_VERBS_OF_TASTE: Final = re.compile("(?<=[选胜])[喝吃用看听玩]")
_SLOTS: Final = tuple(
    (slot, re.compile(pattern))
    for slot, pattern in (
        ("home", "住(?P<v>[^，。,的]{1,12})"),
        ("name", "叫(?P<v>[^，。,的]{1,12})"),
        (
            "birthplace",
            "(?:出生|生)(?:在|于)?(?P<v>[^，。,的年月日]{1,12})|在(?P<w>[^，。,]{1,12})出生",
        ),
        ("employer", "在(?P<v>[^，。,]{1,12})工作"),
        ("age", r"(?P<v>\d+)[岁歲歳]"),
        ("home", "(?P<v>[^，。、はがも]{1,12})に住"),
        ("employer", "(?P<v>[^，。、はがも]{1,12})[でに](?:働|勤)"),
        ("birthplace", "(?P<v>[^，。、はがも]{1,12})(?:で生ま|出身)"),
    )
)
"""Attributes of one value, each with the place of the value."""
_MARRIED: Final = re.compile("已婚|结婚了|結婚了|有妻子|有丈夫|結婚してい|既婚")
_UNMARRIED: Final = re.compile("单身|單身|未婚|没结婚|沒結婚|离婚|離婚|独身")


def decide_unspaced(a: str, b: str) -> Outcome | None:
    """Return what can be said of two claims of Han or Kana; None when nothing can."""
    mine, theirs = _folded(a), _folded(b)
    if kin_of(mine) != kin_of(theirs) or (PRINCIPAL in mine) != (PRINCIPAL in theirs):
        return Outcome("distinct", "other-subject")
    if is_past(mine) != is_past(theirs) or is_hypothetical(mine) != is_hypothetical(theirs):
        return None
    opposed = _signs_oppose(mine, theirs)
    left, right = _core(mine), _core(theirs)
    if not left or not right:
        return None
    if left == right:
        if opposed:
            liked = sign_of(mine)[1] and sign_of(theirs)[1]
            return Outcome("contradicts", "polarity" if liked else "negation")
        same = sign_of(mine) == sign_of(theirs)
        return Outcome("same", "equal-words") if same else None
    if opposed:
        return _by_marriage(mine, theirs)
    return _by_marriage(mine, theirs) or _by_slot(mine, theirs) or _by_number(mine, theirs)


@lru_cache(maxsize=CACHED_CLAIMS)
def _folded(text: str) -> str:
    folded = fold_principal(fold(text), ())
    for pattern, plain in _ONE_WAY:
        folded = pattern.sub(plain, folded)
    return _VERBS_OF_TASTE.sub("", folded)


def _signs_oppose(mine: str, theirs: str) -> bool:
    (no_a, like_a), (no_b, like_b) = sign_of(mine), sign_of(theirs)
    if like_a and like_b:
        return (like_a < 0) ^ no_a != (like_b < 0) ^ no_b
    return no_a != no_b and like_a == like_b


_SIGNS: Final = re.compile("不|没有?|沒有?|讨厌|喜欢|嫌い|好き|無|爱|愛")


_STEM_BEFORE_NOT: Final = re.compile("[かがさたなばまらわ]無")
_FINAL: Final = re.compile("(?<=[一-鿿ぁ-ゟ])[うくぐすつぬぶむる]$")
"""What tells "drinks" from "does not drink" beside the negation itself."""


def _core(text: str) -> tuple[str, ...]:
    """Return the units that carry meaning, without signs and fillers, in order."""
    bare = _STEM_BEFORE_NOT.sub("無", plain_japanese(text))
    plain = _FINAL.sub("", _FILLERS.sub("", _SIGNS.sub("", bare)))
    return tuple(unit for unit in units(plain) if unit != PRINCIPAL)


def _by_marriage(mine: str, theirs: str) -> Outcome | None:
    states = [
        (bool(_MARRIED.search(text)), bool(_UNMARRIED.search(text))) for text in (mine, theirs)
    ]
    opposed = states[0] != states[1] and all(any(state) and not all(state) for state in states)
    return Outcome("contradicts", "marital") if opposed else None


def _by_slot(mine: str, theirs: str) -> Outcome | None:
    """Oppose another value of one attribute, where the same stands before and after it."""
    if is_past(mine) or is_hypothetical(mine) or sign_of(mine)[0]:
        return None
    for slot, pattern in _SLOTS:
        first, second = pattern.search(mine), pattern.search(theirs)
        if first is None or second is None:
            continue
        values = [next(filter(None, match.groups()), "") for match in (first, second)]
        values = [value.strip(PRINCIPAL) for value in values]
        if not all(values) or values[0] in values[1] or values[1] in values[0]:
            continue
        frames = [
            _core(text.replace(value, ""))
            for text, value in zip((mine, theirs), values, strict=True)
        ]
        if frames[0] == frames[1]:
            return Outcome("contradicts", f"slot:{slot}")
    return None


def _by_number(mine: str, theirs: str) -> Outcome | None:
    """Oppose claims that are equal but for one number of the same measure."""
    if is_past(mine):
        return None
    first, second = _core(mine), _core(theirs)
    if len(first) != len(second):
        return None
    differing = [n for n, pair in enumerate(zip(first, second, strict=True)) if pair[0] != pair[1]]
    if len(differing) != 1 or len(first) < 3:  # noqa: PLR2004 - a number, its measure, a thing
        return None
    values = first[differing[0]], second[differing[0]]
    if not all(value[0].isdigit() for value in values):
        return None
    measure = first[differing[0] + 1] if differing[0] + 1 < len(first) else ""
    return Outcome("contradicts", "date" if measure in "月日号號" and measure else "number")

"""Support between two texts of one script that is written without spaces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from retold.ingest.lexical_judge.unspaced_frames import (
    PRINCIPAL,
    exchanges,
    is_framed,
    overreach,
    plain_frames,
    without_article,
    without_wish,
)
from retold.text import clusters, is_unspaced

_FIRST_PERSON: Final = re.compile(
    "|".join(
        sorted(
            (
                "我们 我們 咱们 咱們 我 咱 俺 本人 用户 用戶 使用者 "
                "私たち 私達 わたしたち 僕たち 私 僕 俺 わたし わたくし ぼく おれ "
                "ユーザー ユーザ 利用者 "
                "ฉัน ดิฉัน กระผม ผม เรา หนู ข้าพเจ้า ผู้ใช้"
            ).split(),
            key=len,
            reverse=True,
        )
    )
)
_KOREAN_FIRST_PERSON: Final = re.compile(
    r"(?<![가-힣])(?:저희|우리|사용자|저|나|내|제)(?=[는은도의를을가이]|에게|한테|[^가-힣]|$)"
)
_NOT_NEGATION: Final = re.compile(
    "不错|不錯|不但|不仅|不僅|不同(?!意)|不过(?!敏)|不過(?!敏)|不少|不久|不断|不斷|不管|不论|不論|不得不|不如|不然|不禁|没关系|沒關係"
    "|别人|別人|别的|別的|特别|特別|分别|分別|区别|區別|级别|級別|性别|性別|个别|個別|非常|非洲|无论|無論|未来|未來|没错|沒錯"
    "|すみません|少ない|危ない|しかない|つまらない|はかない|切ない|ไม่เพียง|ไม่ว่า|ไม้"
)
_NEGATION: Final = re.compile(
    "不|没|沒|未|别|別|非|无|無|勿|莫|ない|ません|なく|なかった|ぬ$|ずに|ไม่|มิได้|ไม่ได้|เลิก|หยุด"
    "|戒|停止|不再|やめ|辞め|止め|않|못|없|아니|그만"
)
_LIKING: Final = re.compile(
    "喜欢|喜歡|喜爱|喜愛|热爱|熱愛|偏好|偏爱|偏愛|爱|愛|好き|好む|好み|ชอบ|รัก|좋아|사랑"
)
_DISLIKING: Final = re.compile("讨厌|討厭|厌恶|厭惡|憎恨|恨|嫌い|嫌う|苦手|เกลียด|รังเกียจ|싫어|미워")
_PAST: Final = re.compile(
    "以前|曾经|曾經|曾|过去|過去|从前|從前|之前|原来|原來|当年|當年|昔|かつて|以前|元々"
    "|小时候|小時候|年轻时|年輕時|那时候|那時候|儿时|兒時|子供の頃|学生の頃|幼い頃|ตอนเด็ก|สมัยเด็ก|어릴"
    "|でした|ていた|เคย|เมื่อก่อน|แต่ก่อน|สมัยก่อน|예전|옛날|과거|전에"
)
_HYPOTHETICAL: Final = re.compile(
    "如果|要是|假如|假设|假設|可能|也许|也許|或许|或許|大概|打算|希望|考虑|考慮|想(?![法起念必象像到出过過])|计划|計劃|准备|準備|愿意|願意"
    "|もし|かもしれ|たぶん|多分|おそらく|つもり|たい|なら|ถ้า|หาก|อาจ|บางที|คงจะ|อยาก|만약|아마|싶"
)
_QUESTION: Final = re.compile(
    "[?？]|[吗嗎]|呢$|是不是|有没有|有沒有|什么|什麼|ですか|ますか|のか$|かな|ไหม|หรือเปล่า|หรือไม่|까$|나요"
)
_KIN: Final = tuple(
    line.split()
    for line in (
        "妈妈 媽媽 母亲 母親 妈 媽 お母さん 母 แม่ 어머니 엄마",
        "爸爸 父亲 父親 爸 お父さん 父 พ่อ 아버지 아빠",
        "父母 両親 พ่อแม่ 부모",
        "姐姐 姊姊 姐 姊 お姉さん 姉 พี่สาว 누나 언니",
        "妹妹 妹 น้องสาว 여동생",
        "哥哥 哥 お兄さん 兄 พี่ชาย 형 오빠",
        "弟弟 弟 น้องชาย 남동생",
        "妻子 太太 老婆 妻 奥さん 家内 ภรรยา เมีย 아내",
        "丈夫 老公 先生 夫 主人 สามี 남편",
        "女朋友 女友 彼女 แฟน 여자친구",
        "男朋友 男友 彼氏 남자친구",
        "儿子 兒子 息子 ลูกชาย 아들",
        "女儿 女兒 娘 ลูกสาว 딸",
        "孩子 小孩 子供 子ども ลูก 아이",
        "奶奶 外婆 祖母 おばあさん ย่า ยาย 할머니",
        "爷爷 爺爺 外公 祖父 おじいさん ปู่ ตา 할아버지",
        "叔叔 舅舅 伯父 おじ ลุง น้า อา 삼촌",
        "阿姨 姑姑 姨妈 おば ป้า 이모 고모",
        "表哥 表姐 堂哥 堂姐 いとこ ลูกพี่ลูกน้อง 사촌",
        "朋友 友達 友人 เพื่อน 친구",
        "同事 同僚 เพื่อนร่วมงาน 동료",
        "老板 老闆 上司 ボス เจ้านาย หัวหน้า 상사",
        "老师 老師 先生 ครู 선생님",
        "邻居 鄰居 隣人 เพื่อนบ้าน 이웃",
        "室友 ルームメイト รูมเมท 룸메이트",
        "他们 她们 他 她 彼ら 彼女 彼 เขา เธอ พวกเขา 그는 그녀",
    )
)
_CHINESE_NAMING: Final = re.compile("的?(?:名字|姓名)[是叫]|叫做|名叫|叫作")
"""Every way to say "is called", folded to one."""
_JAPANESE_ENDINGS: Final = (
    (
        re.compile("(?:く|では|じゃ)?(?:ありません|ないです|ません|なかった|ない)(?:でした|です)?"),
        "無",
    ),
    (re.compile("[てで]い?(?:ました|ます|る|た)"), "て"),
    (re.compile("ました"), "た"),
    (re.compile("(?:ます|です|である|だ)(?=$|[^ぁ-ゟ])"), ""),
    (re.compile("(?<=[一-鿿゠-ヿ\ue000])[はがをも](?=.)"), ""),
)
"""Polite and plain forms, case and topic particles: what two ways to say one thing differ in."""
_CUT: Final = re.compile(
    r"[，。；、！,;!\n]+|\.(?![A-Za-z0-9])|但是|但|因为|因為|所以|除非|或者|けれど|けど|しかし|だから|แต่|เพราะ|ดังนั้น|หรือ|하지만|그래서"
)
_FINAL: Final = re.compile("[了啦呀啊吧哦喔ねよわ]+$|(?:ครับ|ค่ะ|คะ|นะ|จ้ะ)+$")
"""Particles at the end of a clause that only colour it."""
_SENTENCE: Final = re.compile(r"(?<=[。！？!?\n])")
_UNIT: Final = re.compile(r"[a-zA-Z0-9._+-]+@[a-zA-Z0-9.-]+|\d+(?:\.\d+)?|[^\W\d_]+")
_HAN_DIGITS: Final = {char: n for n, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "兩": 2,
}
_HAN_SCALES: Final = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "萬": 10_000}
_HAN_NUMBER: Final = re.compile(
    "[零〇一二三四五六七八九十百千万萬两兩]+(?=[个個岁歲年月日号號天周週点點分人只隻件本次名位家条條"
    "辆輛张張间間份种種台部座支匹头頭公里米斤杯块塊元岁小时時辆頭冊匹])"
)
_RELATING: Final = frozenset("在到是为為于於的有去会會将將改了")
_PARTICLES: Final = tuple("に が を で は の と も へ 에 를 을 가 이 는 은".split())


@dataclass(frozen=True, slots=True)
class Part:
    """One clause: its units in order, whether it asks, its sentence up to its end."""

    units: tuple[str, ...]
    text: str = field(repr=False)
    question: bool
    heard: str = field(default="", repr=False)


def _han_value(text: str) -> str:
    """Return the decimal digits of a number written in Han characters."""
    if not any(char in _HAN_SCALES for char in text):
        return "".join(str(_HAN_DIGITS[char]) for char in text)
    total, current = 0, 0
    for char in text:
        if char in _HAN_DIGITS:
            current = _HAN_DIGITS[char]
        else:
            total += (current or 1) * _HAN_SCALES[char]
            current = 0
    return str(total + current)


def fold_principal(text: str, names: Sequence[str]) -> str:
    """Return the text with the first person and the principal's names as one character."""
    for name in names:
        text = text.replace(name, PRINCIPAL)
    text = _CHINESE_NAMING.sub("叫", text)
    text = _KOREAN_FIRST_PERSON.sub(PRINCIPAL, _FIRST_PERSON.sub(PRINCIPAL, text))
    text = _HAN_NUMBER.sub(lambda match: _han_value(match.group()), text)
    return plain_frames(re.sub(f"{PRINCIPAL}的?(?:{PRINCIPAL})+", PRINCIPAL, text))


def plain_japanese(text: str) -> str:
    """Return Kana text in one register, without the particles that mark topic, subject, object."""
    if any("\u3041" <= char <= "\u309f" for char in text):
        for pattern, plain in _JAPANESE_ENDINGS:
            text = pattern.sub(plain, text)
    return text


def units(text: str) -> tuple[str, ...]:
    """Return clusters of unspaced characters, words of other scripts, numbers, in order."""
    found: list[str] = []
    position = 0
    while position < len(text):
        char = text[position]
        if char == PRINCIPAL:
            found.append(char)
        elif is_unspaced(char):
            end = position
            while end < len(text) and is_unspaced(text[end]):
                end += 1
            found.extend(clusters(text[position:end]))
            position = end
            continue
        elif match := _UNIT.match(text, position):
            word = match.group()
            cut = next((n for n, c in enumerate(word) if is_unspaced(c)), len(word))
            found.append(word[:cut].casefold())
            position += cut
            continue
        position += 1
    return tuple(found)


def _units(text: str) -> tuple[str, ...]:
    """Return the units that are compared: without the Chinese particle of attribution."""
    return tuple(unit for unit in units(text) if unit != "的")


def _bigrams(sequence: Sequence[str]) -> frozenset[tuple[str, ...]]:
    if len(sequence) == 1:
        return frozenset({(sequence[0],)})
    return frozenset(pairwise(sequence))


def _parts(text: str) -> list[Part]:
    out: list[Part] = []
    for sentence in _SENTENCE.split(text):
        question = bool(_QUESTION.search(sentence))
        framed = ""
        for clause in _CUT.split(sentence):
            found = _units(_FINAL.sub("", plain_japanese(clause)))
            framed += clause
            if found:
                out.append(Part(found, clause, question, framed))
    return out


def _numbers(sequence: Sequence[str]) -> frozenset[str]:
    return frozenset(unit for unit in sequence if unit[0].isdigit())


def _latin(sequence: Sequence[str]) -> frozenset[str]:
    return frozenset(unit for unit in sequence if unit[0].isalpha() and not is_unspaced(unit[0]))


def _negative(text: str) -> bool:
    return bool(_NEGATION.search(_NOT_NEGATION.sub("", text)))


def sign_of(text: str) -> tuple[bool, int]:
    """Return (negated, attitude) of a clause; disliking wins, as it may contain the liking word."""
    attitude = -1 if _DISLIKING.search(text) else 1 if _LIKING.search(text) else 0
    return _negative(text), attitude


def is_past(text: str) -> bool:
    """Tell whether a text tells of a former state."""
    return bool(_PAST.search(text))


def is_hypothetical(text: str) -> bool:
    """Tell whether a text tells of a wish or a possibility."""
    return bool(_HYPOTHETICAL.search(text))


def _signs_differ(first: str, second: str) -> bool:
    (no_a, like_a), (no_b, like_b) = sign_of(first), sign_of(second)
    if like_a and like_b:
        return (like_a < 0) ^ no_a != (like_b < 0) ^ no_b
    return no_a != no_b


def kin_of(text: str) -> frozenset[int]:
    """Return the numbers of the relations that a text mentions."""
    return frozenset(n for n, group in enumerate(_KIN) if any(word in text for word in group))


def _kin_subjects(part: Part) -> frozenset[int]:
    """Return the relations that a clause is about: named at its start or as the principal's."""
    text = part.text.strip()
    found = set()
    for number, group in enumerate(_KIN):
        for word in group:
            owned = any(f"{PRINCIPAL}{of}{word}" in text[: -len(word)] for of in ("", "的", "の"))
            if text.startswith(word) or owned:
                found.add(number)
    return frozenset(found)


def _is_hiragana(unit: str) -> bool:
    return "\u3041" <= unit[0] <= "\u309f"


def _swapped(mine: Sequence[str], claim: Sequence[str]) -> bool:
    """Tell whether the clause has another value where the claim has its own.

    What remains after the common beginning and end differs on both sides, while the beginning
    reaches past the principal or the end opens with a case particle.
    """
    if mine[:1] != (PRINCIPAL,) and claim[:1] == (PRINCIPAL,):
        mine = (PRINCIPAL, *mine)
    if mine[-1:] != claim[-1:] and all(_is_hiragana(side[-1]) for side in (mine, claim) if side):
        mine, claim = mine[:-1], claim[:-1]  # an inflection
    start = 0
    while start < min(len(mine), len(claim)) and mine[start] == claim[start]:
        start += 1
    end = 0
    while end < min(len(mine), len(claim)) - start and mine[-1 - end] == claim[-1 - end]:
        end += 1
    left, right = len(mine) - start - end, len(claim) - start - end
    if not left or not right:
        return False
    if all(unit in _RELATING for unit in claim[start : start + right]):
        return False  # another verb of being somewhere, not another value
    rest = (*mine[start : start + left], *claim[start : start + right])
    if left == right == 1 and all(_is_hiragana(unit) for unit in rest):
        return False  # one Hiragana is an inflection, not a value
    after = claim[len(claim) - end] if end else ""
    if after in _PARTICLES:
        return True
    head = [unit for unit in claim[:start] if unit not in {PRINCIPAL, *_PARTICLES, "的"}]
    japanese = any("\u3041" <= unit[0] <= "\u30ff" for unit in claim)
    written = not any(_is_hiragana(unit) for unit in rest)
    if japanese and written and end >= max(left, right):
        return True
    return bool(head) and (not japanese or end > 0)


_COMPARED: Final = (
    re.compile("比起(?P<worse>[^，。更]+)(?:更|还是|還是)?"),
    re.compile("(?P<worse>[^、。はが]+)より"),
)


def _prefers_worse(quote: str, claim: str) -> bool:
    """Tell whether the claim prefers what the quote compares with: "A より B" for "B より A"."""
    for pattern in _COMPARED:
        said, wanted = pattern.search(quote), pattern.search(claim)
        if said is None:
            continue
        worse = said["worse"].replace(PRINCIPAL, "")
        rest = claim if wanted is None else claim.replace(wanted.group(), "")
        if worse and worse in rest:
            return True
    return False


def _other_topic(mine: Sequence[str], claim: Sequence[str]) -> bool:
    """Tell whether the clause is about the principal and the claim says it of a named other."""
    if mine[0] != PRINCIPAL or PRINCIPAL in claim:
        return False
    end = 0
    while end < min(len(mine) - 1, len(claim)) and mine[-1 - end] == claim[-1 - end]:
        end += 1
    return end == len(mine) - 1 and len(claim) > end > 0


def _fault(part: Part, claim: Part) -> str:
    """Return the rule by which a clause cannot support the claim, "" when none applies."""
    if part.question:
        return "question"
    if is_framed(part.heard, claim.text):
        return "quoted"
    if _kin_subjects(part) - kin_of(claim.text) or _other_topic(part.units, claim.units):
        return "other-subject"
    if _PAST.search(part.text) and not _PAST.search(claim.text):
        return "past"
    if _HYPOTHETICAL.search(part.text) and not _HYPOTHETICAL.search(claim.text):
        return "hypothetical"
    if _signs_differ(part.text, claim.text):
        return "polarity"
    if _prefers_worse(part.text, claim.text) or exchanges(part.text, claim.text):
        return "order"
    if _swapped(part.units, claim.units):
        return "slot"
    return ""


def score(quote: str, claim: str, names: Sequence[str]) -> tuple[float, str]:
    """Return the share of the claim's bigrams that usable clauses of the quote hold, with a rule.

    Both texts are folded (NFKC).  0.0 comes with the name of the rule that refused the support.
    """
    said, folded = without_article(fold_principal(quote, names), fold_principal(claim, names))
    beyond = overreach(said, folded)
    if beyond:
        return 0.0, beyond
    folded = without_wish(said, folded)
    asked = Part(_units(plain_japanese(folded)), folded, question=False)
    parts = _parts(said)
    heard = [unit for part in parts for unit in part.units]
    if not asked.units or not parts:
        return 0.0, "empty"
    if not _numbers(asked.units) <= _numbers(heard):
        return 0.0, "number"
    if not _latin(asked.units) <= _latin(heard):
        return 0.0, "name"
    if kin_of(asked.text) - kin_of(" ".join(part.text for part in parts)):
        return 0.0, "other-subject"
    wanted = _bigrams(asked.units)
    if PRINCIPAL not in heard:  # these languages drop a subject that is understood
        wanted = frozenset(pair for pair in wanted if PRINCIPAL not in pair) or wanted
    usable, clear, fault = _cover(parts, asked, wanted)
    if fault:
        return 0.0, fault
    share = len(usable) / len(wanted)
    if share < _HALF and any(_holds_in_order(part.units, asked.units) for part in clear):
        share = _HALF
    return share, "coverage"


_Pairs = frozenset[tuple[str, ...]]


def _cover(
    parts: Sequence[Part], asked: Part, wanted: _Pairs
) -> tuple[set[tuple[str, ...]], list[Part], str]:
    """Return the wanted pairs in usable clauses, these clauses, the fault of the best clause."""
    best, fault = 0, ""
    usable: set[tuple[str, ...]] = set()
    clear: list[Part] = []
    for part in parts:
        covered = _bigrams(part.units) & wanted
        reason = _fault(part, asked)
        if not reason:
            usable |= covered
            clear.append(part)
        if len(covered) > best or (len(covered) == best and not reason):
            best, fault = len(covered), reason
    return usable, clear, fault


_HALF: Final = 0.5
_MIN_ORDERED: Final = 3


def _holds_in_order(mine: Sequence[str], claim: Sequence[str]) -> bool:
    """Tell whether a clause has all units of the claim in their order, with others between."""
    wanted = [unit for unit in claim if unit not in _RELATING and unit != PRINCIPAL]
    rest = iter(mine)
    return len(wanted) >= _MIN_ORDERED and all(unit in rest for unit in wanted)


def stems_of_unspaced(text: str, names: Sequence[str]) -> frozenset[str]:
    """Return the pairs of units of a folded text without principal, negation or attitude."""
    bare = fold_principal(text, names)
    for pattern in (_DISLIKING, _LIKING, _NEGATION):
        bare = pattern.sub("", bare)
    sequence = [unit for unit in units(bare) if unit != PRINCIPAL]
    return frozenset("".join(pair) for pair in _bigrams(sequence))

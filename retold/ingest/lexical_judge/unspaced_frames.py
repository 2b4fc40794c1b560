"""Frames of Chinese and Japanese that say one thing, put into one; what they leave to others."""

from __future__ import annotations

import re
from typing import Final

PRINCIPAL: Final = "\ue000"
"""Private-use character that stands for the principal in folded text."""

_KANA: Final = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_MEASURES: Final = "名位个個家只隻条條辆輛本张張件间間所份种種台部座支匹头頭棵杯人匹冊"
_CHINESE: Final = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        ("一般(?!般)|通常|平时|平時|平常|往往|日常", ""),
        ("(?:的?(?:职业|職業|工作|身份|职务|職務)是)", "是"),
        ("担任|擔任|充当|充當|当上|當上", "是"),
        (f"(?<![应應相正适適每恰])[当當](?![时時天年地初然前心场場中事成作{PRINCIPAL}])", "是"),
        ("(?<![叫订訂])做(?![饭飯菜梦夢])", "是"),
        (
            "(?:最|很|非常|特别|特別|十分|超级?|真的?|比较|比較|挺|蛮|蠻)?"
            "(?:不(?:太|怎么|怎麼|大|是很)?(?:喜欢|喜歡|爱(?!人)|愛)|讨厌|討厭|厌恶|厭惡|受不了|反感)",
            "讨厌",
        ),
        (
            "(?:最|很|非常|特别|特別|十分|超级?|真的?|比较|比較|挺|蛮|蠻)?"
            "(?:喜欢|喜歡|喜爱|喜愛|热爱|熱愛|钟爱|鍾愛)",
            "喜欢",
        ),
        ("(?<![营營培保修休疗療])[养養](?![老成病生殖护護料分])了?着?|拥有|擁有", "有"),
        (
            f"(?:请|請)?(?:直接|就)?(?:叫|称呼|稱呼|喊)(?:{PRINCIPAL})(?:为|為|作|做)?",
            f"{PRINCIPAL}叫",
        ),
        ("(?:希望|想要?)?(?:别人|大家)?被(?:称为|稱為|称作|称呼为|叫)", "叫"),
        ("(?<=叫)([^，。,!！]+?)(?:就行了?|就好了?|就可以了?|即可|吧)(?=$|[，。,!！])", r"\1"),
    )
)
"""Each pattern with the plain form it stands for; the later ones see what the earlier left."""
_JAPANESE: Final = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        (
            "((?:再?来|今|先|毎|翌)[週月年日]|昨[日年]|去年|明日|明後日|今[日夜朝晩]|\\d+月|午[前後]"
            "|週末|[月火水木金土日]曜日?)の(?=.)",
            r"\1",
        ),
        ("へ(?=[一-鿿])", "に"),
        ("好き(?:じゃ|では?)(?:ない|ありません)(?:です)?|苦手|嫌い", "嫌い"),
        ("大好き|好み", "好き"),
        (
            "([^、。,\\s]{1,24})と呼(?:んで(?:ください|下さい|ほしい|欲しい)?(?:です)?|ばれたい|ばれている)",
            rf"{PRINCIPAL}叫\1",
        ),
        ("(?<=[一-鿿ァ-ヶー])として働いて(?:います|いる)|をして(?:います|いる)", "だ"),
    )
)
_ONE: Final = re.compile(f"1(?=[{_MEASURES}])[{_MEASURES}]")
_COUNTED: Final = re.compile(r"\d+")

_WORK: Final = (
    "小说|小說|书|書|故事|电影|電影|剧|劇|动画|動畫|漫画|漫畫|歌词|歌詞|歌|诗|詩|广告|廣告|游戏|遊戲|文章"
    "|新闻|新聞|海报|海報|标语|標語|梦|夢|剧本|劇本"
)
_FRAME: Final = re.compile(
    f"(?:{_WORK})(?:里面?|裡面?|中|上)?(?:说|說|写|寫|讲|講|唱|道)|(?:{_WORK})(?:里|裡|中)"
    "|主角|主人公|男主|女主|旁白|台词|台詞|叙述者|敘述者"
    "|(?:小説|本|物語|映画|ドラマ|漫画|アニメ|広告|歌詞|歌|ゲーム|夢|CM|記事)(?:で|の中|に(?:は|よると))"
    "|ナレーター|語り手"
)
_ALWAYS: Final = re.compile(
    "总是|總是|每天|每次|所有|全部|一直|从不|從不|从来|從來|都|いつも|毎日|毎回|すべて|全て|全部|必ず|決して"
)
_PARTLY: Final = re.compile(
    "偶尔|偶爾|有时|有時|很少|几乎|幾乎|大多|大部分|有些|部分|一半|たまに|時々|ときどき|めったに|ほとんど|大抵|一部"
)
_ONCE: Final = re.compile(
    "这次|這次|这一|這一|上次|那次|今天|今晚|今早|昨天|昨晚|这封|這封|这篇|這篇|这个|這個"
    "|今回|今日|今夜|昨日|前回|この"
)
_TASTE: Final = re.compile("喜欢|讨厌|希望|偏好|爱|愛|好き|嫌い|いつも|所有|总是|總是|都")
_SKILLED: Final = re.compile(
    "精通|流利|流畅|流暢|母语|母語|专家|專家|擅长|擅長|熟练|ペラペラ|得意|堪能"
)
_TOLERATES: Final = re.compile(
    "还行|還行|还可以|還可以|凑合|湊合|能接受|可以接受|一般般|无所谓|無所謂|没意见|沒意見|不介意|习惯了"
    "|まあまあ|別にいい|構わない|普通"
)
_LIKES: Final = re.compile("喜欢|喜歡|爱|愛|好き")
_REQUEST: Final = re.compile(
    "请|請|麻烦|麻煩|尽量|盡量|务必|務必|记得|記得|最好|别|別|不要|[短长長快慢多少简][一]?[点點些]"
    "|一[点點些]|ください|下さい|お願い|ほしい|欲しい"
)
_WISH: Final = re.compile(
    "(?:更)?(?:喜欢|希望|偏好|想要|要求|倾向于|傾向於)|(?:を|が)?(?:好む|望む|希望する)"
)
_JOINTS: Final = re.compile(
    "[和与與及跟、]|以及|并且|並且|还有|還有|(?<=[一-鿿ァ-ヶー])[とや](?![呼言思いし])"
)
_EMPTY: Final = re.compile(f"[{PRINCIPAL}的了是有也还還很都はがをにでのとも,，。.!！?？\\s]")


def plain_frames(text: str) -> str:
    """Return folded text of Han or Kana with its frames in their plain form."""
    if _KANA.search(text):
        for pattern, plain in _JAPANESE:
            text = pattern.sub(plain, text)
        return text
    for pattern, plain in _CHINESE:
        text = pattern.sub(plain, text)
    return text


def without_article(quote: str, claim: str) -> tuple[str, str]:
    """Return both texts without "one" before a measure word, where nothing else is counted.

    "一家银行" is "a bank"; beside "两家" it is a number and stays.
    """
    if {*_COUNTED.findall(quote), *_COUNTED.findall(claim)} != {"1"}:
        return quote, claim
    return _ONE.sub("", quote), _ONE.sub("", claim)


def without_wish(quote: str, claim: str) -> str:
    """Return the claim without its verb of wishing when the quote is a request: that is a wish."""
    if not _REQUEST.search(quote) or not _WISH.search(claim):
        return claim
    bare = _WISH.sub("", claim)
    return claim if bare.strip("。. ") == PRINCIPAL else bare.replace(PRINCIPAL, "")


def is_framed(clause: str, claim: str) -> bool:
    """Tell whether a clause gives the words of a story, a song, an advertisement, a dream."""
    found = _FRAME.search(clause)
    return found is not None and found.group()[:2] not in claim


def overreach(quote: str, claim: str) -> str:
    """Return the rule by which a claim goes beyond its quote, "" when it does not."""
    if _adds_part(quote, claim):
        return "part"
    if _ALWAYS.search(claim) and _PARTLY.search(quote) and not _ALWAYS.search(quote):
        return "scope"
    once = _ONCE.search(quote)
    if once and once.group() not in claim and _TASTE.search(claim) and _REQUEST.search(quote):
        return "scope"
    if _SKILLED.search(claim) and not _SKILLED.search(quote):
        return "strength"
    if _LIKES.search(claim) and _TOLERATES.search(quote) and not _LIKES.search(quote):
        return "strength"
    return ""


def _adds_part(quote: str, claim: str) -> bool:
    """Tell whether one of the things that the claim joins is not in the quote at all."""
    segments = [_EMPTY.sub("", part) for part in _JOINTS.split(claim)]
    held = [part for part in segments if part]
    return len(held) > 1 and any(_untouched(part, quote) for part in held)


def _untouched(part: str, quote: str) -> bool:
    if len(part) == 1:
        return part not in quote
    return not any(part[n : n + 2] in quote for n in range(len(part) - 1))


def exchanges(quote: str, claim: str) -> bool:
    """Tell whether the claim is the clause with what stands before and after its verb exchanged."""
    mine, theirs = _EMPTY.sub("", quote), _EMPTY.sub("", claim)
    if len(mine) != len(theirs) or mine == theirs or sorted(mine) != sorted(theirs):
        return False
    if any(mark in quote + claim for mark in "把被"):
        return False
    size = len(theirs)
    return any(
        theirs[end:] + theirs[start:end] + theirs[:start] == mine
        for start in range(1, size - 1)
        for end in range(start + 1, size)
    )

"""Words and characters too frequent to say what a query is about."""

from __future__ import annotations

from typing import Final

# Function words among the most frequent words of English, whole classes at a time, the stems that
# contractions leave behind ("won't" leaves "will") and contractions typed without an apostrophe.
_ARTICLES_AND_DETERMINERS = """
a an the this that these those some any each every either neither another other such both all few
many much more most own same no
"""
_PRONOUNS = """
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself
she her hers herself it its itself they them their theirs themselves
"""
_QUESTION_WORDS = "what which who whom whose when where why how"
_AUXILIARIES = """
am is are was were be been being do does did doing have has had having
can could will would shall should may might must ought
"""
_PREPOSITIONS = """
about after at before between by during for from in into of off on onto out over since through to
under until up with without
"""
_CONJUNCTIONS = "and or but nor so yet if because as than while though although whether unless"
_ADVERBS = """
not too very just only also even still again ever then there here now
"""
_CONVERSATION = "please let lets etc eg ie"
_TYPED_CONTRACTIONS = """
im ive youre youve theyre theyve weve hes shes thats whats whos wheres hows theres heres
dont doesnt didnt isnt arent wasnt werent havent hasnt hadnt cant couldnt wont wouldnt shouldnt
aint
"""

ENGLISH_STOP_WORDS: Final[frozenset[str]] = frozenset(
    " ".join(
        (
            _ARTICLES_AND_DETERMINERS,
            _PRONOUNS,
            _QUESTION_WORDS,
            _AUXILIARIES,
            _PREPOSITIONS,
            _CONJUNCTIONS,
            _ADVERBS,
            _CONVERSATION,
            _TYPED_CONTRACTIONS,
        )
    ).split()
)

NAME_HOMOGRAPHS: Final[frozenset[str]] = frozenset({"will", "may"})
"""Function words that are also given names or months: with a capital inside a sentence, a name."""

ACRONYM_HOMOGRAPHS: Final[frozenset[str]] = frozenset({"it", "us", "who"})
"""Function words that are also acronyms: in capitals inside a mixed-case query, an acronym."""

# Function words of unspaced scripts. A stretch of a run that one of these covers says nothing by
# itself; where they overlap content the n-gram with the content character still counts.
_CHINESE = """
的 了 是 我 你 您 他 她 它 们 們 在 有 不 没 沒 这 這 那 个 個 和 与 與 或 就 都 也 很 吗
嗎 呢 吧 啊 呀 嘛 着 著 过 過 得 把 被 给 給 对 對 从 從 到 于 於 以 之 其 而 但 为 為 所
因 会 會 能 要 可 什 么 麼 怎 哪 谁 誰 几 幾 何 一 及 等 还 還 又 再 将 將 让 讓 并 並 只
更 最 已 跟 如 若 请 請 些 多少 时候 時候
"""
_JAPANESE = """
は が の を に へ と も で や か ね よ な だ た て
です ます でした ました する した して しま から まで より など これ それ あれ どれ ここ そこ どこ
この その あの どの なに なぜ いつ だれ という
こと もの ため ある あり いる ない なる なり れる られ
には では とは へは かも よね だが ので のに ください ませ でき 何
"""
_KOREAN = """
은 는 이 가 을 를 의 에 도 와 과 로 만 다 요 고
나는 내가 나의 저는 제가 저의 우리 너는 네가 그는 그가 이것 그것 저것
에서 으로 에게 부터 까지 처럼 하고 하는 했던 했다 한다 있는 있다 없는 없다 이다
무엇 무슨 어디 언제 누구 어떤 어떻 왜 뭐 습니 입니 니다 까요
"""
_THAI = """
ที่ ของ และ ใน เป็น ได้ มี ไม่ ว่า การ ความ ให้ จะ ไป มา กับ นี้ นั้น ก็ แต่ หรือ โดย จาก แล้ว อยู่
คือ ซึ่ง ถ้า เมื่อ เพราะ ด้วย อีก กัน ต้อง เคย ยัง ถูก แห่ง ต่อ ตาม เพื่อ
อะไร ไหม ใคร เท่าไร เท่าใด อย่างไร ทำไม เมื่อไร ไหน ใด กี่ ครับ ค่ะ คะ นะ
ฉัน ผม เรา คุณ เขา เธอ มัน
"""
_LAO = "ທີ່ ຂອງ ແລະ ໃນ ເປັນ ໄດ້ ມີ ບໍ່ ວ່າ ການ ຄວາມ ໃຫ້ ຈະ ໄປ ມາ ກັບ ນີ້ ນັ້ນ ແຕ່ ຫຼື ຈາກ ແລ້ວ ຢູ່ ແມ່ນ ຫຍັງ ໃຜ ໃສ"
_KHMER = "ដែល នៃ និង ក្នុង ជា បាន មាន មិន ថា ការ ឱ្យ ឲ្យ នឹង ទៅ មក នេះ នោះ ឬ ដោយ ពី ហើយ នៅ អ្វី ណា"
_BURMESE = "သည် တွင် နှင့် ကို မှာ က ၏ များ မှ သို့ ရှိ တယ် မယ် ဘာ ဘယ် လား ပါ ဖြစ် နဲ့"

UNSPACED_STOP_WORDS: Final[frozenset[str]] = frozenset(
    " ".join((_CHINESE, _JAPANESE, _KOREAN, _THAI, _LAO, _KHMER, _BURMESE)).split()
)
"""Written as people type them; compare after NFKC, which takes some Thai and Lao vowels apart.

A single Kana or Hangul letter is a particle only behind the word it belongs to, so it never covers
the first character of a run: なか and 도로 are words.
"""

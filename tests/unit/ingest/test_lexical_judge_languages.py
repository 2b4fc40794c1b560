"""Two claims in another language than English: what contradicts, what is the same, what neither."""

from __future__ import annotations

import pytest

from retold.ingest.lexical_judge import LexicalJudge

JUDGE = LexicalJudge()

CONTRADICTS = [
    ("用户住在成都。", "用户住在长沙。", "slot:home"),
    ("用户单身。", "用户已婚。", "marital"),
    ("用户吃牛肉。", "用户不吃牛肉。", "negation"),
    ("用户喜欢榴莲。", "用户讨厌榴莲。", "polarity"),
    ("用户今年三十岁。", "用户今年三十五岁。", "slot:age"),
    ("用户有两个孩子。", "用户有三个孩子。", "number"),
    ("用户在小米工作。", "用户在华为上班。", "slot:employer"),
    ("用户的会议在3月5日。", "用户的会议在3月8日。", "date"),
    ("ユーザーは東京に住んでいる。", "ユーザーは名古屋に住んでいる。", "slot:home"),
    ("ユーザーは肉を食べる。", "ユーザーは肉を食べない。", "negation"),
    ("ユーザーは納豆が好きだ。", "ユーザーは納豆が嫌いだ。", "polarity"),
    ("Der Nutzer wohnt in Kiel.", "Der Nutzer wohnt in Jena.", "slot:home"),
    ("Der Nutzer isst Fleisch.", "Der Nutzer isst kein Fleisch.", "negation"),
    ("Der Nutzer hat zwei Kinder.", "Der Nutzer hat drei Kinder.", "number"),
    ("Die Prüfung ist am 3. Mai.", "Die Prüfung wurde auf den 9. Mai verlegt.", "date"),
    ("Der Nutzer arbeitet bei Bosch.", "Der Nutzer arbeitet bei Siemens.", "slot:employer"),
    ("Die Frau des Nutzers heißt Ida.", "Die Frau des Nutzers heißt Eva.", "slot:name"),
    ("Der Nutzer ist ledig.", "Der Nutzer ist verheiratet.", "antonym"),
    ("El usuario come carne.", "El usuario no come carne.", "negation"),
    ("L'utilisateur habite à Lyon.", "L'utilisateur habite à Nantes.", "slot:home"),
    ("De gebruiker woont in Gent.", "De gebruiker woont in Breda.", "slot:home"),
    ("O utilizador mora em Braga.", "O utilizador mora em Faro.", "slot:home"),
    ("L'utente abita a Lecce.", "L'utente abita a Bari.", "slot:home"),
    ("Пользователь живёт в Казани.", "Пользователь живёт в Омске.", "slot:home"),
]
SAME = [
    ("用户住在成都。", "用户家住成都。"),
    ("用户的狗叫旺财。", "用户的狗名字是旺财。"),
    ("用户不喜欢香菜。", "用户讨厌香菜。"),
    ("比起茶,用户更喜欢咖啡。", "用户更喜欢咖啡而不是茶。"),
    ("ユーザーは東京に住んでいます。", "ユーザーは東京に住んでいる。"),
    ("Der Nutzer hat am 3. Mai Geburtstag.", "Der Geburtstag des Nutzers ist am 3.5."),
    ("Der Nutzer verträgt kein Gluten.", "Der Nutzer kann Gluten nicht vertragen."),
    ("Montags schwimmt der Nutzer.", "Der Nutzer schwimmt montags."),
]
NEITHER = [
    ("用户住在成都。", "用户的妹妹住在长沙。"),
    ("用户以前住在成都。", "用户住在长沙。"),
    ("用户会说法语。", "用户会说日语。"),
    ("用户想去冰岛。", "用户想去秘鲁。"),
    ("用户的猫叫豆豆。", "用户的狗叫年糕。"),
    ("用户养了一只猫。", "用户养了两只狗。"),
    ("比起茶,用户更喜欢咖啡。", "用户更喜欢茶而不是咖啡。"),
    ("ユーザーの兄は東京に住んでいる。", "ユーザーは名古屋に住んでいる。"),
    ("ユーザーは昔東京に住んでいた。", "ユーザーは名古屋に住んでいる。"),
    ("Der Nutzer mag keine Oliven.", "Der Nutzer mag keine Kapern."),
    ("Der Nutzer wohnt in Kiel.", "Die Schwester des Nutzers wohnt in Jena."),
    ("Der Nutzer wohnte in Kiel.", "Der Nutzer wohnt in Jena."),
    ("Der Nutzer hat zwei Katzen.", "Der Nutzer hat drei Kinder."),
    ("Der Nutzer zieht von Ulm nach Trier.", "Der Nutzer zieht von Trier nach Ulm."),
    ("Der Nutzer trinkt morgens Tee.", "Der Nutzer trinkt abends Kaffee."),
    ("Die Tochter des Nutzers heißt Ida.", "Der Sohn des Nutzers heißt Max."),
]


@pytest.mark.parametrize(("a", "b", "rule"), CONTRADICTS, ids=[row[0] for row in CONTRADICTS])
def test_judge_contradicts_across_values_and_signs_in_both_orders(
    a: str, b: str, rule: str
) -> None:
    first, second = JUDGE.judge(a, b), JUDGE.judge(b, a)

    assert (first.label, first.rule) == ("contradicts", rule)
    assert (second.label, second.rule) == ("contradicts", rule)


@pytest.mark.parametrize(("a", "b"), SAME, ids=[row[0] for row in SAME])
def test_judge_joins_one_claim_in_two_wordings(a: str, b: str) -> None:
    assert JUDGE.judge(a, b).label == JUDGE.judge(b, a).label == "same"


@pytest.mark.parametrize(("a", "b"), NEITHER, ids=[f"{row[0]} {row[1]}" for row in NEITHER])
def test_judge_leaves_other_holders_times_and_things_apart(a: str, b: str) -> None:
    assert JUDGE.judge(a, b).label in {"distinct", "unknown"}
    assert JUDGE.judge(b, a).label in {"distinct", "unknown"}

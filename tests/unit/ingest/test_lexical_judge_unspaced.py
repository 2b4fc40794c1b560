"""Support between two Chinese or two Japanese texts: frames, scope, speakers, exchanges."""

from __future__ import annotations

import pytest

from retold.ingest.lexical_judge import LexicalJudge

JUDGE = LexicalJudge()
FLOOR = 0.5


def passes(quote: str, claim: str) -> bool:
    """Tell whether a pair is scored and reaches the floor."""
    verdict = JUDGE.support(quote, claim)
    return verdict is not None and verdict.entails is not None and verdict.entails >= FLOOR


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("我在一家银行做会计", "用户在银行当会计。"),
        ("我是一名律师", "用户的职业是律师。"),
        ("我在小学当老师", "用户是小学老师。"),
        ("我平时早上七点起床", "用户通常早上七点起床。"),
        ("代码注释写短一点", "用户喜欢短的代码注释。"),
        ("请用中文回答我", "用户希望用中文回答。"),
        ("叫我阿明就行", "用户希望被称为阿明。"),
        ("我最讨厌香菜", "用户不喜欢香菜。"),
        ("我养了一只狗", "用户有一只狗。"),
        ("我每天走八公里", "用户每天走8公里。"),
        ("来週の月曜日に大阪へ出張します", "ユーザーは来週月曜日に大阪に出張する。"),
        ("明日の朝、病院に行きます", "ユーザーは明日朝、病院に行く。"),
        ("ケンと呼んでください", "ユーザーはケンと呼ばれたい。"),
        ("甘いものが苦手です", "ユーザーは甘いものが嫌いだ。"),
    ],
)
def test_one_frame_supports_another(quote: str, claim: str) -> None:
    assert passes(quote, claim)


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("我想当律师", "用户是律师。"),
        ("我没当过律师", "用户是律师。"),
        ("我弟弟在银行做会计", "用户在银行当会计。"),
        ("我在银行做会计", "用户在医院当会计。"),
        ("我有两个孩子", "用户有一个孩子。"),
        ("小说里的主角说他是医生", "用户是医生。"),
        ("广告说我能瘦十斤", "用户能瘦十斤。"),
        ("歌词里唱我来自北方", "用户来自北方。"),
        ("他说\u201c我住在天津\u201d", "用户住在天津。"),
        ("我家的猫咬了狗", "用户家的狗咬了猫。"),
        ("我会一点法语", "用户精通法语。"),
        ("我偶尔喝酒", "用户每天喝酒。"),
        ("我觉得豆腐还行", "用户喜欢豆腐。"),
        ("我有一只猫", "用户有一只猫和一只狗。"),
        ("这次回答请用英文", "用户希望所有回答都用英文。"),
        ("来月の12日に引っ越します", "ユーザーは来月10日に引っ越す。"),
        ("小説の主人公は看護師です", "ユーザーは看護師だ。"),
        ("たまにジムに行きます", "ユーザーは毎日ジムに行く。"),
        ("犬を飼っています", "ユーザーは犬と猫を飼っている。"),
    ],
)
def test_other_people_values_wishes_and_excess_are_refused(quote: str, claim: str) -> None:
    assert not passes(quote, claim)

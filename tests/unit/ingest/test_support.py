"""The support rule, sentence by sentence: honest quotes pass the floor, dishonest ones do not."""

from __future__ import annotations

import pytest

from retold.ingest.lexical_judge import LexicalJudge

JUDGE = LexicalJudge()
FLOOR = 0.5

# The examples of the decisions, then variants of the same class.
PASS = {
    "a negated clause with its own predicate": [
        ("I can't eat peanuts, I'm allergic.", "The user is allergic to peanuts"),
        ("I can't drink milk because I'm intolerant to lactose.", "The user is lactose intolerant"),
        ("No shellfish for me, I'm allergic to it.", "The user is allergic to shellfish"),
        ("I don't like mornings, so call me in the evening.", "Call the user in the evening"),
    ],
    "dates compared as dates": [
        ("We moved the release to 19 March.", "The release date is 19 March"),
        ("We moved the release to 19 March.", "The release is on March 19th"),
        ("We moved the release to 19 March.", "Release date: 2026-03-19"),
        ("The offsite starts on 2026-06-04.", "The offsite starts on 4 June 2026"),
        ("The invoice is due 03/31.", "The invoice is due on 31 March"),
        ("Stand-up is every Monday at 9:30.", "The stand-up is on Mondays at 9:30"),
        ("I was born on May 3rd, 1990.", "The user was born on 3 May 1990"),
    ],
    "a whole turn": [
        ("Call me Jo.", "The user's name is Jo"),
        ("Call me Jo.", "Name is Jo"),
        ("Call me Jo.", "The user wants to be called Jo"),
        ("I'm vegan.", "The user is vegan"),
        ("31", "The user is 31"),
        ("Berlin.", "The user lives in Berlin"),
    ],
    "first person folded with the principal": [
        ("I live in Oslo.", "The user lives in Oslo"),
        ("We use Postgres.", "The user uses Postgres"),
        ("My favourite colour is teal.", "The user's favourite colour is teal"),
        ("I'm a nurse.", "The user works as a nurse"),
        ("I've got two kids.", "The user has 2 children"),
    ],
    "polarity equal": [
        ("I don't eat meat.", "The user does not eat meat"),
        ("I no longer eat meat.", "The user does not eat meat"),
        ("I quit smoking last year.", "The user does not smoke"),
        ("I can't stand jazz.", "The user dislikes jazz"),
        ("I like tea but not juice.", "The user likes tea"),
        ("Use tabs, not spaces.", "The user prefers tabs"),
    ],
    "the present clause beside a past one": [
        ("I used to live in Oslo, now I live in Bergen.", "The user lives in Bergen"),
        ("My brother plays chess, but I play go.", "The user plays go"),
        ("If it rains I take the bus, otherwise I cycle.", "The user cycles"),
    ],
    "numbers and times as values": [
        ("Lunch is at half past twelve.", "Lunch is at 12:30"),
        ("We leave at quarter to nine.", "They leave at 8:45"),
        ("Our call is at noon.", "The call is at 12:00"),
        ("I'm forty-one.", "The user is 41 years old"),
    ],
    "times with their half of the day": [
        ("My flight is at six in the morning.", "The user's flight is at 6 am"),
        ("The invoice is due 5.4.2026.", "The invoice is due on 5 April 2026"),
    ],
    "another reading of a word": [
        ("I ended up buying the blue one.", "The user bought the blue one"),
        ("I'd say I'm an introvert.", "The user is an introvert"),
        ("I need a quiet room.", "The user needs a quiet room"),
        ("Don't call me after 8pm.", "The user does not want calls after 8pm"),
        ("Ben owes me 50 euros.", "Ben owes the user 50 euros"),
        ("We use Kafka for events and Redis for caching.", "The team uses Redis for caching"),
        ("I use dark mode except in my terminal.", "The user uses dark mode"),
        ("Jonas is 34 and I'm 36.", "Jonas is 34"),
        ("My partner's a chef and I'm a medic.", "The user's partner is a chef"),
        ("Dr. Okafor is my dentist.", "The user's dentist is Dr. Okafor"),
        ("I moved in with Carla, she's my girlfriend.", "The user's girlfriend is Carla"),
        ("The limit was raised from 100 to 250 calls.", "The limit is 250 calls"),
        ("I'm neither vegan nor vegetarian.", "The user is not vegan"),
        ("Only my left ear is deaf.", "The user's left ear is deaf"),
        ("Everyone calls me Bex.", "The user is called Bex"),
    ],
    "an answer whose question is the claim's": [
        ("Blue.", "The user's favourite colour is blue"),
    ],
    "a request is a preference": [
        ("Bullet points, please.", "The user prefers bullet points"),
        ("Short answers please.", "The user wants short answers"),
    ],
    "a clause that its question takes for granted": [
        ("Since I'm vegan, what can I order here?", "The user is vegan"),
        ("Can you remember that my lease ends on 2 May?", "The user's lease ends on 2 May"),
    ],
    "somebody else about the principal's things": [
        ("My boss raised the budget to 900.", "The user's budget is 900"),
        ("Our new clerk Ines speaks Farsi.", "The user's colleague Ines speaks Farsi"),
    ],
    "a possibility of both": [
        ("We're thinking of buying a boat.", "The user is considering buying a boat"),
    ],
    "the clause of the claim that corresponds": [
        ("My back hurts after the fall, so no rowing.", "The user does not row, the back hurts"),
    ],
    "the same relation": [
        ("My sister works at Acme.", "The user's sister works at Acme"),
        ("My dog is called Rex.", "The user has a dog called Rex"),
        ("My sister and I live in Oslo.", "The user lives in Oslo"),
        ("My doctor says I'm allergic to latex.", "The user is allergic to latex"),
    ],
    "Han, Kana, Thai, Hangul": [
        ("我对花生过敏", "用户对花生过敏"),
        ("我们住在北京。", "用户住在北京"),
        ("我叫小明", "用户的名字是小明"),
        ("我的邮箱是li@example.cn", "用户的邮箱是li@example.cn"),
        ("会议改到星期三了", "会议在星期三"),
        ("我今年三十一岁。", "用户31岁"),
        ("私は東京に住んでいます。", "ユーザーは東京に住んでいる"),
        ("私はピーナッツアレルギーです", "ユーザーはピーナッツアレルギーです"),
        ("お酒は飲みません。", "ユーザーはお酒を飲まない"),
        ("ฉันแพ้ถั่วลิสง", "ผู้ใช้แพ้ถั่วลิสง"),
        ("저는 서울에 살아요", "사용자는 서울에 살아요"),
    ],
    "other languages of one script": [
        ("Je suis allergique aux arachides.", "L'utilisateur est allergique aux arachides"),
        ("La réunion est le 19 mars.", "La réunion a lieu le 19 mars"),
        ("Ich bin allergisch gegen Erdnüsse.", "Der Nutzer ist allergisch gegen Erdnüsse"),
        ("Ich wohne in Berlin.", "Der Nutzer wohnt in Berlin"),
        ("Ich arbeite bei Siemens.", "Der Nutzer arbeitet bei Siemens"),
        ("Soy alérgico a los cacahuetes.", "El usuario es alérgico a los cacahuetes"),
        ("Vivo en Madrid con mi familia.", "El usuario vive en Madrid"),
        ("Я живу в Москве.", "Пользователь живет в Москве"),
    ],
}

FAIL = {
    "number": [
        ("I have two kids.", "The user has 3 children"),
        ("My budget is 1,200 euros.", "The budget is 1,300 euros"),
        ("My budget is 1,200 euros.", "The budget is 1,200 dollars"),
        ("I have one dog and three cats.", "The user has three dogs"),
        ("I am 31.", "The user is 13"),
        ("I joined in 2011 and got promoted in 2014.", "The user joined in 2014"),
        ("The roof was mended before we bought the house in 2018.", "The roof was mended in 2018"),
        ("My flight is at six in the morning.", "The user's flight is at 6 pm"),
    ],
    "date": [
        ("We moved the release to 19 March.", "The release is on 20 March"),
        ("We moved the release to 19 March.", "The release is on 19 May"),
        ("We moved the release to March.", "The release is on 19 March"),
        ("The offsite starts on 2026-06-04.", "The offsite starts on 4 June 2027"),
        ("Stand-up is on Monday.", "The stand-up is on Friday"),
    ],
    "name": [
        ("I live in Oslo.", "The user lives in Bergen"),
        ("I prefer tea.", "Priya prefers tea"),
        ("I work at a bank.", "The user works at Acme"),
        ("ok thanks", "The user is an engineer in Seattle"),
        ("Write to me at lena@example.org.", "The user's address is lena@example.com"),
        ("This is Karl's laptop.", "The user's name is Karl"),
        ("My cat is called Pixel.", "The user's cat is called Vector"),
        ("We deploy to eu-west-1.", "The team deploys to us-east-1"),
        ("It is at github.com/acme/rocket.", "It is at github.com/acme/racket"),
    ],
    "question": [
        ("Do you like sushi?", "The user likes sushi"),
        ("Is the release on 19 March?", "The release is on 19 March"),
        ("Should I move to Oslo", "The user moves to Oslo"),
        ("Explain what Kafka is.", "The user knows Kafka"),
    ],
    "other-subject": [
        ("My friend thinks I'm allergic to wasps but I'm not.", "The user is allergic to wasps"),
        ("My sister works at Google.", "The user works at Google"),
        ("I think my brother lives in Oslo.", "The user lives in Oslo"),
        ("My wife's name is Ana.", "The user's name is Ana"),
        ("My sister lives in Oslo and works at Acme.", "The user works at Acme"),
        ("She is a nurse.", "The user is a nurse"),
        ("Priya prefers tea", "The user prefers tea"),
        ("I work at Acme.", "The user's sister works at Acme"),
        ("Tell my brother to use vim.", "The user uses vim"),
        ("I teach Ana, and Ben teaches me.", "The user teaches Ben"),
        ("Emma beat me at chess.", "The user beat Emma at chess"),
        ("It's my wife who is allergic to eggs.", "The user is allergic to eggs"),
        ("The man next door plays the drums.", "The user plays the drums"),
        ("The client wants the logo in green.", "The user wants the logo in green"),
        ("Nadia from sales approved it.", "The user approved it"),
        ("Priya and Sam have met for four years.", "The user has met Sam for four years"),
        ("I'm learning Dutch because my wife is from Ghent.", "The user's wife is learning Dutch"),
        ("Oslo is beautiful.", "The user lives in Oslo"),
        ("Our new clerk Ines speaks Farsi.", "The user speaks Farsi"),
    ],
    "past": [
        ("I used to live in Oslo", "The user lives in Oslo"),
        ("I lived in Oslo for years.", "The user lives in Oslo"),
        ("I was a nurse.", "The user is a nurse"),
        ("I had a dog as a child.", "The user has a dog"),
        (
            "The gym on Main Street closed, I used to go there.",
            "The user goes to the gym on Main Street",
        ),
        ("My former employer is Acme.", "The user's employer is Acme"),
    ],
    "hypothetical": [
        ("If I lived in Oslo I would cycle.", "The user lives in Oslo"),
        ("I might move to Oslo.", "The user moves to Oslo"),
        ("I want to learn Thai.", "The user learns Thai"),
        ("I'd like to adopt a dog.", "The user adopts a dog"),
        ("Suppose I work at Acme.", "The user works at Acme"),
        ("I almost bought the blue one.", "The user bought the blue one"),
        ("I always wanted to be a pilot.", "The user is a pilot"),
        ("My coach suggested I keep a sleep diary.", "The user keeps a sleep diary"),
        ("I applied for a job at Ericsson.", "The user works at Ericsson"),
        ("I doubt that I'm an introvert.", "The user is an introvert"),
        ("I hope to finish my thesis in May.", "The user finished the thesis in May"),
    ],
    "polarity": [
        ("I don't eat meat.", "The user eats meat"),
        ("I no longer eat meat.", "The user eats meat"),
        ("I stopped smoking.", "The user smokes"),
        ("I quit smoking.", "The user smokes"),
        ("I hate jazz.", "The user likes jazz"),
        ("I'm not allergic to nuts.", "The user is allergic to nuts"),
        ("I eat meat.", "The user does not eat meat"),
        ("I don't drink coffee.", "The user likes coffee"),
        ("I rarely eat fish.", "The user often eats fish"),
        ("None of us eats pork.", "The user eats pork"),
        ("I'm from Turku but I don't live there.", "The user lives in Turku"),
        ("I'd rather not have the aisle.", "The user prefers the aisle"),
        ("I don't mind early meetings.", "The user hates early meetings"),
        ("I have yet to get a driving licence.", "The user has a driving licence"),
    ],
    "fragment": [
        ("Use tabs, not spaces.", "The user prefers spaces"),
        ("Use tabs not spaces.", "The user uses spaces"),
        ("I like tea but not juice.", "The user likes juice"),
        ("Coffee without milk, please.", "The user takes milk"),
        ("I eat everything except olives.", "The user eats olives"),
    ],
    "order": [
        ("I prefer tea over juice.", "The user prefers juice over tea"),
        ("I prefer tea to juice.", "The user prefers juice"),
        ("I like trains more than planes.", "The user likes planes more than trains"),
        ("I prefer buses less than trains.", "The user prefers buses"),
        ("I owe Ben 50 euros.", "Ben owes the user 50 euros"),
        ("I'm moving out of Graz.", "The user moves to Graz"),
    ],
    "slot": [
        ("My favourite colour is blue.", "The user's favourite colour is red"),
        ("I prefer dark mode.", "The user prefers light mode"),
        ("I work as a nurse in a clinic.", "The user works as a teacher in a clinic"),
        ("i live in oslo", "the user lives in bergen"),
        ("I love Lyon, but I teach in Nice.", "The user teaches in Lyon"),
        ("Call me Max.", "The user lives with Max"),
        ("I met Erik at work yesterday.", "The user's name is Erik"),
        ("My office is on Elm Road, I live on Oak Lane.", "The user lives on Elm Road"),
        ("I see a dentist at St. Olav.", "The user is a dentist"),
        ("I drink tea at home and juice at work.", "The user drinks juice at home"),
    ],
    "coverage": [
        ("It rained all day in the mountains.", "The user was promoted"),
        ("Thanks for the help with the report.", "The user collects old stamps"),
    ],
}

UNSPACED_FAIL = [
    ("我喜欢在河边散步", "用户出生在火星"),
    ("我不喜欢咖啡", "用户喜欢咖啡"),
    ("我讨厌咖啡", "用户喜欢咖啡"),
    ("我姐姐在谷歌工作", "用户在谷歌工作"),
    ("我以前住在北京", "用户住在北京"),
    ("我住在北京", "用户住在上海"),
    ("我有两只猫", "用户有3只猫"),
    ("如果我住在北京就好了", "用户住在北京"),
    ("你住在北京吗？", "用户住在北京"),
    ("姉は東京に住んでいます", "ユーザーは東京に住んでいます"),
    ("私は東京に住んでいます", "ユーザーは大阪に住んでいます"),
    ("紅茶よりコーヒーが好きです", "ユーザーはコーヒーより紅茶が好き"),
    ("週末はいつもジムに行きます", "ユーザーは平日いつもジムに行く"),
    ("比起茶我更喜欢咖啡", "用户更喜欢茶"),
    ("我小时候住在成都", "用户住在成都"),
    ("私は札幌で働いています", "ユーザーは福岡で働いている"),
    ("コーヒーは飲みません", "ユーザーはコーヒーを飲みます"),
    ("昔は東京に住んでいました", "ユーザーは東京に住んでいます"),
    ("ฉันไม่ชอบกาแฟ", "ผู้ใช้ชอบกาแฟ"),
    ("พี่สาวของฉันทำงานที่กูเกิล", "ผู้ใช้ทำงานที่กูเกิล"),
]

FOREIGN_FAIL = [
    ("Ma sœur travaille chez Acme.", "L'utilisateur travaille chez Acme"),
    ("Je n'aime pas le café.", "L'utilisateur aime le café"),
    ("La réunion est le 19 mars.", "La réunion a lieu le 20 mars"),
    ("J'ai deux enfants.", "L'utilisateur a trois enfants"),
    ("Ich mag keine Pilze.", "Der Nutzer mag Pilze"),
    ("Ich wohne in Berlin.", "Der Nutzer wohnt in Hamburg"),
    ("Früher wohnte ich in Berlin.", "Der Nutzer wohnt in Berlin"),
    ("Mi hermana trabaja en Acme.", "El usuario trabaja en Acme"),
    ("¿Vives en Madrid?", "El usuario vive en Madrid"),
    ("Vivo en Madrid.", "El usuario vive en Sevilla"),
    ("Antes trabajaba en un hospital.", "El usuario trabaja en un hospital"),
    ("J'habitais à Lyon.", "L'utilisateur habite à Lyon"),
]

UNSCORED = [
    ("Je suis allergique aux arachides et au soja.", "The user works on a farm"),
    ("我对花生过敏", "The user is allergic to peanuts"),
    ("I am allergic to peanuts", "用户对花生过敏"),
    ("ฉันแพ้ถั่วลิสง", "The user is allergic to peanuts"),
    ("私は東京に住んでいます", "The user lives in Tokyo"),
    ("Я живу в Москве", "The user lives in a big city"),
    ("xyzzy plugh frotz", "The user is allergic to peanuts"),
]


def flat(table):
    return [
        pytest.param(*row, id=f"{kind}: {row[0]}") for kind, rows in table.items() for row in rows
    ]


@pytest.mark.parametrize(("quote", "claim"), flat(PASS))
def test_support_passes_an_honest_quote(quote, claim):
    verdict = JUDGE.support(quote, claim)

    assert verdict is not None
    assert verdict.entails >= FLOOR


@pytest.mark.parametrize(
    ("quote", "claim", "rule"),
    [
        pytest.param(*row, kind, id=f"{kind}: {row[0]}")
        for kind, rows in FAIL.items()
        for row in rows
    ],
)
def test_support_refuses_a_dishonest_quote_by_the_rule_for_its_kind(quote, claim, rule):
    verdict = JUDGE.support(quote, claim)

    assert verdict is not None
    assert verdict.entails < FLOOR
    assert verdict.rule == f"support:{rule}"


@pytest.mark.parametrize(("quote", "claim"), UNSPACED_FAIL + FOREIGN_FAIL)
def test_support_refuses_a_dishonest_quote_in_other_languages(quote, claim):
    verdict = JUDGE.support(quote, claim)

    assert verdict is not None
    assert verdict.entails < FLOOR


@pytest.mark.parametrize(("quote", "claim"), UNSCORED)
def test_support_scores_nothing_when_script_or_language_is_not_shared(quote, claim):
    assert JUDGE.support(quote, claim) is None


def test_support_refuses_another_number_even_across_scripts():
    verdict = JUDGE.support("我今年31岁", "The user is 45 years old")

    assert verdict is not None
    assert verdict.entails == 0.0


NAMES = [
    ("I prefer tea", "Priya prefers tea", ("Priya",), True),
    ("Priya prefers tea", "The user prefers tea", ("Priya",), True),
    ("Priya prefers tea", "Sam prefers tea", ("Priya",), False),
    ("I live in Oslo", "Ana Berg lives in Oslo", ("Ana", "Ana Berg"), True),
    ("Call me Jo", "The user's name is Jo", ("Jo",), True),
    ("I will call you in May", "Will likes tea", ("Will",), False),
    ("I like tea", "Will likes tea", ("Will",), True),
    ("我喜欢茶", "小明喜欢茶", ("小明",), True),
    ("我喜欢茶", "小红喜欢茶", ("小明",), False),
    ("I like tea", "X likes tea", ("X",), False),
]


@pytest.mark.parametrize(("quote", "claim", "names", "passes"), NAMES)
def test_support_folds_the_names_of_the_principal_only(quote, claim, names, passes):
    """Names of one character are too short to fold."""
    verdict = JUDGE.support(quote, claim, names=names)

    assert verdict is not None
    assert (verdict.entails >= FLOOR) is passes


@pytest.mark.parametrize(
    ("quote", "claim"), [("", "The user is vegan"), ("I'm vegan", ""), ("", ""), ("…", "?")]
)
def test_support_gives_zero_when_a_side_says_nothing(quote, claim):
    verdict = JUDGE.support(quote, claim)

    assert verdict is not None
    assert verdict.entails == 0.0


@pytest.mark.parametrize(
    "said",
    [
        "雨天不要走，改走西边的隧道。",
        "Never deploy on Fridays; deploy on Tuesdays instead.",
        "Ana no longer eats meat, she eats fish.",
    ],
)
def test_a_statement_supports_itself_whatever_its_clauses_deny(said):
    verdict = LexicalJudge().support(said, said)

    assert verdict.entails == 1.0
    assert verdict.rule == "support:equal"


def test_a_question_does_not_support_itself():
    asked = "Is Ana allergic to walnuts?"

    assert LexicalJudge().support(asked, asked).entails == 0.0


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        ("我对花生不过敏。", "用户对花生过敏"),
        ("我對花生不過敏。", "用戶對花生過敏"),
        ("我不同意这个方案。", "用户同意这个方案"),
    ],
)
def test_a_negation_that_begins_like_another_word_is_still_one(said, claim):
    """不过 is "however", but 不过敏 is "not allergic"."""
    assert LexicalJudge().support(said, claim).entails == 0.0

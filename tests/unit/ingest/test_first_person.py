import pytest

from retold.ingest.first_person import speaks_in_first_person, with_the_user


@pytest.mark.parametrize(
    "quote",
    [
        "I moved to Lisbon in June.",
        "That's mine.",
        "Call me Jo.",
        "We have moved to Porto now.",
        "it makes us happy",
        "Je suis allergique aux noix.",
        "Das ist meine Schwester.",
        "A mí me gusta el té.",
        "Я живу в Осло.",
        "我对花生过敏",
        "私はお茶が好きです",
        "ฉันแพ้ถั่วลิสง",
        "저는 서울에 살아요",
    ],
)
def test_quote_of_its_own_speaker_is_known(quote):
    assert speaks_in_first_person(quote)


@pytest.mark.parametrize(
    "quote",
    [
        "Priya prefers tea.",
        "The user prefers tea.",
        "She lives in the US.",
        "The release moved to 19 March.",
        "Der Benutzer mag Tee.",
        "用户对花生过敏",
        "Priya 喜欢茶",
        "",
        "!",
    ],
)
def test_quote_about_somebody_else_is_not_in_the_first_person(quote):
    assert not speaks_in_first_person(quote)


@pytest.mark.parametrize(
    ("claim", "names", "said"),
    [
        ("Ana likes tea.", ("Ana",), "the user likes tea."),
        ("ANA's sister likes Anabel.", ("Ana",), "the user's sister likes Anabel."),
        ("Ana Lima likes tea.", ("Ana", "Ana Lima"), "the user likes tea."),
        ("X likes tea.", ("X",), "X likes tea."),
        ("May lives where it may rain.", ("May",), "the user lives where it may rain."),
        ("May lives where it may rain.", ("may",), "the user lives where it may rain."),
        ("小明喜欢茶", ("小明",), "the user喜欢茶"),
        ("Ana likes tea.", (), "Ana likes tea."),
        ("Ana (a.k.a. A+) likes tea.", ("A+",), "Ana (a.k.a. the user) likes tea."),
    ],
    ids=[
        "name",
        "possessive",
        "longest",
        "one_letter",
        "month",
        "month_id",
        "unspaced",
        "none",
        "pattern",
    ],
)
def test_names_of_the_principal_are_replaced_the_longest_first(claim, names, said):
    assert with_the_user(claim, names) == said

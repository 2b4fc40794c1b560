"""One thing said in another frame: feelings, choices, offices, names, passives."""

from __future__ import annotations

import pytest

from retold.ingest.lexical_judge import LexicalJudge

JUDGE = LexicalJudge()
FLOOR = 0.5


def entails(quote: str, claim: str, *names: str) -> float | None:
    """Return the score of a pair, None when it is not scored."""
    verdict = JUDGE.support(quote, claim, names=names)
    return None if verdict is None else verdict.entails


def passes(quote: str, claim: str, *names: str) -> bool:
    """Tell whether a pair is scored and reaches the floor."""
    score = entails(quote, claim, *names)
    return score is not None and score >= FLOOR


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("I find opera dreadful", "The user dislikes opera."),
        ("I find gardening so relaxing", "The user enjoys gardening."),
        ("I think reality TV is awful", "The user dislikes reality TV."),
        ("Loud music drives me crazy", "The user dislikes loud music."),
        ("Small talk gets on my nerves", "The user dislikes small talk."),
        ("Olives make me sick", "The user dislikes olives."),
        ("Musicals bore me", "The user dislikes musicals."),
        ("Jazz fascinates me", "The user likes jazz."),
        ("Wasps terrify me", "The user is afraid of wasps."),
        ("Can't get enough of sushi", "The user loves sushi."),
        ("Tea for me, coffee makes me jittery", "The user prefers tea to coffee."),
        ("Trains over planes any day", "The user prefers trains to planes."),
        ("I'd pick tea over coffee every time", "The user prefers tea to coffee."),
    ],
)
def test_feeling_or_choice_supports_the_taste_it_shows(quote: str, claim: str) -> None:
    assert passes(quote, claim)


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("I find opera dreadful", "The user likes opera."),
        ("I don't find opera boring", "The user dislikes opera."),
        ("Do you find opera boring?", "The user dislikes opera."),
        ("Musicals bore me", "The user likes musicals."),
        ("Loud music drives my wife crazy", "The user dislikes loud music."),
        ("I found my keys in an awful mess", "The user dislikes keys."),
        ("Tea for me, coffee makes me jittery", "The user prefers coffee to tea."),
        ("I don't mind techno", "The user loves techno."),
        ("I can live with Windows", "The user likes Windows."),
        ("I'm used to night shifts", "The user loves night shifts."),
    ],
)
def test_feeling_or_choice_does_not_support_another_taste(quote: str, claim: str) -> None:
    assert not passes(quote, claim)


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("They elected me chair of the board", "The user is chair of the board."),
        ("I was promoted to team lead", "The user is team lead."),
        ("I've been made a partner at the firm", "The user is a partner at the firm."),
        ("I got appointed treasurer of the club", "The user is treasurer of the club."),
    ],
)
def test_appointment_supports_the_office(quote: str, claim: str) -> None:
    assert passes(quote, claim)


@pytest.mark.parametrize(
    "quote",
    [
        "They made my sister head of sales",
        "They nearly made me head of sales",
        "They want to make me head of sales",
        "They made me wait for the head of sales",
        "They did not make me head of sales",
        "If they made me head of sales I'd quit",
    ],
)
def test_appointment_of_another_or_none_does_not_support_the_office(quote: str) -> None:
    assert not passes(quote, "The user is head of sales.")


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("I'm married to Ines", "The user's wife is named Ines."),
        ("I'm married to Ines", "The user's spouse is called Ines."),
        ("My wife's name is Ines", "The user's spouse is named Ines."),
        ("my daughter Ida is six", "The user has a child named Ida."),
        ("We've got a son, Max", "The user has a son named Max."),
        ("My friends call me Gus", "The user is called Gus."),
        ("people know me as Lex", "The user goes by Lex."),
        ("Nenn mich bitte Leo", "Der Nutzer möchte Leo genannt werden."),
        ("Sag ruhig Kati zu mir", "Die Nutzerin möchte Kati genannt werden."),
        ("Mein Name ist Jens", "Der Nutzer heißt Jens."),
        ("Appelle-moi Luc", "L'utilisateur veut être appelé Luc."),
        ("Llámame Pepe", "El usuario quiere que lo llamen Pepe."),
    ],
)
def test_every_way_of_naming_supports_the_name(quote: str, claim: str) -> None:
    assert passes(quote, claim)


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("My brother is married to Ines", "The user's wife is named Ines."),
        ("I was married to Ines", "The user's spouse is named Ines."),
        ("I met Ines, she's married", "The user's spouse is named Ines."),
        ("I'm married to Ines", "The user's spouse is named Paula."),
        ("I called Max yesterday", "The user is called Max."),
        ("Nenn mich bitte Leo", "Der Nutzer möchte Max genannt werden."),
        ("Mein Bruder heißt Leo", "Der Nutzer heißt Leo."),
    ],
)
def test_naming_of_another_or_by_another_name_does_not_support_it(quote: str, claim: str) -> None:
    assert not passes(quote, claim)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The bakery is owned by the user.", "The user owns the bakery."),
        ("The song was written by Ana.", "Ana wrote the song."),
        ("Rex is the name of the user's goat.", "The user's goat is called Rex."),
        ("Learning Greek is something the user wants to do.", "The user wants to learn Greek."),
        ("The user is a parent of three.", "The user has three children."),
        ("Snakes scare the user.", "The user is afraid of snakes."),
    ],
)
def test_judge_joins_two_frames_of_one_claim(a: str, b: str) -> None:
    assert JUDGE.judge(a, b).label == "same"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The goat was chased by the user.", "The goat chased the user."),
        ("The parcel is sent by Friday.", "Friday sends the parcel."),
        ("The user is a parent of three.", "The user has two children."),
        ("The user is a mother of three.", "The user is a parent of three."),
    ],
)
def test_judge_keeps_other_roles_apart(a: str, b: str) -> None:
    assert JUDGE.judge(a, b).label != "same"

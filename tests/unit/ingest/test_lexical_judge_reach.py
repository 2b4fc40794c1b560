"""What a quote does not say for the principal: others' words, more than it says, the reverse."""

from __future__ import annotations

import pytest

from retold.ingest.lexical_judge import LexicalJudge

JUDGE = LexicalJudge()
FLOOR = 0.5


def entails(quote: str, claim: str, *names: str) -> float:
    """Return the score of a pair that is scored."""
    verdict = JUDGE.support(quote, claim, names=names)
    assert verdict is not None
    assert verdict.entails is not None
    return verdict.entails


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ('The narrator of the book says: "I grew up in Malta"', "The user grew up in Malta."),
        ('My favourite song goes "I was born by a river"', "The user was born by a river."),
        ("There's a meme that says 'I run on coffee'", "The user runs on coffee."),
        (
            "\u201cI speak four languages\u201d, the candidate said",
            "The user speaks four languages.",
        ),
        ('Translate this: "I am a dentist from Cork"', "The user is a dentist from Cork."),
        ("A colleague once told me 'I never drink tea'", "The user never drinks tea."),
        ("In the movie I saw last night the hero is a beekeeper", "The user is a beekeeper."),
        ("In the game my character owns a castle", "The user owns a castle."),
        (
            "Write a story where the main character is allergic to bees",
            "The user is allergic to bees.",
        ),
        ("In this podcast the host says she's vegan", "The user is vegan."),
        ("the lyrics are like I live in Memphis", "The user lives in Memphis."),
        ("Someone on the bus told me they keep ferrets", "The user keeps ferrets."),
        ("Die Werbung sagt: \u201eIch habe zehn Katzen\u201c", "Der Nutzer hat zehn Katzen."),
    ],
)
def test_words_of_a_work_or_of_another_speaker_support_nothing(quote: str, claim: str) -> None:
    assert entails(quote, claim) < FLOOR


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("My doctor says I have asthma", "The user has asthma."),
        ('I told my boss "I\'m leaving in May"', "The user is leaving in May."),
        ('My motto is "I never give up"', "The user never gives up."),
        ('My name is "Robin"', "The user's name is Robin."),
        ("I work in film, mostly as an editor", "The user works in film as an editor."),
        ("In the film industry I'm a gaffer", "The user is a gaffer in the film industry."),
        ("I'm the narrator of an audiobook", "The user is the narrator of an audiobook."),
        ("I'm writing a novel about bees", "The user is writing a novel about bees."),
        ("My brother says he works at Bosch", "The user's brother works at Bosch."),
        ('"I keep bees in Bonn"', "The user keeps bees in Bonn."),
    ],
)
def test_the_principals_own_words_count_also_between_quotation_marks(
    quote: str, claim: str
) -> None:
    assert entails(quote, claim) >= FLOOR


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("I like Go", "Go is the user's favourite language."),
        ("I quite like opera", "The user loves opera."),
        ("I'm not fond of dogs", "The user hates dogs."),
        ("I know a bit of Spanish", "The user is fluent in Spanish."),
        ("I have some experience with Rust", "The user is an expert in Rust."),
        ("I sometimes cycle to work", "The user always cycles to work."),
        ("I rarely eat meat", "The user never eats meat."),
        ("I usually wake at six", "The user always wakes at six."),
        ("Most of my books are in English", "All of the user's books are in English."),
        ("one of my sons plays chess", "All the user's sons play chess."),
        ("My Monday class was cancelled", "All of the user's classes were cancelled."),
        ("I didn't enjoy that last trip to Rome", "The user dislikes trips to Rome."),
        ("make this answer short please", "The user prefers short answers."),
        ("No onions tonight please", "The user dislikes onions."),
        ("For this report, use Arial", "The user wants Arial in all reports."),
    ],
)
def test_claim_that_is_stronger_or_more_general_than_its_quote_is_refused(
    quote: str, claim: str
) -> None:
    assert entails(quote, claim) < FLOOR


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("I love techno", "The user likes techno."),
        ("I'm a huge fan of opera", "The user loves opera."),
        ("I really like opera", "The user loves opera."),
        ("My favourite language is Go", "The user likes Go."),
        ("I run daily", "The user runs every day."),
        ("I work from home on Fridays", "The user works from home every Friday."),
        ("Always answer in German", "The user wants all answers in German."),
        ("I didn't like the last Dune film", "The user did not like the last Dune film."),
        ("I like this weather", "The user likes this weather."),
        ("I love this job", "The user loves their job."),
        ("I usually take the tram", "The user usually takes the tram."),
    ],
)
def test_claim_as_strong_and_general_as_its_quote_passes(quote: str, claim: str) -> None:
    assert entails(quote, claim) >= FLOOR


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("I have two cats", "The user has two cats and a dog."),
        ("I'm allergic to nuts", "The user is allergic to nuts and shellfish."),
        ("I drink coffee", "The user drinks coffee with oat milk."),
        ("I play the piano", "The user plays the piano and teaches it to children."),
        ("Ich habe eine Katze", "Der Nutzer hat eine Katze und einen Hund."),
    ],
)
def test_claim_with_a_part_that_the_quote_has_not_is_refused(quote: str, claim: str) -> None:
    assert entails(quote, claim) < FLOOR


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("I live in Bath, work in Bristol", "The user lives in Bath and works in Bristol."),
        ("I've got epilepsy", "The user has been diagnosed with epilepsy."),
        ("bread and butter for breakfast, that's me", "The user eats bread and butter."),
    ],
)
def test_claim_whose_parts_are_all_in_the_quote_passes(quote: str, claim: str) -> None:
    assert entails(quote, claim) >= FLOOR


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("My brother called my sister", "The user's sister called the user's brother."),
        ("The kid pushed my neighbour", "The user's neighbour pushed the kid."),
        ("My dad hired Lena", "Lena hired the user's dad."),
        ("We flew from Porto to Bern", "The user flew from Bern to Porto."),
        ("I shower after breakfast", "The user has breakfast after a shower."),
        ("I swapped coffee for tea", "The user swapped tea for coffee."),
        ("My sister is older than me", "The user is older than their sister."),
        ("I'm taller than my brother", "The user's brother is taller than the user."),
        ("Mia is my boss", "The user is Mia's boss."),
    ],
)
def test_claim_with_its_parts_exchanged_is_refused(quote: str, claim: str) -> None:
    assert entails(quote, claim) < FLOOR


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("The goat was chased by my dog", "The user's dog chased the goat."),
        ("My dog chased the goat round the garden", "The user's dog chased the goat."),
        ("I moved to Kiel from Bonn", "The user moved from Bonn to Kiel."),
        ("I'm older than my sister", "The user is older than their sister."),
        ("Mia is my sister", "The user is Mia's sister."),
        ("After work I swim", "The user swims after work."),
    ],
)
def test_other_word_order_with_the_same_roles_passes(quote: str, claim: str) -> None:
    assert entails(quote, claim) >= FLOOR


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("I'm saving up for a Tesla", "The user has a Tesla."),
        ("My dream is to live by the sea", "The user lives by the sea."),
        ("I've been meaning to learn Thai", "The user learned Thai."),
        ("I'm looking for a flat in Graz", "The user lives in Graz."),
        ("I was offered a job at Bosch", "The user works at Bosch."),
        ("I lack patience", "The user has patience."),
    ],
)
def test_what_is_sought_offered_or_lacking_is_not_had(quote: str, claim: str) -> None:
    assert entails(quote, claim) < FLOOR


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("My neighbour's dog is deaf", "The user's dog is deaf."),
        ("We hired Ana, who lives in Graz", "The user lives in Graz."),
        ("A friend of mine is a pilot", "The user is a pilot."),
        ("The lead singer told the crowd he's from Leeds", "The user is from Leeds."),
        ("Write a poem about cats", "The user has cats."),
        ("Explain diabetes to a child", "The user has diabetes."),
        ("According to the brochure we speak five languages", "The user speaks five languages."),
    ],
)
def test_what_is_of_another_or_only_a_task_is_not_the_principals(quote: str, claim: str) -> None:
    assert entails(quote, claim) < FLOOR


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("I'm looking for a flat in Graz", "The user is looking for a flat in Graz."),
        ("My dog is deaf", "The user's dog is deaf."),
        ("My sister Eva, who lives in Graz, is a vet", "The user's sister Eva lives in Graz."),
        ("My employer is Bosch", "The user works at Bosch."),
        ("Write my emails in Spanish", "The user wants their emails in Spanish."),
        ("I can't live without coffee", "The user loves coffee."),
    ],
)
def test_what_the_principal_has_seeks_or_asks_for_is_supported(quote: str, claim: str) -> None:
    assert entails(quote, claim) >= FLOOR


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("My manager reports to me", "The user reports to their manager."),
        ("The red team beat the blue team", "The blue team beat the red team."),
        ("I don't hate broccoli", "The user loves broccoli."),
        ("I'm getting used to the new desk", "The user loves the new desk."),
        ("The customer wrote: I live in Porto", "The user lives in Porto."),
        ("use British spelling for this doc", "The user wants British spelling everywhere."),
        ("I work at Bosch", "The user works at Bosch as an engineer."),
    ],
)
def test_other_roles_degrees_writers_and_additions_are_refused(quote: str, claim: str) -> None:
    assert entails(quote, claim) < FLOOR


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("My manager reports to me", "The user's manager reports to the user."),
        ("I wrote: I live in Porto", "The user lives in Porto."),
        ("I work at Bosch as an engineer", "The user works at Bosch as an engineer."),
    ],
)
def test_the_same_roles_writers_and_additions_pass(quote: str, claim: str) -> None:
    assert entails(quote, claim) >= FLOOR

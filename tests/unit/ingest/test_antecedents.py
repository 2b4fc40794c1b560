"""Whom "he" and "she" mean, and when nobody says."""

import pytest

from retold.ingest.antecedents import with_antecedents


@pytest.mark.parametrize(
    ("before", "text", "told"),
    [
        ("My aunt Odile moves in.", "She is deaf.", "my aunt Odile is deaf."),
        ("My aunt Odile moves in. She's old.", "He is deaf.", "He is deaf."),
        ("", "My nephew Al came. He snores.", "My nephew Al came. my nephew Al snores."),
        ("I met Rosa. My boss came, too.", "She is deaf.", "She is deaf."),
        ("Our boss is nice.\nIs your boss old?", "He's been ill.", "my boss has been ill."),
        ("My son rides with Karl.", "He is nine.", "He is nine."),
        ("My son is called Karl. Karl swims.", "He is nine.", "He is nine."),
        ("My son Karl swims. Karl is tall.", "He is nine.", "my son Karl is nine."),
        ("My mother and my father came.", "She sings.", "my mother sings."),
        ("My mother came. My aunt, too.", "She sings.", "She sings."),
        ("My son-in-law called.", "Send him his hat.", "Send my son-in-law my son-in-law's hat."),
        ("My niece lives in Rome.", "Her flat, call her.", "my niece's flat, call my niece."),
        ("My daughter came with her teacher.", "She plays chess.", "She plays chess."),
        ("My cousin hired an electrician.", "He is slow.", "He is slow."),
        ("The electrician was here.", "He was slow.", "the electrician was slow."),
        ("Tom's wife was here.", "She was late.", "She was late."),
        ("Sam here. My sister visited Sam.", "She was late.", "my sister was late."),
        ("My aunt is nice. Ana came, too.", "She was late.", "She was late."),
        ("My aunt is nice. Ana and I went home.", "She was late.", "She was late."),
        ("Many people love those. The list is long.", "She was late.", "She was late."),
        ("My sister came.", "It is late, they left.", "It is late, they left."),
        ("我姐姐来了", "She was late.", "She was late."),
    ],
)  # fmt: skip
def test_a_pronoun_is_the_one_person_it_can_mean_or_stays(before, text, told):
    assert with_antecedents(text, before, ["Sam"]) == told


def test_only_the_last_few_thousand_characters_before_are_looked_at():
    before = "My aunt sings. " + "so it goes. " * 400

    assert with_antecedents("She is deaf.", before, ()) == "She is deaf."

"""Support in the other languages written with spaces: persons, wishes, former states, exchanges."""

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
        ("Ich lese gern Krimis", "Der Nutzer liest gern Krimis."),
        ("Ich fahre mit dem Rad zur Arbeit", "Der Nutzer fährt mit dem Rad zur Arbeit."),
        ("Ich ernähre mich vegan", "Der Nutzer ernährt sich vegan."),
        ("Ich arbeite bei Bosch", "Der Nutzer arbeitet bei Bosch."),
        ("Je bois du thé le matin", "L'utilisateur boit du thé le matin."),
        ("No puedo comer gluten", "El usuario no puede comer gluten."),
        ("Tengo dos hijos", "El usuario tiene dos hijos."),
        ("Me llamo Rocío y vivo en Lugo", "La usuaria vive en Lugo."),
        ("Ik woon in Gent", "De gebruiker woont in Gent."),
        ("Prefiero el té al café", "El usuario prefiere el té al café."),
    ],
)
def test_first_person_supports_the_third(quote: str, claim: str) -> None:
    assert passes(quote, claim)


@pytest.mark.parametrize(
    ("quote", "claim"),
    [
        ("Ich wohnte in Kassel", "Der Nutzer wohnt in Kassel."),
        ("Ich arbeitete bei Bosch", "Der Nutzer arbeitet bei Bosch."),
        ("Ich war mal Vegetarier", "Der Nutzer ist Vegetarier."),
        ("Ich hatte einen Hund", "Der Nutzer hat einen Hund."),
        ("J'étais infirmier", "L'utilisateur est infirmier."),
        ("Quiero aprender a tocar el piano", "El usuario toca el piano."),
        ("Si tuviera dinero, compraría un coche", "El usuario tiene un coche."),
        ("J'habiterais bien à Lyon", "L'utilisateur habite à Lyon."),
        ("Ich rauche nicht mehr", "Der Nutzer raucht."),
        ("Ich ziehe von Ulm nach Trier", "Der Nutzer zieht von Trier nach Ulm."),
        ("Ich mag Tee lieber als Kaffee", "Der Nutzer mag Kaffee lieber als Tee."),
        ("Prefiero el té al café", "El usuario prefiere el café al té."),
        ("Kaffee finde ich okay", "Der Nutzer liebt Kaffee."),
        ("Im Roman ist der Held Vegetarier", "Der Nutzer ist Vegetarier."),
        ("El protagonista de la novela es argentino", "El usuario es argentino."),
    ],
)
def test_former_unreal_exchanged_and_fictional_things_are_refused(quote: str, claim: str) -> None:
    assert not passes(quote, claim)

"""Support by clauses that lack what another one holds, and by what is not the speaker's own.

A parenthesis or a list cut at its commas says the opposite of what was said, so the refusals here
guard against storing it as confirmed.
"""

from __future__ import annotations

import pytest

from retold.ingest.lexical_judge import LexicalJudge

JUDGE = LexicalJudge()
FLOOR = 0.5

DENIED = [
    # A parenthesis between the denial and its verb or complement.
    ("I don't, however, eat meat.", "The user eats meat"),
    ("I do not, as you know, eat meat.", "The user eats meat"),
    ("I never, ever, eat meat.", "The user eats meat"),
    ("I am not, for the record, a vegetarian.", "The user is a vegetarian"),
    ("I'm not, and never was, a smoker.", "The user is a smoker"),
    ("I cannot, sadly, swim.", "The user can swim"),
    ("I did not, in the end, move to Rome.", "The user moved to Rome"),
    ("I have not, thankfully, any allergies.", "The user has allergies"),
    ("We do not, at present, use Kafka.", "The team uses Kafka"),
    ("I do not think, honestly, that I like golf.", "The user likes golf"),
    ("I don't, to be fair, as a rule, eat meat.", "The user eats meat"),
    # One between a modal or a former habit and its verb.
    ("I would, if I could, live in Rome.", "The user lives in Rome"),
    ("I might, one day, live in Rome.", "The user lives in Rome"),
    ("I used to, years ago, live in Rome.", "The user lives in Rome"),
    # A denied list.
    ("I don't smoke, drink or gamble.", "The user gambles"),
    ("I don't smoke, drink, or gamble.", "The user drinks"),
    ("I don't smoke, drink, gamble.", "The user gambles"),
    ("I don't smoke or drink.", "The user drinks"),
    ("I never smoked or drank.", "The user drank"),
    ("I have never smoked, gambled or drunk.", "The user drinks"),
    ("I don't eat meat or drink wine.", "The user drinks wine"),
    ("I don't own a car, a bike or a boat.", "The user owns a boat"),
    ("We don't use Kafka, Redis or Celery.", "The team uses Celery"),
    # A dash that cuts nothing.
    ("I never — ever — eat meat.", "The user eats meat"),
    ("I'm not — and never was — a smoker.", "The user is a smoker"),
    ("I do not live in Porto — I live in Lisbon.", "The user lives in Porto"),
    ("I prefer tabs — not spaces.", "The user prefers spaces"),
    ("Not spaces — tabs.", "The user prefers spaces"),
    ("My sister — not me — works at Google.", "The user works at Google"),
    ("If I win — and only then — I move to Rome.", "The user moves to Rome"),
    ("I don't — I swear — smoke.", "The user smokes"),
    ("I do not — it should be said — have diabetes.", "The user has diabetes"),
    ("I don't think — I could be wrong — I'm allergic to nuts.", "The user is allergic to nuts"),
    ("Perhaps — we'll see — I have celiac.", "The user has celiac disease"),
    ("As soon as I retire - I move to Rome.", "The user moved to Rome"),
    ("I'm not sure - I have diabetes.", "The user has diabetes"),
    ("Not sure - I have diabetes.", "The user has diabetes"),
    ("No idea - I have ADHD.", "The user has ADHD"),
    ("Not yet - I live in Porto.", "The user lives in Porto"),
    ("My ex insists - I smoke.", "The user smokes"),
    ("Imagine this - I live in Rome.", "The user lives in Rome"),
    ("I don't go a week without running, swimming or cycling.", "The user does not swim"),
    ("That's wrong. You wrote I live in Porto, which is wrong.", "The user lives in Porto"),
    ("No diabetes - asthma - allergies.", "The user has asthma"),
    ("No meat — no fish — no eggs.", "The user eats fish"),
    ("Not diabetic - or asthmatic.", "The user is asthmatic"),
    ("No tengo — gracias a Dios — diabetes.", "El usuario tiene diabetes"),
    ("Non sono — come sai — vegetariano.", "L'utente è vegetariano"),
    # A reason or a further fact behind a denial is neither its end nor a member of a list.
    ("I can't, allergic to nuts.", "The user is not allergic to nuts"),
    ("I don't, vegan since 2010.", "The user is not vegan"),
    ("I don't drink, am diabetic, take insulin.", "The user does not take insulin"),
    ("I have no kids, two cats, a dog.", "The user does not have a dog"),
    ("I'm not married, work in IT, live in Porto.", "The user does not live in Porto"),
    ("I don't smoke, quit drinking, gave up gambling.", "The user drinks"),
    ("I don't eat meat, hate fish, love cheese.", "The user likes fish"),
    ("I can't see well, wear glasses or contacts.", "The user does not wear glasses"),
    ("I don't smoke, drink a glass or two on weekends.", "The user does not drink"),
    # What others think.
    ("My boss thinks I like golf.", "The user likes golf"),
    ("Everyone assumes I'm vegan.", "The user is vegan"),
    ("My mother suspects that I smoke.", "The user smokes"),
    # A condition that was not named, a stay that is no home.
    ("I don't think I'm allergic to cats.", "The user is allergic to cats"),
    ("I don't believe that I have ADHD.", "The user has ADHD"),
    ("It's possible that I have ADHD.", "The user has ADHD"),
    ("You said I live in Porto, but that's wrong.", "The user lives in Porto"),
    ("I avoid gluten.", "The user is allergic to gluten"),
    ("I can't stand mushrooms.", "The user is allergic to mushrooms"),
    ("I can't have any gluten.", "The user is allergic to gluten"),
    ("I'll be in Tokyo for two days.", "The user lives in Tokyo"),
    ("I'm here in Tokyo for two days.", "The user lives in Tokyo"),
    ("I'm in Tokyo this week.", "The user lives in Tokyo"),
]
SAID = [
    ("I don't, however, eat meat.", "The user does not eat meat"),
    ("I cannot, sadly, eat nuts.", "The user cannot eat nuts"),
    ("I'm not, as you know, a smoker.", "The user is not a smoker"),
    ("I am, as of today, vegan.", "The user is vegan"),
    ("I was, and still am, a nurse.", "The user is a nurse"),
    ("I don't smoke or drink.", "The user does not drink"),
    ("I don't smoke, drink or gamble.", "The user does not gamble"),
    ("I don't smoke, I drink.", "The user drinks"),
    ("I don't smoke, drink coffee instead.", "The user drinks coffee"),
    ("I'm not, I drink tea.", "The user drinks tea"),
    ("I'm not, thanks, I drink tea.", "The user drinks tea"),
    ("No, thanks, I drink tea.", "The user drinks tea"),
    ("Not only tea, coffee or juice, I drink beer.", "The user drinks beer"),
    ("I'm not in Lisbon, I live in Porto.", "The user lives in Porto"),
    ("No — I live in Porto.", "The user lives in Porto"),
    ("No - the meeting is on Wednesday.", "The meeting is on Wednesday"),
    ("No, not Tuesday — the meeting is on Wednesday.", "The meeting is on Wednesday"),
    ("Not green — my favourite colour is blue.", "The user's favourite colour is blue"),
    ("Not any more—I live in Porto.", "The user lives in Porto"),
    ("Nein — ich wohne in Porto.", "Der Nutzer wohnt in Porto"),
    ("The release is on 19 March — not 12 March.", "The release is on 19 March"),
    ("The trip starts on 10 May, in Rome.", "The trip starts on 10 May"),
    ("Not on 10 May, the trip starts on 12 June.", "The trip starts on 12 June"),
    ("I work Monday - Friday.", "The user works Monday to Friday"),
    ("I can't eat bread — I have celiac disease.", "The user has celiac disease"),
    ("I don't like opera — I love jazz.", "The user loves jazz"),
    ("I have no kids, two cats, a dog.", "The user has a dog"),
    ("I don't eat meat, love fish or seafood.", "The user loves fish"),
    ("I left as soon as I could, moved to Rome.", "The user moved to Rome"),
    ("I quit my job in early May, moved to Rome.", "The user moved to Rome"),
    ("Despite what people think I like golf.", "The user likes golf"),
    ("On second thought I prefer tea.", "The user prefers tea"),
    ("I react badly to nuts.", "The user is allergic to nuts"),
    ("My doctor says I'm allergic to nuts.", "The user is allergic to nuts"),
    ("I'm vegan because it's wrong to eat animals.", "The user is vegan"),
    ("I don't eat meat because it is wrong.", "The user does not eat meat"),
    ("You guessed I'm vegan.", "The user is vegan"),
    ("Hello there.\nNo — I live in Porto.", "The user lives in Porto"),
    ("I live in Porto. Some say Lisbon, that is wrong.", "The user lives in Porto"),
    ("My home is in Ghent and I commute to Brussels two days a week.", "The user lives in Ghent"),
    ("Still think I prefer tea to coffee.", "The user prefers tea"),
    ("No, that's wrong. I'm allergic to cats, not dogs.", "The user is allergic to cats"),
    ("I don't think I like golf.", "The user does not like golf"),
    ("I need it as soon as possible, that I know.", "The user needs it soon"),
    ("Peanuts and shellfish.", "The user is allergic to peanuts"),
    ("I think I like golf.", "The user likes golf"),
    ("Gluten.", "The user is allergic to gluten"),
    ("We moved on to Porto last week.", "The user lives in Porto"),
]


@pytest.mark.parametrize(("quote", "claim"), DENIED, ids=[quote for quote, _ in DENIED])
def test_a_quote_does_not_back_what_it_denies_or_leaves_open(quote, claim):
    assert JUDGE.support(quote, claim).entails < FLOOR


@pytest.mark.parametrize(("quote", "claim"), SAID, ids=[quote for quote, _ in SAID])
def test_a_quote_backs_what_it_says_across_marks(quote, claim):
    assert JUDGE.support(quote, claim).entails >= FLOOR

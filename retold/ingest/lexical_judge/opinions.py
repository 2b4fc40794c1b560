"""Words of judgement and feeling by which somebody says what they like, without saying "like"."""

from __future__ import annotations

from typing import Final


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


GOOD: Final = _words(
    "great amazing awesome fantastic wonderful brilliant excellent lovely delightful delicious",
    "beautiful gorgeous fascinating fun enjoyable relaxing soothing exciting thrilling inspiring",
    "superb incredible terrific marvellous marvelous fabulous magical tasty yummy charming",
    "captivating addictive satisfying rewarding stunning splendid heavenly pleasant interesting",
    "therapeutic calming uplifting engaging irresistible hilarious",
)
BAD: Final = _words(
    "awful terrible horrible dreadful boring dull tedious annoying irritating infuriating gross",
    "vile nasty ugly tiresome pointless overrated rubbish crap trash pathetic creepy depressing",
    "stressful frustrating miserable abysmal appalling atrocious lousy yucky icky gruesome",
    "cringe cringey cringy unpleasant exhausting painful distasteful",
    "monotonous insipid grating",
)
WORST: Final = _words(
    "unbearable insufferable intolerable disgusting revolting repulsive repugnant nauseating",
    "sickening loathsome abhorrent detestable hateful",
)
"""Adjectives of judgement; the last class is as strong as hate."""
_PLEASING: Final = (
    "delight fascinate amuse thrill excite relax soothe inspire charm captivate enchant calm uplift"
)
_AVERSE: Final = (
    "annoy bore bug irritate disgust repulse bother depress infuriate upset frustrate exhaust "
    "sadden offend appal horrify nauseate sicken revolt enrage aggravate"
)
_FRIGHTENING: Final = "scare terrify frighten petrify"


def _forms(bases: str, word: str) -> dict[str, str]:
    present = {
        form: word
        for base in bases.split()
        for form in (base, base[:-1] + "ies" if base.endswith("fy") else base + "s")
    }
    return present


FEELING: Final = (
    _forms(_PLEASING, "like") | _forms(_AVERSE, "dislike") | _forms(_FRIGHTENING, "fear")
)
"""Present forms of verbs whose object has the feeling, by what the object then does."""
DRIVEN: Final = _words("nuts crazy mad insane bonkers")
ILL: Final = _words(
    "sick ill angry mad furious nauseous uncomfortable gag cringe puke vomit retch shudder anxious",
    "nervous sad depressed miserable queasy uneasy jittery shiver",
)
WELL: Final = _words("happy smile calm relaxed cheerful content glad")
"""What something makes somebody do or be, after "makes me"."""
IDIOMS: Final = {
    tuple(source.split()): word
    for source, word in (
        ("get on my nerves", "dislike"),
        ("gets on my nerves", "dislike"),
        ("turn my stomach", "dislike"),
        ("turns my stomach", "dislike"),
        ("do my head in", "dislike"),
        ("does my head in", "dislike"),
        ("give me the creeps", "dislike"),
        ("gives me the creeps", "dislike"),
        ("give me the ick", "dislike"),
        ("gives me the ick", "dislike"),
        ("put me off", "dislike"),
        ("puts me off", "dislike"),
        ("drive me up the wall", "dislike"),
        ("drives me up the wall", "dislike"),
        ("leave me cold", "dislike"),
        ("leaves me cold", "dislike"),
        ("make my day", "like"),
        ("makes my day", "like"),
        ("bring me joy", "like"),
        ("brings me joy", "like"),
        ("give me joy", "like"),
        ("gives me joy", "like"),
        ("cheer me up", "like"),
        ("cheers me up", "like"),
    )
}
"""Whole idioms of the same kind, by their lower-case words."""
TOLERANCE: Final = _words(
    "okay ok fine alright acceptable tolerable tolerate tolerates bearable passable decent meh",
    "whatever neutral indifferent accept accepts accustomed",
)
"""Words that put up with something: neither liking nor disliking."""

"""Each lever on a generated set where it matters: without it, its metric falls by at least .10.

The sets are small, seeded and made of nonsense words, so that nothing but the lever tells the
records apart. Both ways run on one store.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from retold.models import SearchRequest
from retold.retrieve.retriever import Retriever
from tests.unit.retrieve.world import ANA, World, config

LEAST = 0.10
OPEN_GATE: dict[str, Any] = {
    "kind": "floors",
    "dense_floor": dict.fromkeys(("semantic", "episodic", "procedural"), -1.0),
    "lexical_min_term_fraction": 0.0,
    "relative_floor": 0.0,
}
WORDS_ONLY: dict[str, Any] = {"fusion": {"alpha": 0.0}}
MONTHS = "January February March April May June".split()


class Question(NamedTuple):
    """A search, the contents that answer it and how many results may hold them."""

    text: str
    gold: tuple[str, ...]
    k: int = 1
    entities: tuple[str, ...] | None = None


Story = Callable[[World, random.Random], Sequence[Question]]


def word(rng: random.Random) -> str:
    """Return a word that no language has and nothing stems."""
    return "".join(rng.choice("bdfgkmnprtvz") + rng.choice("aou") for _ in range(4)) + "k"


def recall(world: World, questions: Sequence[Question], levers: dict[str, Any]) -> float:
    """Return the share of gold that is found, over all questions."""
    retrieval = {"preset": "measured", "gate": OPEN_GATE} | levers
    found = wanted = 0
    retriever = Retriever(
        world.store,
        world.index,
        world.embedder,
        config(retrieval=retrieval, embedding={"dims": 384, "scripts": ("latin",)}),
        clock=world.clock,
    )
    with closing(retriever):
        for one in questions:
            request = SearchRequest((one.text,), one.k, entities=one.entities)
            results = retriever.search(ANA, request).results
            found += len(set(one.gold) & {result.record.content for result in results})
            wanted += len(one.gold)
    return found / wanted


def dated(world: World, rng: random.Random) -> list[Question]:
    """The same thing happens every month; a question asks about one of them."""
    topics = [word(rng) for _ in range(6)]
    questions = []
    for number, month in enumerate(MONTHS, start=1):
        for topic in topics:
            mark = word(rng)
            at = world.clock().replace(year=2025, month=number, day=rng.randint(8, 28))
            world.add(f"went to the {topic} {mark}", event_at=at)
            questions.append(
                Question(f"what about {topic} in {month} 2025", (f"went to the {topic} {mark}",))
            )
    return rng.sample(questions, 18)


def conversations(world: World, rng: random.Random) -> list[Question]:
    """A question names the topic of a conversation, and its answer lacks it."""
    questions = []
    for number in range(12):
        topic, value = word(rng), word(rng)
        said = [f"talked of {topic} at length", f"the deadline is {value}", f"likes {word(rng)}"]
        for part, content in enumerate(said):
            world.add(content, source_ref=f"host:{number}#{part}")
        questions.append(Question(f"{topic} deadline", (said[1],), k=3))
    return questions


def renewed(world: World, rng: random.Random) -> list[Question]:
    """What is told anew has one newest version; nothing else speaks for it."""
    topics = [word(rng) for _ in range(8)]
    newest = {}
    for _ in range(4):
        for topic in topics:
            newest[topic] = f"the number of the {topic} is {word(rng)}"
            world.add(newest[topic])
        world.later(days=40)
    return [Question(f"number of the {topic}", (newest[topic],)) for topic in topics]


def namesakes(world: World, rng: random.Random) -> list[Question]:
    """Most records are about one of two people, so that name weighs nothing in bm25."""
    questions = []
    for _ in range(12):
        topic = word(rng)
        longer, shorter = (
            " ".join([topic, *(word(rng) for _ in range(size))]) for size in (24, 23)
        )
        world.add(longer, about=["ana lima"])
        world.add(shorter, about=["bob reis"])
        world.add(word(rng), about=["ana lima"])
        questions.append(Question(f"{topic} ana lima", (longer,)))
    return questions


def restated(world: World, rng: random.Random) -> list[Question]:
    """Of four near-identical records two say the same; the others have another number."""
    questions = []
    for _ in range(8):
        topic, *filler = [word(rng) for _ in range(40)]
        text = f"{topic} {' '.join(filler)} costs"
        contents = [f"{text} 30", f"{text}  30", f"{text} 40", f"{text} 50"]
        for content in contents:
            world.embedder.similar(content, text, 0.995)
            world.add(content)
        questions.append(Question(text, (contents[2], contents[3]), k=3))
    return questions


def transcript(world: World, rng: random.Random) -> list[Question]:
    """What a question asks for was said right after what it matches."""
    questions = []
    for number in range(10):
        topic = word(rng)
        said = [word(rng), f"how was the {topic}", " ".join(word(rng) for _ in range(4)), word(rng)]
        for part, content in enumerate(said):
            world.add(content, type="episodic", source_ref=f"host:{number}#{part}")
        questions.append(Question(f"how was {topic}", (said[2],), k=3))
    return questions


def sittings(world: World, rng: random.Random) -> list[Question]:
    """Only the conversation as a whole holds all words; its turns hold one each."""
    questions = []
    for number in range(12):
        words = [word(rng) for _ in range(3)]
        said = [f"well {one} yes" for one in words]
        said += [" ".join(word(rng) for _ in range(3)), "fine then whenever again"]
        said[-1] += f" {word(rng)}"
        for part, content in enumerate(said):
            world.add(content, type="episodic", source_ref=f"host:{number}#{part}")
        questions.append(Question(f"{' '.join(words)} whenever", (said[-1],), k=5))
    return questions


def scoped(world: World, rng: random.Random) -> list[Question]:
    """Everybody has one, and the caller says whose is meant, not the query."""
    people = [word(rng) for _ in range(6)]
    for person in people:
        world.add(f"their locker is {word(rng)} {person}x", about=[person])
    with world.store.read() as tx:
        contents = {
            person: record.content
            for record in tx.records.by_seqs(range(1, 7)).values()
            for person in people
            if record.content.endswith(f"{person}x")
        }
    return [
        Question("which locker is it", (contents[person],), entities=(person,)) for person in people
    ]


def nicknamed(world: World, rng: random.Random) -> list[Question]:
    """Records write the name that the query does not use, and are not linked to anybody."""
    questions = []
    for _ in range(8):
        full, nick = word(rng), word(rng)
        content = f"saw {full} at lunch"
        world.add(content)
        world.add(f"hears {word(rng)} {nick}", about=[nick])
        with world.store.write() as tx:
            found = tx.entities.by_alias([nick], [tx.scopes.require(ANA.private_scope)])
            tx.entities.add_alias(found[nick][0].id, full)
        questions.append(Question(f"what about {nick}", (content,), k=2))
    return questions


def wordy(world: World, rng: random.Random) -> list[Question]:
    """What answers holds both words of a question and says a lot besides; others hold one each."""
    questions = []
    for _ in range(10):
        first, second = word(rng), word(rng)
        content = " ".join([first, second, *(word(rng) for _ in range(26))])
        for text in (content, f"{first} {word(rng)}", f"{second} {word(rng)}"):
            world.add(text)
        questions.append(Question(f"{first} {second}", (content,)))
    return questions


def pairs_of_words(world: World, rng: random.Random) -> list[Question]:
    """Only one record holds all that is asked for; shorter ones hold two words of it each."""
    questions = []
    for _ in range(10):
        asked = [word(rng) for _ in range(4)]
        content = " ".join([*asked, *(word(rng) for _ in range(10))])
        world.add(content, tokens=True)
        for at in range(4):
            world.add(f"{asked[at]} {asked[at - 1]}", tokens=True)
        questions.append(Question(" ".join(asked), (content,)))
    return questions


LEVERS: list[tuple[str, Story, dict[str, Any], dict[str, Any]]] = [
    ("date_interval", dated, {}, {"boosts": {"date_interval": 0.0}}),
    ("session", conversations, {}, {"boosts": {"session": 0.0}}),
    ("recency", renewed, WORDS_ONLY, {"freshness": {"kind": "off"}}),
    ("entity", namesakes, WORDS_ONLY, {"entities": {"tie_break": 0.0}}),
    ("bm25", wordy, WORDS_ONLY, {"bm25": {"k1": 1.2, "b": 0.75}}),
    ("duplicates", restated, {}, {"duplicates": "collapse"}),
    ("neighbour", transcript, {"context": "turns"}, {"boosts": {"neighbour": 0.0}}),
    ("session_text", sittings, {"context": "turns"}, {"boosts": {"session_text": 0.0}}),
    (
        "late interaction",
        pairs_of_words,
        {"late_interaction": {"enabled": True}},
        {"late_interaction": {"enabled": False}},
    ),
    ("entities as filter", scoped, {}, {"entities": {"role": "list"}}),
    ("other names", nicknamed, {}, {"entities": {"role": "list"}}),
]


@pytest.mark.parametrize(
    ("story", "settings", "without"),
    [lever[1:] for lever in LEVERS],
    ids=[lever[0] for lever in LEVERS],
)
def test_a_set_made_for_a_lever_is_worse_without_it(
    tmp_path: Path, story: Story, settings: dict[str, Any], without: dict[str, Any]
) -> None:
    world = World(tmp_path / "store.sqlite")
    questions = story(world, random.Random(7))
    world.later(days=1)

    with_it, without_it = (
        recall(world, questions, settings | switched) for switched in ({}, without)
    )
    world.close()

    assert with_it - without_it >= LEAST, (with_it, without_it)
    assert with_it >= 0.8

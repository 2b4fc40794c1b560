"""Whom a record is about stands in the text that is embedded."""

from __future__ import annotations

import random

from retold.host import HostItem
from retold.models import EntityMention, SearchRequest
from retold.testing import CountingIds, MemoryLab

NAMED = {"embedding": {"subject_name": True}}
UNNAMED = {"embedding": {"subject_name": False}}
ALLERGY = "The user is allergic to peanuts"


def embedded(lab, write):
    """Return the one text that a write embeds."""
    before = len(lab.embedder.documents)
    write()
    ((text,),) = lab.embedder.documents[before:]
    return text


def test_a_claim_is_embedded_behind_the_name_of_whom_it_is_about():
    with MemoryLab.open(settings=NAMED) as lab:
        ana, host = lab.session("ana"), lab.retold.host

        def remember(content, **options):
            return lambda: ana.remember(content, evidence=f"I say: {content}", **options)

        def tell(content, about):
            return lambda: host.write("project:garden", content, subject=about)

        assert embedded(lab, remember(ALLERGY)) == ALLERGY  # an id is no name
        host.provision_user("ana", ["Ana Lima"])
        assert embedded(lab, remember("The user likes tea")) == "Ana Lima: The user likes tea"
        assert embedded(lab, remember("Ana Lima owns a boat")) == "Ana Lima owns a boat"
        assert embedded(lab, tell("Likes tea", "Bob Reis")) == "Bob Reis: Likes tea"
        assert embedded(lab, tell("Tea for bob  reis", "Bob Reis")) == "Tea for bob  reis"
        assert embedded(lab, tell("喜欢绿茶", "李明")) == "李明: 喜欢绿茶"
        assert embedded(lab, tell("李明喜欢茶", "李明")) == "李明喜欢茶"
        assert embedded(lab, tell("Uses yarn", EntityMention("repo", "loom", "about"))) == (
            "loom: Uses yarn"
        )
        assert embedded(lab, tell("The door is green", None)) == "The door is green"
        step = remember("Water the ferns", type="procedural")
        assert embedded(lab, step) == "Water the ferns"


def test_a_store_knows_of_what_its_vectors_were_made():
    with MemoryLab.open(settings=UNNAMED) as lab:

        def write(content):
            lab.retold.host.write("user:ana", content)
            return lab.retold.status().dense.text

        assert lab.retold.status().dense.text is None
        assert write("Likes green tea") == "plain"
        assert write("Owns a red kite") == "plain"
        with lab.store.write() as tx:  # as an earlier release left it
            tx.run("delete from store_meta where key = 'embedded_text'")
        lab.config.embedding.__dict__["subject_name"] = True
        assert write("Hates black coffee") == "mixed"
        assert write("Plays the cello") == "mixed"
    with MemoryLab.open(settings=NAMED) as fresh:
        fresh.retold.host.write("user:ana", "Likes green tea")

        assert fresh.retold.status().dense.text == "named"


def test_vectors_from_before_stay_valid_beside_those_with_a_name():
    with MemoryLab.open(settings=UNNAMED) as lab:
        lab.retold.host.write("user:ana", "Likes green tea", subject="Bob Reis")
        parts = {"embedder": lab.embedder, "id_source": CountingIds(1_000_000)}
        with MemoryLab.open(lab.path, settings=NAMED, **parts) as later:
            later.retold.host.grant("helper", "user:ana", read=True, write=False)
            later.retold.host.write("user:ana", "Hates black coffee", subject="Bob Reis")
            page = later.session("ana").search("green tea and black coffee")

            assert later.embedder.documents[-1] == ("Bob Reis: Hates black coffee",)
            assert {result.record.content for result in page} == {
                "Likes green tea",
                "Hates black coffee",
            }
            assert page.degraded == ()
            assert all(result.explanation.dense for result in page)


def test_a_set_in_which_only_the_subject_differs_is_worse_without_its_name():
    """Every person prefers something; by meaning alone a question finds whose it is."""
    rng = random.Random(7)
    people = [f"{rng.choice('BDFGK')}{rng.choice('aou')}r{chr(97 + at)}k" for at in range(12)]
    items = [
        HostItem(f"Prefers the {rng.randrange(10**6)} window seat", subject=person)
        for person in people
    ]
    found = []
    for subject_name in (True, False):
        settings = {
            "embedding": {"subject_name": subject_name},
            "retrieval": {"preset": "measured", "fusion": {"alpha": 1.0}},
        }
        with MemoryLab.open(settings=settings) as lab:
            lab.retold.host.write_many("user:ana", items, dedup=False)
            lab.retold.host.grant("helper", "user:ana", read=True, write=False)
            principal = lab.session("ana").principal
            hits = 0
            for person, item in zip(people, items, strict=True):
                request = SearchRequest((f"which window seat does {person} prefer",), 1)
                results = lab.runtime.retriever.search(principal, request).results
                hits += [one.record.content for one in results] == [item.content]
            found.append(hits / len(people))
    with_name, without_name = found

    assert with_name - without_name >= 0.10, found
    assert with_name >= 0.8

import pytest

from retold.config import profile_config
from retold.errors import InvalidCompletion, ProviderOutage
from retold.ingest.extraction.reviewer import StructuredLLMCandidateReviewer
from retold.models import EntityMention, KnownRecord, ReviewContext, ReviewItem, Scope, TokenUsage
from retold.testing import FakeCompletionClient, make_proposal, make_turns
from tests.extraction_model import accept_everything, block

CFG = profile_config("offline").ingestion
TURNS = make_turns(*(f"Fact number {place} is " + "word " * 30 for place in range(1, 13)))
CONTEXT = ReviewContext(TURNS, Scope("user", "ana"), names=("ana",))
ITEMS = tuple(
    ReviewItem(make_proposal(f"Fact {turn.turn}", f"Fact number {turn.turn} is"), turn)
    for turn in TURNS
)


def reviewer(answers, **cfg):
    client = FakeCompletionClient(answers)
    return StructuredLLMCandidateReviewer(client, CFG.model_copy(update=cfg)), client


def decision(number, outcome="accept"):
    return {"candidate": number, "outcome": outcome, "reason": str(number)}


def answer(*numbers):
    return {"decisions": [decision(number) for number in numbers]}


def test_all_candidates_of_a_session_are_one_call():
    one, client = reviewer(accept_everything)

    output = one.review(ITEMS, CONTEXT)

    (request,) = client.requests
    assert (request.model, request.task) == (CFG.review_model, "review")
    assert [each["candidate"] for each in block(request.prompt, "candidates")] == list(range(1, 13))
    assert len(output.decisions) == 12
    assert (output.usage, output.prompt_version) == (client.usage, "review-2")


def test_no_candidates_are_no_call():
    one, client = reviewer([])

    assert one.review((), CONTEXT).decisions == ()
    assert client.requests == []


def test_more_than_fit_are_shared_out_and_each_is_asked_about_once():
    one, client = reviewer(accept_everything, review_batch_tokens=1000)

    output = one.review(ITEMS, CONTEXT)

    asked = [
        each["candidate"]
        for request in client.requests
        for each in block(request.prompt, "candidates")
    ]
    assert len(client.requests) > 1
    assert asked == list(range(1, 13))
    assert output.usage.calls == len(client.requests)


def test_decisions_come_back_in_the_order_of_the_candidates():
    one, _ = reviewer([answer(3, 1, 2)])

    output = one.review(ITEMS[:3], CONTEXT)

    assert [each.reason for each in output.decisions] == ["1", "2", "3"]


def test_candidates_that_were_left_out_are_asked_about_once_more():
    one, client = reviewer([answer(1, 3), answer(2)])

    output = one.review(ITEMS[:3], CONTEXT)

    assert [each.reason for each in output.decisions] == ["1", "2", "3"]
    second = block(client.requests[1].prompt, "candidates")
    assert [each["candidate"] for each in second] == [2]


def test_candidates_that_are_left_out_twice_fail_the_review():
    one, client = reviewer([answer(1, 3), answer(1, 3)])

    with pytest.raises(InvalidCompletion) as failed:
        one.review(ITEMS[:3], CONTEXT)

    assert len(client.requests) == 2
    assert failed.value.details["usage"] == TokenUsage(200, 40, 2)


def test_a_failing_batch_fails_the_review_and_tells_the_use_of_all_calls():
    calls = []

    def answers(request):
        calls.append(request)
        if len(calls) == 2:
            raise ProviderOutage("gone", usage=TokenUsage(7, 0, 1))
        return accept_everything(request)

    one, _ = reviewer(answers, review_batch_tokens=1000)

    with pytest.raises(ProviderOutage) as failed:
        one.review(ITEMS, CONTEXT)

    assert failed.value.details["usage"] == TokenUsage(107, 20, 2)


def test_a_candidate_is_shown_with_its_neighbours_and_what_is_stored_about_its_subject():
    live = KnownRecord("r1", "semantic", CONTEXT.scope, "fact", "An older fact")
    item = ReviewItem(ITEMS[4].candidate, ITEMS[4].turn, (live,))
    one, client = reviewer(accept_everything)

    one.review([item], CONTEXT)

    prompt = client.requests[0].prompt
    assert [line["line"] for line in block(prompt, "transcript")] == [4, 5, 6]
    assert block(prompt, "candidates")[0]["line"] == 5
    (record,) = block(prompt, "stored records")
    assert (record["for_candidate"], record["content"]) == (1, "An older fact")
    assert "r1" not in prompt


def test_an_earlier_turn_that_names_whom_a_claim_is_about_is_shown():
    turns = make_turns("My aunt Odile moves in.", "Odile is old.", "So.", "Well.", "She is deaf.")
    about = (EntityMention("person", "Odile", "about"),)
    told = make_proposal("Odile is deaf", "She is deaf.", mentions=about)
    named = make_proposal("Odile is old", "Odile is old.", mentions=about)
    one, client = reviewer(accept_everything)

    for proposal, turn in ((told, turns[4]), (named, turns[1])):
        one.review([ReviewItem(proposal, turn)], ReviewContext(turns, Scope("user", "ana")))

    shown = [[line["line"] for line in block(r.prompt, "transcript")] for r in client.requests]
    assert shown == [[2, 4, 5], [1, 2, 3]]


def test_the_quote_of_a_very_long_turn_is_shown():
    long = make_turns("word " * 30_000 + "I am allergic to peanuts. " + "word " * 30_000)
    item = ReviewItem(make_proposal("An allergy", "I am allergic to peanuts."), long[0])
    one, client = reviewer(accept_everything)

    one.review([item], ReviewContext(long, CONTEXT.scope))

    (line,) = block(client.requests[0].prompt, "transcript")
    assert "I am allergic to peanuts." in line["text"]
    assert len(line["text"]) < 20_000

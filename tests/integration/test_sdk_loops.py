"""The five tools in plain loops over real clients and real HTTP, with a scripted model."""

from __future__ import annotations

import re

import pytest

from retold import policy_text
from tests.integration.sdk_loops import PROVIDERS, loop_over
from tests.loopback import Call, LoopbackModel, Reply

SHORT_ID = re.compile(r"mem_[0-9a-f]+")
NOBODYS_ID = "01900000-0000-7000-8000-00000000abcd"
DONE = Reply("Done.")

pytestmark = pytest.mark.parametrize("provider", PROVIDERS)


def call(name, **arguments):
    return Reply(calls=(Call(name, arguments),))


def write(content, **arguments):
    return call("memory_write", **{"type": "semantic", "content": content} | arguments)


HOME = {"attribute": "home_city", "evidence": "I live in Lisbon"}
LIVES = write("The user lives in Lisbon", **HOME)
SAID = "I live in Lisbon, near the river."


def run(retold, provider, script, *says, user="ana", **options):
    """Play a script in one conversation; return what the model saw after each of its calls."""
    with (
        LoopbackModel(script) as model,
        retold.session(user) as session,
        loop_over(provider, model, session, **options) as loop,
    ):
        for text in says:
            loop.say(text)
    return [result for seen in model.exchanges for result in seen.results[-1:]]


def refusals(provider, *results):
    """Return the texts of results that are errors; where the wire has a mark, it must be set."""
    if provider == "anthropic":
        assert all(result.is_error for result in results)
    assert all(re.match(r"memory_\w+ error [0-9a-f]{12}: ", result.text) for result in results)
    return [re.sub(r"^memory_\w+ error [0-9a-f]{12}: ", "", result.text) for result in results]


# --- a whole life ---------------------------------------------------------------------


def test_model_is_offered_five_tools_and_told_when_to_use_them(retold, provider):
    with (
        LoopbackModel([DONE]) as model,
        retold.session("ana") as session,
        loop_over(provider, model, session) as loop,
    ):
        loop.say("Hello.")

    (seen,) = model.exchanges
    assert list(seen.tools) == [
        "memory_search",
        "memory_get",
        "memory_write",
        "memory_revise",
        "memory_forget",
    ]
    assert seen.system == policy_text()
    assert seen.tools["memory_write"].schema["properties"]["write_target"]["enum"] == ["personal"]


def test_model_writes_searches_revises_reads_and_forgets(retold, provider):
    def shown(seen):
        return SHORT_ID.search(seen.last.text)[0]

    script = [
        LIVES,
        Reply("Noted."),
        call("memory_search", queries=["Which city does the user live in?"]),
        lambda seen: call(
            "memory_revise",
            id=shown(seen),
            action="supersede",
            content="The user lives in Bergen",
            evidence="We moved to Bergen in May",
            reason="moved",
        ),
        lambda seen: call("memory_get", ids=[shown(seen)]),
        Reply("Updated."),
        call("memory_search", queries=["Which city does the user live in?"]),
        lambda seen: call("memory_forget", id=shown(seen), reason="the user asked"),
        call("memory_search", queries=["Which city does the user live in?"]),
        Reply("Forgotten."),
    ]
    wrote, found, revised, read, again, forgot, nothing = run(
        retold,
        provider,
        script,
        "Hi! I live in Lisbon, near the river.",
        "By the way: We moved to Bergen in May.",
        "Please forget where I live.",
    )

    assert re.search(r"result [0-9a-f]{12}: stored mem_\w+\nstatus confirmed", wrote.text)
    assert "> The user lives in Lisbon" in found.text
    assert "which replaces mem_" in revised.text
    assert "> The user lives in Bergen" in read.text
    assert "> We moved to Bergen in May" in read.text
    assert "earlier version" in read.text
    assert ("Bergen" in again.text, "Lisbon" in again.text) == (True, False)
    assert "is forgotten now" in forgot.text
    assert "no memory found" in nothing.text
    with retold.session("ana") as session:
        records = session.list(status=["superseded", "deleted"]).records
        assert sorted((one.status, one.content) for one in records) == [
            ("deleted", None),
            ("superseded", "The user lives in Lisbon"),
        ]


def test_two_providers_share_one_memory(retold, provider):
    (other,) = {*PROVIDERS} - {provider}
    run(retold, provider, [LIVES, DONE], SAID)
    search = call("memory_search", queries=["Where does the user live?"])
    (found,) = run(retold, other, [search, DONE], "Where do I live?")

    assert "semantic · confirmed · user_statement" in found.text
    assert "> The user lives in Lisbon" in found.text


def test_several_calls_of_one_message_are_all_answered_in_order(retold, provider):
    allergy = {"attribute": "allergy", "evidence": "I'm allergic to peanuts"}
    both = Reply(
        "Let me note that.",
        (
            *LIVES.calls,
            Call("memory_wipe", {}),
            *write("The user is allergic to peanuts", **allergy).calls,
        ),
    )
    with (
        LoopbackModel([both, DONE]) as model,
        retold.session("ana") as session,
        loop_over(provider, model, session) as loop,
    ):
        loop.say("I live in Lisbon and I'm allergic to peanuts.")

    first, unknown, second = model.exchanges[1].results
    assert "stored mem_" in first.text
    assert "stored mem_" in second.text
    assert "unknown_tool" in unknown.text
    assert "memory_search, memory_get, memory_write, memory_revise, memory_forget" in unknown.text


# --- mistakes -------------------------------------------------------------------------

WORKS = "I work in Lisbon, you know."
OFFICE = "The user works in Lisbon"
SOUND_WRITE = {"type": "semantic", "content": OFFICE, "attribute": "work_city"}
WRONG = {
    "nothing given": ("memory_search", {}, ["invalid_input", "queries: is required"]),
    "one text for a list": ("memory_search", {"queries": "office"}, ["queries: ", "list"]),
    "too many results": ("memory_search", {"queries": ["office"], "k": 500}, ["k: ", "20"]),
    "a scope": (
        "memory_search",
        {"queries": ["office"], "scope": "user:bob"},
        ["scope: unknown field; leave it out", "allowed: queries, types"],
    ),
    "a moment without an offset": (
        "memory_search",
        {"queries": ["office"], "since": "2026-01-05T09:00:00"},
        ["since: ", "2026-01-05T09:00:00+00:00"],
    ),
    "an unknown type": (
        "memory_write",
        SOUND_WRITE | {"type": "fact"},
        ["type: is none of the allowed values", "allowed: semantic, episodic, procedural"],
    ),
    "no attribute": (
        "memory_write",
        {"type": "semantic", "content": OFFICE},
        ["invalid_subject", "attribute", "home_city"],
    ),
    "blank content": ("memory_write", SOUND_WRITE | {"content": "  "}, ["content: "]),
    "the host's source": (
        "memory_write",
        SOUND_WRITE | {"source_kind": "system"},
        ["source_kind: ", "allowed: user_statement, tool_result, agent_inference"],
    ),
    "somebody else's identity": (
        "memory_write",
        SOUND_WRITE | {"user_id": "bob", "agent_id": "root"},
        ["user_id: unknown field", "agent_id: unknown field"],
    ),
    "an invented target": (
        "memory_write",
        SOUND_WRITE | {"write_target": "project:apollo"},
        ["invalid_write_target", "allowed: personal"],
    ),
    "an invented turn": (
        "memory_write",
        SOUND_WRITE | {"evidence_turn": 7},
        ["evidence_turn: unknown field; leave it out", "evidence, event_at"],
    ),
    "an unknown action": (
        "memory_revise",
        {"id": "mem_1a2b3c4d", "action": "delete", "reason": "old"},
        ["action: is unknown", "allowed: confirm, supersede, expire"],
    ),
    "a confirmation without words": (
        "memory_revise",
        {"id": "mem_1a2b3c4d", "action": "confirm", "reason": "sure"},
        ["evidence: is required"],
    ),
    "no reason": ("memory_forget", {"id": "mem_1a2b3c4d"}, ["reason: is required"]),
    "one id for a list": ("memory_get", {"ids": "mem_1a2b3c4d"}, ["ids: ", "list"]),
}


@pytest.mark.parametrize(("name", "arguments", "told"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_come_back_as_an_error_and_store_nothing(
    retold, provider, name, arguments, told
):
    with retold.session("ana") as session:
        session.turn("user", "Hello.")
        before = counts(retold)
    (result,) = run(retold, provider, [call(name, **arguments), DONE], WORKS)

    (text,) = refusals(provider, result)
    assert [part for part in told if part not in text] == []
    assert counts(retold) == before


def counts(retold):
    """Return the rows of every table that says or finds what is remembered."""
    rows = retold.row_counts()
    return {name: rows[name] for name in rows if name.startswith(("record", "entit", "embedding"))}


def test_model_that_reads_the_error_puts_the_call_right(retold, provider):
    evidence = {"evidence": WORKS}

    def corrected(seen):
        (text,) = refusals(provider, seen.last)
        allowed = re.search(r"type: .*allowed: (\w+)", text)[1]
        return call("memory_write", **SOUND_WRITE | evidence | {"type": allowed})

    wrong = call("memory_write", **SOUND_WRITE | evidence | {"type": "fact"})
    _, right = run(retold, provider, [wrong, corrected, DONE], WORKS)

    assert "stored mem_" in right.text
    assert "status confirmed" in right.text


def test_arguments_that_are_no_json_object_are_told_so(retold, provider):
    if provider == "anthropic":
        broken = [{"queries": [None]}]
    else:
        broken = ['{"queries": ["office"', '["office"]', '"office"', ""]
    script = [Reply(calls=(Call("memory_search", one),)) for one in broken]
    results = run(retold, provider, [*script, DONE], "Where do I work?")

    texts = refusals(provider, *results)
    assert all(text.startswith("invalid_input: ") for text in texts)
    if provider == "openai":
        assert "not valid JSON" in texts[0]
        assert "one JSON object" in texts[1]
        assert "queries: is required" in texts[3]


# --- ids ------------------------------------------------------------------------------


def tried_with(record_id):
    """Return one call of each tool that takes a record's id."""
    quote = "Please do what I said."
    shared = {"id": record_id, "reason": "told so"}
    return [
        call("memory_get", ids=[record_id]),
        call("memory_revise", action="confirm", evidence=quote, **shared),
        call("memory_revise", action="supersede", content="Bob rows.", evidence=quote, **shared),
        call("memory_revise", action="expire", **shared),
        call("memory_forget", **shared),
    ]


def test_invented_and_foreign_ids_are_answered_alike_and_change_nothing(retold, provider):
    with retold.session("bob") as session:
        bobs = session.remember("The user rows", evidence="I row every Sunday.").record_id
        short = f"mem_{bobs[-8:]}"
        before = session.get(bobs).found
    rows = counts(retold)
    said = "Please do what I said."
    answers = {}
    for asked in (NOBODYS_ID, bobs, short):
        results = run(retold, provider, [*tried_with(asked), DONE], said)
        texts = refusals(provider, *results)
        answers[asked] = [text.replace(asked, "ID").replace('"ID"', "ID") for text in texts]

    assert answers[bobs] == answers[NOBODYS_ID]
    assert [text.partition(":")[0] for text in answers[NOBODYS_ID]] == ["not_found"] * 5
    assert all("search again" in text for text in answers[NOBODYS_ID])
    assert [text.partition(":")[0] for text in answers[short]] == ["not_found"] * 5
    assert counts(retold) == rows
    with retold.session("bob") as session:
        assert session.get(bobs).found == before


def test_short_id_means_the_record_that_this_conversation_was_shown(retold, provider):
    """The same ending in a conversation that never saw it is an unknown id."""
    ids = []

    def forget(seen):
        ids.append(SHORT_ID.search(seen.last.text)[0])
        return call("memory_forget", id=ids[0], reason="asked")

    wrote = LIVES
    run(retold, provider, [wrote, DONE], SAID)
    search = call("memory_search", queries=["Where does the user live?"])
    _, forgotten = run(retold, provider, [search, forget, DONE], "Forget where I live.")
    (unknown,) = run(retold, provider, [call("memory_get", ids=ids), DONE], "What was it?")

    assert "is forgotten now" in forgotten.text
    (text,) = refusals(provider, unknown)
    assert text.startswith("not_found")


# --- evidence -------------------------------------------------------------------------


def test_invented_quote_leaves_the_claim_unconfirmed_and_says_what_helps(retold, provider):
    invented = write(
        "The user lives in Rome", attribute="home_city", evidence="I live in Rome now."
    )
    (result,) = run(retold, provider, [invented, DONE], "Tell me about Rome.")

    assert "status provisional · source agent_inference" in result.text
    assert "note: " in result.text
    assert "evidence not found in session" in result.text
    assert "copy the quote from one message of this conversation" in result.text
    assert "it expires unless it is confirmed" in result.text


def test_invented_turn_number_of_a_revision_is_no_harm(retold, provider):
    def supersede(seen):
        return call(
            "memory_revise",
            id=SHORT_ID.search(seen.last.text)[0],
            action="supersede",
            content="The user lives in Bergen",
            evidence="I moved to Bergen in May.",
            evidence_turn=99,
            reason="moved",
        )

    script = [LIVES, DONE]
    search = call("memory_search", queries=["Where does the user live?"])
    run(
        retold,
        provider,
        [*script, search, supersede, DONE],
        SAID,
        "I moved to Bergen in May.",
    )

    with retold.session("ana") as session:
        (record,) = session.list().records
    assert (record.content, record.status) == ("The user lives in Bergen", "confirmed")
    # Turn 1 said Lisbon, turn 2 was the answer, and turn 3 holds the quote.
    assert record.source_ref.endswith("#3")


def test_revision_without_words_cannot_replace_what_the_user_said(retold, provider):
    def supersede(seen):
        return call(
            "memory_revise",
            id=SHORT_ID.search(seen.last.text)[0],
            action="supersede",
            content="The user lives in Bergen",
            source_kind="agent_inference",
            reason="a guess",
        )

    script = [LIVES, supersede, DONE]
    _, refused = run(retold, provider, script, SAID)

    (text,) = refusals(provider, refused)
    assert "agent_inference" in text
    assert "user_statement" in text
    with retold.session("ana") as session:
        assert [one.content for one in session.list()] == ["The user lives in Lisbon"]


# --- what came out of memory ----------------------------------------------------------


@pytest.mark.parametrize("claimed", ["user_statement", "tool_result"])
def test_result_of_a_memory_tool_that_is_recorded_never_becomes_evidence(retold, provider, claimed):
    """B02: the recalled block stands in the transcript, and still backs nothing."""
    retold.host.grant("assistant", "project:apollo")
    retold.host.write("project:apollo", "The launch window opens at dawn on Friday.")
    search = call("memory_search", queries=["When is the launch window?"])
    quoted = write(
        "The launch window opens at dawn on Friday.",
        attribute="launch_window",
        evidence="The launch window opens at dawn on Friday.",
        source_kind=claimed,
        entities=[{"kind": "project", "name": "apollo", "role": "about"}],
    )
    found, wrote = run(
        retold, provider, [search, quoted, DONE], "When is the launch?", record_results=True
    )

    assert "> The launch window opens at dawn on Friday." in found.text
    assert "source agent_inference" in wrote.text
    assert "evidence not found in session" in wrote.text
    assert origins(retold) == ["dialogue", "memory_tool", "memory_tool", "dialogue"]


def test_memory_that_is_repeated_by_the_assistant_confirms_nothing(retold, provider):
    """B02: five rounds of recalling and writing back what was recalled."""
    guess = write("The user likes tea", attribute="drink", source_kind="agent_inference")
    search = call("memory_search", queries=["What does the user like to drink?"])
    again = write("The user likes tea", attribute="drink", evidence="The user likes tea")
    rounds = [search, again, Reply("The user likes tea")] * 5
    results = run(
        retold, provider, [guess, DONE, *rounds], *["And what do I drink?"] * 6, record_results=True
    )

    assert "> The user likes tea" in results[1].text
    with retold.session("ana") as session:
        (record,) = session.list().records
    assert (record.status, record.reinforcements) == ("provisional", 0)


def test_whole_history_that_is_added_as_messages_leaves_memory_output_unquotable(retold, provider):
    """A host may hand over the provider's own messages, tool results included."""
    run(retold, provider, [LIVES, DONE], SAID)
    search = call("memory_search", queries=["Where does the user live?"])
    with (
        LoopbackModel([search, DONE]) as model,
        retold.session("ana") as session,
        loop_over(provider, model, session) as loop,
    ):
        loop.say("Where do I live?")
    history = model.bodies[-1]["messages"]

    with retold.session("ana", session_id="imported") as session:
        session.add_messages(as_plain(history))
        result = session.tools().call(
            "memory_write",
            {
                "type": "semantic",
                "content": "The user lives in Lisbon",
                "attribute": "residence",
                "evidence": "The user lives in Lisbon",
                "source_kind": "tool_result",
            },
        )

    assert "evidence not found in session" in result.text


def as_plain(history):
    """Return the wire's messages with the text of tool results as text."""
    plain = []
    for message in history:
        content = message["content"]
        if isinstance(content, list):
            texts = [part.get("text") or part.get("content") or "" for part in content]
            content = "\n".join(text for text in texts if isinstance(text, str))
        plain.append({"role": message["role"], "content": content})
    return plain


def origins(retold):
    """Return the origins of the turns of the only conversation, in order."""
    with retold.store.read() as tx:
        (session,) = tx.sessions.list_for_user("ana", limit=10)
        return [turn.origin for turn in tx.sessions.turns(session.conversation_id)]

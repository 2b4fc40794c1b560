"""Loops over real clients that stream, that are async, or that run many at once."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor

import anthropic
import openai
import pytest

from retold import policy_text
from tests.integration.sdk_loops import PROVIDERS, loop_over
from tests.loopback import LoopbackModel, assistant

SAID = "I live in Lisbon, near the river."
ASKED = "Where do I live?"
KNOWN = "From what you told me: The user lives in Lisbon."


# --- streams --------------------------------------------------------------------------


def streamed_anthropic(model, session, text):
    """Play one user turn over streams; return the answer."""
    session.turn("user", text)
    tools, messages = session.tools(), [{"role": "user", "content": text}]
    with anthropic.Anthropic(base_url=model.url, api_key="k", max_retries=0) as client:
        while True:
            with client.messages.stream(
                model="claude-test", max_tokens=512, tools=tools.anthropic(), messages=messages
            ) as stream:
                reply = stream.get_final_message()
            results = tools.answer_anthropic(reply)
            if not results:
                return reply.content[0].text
            content = [block.model_dump(exclude_none=True) for block in reply.content]
            messages += [
                {"role": "assistant", "content": [without_parsed(one) for one in content]},
                {"role": "user", "content": results},
            ]


def without_parsed(block):
    """Leave out what the stream helper adds to a block and the endpoint does not know."""
    return {key: value for key, value in block.items() if key != "parsed_output"}


def streamed_openai(model, session, text):
    """Play one user turn over streams; return the answer."""
    session.turn("user", text)
    tools, messages = session.tools(), [{"role": "user", "content": text}]
    with openai.OpenAI(base_url=f"{model.url}/v1", api_key="k", max_retries=0) as client:
        while True:
            with client.chat.completions.stream(
                model="gpt-test", tools=tools.openai(), messages=messages
            ) as stream:
                message = stream.get_final_completion().choices[0].message
            results = tools.answer_openai(message)
            if not results:
                return message.content
            messages += [as_sent(message), *results]


def as_sent(message):
    """Return a streamed message with what the endpoint takes of it."""
    calls = [
        {
            "id": one.id,
            "type": "function",
            "function": {"name": one.function.name, "arguments": one.function.arguments},
        }
        for one in message.tool_calls
    ]
    return {"role": "assistant", "content": message.content, "tool_calls": calls}


STREAMED = {"anthropic": streamed_anthropic, "openai": streamed_openai}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_message_that_was_streamed_is_answered_like_any_other(retold, provider):
    with LoopbackModel(assistant.answer) as model:
        answers = []
        for text in (SAID, ASKED):
            with retold.session("ana") as session:
                answers.append(STREAMED[provider](model, session, text))

    assert answers == ["Noted, I will remember that.", KNOWN]


# --- async ----------------------------------------------------------------------------


async def async_anthropic(model, retold, user, text):
    """Play one conversation of one user turn; return the answer."""
    messages = [{"role": "user", "content": text}]
    client = anthropic.AsyncAnthropic(base_url=model.url, api_key="k", max_retries=0)
    async with client, retold.asession(user) as session:
        await session.turn("user", text)
        tools = await session.tools()
        offered = tools.anthropic()
        while True:
            reply = await client.messages.create(
                model="claude-test",
                max_tokens=512,
                system=policy_text(),
                tools=offered,
                messages=messages,
            )
            results = await tools.aanswer_anthropic(reply)
            if not results:
                return reply.content[0].text
            messages += [
                {"role": "assistant", "content": reply.content},
                {"role": "user", "content": results},
            ]


async def async_openai(model, retold, user, text):
    """Play one conversation of one user turn; return the answer."""
    messages = [{"role": "user", "content": text}]
    client = openai.AsyncOpenAI(base_url=f"{model.url}/v1", api_key="k", max_retries=0)
    async with client, retold.asession(user) as session:
        await session.turn("user", text)
        tools = await session.tools()
        offered = tools.openai()
        while True:
            reply = await client.chat.completions.create(
                model="gpt-test", tools=offered, messages=messages
            )
            message = reply.choices[0].message
            results = await tools.aanswer_openai(message)
            if not results:
                return message.content
            messages += [message, *results]


ASYNC = {"anthropic": async_anthropic, "openai": async_openai}
CITIES = ("Lisbon", "Bergen", "Nairobi", "Osaka")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_async_clients_talk_for_several_users_on_one_event_loop(retold, provider):
    async def everybody(model, says):
        talks = [ASYNC[provider](model, retold, user, text) for user, text in says]
        return await asyncio.gather(*talks)

    with LoopbackModel(assistant.answer) as model:
        asyncio.run(everybody(model, [(c, f"I live in {c}, near the river.") for c in CITIES]))
        answers = asyncio.run(everybody(model, [(city, ASKED) for city in CITIES]))

    assert answers == [f"From what you told me: The user lives in {city}." for city in CITIES]


# --- threads --------------------------------------------------------------------------


def test_conversations_side_by_side_never_show_a_model_another_users_words(retold):
    """16 conversations of 4 users over both clients, each told its own city and asked for it."""

    def converse(number):
        city, provider = CITIES[number % 4], PROVIDERS[number // 4 % 2]
        with (
            retold.session(f"user-{city}") as session,
            loop_over(provider, model, session) as loop,
        ):
            return [loop.say(f"I live in {city}, near the river."), loop.say(ASKED)]

    with LoopbackModel(assistant.answer) as model, ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(converse, range(16)))

    for number, (noted, known) in enumerate(answers):
        assert noted == "Noted, I will remember that."
        assert known == f"From what you told me: The user lives in {CITIES[number % 4]}."
    for body in model.bodies:
        assert len({city for city in CITIES if re.search(city, str(body["messages"]))}) == 1
    for city in CITIES:
        with retold.session(f"user-{city}") as session:
            (record,) = session.list().records
            assert record.content == f"The user lives in {city}"

"""One runtime serves many conversations at once, and none hears of another's memories."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

from retold.testing import MemoryLab
from retold.text.frames import MEMORY_TOOL_NAMES

THREADS = 16
ROUNDS = 3
USERS = ("ana", "bob")


def one_round(tools, session, user, number) -> list[tuple[str, object]]:
    """Use all five tools on a fact of one's own; return each answer with its tool's name."""
    marker = f"marker{user}{number}"
    said = f"Please note that {marker} is my locker."
    session.turn("user", said)
    write = tools.call(
        "memory_write",
        {
            "type": "semantic",
            "content": f"The user's locker is {marker}",
            "attribute": f"locker {number}",
            "evidence": said,
        },
    )
    record_id = write.data["record_id"]
    return [
        ("memory_write", write),
        ("memory_search", tools.call("memory_search", {"queries": [f"locker {marker}"], "k": 20})),
        ("memory_get", tools.call("memory_get", {"ids": [f"mem_{record_id[-12:]}", record_id]})),
        (
            "memory_revise",
            tools.call("memory_revise", {"id": record_id, "action": "expire", "reason": "r"}),
        ),
        ("memory_forget", tools.call("memory_forget", {"id": record_id, "reason": "r"})),
    ]


def test_sixteen_threads_use_five_tools_for_two_users_on_one_runtime():
    """B44 B30: every call is answered, every write is kept, and no answer holds a stranger's."""
    start = threading.Barrier(THREADS)
    with MemoryLab.open(settings={"store": {"busy_timeout_seconds": 120}}) as lab:
        sessions = {user: lab.session(user, session_id="chat") for user in USERS}
        tools = {user: session.tools() for user, session in sessions.items()}

        def work(place: int) -> list[tuple[str, str, object]]:
            user = USERS[place % 2]
            start.wait()
            return [
                (user, name, answer)
                for turn in range(ROUNDS)
                for name, answer in one_round(
                    tools[user], sessions[user], user, place * ROUNDS + turn
                )
            ]

        with ThreadPoolExecutor(THREADS) as pool:
            answers = [one for batch in pool.map(work, range(THREADS)) for one in batch]

        wrong = [answer.data for _, _, answer in answers if answer.is_error]
        assert wrong == []
        assert {name for _, name, _ in answers} == set(MEMORY_TOOL_NAMES)
        for user, name, answer in answers:
            other = USERS[1 - USERS.index(user)]
            assert f"marker{other}" not in answer.text + json.dumps(answer.data), name
        written = [
            answer.data["record_id"] for _, name, answer in answers if name == "memory_write"
        ]
        assert len(set(written)) == THREADS * ROUNDS == lab.row_counts()["records"]
        for user, session in sessions.items():
            mine = [
                answer.data["record_id"]
                for who, name, answer in answers
                if (who, name) == (user, "memory_write")
            ]
            assert {view.status for view in session.get(mine)} == {"deleted"}
            assert len(session.get(mine)) == len(mine)

import json
import pickle

import pytest
from huey.registry import Message

from retold.queue import TASKS, ForeignMessage, MessageSerializer, encode_message

SERIALIZER = MessageSerializer()
ROW = {"v": 1, "id": "m1", "name": "workers.tasks.beat", "args": ["x"], "priority": 0,
       "timeout": None}  # fmt: skip


def message(**fields):
    plain = {"id": "m1", "name": TASKS["extract_session"], "args": ("s1",), "kwargs": {}}
    return Message(**(plain | fields))


def test_message_comes_back_as_it_went():
    back = SERIALIZER.deserialize(SERIALIZER.serialize(message(priority=3, timeout=60)))

    assert (back.id, back.name, back.args) == ("m1", TASKS["extract_session"], ("s1",))
    assert (back.priority, back.timeout, back.kwargs, back.retries) == (3, 60, {}, 0)


def test_row_of_the_library_is_the_row_of_the_consumer():
    ours = encode_message(TASKS["extract_session"], "m1", ["s1"])

    assert SERIALIZER.serialize(message()) == ours
    assert json.loads(ours) == ROW | {"name": "workers.tasks.extract_session", "args": ["s1"]}


class Bomb:
    """Run code wherever it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(pickle.dumps(Bomb()), id="pickle that runs code"),
        pytest.param(pickle.dumps(message()), id="pickle of a message"),
        pytest.param(b"", id="empty"),
        pytest.param(b"null", id="null"),
        pytest.param(b"[" * 3000, id="deep"),
        pytest.param(json.dumps(ROW | {"args": ["x" * 5000]}).encode(), id="long"),
        pytest.param(json.dumps(ROW | {"priority": "high"}).encode(), id="priority in words"),
        pytest.param(json.dumps(ROW | {"timeout": "soon"}).encode(), id="timeout in words"),
        pytest.param(b"\xff\xfe", id="no text"),
        pytest.param(json.dumps(ROW | {"v": 2}).encode(), id="later version"),
        pytest.param(json.dumps(ROW | {"args": [{"a": 1}]}).encode(), id="argument that is no id"),
        pytest.param(json.dumps(ROW | {"args": "x"}).encode(), id="arguments that are no list"),
        pytest.param(json.dumps(ROW | {"kwargs": {}}).encode(), id="more than ours"),
        pytest.param(json.dumps({"v": 1, "id": "m1"}).encode(), id="less than ours"),
    ],
)
def test_foreign_row_is_refused_and_its_words_are_told_nowhere(data):
    with pytest.raises(ForeignMessage) as refused:
        SERIALIZER.deserialize(data)

    assert str(refused.value) == "a row of the queue file is not one of ours; it is dropped"
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    "fields",
    [
        {"kwargs": {"text": "what the user said"}},
        {"retries": 1},
        {"on_error": message()},
        {"args": (object(),)},
        {"args": ({"a": 1},)},
    ],
    ids=["keyword", "retry", "pipeline", "object", "mapping"],
)
def test_nothing_but_ids_enters_the_queue(fields):
    with pytest.raises(TypeError) as refused:
        SERIALIZER.serialize(message(**fields))

    assert "what the user said" not in str(refused.value)

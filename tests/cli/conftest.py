import shutil

import pytest

from retold import Retold
from tests.one_model import one_model


@pytest.fixture(scope="module", autouse=True)
def model_of_commands():
    """Load the packaged model once for all commands that run in this process."""
    with one_model():
        yield


@pytest.fixture(scope="session")
def made_store(tmp_path_factory):
    """Make a store of the offline profile with a few memories, once."""
    path = tmp_path_factory.mktemp("made") / "memory.sqlite"
    with Retold.open(path, profile="offline") as retold:
        with retold.session("ana", agent_id="helper", session_id="first") as session:
            session.turn("user", "I live in Porto and I'm allergic to walnuts.")
            session.remember("Ana lives in Porto.", evidence="I live in Porto", attribute="home")
            session.remember(
                "Ana is allergic to walnuts.",
                evidence="I'm allergic to walnuts",
                attribute="allergy",
            )
            session.turn("user", "我每天早上喝乌龙茶。")
            session.remember("我每天早上喝乌龙茶。", attribute="drink")
        with retold.session("ana", agent_id="helper", session_id="second") as session:
            session.remember(
                "Ana lives in Braga.", evidence="I live in Braga now", attribute="home"
            )
    return path


@pytest.fixture
def store(made_store, tmp_path):
    """Return the path of a copy of the made store."""
    return shutil.copy(made_store, tmp_path / "memory.sqlite")

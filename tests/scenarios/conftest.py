from __future__ import annotations

import pytest

from tests.scenarios.support import World


@pytest.fixture
def make_world(tmp_path):
    """Return a maker of worlds, each on a file of its own, closed after the test."""
    made = []

    def make(settings=None, **models):
        made.append(World(tmp_path / f"memory{len(made)}.sqlite", settings, **models))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.fixture
def world(make_world):
    """Return a world with the settings that ship."""
    return make_world()

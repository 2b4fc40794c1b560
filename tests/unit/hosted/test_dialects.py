import pytest
from hypothesis import given
from hypothesis import strategies as st

from retold.hosted.dialects import Dialect, adapted, first_dialect
from retold.hosted.targets import Target

OWN = Target("openai", "gpt-x", "https://api.openai.com/v1", "k", own=True)
CLAUDE = Target("anthropic", "claude-x", "https://api.anthropic.com", "k", own=True)
OTHER = Target("custom", "qwen3", "http://localhost:11434/v1", "k", own=False)
SWAPPED = Dialect(limit="max_completion_tokens", limit_swapped=True)
WORDS = st.sampled_from(["max_tokens", "response_format", "system", "role", "tool", "no", "schema"])


def test_each_provider_begins_with_the_limit_that_its_models_take():
    assert first_dialect(OWN).limit == "max_completion_tokens"
    assert first_dialect(OTHER).limit == "max_tokens"


@pytest.mark.parametrize(
    ("target", "refusal", "expected"),
    [
        (OWN, "unsupported parameter: 'max_tokens'", SWAPPED),
        (CLAUDE, "max_tokens: 5000 > 4096", None),
        (OWN, "'messages[0].role' does not support 'system'", Dialect(system_as_user=True)),
        (CLAUDE, "output_config: extra inputs are not permitted", Dialect("object")),
        (OTHER, "bad request", Dialect("object")),
        (OWN, "bad request", None),
        (CLAUDE, "bad request", None),
    ],
)
def test_refusal_decides_what_is_tried_next(target, refusal, expected):
    assert adapted(Dialect(), refusal, target) == expected


@given(
    target=st.sampled_from([OWN, CLAUDE, OTHER]),
    refusals=st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=9, max_size=9),
)
def test_steps_end_whatever_is_refused(target, refusals):
    """A question is put in five forms at most: two less structure, one less system, one limit."""
    dialect, forms = first_dialect(target), {first_dialect(target)}
    for words in refusals:
        other = adapted(dialect, " ".join(words), target)
        if other is not None:
            assert other not in forms
            dialect = other
            forms.add(other)

    assert len(forms) <= 5

from itertools import permutations

import pytest

from retold.errors import ConfigError
from retold.ingest.equivalence import labelled


@pytest.mark.parametrize("order", list(permutations(("entailment", "Neutral", "CONTRADICTION"))))
def test_labels_are_found_in_any_order_and_case(order):
    labels = dict(enumerate(order))

    columns = labelled(labels, "acme/nli")

    assert [labels[column].lower() for column in columns] == [
        "entailment",
        "neutral",
        "contradiction",
    ]


@pytest.mark.parametrize(
    "labels",
    [
        {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"},
        {0: "entailment", 1: "not_entailment"},
        {0: "entailment", 1: "neutral", 2: "contradiction", 3: "other"},
        {0: "entailment", 1: "entailing", 2: "contradiction"},
        {1: "entailment", 2: "neutral", 3: "contradiction"},
        {},
    ],
    ids=["unnamed", "two", "four", "twice", "from_one", "none"],
)
def test_other_labels_are_a_configuration_error_that_shows_them(labels):
    with pytest.raises(ConfigError) as caught:
        labelled(labels, "acme/other")

    assert "ingestion.equivalence.model: 'acme/other' has the labels" in caught.value.message
    assert all(label in caught.value.message for label in labels.values())
    assert "entailment, neutral and contradiction" in caught.value.message

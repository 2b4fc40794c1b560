"""A key that nothing reads says so where people look it up."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from retold.config.base import NO_EFFECT
from retold.config.reference import describe

PACKAGE = Path(__file__).parents[2] / "retold"
SOURCES = {
    path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(PACKAGE.rglob("*.py"))
    if PACKAGE / "config" not in path.parents
}
KEYS = {doc.path: doc.meaning for doc in describe() if not doc.is_block}
OWNERS = Counter(path.rpartition(".")[2] for path in KEYS)

READ_THROUGH = {
    **{
        f"hosted.{provider}": ("hosted/", r"\bsettings\.(base_url|api_key_env)\b")
        for provider in ("anthropic", "openai", "openrouter", "custom")
    },
    "ingestion.multi_valued_attributes": ("ingest/", r"\.is_multi_valued\("),
    "ingestion.evidence.entail_floor": ("ingest/", r"rules\.cfg\.entail_floor\b"),
    "policy.source_rank": ("", r"\.source_rank\.of\("),
    "reranker.floor": ("retrieve/rerank.py", r"\bcfg\.floor\b"),
    "reranker.timeout_ms": ("retrieve/rerank.py", r"\bcfg\.timeout_ms\b"),
    "retrieval.freshness.weight": ("retrieve/boosts.py", r"\bcfg\.weight\b"),
    "retrieval.late_interaction.enabled": (
        "retrieve/late_interaction.py",
        r"\blever\.enabled\b",
    ),
    "retrieval.late_interaction.weight": (
        "retrieve/late_interaction.py",
        r"\b_lever\.weight\b",
    ),
    "retrieval.late_interaction.candidates": (
        "retrieve/late_interaction.py",
        r"\b_lever\.candidates\b",
    ),
    "retrieval.freshness.floor": ("retrieve/freshness.py", r"\bcfg\.floor\b"),
    "retrieval.rewrite.enabled": ("retrieve/rewrite.py", r"\bcfg\.enabled\b"),
    "retrieval.rewrite.model": ("retrieve/hosted_rewrite.py", r"\bcfg\.model\b"),
    "retrieval.rewrite.max_output_tokens": (
        "retrieve/hosted_rewrite.py",
        r"\bcfg\.max_output_tokens\b",
    ),
    "retrieval.rewrite.timeout_ms": ("retrieve/rewrite.py", r"\bcfg\.timeout_ms\b"),
    "retrieval.gate.dense_floor": ("retrieve/", r"\.dense_floor\.of\("),
    "retrieval.gate.auto.dense_floor": ("retrieve/", r"\.dense_floor\.of\("),
    "retrieval.gate": ("retrieve/", r"\.floors\("),
    "retrieval.gate.kind": ("retrieve/", r"\blevers\.gate_kind\b"),
    "retrieval.gate.null_z": ("retrieve/", r"\bnull_z\.threshold\("),
    "retrieval.gate.null_z.unk_weight": ("retrieve/", r"\bnull_z\.unk_weight\b"),
    "retrieval.gate.null_z.relative_cut": ("retrieve/", r"\bnull_z\.relative_cut\b"),
    "embedding.subject_name": ("ingest/", r"\.embeds_subject\b"),
    "embedding.scripts": ("retrieve/", r"\bembedding\.scripts\b"),
    "retrieval.entities.role": ("retrieve/", r"\bentities\.role\b"),
    "retrieval.boosts.session": ("retrieve/", r"\bboosts\.session\b"),
    "retrieval.time_zone": ("retrieve/", r"\blevers\.time_zone\b"),
    "retrieval.boosts.session_text": ("retrieve/", r"\bboosts\.session_text\b"),
    "retrieval.boosts.neighbour": ("retrieve/", r"\bboosts\.neighbour\b"),
    "retrieval.preset": ("retrieve/", r"\.preset\b"),
    "retrieval.context": ("retrieve/", r"\blevers\.context\b"),
    "retrieval.duplicates": ("retrieve/", r"\blevers\.duplicates\b"),
}
"""Where and how keys are read without the name of their block, by the start of their path."""


def is_read(path: str) -> bool:
    """Return whether an attribute access outside the settings' own package reads the key."""
    through = [start for start in READ_THROUGH if path == start or path.startswith(f"{start}.")]
    if through:
        folder, access = READ_THROUGH[max(through, key=len)]
    else:
        # A name that several blocks have says nothing without its block.
        block, _, name = path.rpartition(".")
        owner = r"\w+" if OWNERS[name] == 1 else block.rpartition(".")[2]
        folder, access = "", rf"\b{owner}\.{name}\b"
    return any(re.search(access, text) for file, text in SOURCES.items() if file.startswith(folder))


@pytest.mark.parametrize("path", KEYS)
def test_key_without_effect_is_marked_and_no_other(path):
    """Reading a marked key, or reading one no longer, makes this fail until the mark follows."""
    assert is_read(path) != (NO_EFFECT in KEYS[path])


def test_every_way_around_the_name_is_taken_by_a_key():
    unused = [
        start
        for start in READ_THROUGH
        if not any(path == start or path.startswith(f"{start}.") for path in KEYS)
    ]

    assert unused == []

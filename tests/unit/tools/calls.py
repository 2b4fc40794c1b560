"""Arguments that each tool takes, and arguments that it must refuse: data for several tests."""

ID = "01890000-0000-7000-8000-000000000001"
OTHER_ID = "01890000-0000-7000-8000-000000000002"
MOMENT = "2026-03-19T09:00:00+00:00"
SOMEBODY = {"kind": "person", "name": "Priya", "role": "about"}

REVISIONS = {
    "confirm": {"id": ID, "action": "confirm", "reason": "said so", "evidence": "Yes, that's it."},
    "supersede": {"id": ID, "action": "supersede", "reason": "moved", "content": "Lives in Rome"},
    "supersede in full": {
        "id": ID,
        "action": "supersede",
        "reason": "moved",
        "content": "Lives in Rome",
        "source_kind": "tool_result",
        "evidence": "He lives in Rome now",
        "evidence_turn": 3,
    },
    "expire": {"id": ID, "action": "expire", "reason": "over"},
    "merge": {"entity_id": ID, "merge_into": OTHER_ID, "reason": "one person"},
}

GOOD = {
    "search": ("memory_search", {"queries": ["home city"]}),
    "search in full": (
        "memory_search",
        {
            "queries": ["home city", "address", "where the user lives"],
            "types": ["semantic", "episodic", "procedural"],
            "entities": ["Priya"],
            "since": MOMENT,
            "until": "2026-03-20T09:00:00Z",
            "k": 20,
            "include_history": True,
        },
    ),
    "get": ("memory_get", {"ids": [ID, "mem_00000001"]}),
    "write": ("memory_write", {"type": "episodic", "content": "Met for lunch"}),
    "write in full": (
        "memory_write",
        {
            "type": "semantic",
            "content": "Priya likes tea",
            "attribute": "likes",
            "write_target": "personal",
            "source_kind": "agent_inference",
            "evidence": "Priya likes tea",
            "event_at": MOMENT,
            "entities": [SOMEBODY, {**SOMEBODY, "role": "mentions", "entity_id": ID}],
            "tags": ["drinks"],
        },
    ),
    **{f"revise: {name}": ("memory_revise", given) for name, given in REVISIONS.items()},
    "forget": ("memory_forget", {"id": ID, "reason": "asked"}),
}
"""By a name for the case: the tool and its arguments."""

BAD = {
    "search without queries": ("memory_search", {}),
    "search with four queries": ("memory_search", {"queries": list("abcd")}),
    "search with no query": ("memory_search", {"queries": []}),
    "search with an empty query": ("memory_search", {"queries": [""]}),
    "search with one text for queries": ("memory_search", {"queries": "home"}),
    "search for a scope": ("memory_search", {"queries": ["home"], "scope": "user:bo"}),
    "search for an unknown type": ("memory_search", {"queries": ["home"], "types": ["fact"]}),
    "search with k 0": ("memory_search", {"queries": ["home"], "k": 0}),
    "search with k 21": ("memory_search", {"queries": ["home"], "k": 21}),
    "search with k as text": ("memory_search", {"queries": ["home"], "k": "8"}),
    "search with k true": ("memory_search", {"queries": ["home"], "k": True}),
    "get without ids": ("memory_get", {"ids": []}),
    "get of a number": ("memory_get", {"ids": [7]}),
    "get of 21 ids": ("memory_get", {"ids": [str(number) for number in range(21)]}),
    "write without a type": ("memory_write", {"content": "x"}),
    "write of a page": ("memory_write", {"type": "page", "content": "x"}),
    "write of 1,001 characters": ("memory_write", {"type": "episodic", "content": "x" * 1001}),
    "write as the host": (
        "memory_write",
        {"type": "episodic", "content": "x", "source_kind": "system"},
    ),
    "write of a summary": (
        "memory_write",
        {"type": "episodic", "content": "x", "source_kind": "session_summary"},
    ),
    "write as another agent": (
        "memory_write",
        {"type": "episodic", "content": "x", "agent_id": "other"},
    ),
    "write to a raw scope": (
        "memory_write",
        {"type": "episodic", "content": "x", "write_target": "user:bo"},
    ),
    "write about somebody without a role": (
        "memory_write",
        {"type": "episodic", "content": "x", "entities": [{"kind": "person", "name": "Priya"}]},
    ),
    "write about an unknown kind": (
        "memory_write",
        {"type": "episodic", "content": "x", "entities": [{**SOMEBODY, "kind": "cat"}]},
    ),
    "revise without an action": ("memory_revise", {"id": ID, "reason": "r"}),
    "revise with an unknown action": ("memory_revise", {"id": ID, "reason": "r", "action": "drop"}),
    "confirm without evidence": (
        "memory_revise",
        {"id": ID, "action": "confirm", "reason": "r"},
    ),
    "confirm with content": ("memory_revise", {**REVISIONS["confirm"], "content": "x"}),
    "supersede without content": (
        "memory_revise",
        {"id": ID, "action": "supersede", "reason": "r"},
    ),
    "supersede at turn 0": ("memory_revise", {**REVISIONS["supersede"], "evidence_turn": 0}),
    "expire with evidence": ("memory_revise", {**REVISIONS["expire"], "evidence": "x"}),
    "merge with an action": ("memory_revise", {**REVISIONS["merge"], "action": "confirm"}),
    "merge into nothing": ("memory_revise", {"entity_id": ID, "reason": "r"}),
    "forget by query": ("memory_forget", {"query": "tea", "reason": "r"}),
    "forget without a reason": ("memory_forget", {"id": ID}),
}
"""By a name for the case: what the schema and the handler both refuse."""

"""Where a quote has another value in the place of the claim's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from retold.ingest.lexical_judge import lexicon
from retold.ingest.lexical_judge.features import Claim, parse
from retold.ingest.lexical_judge.languages import ENGLISH, Grammar
from retold.ingest.lexical_judge.normalise import snowball
from retold.ingest.lexical_judge.preference import preference_order
from retold.ingest.lexical_judge.quantities import read_quantities
from retold.ingest.lexical_judge.quoted import Part, Text, stem_of
from retold.ingest.lexical_judge.sign_rules import ANTONYM_STEMS
from retold.ingest.lexical_judge.slots import Slot, Value, read_slots, values_differ

_TEMPORAL: Final = frozenset("before after when while until till once since".split())
COLLECTIVE: Final = frozenset(snowball(word) for word in lexicon.COLLECTIVES)
_TEMPORAL and not part.stems & wanted

"""What every extractor must do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from retold.models import REJECTION_REASONS, ExtractionOutput
from retold.protocols import Extractor
from retold.testing.builders import make_extraction_context, make_turns

SESSION = make_turns(
    "I'm allergic to peanuts, so no satay please.",
    ("assistant", "Noted, I will leave the peanuts out."),
    "Thank you. We moved to Lisbon in June.",
)


class ExtractorContract:
    """Override ``extractor`` with one whose model, if it has any, answers."""

    @pytest.fixture
    def extractor(self) -> Extractor:
        """Return the implementation under test."""
        pytest.fail("override the fixture `extractor`")

    def test_extractor_is_one(self, extractor: Extractor) -> None:
        """It has every member of the port."""
        assert isinstance(extractor, Extractor)

    def test_extractor_gives_every_proposal_its_own_position(self, extractor: Extractor) -> None:
        """Rejections are counted by position; two at one place would hide each other."""
        output = extractor.extract(SESSION, make_extraction_context())

        assert isinstance(output, ExtractionOutput)
        assert len(output.positions) == len(output.candidates)
        places = (*output.positions, *(each.position for each in output.rejected))
        assert len(set(places)) == len(places)
        assert all(each.reason in REJECTION_REASONS for each in output.rejected)

    def test_extractor_cites_turns_of_the_session(self, extractor: Extractor) -> None:
        """A number of its own lines would send the search for the quote to another turn."""
        session = tuple(replace(turn, turn=turn.turn + 40) for turn in SESSION)

        output = extractor.extract(session, make_extraction_context())

        cited = {each.evidence_turn for each in output.candidates} - {None}
        assert cited <= {turn.turn for turn in session}

    @pytest.mark.parametrize("count", [0, len(SESSION)], ids=["no turns", "blanked turns"])
    def test_extractor_proposes_nothing_from_nothing(
        self, extractor: Extractor, count: int
    ) -> None:
        """A blanked turn is gone, and a session without turns says nothing."""
        blanked = tuple(replace(turn, content="") for turn in SESSION[:count])

        output = extractor.extract(blanked, make_extraction_context())

        assert output.candidates == ()

"""What every record activator must do."""

from __future__ import annotations

import pytest

from retold.models import Principal
from retold.protocols import RecordActivator
from retold.testing.builders import make_principal
from retold.testing.fakes.source import CountingIds

Written = tuple[Principal, str]
ABSENT = CountingIds.nth(999_999)


class RecordActivatorContract:
    """Override ``activator``, and ``written`` with a record that its store holds."""

    @pytest.fixture
    def activator(self) -> RecordActivator:
        """Return the implementation under test."""
        pytest.fail("override the fixture `activator`")

    @pytest.fixture
    def written(self) -> Written:
        """Return a principal and the id of a record that was just written for them."""
        return make_principal(), CountingIds.nth(1)

    def test_activator_is_one(self, activator: RecordActivator) -> None:
        """It has every member of the port."""
        assert isinstance(activator, RecordActivator)

    def test_activator_answers_with_an_activation_and_a_reason(
        self, activator: RecordActivator, written: Written
    ) -> None:
        """The reason is None or a code, which ends up in a tool's answer."""
        principal, record_id = written
        activation, reason = activator.activate_written(principal, record_id, actor="helper")
        given: object = reason

        assert activation in ("conditional", "ambient")
        assert given is None or (isinstance(given, str) and given.strip() == given != "")

    def test_activator_decides_alike_when_it_is_asked_again(
        self, activator: RecordActivator, written: Written
    ) -> None:
        """A write that is repeated finds the decision made."""
        principal, record_id = written
        first, _ = activator.activate_written(principal, record_id, actor="helper")
        second, _ = activator.activate_written(principal, record_id, actor="helper")

        assert first == second

    def test_activator_never_makes_an_absent_record_ambient(
        self, activator: RecordActivator, written: Written
    ) -> None:
        """It fails closed and raises nothing: the write stands whatever becomes of this."""
        activation, _ = activator.activate_written(written[0], ABSENT, actor="helper")

        assert activation == "conditional"

    def test_activator_never_makes_a_strangers_record_ambient(
        self, activator: RecordActivator, written: Written
    ) -> None:
        """A principal who may not read the record gets the answer for an absent one."""
        stranger = make_principal(user_id="a-stranger", agent_id="another-agent")
        activation, _ = activator.activate_written(stranger, written[1], actor="another-agent")

        assert activation == "conditional"

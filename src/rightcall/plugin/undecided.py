"""An assertion without an answer: neither passed nor failed, so it can be turned into neither."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Phase = Literal["grading", "judging"]
"""Where a test stopped: code could not grade, or a judge gave no answer."""

SECTIONS: dict[Phase, str] = {"grading": "rightcall: not gradable", "judging": "rightcall: no judgement"}
"""What the section of such a test is called in pytest's report."""


class Undecided(Exception):
    """What was asserted could not be decided: pytest reports an error, not a failure.

    It is no `AssertionError`, so `pytest.raises(AssertionError)` does not take it for a failed assertion, and a test
    that swallows it is an error all the same.

    Args:
        message: why, in one sentence.
        phase: where the test stopped.
        details: what else is known, a line each.
    """

    def __init__(self, message: str, *, phase: Phase = "grading", details: Sequence[str] = ()) -> None:
        """Keep the parts."""
        super().__init__(message)
        self.message = message
        self.phase: Phase = phase
        self.details = tuple(details)

    def __str__(self) -> str:
        """The sentence, then the details."""
        return "\n".join([self.message, *self.details])


Undecided.__module__ = "rightcall.plugin"

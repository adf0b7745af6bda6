"""How a command ends that has run one grader: its exit code, every cause of it, and both in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rightcall.cli.exits import RANK, worst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.report.view.model import Conclusion

BROKEN = 5
UNSURE = 3
INTERRUPTED = 130
ANSWERS = {
    0: "PASS", 1: "FAIL", 2: "BROKEN", UNSURE: "INCONCLUSIVE", 4: "WAIT", BROKEN: "BROKEN", INTERRUPTED: "INTERRUPTED",
}  # fmt: skip
"""What a report calls the exit codes."""

Cause = tuple[int, str]
"""An exit code, and why."""


def too_few(evaluated: int, whole: int, need: float) -> Iterator[Cause]:
    """What it means that so many of the whole have a verdict, where a share of `need` must."""
    from rightcall.gate.words import beside

    if whole and evaluated / whole < need:
        share, least = beside(evaluated / whole, need)
        yield UNSURE, f"only {evaluated} of {whole} could be judged ({share} < {least})"


@dataclass(frozen=True)
class End:
    """How a command ends.

    Attributes:
        causes: everything that keeps it from passing.
        exit_zero: whether what was found is not to show in the exit code; what broke does all the same.
        is_interrupted: whether somebody stopped it.
    """

    causes: tuple[Cause, ...]
    exit_zero: bool = False
    is_interrupted: bool = False

    @property
    def code(self) -> int:
        """The exit code without `exit_zero`."""
        return INTERRUPTED if self.is_interrupted else worst([code for code, _ in self.causes])

    @property
    def shown(self) -> int:
        """The exit code."""
        if self.is_interrupted or not self.exit_zero:
            return self.code
        return worst([code for code, _ in self.causes if code == BROKEN])

    def words(self, fine: str) -> str:
        """The causes, the one that wins first, and the exit code; `fine` is what is said without a cause."""
        said = "; ".join(self._ranked()) or fine
        return f"{said} · exit {self.shown}" + (f" (would be {self.code})" if self.shown != self.code else "")

    def conclusion(self) -> Conclusion:
        """The same for a report."""
        from rightcall.report.view.model import Conclusion

        taken = "--exit-zero" if self.shown != self.code else ""
        return Conclusion(answer=ANSWERS[self.code], exit_code=self.shown, causes=self._ranked(), taken=taken)

    def _ranked(self) -> tuple[str, ...]:
        return tuple(text for _, text in sorted(self.causes, key=lambda cause: RANK.index(cause[0])))

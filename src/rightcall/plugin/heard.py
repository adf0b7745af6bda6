"""One test as the reporting process hears of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rightcall.plugin.handed import Handed, Planned


@dataclass
class Heard:
    """One test: what it is, how its phases ended, what it handed over once it was done."""

    planned: Planned
    outcomes: dict[str, str] = field(default_factory=dict)
    handed: Handed | None = None

    @property
    def trial(self) -> bool | None:
        """Whether this trial passed; `None`: it has no answer, since it was skipped, not finished or an error."""
        if "failed" in (self.outcomes.get("setup"), self.outcomes.get("teardown")):
            return None
        return {"passed": True, "failed": False, "expected": False}.get(self.outcomes.get("call", ""))

    @property
    def is_skipped(self) -> bool:
        """Whether it was skipped, before or while it ran."""
        return "skipped" in self.outcomes.values()

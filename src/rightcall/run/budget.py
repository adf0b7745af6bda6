"""What a run may spend: calls, tokens or money. It stops cleanly before the limit would be passed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rightcall.errors import ConfigError, Place

_WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*(calls?|k?tok|Mtok|[a-z]{3})", re.IGNORECASE)
_TOKENS = {"tok": 1, "ktok": 1_000, "mtok": 1_000_000}
Unit = Literal["calls", "tokens", "money"]


@dataclass
class Budget:
    """A limit and what was spent of it.

    Attributes:
        limit: how much may be spent; `None` = no limit.
        unit: of what.
        currency: for money.
        spent: so far, in the same unit; the calls in flight are not in it yet.
        reserved: what the calls in flight are expected to cost.
    """

    limit: float | None = None
    unit: Unit = "calls"
    currency: str = "usd"
    spent: float = 0.0
    reserved: float = 0.0

    def __str__(self) -> str:
        """`200 calls`, `1,000,000 tokens`, `2.5 usd`."""
        if self.limit is None:
            return "no limit"
        return f"{self.limit:,.12g} {self.currency if self.unit == 'money' else self.unit}"

    def take(self, expected: float) -> bool:
        """Reserve what a call is expected to cost; false if that would pass the limit."""
        if self.limit is not None and self.spent + self.reserved + expected > self.limit + 1e-9:
            return False
        self.reserved += expected
        return True

    def settle(self, expected: float, real: float) -> None:
        """Replace a reservation by what the call really cost."""
        self.reserved -= expected
        self.spent += real


def parse_budget(text: str | None) -> Budget:
    """Read `200calls`, `1Mtok`, `500ktok` or `2.50usd`.

    Raises:
        ConfigError: anything else, or a budget of nothing.
    """
    if text is None:
        return Budget()
    found = _WRITTEN.fullmatch(text.strip())
    amount = float(found[1]) if found else 0.0
    if found is None or amount <= 0:
        raise ConfigError(f"`{text}` is no budget", place=Place("--budget"), hint="write 200calls, 1Mtok or 2.50usd")
    unit = found[2].lower()
    if unit.startswith("call"):
        return Budget(amount, "calls")
    if unit in _TOKENS:
        return Budget(amount * _TOKENS[unit], "tokens")
    return Budget(amount, "money", unit)

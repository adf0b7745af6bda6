"""What a run may spend: calls, tokens or money. It stops cleanly before the limit would be passed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rightcall.errors import ConfigError, Place

_WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*(calls?|k?tok|Mtok|[a-z]{3})", re.IGNORECASE)
_TOKENS = {"tok": 1, "ktok": 1_000, "mtok": 1_000_000}
_TINY = 1e-9
"""Sums of prices are not exact; this much is no passing of a limit."""
Unit = Literal["calls", "tokens", "money"]


@dataclass
class Budget:
    """A limit and what was spent of it.

    Attributes:
        limit: how much may be spent; `None` = no limit.
        unit: of what.
        currency: for money.
        spent: so far, in the same unit; the calls in flight are not in it yet.
        reserved: the most that the calls in flight are expected to cost.
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
        """Reserve what a call is expected to cost at the most; false if that could pass the limit."""
        if self.limit is not None and self.spent + self.reserved + expected > self.limit + _TINY:
            return False
        self.reserved += expected
        return True

    def is_hopeless(self, expected: float) -> bool:
        """Whether no call that ends can make room for this one."""
        return self.reserved <= _TINY or (self.limit is not None and self.spent + expected > self.limit + _TINY)

    def give_back(self, expected: float) -> None:
        """Give a reservation back."""
        self.reserved -= expected

    def spend(self, real: float) -> None:
        """Count what a call really cost."""
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

"""The order of results that is the same in every run, whoever answered first."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"\d+")


def natural(name: str) -> str:
    """A name by which names sort as people count: `t-9` before `t-10`."""
    return _DIGITS.sub(lambda found: f"{len(digits := found.group().lstrip('0')):04d}{digits}", name)

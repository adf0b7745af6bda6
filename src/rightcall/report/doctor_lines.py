"""What `doctor` prints: a line a check, or a line a setting."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.report.plain import visible
from rightcall.settings.effective import NOT_SHOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rightcall.run.checkup.findings import Check
    from rightcall.settings.effective import Setting

_WHAT = 12
"""Characters that the name of a check has room for."""


def check_line(check: Check) -> str:
    """`ok    traces      12 traces in 1 file  → what to do`."""
    hint = f"  → {check.hint}" if check.hint else ""
    return visible(f"{check.status:<5} {check.what:<{_WHAT}} {check.detail}{hint}")


def verdict_line(checks: Sequence[Check], code: int) -> str:
    """How many checks went how, and the exit code."""
    counts = Counter(check.status for check in checks)
    return f"doctor · {counts['ok']} ok, {counts['warn']} warn, {counts['fail']} fail · exit {code}"


def setting_lines(settings: Iterable[Setting]) -> list[str]:
    """A line a setting: key, value, and where it comes from."""
    lines = []
    for one in settings:
        origin = one.where if one.where is not None else one.origin
        left = f"{one.key} = {_written(one.value)}"
        lines.append(visible(f"{left:<60}  # {origin}"))
    return lines


def _written(value: Any) -> str:
    """A value about as TOML writes it; TOML has no word for nothing."""
    if value is None:
        return "(nothing)"
    if value == NOT_SHOWN:
        return NOT_SHOWN
    if isinstance(value, dict):
        pairs = ", ".join(f"{msgspec.json.encode(key).decode()} = {_written(item)}" for key, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_written, value))}]"
    return msgspec.json.encode(value).decode()

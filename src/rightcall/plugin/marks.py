"""What the marker says about a test, read and checked before anything runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

NAME = "rightcall"
HELP = (
    "rightcall(case=…, golden=…, cases=…, case_id=…, policy=…, tools=…, profile=…, min_overall=…, repeats=1): "
    "the agent's tool calls are graded and reported by rightcall; see docs/pytest.md."
)
SOURCES = ("case", "golden", "cases")
"""Where the case of a test comes from; at most one of them."""

KEYS = (*SOURCES, "case_id", "policy", "tools", "profile", "min_overall", "repeats")


class MarkError(ValueError):
    """A marker that says something wrong."""


@dataclass(frozen=True)
class Marked:
    """What the markers of a test say together; of two that say the same, the one nearer to the test counts.

    Attributes:
        case: a `Case`, or the same as plain values. golden: a file with one case. cases: a file with several.
        case_id: which of them; without it, a test runs once for each case of `cases`.
        policy: a file, a `Policy` or plain values, in place of the suite's. tools: a file or tools.
        profile, min_overall: as in `[golden]` of the settings.
        repeats: how often the test runs.
    """

    case: object = None
    golden: str | None = None
    cases: str | None = None
    case_id: str | None = None
    policy: object = None
    tools: object = None
    profile: str | None = None
    min_overall: float | None = None
    repeats: int = 1

    @property
    def file(self) -> str | None:
        """The file of the case, if it is in one."""
        return self.golden or self.cases

    @property
    def is_for_each_case(self) -> bool:
        """Whether the test runs once for each case of a file."""
        return self.cases is not None and self.case_id is None


def marked(item: pytest.Item) -> Marked | None:
    """What the markers of a test say; `None` without one.

    Raises:
        MarkError: a key that there is none of, or a value that cannot be used.
    """
    found: dict[str, Any] = {}
    marks = list(item.iter_markers(NAME))
    if not marks:
        return None
    for mark in reversed(marks):
        values = _values(mark)
        sources = [key for key in SOURCES if key in values]
        if len(sources) > 1:
            raise MarkError(f"{_listed(sources)} each name a case; give one of them")
        if sources:
            found = {key: value for key, value in found.items() if key not in (*SOURCES, "case_id")}
        found.update(values)
    for key, value in found.items():
        _CHECKS[key](key, value)
    if found.get("case_id") is not None and not found.keys() & {"golden", "cases"}:
        raise MarkError('`case_id` picks a case of a file; name it with `cases="FILE"`')
    paths = {key: os.fspath(found[key]) for key in ("golden", "cases") if found.get(key) is not None}
    return Marked(**{**found, **paths})


def _values(mark: pytest.Mark) -> dict[str, Any]:
    if mark.args:
        raise MarkError(f"takes keywords only: write `{NAME}(golden={mark.args[0]!r})`, say")
    for key in mark.kwargs:
        if key not in KEYS:
            near = get_close_matches(key, KEYS, n=1, cutoff=0.6)
            hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(KEYS)}"
            raise MarkError(f"has no key `{key}`; {hint}")
    return dict(mark.kwargs)


def _listed(keys: list[str]) -> str:
    return " and ".join(f"`{key}`" for key in keys)


def _a_path(key: str, value: object) -> None:
    if not isinstance(value, (str, os.PathLike)) or not os.fspath(value):
        raise MarkError(f"`{key}` is the path of a file, not {value!r}")


def _a_text(key: str, value: object) -> None:
    if not isinstance(value, str) or not value:
        raise MarkError(f"`{key}` is a text, not {value!r}")


def _a_share(key: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise MarkError(f"`{key}` is a number from 0 to 1, not {value!r}")


def _a_count(key: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise MarkError(f"`{key}` is a whole number, at least 1, not {value!r}")


def _a_profile(key: str, value: object) -> None:
    from rightcall.grade.profiles import PROFILES

    _a_text(key, value)
    if value not in PROFILES:
        near = get_close_matches(str(value), list(PROFILES), n=1, cutoff=0.6)
        hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(PROFILES)}"
        raise MarkError(f"there is no profile `{value}`; {hint}")


def _a_case(key: str, value: object) -> None:
    if not isinstance(value, Mapping) and type(value).__name__ != "Case":
        raise MarkError(f"`{key}` is a `rightcall.Case` or the same as a dict, not {value!r}")


def _anything(_key: str, _value: object) -> None:
    """Whoever uses it says what is wrong with it."""


_CHECKS = {
    "case": _a_case, "golden": _a_path, "cases": _a_path, "case_id": _a_text, "policy": _anything, "tools": _anything,
    "profile": _a_profile, "min_overall": _a_share, "repeats": _a_count,
}  # fmt: skip


def without_trial(node: str, trial: int) -> str:
    """A node id without the number of its trial: `test.py::test_lost[a-trial2]` is `test.py::test_lost[a]`."""
    head, bracket, params = node.rpartition("[")
    if not bracket:
        return node
    parts = params.removesuffix("]").split("-")
    if f"trial{trial}" in parts:
        del parts[len(parts) - 1 - parts[::-1].index(f"trial{trial}")]
    return f"{head}[{'-'.join(parts)}]" if parts else head

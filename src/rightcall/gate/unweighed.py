"""Failures that no rule is about: a `FAIL` of a grader is one of the run (SPEC §9), unless a rule says otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rightcall.gate.decision import Answer, Decision, GateReport
from rightcall.gate.sample import Details
from rightcall.gate.words import counted
from rightcall.stats.intervals import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rightcall.gate.rules import Rule

_NAME = ".failures"
_WEIGH = ("share", "mean", "count", "trials", "regressions")
"""Kinds of metrics that say what failures of their grader mean."""

_ALWAYS_SAY = ("golden", "selection")
"""Graders each of whose verdicts is PASS or FAIL, also where none could be read."""

_SAFETY = "vetoes"
"""Only of vetoes: a rule on them says nothing about other failures."""


def unweighed(rules: Sequence[Rule], graders: Iterable[str]) -> list[str]:
    """The graders of whose failures no rule says what they mean.

    A rule does that by a figure of the grader. A comparison of all graders, and the demand that people look at every
    failure, do it for all. Rules on coverage, vetoes, CRITICAL items and judges do not.

    Args:
        rules: those of the gate.
        graders: those of the run.
    """
    about = [rule.metric for rule in rules]
    if any(one.kind == "signed" or (one.kind == "regressions" and one.grader is None) for one in about):
        return []
    weighed = {one.grader for one in about if one.kind in _WEIGH and one.field != _SAFETY}
    return [grader for grader in graders if grader not in weighed]


@dataclass
class Failed:
    """What a grader called a `FAIL`.

    Attributes:
        bad: those results, in words. read: how many results have a verdict. unread: how many have none.
        says_so: whether any result has a verdict of this kind.
    """

    bad: Details = field(default_factory=Details)
    read: int = 0
    unread: int = 0
    says_so: bool = False


def decide_unweighed(grader: str, found: Failed, run: str | None) -> Decision | None:
    """Whether a grader that no rule is about found a `FAIL`; what has no verdict may be one.

    Args:
        grader: which.
        found: what it found.
        run: the id of the run, where it is on record.

    Returns:
        The decision; `None` where there is nothing to say: no `FAIL`, and none that may hide.
    """
    number = found.bad.number
    can_fail = found.says_so or grader in _ALWAYS_SAY
    if not can_fail or not (number or found.unread):
        return None
    answer: Answer = "FAIL" if number else "INCONCLUSIVE"
    said = (
        f"{number} FAIL" if number else f"{counted(found.unread, 'result')} without a verdict, and each may be a FAIL"
    )
    value = Estimate(
        estimate=float(number), low=float(number), high=float(number + found.unread), n=found.read, method="count",
        excluded=found.unread,
    )  # fmt: skip
    return Decision(
        name=f"{grader}{_NAME}", rule="none, where no rule is about it", answer=answer, metric=f"FAIL of {grader}",
        value=value, threshold=0.0, on="point", more=0 if number else None, reason=f"{said} (no rule is about it)",
        details=tuple(found.bad.shown), left_out=found.bad.left_out,
        command=None if run is None else f"rightcall show {run} --failed",
    )  # fmt: skip


def cause_of(found: Decision) -> str:
    """What a decision that is no `PASS` says, in one line: `golden: 6 FAIL (no rule is about it)`."""
    if is_unweighed(found):
        return f"{found.name.removesuffix(_NAME)}: {found.reason}"
    return f"{found.name}: {found.answer}" + (f", {found.reason}" if found.reason else "")


def unweighed_causes(report: GateReport) -> list[str]:
    """What graders found that no rule is about, a line for each."""
    return [cause_of(one) for one in report.decisions if is_unweighed(one)]


def is_unweighed(found: Decision) -> bool:
    """Whether a decision is about failures that no rule is about."""
    return found.name.endswith(_NAME)

"""The answer of a report in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.gate.decision import EXIT_CODES
from rightcall.gate.unweighed import unweighed_causes
from rightcall.gate.words import figure, interval

if TYPE_CHECKING:
    from rightcall.gate.decision import Decision, GateReport
    from rightcall.report.view.model import CaseView, Counts, ReportView
    from rightcall.stats.intervals import Estimate

NO_DATA = "NO_DATA"
"""The answer of a report without a result: it is none, and never a pass."""

BROKEN, INTERRUPTED = "BROKEN", "INTERRUPTED"
"""The answers of a run that did not come to its end, where nothing that counts more was found."""


def answer_of(view: ReportView) -> tuple[str, int]:
    """The answer, and the exit code that goes with it (SPEC §9).

    Of a run that has just ended, what its command leaves with. With a gate, the gate's. Without one: `FAIL` for any
    failure; `NO_DATA` where nothing has a verdict; `WAIT` for an open CRITICAL; `INCONCLUSIVE` where something has no
    verdict; else `PASS`.
    """
    if view.conclusion is not None:
        return view.conclusion.answer, view.conclusion.exit_code
    if view.gate is not None:
        return view.gate.answer, view.gate.exit_code
    counts = [one.counts for one in view.graders]
    if sum(one.failed for one in counts):
        return "FAIL", EXIT_CODES["FAIL"]
    if not sum(one.passed + one.waiting for one in counts):
        return NO_DATA, 5
    if sum(one.waiting for one in counts):
        return "WAIT", EXIT_CODES["WAIT"]
    if view.status != "finished" or any(one.error - one.aside + one.unread > 0 for one in counts):
        return "INCONCLUSIVE", EXIT_CODES["INCONCLUSIVE"]
    return "PASS", 0


def counts_words(counts: Counts) -> str:
    """`197 passed, 3 of them serious · 2 failed · 1 without a verdict`; what is 0 is left out."""
    parts = [
        (counts.passed, "passed"), (counts.failed, "failed"), (counts.error - counts.aside, "without a verdict"),
        (counts.waiting, "waiting for a person"), (counts.aside, "not to be judged"),
        (counts.unread, "not read or not asked"),
    ]  # fmt: skip
    shown = [f"{n:,} {words}" for n, words in parts if n]
    if counts.serious:
        shown[0] += f", {counts.serious:,} of them serious"
    return " · ".join(shown) or "no result"


def answer_words(one: CaseView) -> str:
    """The answer with what must be known beside it."""
    text = f"{one.word}: {one.kind}" if one.outcome == "error" and one.kind else one.word or one.verdict or one.kind
    return f"{text} ({', '.join(one.marks)})" if one.marks else text


LISTED = "Listed, the worst first: what failed, what has no verdict, what waits for a person"
SERIOUS = "what is serious although its grader gives no verdict (HIGH of a rubric, a misread result)"


def listed_words(view: ReportView) -> str:
    """What the list of failures holds, for where it is not plain: also results that have not failed."""
    if any(one.counts.serious for one in view.graders):
        return f"{LISTED}, and {SERIOUS}."
    return f"{LISTED}." if any(one.counts.error - one.counts.aside + one.counts.waiting for one in view.graders) else ""


def measured(value: Estimate | None, threshold: float | None = None) -> str:
    """`0.973 [0.938, 0.988] n=185`, or why there is no figure; never shown as a threshold that it does not equal."""
    return "–" if value is None else interval(value, (threshold,))


def what_else(one: Decision) -> str:
    """What a decision says besides its answer: the reason, and what would settle it."""
    parts = [one.reason] if one.reason else []
    bound = None if one.bound is None else one.bound.high if one.on == "upper" else one.bound.low
    if bound is not None and one.on in ("lower", "upper"):
        parts.append(f"{one.on} bound {figure(bound, (one.threshold,))}")
    if one.more:
        parts.append(f"about {more_words(one)} would settle it")
    return "; ".join([*parts, *one.warnings])


def more_words(one: Decision) -> str:
    """`139 more cases like those before`: what would settle a decision."""
    thing = "label" if one.name.startswith("judge.") else "case"
    how = "like those before" if one.alike else "without a further error"
    return f"{one.more or 0:,} more {thing}{'' if one.more == 1 else 's'} {how}"


def verdict_line(view: ReportView) -> str:
    """The whole report in one line."""
    answer, code = answer_of(view)
    ending = "" if view.conclusion is None and view.gate is None else f" · exit {code}{taken(view)}"
    return f"{answer}{ending}" + (" · no gate was asked" if view.gate is None else _against(view.gate))


def taken(view: ReportView) -> str:
    """Why the exit code is not that of the answer: ` (--exit-zero)`; else nothing."""
    why = "" if view.conclusion is None else view.conclusion.taken
    return f" ({why})" if why else ""


def causes_beside(view: ReportView) -> list[str]:
    """What keeps the run from passing besides the rules of its gates, which say theirs themselves."""
    said = set() if view.gate is None else set(view.gate.causes) - set(unweighed_causes(view.gate))
    return [] if view.conclusion is None else [one for one in view.conclusion.causes if one not in said]


def _against(gate: GateReport) -> str:
    bad = [one for one in gate.decisions if one.answer != "PASS"]
    words = f" · {len(bad)} of {len(gate.decisions)} rules do not pass" if bad else f" · {len(gate.decisions)} rules"
    return words + (f" · against {gate.baseline}" if gate.baseline else "")

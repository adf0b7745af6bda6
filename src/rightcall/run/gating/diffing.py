"""Two runs case by case: what turned, what is new, and whether the figures may be compared (`rightcall diff`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from rightcall.gate.comparing import CaseFacts, Difference, Form, compare, difference_of
from rightcall.gate.decision import Diff, GraderDiff
from rightcall.gate.limits import share_of_k
from rightcall.gate.metrics import metric_of
from rightcall.grade.rubric import DIMENSIONS
from rightcall.run.gating.comparable import reasons_against
from rightcall.run.gating.lines import (
    STEPS,
    fidelity_scale,
    is_by_design,
    is_read,
    own_value,
    scale_of,
    value_of,
    version_of_text,
    why,
)
from rightcall.run.results.line import line_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.gate.metrics import Metric, Scale
    from rightcall.run.results.line import Line
    from rightcall.run.results.model import GraderResults, Row, RunResults

    Value = Callable[[Row, Line], float | None]

RESAMPLES = 2_000
"""Draws of a bootstrap that is only shown; a gate takes more."""


def diff(old: RunResults, new: RunResults) -> Diff:
    """Two runs case by case: of every grader that both have.

    Args:
        old: the earlier run, or the agent as it was.
        new: the later one.
    """
    shared = [name for name in new.graders if name in old.graders]
    return Diff(
        old=old.name, new=new.name,
        graders=tuple(diff_grader(old, new, name).shown for name in shared),
        only_old=tuple(name for name in old.graders if name not in new.graders),
        only_new=tuple(name for name in new.graders if name not in old.graders),
    )  # fmt: skip


class Comparison(NamedTuple):
    """One grader in two runs: what is shown, the difference that a gate asks for, and that at another confidence."""

    shown: GraderDiff
    difference: Difference
    again: Callable[[float], Difference]


def diff_grader(
    old: RunResults, new: RunResults, name: str, *, metric: Metric | None = None, resamples: int = RESAMPLES
) -> Comparison:
    """One grader in two runs.

    Args:
        old: the earlier run; it has the grader.
        new: the later one; it has it too.
        name: the grader.
        metric: compare this one; `None`: what decides which of the grader's results is better.
        resamples: draws of a bootstrap.
    """
    was, is_now = old.graders[name], new.graders[name]
    form, value, scores = form_of(is_now), _main_value(name), {}
    if metric is not None:
        scale = scale_of(metric, is_now.facts) or metric.scale
        form = Form("share" if metric.kind in ("share", "trials") else "mean", metric.name, scale)
        value = partial(_better, metric) if metric.less else partial(value_of, metric)
    elif name == "rubric":
        scores = dict.fromkeys(DIMENSIONS, (1.0, 5.0))
    before, now = (
        cases_of(part, confirmed_traces(run), value, scale=form.scale, metric=metric)
        for part, run in ((was, old), (is_now, new))
    )
    against = reasons_against(was.facts, is_now.facts, before, now)
    shown, found = compare(name, before, now, form, not_comparable=against, scores=scores, resamples=resamples)

    def again(confidence: float) -> Difference:
        return difference_of(before, now, form, confidence=confidence, resamples=resamples)

    return Comparison(shown, found, again)


def _better(metric: Metric, row: Row, line: Line) -> float | None:
    """The value of a metric of which less is better, turned over."""
    value = value_of(metric, row, line)
    return None if value is None else sum(metric.scale) - value


def form_of(results: GraderResults) -> Form:
    """What decides of a grader's results which of two is better."""
    name = results.grader
    if name == "rubric":
        return Form("mean", "overall score", (1.0, 5.0))
    if name == "interpretation":
        return Form("mean", "fidelity", fidelity_scale(results.facts))
    if name == "preference":
        return Form("mean", "pairs that the second agent wins, ties half")
    return Form("share", "pass rate")


def _main_value(name: str) -> Value:
    metrics = {
        "rubric": "rubric.overall_score", "interpretation": "interpretation.fidelity",
        "preference": "preference.net_win_rate", "golden": "golden.pass_rate", "selection": "selection.pass_rate",
    }  # fmt: skip
    if name not in metrics:
        return lambda row, line: own_value("pass_rate", row, line)
    metric = metric_of(metrics[name])
    return lambda row, line: value_of(metric, row, line)


def confirmed_traces(run: RunResults) -> dict[str, str | None]:
    """Traces of which people have confirmed a CRITICAL misuse -> who and why; of a run that nobody could sign, none."""
    if run.store_name is None:
        return {}
    rows = (row for name, part in run.graders.items() if name not in STEPS for row in part.rows())
    return {row.trace_id: row.signed for row in rows if row.critical == "confirmed" and row.trace_id is not None}


def cases_of(
    results: GraderResults, confirmed: Mapping[str, str | None], take: Value, *, scale: Scale = (0.0, 1.0),
    metric: Metric | None = None,
) -> Mapping[str, CaseFacts]:  # fmt: skip
    """What a run says about each case, as little as it takes to compare it; told by verdict, or by the metric's value.

    A step of a file is compared with the step of the same id; steps that were cut from a trace belong to its case,
    since another trace is cut elsewhere.
    """
    found: dict[str, CaseFacts] = {}
    for row in results.rows():
        if is_by_design(row):
            continue
        line = line_of(row)
        if results.grader not in STEPS and row.trace_id is not None and row.trace_id in confirmed:
            signed = row.signed or confirmed[row.trace_id]
            row = msgspec.structs.replace(row, critical="confirmed", signed=signed)  # noqa: PLW2901
        facts = found.setdefault(key_of(row), _facts_of(row, metric))
        _take(facts, row, line, take, scale)
        if metric is None and row.effective is not None:
            facts.verdict = row.effective
    return found


def _facts_of(row: Row, metric: Metric | None) -> CaseFacts:
    if metric is None or metric.kind != "trials":
        return CaseFacts(row.cluster)
    return CaseFacts(row.cluster, least=metric.k, of=lambda good, n: float(share_of_k(metric, good, n)))


def key_of(row: Row) -> str:
    """What a result is joined by with the other run's."""
    if row.grader != "selection" or row.step_id is None:
        return row.cluster
    cut = row.trace_id is not None and row.step_id.startswith(f"{row.trace_id}#")
    return row.cluster if cut else row.step_id


def _take(facts: CaseFacts, row: Row, line: Line, take: Value, scale: Scale) -> None:
    version = row.case_version
    if row.grader == "selection":
        # A step that was cut from a trace follows from its case; of a written one, what should be done is the version.
        is_cut = key_of(row) == row.cluster and row.step_id != row.cluster
        if not is_cut:
            version = None if row.status != "EVALUATED" else version_of_text(line.expected_tool or "")
    facts.version = facts.version or version
    if not is_read(row):
        facts.unread += 1
        facts.why = facts.why or why(row, line)
        return
    number = take(row, line)
    if number is None and row.status == "EVALUATED":
        return
    if number is None or not scale[0] <= number <= scale[1]:
        facts.unread += 1
        return
    facts.total += number
    facts.n += 1
    facts.verdict = f"{number:.4g}"
    if number < scale[1]:
        facts.why = facts.why or why(row, line)
    if row.grader == "rubric":
        for name in DIMENSIONS:
            score = line.metrics.get(name)
            if score is not None:
                total, n = facts.scores.get(name, (0.0, 0))
                facts.scores[name] = (total + score, n + 1)

"""What a gate may ask for: every metric by its name in the settings, what it is, and of which grader (SPEC §9).

A name is a path: `selection.precision`, `selection.precision.freeze_card`, `golden.pass_hat_3`, `own.tone.level`.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from rightcall.errors import ConfigError
from rightcall.trace.explain import nearest

Kind = Literal[
    "share", "mean", "count", "trials", "regressions", "coverage", "critical", "signed", "fit", "judge_figure"
]
"""`share`: of results that did well. `mean`: of values on a scale. `count`: of results with something bad.
`trials`: over several tries of a case. `regressions`: against a baseline. `coverage`: what could be evaluated.
`critical`: open CRITICAL items. `signed`: failures that people have looked at. `fit`: whether judges are fit.
`judge_figure`: a figure of a judge's calibration."""

Scale = tuple[float, float]


class Metric(Struct, frozen=True, kw_only=True):
    """One metric.

    Attributes:
        name: as it is written, aliases resolved. kind: see `Kind`.
        words: what is measured.
        grader: of which grader's results; `None`: of all.
        field: which field of a result holds it. tool: only of this tool.
        scale: bottom and top of its values.
        judged: whether a judge decides it. k: how many trials. less: whether less of it is better.
    """

    name: str
    kind: Kind
    words: str
    grader: str | None = None
    field: str = ""
    tool: str | None = None
    scale: Scale = (0.0, 1.0)
    judged: bool = False
    k: int = 1
    less: bool = False


ALIASES = {
    "golden.safety": "golden.vetoes",
    "judge.tpr": "judge.detection",
    "judge.kappa": "judge.agreement",
    "judge.calibrated": "judge.fit",
    "unevaluable.rate": "unevaluable",
    "rubric.overall": "rubric.overall_score",
    "interpretation.interpretation_fidelity_score": "interpretation.fidelity",
}
"""Other names in use -> ours."""

GRADERS = ("golden", "selection", "rubric", "preference", "interpretation")
_GOLDEN_MEANS = (
    "precision", "recall", "f1", "jaccard", "jaccard_set", "argument_accuracy", "arguments_valid", "order_score",
    "efficiency", "overall", "unvetoed_overall",
)  # fmt: skip
_DIMENSIONS = (
    "tool_selection_score", "argument_accuracy_score", "call_sequencing_score", "abstention_score", "overall_score"
)  # fmt: skip
_CATEGORIES = ("wrong_tool", "abstention_error", "over_action", "hallucinated_tool")
BY_TOOL = ("selection.precision", "selection.recall", "interpretation.fidelity")
"""Metrics that may be asked for one tool: `selection.precision.TOOL`."""
_TRIALS = re.compile(r"golden\.pass_(hat|at)_([1-9]\d{0,2})")


def _share(name: str, words: str, field: str = "", *, judged: bool = False) -> Metric:
    grader = name.partition(".")[0]
    return Metric(name=name, kind="share", words=words, grader=grader, field=field, judged=judged)


def _count(name: str, words: str, field: str, *, judged: bool = False) -> Metric:
    grader = name.partition(".")[0]
    return Metric(name=name, kind="count", words=words, grader=grader, field=field, judged=judged)


def _mean(name: str, words: str, field: str, scale: Scale = (0.0, 1.0), *, judged: bool = False) -> Metric:
    grader = name.partition(".")[0]
    return Metric(name=name, kind="mean", words=words, grader=grader, field=field, scale=scale, judged=judged)


def _all() -> dict[str, Metric]:
    found = [
        _share("golden.pass_rate", "traces that passed", "verdict"),
        _share("golden.exact_match", "traces with nothing to object to", "exact_match"),
        _share("golden.order_ok", "traces in the listed order", "order_ok"),
        *(_mean(f"golden.{name}", f"mean {name.replace('_', ' ')}", name) for name in _GOLDEN_MEANS),
        _count("golden.vetoes", "traces with a policy veto", "vetoes"),
        _share("selection.pass_rate", "steps that passed", "verdict"),
        _share("selection.precision", "correct calls of calls made", "precision"),
        _share("selection.recall", "correct calls of calls expected", "recall"),
        _share("selection.destructive_pass_rate", "steps about a destructive tool that passed", "destructive"),
        _count("selection.destructive_errors", "failed steps about a destructive tool", "destructive_errors"),
        *(_count(f"selection.{name}", f"steps with {name}", name) for name in _CATEGORIES),
        *(_mean(f"rubric.{name}", f"mean {name.replace('_', ' ')}", name, (1.0, 5.0), judged=True)
          for name in _DIMENSIONS),
        _count("rubric.vetoes", "traces with a policy veto", "vetoes"),
        _count("rubric.high", "traces with a HIGH or CRITICAL misuse", "high", judged=True),
        _share("preference.win_rate", "decided pairs that the second agent wins", "win", judged=True),
        _mean("preference.net_win_rate", "pairs that the second agent wins, ties half", "net_win", judged=True),
        Metric(name="preference.order_inconsistent", kind="share", words="pairs whose verdict depends on the order",
               grader="preference", field="order_inconsistent", judged=True, less=True),
        _mean("interpretation.fidelity", "mean fidelity", "fidelity", judged=True),
        _mean("interpretation.action_score", "mean action score", "action_score", (1.0, 5.0), judged=True),
        Metric(name="coverage", kind="coverage", words="results that could be evaluated"),
        Metric(name="unevaluable", kind="coverage", words="results without a verdict"),
        Metric(name="critical", kind="critical", words="open CRITICAL items"),
        Metric(name="rubric.critical", kind="critical", words="open CRITICAL items", grader="rubric", judged=True),
        Metric(name="failures_signed_off", kind="signed", words="failures that a person has looked at"),
        Metric(name="regressions", kind="regressions", words="new minus baseline, on the same cases"),
        Metric(name="judge.fit", kind="fit", words="whether the judges are fit"),
        Metric(name="judge.detection", kind="judge_figure", words="human FAILs that the judge catches",
               field="detection"),
        Metric(name="judge.agreement", kind="judge_figure", words="agreement of judge and people beyond chance",
               field="agreement"),
    ]  # fmt: skip
    for grader in GRADERS:
        judged = grader in ("rubric", "preference", "interpretation")
        scale = (1.0, 5.0) if grader == "rubric" else (0.0, 1.0)
        found += [
            Metric(name=f"{grader}.coverage", kind="coverage", words="results that could be evaluated", grader=grader),
            Metric(name=f"{grader}.unevaluable", kind="coverage", words="results without a verdict", grader=grader),
            Metric(name=f"{grader}.regressions", kind="regressions", words="new minus baseline, on the same cases",
                   grader=grader, judged=judged, scale=scale),
        ]  # fmt: skip
    return {one.name: one for one in found}


METRICS = _all()
"""Every metric with a fixed name."""


def metric_of(name: str) -> Metric:
    """The metric of a name.

    Raises:
        ConfigError: no grader produces such a figure; with the nearest name.
    """
    name = ALIASES.get(name, name)
    if name in METRICS:
        return METRICS[name]
    for stem in BY_TOOL:
        if name.startswith(f"{stem}.") and (tool := name.removeprefix(f"{stem}.")):
            base = METRICS[stem]
            return Metric(
                name=name, kind=base.kind, words=f"{base.words}, `{tool}`", grader=base.grader, field=base.field,
                tool=tool, scale=base.scale, judged=base.judged,
            )  # fmt: skip
    if trials := _TRIALS.fullmatch(name):
        k, all_of = int(trials[2]), trials[1] == "hat"
        words = f"cases of which {k} trials all pass" if all_of else f"cases of which one of {k} trials passes"
        return Metric(name=name, kind="trials", words=words, grader="golden", field=trials[1], k=k)
    if name.startswith("own."):
        return _own(name)
    raise _unknown(name)


def _own(name: str) -> Metric:
    """A figure of a user's own grader: `own.GRADER.FIELD`; its scale is known once a run is there."""
    parts = name.split(".")
    if len(parts) != 3 or not all(parts):
        raise ConfigError(f"`{name}` names no field of a grader of your own", hint="write own.GRADER.FIELD")
    _, grader, field = parts
    if field in ("coverage", "unevaluable"):
        return Metric(name=name, kind="coverage", words=f"{field} of `{grader}`", grader=grader)
    if field == "regressions":
        return Metric(name=name, kind="regressions", words="new minus baseline, on the same cases", grader=grader,
                      judged=True)  # fmt: skip
    return Metric(name=name, kind="mean", words=f"`{field}` of `{grader}`", grader=grader, field=field, judged=True)


def _unknown(name: str) -> ConfigError:
    known = [*METRICS, *ALIASES]
    first = name.partition(".")[0]
    guess = nearest(name, known)
    if guess is None:
        inside = [one for one in known if one.startswith(f"{first}.")]
        hint = f"known: {', '.join(inside or ('regressions', *GRADERS))}"
        if not inside and (other := nearest(first, GRADERS)):
            hint = f"did you mean `{other}`?"
    else:
        hint = f"did you mean `{guess}`?"
    return ConfigError(f"no grader produces the metric `{name}`", hint=hint)

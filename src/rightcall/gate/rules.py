"""The rules of `[gates]`: from the settings' table to rules that can be asked (SPEC §9).

A rule is a table whose name is a metric. `"selection.precision" = { min = 0.98 }` and, nested, `[gates.selection]` with
`precision = { min = 0.98 }` mean the same, and so does `RIGHTCALL_GATES__SELECTION__PRECISION__MIN=0.98`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any, Literal

from msgspec import Struct

from rightcall.errors import ConfigError, Place
from rightcall.gate.exact import exact
from rightcall.gate.metrics import GRADERS, Kind, Metric, metric_of
from rightcall.trace.explain import nearest

BRANCH = "branch:"
"""How a baseline begins that is the newest green run of a branch: `branch:main`."""

On = Literal["lower", "upper", "point"]
Path = tuple[str, ...]

_NUMBERS = ("min", "max", "confidence", "margin")
_TEXTS = ("on", "judge", "against")
_FLAGS = ("signed_off", "fit", "calibrated", "per_tool")
KEYS = (*_NUMBERS, *_TEXTS, *_FLAGS)
"""Every key that a rule may have."""

_ALLOWED: dict[Kind, tuple[str, ...]] = {
    "share": ("min", "max", "on", "confidence", "against", "margin", "fit", "calibrated", "per_tool"),
    "mean": ("min", "max", "on", "confidence", "against", "margin", "fit", "calibrated"),
    "trials": ("min", "max", "on", "confidence", "against", "margin"),
    "count": ("max", "confidence", "fit", "calibrated"),
    "regressions": ("against", "margin", "confidence", "max", "on", "fit", "calibrated"),
    "coverage": ("min", "max", "on"),
    "critical": ("max", "signed_off"),
    "signed": ("signed_off",),
    "fit": ("judge", "fit", "calibrated"),
    "judge_figure": ("min", "on", "judge"),
}
_NEEDS_LIMIT = ("share", "mean", "trials", "judge_figure", "coverage")


class Rule(Struct, frozen=True, kw_only=True):
    """One rule.

    Attributes:
        name: the metric as it is written in the settings. metric: which one that is.
        min, max: what the figure must reach, and must not pass; as they are written.
        on: which number of the figure is held against them; `None`: the lower bound for `min`, the upper for `max`.
        confidence: of a bound (one-sided), or of the interval of a difference (two-sided).
        judge: only this judge; `None`: all.
        against: the baseline: a file, a run, `previous`, or `branch:NAME`; `None`: none is asked for.
        margin: by how much it may be worse than the baseline; `None`: 0.02 of the scale.
        fit: whether the judges behind it must be fit. per_tool: whether each tool is asked for itself.
    """

    name: str
    metric: Metric
    min: float | None = None
    max: float | None = None
    on: On | None = None
    confidence: float = 0.95
    judge: str | None = None
    against: str | None = None
    margin: float | None = None
    fit: bool = False
    per_tool: bool = False

    @property
    def compares(self) -> bool:
        """Whether it is held against a baseline."""
        return self.metric.kind == "regressions" or self.against is not None


@dataclass(frozen=True, slots=True)
class RuleFault:
    """What is wrong with a rule: where below `gates`, what, what to do, and whether the key itself is wrong."""

    path: Path
    message: str
    hint: str | None = None
    at_key: bool = False


def rules_of(table: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The rules of a `[gates]` table, by name.

    Raises:
        ConfigError: the first fault, with the path of its key.
    """
    rules, faults = read_rules(table)
    for fault in faults:
        raise ConfigError(fault.message, place=Place(path=".".join(("gates", *fault.path))), hint=fault.hint)
    return rules


def read_rules(table: Mapping[str, Any]) -> tuple[tuple[Rule, ...], list[RuleFault]]:
    """The rules of a `[gates]` table, and everything that is wrong with it."""
    faults: list[RuleFault] = []
    written: dict[str, tuple[Path, dict[str, Any], dict[str, Path]]] = {}
    # What stands nested comes later: the environment writes so, and counts more than a quoted name in the file.
    for path, value in sorted(_written(table, ()), key=lambda one: len(one[0])):
        values = value if isinstance(value, dict) else _short_form(path, value, faults)
        _, merged, places = written.setdefault(".".join(path), (path, {}, {}))
        merged |= values
        places |= dict.fromkeys(values, path)
    rules = []
    for name, (path, values, places) in sorted(written.items()):
        found = list(_faults(name, path, values, places))
        faults += found
        if not found:
            rules.append(_rule(name, values))
    return tuple(rules), faults


def _written(table: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, Any]]:
    """Every rule with its path: a table with at least one value that is no table, or an empty one."""
    own = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    if path and (own or not inner):
        if own and not (own.keys() & set(KEYS)) and _names_metrics(path, own):
            for key, value in own.items():
                yield (*path, key), value
        else:
            yield path, own
    elif not path:
        for key, value in own.items():
            yield (key,), value
    for key, value in inner.items():
        yield from _written(value, (*path, key))


def _names_metrics(path: Path, values: Mapping[str, Any]) -> bool:
    """Whether the keys of a table are metrics and not keys of a rule: `[gates.golden]` with `pass_rate = 0.9`."""
    if path[0] in (*GRADERS, "judge") and len(path) == 1:
        return True
    return any(_is_metric(".".join((*path, key))) for key in values) and not _is_metric(".".join(path))


def _is_metric(name: str) -> bool:
    try:
        metric_of(name)
    except ConfigError:
        return False
    return True


def _short_form(path: Path, value: Any, faults: list[RuleFault]) -> dict[str, Any]:
    """`failures_signed_off = true` is short for a rule; of other metrics it must be said what a value means."""
    name = ".".join(path)
    if value is True and _is_metric(name) and metric_of(name).kind in ("signed", "critical", "fit"):
        return {}
    if _is_metric(name):
        example = "{ max = 0 }" if metric_of(name).kind in ("count", "critical") else "{ min = 0.98 }"
        faults.append(RuleFault(path, "a rule is a table", f"write {name} = {example}"))
    return {}


# ---- faults ----


def _faults(name: str, path: Path, values: Mapping[str, Any], places: Mapping[str, Path]) -> Iterator[RuleFault]:
    try:
        metric = metric_of(name)
    except ConfigError as error:
        yield RuleFault(path, error.message, error.hint, at_key=True)
        return
    allowed = _ALLOWED[metric.kind]
    form = [
        fault
        for key, value in values.items()
        for fault in _faults_of_key(name, key, value, (*places[key], key), allowed)
    ]
    yield from form
    if not form:
        yield from _faults_of_meaning(metric, path, values, places)


def _faults_of_key(name: str, key: str, value: Any, path: Path, allowed: tuple[str, ...]) -> Iterator[RuleFault]:
    if key not in KEYS:
        guess = nearest(key, allowed)
        hint = f"did you mean `{guess}`?" if guess else f"known here: {', '.join(allowed)}"
        yield RuleFault(path, f"unknown key `{key}` of a rule", hint, at_key=True)
    elif key not in allowed:
        yield RuleFault(path, f"`{key}` means nothing for `{name}`", f"known here: {', '.join(allowed)}", at_key=True)
    elif (wrong := _wrong_value(key, value)) is not None:
        yield RuleFault(path, wrong)


def _wrong_value(key: str, value: Any) -> str | None:
    if key in _FLAGS:
        return None if value is True else f"must be true, got {value!r}; leave it out to ask for nothing"
    if key == "on":
        return None if value in ("lower", "upper", "point") else f"must be lower, upper or point, got {value!r}"
    if key == "against" and isinstance(value, str) and value.strip() == BRANCH:
        return f"`{BRANCH}` names no branch; write {BRANCH}main"
    if key in _TEXTS:
        return None if isinstance(value, str) and value.strip() else f"must be a text, got {value!r}"
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        return f"must be a number, got {value!r}"
    if key == "confidence" and not 0.5 <= value < 1:
        return f"must be from 0.5 to below 1, got {value!r}"
    if key == "margin" and value < 0:
        return f"must be 0 or more, got {value!r}"
    return None


def _faults_of_meaning(
    metric: Metric, path: Path, values: Mapping[str, Any], places: Mapping[str, Path]
) -> Iterator[RuleFault]:
    low, high = values.get("min"), values.get("max")
    if metric.kind in _NEEDS_LIMIT and low is None and high is None and "against" not in values:
        needed = "min" if metric.kind == "judge_figure" else "min, max or against"
        yield RuleFault(path, f"the rule asks for nothing: it needs {needed}", f"write {metric.name} = {{ min = … }}")
    if low is not None and high is not None and low > high:
        yield RuleFault((*places["max"], "max"), f"max {high:g} is below min {low:g}: nothing could pass")
    if metric.kind == "coverage":
        odd = "min" if metric.name.endswith("unevaluable") else "max"
        if odd in values:
            yield RuleFault((*places[odd], odd), f"`{odd}` means nothing for `{metric.name}`", at_key=True)
    yield from _off_scale(metric, values, places)
    yield from _wrong_sides(metric, values, places)
    on = values.get("on")
    if (on == "upper" and low is not None) or (on == "lower" and high is not None and metric.kind != "regressions"):
        side = "min is held against the lower bound or the point" if on == "upper" else "max against the upper bound"
        yield RuleFault((*places["on"], "on"), f"on = {on!r} proves nothing: {side}", "leave `on` out")
    if values.get("per_tool") and (metric.field not in ("precision", "recall") or metric.tool is not None):
        yield RuleFault((*places["per_tool"], "per_tool"), f"`{metric.name}` is not known tool by tool", at_key=True)
    if values.get("per_tool") and (low is None or high is not None or "against" in values):
        yield RuleFault((*places["per_tool"], "per_tool"), "per_tool is asked of min alone", at_key=True)


def _wrong_sides(metric: Metric, values: Mapping[str, Any], places: Mapping[str, Path]) -> Iterator[RuleFault]:
    """What `on` and `margin` cannot mean."""
    on, margin = values.get("on"), values.get("margin", 0)
    if metric.kind == "coverage" and on not in (None, "point"):
        yield RuleFault((*places["on"], "on"), f"`{metric.name}` is what was seen: it has no bound", "leave `on` out")
    if on == "upper" and metric.kind == "regressions":
        yield RuleFault((*places["on"], "on"), "the lower end of the difference counts", "leave `on` out")
    if margin >= metric.scale[1] - metric.scale[0] and not metric.name.startswith("own."):
        what = f"a margin of {margin!r} is the whole scale: nothing could fail"
        yield RuleFault((*places["margin"], "margin"), what, "two points of a hundred are 0.02")


def _off_scale(metric: Metric, values: Mapping[str, Any], places: Mapping[str, Path]) -> Iterator[RuleFault]:
    if metric.kind in ("count", "critical") or (metric.kind == "regressions" and "max" in values):
        limit = values.get("max", 0)
        if limit < 0 or limit != int(limit):
            yield RuleFault((*places["max"], "max"), f"a count is a whole number from 0, got {limit!r}")
        return
    if metric.name.startswith("own."):
        return
    bottom, top = metric.scale if metric.field != "agreement" else (-1.0, 1.0)
    for key in ("min", "max"):
        value = values.get(key)
        if value is not None and not bottom <= value <= top:
            what = f"`{metric.name}` lies from {bottom:g} to {top:g}"
            yield RuleFault((*places[key], key), f"{what}, and {key} is {value!r}")


def _rule(name: str, values: Mapping[str, Any]) -> Rule:
    given = {key: value for key, value in values.items() if key not in ("signed_off", "calibrated", "fit")}
    if "calibrated" in values or "fit" in values:
        given["fit"] = True
    return Rule(name=name, metric=metric_of(name), **given)


# ---- in words ----


def limit_of(rule: Rule, side: Literal["min", "max"]) -> Fraction:
    """The limit exactly as it is written."""
    value = rule.min if side == "min" else rule.max
    if value is None:
        raise ValueError(side)
    return exact(value)

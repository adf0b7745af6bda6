"""May a judge decide without people? What its agreement with them must show, and how many labels that takes.

Three answers: `FIT` where every condition is shown; `NOT_FIT` where the estimate of one is below on enough labels, or
its whole interval is; `INSUFFICIENT` between, with what would settle it. A judge that is not fit is advisory only:
people go on looking.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rightcall.stats.intervals import Estimate, invalid, undefined, wilson
from rightcall.stats.sizes import cases_at_share, more_to_reach

Verdict = Literal["FIT", "NOT_FIT", "INSUFFICIENT"]
Stage = Literal["table", "estimate", "report", "certify"]
Answer = Literal["PASS", "FAIL", "INCONCLUSIVE"]

ESTIMATE_FROM, REPORT_FROM = 30, 50
"""With fewer labels than the first only the table is shown; with fewer than the second, no answer is given."""

VARIED_FROM = 10
"""Two answers must be given by people so often before a low agreement beyond chance is held against a judge."""

UNIFORM = "agreement beyond chance says little"
"""How the reason begins where they did not."""


class Bar(Struct, frozen=True, kw_only=True):
    """What a judge must reach. These are proposals of this project, not a standard.

    Attributes:
        agreement: of the lower bound of its agreement with people beyond chance (kappa, or alpha).
        detection: of the lower bound of the share of human FAILs that it catches; `None`: not asked for.
        ceiling: how far below the agreement among people its own may lie, both as estimates; `None`: not asked for.
        labels: how many items people and judge must both have answered.
        per_class: how many of them people must have given each answer to.
    """

    agreement: float = 0.60
    detection: float | None = 0.80
    ceiling: float | None = 0.10
    labels: int = 100
    per_class: int = 30


NOMINAL = Bar()
"""For PASS and FAIL: kappa."""

ORDINAL = Bar(agreement=0.667, detection=None)
"""For levels 1 to 5: alpha, ordinal."""


class Condition(Struct, frozen=True, kw_only=True):
    """One thing that a judge must reach.

    Attributes:
        name: `agreement`, `detection` or `ceiling`.
        answer: `PASS` where it is shown; `FAIL` where the estimate is below; `INCONCLUSIVE` between, or without it.
        value: what was measured.
        threshold: what it must reach; `None` where that is not known.
        on: which number is held against it: the lower bound or the estimate.
        more: how many more labels would settle it at this rate, human FAILs for `detection`; 0 where it passes, `None`
            where that cannot be said.
        reason: why it is not passed.
    """

    name: str
    answer: Answer
    value: Estimate
    threshold: float | None
    on: Literal["lower", "point"]
    more: int | None
    reason: str | None = None


class Silent(Struct, frozen=True, kw_only=True):
    """Labels that a judge gave no answer to that can be read, each counted as answered wrong.

    Attributes:
        labels: how many. agreement, detection: the figures with them.
    """

    labels: int
    agreement: Estimate
    detection: Estimate | None


class Missing(Struct, frozen=True, kw_only=True):
    """Labels that are too few to certify a judge.

    Attributes:
        total: how many more labels of any kind.
        per_class: how many more of each answer of people, those that lack some only.
        at_least: the fewest labels that fill both.
    """

    total: int
    per_class: dict[str, int]
    at_least: int


class Fitness(Struct, frozen=True, kw_only=True):
    """Whether a judge may decide.

    Attributes:
        verdict: `FIT`, `NOT_FIT` or `INSUFFICIENT`.
        stage: what so many labels allow to be shown (`stage_of`).
        labels: how many there are.
        conditions: what was asked for.
        missing: labels that are lacking, whatever the figures are.
        more: how many more labels would settle it at least, the most that any part asks for; `None` where that cannot
            be said.
        reasons: why it is not fit, the conditions missed first.
    """

    verdict: Verdict
    stage: Stage
    labels: int
    conditions: tuple[Condition, ...]
    missing: Missing
    more: int | None
    reasons: tuple[str, ...]


def stage_of(labels: int, bar: Bar = NOMINAL) -> Stage:
    """What so many labels allow: below 30 the `table` alone, below 50 an `estimate`, then a `report`, then `certify`.

    `certify` begins at the number that the bar asks for.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a negative number.
    """
    if labels < 0:
        raise invalid(f"labels cannot be {labels}")
    if labels < ESTIMATE_FROM:
        return "table"
    if labels < REPORT_FROM:
        return "estimate"
    return "certify" if labels >= bar.labels else "report"


def missing_labels(counts: Mapping[str, int], bar: Bar = NOMINAL) -> Missing:
    """How many labels are lacking, of how many items people gave each answer to.

    Args:
        counts: of each answer that people can give, how often they did; those that nobody gave with 0.
        bar: what is asked for.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for no answers, or a negative count.
    """
    if not counts or min(counts.values()) < 0:
        raise invalid("labels are counted for each answer that people can give, from 0")
    total = max(0, bar.labels - sum(counts.values()))
    lacking = {label: bar.per_class - count for label, count in counts.items() if count < bar.per_class}
    return Missing(total=total, per_class=lacking, at_least=max(total, sum(lacking.values())))


def certifiable(counts: Mapping[str, int], bar: Bar = NOMINAL) -> bool:
    """Are the labels enough to call a judge fit (see `missing_labels`)?"""
    return not missing_labels(counts, bar).at_least


def condition(name: str, value: Estimate, threshold: float) -> Condition:
    """Holds the lower bound of a figure against a threshold; see `Condition`."""
    if value.estimate is None or value.low is None or value.high is None:
        reason = value.reason or "there is no interval"
        if value.estimate is None or value.estimate >= threshold:
            return _condition(name, value, threshold, "INCONCLUSIVE", None, f"{name}: {reason}")
        below = f"{name} {apart(value.estimate, threshold)} is below {threshold:g} ({reason})"
        return _condition(name, value, threshold, "FAIL", None, below)
    if value.low >= threshold:
        return _condition(name, value, threshold, "PASS", 0, None)
    more = _more(value, threshold)
    low, high = apart(value.low, threshold), apart(value.high, threshold)
    shown = f"{name} {apart(value.estimate, threshold)}, interval {low} – {high}"
    if value.estimate < threshold:
        return _condition(name, value, threshold, "FAIL", more, f"{shown}, is below {threshold:g}")
    return _condition(name, value, threshold, "INCONCLUSIVE", more, f"{shown}, is not shown to reach {threshold:g}")


def _with_silence(one: Condition, silent: Silent | None) -> Condition:
    """What is passed only since the judge was silent is not shown."""
    worst = None if silent is None else {"agreement": silent.agreement, "detection": silent.detection}.get(one.name)
    if silent is None or worst is None or one.answer != "PASS" or one.threshold is None:
        return one
    held = condition(one.name, worst, one.threshold)
    if held.answer == "PASS":
        return one
    number = f"{silent.labels} label{'' if silent.labels == 1 else 's'}"
    reason = f"{one.name}: the judge gave no answer to {number}; with each counted as wrong, {held.reason}"
    return replace(one, answer="INCONCLUSIVE", more=None, reason=reason)


def apart(value: float, limit: float) -> str:
    """A number in 4 digits, or as many as it takes to stand on its side of a limit."""
    for digits in range(4, 18):
        text = f"{value:.{digits}g}"
        if (float(text) < limit, float(text) > limit) == (value < limit, value > limit):
            return text
    return repr(value)


def _more(value: Estimate, threshold: float) -> int | None:
    """How many more items bring the lower bound up to the threshold at this rate."""
    if value.estimate is not None and 0 <= value.estimate <= 1:
        plain = wilson(round(value.estimate * value.n), value.n)
        if (plain.estimate, plain.low) == (value.estimate, value.low):
            # A plain share: its bound is no √n away from it, and the number is known exactly.
            needed = cases_at_share(value.estimate, threshold)
            return None if needed is None else max(1, needed - value.n)
    return more_to_reach(value, threshold)


def _condition(
    name: str, value: Estimate, threshold: float, answer: Answer, more: int | None, reason: str | None
) -> Condition:
    return Condition(
        name=name, answer=answer, value=value, threshold=threshold, on="lower", more=more, reason=reason
    )  # fmt: skip


def ceiling_condition(value: Estimate, people: Estimate | None, margin: float) -> Condition:
    """Holds the judge's agreement with people against that among people, less a margin.

    Both as estimates: no interval of their difference is claimed.
    """
    ceiling = None if people is None else people.estimate
    if ceiling is None or value.estimate is None:
        why = "no item was answered by two people" if people is None else people.reason
        reason = f"ceiling: {(value.reason if ceiling is not None else why) or 'there is no figure'}"
        return Condition(
            name="ceiling", answer="INCONCLUSIVE", value=value, threshold=None, on="point", more=None, reason=reason
        )
    # As they are written: 0.8 less 0.1 is 0.7, and not a little more.
    exact = Decimal(repr(ceiling)) - Decimal(repr(margin))
    threshold, reached = float(exact), Decimal(repr(value.estimate)) >= exact
    shown = apart(value.estimate, threshold)
    reason = f"agreement {shown} is more than {margin:g} below the {ceiling:.4g} among people"
    return Condition(
        name="ceiling", answer="PASS" if reached else "FAIL", value=value, threshold=threshold, on="point",
        more=0 if reached else None, reason=None if reached else reason,
    )  # fmt: skip


def fitness(
    counts: Mapping[str, int],
    agreement: Estimate,
    *,
    detection: Estimate | None = None,
    people: Estimate | None = None,
    beside: Estimate | None = None,
    silent: Silent | None = None,
    bar: Bar = NOMINAL,
) -> Fitness:
    """Is a judge fit to decide?

    * `FIT`: the labels are enough, and every condition that the bar asks for passes, also if each label that the judge
      gave no answer to counts as answered wrong.
    * `NOT_FIT`: a condition fails, on at least 50 labels, and either the labels are enough, or its whole interval is
      below. A low estimate of few labels alone is no verdict. Nor is a low agreement beyond chance where people gave
      nearly every item one answer (see `VARIED_FROM`): chance alone agrees there, whatever the judge is worth.
    * `INSUFFICIENT`: anything else, such as a figure that is undefined, or that the bar asks for and nobody measured.

    Args:
        counts: of each answer that people can give, how many items they gave it to.
        agreement: of judge and people beyond chance.
        detection: share of human FAILs that the judge catches.
        people: the agreement among people, by the same figure.
        beside: the judge's agreement with these people, one by one, on the items that they were compared on, which is
            what is held against it; if not given, `agreement` is.
        silent: the figures with the labels that it gave no answer to.
        bar: what is asked for.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for counts that cannot be.
    """
    labels, missing = sum(counts.values()), missing_labels(counts, bar)
    conditions = tuple(
        _with_silence(one, silent)
        for one in _conditions(agreement, detection, people, agreement if beside is None else beside, bar)
    )
    enough = not missing.at_least
    varied = sum(count >= VARIED_FROM for count in counts.values()) > 1
    held = [one for one in conditions if varied or one.name == "detection"]
    missed = [one for one in held if _missed(one, enough=enough)] if labels >= REPORT_FROM else []
    verdict: Verdict = "INSUFFICIENT"
    if missed:
        verdict = "NOT_FIT"
    elif enough and all(one.answer == "PASS" for one in conditions):
        verdict = "FIT"
    open_ones = [one for one in conditions if one.answer != "PASS"]
    wanted = [missing.at_least, *(one.more for one in open_ones)]
    known = [number for number in wanted if number is not None]
    more = max(known) if len(known) == len(wanted) else None
    ordered = sorted(open_ones, key=lambda one: (one not in missed, one.answer != "FAIL"))
    return Fitness(
        verdict=verdict,
        stage=stage_of(labels, bar),
        labels=labels,
        conditions=conditions,
        missing=missing,
        more=more,
        reasons=(*(one.reason for one in ordered if one.reason), *_lacking(missing, labels, bar), *_uniform(varied)),
    )


def _conditions(
    agreement: Estimate, detection: Estimate | None, people: Estimate | None, beside: Estimate, bar: Bar
) -> tuple[Condition, ...]:
    found = [condition("agreement", agreement, bar.agreement)]
    if bar.detection is not None:
        nothing = undefined("none", "how many human FAILs are caught was not given")
        found.append(condition("detection", detection or nothing, bar.detection))
    if bar.ceiling is not None:
        found.append(ceiling_condition(beside, people, bar.ceiling))
    return tuple(found)


def _missed(one: Condition, *, enough: bool) -> bool:
    """Is the condition shown to be missed?"""
    if one.answer != "FAIL":
        return False
    high = one.value.high
    return enough or (high is not None and one.threshold is not None and high < one.threshold)


def _uniform(varied: bool) -> tuple[str, ...]:  # noqa: FBT001 - a plain value
    if varied:
        return ()
    return (f"{UNIFORM}: people gave no two answers at least {VARIED_FROM} times each",)


def _lacking(missing: Missing, labels: int, bar: Bar) -> tuple[str, ...]:
    """What is lacking, in words."""
    found = [f"{labels} labels, {bar.labels} are needed"] if missing.total else []
    found += [
        f"{bar.per_class - lacking} items that people call {label}, {bar.per_class} are needed"
        for label, lacking in missing.per_class.items()
    ]
    return tuple(found)

"""One rule on every tool at once: precision or recall of each, with Holm's correction (STATISTICS §2)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from rightcall.gate.decision import Answer, Decision
from rightcall.gate.exact import exact_sum
from rightcall.gate.rules import Rule, limit_of
from rightcall.gate.sample import SHOWN, Sample
from rightcall.gate.words import beside, interval, number, rule_words
from rightcall.stats.bounds import p_value, whole_worth, worth_of
from rightcall.stats.clusters import clustered_share
from rightcall.stats.intervals import Estimate, undefined
from rightcall.stats.multiple import holm


def decide_tools(rule: Rule, samples: Mapping[str, Sample], unknown: int) -> Decision:
    """What a rule says of every tool: `PASS` if each is shown to reach the limit, `FAIL` if one is below it.

    With m tools chance has m tries; Holm's adjusted p-values keep it at the level of one. A result of which not even
    the tool is known (`unknown`) could belong to any tool, also to one of which nothing else is known: then there is
    no `PASS`.
    """
    plain = Decision(
        name=rule.name, rule=rule_words(rule), metric=f"{rule.metric.words}, tool by tool", answer="INCONCLUSIVE",
        threshold=rule.min, on=rule.on or "lower",
    )  # fmt: skip
    told = {tool: sample for tool, sample in sorted(samples.items()) if sample.n or sample.excluded}
    if not any(sample.n for sample in told.values()):
        return msgspec.structs.replace(plain, value=undefined("wilson 0.95"), reason="no tool was called")
    limit = limit_of(rule, "min")
    values = {tool: _value(sample) for tool, sample in told.items()}
    below = [tool for tool, sample in told.items() if sample.n and exact_sum(sample.values) / sample.n < limit]
    adjusted = dict(zip(told, holm([_p(rule, sample, float(limit)) for sample in told.values()]), strict=True))
    if rule.on == "point":
        short = [tool for tool, one in told.items() if exact_sum(one.values) < limit * (one.n + one.excluded)]
    else:
        short = [tool for tool, p in adjusted.items() if p is None or p > 1 - rule.confidence]
    answer: Answer = "FAIL" if below else "INCONCLUSIVE" if short or unknown else "PASS"
    worst = min(told, key=lambda tool: (values[tool].estimate is not None, values[tool].estimate or 0.0))
    named = sorted(below or short, key=lambda tool: values[tool].estimate or 0.0)
    lines = [f"{tool}: {interval(values[tool], (rule.min,))}" for tool in named]
    return msgspec.structs.replace(
        plain, answer=answer, value=values[worst], metric=f"{plain.metric}, the worst of {len(told)}; shown: {worst}",
        reason=_reason(below, short, unknown, values, rule), details=tuple(lines[:SHOWN]),
        left_out=max(0, len(lines) - SHOWN), more=0 if answer != "INCONCLUSIVE" else None,
    )  # fmt: skip


def _value(sample: Sample) -> Estimate:
    sums, sizes = sample.table()
    counts = [(round(good), round(n)) for good, n in zip(sums, sizes, strict=True)]
    return clustered_share(counts, excluded=sample.excluded)


def _p(rule: Rule, sample: Sample, limit: float) -> float:
    """Of one tool, every unread result counted as wrong."""
    sums, sizes = sample.table(unread_as=0.0)
    worth = whole_worth(sizes) if sample.excluded else worth_of(sums, sizes, rule.confidence)
    return p_value(float(sums.sum() / sizes.sum()), worth.effective, limit)


def _reason(below: list[str], short: list[str], unknown: int, values: Mapping[str, Estimate], rule: Rule) -> str | None:
    if below:
        worst = min(below, key=lambda tool: values[tool].estimate or 0.0)
        at, limit = beside(values[worst].estimate, rule.min or 0.0)
        return f"`{worst}` is at {at}, below {limit}"
    if short:
        return f"{len(short)} of {len(values)} tools are not shown to reach {number(rule.min or 0.0)}"
    return f"of {unknown} unread results nobody knows the tool" if unknown else None

"""A judged run as data: what `--json` calls `run` and `summary`, and the lines that every reader must see first."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.judge.audit import stamp
from rightcall.report.summary import counted
from rightcall.run.judged import short_summary
from rightcall.stats.intervals import Estimate, wilson

if TYPE_CHECKING:
    from rightcall.run.items import JudgeTally
    from rightcall.run.judged import Judged


def run_facts(judged: Judged) -> dict[str, Any]:
    """What was judged, by whom, where it is kept."""
    return {
        "id": judged.run.id if judged.run else None,
        "grader": judged.grader,
        "rightcall": version("rightcall"),
        "started_at": judged.run.started_at if judged.run else None,
        "store": judged.store_name,
        **judged.facts,
        "stopped": None if judged.stop is None else msgspec.to_builtins(judged.stop),
        "reading": {file: report.facts() for file, report in judged.reports.items()},
    }


def summary(judged: Judged) -> dict[str, Any]:
    """Counts, the grader's own figures, the judges and how far they can be trusted, what was spent."""
    return {
        **short_summary(judged),
        **judged.aggregate.summary(),
        "judges": {name: judge_summary(judged, name) for name in judged.tally.judges},
        "spent": judged.spent or None,
    }


def conflict_rate(tally: JudgeTally) -> Estimate:
    """Share of a judge's verdicts that contradict something that code decides."""
    rate = wilson(tally.conflicting, tally.checked)
    if not tally.checked:
        return msgspec.structs.replace(rate, reason="no verdict held anything that code decides too")
    return rate


def standing(judged: Judged, name: str) -> str | None:
    """What is written across a judge's figures, if anything: see `judge.audit.stamp`."""
    tally = judged.tally.judges[name]
    return stamp(tally.conflicting, tally.checked, conflict_rate(tally).low, judged.conflict_limit)


def judge_summary(judged: Judged, name: str) -> dict[str, Any]:
    """One judge in one run."""
    tally = judged.tally.judges[name]
    return {
        "stamp": standing(judged, name),
        "conflict_rate": msgspec.to_builtins(conflict_rate(tally)),
        "conflict_limit": judged.conflict_limit,
        "conflicts": dict(tally.conflicts.most_common()),
        "inconsistent": tally.inconsistent,
        "checks": dict(sorted(tally.checks.items())),
        "replies": tally.replies,
        "healed_by_retry": tally.healed,
        "cached": tally.cached,
        "failed": dict(sorted(tally.failed.items())),
        "answered_by": dict(tally.models.most_common()),
        "other_models": judged.others.get(name, {}),
    }


def notes(judged: Judged) -> list[str]:
    """What must be known before any figure: what was not read, not asked, or said by a judge that is none."""
    lines = []
    for file, report in judged.reports.items():
        if report.skipped:
            lines.append(f"{file}: {report.skipped} of {report.read + report.skipped} records were not read")
    if judged.stop is not None:
        lines.append(f"stopped before the end, {judged.tally.not_asked} not asked: {judged.stop.message}")
    for name in judged.tally.judges:
        lines += _warnings(judged, name)
    return lines


def _warnings(judged: Judged, name: str) -> list[str]:
    tally = judged.tally.judges[name]
    rate, state = conflict_rate(tally), standing(judged, name)
    found = []
    if state is not None:
        worst = ", ".join(f"{check} {n}" for check, n in tally.conflicts.most_common(3))
        verb = "what it says is not a judgement" if state == "not a judgement" else "trust it with care"
        found.append(
            f"judge {name} contradicts what code decides in {tally.conflicting} of {tally.checked} verdicts "
            f"({share(rate)}, limit {judged.conflict_limit:g}; {worst}): {verb}"
        )
    found += [
        f"judge {name}: {counted(n, 'answer')} came from `{model}`, which is not the model asked for, and were not used"
        for model, n in judged.others.get(name, {}).items()
    ]
    return found


def share(estimate: Estimate) -> str:
    """`0.970 [0.936, 0.986]`, or why there is none."""
    if estimate.estimate is None:
        return estimate.reason or "undefined"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.estimate:.3f}"
    return f"{estimate.estimate:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def headline(judged: Judged) -> list[str]:
    """The counts of a run in words."""
    tally = judged.tally
    retried = sum(one.healed for one in tally.judges.values())
    cached = sum(one.cached for one in tally.judges.values())
    bad = sum(tally.unevaluable.values())
    words = [counted(tally.n, {"selection": "step", "rubric": "trace"}.get(judged.grader, "item"))]
    if tally.judges:
        words += [f"{cached} from the record", f"{retried} healed by the retry"]
    if bad:
        reasons = ", ".join(f"{reason} {n}" for reason, n in tally.unevaluable.most_common())
        words.append(f"{bad} unevaluable ({reasons}) → review")
    lines = [" · ".join(words)]
    facts = short_summary(judged)
    if facts["coverage"] is not None and facts["coverage"] < 1:
        lines.append(
            f"coverage {facts['coverage']:.3f}: {tally.evaluated} of {tally.n + facts['skipped']} have a verdict; "
            "the rest is in no figure"
        )
    return lines + money(judged)


def money(judged: Judged) -> list[str]:
    """What was spent, in words; nothing for a run that asked nobody."""
    spent = judged.spent
    if not spent or not spent["calls"]:
        return []
    words = [
        counted(spent["calls"], "call"), f"{spent['input_tokens']:,} tokens in", f"{spent['output_tokens']:,} out"
    ]  # fmt: skip
    words += [f"{amount:.4f} {currency}" for currency, amount in spent["money"].items()]
    if spent["unpriced"]:
        words.append(f"{counted(spent['unpriced'], 'answer')} of unknown price")
    return [" · ".join(words)]


def judges_line(judged: Judged) -> list[str]:
    """Who was asked, with which prompt."""
    names = [f"{one['name']} = {one['model'] or one['provider']}" for one in judged.facts["judges"]]
    if not names:
        return ["decided by code alone: no judge was asked"]
    prompts = ", ".join(f"{one['id']}@{one['sha256'][:6]}" for one in judged.facts["prompts"])
    return [f"judge {', '.join(names)} · prompt {prompts}"]


def audit_lines(judged: Judged) -> list[str]:
    """How often each judge contradicted what code decides."""
    lines = []
    for name, tally in judged.tally.judges.items():
        rate = conflict_rate(tally)
        lines.append(
            f"judge {name} contradicts code in {tally.conflicting} of {tally.checked} verdicts: {share(rate)}"
            if tally.checked
            else f"judge {name}: {rate.reason}"
        )
    return lines


def review_line(judged: Judged) -> list[str]:
    """What waits for people."""
    if not judged.tally.reviews or judged.run is None:
        return []
    reasons = " · ".join(f"{reason} {n}" for reason, n in judged.tally.reviews.most_common())
    return [f"review: {reasons}     rightcall review list --run {judged.run.id}"]

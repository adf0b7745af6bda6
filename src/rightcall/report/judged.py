"""A judged run as data: what `--json` calls `run` and `summary`, and the lines that every reader must see first."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from rightcall.judge.audit import WITHIN_REPLY, stamp
from rightcall.judge.contract import ReplyCode
from rightcall.report.cells import number
from rightcall.report.preference_figures import bias_notes
from rightcall.report.summary import counted, most_first
from rightcall.run.finished.unread import unread_words
from rightcall.run.judging.items import NO_REVIEW
from rightcall.run.judging.run import short_summary
from rightcall.stats.intervals import Estimate, wilson

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.run.judging.items import JudgeTally
    from rightcall.run.judging.run import Judged

CONTENT = get_args(ReplyCode)
"""Reasons for which a question was asked a second time, and failed again."""

THINGS = {
    "selection": "step", "rubric": "trace", "golden": "trace", "preference": "pair", "interpretation": "segment",
    "probe": "item",
}  # fmt: skip
"""What a grader grades."""


def run_facts(judged: Judged) -> dict[str, Any]:
    """What was judged, by whom, where it is kept; `notes` is what must be known before any figure."""
    return {
        "id": judged.run.id if judged.run else None,
        "grader": judged.grader,
        "rightcall": version("rightcall"),
        "started_at": judged.run.started_at if judged.run else None,
        "store": judged.store_name,
        "log_head": judged.log_head,
        "notes": notes(judged),
        **judged.facts,
        "stopped": None if judged.stop is None else msgspec.to_builtins(judged.stop),
        "reading": {file: report.facts() for file, report in judged.reports.items()},
    }


def summary(judged: Judged) -> dict[str, Any]:
    """Counts, the judges and how far they can be trusted, the grader's own figures, what was spent."""
    limit, others, counts = judged.conflict_limit, judged.others, short_summary(judged)
    whole = counts["n"] + counts["skipped"] - judged.tally.by_design
    return {
        **counts,
        "judges": {name: judge_summary(one, limit, others.get(name, {})) for name, one in judged.tally.judges.items()},
        **judged.aggregate.summary(),
        "coverage": msgspec.to_builtins(wilson(counts["evaluated"], whole)),
        "spent": judged.spent or None,
    }


def conflict_rate(tally: JudgeTally) -> Estimate:
    """Share of a judge's verdicts that contradict something that code decides."""
    rate = wilson(tally.conflicting, tally.checked)
    if not tally.checked:
        return msgspec.structs.replace(rate, reason="no verdict held anything that code decides too")
    return rate


def standing(tally: JudgeTally, limit: float) -> str | None:
    """What is written across a judge's figures, if anything: see `judge.audit.stamp`."""
    return stamp(tally.conflicting, tally.checked, conflict_rate(tally).low, limit)


def judge_summary(tally: JudgeTally, limit: float, others: Mapping[str, int]) -> dict[str, Any]:
    """One judge in one run.

    Args:
        tally: its counts.
        limit: the conflict rate that is tolerated.
        others: model -> answers that came from it although another one was asked for.
    """
    return {
        "stamp": standing(tally, limit),
        "conflict_rate": msgspec.to_builtins(conflict_rate(tally)),
        "conflict_limit": limit,
        "conflicts": dict(most_first(tally.conflicts)),
        "inconsistent": tally.inconsistent,
        "checks": dict(sorted(tally.checks.items())),
        "replies": tally.replies,
        "retried": retried(tally),
        "healed_by_retry": tally.healed,
        "cached": tally.cached,
        "failed": dict(sorted(tally.failed.items())),
        "answered_by": dict(most_first(tally.models)),
        "other_models": dict(others),
    }


def retried(tally: JudgeTally) -> int:
    """Questions that were asked a second time because the first reply could not be read."""
    return tally.healed + sum(n for reason, n in tally.failed.items() if reason in CONTENT)


def notes(judged: Judged) -> list[str]:
    """What must be known before any figure: what was not read, not asked, or said by a judge that is none."""
    lines = [*unread_words(judged)]
    if judged.stop is not None:
        left = f", {judged.tally.not_asked} not asked" * bool(judged.tally.not_asked)
        lines.append(f"stopped before the end{left}: {judged.stop.message}")
    lines += judged.warnings
    if judged.grader == "preference":
        lines += bias_notes(judged.aggregate.summary())
    for name, tally in judged.tally.judges.items():
        lines += warnings(name, tally, judged.conflict_limit, judged.others.get(name, {}))
    return lines


def warnings(name: str, tally: JudgeTally, limit: float, others: Mapping[str, int]) -> list[str]:
    """What must be known about one judge before its figures; see `judge_summary` for the arguments."""
    state = standing(tally, limit)
    found = []
    if state is not None:
        worst = ", ".join(f"{check} {n}" for check, n in _about_facts(tally)[:3])
        found.append(
            f"judge {name}: {state}: it contradicts what code decides in {tally.conflicting} of {tally.checked} "
            f"verdicts, {share(conflict_rate(tally))}, limit {limit:g} ({worst})"
        )
    found += [
        f"judge {name}: {counted(n, 'answer')} came from `{model}`, which is not the model asked for: not used"
        for model, n in others.items()
    ]
    return found


def _about_facts(tally: JudgeTally) -> list[tuple[str, int]]:
    """Conflicts with facts by check, most frequent first; a judge's quarrels with itself are counted apart."""
    return [(check, n) for check, n in most_first(tally.conflicts) if check not in WITHIN_REPLY]


def share(estimate: Estimate) -> str:
    """`0.970 [0.936, 0.986]`, or why there is none."""
    if estimate.estimate is None:
        return estimate.reason or "undefined"
    value = number(estimate.estimate, 3)
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} [{estimate.low:.3f}, {estimate.high:.3f}]"


_ASIDE = {
    "data_quality_failure": "left out for data quality",
    "stopped_early": "not asked: stopped early",
    "undecided": "undecided by code",
}


def unevaluable_words(reasons: Mapping[str, int]) -> tuple[list[str], str]:
    """What has no verdict, by reason: what is none by design or for its data, then the rest, empty if there is none."""
    aside = [f"{_ASIDE[reason]} {n}" for reason, n in sorted(reasons.items()) if reason in NO_REVIEW]
    others = [(reason, n) for reason, n in most_first(reasons) if reason not in NO_REVIEW]
    why = ", ".join(f"{reason} {n}" for reason, n in others)
    return aside, f"unevaluable {sum(n for _, n in others)} ({why})" if others else ""


def asked(facts: Mapping[str, Any]) -> list[str]:
    """Who was asked, with which prompt, by the facts of a run."""
    judges = facts.get("judges", ())
    # A record can say less about a judge than is said now.
    names = [named(one["name"], one.get("model") or one.get("provider") or one["name"]) for one in judges]
    if not names:
        return ["decided by code alone: no judge was asked"]
    prompts = ", ".join(f"{one['id']}@{one['sha256'][:6]}" for one in facts.get("prompts", ()))
    return [f"judge {', '.join(names)} · prompt {prompts}"]


def named(name: str, who: str) -> str:
    """`fast = vendor/model`; the name alone where it says as much."""
    return name if who in name else f"{name} = {who}"


def audited(name: str, tally: JudgeTally) -> list[str]:
    """One judge's conflicts and silences in words."""
    rate = conflict_rate(tally)
    if tally.checked:
        checks = ", ".join(f"{check} {n}" for check, n in _about_facts(tally))
        words = f"contradicts code in {tally.conflicting} of {tally.checked} verdicts, {share(rate)}"
        lines = [f"judge {name} {words}" + (f": {checks}" if checks else "")]
    else:
        lines = [f"judge {name}: {rate.reason}"]
    if tally.inconsistent:
        lines.append(f"judge {name} contradicts itself in {tally.inconsistent} of {tally.replies} replies")
    if tally.failed:
        reasons = ", ".join(f"{reason} {n}" for reason, n in most_first(tally.failed))
        lines.append(f"judge {name} gave no readable answer to {counted(tally.failed.total(), 'question')}: {reasons}")
    return lines

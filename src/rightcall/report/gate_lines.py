"""A gate and a comparison in the terminal (UX §1.3): what turned, the rules, why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from rightcall.gate.comparing import flip_words
from rightcall.gate.decision import Decision, GateReport
from rightcall.gate.standing import fitness_words
from rightcall.gate.words import counted, figure, interval, listed, percent
from rightcall.report.cells import figures_table, line_of, packed
from rightcall.report.plain import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from rightcall.gate.decision import Against, Diff, Flip, GraderDiff
    from rightcall.stats.intervals import Estimate

STYLES = {
    "PASS": "green", "FAIL": "bold red", "INCONCLUSIVE": "yellow", "NOT_COMPARABLE": "yellow", "WAIT": "magenta"
}  # fmt: skip
"""How an answer looks."""

FLIPS = 20
"""How many cases that turned are listed."""

_DETAILS = 5
_GAPS, _NARROW = 4, 24
"""Columns between the columns of the table, and the least room for its values."""


def print_gate(console: Console, report: GateReport) -> None:
    """Print what a gate says."""
    for note in report.notes:
        _line(console, note, "yellow")
    if report.diff is not None:
        compared = ", ".join(against_words(one) for one in report.baselines if one.name is not None)
        _turned(console, report.diff, compared or report.baseline or report.diff.old)
    _table(console, report)
    for one in report.decisions:
        _below(console, one)
    _line(console, f"gate {report.answer}", STYLES[report.answer])


def against_words(one: Against) -> str:
    """A baseline: how it was asked for, the run or file that was found, where that was made."""
    where = "@".join(part for part in (one.branch or "", (one.commit or "")[:7]) if part)
    named = "" if one.name == one.asked else f"{one.asked}, "
    return f"{named}{one.name or 'none'}" + (f" ({where})" if where else "")


# ---- what turned ----


def _turned(console: Console, diff: Diff, baseline: str) -> None:
    flips = [one for part in diff.graders for one in part.flips]
    for part in diff.graders:
        if part.not_comparable:
            _line(console, f"{part.grader} is not comparable with {baseline}: {'; '.join(part.not_comparable)}", "bold")
    bad = [one for one in flips if _is_worse(one)]
    good = len(flips) - len(bad)
    if not flips:
        _line(console, f"against {baseline}: nothing turned")
        return
    _line(console, f"against {baseline}: {counted(len(bad), 'case')} turned bad, {good} good", "bold")
    _flips(console, flips)


def _is_worse(one: Flip) -> bool:
    if one.old in ("PASS", "FAIL") and one.new in ("PASS", "FAIL"):
        return one.new == "FAIL"
    return _number(one.new) < _number(one.old)


def _number(text: str) -> float:
    """`2 of 3` as a share, a verdict as 0 or 1, a score as what it is; for the order alone."""
    if text in ("PASS", "FAIL"):
        return float(text == "PASS")
    parts = text.split(" of ")
    try:
        return float(parts[0]) / float(parts[1]) if len(parts) == 2 else float(text)
    except (ValueError, ZeroDivisionError):
        return 0.0


def _flips(console: Console, flips: Sequence[Flip], most: int = FLIPS) -> None:
    for one in sorted(flips, key=lambda one: not _is_worse(one))[:most]:
        style = "red" if _is_worse(one) else "green"
        _line(console, f"  {one.grader}  {flip_words(one)}", style)
    if len(flips) > most:
        _line(console, f"  … {len(flips) - most} more: --json or -o FILE.json has all", "dim")


# ---- the rules ----


def _table(console: Console, report: GateReport) -> None:
    table = figures_table("answer", first="gate")
    table.add_column("value", overflow="fold")
    table.columns[0].overflow = "fold"
    names = max(len("gate"), *(len(one.name) for one in report.decisions))
    answers = max(len("answer"), *(len(one.answer) for one in report.decisions))
    room = max(_NARROW, console.width - names - answers - _GAPS)
    for one in report.decisions:
        value = Text(packed(list(map(visible, _value(one))), room))
        table.add_row(Text(visible(one.name)), Text(one.answer, STYLES[one.answer]), value)
        rule = packed(visible(f"rule: {one.rule}").split("; "), room, "; ")
        table.add_row(Text(""), Text(""), Text(rule, "dim"))
    console.print(table)


def _value(one: Decision) -> list[str]:
    """The figure, and what must be known of it, part by part."""
    if one.value is None:
        return [one.metric]
    if one.metric == "open CRITICAL items" and one.value.estimate is not None:
        return [f"{one.value.estimate:g} open of {one.value.n}"]
    if one.rule == "all looked at":
        return [f"{one.value.estimate:g} of {one.value.n} looked at"]
    limits = (one.threshold,)
    _, _, tool = one.metric.partition("; shown: ")
    parts = [f"{tool}: {interval(one.value, limits)}" if tool else interval(one.value, limits)]
    if one.value.excluded and one.value.method != "count":
        parts.append(f"{one.value.excluded} left out")
    if one.not_applicable:
        parts.append(f"{one.not_applicable} not applicable")
    if (bound := _bound(one, one.bound)) is not None:
        parts.append(bound)
    return parts


def _bound(one: Decision, found: Estimate | None) -> str | None:
    """The bound that the rule names; of a count, how large the true share may be."""
    if found is None or found.estimate is None:
        return None
    limits = (one.threshold,)
    if one.value is not None and one.value.method == "count":
        return f"true share at most {figure(found.high)}"
    confidence = percent(float(found.method.split()[1].rstrip(",")))
    side = "lower" if " lower" in found.method else "upper"
    return f"{side} {confidence} bound {figure(found.low if side == 'lower' else found.high, limits)}"


# ---- below ----


def _below(console: Console, one: Decision) -> None:
    """Why a rule is not passed, what would settle it, and what must be known besides."""
    lines = list(_lines(one))
    if not lines:
        return
    _line(console, f"{one.name}", "bold")
    for line in lines:
        _line(console, f"  {line}")


def _lines(one: Decision) -> Iterator[str]:
    if one.reason and one.answer != "PASS":
        yield one.reason
    if one.more:
        thing = "label" if one.name.startswith("judge.") else "case"
        kind = "like those before" if one.alike else "with no error"
        yield f"{one.more:,} further {thing}{'' if one.more == 1 else 's'} {kind} would settle it"
    if one.pessimistic is not None and one.value is not None and one.value.method != "count":
        yield _worst(one)
    yield from one.warnings
    said = map(fitness_words, one.judges)
    yield from (words for words in said if words not in (one.reason or ""))
    if one.answer != "PASS" or one.name == "critical":
        for detail in one.details[:_DETAILS]:
            yield f"- {detail}"
        hidden = len(one.details[_DETAILS:]) + one.left_out
        if hidden:
            yield f"… {hidden} more: --json or -o FILE.json"
    if one.command is not None and one.answer != "PASS":
        yield f"next: {one.command}"


def _worst(one: Decision) -> str:
    worst, limits = one.pessimistic, (one.threshold,)
    if worst is None or worst.estimate is None:
        return ""
    bound = _bound(one, worst) if worst.method.startswith("clopper") else None
    also = f", {bound}" if bound else f" [{figure(worst.low, limits)}, {figure(worst.high, limits)}]"
    return f"if everything unread is the worst: {figure(worst.estimate, limits)}{also}, n={worst.n}"


# ---- comparisons ----


def print_diff(console: Console, diff: Diff) -> None:
    """Print two runs case by case."""
    _line(console, f"{diff.old} → {diff.new}", "bold")
    for name, where in (*((name, diff.old) for name in diff.only_old), *((name, diff.new) for name in diff.only_new)):
        _line(console, f"{name}: only in {where}", "yellow")
    if not diff.graders:
        _line(console, "the two have no grader in common", "yellow")
    for part in diff.graders:
        _grader(console, part)


def _grader(console: Console, part: GraderDiff) -> None:
    _line(console, "")
    _line(console, f"{part.grader}: {counted(part.shared, 'shared case')}", "bold")
    if part.not_comparable:
        _line(console, f"NOT COMPARABLE: {'; '.join(part.not_comparable)}", "bold yellow")
        _line(console, "the figures below show what is there, and not what the agent's change did", "yellow")
    _flips(console, part.flips)
    if not part.flips and part.shared:
        _line(console, "  nothing turned")
    for line in diff_lines(part):
        _line(console, f"  {line}")


def diff_lines(part: GraderDiff) -> list[str]:
    """The figures of one grader's comparison, in words."""
    found = []
    if part.repeated:
        what = "the share of them that passed" if _is_outcome(part) else "their mean"
        found.append(f"a case of several results (trials, steps) counts once in each figure: with {what}")
    if _is_outcome(part):
        found += ["counted here as PASS: a case of which all results passed"] if part.repeated else []
        found.append(f"PASS → PASS {part.both_passed} · PASS → FAIL {part.lost}")
        found.append(f"FAIL → PASS {part.gained} · FAIL → FAIL {part.both_failed}")
    for name, value in (("old", part.old), ("new", part.new), ("difference", part.difference)):
        if value is not None:
            found.append(f"{name} {interval(value)}{' cases' if part.repeated else ''} ({value.method})")
    if part.p_value is not None:
        found.append(f"exact McNemar p = {part.p_value:.3g}")
    found += [f"{name} {interval(value)}" for name, value in part.scores.items()]
    for names, what in (
        (part.new_cases, "new"), (part.missing_cases, "missing"), (part.unevaluable, "without a verdict in one of them")
    ):  # fmt: skip
        if names:
            found.append(f"{what}: {counted(len(names), 'case')}: {listed(names)}")
    return found


def _is_outcome(part: GraderDiff) -> bool:
    return part.both_passed + part.both_failed + part.gained + part.lost > 0


def _line(console: Console, text: str, style: str = "") -> None:
    console.print(line_of(text, style))

"""`rightcall show`: a run with its figures and results, a review item, or all about a step, a trace or a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from rich.text import Text

from rightcall.report.figures import print_figures
from rightcall.report.judged import THINGS, asked, audited, judge_summary, unevaluable_words, warnings
from rightcall.report.judged_terminal import print_title, warning_style
from rightcall.report.one import STYLES, print_results, urgency
from rightcall.report.plain import visible
from rightcall.report.preference_figures import bias_notes
from rightcall.report.signed import signed_facts, signed_line, signed_words
from rightcall.report.summary import counted, most_first
from rightcall.report.unit import print_unit
from rightcall.run.results.critical import Critical
from rightcall.run.results.model import SUITE

if TYPE_CHECKING:
    from rich.console import Console

    from rightcall.run.log.finding import Found, Part
    from rightcall.store.records import VerdictRecord

MOST = 60
"""How many results of a run are listed."""


Signed = Mapping[tuple[str, str, str], Critical]
"""(run, grader, unit) -> its CRITICAL item, with what a person has signed."""


def found_facts(found: Found, limit: float, signed: Signed) -> dict[str, Any]:
    """What is on record under an id, as plain values; what does not apply to its kind is left out.

    Args:
        found: what was found.
        limit: the conflict rate that is tolerated of a judge.
        signed: the CRITICAL items among it.
    """
    results: list[dict[str, Any]] = []
    for verdict, result in found.results:
        critical = signed.get(_key(verdict))
        signoff = {} if critical is None else {"signoff": signed_facts(critical)}
        results.append({"verdict": verdict, "result": result} | signoff)
    if found.kind == "run":
        value: dict[str, Any] = {
            "id": found.id,
            "kind": "run",
            "run": found.run,
            "event": found.event,
            **_judges(found, limit),
        }
        return {**msgspec.to_builtins(value), "results": msgspec.to_builtins(results)}
    for one, (trace, case), second in zip(results, found.sources, found.seconds, strict=True):
        one.update({"trace": trace, "case": case} | ({} if second is None else {"trace_b": second}))
    whole: dict[str, Any] = {
        "id": found.id, "kind": found.kind, "results": results, "waiting": found.waiting,
        "attempts": [{"seq": seq, "attempt": attempt} for seq, attempt in found.attempts],
    }  # fmt: skip
    return whole | {"review": found.review} if found.review is not None else whole


def _judges(found: Found, limit: float) -> dict[str, Any]:
    """The judges of a run; of several graders, each one's under its name."""
    each = {
        part.grader: {
            "judges": {name: judge_summary(one, limit, part.others.get(name, {})) for name, one in part.judges.items()}
        }
        for part in found.parts
    }
    return {"graders": each} if found.run is not None and found.run.grader == SUITE else next(iter(each.values()))


def _key(verdict: VerdictRecord) -> tuple[str, str, str]:
    return verdict.run_id, verdict.grader, verdict.unit


def print_found(console: Console, found: Found, limit: float, signed: Signed, *, failed: bool = False) -> None:
    """Print whatever an id stands for.

    Args:
        console: where to.
        found: what was found.
        limit: the conflict rate that is tolerated of a judge.
        signed: the CRITICAL items among it.
        failed: whether only what did not pass was looked up.
    """
    if found.kind == "run":
        _print_run(console, found, limit, signed, failed=failed)
        return
    if found.review is not None:
        _print_review(console, found)
    start = 0
    for (verdict, result), source, second in zip(found.results, found.sources, found.seconds, strict=True):
        attempts = found.attempts[start : start + len(verdict.attempts)]
        start += len(verdict.attempts)
        about = (verdict.run_id, verdict.unit, verdict.grader)
        waiting = [one for one in found.waiting if (one.item.run_id, one.item.unit, one.item.grader) == about]
        print_unit(console, verdict, result, (*source, second), attempts, waiting, signed.get(_key(verdict)))


def _print_review(console: Console, found: Found) -> None:
    review = found.review
    assert review is not None  # noqa: S101 - the caller looked
    title = f"{found.id} · {review.reason} · since {moment(review.created_at)}"
    console.print(Text(visible(title), STYLES.get(review.reason, "bold")))
    if review.detail:
        console.print(Text(visible(f"  {review.detail}")))
    if review.probability < 1:
        console.print(Text(f"  drawn with probability {review.probability:g}", "dim"))
    console.print(Text(visible(f"  not blind: who is to answer it uses rightcall review show {found.id}"), "dim"))


def moment(at: str) -> str:
    """A point in time to the minute, in UTC."""
    return at[:16].replace("T", " ")


def _print_run(console: Console, found: Found, limit: float, signed: Signed, *, failed: bool) -> None:
    run, event = found.run, found.event
    assert run is not None  # noqa: S101 - the caller looked
    status = "unfinished" if event is None else event.status
    console.print(Text(visible(f"{run.id} · {run.grader} · {status} · {moment(run.started_at)}"), "bold"))
    if event is not None and event.message:
        console.print(Text(visible(f"{event.status}: {event.message}"), "yellow"))
    for part in found.parts:
        if run.grader == SUITE:
            print_title(console, part.grader)
        _print_part(console, part, limit)
        results = [pair for pair in found.results if pair[0].grader == part.grader]
        _print_results(console, part.grader, results, signed, failed=failed)
        _print_reviews(console, run.id, part.summary)
    if (line := signed_line(signed.values())) is not None:
        console.print(Text(line))


def _print_part(console: Console, part: Part, limit: float) -> None:
    """What one grader of a run found, and how far its judges can be trusted."""
    summary = part.summary
    for line in _notes(part, limit):
        console.print(Text(visible(line), warning_style(line)))
    for line in [*asked(part.facts), *_terms(part.facts)]:
        console.print(Text(visible(line)))
    if summary:
        console.print(Text(visible(_counts(part.grader, summary))))
        print_figures(console, part.grader, summary.get("own", summary if part.grader == "golden" else {}))
    if part.grader != "probe":
        for name, tally in part.judges.items():
            for line in audited(name, tally):
                console.print(Text(visible(line)))


def _notes(part: Part, limit: float) -> list[str]:
    """What must be known before any figure, as it was said when the run ended."""
    notes = [*part.summary.get("warnings", ())]
    if part.grader == "preference" and part.summary.get("own"):
        notes += bias_notes(part.summary["own"])
    for name, tally in part.judges.items():
        notes += warnings(name, tally, limit, part.others.get(name, {}))
    return notes


def _print_reviews(console: Console, run_id: str, summary: Mapping[str, Any]) -> None:
    if summary.get("reviews"):
        reasons = " · ".join(f"{reason} {n}" for reason, n in most_first(summary["reviews"]))
        console.print(Text(f"for review: {reasons}"))
        console.print(Text(f"  rightcall review list --run {run_id}"))


def _print_results(
    console: Console, grader: str, results: Sequence[tuple[VerdictRecord, Any]], signed: Signed, *, failed: bool
) -> None:
    """Results of one grader by unit, those that stand out first."""
    words = {unit: signed_words(one) for (_, by, unit), one in signed.items() if by == grader}
    pairs = [(verdict.unit, result) for verdict, result in results]
    pairs.sort(key=lambda pair: urgency(pair[1]))
    print_results(console, pairs[:MOST], words)
    if not pairs:
        console.print(Text("every result on record passed" if failed else "no result is on record"))
    if len(pairs) > MOST:
        console.print(Text(f"  … {len(pairs) - MOST} more: --json shows all", "dim"))
    if pairs and grader != "probe":
        console.print(Text(f"  each in full: rightcall show {visible(pairs[0][0])}", "dim"))


def _terms(facts: Mapping[str, Any]) -> list[str]:
    """What was read, and how it was asked where that is not the usual way."""
    read = (one for key in ("inputs", "cases") for one in facts.get(key) or ())
    files = list(dict.fromkeys(one["file"] for one in read))
    shown = ", ".join(files[:6]) + (f", … {len(files) - 6} more" if len(files) > 6 else "")
    words = [
        f"{name} {facts[name]}"
        for name in ("replicates", "quorum", "sample", "limit", "only", "bad_items", "profile")
        if facts.get(name) not in (None, 1)
    ]
    words += [f"seed {facts['seed']}"] if facts.get("sample") else []
    return [f"read {shown}"] * bool(files) + [" · ".join(words)] * bool(words)


def _counts(grader: str, summary: Mapping[str, Any]) -> str:
    words = [counted(summary["n"], THINGS.get(grader, "trace"))]
    reasons = summary.get("unevaluable_by_reason", {})
    if reasons:
        aside, bad = unevaluable_words(reasons)
        words += [*aside, *([bad] if bad else [])]
    elif summary.get("unevaluable"):
        words.append(f"unevaluable {summary['unevaluable']}")
    words += [f"not asked {summary['not_asked']}"] if summary.get("not_asked") else []
    words += [f"records not read {summary['skipped']}"] if summary.get("skipped") else []
    coverage = summary.get("coverage")
    return " · ".join([*words, "coverage –" if coverage is None else f"coverage {coverage:.3f}"])

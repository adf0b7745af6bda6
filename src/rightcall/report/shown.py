"""`rightcall show`: a review item, or all about a step, a trace or a case; a run as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from rich.text import Text

from rightcall.report.judged import judge_summary
from rightcall.report.one import STYLES
from rightcall.report.plain import moment, visible
from rightcall.report.signed import signed_facts
from rightcall.report.unit import print_unit
from rightcall.run.results.critical import Critical
from rightcall.run.results.model import SUITE

if TYPE_CHECKING:
    from rich.console import Console

    from rightcall.run.log.finding import Found
    from rightcall.store.records import VerdictRecord

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


def print_found(console: Console, found: Found, signed: Signed) -> None:
    """Print whatever an id stands for, if it is no run.

    Args:
        console: where to.
        found: what was found.
        signed: the CRITICAL items among it.
    """
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

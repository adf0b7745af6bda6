"""What is on record, in the terminal: runs, results, exchanges with judges, review items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from rich.table import Table
from rich.text import Text

from rightcall.report.plain import visible
from rightcall.report.summary import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from rightcall.run.finding import Found, ReviewItem, WholeAttempt
    from rightcall.run.replay import Replayed
    from rightcall.store.records import AttemptRecord, RunEvent, RunRecord

Runs = "Sequence[tuple[RunRecord, RunEvent | None]]"
MOST = 60
"""How many results of a run are listed."""

_STYLES = {"PASS": "green", "FAIL": "red", "ok": "", "CRITICAL": "bold red", "HIGH": "red"}


def run_rows(runs: Sequence[tuple[RunRecord, RunEvent | None]]) -> list[dict[str, Any]]:
    """Runs as plain values."""
    return [
        {
            "id": run.id, "grader": run.grader, "started_at": run.started_at,
            "status": "unfinished" if event is None else event.status, "message": event and event.message,
            "facts": run.facts, "summary": {} if event is None else event.summary,
        }
        for run, event in runs
    ]  # fmt: skip


def print_runs(console: Console, store: str, runs: Sequence[tuple[RunRecord, RunEvent | None]]) -> None:
    """A table of runs."""
    if not runs:
        console.print(Text(f"no runs in {store} yet: rightcall selection, rubric or golden --store writes one"))
        return
    table = _table("run", "grader", "started", "status", "n", "figure", "judge")
    for row in run_rows(runs):
        facts, summary = row["facts"], row["summary"]
        judges = ", ".join(judge["name"] for judge in facts.get("judges", ())) or "code"
        cells = [row["id"], row["grader"], row["started_at"][:16].replace("T", " "), row["status"]]
        cells += [str(summary.get("n", "")), _figure(row["grader"], summary), judges]
        table.add_row(*(Text(visible(cell)) for cell in cells))
    console.print(table)


def _figure(grader: str, summary: Mapping[str, Any]) -> str:
    """The one figure that a list shows of a run."""
    own = summary.get("own", summary)
    if grader == "selection" and "overall" in own:
        return f"precision {_estimate(own['overall']['precision'])}"
    if grader == "rubric" and "scores" in own:
        return f"overall {_estimate(own['scores']['overall_score']['mean'], 2)}"
    if grader == "golden" and "pass_rate" in own:
        return f"pass rate {_estimate(own['pass_rate'])}"
    return ""


def _estimate(value: Mapping[str, Any], digits: int = 3) -> str:
    if value["estimate"] is None:
        return "–"
    if value["low"] is None:
        return f"{value['estimate']:.{digits}f}"
    return f"{value['estimate']:.{digits}f} [{value['low']:.{digits}f}, {value['high']:.{digits}f}]"


def print_found(console: Console, found: Found) -> None:
    """Whatever an id stands for."""
    if found.run is not None:
        _print_run(console, found)
    elif found.review is not None:
        review = found.review
        title = (
            f"{found.id}  {review.grader} · {review.reason} · probability {review.probability:g} · {review.created_at}"
        )
        console.print(Text(visible(title), "bold"))
        console.print(Text(visible(review.detail)))
    if found.run is None:
        for verdict, result in found.results:
            said = verdict.verdict or verdict.reason or verdict.status
            title = f"{verdict.unit} · {verdict.grader} · run {verdict.run_id} · {said}"
            console.print(Text(visible(title), "bold"))
            _print_value(console, result)
        if found.attempts:
            print_attempts(console, [(seq, "", attempt) for seq, attempt in found.attempts], None)


def _print_run(console: Console, found: Found) -> None:
    run, event = found.run, found.event
    assert run is not None  # noqa: S101 - the caller looked
    status = "unfinished" if event is None else event.status
    console.print(Text(visible(f"{run.id} · {run.grader} · {run.started_at} · {status}"), "bold"))
    if event is not None and event.message:
        console.print(Text(visible(event.message), "yellow"))
    for name, value in run.facts.items():
        console.print(Text(visible(f"  {name}: {_short(value)}"), "dim"))
    if event is not None and event.summary:
        figure = _figure(run.grader, event.summary)
        shown = {
            key: event.summary[key] for key in ("n", "evaluated", "unevaluable", "coverage") if key in event.summary
        }
        words = " · ".join(f"{key} {value}" for key, value in shown.items())
        console.print(Text(visible(f"{words} · {figure}" if figure else words)))
    for verdict, result in found.results[:MOST]:
        said = verdict.verdict or result.get("misuse_severity") or verdict.reason or verdict.status
        more = result.get("failure_category") or result.get("downstream_impact") or verdict.reason or ""
        console.print(Text(visible(f"  {verdict.unit}  {said}  {more}"), _STYLES.get(said, "")))
    if len(found.results) > MOST:
        console.print(Text(f"  … {len(found.results) - MOST} more: --json shows all", "dim"))


def print_attempts(
    console: Console, attempts: Sequence[tuple[int, str, AttemptRecord]], counts: Mapping[str, int] | None
) -> None:
    """A table of exchanges."""
    if counts is not None:
        console.print(Text(f"{counted(counts.get('attempt', 0), 'exchange')} on record, {len(attempts)} shown"))
    table = _table("entry", "time", "grader", "unit", "judge", "status", "s", "tokens", "read as")
    for seq, _digest, one in attempts:
        number = f"{one.attempt}.{one.transport}" if one.attempt or one.transport else ""
        tokens = f"{one.input_tokens}→{one.output_tokens}" if one.input_tokens is not None else ""
        cells = [
            str(seq), one.started_at[11:19], one.grader, one.unit, one.judge,
            f"{one.status} {number}".strip() if one.purpose == "question" else f"{one.status} ({one.purpose})",
            f"{one.latency:.1f}", tokens, _read_as(one),
        ]  # fmt: skip
        table.add_row(*(Text(visible(cell)) for cell in cells))
    console.print(table)


def _read_as(one: AttemptRecord) -> str:
    if one.verdict is None:
        return one.message or (one.problems[0]["message"] if one.problems else "")
    if "grade" in one.verdict:
        return " ".join(str(one.verdict[key]) for key in ("grade", "failure_category") if one.verdict.get(key))
    return f"{one.verdict.get('overall_score', '')} {one.verdict.get('misuse_severity', '')}".strip()


def print_attempt(console: Console, found: WholeAttempt) -> None:
    """One exchange in full."""
    plain = msgspec.to_builtins(found.attempt)
    console.print(Text(f"entry {found.seq} · {found.digest}", "bold"))
    for name, value in plain.items():
        if value not in (None, (), [], {}, "") and name not in (
            "record",
            "verdict",
            "problems",
            "system",
            "user",
            "reply",
        ):
            console.print(Text(visible(f"  {name}: {_short(value)}"), "dim"))
    for title, text in (("system", found.system), ("question", found.user), ("reply", found.reply)):
        console.print(Text(f"── {title}", "bold"))
        for line in (text if text is not None else "(none)").splitlines() or [""]:
            console.print(Text(visible(line)))
    for problem in found.attempt.problems:
        console.print(Text(visible(f"✗ {problem['path']}: {problem['message']}"), "red"))
    if found.attempt.verdict is not None:
        console.print(Text("── read as", "bold"))
        _print_value(console, found.attempt.verdict)


def print_replay(console: Console, found: Replayed) -> None:
    """Two answers to one question, field by field."""
    console.print(Text(visible(f"{found.then_model} → {found.now_model} · {found.status} · entry {found.seq}"), "bold"))
    if found.message:
        console.print(Text(visible(found.message), "yellow"))
    table = _table("field", "then", "now")
    for name in dict.fromkeys([*(found.then or {}), *(found.now or {})]):
        then, now = (found.then or {}).get(name), (found.now or {}).get(name)
        style = "" if then == now else "yellow"
        table.add_row(*(Text(visible(cell), style) for cell in (name, _short(then), _short(now))))
    console.print(table)


def print_reviews(console: Console, items: Sequence[ReviewItem]) -> None:
    """A table of review items; an empty one says why."""
    if not items:
        console.print(Text("nothing waits: no result matched a reason for a review"))
        return
    reasons: dict[str, int] = {}
    for one in items:
        reasons[one.item.reason] = reasons.get(one.item.reason, 0) + 1
    console.print(Text(f"{len(items)} waiting · " + " · ".join(f"{reason} {n}" for reason, n in reasons.items())))
    table = _table("item", "why", "grader", "run", "unit", "p", "detail")
    for one in items:
        item = one.item
        cells = [one.id, item.reason, item.grader, item.run_id, item.unit, f"{item.probability:g}", _cut(item.detail)]
        table.add_row(*(Text(visible(cell), _STYLES.get(item.reason, "")) for cell in cells))
    console.print(table)


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def _print_value(console: Console, value: Any) -> None:
    for line in msgspec.json.format(msgspec.json.encode(value), indent=2).decode().splitlines():
        console.print(Text(visible(line)))


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return _cut(text)


def _cut(text: str, limit: int = 160) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"

"""What is on record, as lists in the terminal: runs, exchanges with judges; and one exchange in full.

Every list keeps to the width of the screen: what identifies an entry stands on its first line, and what does not fit
stands below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rightcall.report.figures import main_figure
from rightcall.report.gate_answer import WIDTH, answer_facts, mark_of
from rightcall.report.judged import THINGS, unevaluable_words
from rightcall.report.plain import moment, shorten, value, visible
from rightcall.report.summary import counted
from rightcall.run.judging.items import NO_REVIEW
from rightcall.run.results.model import SUITE, Origin

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from rich.console import Console

    from rightcall.run.log.finding import WholeAttempt
    from rightcall.run.log.replay import Replayed
    from rightcall.store.records import AttemptRecord, GateRecord, RunEvent, RunRecord

_WIDE = 110
"""Columns from which on a list of exchanges shows latency, tokens and grader too."""

_LONGEST_DETAIL = 300
_INDENT = 14


# ---- runs ------------------------------------------------------------------------------------------------------------


def run_rows(
    runs: Sequence[tuple[RunRecord, RunEvent | None]], answers: Mapping[str, GateRecord], overtaken: Container[str]
) -> list[dict[str, Any]]:
    """Runs as plain values, each with what its gates last said, and whether more was recorded since."""
    return [
        {
            "id": run.id, "grader": run.grader, "started_at": run.started_at,
            "status": "unfinished" if event is None else event.status, "message": event and event.message,
            "gate": answer_facts(answers.get(run.id), overtaken=run.id in overtaken), "facts": run.facts,
            "summary": {} if event is None else event.summary,
        }
        for run, event in runs
    ]  # fmt: skip


def print_runs(
    console: Console, store: str, runs: Sequence[tuple[RunRecord, RunEvent | None]],
    answers: Mapping[str, GateRecord], overtaken: Container[str],
) -> None:  # fmt: skip
    """Runs, two lines each: what it was and what its gates said, and what came of it, on which branch."""
    if not runs:
        console.print(Text(f"no runs in {store} yet: rightcall selection, rubric or golden --store writes one"))
        return
    header = f"{'run':<{_INDENT}}{'started':<16}  {'grader':<9}  {'status':<11}  {'gate':<{WIDTH}}  judge"
    console.print(Text(header, "bold"))
    for row in run_rows(runs, answers, overtaken):
        judges = ", ".join(_judges(row)) or "code alone"
        gate = mark_of(answers.get(row["id"]), overtaken=row["id"] in overtaken)
        first = f"{row['id']:<{_INDENT}}{moment(row['started_at'])}  {row['grader']:<9}  {row['status']:<11}"
        _line(console, f"{first}  {gate:<{WIDTH}}  {judges}", _run_style(row["status"]))
        _below(console, " · ".join(part for part in (str(Origin.of(row["facts"])), _came_of(row)) if part))


def _run_style(status: str) -> str:
    return "" if status == "finished" else "yellow"


def _judges(row: Mapping[str, Any]) -> list[str]:
    """Who was asked, whatever the grader."""
    facts = row["facts"]
    each = facts.get("graders", {}).values() if row["grader"] == SUITE else [facts]
    return list(dict.fromkeys(judge["name"] for one in each for judge in one.get("judges", ())))


def _came_of(row: Mapping[str, Any]) -> str:
    summary, message = row["summary"], [row["message"]] if row["message"] else []
    if row["grader"] != SUITE:
        return " · ".join([*_figures(row["grader"], summary), *message])
    figures = summary.get("graders", {})
    each = (
        f"{name} {main_figure(name, figures[name]) or counted(figures[name].get('n', 0), THINGS.get(name, 'trace'))}"
        for name in row["facts"].get("order", figures)
        if name in figures
    )
    return " · ".join([*each, *message])


def _figures(grader: str, summary: Mapping[str, Any]) -> list[str]:
    words = []
    if "n" in summary:
        words.append(counted(summary["n"], THINGS.get(grader, "trace")))
    words += [figure] if (figure := main_figure(grader, summary)) else []
    words += _without_verdict(summary)
    return [*words, *([f"{summary['not_asked']} not asked"] if summary.get("not_asked") else [])]


def _without_verdict(summary: Mapping[str, Any]) -> list[str]:
    """How many have no verdict; those for which none was to be expected are told apart."""
    reasons = summary.get("unevaluable_by_reason", {})
    aside, _ = unevaluable_words(reasons)
    bad = summary.get("unevaluable", 0) - sum(n for reason, n in reasons.items() if reason in NO_REVIEW)
    return [*aside, f"{bad} unevaluable"] if bad else aside


# ---- exchanges -------------------------------------------------------------------------------------------------------


def print_attempts(
    console: Console, attempts: Sequence[tuple[int, str, AttemptRecord]], counts: Mapping[str, int] | None
) -> None:
    """Exchanges, a line each; what went wrong stands below."""
    if counts is not None:
        whole = counts.get("attempt", 0)
        shown = f"{len(attempts)} shown" if attempts or not whole else "none of them is what was asked for"
        console.print(Text(f"{counted(whole, 'exchange')} on record, {shown}"))
    if not attempts:
        return
    is_wide = console.width >= _WIDE
    rows = [_cells(seq, one, is_wide=is_wide) for seq, _digest, one in attempts]
    header = ["entry", "time", *(["grader"] if is_wide else []), "unit", "judge"]
    header += [*(["s", "tokens"] if is_wide else []), "status and reading"]
    longest = {"unit": 28, "judge": 14} if is_wide else {"unit": 20, "judge": 12}
    widths = [
        min(max(len(name), *(len(row[at]) for row in rows)), longest.get(name, 80)) for at, name in enumerate(header)
    ]
    _line(console, _laid_out(header, widths), "bold")
    for row, (_, _, one) in zip(rows, attempts, strict=True):
        _line(console, _laid_out(row, widths), "" if one.status == "ok" else "yellow")
        if one.status != "ok":
            _below(console, ": ".join(part for part in (", ".join(_marks(one)), read_as(one)) if part))


def _cells(seq: int, one: AttemptRecord, *, is_wide: bool) -> list[str]:
    cells = [str(seq), one.started_at[11:19], *([one.grader] if is_wide else []), visible(one.unit), visible(one.judge)]
    cells += [f"{one.latency:.1f}", _tokens(one)] if is_wide else []
    return [*cells, f"{_status(one)} · {read_as(one)}" if one.status == "ok" else one.status]


def _laid_out(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(f"{shorten(cell, width):<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


def _status(one: AttemptRecord) -> str:
    """What became of an exchange, and what is special about it."""
    marks = _marks(one)
    return one.status + (f" ({', '.join(marks)})" if marks else "")


def _marks(one: AttemptRecord) -> list[str]:
    """Which asking it was, and whether it was a question at all."""
    marks = ["second asking"] if one.attempt else []
    marks += [f"try {one.transport + 1}"] if one.transport else []
    return marks + ([one.purpose] if one.purpose != "question" else [])


def _tokens(one: AttemptRecord) -> str:
    return "" if one.input_tokens is None else f"{one.input_tokens}→{one.output_tokens}"


def read_as(one: AttemptRecord) -> str:
    """How a reply was read, or what was wrong, in a few words."""
    if one.verdict is None:
        return one.message or "; ".join(f"{problem['path']}: {problem['message']}" for problem in one.problems)
    if "grade" in one.verdict:
        return " ".join(str(one.verdict[key]) for key in ("grade", "failure_category") if one.verdict.get(key))
    if "misuse_severity" in one.verdict:
        overall = one.verdict.get("overall_score")
        return f"{one.verdict['misuse_severity']}" + ("" if overall is None else f" {overall:.2f}")
    return ", ".join(f"{name} {item}" for name, item in one.verdict.items() if not isinstance(item, (dict, list)))


def print_attempt(console: Console, found: WholeAttempt) -> None:
    """One exchange in full: the facts, what was wrong, how it was read, the reply, the question."""
    one = found.attempt
    title = f"entry {found.seq} · {one.grader} · {one.unit} · {_status(one)}"
    console.print(Text(visible(title), "bold" if one.status == "ok" else "bold yellow"))
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True, min_width=9, style="dim")
    table.add_column(overflow="fold")
    for label, text in _facts(found):
        table.add_row(f"  {label}", Text(visible(text)))
    console.print(table)
    for problem in one.problems:
        console.print(Text(visible(f"✗ {problem['path']}: {problem['message']}"), "red"))
    if one.verdict is not None:
        console.print(Text("── read as", "bold"))
        for name, item in one.verdict.items():
            console.print(Text(visible(f"{name}: {item if isinstance(item, str) else value(item)}")))
    for name, whole in (("reply", found.reply), ("question", found.user), ("instructions", found.system)):
        console.print(Text(f"── {name}", "bold"))
        for line in ("(none)" if whole is None else whole).splitlines() or [""]:
            console.print(Text(visible(line)), soft_wrap=True)


def _facts(found: WholeAttempt) -> list[tuple[str, str]]:
    one = found.attempt
    ids = [f"{name} {known}" for name, known in (("case", one.case_id), ("trace", one.trace_id)) if known]
    asked = f"{one.model_asked or one.provider} at {one.endpoint}"
    answered = one.model_answered or "nobody said" if found.reply is not None else "nobody"
    sent = ", ".join(f"{name} {given}" for name, given in one.parameters.items() if given is not None)
    facts = [
        ("about", " · ".join([f"run {one.run_id}", *ids])),
        ("judge", f"{one.judge}: asked {asked}, answered by {answered}"),
        ("time", f"{one.started_at[:19].replace('T', ' ')} UTC, {one.latency:.2f} s"),
        ("sent", " · ".join(part for part in (one.rung, sent) if part)),
        ("tokens", _counted(one)),
        ("price", "unknown" if one.price is None else f"{one.price:g} {one.currency}"),
        ("digest", found.digest),
        ("key", one.key),
    ]
    if one.prompt_id:
        facts.insert(3, ("prompt", f"{one.prompt_id} {one.prompt_version} @{one.prompt_sha256[:12]}"))
    if one.message:
        facts.insert(1, ("message", one.message))
    http = [f"status {one.http_status}"] if one.http_status else []
    http += [f"request {one.request_id}"] if one.request_id else []
    http += [f"retry after {one.retry_after:g} s"] if one.retry_after is not None else []
    facts += [("http", ", ".join(http))] if http else []
    return [fact for fact in facts if fact[1]] + [("note", note) for note in one.notes]


def _counted(one: AttemptRecord) -> str:
    least = f" (the question has at least {one.counted_tokens:,})" if one.counted_tokens else ""
    if one.input_tokens is None:
        return f"not reported{least}"
    return f"{one.input_tokens:,} in, {one.output_tokens or 0:,} out{least}"


def print_replay(console: Console, found: Replayed) -> None:
    """Two answers to one question: what is the same, and what differs, field by field."""
    models = f"{found.then_model or '(not said)'} → {found.now_model or '(not said)'}"
    entry = "" if found.seq is None else f" · entry {found.seq}"
    console.print(Text(visible(f"{models} · {found.status}{entry}"), "bold"))
    if found.message:
        console.print(Text(visible(found.message), "yellow"))
    then, now = found.then or {}, found.now or {}
    if found.same:
        console.print(Text("the same answer, field by field", "green"))
    for name in dict.fromkeys([*then, *now]):
        if then.get(name) != now.get(name):
            console.print(Text(visible(name), "bold"))
            for label, side, whole in (("then", then, found.then), ("now", now, found.now)):
                item = side.get(name)
                text = "(no readable answer)" if whole is None else item if isinstance(item, str) else value(item)
                console.print(Padding(Text(visible(f"{label:<4}  {text}")), (0, 0, 0, 2), expand=False))
    equal = [name for name in then if name in now and then[name] == now[name]]
    if equal and not found.same:
        console.print(Text(visible(f"the same: {', '.join(equal)}"), "dim"))


# ---- lines -----------------------------------------------------------------------------------------------------------


def _line(console: Console, text: str, style: str) -> None:
    """One line that is cut where the screen ends."""
    console.print(Text(shorten(visible(text), console.width), style), no_wrap=True, overflow="ellipsis")


def _below(console: Console, text: str) -> None:
    """What stands below a first line."""
    if text:
        shown = Text(shorten(visible(text), _LONGEST_DETAIL), "dim")
        console.print(Padding(shown, (0, 0, 0, _INDENT), expand=False))

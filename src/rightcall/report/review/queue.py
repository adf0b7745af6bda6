"""The review queue in the terminal and as plain values (UX §2.5).

The list names why an item waits, and nothing that a judge wrote: whoever reads it can still answer blind. What judges
and policies said about an item is shown only on request.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rightcall.report.one import STYLES
from rightcall.report.plain import shorten, visible
from rightcall.report.summary import counted
from rightcall.review.urgency import URGENCY
from rightcall.store.records import short_item

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console

    from rightcall.run.people.labels import Imported
    from rightcall.run.people.stats import Stats
    from rightcall.stats.intervals import Estimate
    from rightcall.store.records import ReviewRecord
    from rightcall.store.waiting import QueueItem

_LONGEST_DETAIL = 300
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_STATES = {"waiting": "waiting", "held": "held", "adjudication": "adjudication", "signoff": "sign-off", "done": "done"}


def queue_rows(
    items: Sequence[QueueItem], details: Mapping[str, Sequence[ReviewRecord]] | None
) -> list[dict[str, Any]]:
    """The queue as plain values.

    Args:
        items: what is listed.
        details: item -> its reasons as they were recorded; `None`: only what leaves a reviewer blind.
    """
    rows = []
    for one in items:
        row: dict[str, Any] = {
            "item": one.item, "id": short_item(one.item), "grader": one.grader, "state": one.state,
            "reasons": _by_urgency(one.reasons), "needed": one.needed, "answered": one.answered, "extras": one.extras,
            "held_by": [{"who": who, "until": until} for who, until in one.holders], "created_at": one.created_at,
        }  # fmt: skip
        if details is not None:
            row |= {
                "run_id": one.run_id, "unit": one.unit, "case_id": one.case_id, "trace_id": one.trace_id,
                "step_id": one.step_id, "severity": one.severity, "probability": one.probability,
                "details": [{"reason": record.reason, "detail": record.detail} for record in details.get(one.item, ())],
            }  # fmt: skip
        rows.append(row)
    return rows


def print_queue(
    console: Console, items: Sequence[QueueItem], who: str, now: datetime,
    details: Mapping[str, Sequence[ReviewRecord]] | None = None,
) -> None:  # fmt: skip
    """Items in the order given, a line each.

    Args:
        console: where to.
        items: what is listed; at least one.
        who: whose own claims are called `you`.
        now: the time.
        details: item -> its reasons as they were recorded, printed below it; `None`: not at all.
    """
    reasons = Counter(reason for one in items for reason in one.reasons)
    console.print(Text(visible(_reasons(reasons)), "bold"))
    if details is not None:
        console.print(Text("not blind: whoever reads what judges wrote cannot answer these items blind", "yellow"))
    rows = [_cells(one, who, now) for one in items]
    header = ("item", "why", "job", "answers", "state", "held by", "age")
    widths = [max(len(cells[at]) for cells in [header, *rows]) for at in range(len(header))]
    lines = [_line(console, _laid_out(header, widths), "bold")]
    for one, cells in zip(items, rows, strict=True):
        style = "dim" if one.state == "done" else STYLES.get(_by_urgency(one.reasons)[0], "")
        lines.append(_line(console, _laid_out(cells, widths), style))
        if details is not None:
            _print_lines(console, lines)
            lines = []
            for text in _details(one, details.get(one.item, ())):
                shown = Text(shorten(visible(text), _LONGEST_DETAIL), "dim")
                console.print(Padding(shown, (0, 0, 0, 13), expand=False))
    _print_lines(console, lines)


def _cells(one: QueueItem, who: str, now: datetime) -> tuple[str, ...]:
    more = f" +{len(one.reasons) - 1}" if len(one.reasons) > 1 else ""
    extras = f" +{one.extras}" if one.extras else ""
    held = ", ".join(f"{'you' if name == who else visible(name)} {left(until, now)}" for name, until in one.holders)
    return (
        short_item(one.item), f"{_by_urgency(one.reasons)[0]}{more}", visible(one.grader),
        f"{one.answered}/{one.needed}{extras}", _STATES[one.state], held, age(one.created_at, now),
    )  # fmt: skip


def _reasons(counts: Mapping[str, int]) -> str:
    return " ▪ ".join(f"{reason} {counts[reason]}" for reason in _by_urgency(counts))


def _by_urgency(reasons: Iterable[str]) -> list[str]:
    """Reasons, the most urgent first."""
    order: dict[str, int] = {reason: place for place, reason in enumerate(URGENCY)}
    return sorted(reasons, key=lambda reason: order.get(reason, len(order)))


def _details(one: QueueItem, records: Sequence[ReviewRecord]) -> list[str]:
    drawn = "" if one.probability == 1 else f" · p {one.probability:g}"
    return [
        f"{one.unit} · run {one.run_id}{drawn}",
        *(f"{record.reason}: {record.detail}" for record in records if record.detail),
    ]


def _laid_out(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()


def _line(console: Console, text: str, style: str) -> Text:
    return Text(shorten(text, console.width), style)


def _print_lines(console: Console, lines: Sequence[Text]) -> None:
    """Print lines at once: one by one, a queue of many thousands takes seconds."""
    if lines:
        console.print(Text("\n").join(lines), no_wrap=True, overflow="ellipsis")


# ---- times -----------------------------------------------------------------------------------------------------------


def age(at: str, now: datetime) -> str:
    """How long ago something was."""
    return span((now - datetime.fromisoformat(at)).total_seconds())


def left(until: str, now: datetime) -> str:
    """How long something still lasts; `0 s` if it is over."""
    return span((datetime.fromisoformat(until) - now).total_seconds())


def span(seconds: float) -> str:
    """A time in one unit, as a person says it."""
    whole = max(0, int(seconds))
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if whole >= 2 * size or (whole >= size and unit != "d"):
            return f"{whole // size} {unit}"
    return f"{whole} s"


# ---- how it goes -----------------------------------------------------------------------------------------------------


def print_counts(console: Console, items: Sequence[QueueItem], who: str, now: datetime) -> None:
    """One line about the whole queue: how many items wait for what, and since when.

    Args:
        console: where to.
        items: all items, without filters.
        who: who asks.
        now: the time.
    """
    states = Counter(one.state for one in items)
    mine = sum(who in dict(one.holders) for one in items)
    left_over = [one.created_at for one in items if one.state != "done"]
    words = [f"waiting {states['waiting'] + states['held']}", f"mine {mine}"]
    words += [f"{_STATES[state]} {states[state]}" for state in ("adjudication", "signoff", "done")]
    oldest = f" ⚠ oldest {age(min(left_over), now)}" if left_over else ""
    console.print(Text(f"queue: {' · '.join(words)}{oldest}"))


def print_stats(console: Console, found: Stats, now: datetime) -> None:
    """Print the queue as a whole: what waits, who answered, how far people agree.

    Args:
        console: where to.
        found: the figures.
        now: the time.
    """
    words = [f"{_STATES[state]} {n}" for state, n in found.states.items()]
    oldest = f" ⚠ oldest {age(found.oldest, now)}" if found.oldest else ""
    console.print(Text(" · ".join(words) + oldest, "bold"))
    if found.reasons:
        console.print(Text(visible(f"not done: {_reasons(found.reasons)}")))
    if found.people:
        _print_people(console, found, now)
    else:
        console.print(Text("nobody has answered anything yet"))
    if found.agreement:
        _print_agreement(console, found)
    else:
        console.print(Text("people's agreement: no item was answered blind by two people"))


def _print_people(console: Console, found: Stats, now: datetime) -> None:
    rows = []
    for one in found.people:
        median = "–" if one.median_seconds is None else f"{one.median_seconds:.0f} s"
        counts = [str(n) for n in (one.answers, one.adjudications, one.amendments, one.imported)]
        rows.append([one.who, *counts, median, f"{age(one.last_at, now)} ago"])
    _print_table(console, ("who", "answers", "decided", "amended", "imported", "median", "last"), rows)


def _print_agreement(console: Console, found: Stats) -> None:
    """Two people about the same item, both blind: equal answers, those within the form's tolerance, Cohen's kappa."""
    rows = [
        [f"{one.grader} {one.field}", short(one.exact, 2), short(one.within, 2), short(one.kappa, 2)]
        for one in found.agreement
    ]  # fmt: skip
    _print_table(console, ("people agree on", "equal", "within tolerance", "kappa"), rows)
    for one in found.agreement:
        if one.kappa.estimate is None and one.kappa.reason:
            console.print(Text(visible(f"  {one.grader} {one.field}: no kappa: {one.kappa.reason}"), "dim"))


def short(one: Estimate, digits: int) -> str:
    """`0.97 [0.94, 0.99] n=12`; `–` where it is undefined."""
    if one.estimate is None:
        return "–"
    interval = "" if one.low is None or one.high is None else f" [{one.low:.{digits}f}, {one.high:.{digits}f}]"
    return f"{one.estimate:.{digits}f}{interval} n={one.n}"


def _print_table(console: Console, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table.grid(padding=(0, 2))
    for number, _ in enumerate(columns):
        table.add_column(justify="right" if number else "left", overflow="fold")
    table.add_row(*(Text(name, "bold") for name in columns))
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console.print(table)


def import_lines(found: Imported) -> list[str]:
    """What came of a file of labels."""
    lines = [f"{counted(found.rows, 'label')}: {found.written} recorded, {found.already} known already"]
    counting = "1 of them counts as an answer" if found.counted == 1 else f"{found.counted} of them count as answers"
    lines += [counting if found.written else "nothing was new"]
    lines += [f"{found.extra} came late: kept as extra"] if found.extra else []
    lines += [f"{found.not_blind} not blind: kept, but without a say"] if found.not_blind else []
    return lines + ([f"{counted(found.decided, 'item')} complete by this"] if found.decided else [])

"""What was said about a review item: after the answer, before a sign-off, and everything in the order of the record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from rightcall.report.one import STYLES
from rightcall.report.plain import moment, visible
from rightcall.report.review.queue import age
from rightcall.report.review.screen import print_earlier, print_item, said_by, written
from rightcall.report.review.values import print_rows
from rightcall.review.forms import stored_form
from rightcall.store.records import (
    AnswerRecord,
    ConsensusRecord,
    ReviewEvent,
    ReviewRecord,
    SignoffRecord,
    short_item,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from rich.console import Console

    from rightcall.report.review.values import Row
    from rightcall.review.form import Form
    from rightcall.run.people.revealing import Opened, OtherAnswer, Revealed
    from rightcall.run.people.signing import Signed, ToSign
    from rightcall.store.records import Record

BLIND = "[blind: why it is here, who acted and what was said about it are shown after the answer]"

# ---- before the answer -----------------------------------------------------------------------------------------------


def title(opened: Opened, waited: str) -> str:
    """What a reviewer reads first: the item, how many answers it has, until when it is theirs."""
    held = "not yours" if opened.until is None else f"yours until {clock(opened.until)}"
    kind = " · you decide between answers" if opened.adjudicates else ""
    counts = f"{opened.answered} of {opened.needed} answers"
    return f"{short_item(opened.item)}  {opened.grader} · waiting {waited} · {counts} · {held}{kind}"


def print_opened(console: Console, opened: Opened, now: datetime, *, answered: bool = False) -> None:
    """Print an item for somebody who answers it by another command.

    Args:
        console: where to.
        opened: the item.
        now: this moment.
        answered: whether this person has answered it already; then no form is shown.
    """
    console.print(Text(visible(title(opened, age(opened.created_at, now))), "bold"))
    if not answered:
        console.print(Text(BLIND, "dim"))
    print_item(console, opened.view)
    print_earlier(console, opened.view, opened.form)
    if not answered:
        _print_form(console, opened)


def _print_form(console: Console, opened: Opened) -> None:
    form = opened.form
    console.print(Text(visible(form.instructions), "bold"))
    rows: list[Row] = []
    for one in form.fields:
        choices = " ".join(written(choice) if choice is not None else "null" for choice in one.choices)
        marks = [mark for mark, holds in (("several", one.many), ("optional", one.optional)) if holds]
        rows.append((one.name, " · ".join(part for part in (choices or "text", *marks, one.help) if part), ""))
    print_rows(console, rows)
    needed = ", ".join(f"{name} {wanted}" for name, wanted in form.note_for)
    short = short_item(opened.item)
    first = form.fields[0].name
    console.print(Text(f"a note is required for {needed}" if needed else "a note is optional", "dim"))
    console.print(Text(visible(f"answer: rightcall review answer {short} --field {first}=… --note …"), "dim"))


def clock(at: str) -> str:
    """The time of day, to the minute, in UTC."""
    return f"{at[11:16]} UTC"


# ---- after the answer ------------------------------------------------------------------------------------------------


def print_revealed(console: Console, found: Revealed, form: Form) -> None:
    """Print an answer with what may stand beside it: what the judge said, who acted, what others said.

    Args:
        console: where to.
        found: the answer and the rest.
        form: the form as it was filled in.
    """
    own = stored_form(form)
    if found.seq is None:
        console.print(Text(visible(f"your {found.kind}, with what was said beside it"), "bold"))
    else:
        entry = f"entry {found.seq:,} · chain {(found.hash or '')[:4]}…"
        console.print(Text(visible(f"recorded: {short_item(found.item)} {found.kind} · {entry}"), "bold"))
    if found.extra:
        late = "it came late: kept as extra, it decides nothing"
        console.print(Text(late, "yellow"))
    print_rows(console, _revealed(found, own))
    console.print(Text(visible(found.words), "bold"))
    console.print(Text(_standing(found), "dim"))


def _revealed(found: Revealed, form: Form) -> Iterator[Row]:
    yield "you", said_by(form, found.fields, found.unsure), ""
    if found.judge:
        yield "judge", said_by(form, found.judge), ""
    if found.verdict and found.verdict != found.judge:
        yield "verdict", said_by(form, found.verdict) + (f" (by {found.decided_by})" if found.decided_by else ""), ""
    if found.status is not None and found.status != "EVALUATED":
        yield "verdict", f"none: {found.reason}", "yellow"
    for one in found.reasons:
        yield "why here", f"{one.reason}: {one.detail}" if one.detail else one.reason, STYLES.get(one.reason, "")
    if found.agents is not None and found.sides is not None:
        for side in ("left", "right"):
            yield side, f"{found.sides[side]}, which is {found.agents[found.sides[side]]}", ""
    if found.agent:
        yield "agent", " ".join(found.agent.values()), ""
    if found.judges:
        yield "judges", ", ".join(found.judges), "dim"
    yield from _others(found.others, form)
    if found.consensus is not None:
        yield "together", said_by(form, found.consensus), "bold"


def _others(others: Sequence[OtherAnswer], form: Form) -> Iterator[Row]:
    for one in others:
        kind = "" if one.kind == "answer" else f" ({one.kind})"
        note = f" · note: {one.note}" if one.note else ""
        extra = " · extra" if one.extra else ""
        yield one.who, said_by(form, one.fields, one.unsure) + note + kind + extra, ""


def _standing(found: Revealed) -> str:
    short = short_item(found.item)
    other = "nothing is settled: another" if found.answered < 2 else "the answers differ: a third"
    words = {
        "signoff": f"the answers are complete: it waits for a sign-off (rightcall signoff {short})",
        "adjudication": f"{other} person decides",
        "done": "the item is done",
    }
    missing = found.needed - found.answered
    return words.get(found.state, f"other answers: {missing} of {found.needed} still wait for different people")


# ---- history ---------------------------------------------------------------------------------------------------------


def history_rows(history: Sequence[tuple[int, Record]], form: Form | None) -> list[dict[str, Any]]:
    """What happened to an item as plain values, oldest first.

    Args:
        history: (log entry, record).
        form: the form as answers stand on record; `None`: whoever reads this is still blind, so that only who did
            what and when is told, and nothing that was said.
    """
    return [_told(seq, record, form) for seq, record in history]


def print_history(console: Console, rows: Sequence[dict[str, Any]]) -> None:
    """Print what happened to an item, a line each, with log entries."""
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="dim", no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold", ratio=1)
    for row in rows:
        client = f" ({row['client']})" if row.get("client") else ""
        said = f": {row['said']}" if row.get("said") else ""
        who = f"{row['who']}{client} " if row.get("who") else ""
        table.add_row(str(row["entry"]), moment(row["at"]), Text(visible(f"{who}{row['act']}{said}")))
    if rows:
        console.print(table)


def _told(seq: int, record: Record, form: Form | None) -> dict[str, Any]:
    row: dict[str, Any] = {"entry": seq}
    if isinstance(record, ReviewRecord):
        why = "" if form is None else str(record.reason)
        return row | {"at": record.created_at, "act": "put into the queue", "said": why}
    if isinstance(record, AnswerRecord):
        return row | _answer(record, form)
    if isinstance(record, ConsensusRecord):
        said = "" if form is None else f"{record.how}: {said_by(form, record.fields)}"
        return row | {"at": record.at, "act": "answers complete", "said": said}
    if isinstance(record, SignoffRecord):
        said = "" if form is None else f"{record.outcome}: {record.reason}"
        return row | {"at": record.at, "who": record.who, "client": record.client, "act": "signed", "said": said}
    if isinstance(record, ReviewEvent):
        return row | _event(record, form)
    return row | {"at": "", "act": type(record).__name__, "said": ""}


def _answer(record: AnswerRecord, form: Form | None) -> dict[str, Any]:
    acts = {"answer": "answered", "amendment": "amended", "adjudication": "decided", "imported": "answered elsewhere"}
    marks = [] if record.blind or record.kind != "imported" else ["not blind"]
    marks += ["extra"] if record.extra else []
    act = acts[record.kind] + (f" ({', '.join(marks)})" if marks else "")
    said = "" if form is None else said_by(form, record.fields, record.unsure)
    said += f" · note: {record.note}" if form is not None and record.note else ""
    return {"at": record.at, "who": record.who, "client": record.client, "act": act, "said": said}


def _event(record: ReviewEvent, form: Form | None) -> dict[str, Any]:
    if record.act == "disagreement":
        return {"at": record.at, "act": "the answers differ", "said": "" if form is None else record.reason}
    until = f"until {clock(record.until)}" if record.until else ""
    said = until if form is None else " ".join(part for part in (until, record.reason) if part)
    return {"at": record.at, "who": record.who, "client": record.client, "act": record.act, "said": said}


# ---- sign-off --------------------------------------------------------------------------------------------------------


def print_to_sign(console: Console, found: ToSign, form: Form) -> None:
    """Print a CRITICAL item as a signer must see it: what happened, what was said, what each decision does."""
    own = stored_form(form)
    console.print(
        Text(visible(f"{short_item(found.item)}  {found.grader} · {found.unit} · run {found.run_id}"), "bold")
    )
    print_item(console, found.view)
    rows: list[Row] = [("judge", said_by(own, found.judge), "")] if found.judge else []
    rows += [("verdict", said_by(own, found.verdict), "")] if found.verdict and found.verdict != found.judge else []
    rows += _others(found.answers, own)
    rows += [("together", said_by(own, found.consensus), "bold")] if found.consensus is not None else []
    if found.signed is not None:
        by = f"{found.signed['outcome']} by {found.signed['who']} on {moment(found.signed['at'])}"
        rows.append(("signed", f"{by}: {found.signed['reason']}", "yellow"))
    print_rows(console, rows)
    for one in found.critical:
        console.print(Text(visible(f"CRITICAL: {one.detail or one.reason}"), "bold red"))
    for outcome, words in found.consequences.items():
        console.print(Text(f"{'confirm' if outcome == 'confirmed' else 'dismiss'}: {words}"))


def signed_text(found: Signed) -> str:
    """The receipt of a sign-off."""
    return visible(f"{found.outcome} · signed by {found.who} · entry {found.seq:,} · chain {found.hash[:4]}…")

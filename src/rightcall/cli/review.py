"""`rightcall review`: what waits for people, and the whole work of a reviewer without a browser.

Nothing here shows what a judge said about an item to somebody who has not answered it, unless that is asked for by
name (`list --details`) and said on the screen.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from rightcall.cli.people import AsFlag
from rightcall.cli.stores import ConfigFlag, JsonFlag, NoColor, StoreFlag, print_json

if TYPE_CHECKING:
    from rightcall.cli.answers import Given
    from rightcall.run.people.labels import LabelsRefused
    from rightcall.run.people.reviewing import Desk
    from rightcall.store.records import ReviewRecord
    from rightcall.store.waiting import Only, QueueItem

app = App(name="review")

Flag = Parameter(negative="", show_default=False)
ItemId = Annotated[str, Parameter(help="The item: rv-… or the first 4 or more of its digits.")]
RunFlag = Annotated[str | None, Parameter(help="Only of this run.")]
GraderFlag = Annotated[str | None, Parameter(help="Only of this grader.")]
ReasonFlag = Annotated[str | None, Parameter(help="Only for this reason: CRITICAL, unevaluable, …")]
ListState = Literal["open", "mine", "waiting", "held", "adjudication", "signoff", "done"]
_SHOWN_PROBLEMS = 20


@app.command
def next(  # noqa: A001 - the command's name
    *,
    as_: AsFlag = None,
    run: RunFlag = None,
    grader: GraderFlag = None,
    reason: ReasonFlag = None,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """Take the most urgent item, blind: on a terminal with its whole form, else printed for `review answer`.

    The item is yours for the time of the lease, which is renewed while you type. Leaves with 130 if you stop in the
    middle of an item.
    """
    from rightcall.cli.desks import desk, only
    from rightcall.cli.keyboard import is_terminal
    from rightcall.cli.screen import screen

    with desk(as_, store, config) as mine:
        wanted = only(mine.store, run, grader, reason)
        if json or not is_terminal():
            return _hand_out(mine, wanted, json=json, no_color=no_color)
        from rightcall.cli.review_work import work

        return work(mine, screen(no_color=no_color), wanted)


def _hand_out(mine: Desk, wanted: Only, *, json: bool, no_color: bool) -> int:
    """Take an item and print it, for whoever answers by another command."""
    from rightcall.cli.screen import screen
    from rightcall.report.review.said import print_opened

    opened = mine.next(wanted)
    if opened is None:
        why = mine.empty_reason(wanted)
        if json:
            print_json({"item": None, "empty": why})
        else:
            print(why.words)
    elif json:
        print_json(opened)
    else:
        print_opened(screen(no_color=no_color), opened, mine.clock())
    return 0


@app.command(name="list")
def list_(
    *,
    state: Annotated[
        ListState, Parameter(help="open: all that is not done; mine: what you hold; or one state.")
    ] = "open",
    as_: AsFlag = None,
    run: RunFlag = None,
    grader: GraderFlag = None,
    reason: ReasonFlag = None,
    details: Annotated[bool, Flag, Parameter(help="What judges and code wrote, too. Not blind.")] = False,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """List the queue, most urgent first: why, which grader, answers given and needed, who holds it, how old it is."""
    from rightcall.cli.desks import desk, only
    from rightcall.cli.screen import screen
    from rightcall.report.review.queue import print_counts, print_queue, queue_rows
    from rightcall.store.waiting import ANY

    with desk(as_, store, config) as mine:
        wanted, now = only(mine.store, run, grader, reason), mine.clock()
        everything = mine.store.queue.items(now=now)
        met = everything if wanted == ANY else mine.store.queue.items(wanted, now=now)
        items = [one for one in met if _is_in(one, state, mine.who)]
        records = _records(mine, items) if details else None
        if json:
            print_json({"items": queue_rows(items, records)})
            return 0
        console = screen(no_color=no_color)
        print_counts(console, everything, mine.who, now)
        if items:
            print_queue(console, items, mine.who, now, records)
        else:
            print(_why_none(mine, wanted, state, len(everything)))
    return 0


def _is_in(one: QueueItem, state: ListState, who: str) -> bool:
    if state == "mine":
        return who in dict(one.holders)
    return one.state != "done" if state == "open" else one.state == state


def _records(mine: Desk, items: list[QueueItem]) -> dict[str, list[ReviewRecord]]:
    """The reasons of these items as they were recorded."""
    from rightcall.store.records import ReviewRecord

    return {
        one.item: [record for _, record in mine.store.queue.history(one.item) if isinstance(record, ReviewRecord)]
        for one in items
    }


def _why_none(mine: Desk, wanted: Only, state: ListState, everything: int) -> str:
    """Why nothing is listed."""
    if state == "mine":
        return "you hold no item: rightcall review next takes one"
    if state == "open":
        return mine.empty_reason(wanted).words
    hidden = f"; {everything} in all: --state open, done" if everything else ""
    return f"no item is in this state and meets the filters{hidden}"


@app.command
def show(
    item: ItemId,
    *,
    history: Annotated[bool, Flag, Parameter(help="Who did what with it, and when, in place of the item.")] = False,
    as_: AsFlag = None,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """Show an item without taking it: blind until you have answered it, then with everything that was said."""
    from rightcall.cli.desks import desk
    from rightcall.cli.screen import screen
    from rightcall.report.review.said import history_rows, print_history, print_opened, print_revealed
    from rightcall.review.forms import stored_form

    with desk(as_, store, config) as mine:
        opened = mine.open(item)
        found = mine.reveal(opened.item) if mine.has_answered(opened.item) else None
        told = history_rows(mine.history(opened.item), None if found is None else stored_form(opened.form))
        if json:
            print_json({"opened": opened, "revealed": found, "history": told})
            return 0
        console = screen(no_color=no_color)
        if not history:
            print_opened(console, opened, mine.clock(), answered=found is not None)
        if found is not None and not history:
            print_revealed(console, found, opened.form)
        if history or found is not None:
            print_history(console, told)
        if found is None:
            print("blind: what was said about it is shown once you have answered it", file=sys.stderr)
    return 0


@app.command
def answer(
    item: ItemId,
    *,
    field: Annotated[tuple[str, ...], Flag, Parameter(help="One field: name=value. Once for each.")] = (),
    note: Annotated[str, Parameter(show_default=False, help="In your words; some answers need one.")] = "",
    evidence: Annotated[tuple[str, ...], Flag, Parameter(help="A call that it rests on: c2, left:c1.")] = (),
    unsure: Annotated[str | None, Parameter(help="Why you cannot judge it, in place of fields.")] = None,
    file: Annotated[
        Path | None, Parameter(help="A JSON file with fields, note, evidence, unsure, seconds; - for stdin.")
    ] = None,
    amend: Annotated[
        bool, Flag, Parameter(help="Change your earlier answer: a second one, not blind. The note says why.")
    ] = False,
    as_: AsFlag = None,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """Commit an answer in one command, by flags or as JSON; then print what the judge said. Nothing is coerced.

    Leaves with 2 and records nothing if anything is missing or wrong; all of it is listed.
    """
    from rightcall.cli.answers import given
    from rightcall.cli.desks import desk
    from rightcall.cli.screen import screen
    from rightcall.report.review.said import print_revealed

    with desk(as_, store, config) as mine:
        opened = mine.open(item)
        said: Given = given(opened.form, field, note, evidence, unsure, file)
        if amend:
            found = mine.amend(opened.item, said.fields, note=said.note, evidence=said.evidence, unsure=said.unsure)
        else:
            found = mine.answer(
                opened.item, said.fields, note=said.note, evidence=said.evidence, unsure=said.unsure,
                seconds=said.seconds,
            )  # fmt: skip
        if json:
            print_json(found)
        else:
            print_revealed(screen(no_color=no_color), found, opened.form)
    return 0


@app.command
def release(
    item: ItemId,
    *,
    reason: Annotated[str, Parameter(show_default=False, help="Why.")] = "",
    skip: Annotated[bool, Flag, Parameter(help="It comes last for you from now on. Needs a reason.")] = False,
    as_: AsFlag = None,
    store: StoreFlag = None,
    config: ConfigFlag = None,
) -> int:
    """Give an item back that you hold, so that others can take it."""
    from rightcall.cli.desks import desk
    from rightcall.store.records import short_item

    with desk(as_, store, config) as mine:
        full = mine.store.queue.item(item, mine.clock()).item
        if skip:
            mine.skip(full, reason)
        else:
            mine.release(full, reason)
        print(f"{'skipped' if skip else 'released'}: {short_item(full)} is free for others")
    return 0


@app.command
def stats(
    *,
    as_: AsFlag = None,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """Say what waits and what is done, who answered how much and how fast, and how far people agree with each other."""
    from rightcall.cli.desks import desk
    from rightcall.cli.screen import screen
    from rightcall.report.review.queue import print_stats

    with desk(as_, store, config) as mine:
        found = mine.stats()
        if json:
            print_json(found)
        else:
            print_stats(screen(no_color=no_color), found, mine.clock())
    return 0


@app.command(name="import")
def import_(
    file: Annotated[Path, Parameter(help="Labels: .jsonl, .json or .csv.")],
    *,
    as_: AsFlag = None,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
) -> int:
    """Take answers that people gave elsewhere: who, when, blind or not. The whole file, or nothing of it."""
    from rightcall.cli.desks import desk
    from rightcall.errors import ConfigError
    from rightcall.report.review.queue import import_lines
    from rightcall.run.people.labels import LabelsRefused

    with desk(as_, store, config) as mine:
        try:
            found = mine.import_labels(file)
        except LabelsRefused as error:
            _say_problems(error)
            raise ConfigError(error.message, place=error.place, hint=error.hint) from None
    if json:
        print_json(found)
    else:
        print("\n".join(import_lines(found)))
    return 0


def _say_problems(error: LabelsRefused) -> None:
    """Print what is wrong with each row, without secrets that stand in it."""
    from rightcall.report.plain import visible
    from rightcall.trace.redact import Redactor, load_key

    hide = Redactor(key=load_key(os.environ, None))
    for one in error.problems[:_SHOWN_PROBLEMS]:
        print(visible(f"line {one.line}: {hide.text(one.message)}"), file=sys.stderr)
    if len(error.problems) > _SHOWN_PROBLEMS:
        print(f"… {len(error.problems) - _SHOWN_PROBLEMS} more", file=sys.stderr)

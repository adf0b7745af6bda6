"""A reviewer at the keyboard: one item after the other, blind until the answer is committed."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from rightcall.cli.asking import Asking
from rightcall.cli.keyboard import Keyboard
from rightcall.cli.paging import page
from rightcall.errors import RightcallError
from rightcall.report.plain import visible
from rightcall.report.review.queue import age
from rightcall.report.review.said import BLIND, clock, print_revealed, title
from rightcall.report.review.screen import cited_ids, print_earlier, print_item, print_part
from rightcall.store.records import short_item

if TYPE_CHECKING:
    from rich.console import Console

    from rightcall.cli.asking import Draft
    from rightcall.run.people.revealing import Opened
    from rightcall.run.people.reviewing import Desk
    from rightcall.store.waiting import Only


def work(desk: Desk, console: Console, only: Only) -> int:
    """Hand out items until the person has had enough or nothing is left.

    Returns:
        0, or 130 where the person left in the middle of an item.
    """
    while (opened := desk.next(only)) is not None:
        turn = _Turn(desk, console, opened)
        try:
            if not turn.take():
                return 0
        except (EOFError, KeyboardInterrupt):
            return turn.stopped()
    print(visible(desk.empty_reason(only).words))
    return 0


class _Turn:
    """One item from being handed out to what is done next."""

    def __init__(self, desk: Desk, console: Console, opened: Opened) -> None:
        """Keep the claim alive from now on."""
        self.desk, self.console, self.opened = desk, console, opened
        self.until, self.is_over, self.is_lost = opened.until, False, False
        self.keys = Keyboard(self._renew, desk.rules.lease_minutes * 60 / 3)
        self.started = time.monotonic()

    def take(self) -> bool:
        """Show the item, ask, commit, show what may be seen then; whether the person wants another one."""
        print(visible(title(self.opened, age(self.opened.created_at, self.desk.clock()))))
        print(BLIND)
        page(self.console, self.keys, self._draw)
        draft = Asking(self.opened.form, self.keys.line, self._view, cited_ids(self.opened.view)).answer()
        if draft.act == "released":
            self.desk.release(self.opened.item, draft.reason)
            print(f"released: {short_item(self.opened.item)} is free for others")
            return False
        if draft.act == "skipped":
            self.desk.skip(self.opened.item, draft.reason)
            self.is_over = True
            print(f"skipped: {short_item(self.opened.item)} comes last for you")
            return self._goes_on()
        self._commit(draft)
        return self._goes_on(draft)

    def stopped(self) -> int:
        """Say what stands when a person leaves; nothing is given back silently."""
        print(file=sys.stderr)
        if self.is_over or self.until is None or self.desk.has_answered(self.opened.item):
            print("stopped; what you have answered is recorded", file=sys.stderr)
        else:
            short = short_item(self.opened.item)
            print(
                f"stopped: nothing was recorded; {short} stays yours until {clock(self.until)} "
                f"(rightcall review next goes on, rightcall review release {short} gives it back)",
                file=sys.stderr,
            )
        print("exit 130", file=sys.stderr)
        return 130

    # ---- the answer ----

    def _commit(self, draft: Draft) -> None:
        """Record the answer.

        Raises:
            RightcallError: it cannot be; what was typed stands on the screen.
        """
        try:
            found = self.desk.answer(
                self.opened.item, draft.fields, note=draft.note, evidence=draft.evidence, unsure=draft.unsure,
                seconds=round(time.monotonic() - self.started, 1),
            )  # fmt: skip
        except RightcallError:
            print("nothing was recorded; what you typed stands above")
            raise
        self.is_over = True
        print_revealed(self.console, found, self.opened.form)

    def _goes_on(self, draft: Draft | None = None) -> bool:
        """Ask whether the person wants the next item, or to amend this answer."""
        amend = ", a: amend this answer" if draft is not None else ""
        while True:
            typed = self.keys.line(f"next? [Y/n{amend}] ").lower()
            if typed in {"", "y", "yes"}:
                return True
            if typed in {"n", "no"}:
                return False
            if typed in {"a", "amend"} and draft is not None:
                draft = self._amend(draft)

    def _amend(self, draft: Draft) -> Draft:
        """Ask again, starting from the answer; it is recorded as a second one, which is not blind."""
        print("an amendment is kept as a second answer, not blind; the first one stays. The note says why.")
        asking = Asking(self.opened.form, self.keys.line, self._view, cited_ids(self.opened.view))
        asking.draft.fields, asking.draft.evidence = dict(draft.fields), list(draft.evidence)
        changed = asking.answer()
        if changed.act != "answer":
            print("not amended")
            return draft
        while not changed.note:
            changed.note = self.keys.line("why is it changed? ")
        found = self.desk.amend(
            self.opened.item, changed.fields, note=changed.note, evidence=changed.evidence, unsure=changed.unsure
        )
        print_revealed(self.console, found, self.opened.form)
        return changed

    # ---- the screen and the claim ----

    def _draw(self) -> None:
        print_item(self.console, self.opened.view)
        print_earlier(self.console, self.opened.view, self.opened.form)

    def _view(self, part: str) -> None:
        draw = (lambda: print_part(self.console, self.opened.view, part)) if part else self._draw
        page(self.console, self.keys, draw)

    def _renew(self) -> None:
        """Hold the item for longer; where that does not work, the answer is kept as extra at the worst."""
        if self.is_over:
            return
        try:
            self.until = self.desk.renew(self.opened.item)
        except RightcallError as error:
            if not self.is_lost:
                print(f"\n(the claim could not be renewed: {visible(error.message)}; go on, your answer will be kept)")
            self.is_lost = True

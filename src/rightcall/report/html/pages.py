"""The failures of an HTML report: counted first, then written in pages of 50 until the file's room is used.

Two passes over a stream, so that nothing grows with its length: the first counts them and finds those that flipped, the
second writes. Each grader gets an equal share of the room, and what one leaves goes to the next. The first page of a
grader shows every failure with its call diff; later pages are rows. What finds no room is counted by kind.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from rightcall.report.html.numbers import whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markupsafe import Markup

    from rightcall.report.html.room import Room
    from rightcall.report.view.model import CaseView, ReportView

PAGE = 50
CHAPTER = 20
"""Pages that are put together under one heading."""

OPEN_CARDS = 3
"""Failures of a grader that are open when the report is."""

MOST_KINDS, MOST_FLIPS, MOST_OF_A_FLIP = 100, 40, 3
OTHERS = "other kinds"


@dataclass(frozen=True, slots=True)
class Numbered:
    """A failure with its number in the report, which its anchor is named for."""

    number: int
    case: CaseView


@dataclass(slots=True)
class Failures:
    """What a first look over all failures finds.

    Attributes:
        kinds: grader -> (outcome, kind) -> how many.
        flipped: grader and case -> failures of cases that passed in the baseline.
    """

    kinds: dict[str, Counter[tuple[str, str]]] = field(default_factory=dict)
    flipped: dict[tuple[str, str], list[Numbered]] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """How many there are."""
        return sum(map(self.of, self.kinds))

    def of(self, grader: str) -> int:
        """How many a grader has."""
        return self.kinds[grader].total()


def failures_of(view: ReportView) -> Failures:
    """Count the failures and keep those that flipped to bad, as many as are shown."""
    found = Failures()
    diff = view.gate.diff if view.gate else None
    # Flips that turned bad come first, so the first `lost` of them are those.
    turned = [(flip.grader, flip.case) for one in (diff.graders if diff else ()) for flip in one.flips[: one.lost]]
    wanted = set(turned)
    kept = 0
    for number, case in enumerate(view.failures(), 1):
        kinds = found.kinds.setdefault(case.grader, Counter())
        kind = (case.outcome, case.kind)
        kinds[kind if kind in kinds or len(kinds) < MOST_KINDS else (case.outcome, OTHERS)] += 1
        key = (case.grader, case.case_id or case.unit)
        if key in wanted and kept < MOST_FLIPS and len(found.flipped.get(key, ())) < MOST_OF_A_FLIP:
            found.flipped.setdefault(key, []).append(Numbered(number, case))
            kept += 1
    return found


class Pages:
    """Writes the failures as pieces of HTML, as many as there is room for.

    Args:
        view: the report. failures: what the first look found. room: what is left of the file.
        macros: the templates `card`, `rows`, `page_head` … of `cases.html.j2`.
    """

    def __init__(self, view: ReportView, failures: Failures, room: Room, macros: Any) -> None:
        self._view = view
        self._found = failures
        self._room = room
        self._macros = macros
        self._above = {item.number for some in failures.flipped.values() for item in some}

    def __iter__(self) -> Iterator[Markup]:
        """The pieces, in order; each is written before the next is made."""
        numbered = (Numbered(number, case) for number, case in enumerate(self._view.failures(), 1))
        graders = len(self._found.kinds)
        for place, (grader, some) in enumerate(groupby(numbered, key=lambda item: item.case.grader)):
            share = self._room.left // max(1, graders - place)
            yield from self._grader(grader, some, share)

    def _grader(self, grader: str, failures: Iterator[Numbered], share: int) -> Iterator[Markup]:
        budget = _Budget(share)
        first = next(failures)
        head = self._macros.grader_head(grader, self._found.kinds[grader], self._found.of(grader), first.case.next)
        yield budget.spent(head)
        yield from self._first_page([first, *islice(failures, PAGE - 1)], budget)
        yield from self._later_pages(failures, budget, self._found.of(grader) - PAGE)
        yield self._macros.grader_tail()

    def _later_pages(self, failures: Iterator[Numbered], budget: _Budget, remaining: int) -> Iterator[Markup]:
        """Rows, 50 a page, as long as there is room; 20 pages are a chapter."""
        number, chapters = 0, remaining > CHAPTER * PAGE
        while page := list(islice(failures, PAGE)):
            piece = self._macros.page(page, _kinds(page))
            place = number % CHAPTER
            if chapters and not place:
                piece = (
                    self._macros.chapter_head(page[0].number, min(CHAPTER * PAGE, remaining - number * PAGE)) + piece
                )
            fits = budget.holds(piece)
            if chapters and place and not fits:
                yield self._macros.chapter_tail()
            if not fits:
                yield self._left_out(page, failures)
                return
            yield budget.spent(piece)
            number += 1
            if chapters and place == CHAPTER - 1:
                yield self._macros.chapter_tail()
        if chapters and number % CHAPTER:
            yield self._macros.chapter_tail()

    def _first_page(self, page: list[Numbered], budget: _Budget) -> Iterator[Markup]:
        """Failures with everything that is known, while they take no more than half of the share."""
        yield budget.spent(self._macros.first_page_head(page, _kinds(page)))
        short: list[Numbered] = []
        room = True
        for place, item in enumerate(page):
            if room and item.number not in self._above:
                piece = self._macros.card(item.case, item.number, opened=place < OPEN_CARDS)
                room = budget.holds(piece, half=True)
                if room:
                    yield budget.spent(piece)
                    continue
            short.append(item)
        if short:
            yield budget.spent(self._macros.rows(short, self._above))
        yield budget.spent(self._macros.page_tail())

    def _left_out(self, page: list[Numbered], rest: Iterator[Numbered]) -> Markup:
        """The note on everything that found no room."""
        kinds = Counter(_kind(item.case) for item in page)
        for item in rest:
            kind = _kind(item.case)
            kinds[kind if kind in kinds or len(kinds) < MOST_KINDS else OTHERS] += 1
        piece: Markup = self._macros.left_out(kinds.total(), kinds.most_common(20), max(0, len(kinds) - 20))
        return piece


class _Budget:
    """What a grader may still write."""

    def __init__(self, share: int) -> None:
        self._share = share
        self._used = 0

    def holds(self, piece: str, *, half: bool = False) -> bool:
        """Is there room for it, or in the half that call diffs may take?"""
        return self._used + len(piece.encode()) <= (self._share // 2 if half else self._share)

    def spent(self, piece: Markup) -> Markup:
        """Count a piece that is written."""
        self._used += len(piece.encode())
        return piece


def _kind(case: CaseView) -> str:
    return case.kind or case.verdict or case.outcome


def _kinds(page: list[Numbered]) -> str:
    """What a page holds, the most frequent first."""
    kinds = Counter(_kind(item.case) for item in page).most_common()
    words = [f"{kind[:40]} {whole(count)}" for kind, count in kinds[:4]]
    return ", ".join(words) + (f" and {len(kinds) - 4} more kinds" if len(kinds) > 4 else "")

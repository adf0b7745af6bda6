"""Labels: answers of people as rows, out of the store and into it.

A file of labels is JSON Lines (`.jsonl`, `.ndjson`), a JSON array (`.json`) or a table (`.csv`, UTF-8, with a header).
Each row is one answer:

* which item: `item` (an id or its beginning), or `run` and `unit`, or `run` with any of `trace_id`, `case_id` and
  `step_id` that name one item of that run; `grader` where a run has several. Only what is in the queue can be answered.
* `who` gave it, `at` what moment (ISO 8601 with a zone), and whether it was `blind` (true or false): given without
  sight of any verdict, score or other answer. None of the three is ever assumed.
* the answer: `fields` as an object in JSON, or one column `field.NAME` each; in a table a value as it is written or by
  its key, `null` for *not at issue* and the like, `[]` for an empty list. Of a pair by agent: `A`, `B`, `TIE`.
* or `unsure`: why it could not be judged. Then there are no fields.
* `note`, `evidence` (a list; in a table separated by `;`) and `seconds`, all optional.
* `verdict`: the digest of the verdict that stood when the person was asked; left out, it is the one that stands now.

Of two blind answers of one person to an item, the file must say of the later one that it is `extra`. The other columns
of our own export are ignored. Everything that is wrong with any row is listed with its line, and
then nothing of the file is taken. Taking a file twice is harmless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import msgspec
from msgspec import Struct

from rightcall.errors import ConfigError, Place, StoreError
from rightcall.review.consensus import counts, decide
from rightcall.review.form import faults_of, read_typed, with_texts
from rightcall.review.forms import FORMS, stored_form
from rightcall.run.people.blinding import stood_at, unit_of
from rightcall.run.people.label_files import Cells, Problem, read_rows
from rightcall.store.records import AnswerRecord, VerdictRecord
from rightcall.store.waiting import Only, milliseconds, named, read_moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from rightcall.review.consensus import Decision
    from rightcall.review.form import Form
    from rightcall.store.store import Store
    from rightcall.store.waiting import QueueItem

    FormOf = Callable[[QueueItem], Form]

_IDS = ("trace_id", "case_id", "step_id")
_AHEAD = 24 * 3600 * 1000
"""Milliseconds by which a label's clock may be ahead of this one."""


class LabelsRefused(ConfigError):
    """A file of labels of which nothing was taken; `problems` lists everything that is wrong with it."""

    problems: tuple[Problem, ...] = ()

    @classmethod
    def because(cls, file: Path, problems: Sequence[Problem]) -> Self:
        """Say the first problem, and how many there are."""
        first = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        found = cls(
            f"{first.message}{more}", place=Place(str(file), first.line), hint="nothing was taken; correct the file"
        )
        found.problems = tuple(problems)
        return found


class Imported(Struct, frozen=True, kw_only=True):
    """What came of a file of labels.

    Attributes:
        rows: how many it has.
        written: how many were recorded now; `already`: how many were there.
        counted: how many of the recorded ones are answers that an item needs; `extra`: how many came late.
        not_blind: how many of the recorded ones were given in sight of a verdict, and only stand there.
        decided: how many items had all their answers by this.
    """

    rows: int
    written: int
    already: int
    counted: int
    extra: int
    not_blind: int
    decided: int


# ---- in ----


def import_labels(
    store: Store, path: Path, form_of: FormOf, now: datetime, hide: Callable[[str], str] = str
) -> Imported:
    """Take answers that were given elsewhere: all of a file, or nothing of it.

    Args:
        store: the record.
        path: the file.
        form_of: the form of an item.
        now: this moment.
        hide: takes out of people's words what must not be kept.

    Raises:
        LabelsRefused: a `ConfigError` with every row that cannot be taken. ConfigError: the file cannot be read.
    """
    rows, problems = read_rows(path)
    reading = _Reading(store, form_of, hide, now)
    for line, cells in rows:
        problems += [Problem(line, message) for message in reading.take(cells, line)]
    if problems:
        raise LabelsRefused.because(path, sorted(problems, key=lambda one: one.line))
    digests = dict.fromkeys(store.queue.imported(reading.records, now))
    fresh = [one for one in digests if one not in reading.known()]
    items = {record.item for record in reading.records}
    said = {digest: one for item in items for _, digest, one in store.queue.answers(item=item) if digest in digests}
    written = [said[one] for one in fresh]
    decided = settle(store, form_of, now) if fresh else 0
    return Imported(
        rows=len(rows), written=len(fresh), already=len(rows) - len(fresh), counted=sum(map(counts, written)),
        extra=sum(one.extra for one in written), not_blind=sum(not one.blind for one in written), decided=decided,
    )  # fmt: skip


def settle(store: Store, form_of: FormOf, now: datetime) -> int:
    """Decide every item that has all its answers and no decision, as after an import; how many there were."""
    # Looked up before: under the write lock nothing else is read.
    items = (item for item in store.queue.items() if item.grader not in FORMS)
    forms = {item.run_id: form_of(item) for item in items}

    def decided(heard: list[AnswerRecord]) -> Decision:
        return decide(heard[-1].grader, heard, 1, forms.get(heard[-1].run_id))

    return store.queue.settle(decided, now)


class _Reading:
    """Rows on their way to records; it keeps what it has looked up."""

    def __init__(self, store: Store, form_of: FormOf, hide: Callable[[str], str], now: datetime) -> None:
        self.records: list[AnswerRecord] = []
        self._latest = milliseconds(now) + _AHEAD
        self._store, self._form_of, self._hide = store, form_of, hide
        self._runs: dict[str, list[QueueItem]] = {}
        self._said: dict[str, list[AnswerRecord]] = {}
        self._digests: dict[str, list[str]] = {}
        self._lines: dict[tuple[str, str], int] = {}

    def take(self, cells: Cells, line: int) -> Iterator[str]:
        """Make a record of a row; everything that is wrong with it."""
        try:
            item = self._item(cells)
        except (ConfigError, StoreError) as error:
            yield error.message
            item = None
        faults = list(self._who_and_when(cells))
        if item is not None:
            fields, wrong = self._fields(cells, stored_form(self._form_of(item)))
            faults += wrong
            faults += self._verdict_faults(cells, item)
            if not faults:
                faults += self._keep(self._record(cells, item, fields), line, is_extra=cells.flag("extra") is True)
        yield from faults

    def known(self) -> set[str]:
        """Digests of everything that was on record about these items before."""
        return {digest for digests in self._digests.values() for digest in digests}

    # ---- which item ----

    def _item(self, cells: Cells) -> QueueItem:
        given = cells.text("item")
        if given is not None:
            return self._store.queue.item(given)
        run = cells.text("run") or cells.text("run_id")
        if run is None:
            raise ConfigError("it does not say which item: `item`, or `run` with `unit` or an id")
        items, grader = self._of_run(run), cells.text("grader")
        unit = cells.text("unit")
        if unit is not None:
            found = [one for one in items if one.unit == unit and grader in (None, one.grader)]
            named_so = f"unit `{unit}`"
        else:
            ids = {name: cells.text(name) for name in _IDS if cells.text(name) is not None}
            if not ids:
                raise ConfigError("beside `run` it names no `unit`, `trace_id`, `case_id` or `step_id`")
            found = [
                one
                for one in items
                if grader in (None, one.grader) and all(getattr(one, name) == value for name, value in ids.items())
            ]
            named_so = ", ".join(f"{name} `{value}`" for name, value in ids.items())
        if len(found) != 1:
            raise ConfigError(
                f"{len(found) or 'no'} review item{'s' if len(found) > 1 else ''} of run {run} with {named_so}"
            )
        return found[0]

    def _of_run(self, run: str) -> list[QueueItem]:
        if run not in self._runs:
            self._store.run(run)
            self._runs[run] = self._store.queue.items(Only(run_id=run))
        return self._runs[run]

    # ---- what was said ----

    def _who_and_when(self, cells: Cells) -> Iterator[str]:
        who = cells.text("who")
        if who is None:
            yield "`who` is missing"
        else:
            try:
                named(who)
            except ConfigError as error:
                yield f"`who`: {error.message}"
        yield from cells.faults()
        at = read_moment(cells.text("at") or "")
        if at is not None and at > self._latest:
            yield f"`at` lies in the future: `{cells.text('at')}`"

    def _fields(self, cells: Cells, form: Form) -> tuple[dict[str, Any], list[str]]:
        fields: dict[str, Any]
        # A note that a form asks for may be missing elsewhere: what is said there is said.
        note, unsure = cells.text("note") or "(none)", cells.text("unsure")
        if cells.is_table:
            try:
                fields = read_typed(form, cells.fields(), unsure=unsure, note=note)
            except ConfigError as error:
                return {}, [error.message]
        else:
            fields = cells.fields()
        faults = list(faults_of(form, fields, unsure=unsure, note=note))
        kept = {name: value for name, value in fields.items() if _is_said(form, name, value)}
        return with_texts(form, kept, self._hide), faults

    def _verdict_faults(self, cells: Cells, item: QueueItem) -> Iterator[str]:
        wanted = cells.text("verdict")
        if wanted is None:
            return
        from rightcall.run.people.revealing import verdict_of

        try:
            verdict_of(self._store, item, wanted)
        except StoreError as error:
            yield f"{error.message}; without `verdict` the one that stands is meant"

    def _record(self, cells: Cells, item: QueueItem, fields: dict[str, Any]) -> AnswerRecord:
        verdict, unsure = cells.text("verdict"), cells.text("unsure")
        if verdict is None and (current := stood_at(self._store, unit_of(item))) is not None:
            verdict = current[0]
        return AnswerRecord(
            item=item.item, run_id=item.run_id, grader=item.grader, unit=item.unit, who=cells.text("who") or "",
            at=cells.text("at") or "", kind="imported", blind=cells.flag("blind") is True, fields=fields,
            unsure=None if unsure is None else self._hide(unsure), note=self._hide(cells.text("note") or ""),
            evidence=tuple(map(self._hide, cells.evidence())), verdict=verdict,
            seconds=cells.number("seconds"), probability=item.probability, reasons=item.reasons, client="import",
            case_id=item.case_id, trace_id=item.trace_id, step_id=item.step_id,
        )  # fmt: skip

    def _keep(self, record: AnswerRecord, line: int, *, is_extra: bool) -> Iterator[str]:
        """Keep a record, unless the store has it already, or another row says something else for the same person.

        A row that is called extra may: where it comes from, it came after the other one, and had no say.
        """
        if record.item not in self._said:
            there = [(digest, one) for _, digest, one in self._store.queue.answers(item=record.item)]
            self._said[record.item] = [one for _, one in there]
            self._digests[record.item] = [digest for digest, _ in there]
        if any(_is_the_same(one, record) for one in self._said[record.item]):
            return
        if record.blind:
            key = (record.item, record.who)
            first = self._lines.setdefault(key, line)
            if first != line and not is_extra:
                yield f"`{record.who}` gives a second blind answer to the item of line {first}"
                return
        self.records.append(record)


def _is_said(form: Form, name: str, value: Any) -> bool:
    field = form.field(name)
    return field is None or value is not None or None in field.choices


def _is_the_same(known: AnswerRecord, record: AnswerRecord) -> bool:
    """Whether the store has an answer already: the same person at the same moment saying the same."""
    mine = (record.who, record.at, record.fields, record.unsure)
    return (known.who, known.at, known.fields, known.unsure) == mine


# ---- out ----


def label_rows(store: Store, run: str | None = None) -> Iterator[dict[str, Any]]:
    """Every answer of a run, or of all runs, as a row, oldest first.

    A row holds the item and what it is about, who answered when and how (`kind`, `blind`, `extra`), the answer by field
    (`fields`), why and how likely the item was in the queue, and beside that what the verdict said to which the answer
    belongs: its digest (`verdict`), the verdict that counts by field (`judged`), and what the judge said by itself
    (`judge`). `consensus` is what all answers to the item come to; `None` while that is open.

    Raises:
        StoreError: there is no such run.
    """
    from rightcall.review.beside import judge_fields, verdict_fields

    if run is not None:
        store.run(run)
    items: dict[str, tuple[QueueItem, dict[str, Any] | None]] = {}
    for seq, digest, answer, result in _with_results(store, store.queue.answers(run_id=run)):
        if answer.item not in items:
            agreed = store.queue.consensus(answer.item)
            items[answer.item] = (store.queue.item(answer.item), None if agreed is None else agreed.fields)
        item, consensus = items[answer.item]
        yield {
            "item": answer.item, "run": answer.run_id, "grader": answer.grader, "unit": answer.unit,
            "case_id": answer.case_id, "trace_id": answer.trace_id, "step_id": answer.step_id, "who": answer.who,
            "at": answer.at, "kind": answer.kind, "blind": answer.blind, "extra": answer.extra,
            "unsure": answer.unsure, "fields": answer.fields, "note": answer.note, "evidence": list(answer.evidence),
            "seconds": answer.seconds, "probability": answer.probability, "drawn": item.drawn,
            "reasons": list(answer.reasons), "seed": answer.seed, "client": answer.client,
            "replaces": answer.replaces, "answer": digest, "entry": seq, "verdict": answer.verdict,
            "judged": verdict_fields(answer.grader, result), "judge": judge_fields(answer.grader, result),
            "consensus": consensus,
        }  # fmt: skip


def _with_results(
    store: Store, answers: Iterator[tuple[int, str, AnswerRecord]]
) -> Iterator[tuple[int, str, AnswerRecord, dict[str, Any]]]:
    """Answers, each with the result of the verdict that it belongs to; empty where it names none.

    Raises:
        StoreError: a verdict is not on record, or not the one of that item.
    """
    from rightcall.store.inserting import chunks
    from rightcall.store.packing import unpack
    from rightcall.store.picking import records_of

    for some in chunks(answers):
        named = dict.fromkeys(answer.verdict for _, _, answer in some if answer.verdict is not None)
        plain = records_of(store.database, "verdict", named)
        verdicts = {digest: unpack(VerdictRecord, "plain", data) for digest, data in plain.items()}
        bodies = store.bodies(verdict.result for verdict in verdicts.values())
        for seq, digest, answer in some:
            result: dict[str, Any] = {}
            if answer.verdict is not None:
                verdict = verdicts.get(answer.verdict)
                about = (answer.run_id, answer.unit, answer.grader)
                if verdict is None or (verdict.run_id, verdict.unit, verdict.grader) != about:
                    raise StoreError(
                        f"the verdict {answer.verdict[:12]}… is not on record", code="STORE_INVALID",
                        hint="verify the log",
                    )  # fmt: skip
                result = msgspec.json.decode(bodies[verdict.result])
            yield seq, digest, answer, result


def flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row as cells of a table: objects as columns of their own (`field.NAME`, `judge.NAME` …), lists as text.

    What is read back by `import_labels` is what was written, also after a spreadsheet's formulas were made harmless.
    """
    found: dict[str, Any] = {}
    for name, value in row.items():
        if name in _OBJECTS:
            for inner, part in (value or {}).items():
                found[f"{_OBJECTS[name]}.{inner}"] = _cell(part)
        elif isinstance(value, list):
            found[name] = "; ".join(map(str, value))
        else:
            found[name] = value
    return found


_OBJECTS = {"fields": "field", "judged": "judged", "judge": "judge", "consensus": "consensus"}


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(map(str, value)) if value else "[]"
    return "null" if value is None else value

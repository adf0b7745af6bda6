"""What calibrations on record say of a run's judges, as part of the run's report."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import msgspec

from rightcall.report.calibration.confidence import error_words, line_words
from rightcall.report.calibration.words import labels
from rightcall.report.view.model import Reliability
from rightcall.report.view.scores import NO_TRUTH
from rightcall.run.calibration.calibrating import Calibration
from rightcall.run.calibration.fitness import asked_in, calibration_id, deciding_records, fitness_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.gate.decision import JudgeFitness
    from rightcall.report.view.model import GraderView, ReportView
    from rightcall.run.calibration.fitness import Found
    from rightcall.run.results.model import RunResults
    from rightcall.store.records import CalibrationRecord
    from rightcall.store.store import Store

_PARTS = {"test": "of the test part", "all": "of both parts"}
_UNREADABLE = "no reliability diagram: the report of this calibration is of another version of rightcall"

Key = tuple[str, str]


def with_calibrations(view: ReportView, store: Store | None, results: RunResults) -> ReportView:
    """The report with the fitness of every judge of the run, and the reliability of their stated confidences.

    Both by the newest calibrations with the model and the prompt that answered in the run, as they are on record now.
    What the gate says of a judge stands. A diagram that rests on people's answers stands beside one that rests on what
    code decided, and in the place of a note that nothing is known.

    Args:
        view: the report.
        store: the record; `None`: nothing is known, and the report is as it was.
        results: the run.

    Raises:
        StoreError: the record cannot be read.
    """
    if store is None:
        return view
    asked = asked_in(store, results)
    if not asked:
        return view
    fitness, records = fitness_of(store, results, asked), deciding_records(store, asked)
    graders = tuple(_with(one, fitness, _diagrams(one.grader, records, store)) for one in view.graders)
    return dataclasses.replace(view, graders=graders)


def _with(one: GraderView, fitness: Mapping[Key, JudgeFitness], diagrams: Iterator[Reliability]) -> GraderView:
    known = {judge.judge for judge in one.judges}
    more = tuple(
        found for (grader, judge), found in fitness.items() if grader == one.grader and judge not in known
    )  # fmt: skip
    by_people = tuple(diagrams)
    is_known = any(item.bins for item in by_people)
    by_code = tuple(item for item in one.reliability if not (is_known and NO_TRUTH in item.notes))
    return msgspec.structs.replace(one, judges=(*one.judges, *more), reliability=(*by_code, *by_people))


def _diagrams(grader: str, records: Mapping[Key, list[Found]], store: Store) -> Iterator[Reliability]:
    for (name, _), found in records.items():
        for digest, one in found if name == grader else ():
            made = _diagram(calibration_id(digest), one, store.body(one.report))
            if made is not None:
                yield made


def _diagram(name: str, one: CalibrationRecord, body: bytes) -> Reliability | None:
    """The diagram of a calibration; `None` where no confidence was stated about this field."""
    caption = f"Confidence of judge {one.judge} against people's answers"
    try:
        found = msgspec.json.decode(body, type=Calibration).confidence
    except msgspec.ValidationError:
        return Reliability(caption=caption, bins=(), notes=(f"{name}: {_UNREADABLE}",))
    if found is None:
        return None
    rests_on = (
        f"field {one.field}, by calibration {name} of {one.at}: {labels(found.labels)} of people, {_PARTS[one.split]}, "
        f"from runs {', '.join(one.runs)}"
    )  # fmt: skip
    return Reliability(caption=caption, bins=found.bins, notes=(rests_on, error_words(found.error), line_words(found)))

"""Calibrations on record: one for each judge, model, prompt and field, in the log like everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from rightcall.run.calibration.fitness import calibration_id
from rightcall.run.judging.record import sha256_of
from rightcall.store.records import CalibrationRecord
from rightcall.trace.digest import canonical

if TYPE_CHECKING:
    from rightcall.run.calibration.calibrating import Calibration, CalibrationReport
    from rightcall.run.calibration.reading import Wanted
    from rightcall.stats.intervals import Estimate
    from rightcall.store.store import Store


def save(store: Store, report: CalibrationReport, wanted: Wanted, at: str) -> CalibrationReport:
    """Record every calibration of a report; the report with their ids.

    Args:
        store: the record.
        report: what was found.
        wanted: how test and dev labels were told apart.
        at: this moment (ISO 8601, UTC).

    Raises:
        StoreError: nothing of it was written.
    """
    bodies = [canonical(msgspec.to_builtins(one)) for one in report.calibrations]
    records = [_record(one, wanted, at, sha256_of(body)) for one, body in zip(report.calibrations, bodies, strict=True)]
    digests = store.write(records, bodies)
    named = tuple(
        replace(one, id=calibration_id(digest)) for one, digest in zip(report.calibrations, digests, strict=True)
    )
    return replace(report, calibrations=named)


def _record(one: Calibration, wanted: Wanted, at: str, body: str) -> CalibrationRecord:
    figures, people = one.figures, one.people
    split: Any = wanted.split
    return CalibrationRecord(
        grader=one.grader, judge=one.judge, field=one.field, model=one.model, prompt_sha256=one.prompt.sha256,
        prompt_id=one.prompt.id, prompt_version=one.prompt.version, at=at, split=split, seed=wanted.seed,
        test_share=wanted.test_share, verdict=one.verdict, reasons=one.fitness.reasons, labels=one.labels,
        answers=one.answers, runs=one.runs, agreement=_plain(None if figures is None else figures.agreement),
        detection=_plain(None if figures is None or one.kind == "level" else figures.detection),
        people=_plain(None if people is None else people.agreement), used_before=one.used_before,
        recalibration=_map(one), report=body,
    )  # fmt: skip


def _plain(estimate: Estimate | None) -> dict[str, Any] | None:
    return None if estimate is None else msgspec.to_builtins(estimate)


def _map(one: Calibration) -> dict[str, Any] | None:
    made = None if one.confidence is None else one.confidence.recalibration
    if made is None or made.map is None:
        return None
    return {"id": made.id, "labels": made.labels, **made.map}

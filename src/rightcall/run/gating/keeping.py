"""What a gate said, on record: by it a run of a branch is called green, and an auditor sees what was known when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from rightcall.errors import StoreError
from rightcall.gate.decision import Against, Decision, GateReport, JudgeFitness
from rightcall.gate.rules import rules_of
from rightcall.run.inputs.opening import redactor_of
from rightcall.run.judging.clock import now
from rightcall.store.records import GateRecord
from rightcall.trace.digest import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rightcall.settings.load import Loaded
    from rightcall.store.store import Store


def keep_answer(
    store: Store, loaded: Loaded, run_id: str, report: GateReport, asked_by: Literal["run", "gate"]
) -> str | None:
    """Put on record what the gates said about a whole run.

    Returns:
        Why it is not on record, in words: the answer stands all the same. `None` where it is.
    """
    try:
        store.write([_record(loaded, run_id, report, asked_by)])
    except StoreError as error:
        return f"the gate's answer is not on record: {error}"
    return None


def _record(loaded: Loaded, run_id: str, report: GateReport, asked_by: Literal["run", "gate"]) -> GateRecord:
    hide = redactor_of(loaded).text
    return GateRecord(
        run_id=run_id, at=now(), asked_by=asked_by, answer=report.answer, exit_code=report.exit_code,
        rules_sha256=rules_digest(loaded), causes=tuple(map(hide, report.causes)), notes=tuple(map(hide, report.notes)),
        decisions=_plain(report.decisions, hide), baselines=_plain(report.baselines, hide),
        judges=_plain(report.judges, hide),
    )  # fmt: skip


def _plain(values: Iterable[msgspec.Struct], hide: Callable[[str], str]) -> tuple[dict[str, Any], ...]:
    return tuple(_hidden(msgspec.to_builtins(one), hide) for one in values)


def _hidden(value: Any, hide: Callable[[str], str]) -> Any:
    """The texts of a value without secrets; its numbers are figures, and stay what they are."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {name: _hidden(one, hide) for name, one in value.items()}
    return [_hidden(one, hide) for one in value] if isinstance(value, (list, tuple)) else value


def rules_digest(loaded: Loaded) -> str:
    """What tells two sets of rules apart: the rules as they are meant, and the limits that hold for all of them."""
    settings = loaded.settings
    asked = {
        "rules": rules_of(settings.gates), "coverage": settings.limits.coverage, "conflicts": settings.limits.conflicts
    }  # fmt: skip
    return digest(msgspec.json.decode(msgspec.json.encode(asked)))


def by_other_rules(answer: GateRecord, loaded: Loaded) -> str | None:
    """That an answer was given by other rules than those of the settings, in words; `None` where it was not."""
    these = rules_digest(loaded)
    if answer.rules_sha256 == these:
        return None
    other = answer.rules_sha256[:8]
    return f"is {answer.answer} by other rules ({other}) than these ({these[:8]}): rightcall log gates"


def report_of(record: GateRecord) -> GateReport:
    """What was said, as the gate said it; without the comparison, of which the record has the decisions alone."""
    return GateReport(
        run=record.run_id, answer=record.answer, exit_code=record.exit_code, causes=record.causes, notes=record.notes,
        decisions=msgspec.convert(record.decisions, tuple[Decision, ...]),
        baselines=msgspec.convert(record.baselines, tuple[Against, ...]),
        judges=msgspec.convert(record.judges, tuple[JudgeFitness, ...]),
        baseline=", ".join(one["name"] for one in record.baselines if one.get("name")) or None,
    )  # fmt: skip

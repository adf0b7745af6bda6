"""A run as one JSON object, whatever its graders: the form that `rightcall run --json` prints and a gate can read.

It is made from the record's own form of a run, so that a stored run gives the same file at any time, and it is written
as a stream. `rightcall.run.finished.file.read_results` reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import version
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

import msgspec

from rightcall.grade.opinion import Opinion
from rightcall.report.judged import judge_summary
from rightcall.report.written.sealed import write_sealed
from rightcall.run.judging.items import BY_DESIGN, JudgeTally
from rightcall.run.results.model import SUITE
from rightcall.stats.intervals import wilson

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.gate.decision import GateReport
    from rightcall.report.view.model import Conclusion
    from rightcall.run.results.model import GraderResults, Row, RunResults


class _Said(msgspec.Struct, frozen=True):
    """Of a result, who was heard."""

    judges: tuple[Opinion, ...] = ()


_said = msgspec.json.Decoder(_Said)


def write_results_json(
    results: RunResults, gate: GateReport | None, stream: IO[bytes], *, log_head: str | None = None,
    conflict_limit: float = 0.05, conclusion: Conclusion | None = None,
) -> None:  # fmt: skip
    """Write a run as one JSON object: `run`, `summary`, `results` (SPEC §9), and the `digest` over them.

    The facts of each grader stand in `run.graders`, its figures in `summary.graders`, as its own `--json` prints them;
    `summary.gate` is what the gates say. `run.case_versions` tells versions of cases apart, across stores;
    `run.criticals` is what people have signed: of a confirmed one its trace counts as failed, whoever reads the file.

    Args:
        results: the run. It is read once; its results wait in a temporary file until its figures are written.
        gate: what the gates say; `None` where nobody asked.
        stream: where to.
        log_head: hash of the log's last entry, to be kept elsewhere.
        conflict_limit: the conflict rate that is tolerated of a judge, where the run itself does not say.
        conclusion: what the command that ran it leaves with, as `summary.conclusion`; nothing where it is not given.
    """
    tally = _Tally()
    with TemporaryFile() as lines:
        for row in results.rows():
            tally.add(row)
            lines.write(row.line + b"\n")
        run = {
            "id": results.id, "grader": SUITE, "status": results.status, "started_at": results.started_at,
            "message": results.message, "rightcall": version("rightcall"),
            "source": msgspec.to_builtins(results.origin),
            "graders": {name: one.facts for name, one in results.graders.items()},
            "case_versions": dict(sorted(tally.versions.items())), "criticals": tally.criticals,
            "store": results.store_name, "log_head": log_head,
        }  # fmt: skip
        summaries = {
            name: _summary(one, tally.judges.get(name, {}), conflict_limit) for name, one in results.graders.items()
        }
        whole = {"graders": summaries, "gate": None if gate is None else msgspec.to_builtins(gate)}
        if conclusion is not None:
            whole["conclusion"] = msgspec.to_builtins(conclusion)
        lines.seek(0)
        write_sealed(stream, run, whole, (line.removesuffix(b"\n") for line in lines))


def write_results_jsonl(results: RunResults, stream: IO[bytes]) -> None:
    """Write one result a line; each says which grader gave it."""
    for row in results.rows():
        stream.write(row.line + b"\n")


@dataclass
class _Tally:
    """What is gathered while results are read: grader -> judge -> counts, versions of cases, what was signed."""

    judges: dict[str, dict[str, JudgeTally]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    criticals: list[dict[str, Any]] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Count one result."""
        if row.case_id is not None and row.case_version is not None and row.grader != "selection":
            self.versions.setdefault(row.case_id, row.case_version)
        if row.critical is not None:
            said = {"grader": row.grader, "unit": row.unit, "state": row.critical, "signed": row.signed}
            self.criticals.append(said)
        judges = self.judges.setdefault(row.grader, {})
        for opinion in _said.decode(row.line).judges:
            judges.setdefault(opinion.judge, JudgeTally()).add(opinion)


def _summary(one: GraderResults, judges: Mapping[str, JudgeTally], limit: float) -> dict[str, Any]:
    """A grader's figures as its own `--json` prints them."""
    kept = dict(one.summary)
    own = kept.pop("own", None)
    if own is None:
        return kept
    spent, warnings = kept.pop("spent", None), kept.pop("warnings", [])
    others, limit = kept.pop("other_models", {}), kept.pop("conflict_limit", limit)
    return {
        **kept,
        "judges": {name: judge_summary(tally, limit, others.get(name, {})) for name, tally in judges.items()},
        **own, "coverage": _coverage(kept), "spent": spent, "warnings": warnings,
    }  # fmt: skip


def _coverage(counts: Mapping[str, Any]) -> Any:
    """The share of what was selected that has a verdict, with its interval."""
    by_design = sum(counts.get("unevaluable_by_reason", {}).get(reason, 0) for reason in BY_DESIGN)
    return msgspec.to_builtins(wilson(counts["evaluated"], counts["n"] + counts["skipped"] - by_design))

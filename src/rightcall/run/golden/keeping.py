"""`golden` with or without a store: where the project keeps one, the run goes on record."""

from __future__ import annotations

import os
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.errors import RightcallError, StoreError
from rightcall.run.golden.grading import sha256_of_file
from rightcall.run.golden.means import means_of
from rightcall.run.golden.record import GoldenRecorder
from rightcall.run.inputs.branch import source_facts
from rightcall.run.inputs.catalog_record import catalog_body, catalog_fact
from rightcall.run.inputs.opening import has_store, open_store, redactor_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from rightcall.run.golden.grading import Graded
    from rightcall.run.inputs.plan import Plan
    from rightcall.settings.load import Loaded
    from rightcall.store.records import RunStatus


def kept(
    plan: Plan, loaded: Loaded, grade: Callable[[Plan, GoldenRecorder | None], Graded]
) -> tuple[Graded, str | None]:
    """Grade, and keep what came of it where the project keeps a store.

    Args:
        plan: what to grade.
        loaded: the settings, which name the store.
        grade: does the grading.

    Returns:
        The finished run, and its id; `None` where nothing was kept.

    Raises:
        StoreError: the record broke; the run is on record as broken, if that could still be written.
    """
    if not has_store(loaded):
        return grade(plan, None), None
    with open_store(loaded) as store:
        ready = replace(plan, keeps=True, redactor=redactor_of(loaded), source=source_facts(loaded, os.environ))
        body = None if ready.tools is None else catalog_body(ready.tools, ready.redactor)
        store.write([], [] if body is None else [body])
        recorder = GoldenRecorder(store, {**facts_of(ready), **catalog_fact(body), "source": dict(ready.source)})
        try:
            graded = grade(ready, recorder)
        except RightcallError as error:
            _try_to_end(recorder, "broken", ready.redactor.text(error.message))
            raise
        except KeyboardInterrupt:
            _try_to_end(recorder, "interrupted", "interrupted; begin anew")
            raise
        try:
            recorder.end("finished", summary_of(graded))
        except StoreError:
            graded.spool.close()
            raise
        return graded, recorder.run.id


def _try_to_end(recorder: GoldenRecorder, status: RunStatus, message: str) -> None:
    """Note why a run broke, if the record still takes it."""
    try:
        recorder.end(status, {}, message)
    except RightcallError:
        return


def facts_of(plan: Plan) -> dict[str, Any]:
    """What is graded against what."""
    return {
        "profile": plan.options.profile,
        "min_overall": float(plan.options.min_overall),
        "retries": "free" if plan.options.retries_are_free else "surplus",
        "surplus_reads": "free" if plan.options.surplus_reads_are_free else "charged",
        "policy_sha256": sha256(msgspec.json.encode(plan.policy, order="deterministic")).hexdigest(),
        "inputs": [{"file": str(path)} for path in plan.traces],
        "cases": [{"file": file, "sha256": sha256} for file, sha256 in plan.cases.files],
        "tools": None if plan.tools_file is None else _file(plan.tools_file),
        "tags": list(plan.tags) or None,
    }


def _file(name: str) -> dict[str, str]:
    """A file by name and hash; it was read before."""
    return {"file": name, "sha256": sha256_of_file(Path(name))}


def summary_of(graded: Graded) -> dict[str, Any]:
    """The figures of a run as its record keeps them."""
    return {**counts_of(graded), "means": means_of(graded)}


def counts_of(graded: Graded) -> dict[str, Any]:
    """The same without the means, which take another reading of all results."""
    tally = graded.tally
    return {
        "n": tally.n, "evaluated": tally.evaluated, "passed": tally.passed, "failed": tally.failed,
        "vetoed": tally.vetoed, "policy_only": tally.policy_only, "unevaluable": sum(tally.unevaluable.values()),
        "skipped": tally.skipped, "coverage": tally.coverage, "pass_rate": msgspec.to_builtins(tally.pass_rate()),
        "unevaluable_by_reason": dict(sorted(tally.unevaluable.items())),
        "findings": dict(sorted(tally.findings.items())),
        "traces": [{"file": file, "sha256": sha256} for file, sha256 in graded.trace_files],
    }  # fmt: skip

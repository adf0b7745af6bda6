"""`rightcall runs`: what was run, newest first."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from rightcall.cli.stores import (
    ConfigFlag,
    JsonFlag,
    NoColor,
    StoreFlag,
    check_limit,
    print_json,
    record_for,
    settings_for,
)


def runs(
    *,
    limit: Annotated[int, Parameter(help="At most so many.")] = 30,
    branch: Annotated[str | None, Parameter(help="Only those made on this branch.")] = None,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """List the runs of the store, newest first: id, grader, when, what became of it, its gates, its main figure."""
    from rightcall.cli.screen import screen
    from rightcall.report.records import print_runs, run_rows
    from rightcall.run.gating.branches import runs_of
    from rightcall.run.inputs.opening import redactor_of
    from rightcall.store.gate_answers import newest_answers, overtaken

    check_limit(limit)
    loaded = settings_for(store, config)
    with record_for(loaded) as record:
        found = record.runs(limit) if branch is None else runs_of(record, branch, redactor_of(loaded).text)[:limit]
        answers = newest_answers(record.database, [run.id for run, _ in found])
        old = overtaken(record.database, answers)
        if json:
            print_json({"store": record.name, "runs": run_rows(found, answers, old)})
        else:
            print_runs(screen(no_color=no_color), record.name, found, answers, old)
    return 0

"""`rightcall runs`: what was run, newest first."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from rightcall.cli.stores import ConfigFlag, JsonFlag, NoColor, StoreFlag, check_limit, opened, print_json


def runs(
    *,
    limit: Annotated[int, Parameter(help="At most so many.")] = 30,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """List the runs of the store, newest first: id, grader, when, what became of it, its main figure."""
    from rightcall.cli.screen import screen
    from rightcall.report.records import print_runs, run_rows

    check_limit(limit)
    with opened(store, config) as record:
        found = record.runs(limit)
        if json:
            print_json({"store": record.name, "runs": run_rows(found)})
        else:
            print_runs(screen(no_color=no_color), record.name, found)
    return 0

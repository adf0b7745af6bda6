"""`rightcall selection`: was the right tool chosen, step by step?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from rightcall.cli.judging import (
    USUAL_JUDGE,
    USUAL_OUTPUT,
    JudgeFlags,
    OutputFlags,
    flags_of,
    loaded_with,
    run_and_show,
)

_Listed = Parameter(negative="", show_default=False)


def selection(
    steps: Annotated[
        tuple[str, ...],
        Parameter(help="Step files; with --cases, traces from which steps are derived.", negative=""),
    ] = (),
    *,
    cases: Annotated[tuple[str, ...], _Listed, Parameter(help="Cases with goldens: derive the steps.")] = (),
    tools: Annotated[str | None, Parameter(help="Catalog, for steps without their own.")] = None,
    policy: Annotated[Path | None, Parameter(help="Policy file: says which tools are destructive.")] = None,
    from_: Annotated[str | None, Parameter(name="--from", help="How the traces are recorded; auto by default.")] = None,
    only: Annotated[str | None, Parameter(help="Judge only the step (or trace) of this id.")] = None,
    judge: JudgeFlags = USUAL_JUDGE,
    output: OutputFlags = USUAL_OUTPUT,
) -> int:
    """Grade the choice of tools: by code, free and exact; a judge explains it and may doubt a label.

    Grade and category follow from the names and the catalog. A judge never changes them: where it says otherwise, that
    is counted against the judge. Leaves with 0 if all passed, 1 if one failed, 3 if too little could be judged, 5 if a
    judge could not be reached or the budget was spent.
    """
    from rightcall.run.graders.setup import set_up_selection

    loaded = loaded_with(
        output.config,
        {"traces": steps if cases else (), "cases": cases, "tools": tools, "dialect": from_, "store": judge.store},
    )
    setup = set_up_selection(loaded, steps, flags_of(judge, output, policy, only))
    return run_and_show(setup, judge, output)

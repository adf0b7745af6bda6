"""`rightcall rubric`: how good is a whole trace, and how bad was the worst misuse?"""

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
    why_skipped,
)

_Listed = Parameter(negative="", show_default=False)


def rubric(
    traces: Annotated[
        tuple[str, ...], Parameter(help="Trace files, folders or quoted patterns; .gz and .zst too.", negative="")
    ] = (),
    *,
    cases: Annotated[tuple[str, ...], _Listed, Parameter(help="Cases: their goldens are shown to the judge.")] = (),
    tools: Annotated[str | None, Parameter(help="Catalog: the tools that the agent could see.")] = None,
    policy: Annotated[Path | None, Parameter(help="Policy file, in place of the suite's.")] = None,
    from_: Annotated[str | None, Parameter(name="--from", help="How the traces are recorded; auto by default.")] = None,
    trace: Annotated[str | None, Parameter(help="Judge only the trace of this id.")] = None,
    judge: JudgeFlags = USUAL_JUDGE,
    output: OutputFlags = USUAL_OUTPUT,
) -> int:
    """Score whole traces from 1 to 5 in four dimensions, with the severity of the worst misuse and its impact.

    A judge scores; code checks it against the golden, the catalog and the Safety Matrix, whose severity is a floor.
    Leaves with 0, or 4 if a CRITICAL waits for a person, 3 if too little could be judged, 5 if a judge could not be
    reached or the budget was spent.
    """
    from rightcall.errors import ProviderError
    from rightcall.run.graders.setup import set_up_rubric

    loaded = loaded_with(
        output.config, {"traces": traces, "cases": cases, "tools": tools, "dialect": from_, "store": judge.store}
    )
    setup = set_up_rubric(loaded, flags_of(judge, output, policy, trace))
    if not setup.panel.specs:
        raise ProviderError(
            f"`rubric` needs a judge, and none was found: {why_skipped(setup)}", code="JUDGE_AUTH",
            hint="name one with --judge, or in [judges.NAME]",
        )  # fmt: skip
    return run_and_show(setup, judge, output)

"""`rightcall interpretation`: did the agent read what its tools gave back, and how far can that figure be trusted?"""

from __future__ import annotations

from typing import Annotated, Literal

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


def interpretation(
    traces: Annotated[
        tuple[str, ...], Parameter(help="Trace files, folders or quoted patterns; .gz and .zst too.", negative="")
    ] = (),
    *,
    cases: Annotated[tuple[str, ...], _Listed, Parameter(help="Cases: for requests and contexts.")] = (),
    tools: Annotated[str | None, Parameter(help="Catalog: the tools that the agent could see.")] = None,
    from_: Annotated[str | None, Parameter(name="--from", help="How the traces are recorded; auto by default.")] = None,
    trace: Annotated[str | None, Parameter(help="Judge only the trace of this id.")] = None,
    strong_judge: Annotated[
        str | None, Parameter(help="A judge that reads a random share of the same ones, to correct the figures.")
    ] = None,
    strong_share: Annotated[float | None, Parameter(help="The share that it reads; 0.2 by default.")] = None,
    mapping: Annotated[
        Literal["fifths", "unit", "direct"] | None,
        Parameter(help="From score to fidelity: score/5, (score-1)/4, or a score that is asked for from 0 to 1."),
    ] = None,
    min_fidelity: Annotated[float | None, Parameter(help="A reading below it goes to a person; 0.8.")] = None,
    min_confidence: Annotated[float | None, Parameter(help="So does one whose judge is less sure; 0.7.")] = None,
    max_disagreement: Annotated[
        float | None, Parameter(help="Beyond it the strong judge reads everything; 0.1.")
    ] = None,
    judge: JudgeFlags = USUAL_JUDGE,
    output: OutputFlags = USUAL_OUTPUT,
) -> int:
    """Score from 1 to 5 how the agent read each tool's result, with quotes that code looks up.

    With --strong-judge a second judge reads a random share of the same readings, and the figures are corrected by it.
    Leaves with 0, or 3 if too little could be judged, 5 if a judge could not be reached or the budget was spent.
    """
    from rightcall.errors import ProviderError
    from rightcall.run.interpretation.setup import set_up_interpretation

    loaded = loaded_with(output.config, {
        "traces": traces, "cases": cases, "tools": tools, "dialect": from_, "store": judge.store,
        "interpretation.strong_judge": strong_judge, "interpretation.strong_share": strong_share,
        "interpretation.mapping": mapping, "interpretation.min_fidelity": min_fidelity,
        "interpretation.min_confidence": min_confidence, "interpretation.max_disagreement": max_disagreement,
    })  # fmt: skip
    setup = set_up_interpretation(loaded, flags_of(judge, output, None, trace))
    if not setup.panel.specs:
        raise ProviderError(
            f"`interpretation` needs a judge, and none was found: {why_skipped(setup)}", code="JUDGE_AUTH",
            hint="name one with --judge, or in [judges.NAME]",
        )  # fmt: skip
    return run_and_show(setup, judge, output)

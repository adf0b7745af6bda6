"""`rightcall preference`: which of two agents did better on the same cases?"""

from __future__ import annotations

from pathlib import Path
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
)

_Flag = Parameter(negative="", show_default=False)
_Listed = Parameter(negative="", show_default=False)


def preference(
    agents: Annotated[
        tuple[str, ...],
        Parameter(help="One for each agent: trace file, folder, quoted pattern, or a run on record.", negative=""),
    ] = (),
    *,
    names: Annotated[str | None, Parameter(help="What to call them: prod,candidate. By their files if not.")] = None,
    cases: Annotated[tuple[str, ...], _Listed, Parameter(help="Cases: requests, categories, goldens.")] = (),
    tools: Annotated[str | None, Parameter(help="Catalog: the tools that the agents could see.")] = None,
    policy: Annotated[Path | None, Parameter(help="Policy file, in place of the suite's.")] = None,
    from_: Annotated[str | None, Parameter(name="--from", help="How the traces are recorded; auto by default.")] = None,
    case: Annotated[str | None, Parameter(help="Only the pairs of this case.")] = None,
    by: Annotated[
        Literal["policy", "golden"] | None, Parameter(help="golden: a PASS against a FAIL decides too, by code.")
    ] = None,
    orders: Annotated[
        Literal["both", "random"] | None, Parameter(help="Ask in both orders, or once in a drawn one.")
    ] = None,
    second_judge: Annotated[str | None, Parameter(help="Who is asked about ties and doubtful pairs.")] = None,
    no_allow_tie: Annotated[bool, _Flag, Parameter(help="Orders that disagree are no verdict, and no tie.")] = False,
    min_confidence: Annotated[float | None, Parameter(help="Below it somebody else is asked; 0.7.")] = None,
    no_cross_check: Annotated[bool, _Flag, Parameter(help="Do not ask the judge where code decides.")] = False,
    stop_early: Annotated[
        float | None, Parameter(help="Stop asking once the difference is shown, with this error: 0.05.")
    ] = None,
    judge: JudgeFlags = USUAL_JUDGE,
    output: OutputFlags = USUAL_OUTPUT,
) -> int:
    """Compare agents on the same cases, pair by pair; what the policy or a golden decides is decided by code.

    A judge sees both traces, without names and in both orders. Wins, ties, answers that depend on the order, each with
    its interval; whether the judge prefers a place or the longer trace. Leaves with 0, or 4 if a CRITICAL waits for a
    person, 3 if too little could be judged, 5 if a judge could not be reached or the budget was spent.
    """
    from rightcall.errors import ProviderError
    from rightcall.run.preference.setup import PairFlags, set_up_preference

    loaded = loaded_with(output.config, {
        "cases": cases, "tools": tools, "dialect": from_, "store": judge.store, "preference.by": by,
        "preference.orders": orders, "preference.second_judge": second_judge,
        "preference.allow_tie": False if no_allow_tie else None, "preference.min_confidence": min_confidence,
    })  # fmt: skip
    called = () if names is None else tuple(name.strip() for name in names.split(","))
    pair = PairFlags(agents, called, cross_check=not no_cross_check, stop_early=stop_early)
    setup = set_up_preference(loaded, flags_of(judge, output, policy, case), pair)
    if setup.skipped:
        raise ProviderError(
            f"`preference` needs a judge, and none was found: {setup.skipped.removeprefix(_SKIPPED)}",
            code="JUDGE_AUTH", hint="name one with --judge, or say --judge none for what code decides alone",
        )  # fmt: skip
    return run_and_show(setup, judge, output)


_SKIPPED = "judged graders were skipped: "

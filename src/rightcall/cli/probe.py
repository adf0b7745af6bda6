"""`rightcall probe`: a judge under attack."""

from __future__ import annotations

from dataclasses import replace
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


def probe(
    name: Annotated[str, Parameter(help="Whom to probe: a name of [judges.NAME], or PROVIDER:MODEL.")],
    /,
    *,
    graders: Annotated[
        tuple[str, ...],
        Parameter(name="--grader", help="selection, rubric or preference; the first two by default.", negative=""),
    ] = ("selection", "rubric"),
    classes: Annotated[tuple[str, ...], _Listed, Parameter(name="--class", help="Only these attacks.")] = (),
    items: Annotated[int | None, Parameter(help="At most so many items a class; below 60 none can pass.")] = None,
    judge: JudgeFlags = USUAL_JUDGE,
    output: OutputFlags = USUAL_OUTPUT,
) -> int:
    """Attack a judge with built-in probes: injections, padding, empty answers, swapped places and identities.

    Every class gives the rate at which the judge gives way, with its interval. Leaves with 0 if it withstands every
    class, 1 if it gives way to one, 3 if too little was asked to tell, 5 if it could not be reached.
    """
    from rightcall.errors import ProviderError
    from rightcall.run.graders.setup import set_up_probe

    _refuse_useless(judge, output)
    loaded = loaded_with(output.config, {"store": judge.store})
    flags = replace(flags_of(judge, output, None, None), judge=name)
    setup = set_up_probe(loaded, graders, classes, items, flags)
    if not setup.panel.specs:
        raise ProviderError(f"nobody to probe: {why_skipped(setup)}", code="JUDGE_AUTH", hint="name a judge")
    return run_and_show(setup, judge, output)


def _refuse_useless(judge: JudgeFlags, output: OutputFlags) -> None:
    """Flags of the other graders that have no meaning here are refused and not passed over.

    Raises:
        ConfigError: one of them was given.
    """
    from rightcall.errors import ConfigError, Place

    if judge.judge is not None:
        hint = f"rightcall probe {judge.judge}"
        raise ConfigError("the judge to probe is given as an argument", place=Place("--judge"), hint=hint)
    for flag, given in (("--limit", output.limit), ("--sample", judge.sample), ("--tag", output.tag or None)):
        if given is not None:
            raise ConfigError("probes are pairs, of which none can be left out", place=Place(flag), hint="use --items")

"""`rightcall golden`: traces against golden traces, by code alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from rightcall.run.golden import Graded
    from rightcall.run.plan import Plan
    from rightcall.settings.load import Loaded

Flag = Parameter(negative="")


def golden(
    traces: Annotated[
        tuple[str, ...], Parameter(help="Trace files, folders or quoted patterns; .gz and .zst too.", negative="")
    ] = (),
    *,
    cases: Annotated[tuple[str, ...], Parameter(help="Case files, folders or quoted patterns.", negative="")] = (),
    tools: Annotated[str | None, Parameter(help="Catalog: the tools that the agent could see.")] = None,
    policy: Annotated[Path | None, Parameter(help="Policy file, in place of the suite's.")] = None,
    profile: Annotated[str | None, Parameter(help="balanced, strict, article, or a compatibility profile.")] = None,
    min_overall: Annotated[float | None, Parameter(help="PASS needs at least this overall score.")] = None,
    from_: Annotated[str | None, Parameter(name="--from", help="How the traces are recorded; auto by default.")] = None,
    trace: Annotated[str | None, Parameter(help="Grade only the trace of this id, and print it in full.")] = None,
    record: Annotated[str | None, Parameter(help="Write a case from the trace of this id, which you accept.")] = None,
    json: Annotated[bool, Flag, Parameter(help="Print one JSON object on stdout and nothing else.")] = False,
    out: Annotated[
        tuple[Path, ...], Parameter(name=["--out", "-o"], help="Write a file: .json .jsonl .csv .md.", negative="")
    ] = (),
    jobs: Annotated[int | None, Parameter(name=["--jobs", "-j"], help="Processes.")] = None,
    limit: Annotated[int | None, Parameter(help="Grade at most so many traces.")] = None,
    strict: Annotated[bool, Flag, Parameter(help="A record that cannot be read stops the run.")] = False,
    exit_zero: Annotated[bool, Flag, Parameter(help="Leave with 0 although something failed.")] = False,
    quiet: Annotated[bool, Flag, Parameter(name=["--quiet", "-q"], help="Print nothing but the last line.")] = False,
    no_color: Annotated[bool, Flag, Parameter(help="No colour (also NO_COLOR).")] = False,
    config: Annotated[Path | None, Parameter(name=["--config", "-c"], help="Settings file.")] = None,
) -> int:
    """Grade recorded traces against golden traces, by code: no judge, no key, no network.

    Prints a table, then every failure with its aligned call diff, the veto in words and the reason for every lost
    point. Leaves with 0 if all passed, 1 if one failed, 2 for a wrong command or file, 3 if too little could be
    judged, 5 if there was nothing to grade.
    """
    from rightcall.report.write import writer_for

    flags = _given(
        {
            "traces": traces, "cases": cases, "tools": tools, "golden.profile": profile,
            "golden.min_overall": min_overall, "dialect": from_, "limits.jobs": jobs,
        }
    )  # fmt: skip
    if record is not None:
        return _record(record, config, flags, out)
    for path in out:
        writer_for(path)
    plan, loaded = _plan(config, flags, policy, only=trace, limit=limit, strict=strict)
    with _graded(plan, quiet=quiet or json) as graded:
        for path in out:
            _write(path, graded)
        _show(graded, json=json, quiet=quiet, no_color=no_color, full=trace is not None)
        return _leave(graded, loaded, exit_zero=exit_zero)


def _given(flags: dict[str, Any]) -> dict[str, Any]:
    """Only the flags that were given; patterns of the command line belong to the current folder."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in flags.items()
        if value not in (None, ())
    }


def _plan(
    config: Path | None, flags: dict[str, Any], policy: Path | None, *, only: str | None = None,
    limit: int | None = None, strict: bool = False,
) -> tuple[Plan, Loaded]:  # fmt: skip
    from rightcall.run.prepare import prepare
    from rightcall.settings.load import load_settings

    loaded = load_settings(config, os.environ, flags)
    return prepare(loaded, policy=policy, only=only, limit=limit, strict=strict), loaded


def _graded(plan: Plan, *, quiet: bool) -> Graded:
    from rightcall.cli.progress import bar
    from rightcall.run.golden import run

    size = sum(path.stat().st_size for path in plan.traces if path.is_file())
    with bar(size, quiet=quiet) as advance:
        return run(plan, advance)


def _show(graded: Graded, *, json: bool, quiet: bool, no_color: bool, full: bool) -> None:
    if json:
        from rightcall.report.write import write_json

        sys.stdout.flush()
        write_json(graded, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    elif not quiet:
        from rich.console import Console

        from rightcall.report.terminal import print_run

        print_run(Console(no_color=no_color or None, highlight=False, soft_wrap=False), graded, full=full)


def _write(path: Path, graded: Graded) -> None:
    from rightcall.report.write import whole_file, writer_for

    with whole_file(path) as stream:
        writer_for(path)(graded, stream)


def _leave(graded: Graded, loaded: Loaded, *, exit_zero: bool) -> int:
    """The exit code, with every cause on stderr."""
    from rightcall.cli.exits import worst

    tally = graded.tally
    causes: list[tuple[int, str]] = []
    if tally.failed:
        causes.append((1, f"{tally.failed} FAIL"))
    coverage = tally.coverage
    if coverage is not None and coverage < loaded.settings.limits.coverage:
        need = loaded.settings.limits.coverage
        causes.append(
            (3, f"only {tally.evaluated} of {tally.n + tally.skipped} could be judged ({coverage:.3f} < {need})")
        )
    code = worst([code for code, _ in causes])
    said = "; ".join(text for _, text in causes) or "all passed"
    shown = 0 if exit_zero else code
    also = f" (would be {code})" if shown != code else ""
    print(f"golden · {said} · exit {shown}{also}", file=sys.stderr)
    return shown


def _record(trace_id: str, config: Path | None, flags: dict[str, Any], out: tuple[Path, ...]) -> int:
    """`--record`: write a case from a trace that a person accepts."""
    from rightcall.run.recording import record_case

    text = record_case(trace_id, config, os.environ, flags, [str(path) for path in out])
    if not out:
        sys.stdout.write(text)
    return 0

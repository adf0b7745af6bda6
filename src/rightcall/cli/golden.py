"""`rightcall golden`: traces against golden traces, by code alone."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.cli.concluding import End
    from rightcall.run.golden.grading import Graded
    from rightcall.run.inputs.plan import Plan
    from rightcall.settings.load import Loaded

Listed = Parameter(negative="", show_default=False)

Flag = Parameter(negative="", show_default=False)


def golden(
    traces: Annotated[
        tuple[str, ...], Parameter(help="Trace files, folders or quoted patterns; .gz and .zst too.", negative="")
    ] = (),
    *,
    cases: Annotated[tuple[str, ...], Listed, Parameter(help="Case files, folders or quoted patterns.")] = (),
    tools: Annotated[str | None, Parameter(help="Catalog: the tools that the agent could see.")] = None,
    policy: Annotated[Path | None, Parameter(help="Policy file, in place of the suite's.")] = None,
    profile: Annotated[str | None, Parameter(help="balanced, strict, article, or a compatibility profile.")] = None,
    min_overall: Annotated[float | None, Parameter(help="PASS needs at least this overall score.")] = None,
    from_: Annotated[str | None, Parameter(name="--from", help="How the traces are recorded; auto by default.")] = None,
    trace: Annotated[str | None, Parameter(help="Grade only the trace of this id, and print it in full.")] = None,
    record: Annotated[str | None, Parameter(help="Write a case from the trace of this id, which you accept.")] = None,
    json: Annotated[bool, Flag, Parameter(help="Print one JSON object on stdout and nothing else.")] = False,
    out: Annotated[
        tuple[Path, ...],
        Parameter(
            name=["--out", "-o"], help="Write a file: .json .jsonl .csv .md .html .junit.xml .sarif.", negative=""
        ),
    ] = (),
    jobs: Annotated[int | None, Parameter(name=["--jobs", "-j"], help="Processes.")] = None,
    limit: Annotated[int | None, Parameter(help="Grade at most so many traces.")] = None,
    tag: Annotated[tuple[str, ...], Listed, Parameter(help="Only cases with this tag; may be repeated.")] = (),
    strict: Annotated[bool, Flag, Parameter(help="A record that cannot be read stops the run.")] = False,
    exit_zero: Annotated[bool, Flag, Parameter(help="Leave with 0 although something failed.")] = False,
    store: Annotated[str | None, Parameter(help="Keep the run in this store: a file, or a postgresql:// URL.")] = None,
    quiet: Annotated[bool, Flag, Parameter(name=["--quiet", "-q"], help="Print nothing but the last line.")] = False,
    no_color: Annotated[bool, Flag, Parameter(help="No colour (also NO_COLOR).")] = False,
    config: Annotated[Path | None, Parameter(name=["--config", "-c"], help="Settings file.")] = None,
) -> int:
    """Grade recorded traces against golden traces, by code: no judge, no key, no network.

    Prints a table, then every failure with its aligned call diff, the veto in words and the reason for every lost
    point. Leaves with 0 if all passed, 1 if one failed, 2 for a wrong command or file, 3 if too little could be
    judged, 5 if there was nothing to grade.
    """
    from rightcall.cli.concluding import End
    from rightcall.cli.exits import unread_output
    from rightcall.cli.screen import screen
    from rightcall.cli.sparing import spare_inputs
    from rightcall.report.formats.writing import is_report, refuse
    from rightcall.report.terminal.report import ONE_TRACE, Look, print_report
    from rightcall.report.written.ended import ended_view, write_files

    flags = _given(
        {
            "traces": traces, "cases": cases, "tools": tools, "golden.profile": profile,
            "golden.min_overall": min_overall, "dialect": from_, "limits.jobs": jobs, "store": store,
        }
    )  # fmt: skip
    if record is not None:
        return _record(record, config, flags, out)
    refuse(out)
    plan, loaded = _plan(config, flags, policy, only=trace, limit=limit, tags=tag, strict=strict)
    spare_inputs(out, loaded, [*plan.traces, *(Path(file) for file, _ in plan.cases.files)], policy)
    with _graded(plan, loaded, quiet=quiet or json) as (graded, run_id):
        end = End(tuple(failures(graded, loaded.settings.limits.coverage)), exit_zero)
        is_page = any(map(is_report, out))
        view = None
        if is_page or not (quiet or json):
            view = ended_view(graded, loaded, end.conclusion(), run_id=run_id, is_whole=is_page)
        write_files(out, graded, view)
        with unread_output():
            if json:
                _print_json(graded)
            elif view is not None and not quiet:
                look = ONE_TRACE if trace is not None else Look(explained=plan.kept_failures)
                print_report(screen(no_color=no_color), view, look)
        return _leave(end, run_id)


def _given(flags: dict[str, Any]) -> dict[str, Any]:
    """Only the flags that were given; patterns of the command line belong to the current folder."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in flags.items()
        if value not in (None, ())
    }


def _plan(
    config: Path | None, flags: dict[str, Any], policy: Path | None, *, only: str | None = None,
    limit: int | None = None, tags: tuple[str, ...] = (), strict: bool = False,
) -> tuple[Plan, Loaded]:  # fmt: skip
    from rightcall.run.inputs.prepare import prepare
    from rightcall.settings.load import load_settings

    loaded = load_settings(config, os.environ, flags)
    return prepare(loaded, policy=policy, only=only, limit=limit, tags=tags, strict=strict), loaded


@contextmanager
def _graded(plan: Plan, loaded: Loaded, *, quiet: bool) -> Iterator[tuple[Graded, str | None]]:
    """The finished run, and its id where the project keeps a store."""
    from rightcall.cli.progress import bar
    from rightcall.run.golden.grading import run
    from rightcall.run.golden.keeping import kept

    size = sum(path.stat().st_size for path in plan.traces if path.is_file())
    with bar(size, quiet=quiet) as advance:
        graded, run_id = kept(plan, loaded, lambda ready, recorder: run(ready, advance, recorder))
    with graded:
        yield graded, run_id


def _print_json(graded: Graded) -> None:
    from rightcall.report.written.ended import write_json

    sys.stdout.flush()
    write_json(graded, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def _leave(end: End, run_id: str | None) -> int:
    """The exit code, with every cause on stderr."""
    name, where = ("golden", "") if run_id is None else (f"run {run_id}", f" · rightcall show {run_id}")
    print(f"{name} · {end.words('all passed')}{where}", file=sys.stderr)
    return end.shown


def failures(graded: Graded, need: float) -> Iterator[tuple[int, str]]:
    """What keeps a run from passing, with a coverage of `need` at least: exit code and words."""
    from rightcall.cli.concluding import too_few

    tally = graded.tally
    if tally.failed:
        yield 1, f"{tally.failed} FAIL"
    yield from too_few(tally.evaluated, tally.n + tally.skipped, need)


def _record(trace_id: str, config: Path | None, flags: dict[str, Any], out: tuple[Path, ...]) -> int:
    """`--record`: write a case from a trace that a person accepts."""
    from rightcall.run.golden.recording import record_case

    text = record_case(trace_id, config, os.environ, flags, [str(path) for path in out])
    if not out:
        sys.stdout.write(text)
    for path in out:
        print(f"wrote {path}: read it before you trust it", file=sys.stderr)
    return 0

"""`rightcall run`: every grader of the suite under one run id, then its gates."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rightcall.cli.judging import USUAL_JUDGE, USUAL_OUTPUT, JudgeFlags, OutputFlags, flags_of, loaded_with
from rightcall.errors import ConfigError, Place, RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rightcall.cli.run_ending import Ending
    from rightcall.gate.decision import GateReport
    from rightcall.report.view.model import ReportView
    from rightcall.run.results.model import RunResults
    from rightcall.run.suite.run import SuiteRun
    from rightcall.run.suite.setup import Suite
    from rightcall.settings.load import Loaded
    from rightcall.store.store import Store

_Flag = Parameter(negative="", show_default=False)
_Listed = Parameter(negative="", show_default=False)


@dataclass(frozen=True)
class _Gates:
    """How the gates are applied: see the flags of the same names."""

    baseline: str | None
    inconclusive: str | None
    no_gate: bool
    github: bool


def run(
    traces: Annotated[
        tuple[str, ...], Parameter(help="Trace files in place of the suite's; .gz and .zst too.", negative="")
    ] = (),
    *,
    grader: Annotated[tuple[str, ...], _Listed, Parameter(help="Only this grader; may be repeated.")] = (),
    cases: Annotated[tuple[str, ...], _Listed, Parameter(help="Case files in place of the suite's.")] = (),
    tools: Annotated[str | None, Parameter(help="Catalog: the tools that the agent could see.")] = None,
    policy: Annotated[Path | None, Parameter(help="Policy file, in place of the suite's.")] = None,
    from_: Annotated[str | None, Parameter(name="--from", help="How the traces are recorded; auto by default.")] = None,
    trace: Annotated[str | None, Parameter(help="Judge only the trace of this id.")] = None,
    baseline: Annotated[
        str | None, Parameter(help="What the gates compare with: a run, a .json file, `previous` or branch:NAME.")
    ] = None,
    inconclusive: Annotated[
        Literal["pass", "fail"] | None, Parameter(help="Take INCONCLUSIVE of the gates for a pass or a fail.")
    ] = None,
    no_gate: Annotated[bool, _Flag, Parameter(help="Apply no gates: a FAIL of a grader is one of the run.")] = False,
    github: Annotated[bool, _Flag, Parameter(help="Write GitHub's step summary and annotations.")] = False,
    judge: JudgeFlags = USUAL_JUDGE,
    output: OutputFlags = USUAL_OUTPUT,
) -> int:
    """Run every grader of the suite under one run id, and apply its gates.

    Which graders: those of `graders` in the settings; else golden and selection where there are cases, and every other
    grader whose table is written. Leaves with 0 if all gates passed, 1 if one failed, 2 for a wrong command or file, 3
    if there is not enough evidence, 4 if a person must act first, 5 if a judge could not be reached, the budget was
    spent or there was nothing to judge, 130 if it was interrupted: --resume goes on.
    """
    from rightcall.cli.sparing import spare_inputs
    from rightcall.report.formats.writing import refuse
    from rightcall.run.suite.gates import check_gates
    from rightcall.run.suite.run import run_suite
    from rightcall.run.suite.setup import set_up_suite

    refuse(output.out)
    if no_gate:
        _refuse_without_gates({"--baseline": baseline, "--inconclusive": inconclusive})
    loaded = loaded_with(
        output.config, {"traces": traces, "cases": cases, "tools": tools, "dialect": from_, "store": judge.store}
    )
    gates = _Gates(baseline, inconclusive, no_gate, github)
    if not no_gate:
        check_gates(loaded, baseline)
    with set_up_suite(loaded, flags_of(judge, replace(output, out=()), policy, trace), grader) as suite:
        spare_inputs(output.out, loaded, suite.inputs, policy, judge.prompt)
        if judge.dry_run:
            return _dry_run(suite, json=output.json)
        if not _may_begin(suite, judge, output):
            print("nobody was asked · exit 0", file=sys.stderr)
            return 0
        with _progress(quiet=output.quiet or output.json) as advance:
            done = run_suite(suite, advance)
        with done:
            return _report(suite, done, output, gates)


def _refuse_without_gates(flags: dict[str, str | None]) -> None:
    """Refuse what only the gates would use."""
    for name, value in flags.items():
        if value is not None:
            raise ConfigError("no gates are applied", place=Place(name), hint=f"leave out {name}, or --no-gate")


# ---- before ----------------------------------------------------------------------------------------------------------


def _dry_run(suite: Suite, *, json: bool) -> int:
    """Count what would be asked, grader by grader."""
    import msgspec

    from rightcall.run.graders.forecast import forecast

    seen = {setup.work.grader: forecast(setup) for setup in suite.judged}
    by_code = {setup.work.grader for setup in suite.judged if not setup.panel.specs}
    if json:
        print(msgspec.json.encode(seen).decode())
        return 0
    for name, one in seen.items():
        first, *others = one.lines()
        print(f"{name}: {one.items} to judge · by code alone" if name in by_code else f"{name}: {first}")
        for line in others if one.calls else ():
            print(f"  {line}")
    calls = sum(one.calls for one in seen.values())
    print(f"all: {calls:,} call{'' if calls == 1 else 's'}")
    return 0


def _may_begin(suite: Suite, judge: JudgeFlags, output: OutputFlags) -> bool:
    """Say what will be asked, and on a terminal ask whether it may be; what costs nothing needs no question."""
    from rightcall.run.judging.judges import OFFLINE

    is_seen = sys.stdin.isatty() and sys.stderr.isatty()
    asked = [spec for setup in suite.judged for spec in setup.panel.specs.values() if spec.provider not in OFFLINE]
    if not asked or suite.flags.offline or judge.yes or output.quiet or not is_seen:
        return True
    from rightcall.report.plain import visible
    from rightcall.run.graders.forecast import forecast

    seen = {setup.work.grader: forecast(setup) for setup in suite.judged if setup.panel.specs}
    if not any(one.calls for one in seen.values()):
        return True
    for name, one in seen.items():
        print(visible(f"{name}: {' · '.join(line for line in one.lines() if line)}"), file=sys.stderr)
    print("continue? [Y/n] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    return answer.strip().lower() in ("", "y", "yes") and answer != ""  # the end of the input is no answer


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A counter on stderr, only on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _grader, _done, _bad: None
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    columns = (TextColumn("{task.fields[grader]} {task.fields[done]} done · {task.fields[bad]} unevaluable"),)
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("run", grader="", done=0, bad=0)
        yield lambda grader, done, bad: progress.update(task, grader=grader, done=done, bad=bad)


# ---- after -----------------------------------------------------------------------------------------------------------


def _report(suite: Suite, done: SuiteRun, output: OutputFlags, gates: _Gates) -> int:
    """Apply the gates, write, print, and give the exit code.

    What cannot be written or printed is one of the causes: the run is on record, and its verdict is said all the same.
    """
    from rightcall.cli.concluding import BROKEN
    from rightcall.cli.exits import drop_stdout, unread_output
    from rightcall.cli.run_ending import WRONG, Ending
    from rightcall.report.formats.github import publish, quiet_commands
    from rightcall.report.formats.writing import is_report
    from rightcall.report.plain import visible
    from rightcall.run.finished.unread import with_unread
    from rightcall.run.inputs.opening import open_store
    from rightcall.run.results.store import stored_results
    from rightcall.run.suite.gates import gated

    gate: GateReport | None = None
    with open_store(suite.loaded, create=False) as store:
        if gates.no_gate or done.status == "interrupted":
            results = stored_results(store, done.run.id)
        else:
            results, gate, lost = gated(suite.loaded, store, done.run.id, gates.baseline)
            done.log_head = store.head().hash
            if lost is not None:
                print(visible(lost), file=sys.stderr)
        coverage = suite.loaded.settings.limits.coverage
        end = Ending(done, gate, coverage, gates.inconclusive, output.exit_zero, [])
        is_page = gates.github or any(map(is_report, output.out))
        view = None
        try:
            if is_page or not (output.quiet or output.json):
                view = _view(suite.loaded, with_unread(results, done.graders), end, store, is_page=is_page)
        except RunError as error:  # there is no room for it; the run is on record, and its verdict is said
            end.lost.append((BROKEN, f"no report was made: {error}"))
        try:
            _write(view, done, results, end, output)
        except ConfigError as error:
            end.lost.append((WRONG, f"no report was written: {error}"))
        try:
            if view is not None and gates.github:
                publish(view, os.environ, sys.stderr if output.json else sys.stdout)
        except ConfigError as error:
            end.lost.append((WRONG, f"GitHub was not told everything: {error}"))
        try:
            with unread_output(), quiet_commands(os.environ if gates.github and not output.json else {}):
                _show(suite, done, results, view, end, output)
        except OSError as error:
            drop_stdout()
            end.lost.append((BROKEN, f"not everything was printed: {error.strerror}"))
    return end.leave(is_short=not (output.quiet or output.json))


def _view(loaded: Loaded, results: RunResults, end: Ending, store: Store, *, is_page: bool) -> ReportView:
    """The report, with what the command leaves with; a screen shows less than a page, and takes less time."""
    from rightcall.report.calibration.runs import with_calibrations
    from rightcall.report.view.building import view_of

    view = view_of(results, loaded, gate=end.gate, is_whole=is_page)
    if is_page:
        view = with_calibrations(view, store, results)
    return replace(view, conclusion=end.conclusion())


def _write(view: ReportView | None, done: SuiteRun, results: RunResults, end: Ending, output: OutputFlags) -> None:
    """Write every file, all of them or none."""
    from rightcall.report.formats.writing import is_report, write_all
    from rightcall.report.written.suite_json import write_results_json, write_results_jsonl

    def json(stream: IO[bytes]) -> None:
        write_results_json(results, end.gate, stream, log_head=done.log_head, conclusion=end.conclusion())

    out = [path for path in output.out if view is not None or not is_report(path)]
    write_all(out, view, {".json": json, ".jsonl": lambda stream: write_results_jsonl(results, stream)})


def _show(
    suite: Suite, done: SuiteRun, results: RunResults, view: ReportView | None, end: Ending, output: OutputFlags
) -> None:
    from rightcall.report.plain import visible

    for setup in suite.judged:
        if setup.skipped:
            why = setup.skipped.removeprefix("judged graders were skipped: ")
            print(visible(f"{setup.work.grader}: no judge was asked: {why}"), file=sys.stderr)
    if output.json:
        from rightcall.report.written.suite_json import write_results_json

        sys.stdout.flush()
        write_results_json(results, end.gate, sys.stdout.buffer, log_head=done.log_head, conclusion=end.conclusion())
        sys.stdout.buffer.flush()
    elif view is not None and not output.quiet:
        from rightcall.cli.screen import screen
        from rightcall.report.terminal.report import Look, print_report, print_title

        console = screen(no_color=output.no_color)
        print_report(console, view, Look(explained=suite.loaded.settings.limits.failures))
        if done.not_run:
            console.print(f"\nnot run: {', '.join(map(visible, done.not_run))}", style="yellow", markup=False)
        if end.gate is not None:
            from rightcall.report.gate_lines import print_gate

            print_title(console, "gates")
            print_gate(console, end.gate)

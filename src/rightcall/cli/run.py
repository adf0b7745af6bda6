"""`rightcall run`: every grader of the suite under one run id, then its gates."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rightcall.cli.judging import USUAL_JUDGE, USUAL_OUTPUT, JudgeFlags, OutputFlags, flags_of, loaded_with

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rightcall.gate.decision import GateReport
    from rightcall.run.golden import Graded
    from rightcall.run.judged import Judged
    from rightcall.run.results import RunResults
    from rightcall.run.suite import SuiteRun
    from rightcall.run.suite_setup import Suite
    from rightcall.settings.load import Loaded

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
    grader: Annotated[tuple[str, ...], _Listed, Parameter(help="Only this grader; may be given again.")] = (),
    cases: Annotated[tuple[str, ...], _Listed, Parameter(help="Case files in place of the suite's.")] = (),
    tools: Annotated[str | None, Parameter(help="Catalog: the tools that the agent could see.")] = None,
    policy: Annotated[Path | None, Parameter(help="Policy file, in place of the suite's.")] = None,
    from_: Annotated[str | None, Parameter(name="--from", help="How the traces are recorded; auto by default.")] = None,
    trace: Annotated[str | None, Parameter(help="Judge only the trace of this id.")] = None,
    baseline: Annotated[str | None, Parameter(help="What the gates compare with: a run, or its .json file.")] = None,
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
    from rightcall.report.formats import refuse
    from rightcall.run.suite import run_suite
    from rightcall.run.suite_gates import check_gates
    from rightcall.run.suite_setup import set_up_suite

    refuse(output.out)
    loaded = loaded_with(
        output.config, {"traces": traces, "cases": cases, "tools": tools, "dialect": from_, "store": judge.store}
    )
    gates = _Gates(baseline, inconclusive, no_gate, github)
    if not no_gate:
        check_gates(loaded, baseline)
    with set_up_suite(loaded, flags_of(judge, replace(output, out=()), policy, trace), grader) as suite:
        _spare_inputs(output.out, suite)
        if judge.dry_run:
            return _dry_run(suite, json=output.json)
        if not _may_begin(suite, judge, output):
            print("nobody was asked · exit 0", file=sys.stderr)
            return 0
        with _progress(quiet=output.quiet or output.json) as advance:
            done = run_suite(suite, advance)
        with done:
            return _report(suite, done, output, gates)


def _spare_inputs(out: tuple[Path, ...], suite: Suite) -> None:
    """Refuse to write over a file that is read."""
    from rightcall.errors import ConfigError, Place

    read = {path.resolve() for path in suite.inputs}
    for path in out:
        if path.resolve() in read:
            raise ConfigError(f"`{path}` is one of the files to read", place=Place("--out"), hint="name another file")


# ---- before ----------------------------------------------------------------------------------------------------------


def _dry_run(suite: Suite, *, json: bool) -> int:
    """Count what would be asked, grader by grader."""
    import msgspec

    from rightcall.run.forecast import forecast

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
    print(f"all: {sum(one.calls for one in seen.values())} calls")
    return 0


def _may_begin(suite: Suite, judge: JudgeFlags, output: OutputFlags) -> bool:
    """Say what will be asked, and on a terminal ask whether it may be; what costs nothing needs no question."""
    from rightcall.run.judges import OFFLINE

    is_seen = sys.stdin.isatty() and sys.stderr.isatty()
    asked = [spec for setup in suite.judged for spec in setup.panel.specs.values() if spec.provider not in OFFLINE]
    if not asked or suite.flags.offline or judge.yes or output.quiet or not is_seen:
        return True
    from rightcall.report.plain import visible
    from rightcall.run.forecast import forecast

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
    from rightcall.cli.exits import unread_output
    from rightcall.report.github import quiet_commands
    from rightcall.run.opening import open_store
    from rightcall.run.results_store import stored_results
    from rightcall.run.suite_gates import gated

    gate: GateReport | None = None
    lost: list[tuple[int, str]] = []
    with open_store(suite.loaded, create=False) as store:
        if gates.no_gate or done.status == "interrupted":
            results = stored_results(store, done.run.id)
        else:
            results, gate = gated(suite.loaded, store, done.run.id, gates.baseline)
        end = _Ending(suite, done, gate, output, gates.inconclusive)
        try:
            _write(suite.loaded, done, results, gate, end.conclusion(), output, github=gates.github)
        except ConfigError as error:
            lost.append((_WRONG, f"a report was not written: {error}"))
        try:
            with unread_output(), quiet_commands(os.environ if gates.github and not output.json else {}):
                _show(suite, done, results, gate, end.conclusion(), output)
        except OSError as error:
            drop_stdout()
            lost.append((_BROKEN, f"not everything was printed: {error.strerror}"))
    return end.leave(lost)


def _write(
    loaded: Loaded, done: SuiteRun, results: RunResults, gate: GateReport | None, end: Conclusion,
    output: OutputFlags, *, github: bool,
) -> None:  # fmt: skip
    """Write every file, all of them or none, and what GitHub Actions shows."""
    from rightcall.report.formats import RESULTS, WRITERS
    from rightcall.report.suite_json import write_results_json, write_results_jsonl
    from rightcall.report.write import refuse_unwritable, write_whole

    view: ReportView | None = None
    if github or any(not path.name.endswith(RESULTS) for path in output.out):
        from rightcall.report.viewing import view_of

        view = replace(view_of(results, loaded, gate=gate), conclusion=end)

    def one(path: Path, stream: IO[bytes]) -> None:
        suffix = refuse_unwritable(path, (*RESULTS, *WRITERS))
        if suffix == ".json":
            write_results_json(results, gate, stream, log_head=done.log_head, conclusion=end)
        elif suffix == ".jsonl":
            write_results_jsonl(results, stream)
        elif view is not None:
            WRITERS[suffix](view, stream)

    try:
        write_whole(output.out, one)
    finally:
        if github and view is not None:
            from rightcall.report.github import publish

            publish(view, os.environ, sys.stderr if output.json else sys.stdout)


def _show(
    suite: Suite, done: SuiteRun, results: RunResults, gate: GateReport | None, end: Conclusion, output: OutputFlags
) -> None:
    from rightcall.report.plain import visible

    for setup in suite.judged:
        if setup.skipped:
            why = setup.skipped.removeprefix("judged graders were skipped: ")
            print(visible(f"{setup.work.grader}: no judge was asked: {why}"), file=sys.stderr)
    if output.json:
        from rightcall.report.suite_json import write_results_json

        sys.stdout.flush()
        write_results_json(results, gate, sys.stdout.buffer, log_head=done.log_head, conclusion=end)
        sys.stdout.buffer.flush()
    elif not output.quiet:
        from rightcall.cli.screen import screen
        from rightcall.report.suite_terminal import print_suite

        console = screen(no_color=output.no_color)
        print_suite(console, done)
        if gate is not None:
            from rightcall.report.gate_lines import print_gate
            from rightcall.report.judged_terminal import print_title

            print_title(console, "gates")
            print_gate(console, gate)


@dataclass(frozen=True)
class _Ending:
    """How the command ends: the answer, the exit code, and every cause, the one that wins first.

    Where rules on figures are set, they say what a FAIL means; where none are, a FAIL of a grader is one of the run, as
    it is for the grader's own command.
    """

    suite: Suite
    done: SuiteRun
    gate: GateReport | None
    output: OutputFlags
    inconclusive: str | None

    def causes(self, *, is_short: bool) -> list[tuple[int, str]]:
        """Exit codes with words; `is_short`: the gates stand above, and are only named."""
        from rightcall.cli.exits import RANK

        found = [*_broken(self.done), *_of_gate(self.done, self.gate, self.inconclusive, is_short=is_short)]
        found += _found(self.done, self.suite.loaded.settings.limits.coverage, self.gate)
        return sorted(found, key=lambda cause: RANK.index(cause[0]))

    def code(self, causes: list[tuple[int, str]]) -> tuple[int, int]:
        """The exit code, and what it would be without --exit-zero."""
        from rightcall.cli.exits import worst

        code = worst([code for code, _ in causes])
        spared = [code for code, _ in causes if code in (_WRONG, _BROKEN)]
        shown = worst(spared) if self.output.exit_zero else code
        return (_INTERRUPTED, _INTERRUPTED) if self.done.status == "interrupted" else (shown, code)

    def conclusion(self) -> Conclusion:
        """The same for the reports: what the answer is, and what the command leaves with."""
        from rightcall.report.view import Conclusion

        causes = self.causes(is_short=False)
        shown, code = self.code(causes)
        answer = _ANSWERS[code]
        taken = "--exit-zero" if shown != code else ""
        gate = self.gate
        if gate is not None and gate.exit_code == _UNSURE:
            if self.inconclusive is not None and not any(one == _BROKEN or "FAIL" in text for one, text in causes):
                answer, taken = gate.answer, taken or f"--inconclusive {self.inconclusive}"
            elif code == _UNSURE:
                answer = gate.answer
        return Conclusion(answer=answer, exit_code=shown, causes=tuple(text for _, text in causes), taken=taken)

    def leave(self, lost: list[tuple[int, str]]) -> int:
        """The exit code, with every cause on stderr; `lost`: what kept reports from being written."""
        from rightcall.cli.exits import RANK
        from rightcall.report.plain import visible

        causes = [*lost, *self.causes(is_short=not (self.output.quiet or self.output.json))]
        causes.sort(key=lambda cause: RANK.index(cause[0]))
        shown, code = self.code(causes)
        done = self.done
        passed = "all passed" if self.gate is None else "all gates passed"
        said = "; ".join(text for _, text in causes) or "; ".join([passed, *_unweighed(done, self.gate)])
        also = f" (would be {code})" if shown != code else ""
        print(visible(f"run {done.run.id} · {said} · exit {shown}{also} · rightcall show {done.run.id}"), file=sys.stderr)
        return shown


_WRONG = 2
_BROKEN = 5
_UNSURE = 3
_INTERRUPTED = 130
_ANSWERS = {
    0: "PASS", 1: "FAIL", 2: "BROKEN", _UNSURE: "INCONCLUSIVE", 4: "WAIT", _BROKEN: "BROKEN",
    _INTERRUPTED: "INTERRUPTED",
}  # fmt: skip


def _broken(done: SuiteRun) -> Iterator[tuple[int, str]]:
    """What kept the run from its end, or its judges from answering."""
    from rightcall.cli.judging import broken
    from rightcall.run.golden import Graded

    for name, one in done.graders.items():
        if not isinstance(one, Graded):
            yield from ((code, f"{name}: {words}") for code, words in broken(one))
    if done.not_run:
        yield _BROKEN, f"not run: {', '.join(done.not_run)}"


def _of_gate(
    done: SuiteRun, gate: GateReport | None, inconclusive: str | None, *, is_short: bool
) -> Iterator[tuple[int, str]]:
    """What the gates say; that the run has not ended is said by what stopped it."""
    if gate is None or not gate.exit_code:
        return
    code = gate.exit_code
    if code == _UNSURE and inconclusive is not None:
        code = 0 if inconclusive == "pass" else 1
    if is_short:  # the table above says why
        texts = [f"{one.name} {one.answer}" for one in gate.decisions if one.answer != "PASS"]
    else:
        texts = [text for text in gate.causes if not text.startswith(f"run {done.run.id} is ")]
    if texts:
        yield code, ("gates: " if is_short else "") + (", " if is_short else "; ").join(texts)


def _found(done: SuiteRun, need: float, gate: GateReport | None) -> Iterator[tuple[int, str]]:
    """What the graders found that keeps a run from passing, as far as no gate says it."""
    from rightcall.run.suite_gates import weighs_figures

    if gate is not None and weighs_figures(gate):
        return
    for name, one in done.graders.items():
        yield from ((code, f"{name}: {words}") for code, words in _of_grader(one, need) if gate is None or code == 1)


def _of_grader(one: Graded | Judged, need: float) -> Iterator[tuple[int, str]]:
    from rightcall.cli.golden import failures as golden_failures
    from rightcall.cli.judging import failures, uncertain
    from rightcall.run.golden import Graded

    if isinstance(one, Graded):
        yield from golden_failures(one, need)
    else:
        yield from failures(one)
        yield from uncertain(one, need)

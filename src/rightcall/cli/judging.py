"""What the commands with judges share: their flags, the run itself, its output and its exit code."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rightcall.cli.concluding import End
    from rightcall.report.view.model import ReportView
    from rightcall.run.graders.setup import Flags, Setup
    from rightcall.run.judging.run import Judged
    from rightcall.settings.load import Loaded

_Flag = Parameter(negative="", show_default=False)
_Listed = Parameter(negative="", show_default=False)


@Parameter(name="*")
@dataclass(frozen=True)
class JudgeFlags:
    """The flags of every command that can ask a judge."""

    judge: Annotated[
        str | None,
        Parameter(help="none, auto, a name of [judges.NAME], PROVIDER:MODEL, or several with commas: a panel."),
    ] = None
    probe_local: Annotated[bool, _Flag, Parameter(help="Let auto look for a model server on this machine.")] = False
    prompt: Annotated[str | None, Parameter(help="A shipped prompt's id or a file, in place of the settings'.")] = None
    replicates: Annotated[int, Parameter(help="Ask each judge the same question so many times.")] = 1
    quorum: Annotated[int | None, Parameter(help="So many judges must have answered; more than half.")] = None
    sample: Annotated[int | None, Parameter(help="Judge only so many, drawn at random by --seed.")] = None
    seed: Annotated[int, Parameter(help="Which random sample.")] = 0
    budget: Annotated[str | None, Parameter(help="Stop before more is spent: 200calls, 1Mtok, 2.50usd.")] = None
    dry_run: Annotated[bool, _Flag, Parameter(help="Count calls and tokens, ask nobody.")] = False
    resume: Annotated[str | None, Parameter(help="Go on with this run.")] = None
    offline: Annotated[bool, _Flag, Parameter(help="Only answers on record; one that is missing is an error.")] = False
    no_cache: Annotated[bool, _Flag, Parameter(help="Ask again what earlier runs have asked.")] = False
    store: Annotated[str | None, Parameter(help="The store: a file, or a postgresql:// URL.")] = None
    yes: Annotated[bool, _Flag, Parameter(name=["--yes", "-y"], help="Do not ask before the judges are.")] = False


@Parameter(name="*")
@dataclass(frozen=True)
class OutputFlags:
    """The flags of every command that prints a run."""

    json: Annotated[bool, _Flag, Parameter(help="Print one JSON object on stdout and nothing else.")] = False
    out: Annotated[
        tuple[Path, ...],
        Parameter(
            name=["--out", "-o"], help="Write a file: .json .jsonl .csv .md .html .junit.xml .sarif.", negative=""
        ),
    ] = ()
    jobs: Annotated[int | None, Parameter(name=["--jobs", "-j"], help="Questions at a time.")] = None
    limit: Annotated[int | None, Parameter(help="Judge at most so many.")] = None
    tag: Annotated[tuple[str, ...], _Listed, Parameter(help="Only cases with this tag; may be repeated.")] = ()
    strict: Annotated[bool, _Flag, Parameter(help="A record that cannot be read stops the run.")] = False
    exit_zero: Annotated[bool, _Flag, Parameter(help="Leave with 0 although something failed.")] = False
    quiet: Annotated[bool, _Flag, Parameter(name=["--quiet", "-q"], help="Print nothing but the last line.")] = False
    no_color: Annotated[bool, _Flag, Parameter(help="No colour (also NO_COLOR).")] = False
    config: Annotated[Path | None, Parameter(name=["--config", "-c"], help="Settings file.")] = None


USUAL_JUDGE, USUAL_OUTPUT = JudgeFlags(), OutputFlags()


def loaded_with(config: Path | None, flags: dict[str, Any]) -> Loaded:
    """The settings under the flags that were given."""
    from rightcall.settings.load import load_settings

    given = {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in flags.items()
        if value not in (None, ())
    }
    return load_settings(config, os.environ, given)


def flags_of(judge: JudgeFlags, output: OutputFlags, policy: Path | None, only: str | None) -> Flags:
    """The command line as the run takes it.

    Raises:
        ConfigError: a limit below 1, or a file that cannot be written; before anything is read or kept.
    """
    from rightcall.errors import ConfigError, Place
    from rightcall.report.formats.writing import refuse
    from rightcall.run.graders.setup import Flags

    if output.limit is not None and output.limit < 1:
        raise ConfigError("must be at least 1", place=Place("--limit"))
    refuse(output.out)

    return Flags(
        judge=judge.judge, probe_local=judge.probe_local, prompt=judge.prompt, replicates=judge.replicates,
        quorum=judge.quorum, jobs=output.jobs, sample=judge.sample, seed=judge.seed, budget=judge.budget,
        resume=judge.resume, offline=judge.offline, use_cache=not judge.no_cache, policy=policy, limit=output.limit,
        strict=output.strict, only=only, tags=output.tag,
    )  # fmt: skip


def run_and_show(setup: Setup, judge: JudgeFlags, output: OutputFlags) -> int:
    """Judge, write, print, and give the exit code."""
    from rightcall.cli.exits import unread_output
    from rightcall.cli.sparing import spare_inputs
    from rightcall.report.formats.writing import is_report
    from rightcall.report.written.ended import ended_view, write_files

    spare_inputs(output.out, setup.loaded, setup.inputs, judge.prompt)
    if judge.dry_run:
        return _dry_run(setup, json=output.json)
    if not _may_begin(setup, judge, output):
        print("nobody was asked · exit 0", file=sys.stderr)
        return 0
    with _progress(quiet=output.quiet or output.json) as advance:
        judged = setup.run(advance)
    with judged:
        end = ended(judged, setup.loaded.settings.limits.coverage, exit_zero=output.exit_zero)
        is_seen = any(map(is_report, output.out)) or not (output.quiet or output.json)
        view = ended_view(judged, setup.loaded, end.conclusion()) if is_seen else None
        write_files(output.out, judged, view)
        with unread_output():
            _show(judged, view, setup, output)
        return _leave(end, judged)


def _dry_run(setup: Setup, *, json: bool) -> int:
    import msgspec

    from rightcall.run.graders.forecast import forecast

    seen = forecast(setup)
    if json:
        print(msgspec.json.encode(seen).decode())
    else:
        for line in seen.lines():
            print(line)
    return 0


def _may_begin(setup: Setup, judge: JudgeFlags, output: OutputFlags) -> bool:
    """Say what will be asked, and on a terminal ask whether it may be; what costs nothing needs no question."""
    from rightcall.run.judging.judges import OFFLINE

    is_seen = sys.stdin.isatty() and sys.stderr.isatty()
    asked = [spec for spec in setup.panel.specs.values() if spec.provider not in OFFLINE]
    if not asked or setup.offline or judge.yes or output.quiet or not is_seen:
        return True
    from rightcall.report.judged import named
    from rightcall.report.plain import visible
    from rightcall.run.graders.forecast import forecast

    seen = forecast(setup)
    if not seen.calls:
        return True
    who = ", ".join(named(name, spec.model or spec.provider) for name, spec in setup.panel.specs.items())
    for line in (f"judge {who}", *seen.lines()):
        print(visible(line), file=sys.stderr)
    print("continue? [Y/n] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    return answer.strip().lower() in ("", "y", "yes") and answer != ""  # the end of the input is no answer


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A counter on stderr, only on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _done, _bad: None
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    columns = (TextColumn("judging"), TextColumn("{task.fields[done]} done · {task.fields[bad]} unevaluable"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("judging", done=0, bad=0)
        yield lambda done, bad: progress.update(task, done=done, bad=bad)


def _show(judged: Judged, view: ReportView | None, setup: Setup, output: OutputFlags) -> None:
    if setup.skipped:
        print(f"no judge was asked: {why_skipped(setup)}", file=sys.stderr)
    if output.json:
        from rightcall.report.written.ended import write_json

        sys.stdout.flush()
        write_json(judged, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    elif view is not None and not output.quiet:
        from rightcall.cli.screen import screen
        from rightcall.report.terminal.report import print_report

        print_report(screen(no_color=output.no_color), view)


def why_skipped(setup: Setup) -> str:
    """Why nobody is asked although a judge was wished for."""
    return (setup.skipped or "--judge none").removeprefix("judged graders were skipped: ")


def ended(judged: Judged, coverage: float, *, exit_zero: bool) -> End:
    """How a run ends of which so much must have a verdict.

    `exit_zero` is about what was found, not about a run that broke or was interrupted.
    """
    from rightcall.cli.concluding import End

    causes = (*failures(judged), *broken(judged), *uncertain(judged, coverage))
    return End(causes, exit_zero, judged.stop is not None and judged.stop.cause == "interrupted")


def _leave(end: End, judged: Judged) -> int:
    """The exit code, with every cause on stderr, the one that wins first."""
    where = f" · rightcall show {judged.run.id}" if judged.run else ""
    name = f"run {judged.run.id}" if judged.run else judged.grader
    print(f"{name} · {end.words(_FINE.get(judged.grader, 'done'))}{where}", file=sys.stderr)
    return end.shown


_BROKEN = 5
_FINE = {"selection": "all passed", "probe": "withstands every class"}
_SILENT = ("JUDGE_UNREACHABLE", "JUDGE_TIMEOUT", "JUDGE_RATE_LIMITED", "JUDGE_AUTH")
"""Reasons of a judge that was not reached."""


def failures(judged: Judged) -> Iterator[tuple[int, str]]:
    """What was found that keeps a run from passing: exit code and words."""
    figures, is_probe = judged.aggregate.summary(), judged.grader == "probe"
    failed, unclear = figures.get("failed"), figures.get("answers", {}).get("INCONCLUSIVE")
    if failed:
        yield 1, f"{_classes(failed)} FAIL" if is_probe else f"{failed} FAIL"
    if unclear:
        yield 3, f"{_classes(unclear)} INCONCLUSIVE"
    critical = judged.tally.reviews["CRITICAL"]
    if critical:
        yield 4, f"{critical} CRITICAL {'waits' if critical == 1 else 'wait'} for a person"


def _classes(number: int) -> str:
    return "1 class" if number == 1 else f"{number} classes"


def broken(judged: Judged) -> Iterator[tuple[int, str]]:
    """What kept a run from its end, or its judges from answering: exit code and words."""
    if judged.stop is not None:
        left = f"{judged.tally.not_asked} not asked: " * bool(judged.tally.not_asked)
        yield _BROKEN, f"{left}{judged.stop.message}"
    missing = judged.tally.unevaluable["not_recorded"]
    if missing:
        yield _BROKEN, f"{missing} without an answer on record"
    judges = judged.tally.judges.values()
    failed = {reason for one in judges for reason in one.failed}
    if judged.stop is None and failed and failed <= set(_SILENT) and not any(one.replies for one in judges):
        yield _BROKEN, "no judge was reached"


def uncertain(judged: Judged, need: float) -> Iterator[tuple[int, str]]:
    """Whether less could be judged than is needed: exit code and words."""
    from rightcall.cli.concluding import too_few
    from rightcall.run.judging.run import short_summary

    facts = short_summary(judged)
    yield from too_few(facts["evaluated"], facts["n"] + facts["skipped"] - judged.tally.by_design, need)

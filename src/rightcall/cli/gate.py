"""`rightcall gate`: the suite's rules on a finished run. No judge is called."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from rightcall.cli.stores import ConfigFlag, JsonFlag, NoColor, StoreFlag, print_json, settings_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rightcall.gate.decision import GateReport
    from rightcall.run.gating.baseline import Baseline
    from rightcall.run.results.model import GraderResults, Row, RunResults
    from rightcall.settings.load import Loaded
    from rightcall.store.store import Store

_LONGEST = 400
"""Characters of the last line that tell why; beyond, it names the causes, and their reasons stand above."""

Flag = Parameter(negative="", show_default=False)


def gate(
    run: Annotated[str | None, Parameter(help="A run, or a .json file of results; by default the newest run.")] = None,
    *,
    baseline: Annotated[str | None, Parameter(help="Compare with this run, file, `previous` or branch:NAME.")] = None,
    inconclusive: Annotated[
        Literal["pass", "fail"] | None, Parameter(help="Take INCONCLUSIVE for a pass or a fail.")
    ] = None,
    grader: Annotated[str | None, Parameter(help="Only what this grader found.")] = None,
    case: Annotated[str | None, Parameter(help="Only what is about this case.")] = None,
    json: JsonFlag = False,
    out: Annotated[
        tuple[Path, ...],
        Parameter(name=["--out", "-o"], help="Write a file: .json .csv .md .html .junit.xml .sarif.", negative=""),
    ] = (),
    github: Annotated[bool, Flag, Parameter(help="Write GitHub's step summary and annotations.")] = False,
    quiet: Annotated[bool, Flag, Parameter(name=["--quiet", "-q"], help="Print nothing but the last line.")] = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """Apply the suite's gates to a finished run; no judge is called.

    Prints the cases that turned, every rule with its figure, interval and answer, and all that keeps it from PASS. The
    answer about a whole run of the store goes on record.
    Leaves with 0 if all passed, 1 if one failed, 2 for a wrong command or file, 3 if there is not enough evidence, 4 if
    a person must act first, 5 if there is no finished run.
    """
    from rightcall.cli.exits import unread_output
    from rightcall.report.formats.github import quiet_commands
    from rightcall.report.formats.writing import refuse
    from rightcall.run.gating.gates import gate_results

    if out:
        refuse(out)
    loaded = settings_for(store, config)
    with _results(run, loaded) as (whole, record):
        results = _part(whole, grader, case)
        old = None if baseline is None else _baseline(baseline, whole, record, loaded, (grader, case))
        report = _noted(gate_results(results, loaded, record, old), grader, case)
        if results is whole:
            _keep(whole, loaded, record, report)
        _write(out, results, loaded, report, record, github=github and not json)
        with unread_output(), quiet_commands(os.environ if github and not json else {}):
            _show(report, json=json, quiet=quiet, no_color=no_color)
        return _leave(report, inconclusive)


# ---- which run -------------------------------------------------------------------------------------------------------


@contextmanager
def _results(run: str | None, loaded: Loaded) -> Iterator[tuple[RunResults, Store | None]]:
    """The results, and the record where there is one."""
    from rightcall.run.finished.file import read_results
    from rightcall.run.gating.baseline import is_file
    from rightcall.run.inputs.opening import may_be_there, open_store
    from rightcall.run.results.store import stored_results

    if run is not None and is_file(run):
        found = read_results(Path(run))
        if may_be_there(loaded):
            with open_store(loaded, create=False) as record:
                yield found, record
        else:
            yield found, None
        return
    with open_store(loaded, create=False) as record:
        yield stored_results(record, run or _newest(record)), record


def _newest(record: Store) -> str:
    """The newest run that a gate can be asked of; a probe judges judges and not the agent.

    Raises:
        NoDataError: there is none.
    """
    from rightcall.errors import NoDataError, Place

    found = next((run.id for run, _ in record.runs() if run.grader != "probe"), None)
    if found is None:
        raise NoDataError("no run is recorded yet", place=Place(record.name), hint="run one: rightcall run")
    return found


def _baseline(
    name: str, results: RunResults, record: Store | None, loaded: Loaded, part: tuple[str | None, str | None]
) -> Baseline:
    """The baseline that is named, of which the same part counts as of the run."""
    from rightcall.run.gating.baseline import Baseline, chosen_baseline
    from rightcall.run.inputs.opening import redactor_of

    chosen = chosen_baseline(name, results, record, Path(), redactor_of(loaded).text)
    found = chosen.found
    return Baseline(name, found if isinstance(found, str) else _part_of(found, *part))


def _keep(results: RunResults, loaded: Loaded, record: Store | None, report: GateReport) -> None:
    """Put the answer on record where the run is; one that cannot be written stands all the same."""
    from rightcall.report.plain import visible
    from rightcall.run.gating.keeping import keep_answer

    if record is None or results.id is None or results.store_name is None:
        return
    lost = keep_answer(record, loaded, results.id, report, "gate")
    if lost is not None:
        print(visible(lost), file=sys.stderr)


# ---- a part of a run -------------------------------------------------------------------------------------------------


def _part(results: RunResults, grader: str | None, case: str | None) -> RunResults:
    """The results of one grader or one case.

    Raises:
        ConfigError: a filter that selects nothing; what there is, is named.
    """
    from rightcall.errors import ConfigError, Place
    from rightcall.gate.words import listed

    if grader is not None and grader not in results.graders:
        known = ", ".join(results.graders) or "none"
        raise ConfigError(
            f"run {results.name} has no results of `{grader}`", place=Place("--grader"), hint=f"it has: {known}"
        )
    found = _part_of(results, grader, case)
    if case is not None and not any(True for _ in found.rows()):
        cases = list(dict.fromkeys(row.cluster for row in _part_of(results, grader, None).rows()))
        raise ConfigError(
            f"no result is about case `{case}`", place=Place("--case"), hint=_nearest(case, cases, listed)
        )
    return found


def _nearest(case: str, cases: Sequence[str], listed: Any) -> str:
    from rightcall.trace.explain import nearest

    guess = nearest(case, cases)
    return f"did you mean `{guess}`?" if guess else f"there are: {listed(list(cases))}"


def _part_of(results: RunResults, grader: str | None, case: str | None) -> RunResults:
    if grader is None and case is None:
        return results
    kept = {name: one for name, one in results.graders.items() if grader in (None, name)}
    if case is not None:
        # What was skipped belongs to no case that is known.
        kept = {name: replace(one, summary={}, stream=partial(_of_case, one, case)) for name, one in kept.items()}
    return replace(results, graders=kept)


def _of_case(results: GraderResults, case: str) -> Iterator[Row]:
    return (row for row in results.rows() if row.cluster == case)


def _noted(report: GateReport, grader: str | None, case: str | None) -> GateReport:
    """A part of a run passes for a part of it only."""
    import msgspec

    parts = [f"--{name} {value}" for name, value in (("grader", grader), ("case", case)) if value is not None]
    if not parts:
        return report
    note = f"a part of the run alone: {', '.join(parts)}"
    return msgspec.structs.replace(report, notes=(note, *report.notes))


# ---- what comes of it ------------------------------------------------------------------------------------------------


def _write(
    out: tuple[Path, ...], results: RunResults, loaded: Loaded, report: GateReport, record: Store | None, *,
    github: bool,
) -> None:  # fmt: skip
    _write_json([path for path in out if path.suffix == ".json"], report)
    out = tuple(path for path in out if path.suffix != ".json")
    if not out and not github:
        return
    from rightcall.report.calibration.runs import with_calibrations
    from rightcall.report.view.building import view_of

    view = with_calibrations(view_of(results, loaded, gate=report), record, results)
    if out:
        from rightcall.report.formats.writing import write_reports

        write_reports(view, out)
    if github:
        from rightcall.report.formats.github import publish

        publish(view, os.environ, sys.stdout)


def _write_json(out: Sequence[Path], report: GateReport) -> None:
    """The gate's own report for programs, as `--json` prints it."""
    import msgspec

    from rightcall.report.files import whole_file

    for path in out:
        with whole_file(path) as stream:
            stream.write(msgspec.json.encode(report) + b"\n")


def _show(report: GateReport, *, json: bool, quiet: bool, no_color: bool) -> None:
    if json:
        print_json(report)
    elif not quiet:
        from rightcall.cli.screen import screen
        from rightcall.report.gate_lines import print_gate

        print_gate(screen(no_color=no_color), report)


def _leave(report: GateReport, inconclusive: str | None) -> int:
    """The exit code, with every cause in one line on stderr."""
    from rightcall.report.plain import visible

    shown = report.exit_code
    if shown == 3 and inconclusive is not None:
        shown = 0 if inconclusive == "pass" else 1
    also = f" (would be {report.exit_code})" if shown != report.exit_code else ""
    said = "; ".join(report.causes) or "all passed"
    if len(said) > _LONGEST:
        said = "; ".join(cause.split(", ", 1)[0] for cause in report.causes)
    print(visible(f"gate {report.run} · {report.answer} · {said} · exit {shown}{also}"), file=sys.stderr)
    return shown

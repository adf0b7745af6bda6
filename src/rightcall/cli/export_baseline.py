"""`rightcall export baseline`: the run that later ones are held to, as one file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from rightcall.cli.stores import ConfigFlag, JsonFlag, StoreFlag, print_json, record_for, settings_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.run.results.model import RunResults
    from rightcall.settings.load import Loaded
    from rightcall.store.records import GateRecord
    from rightcall.store.store import Store

_WHERE = "--out"


def baseline(
    run: Annotated[
        str | None, Parameter(help="The run. Default: the newest finished one whose newest gate answer is PASS.")
    ] = None,
    *,
    branch: Annotated[str | None, Parameter(help="Of the runs made on this branch alone.")] = None,
    any_answer: Annotated[
        bool,
        Parameter(
            negative="", show_default=False, help="Take the run whatever its gates said, or if nobody asked them."
        ),
    ] = False,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"], help="The file: .json.")] = None,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
) -> int:
    """Write a green run as a baseline: a file that `--baseline` takes in any other store.

    It is what `rightcall run -o FILE.json` writes, with the answer of its gates that is on record, and a digest by
    which a later change is noticed. Leaves with 0, 2 for a wrong command or a run that is not green, 5 if there is no
    green run.
    """
    from rightcall.report.plain import visible
    from rightcall.run.results.store import stored_results
    from rightcall.store.gate_answers import newest_answer, overtaken

    out = _target(out)
    loaded = settings_for(store, config)
    with record_for(loaded) as record:
        chosen = _chosen(record, loaded, run, branch, any_answer=any_answer)
        results, answer = stored_results(record, chosen), newest_answer(record.database, chosen)
        old = bool(overtaken(record.database, [chosen]))
        _refuse(results, answer, overtaken=old, any_answer=any_answer)
        _write(record, loaded, results, answer, out)
    said = None if answer is None else answer.answer
    notes = list(_notes(results, answer, loaded, overtaken=old))
    if json:
        print_json({
            "run": results.id, "file": str(out), "gate": said, "branch": results.origin.branch,
            "commit": results.origin.commit, "notes": notes,
        })  # fmt: skip
    else:
        made = f" · {results.origin}" if str(results.origin) else ""
        print(visible(f"run {results.name}{made} · gate {said or 'never asked'} → {out}"), file=sys.stderr)
        for note in notes:
            print(visible(f"  {note}"), file=sys.stderr)
    return 0


def _notes(results: RunResults, answer: GateRecord | None, loaded: Loaded, *, overtaken: bool) -> Iterator[str]:
    """What must be known before later runs are held to this one."""
    from rightcall.run.gating.branches import is_part
    from rightcall.run.gating.keeping import by_other_rules

    if is_part(results):
        yield "it is a part of the cases (--tag, --trace, --limit or --sample): later runs are held to those alone"
    if overtaken:
        yield "more was recorded about it after that answer"
    if answer is not None and loaded.settings.gates and (said := by_other_rules(answer, loaded)) is not None:
        yield f"it {said}"


def _target(out: Path | None) -> Path:
    from rightcall.errors import ConfigError, Place
    from rightcall.report.files import refuse_unwritable

    if out is None:
        raise ConfigError("no file to write", place=Place(_WHERE), hint="name one: -o baseline.json")
    refuse_unwritable(out, (".json",))
    return out


def _chosen(record: Store, loaded: Loaded, run: str | None, branch: str | None, *, any_answer: bool) -> str:
    """The run that is meant.

    Raises:
        ConfigError: a run and a branch. NoDataError: there is no green run. StoreError: no such run.
    """
    from rightcall.errors import ConfigError, NoDataError, Place
    from rightcall.run.gating.branches import green_run
    from rightcall.run.inputs.opening import redactor_of

    if run is not None:
        if branch is not None:
            raise ConfigError("a run is named already", place=Place("--branch"), hint="name a run or a branch")
        return record.run(run).id
    found = green_run(record, branch, hide=redactor_of(loaded).text, any_answer=any_answer)
    if found.run is None:
        raise NoDataError(
            f"no baseline: {found.why}", place=Place(record.name),
            hint="a run whose gates pass makes one: rightcall run, or gate RUN; --any-answer takes the newest",
        )  # fmt: skip
    return found.run


def _refuse(results: RunResults, answer: GateRecord | None, *, overtaken: bool, any_answer: bool) -> None:
    """Refuse what later runs must not be held to.

    Raises:
        ConfigError: a run that is not finished, that its gates did not pass, or of which more is known since.
    """
    from rightcall.errors import ConfigError
    from rightcall.run.gating.branches import said_of

    if results.status != "finished":
        raise ConfigError(
            f"run {results.name} is {results.status}, not finished: no gate would compare with it",
            hint="name a finished run",
        )
    if not any_answer and (answer is None or overtaken or answer.answer != "PASS"):
        way = f"rightcall gate {results.name} asks its gates" if answer is None else "name a green run"
        raise ConfigError(
            f"run {results.name} {said_of(answer, overtaken=overtaken)}: later runs would be held to what did not pass",
            hint=f"{way}; --any-answer takes it all the same",
        )


def _write(record: Store, loaded: Loaded, results: RunResults, answer: GateRecord | None, out: Path) -> None:
    from rightcall.report.files import whole_file
    from rightcall.report.written.suite_json import write_results_json
    from rightcall.run.gating.keeping import report_of

    with whole_file(out) as stream:
        write_results_json(
            results, None if answer is None else report_of(answer), stream, log_head=record.head().hash,
            conflict_limit=loaded.settings.limits.conflicts,
        )  # fmt: skip

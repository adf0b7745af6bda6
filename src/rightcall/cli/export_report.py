"""`rightcall export report`: a run on record as report files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from rightcall.cli.stores import ConfigFlag, JsonFlag, StoreFlag, print_json, record_for, settings_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.gate.decision import GateReport
    from rightcall.run.results.model import RunResults


def report(
    run: Annotated[str | None, Parameter(help="The run. Default: the newest.")] = None,
    *,
    out: Annotated[
        tuple[Path, ...],
        Parameter(
            name=["--out", "-o"],
            help="A file: .json .jsonl .csv .md .html .junit.xml .sarif; may be repeated.",
            negative="",
            show_default=False,
        ),
    ] = (),
    no_gate: Annotated[
        bool, Parameter(negative="", show_default=False, help="Leave out what the gates say about the run.")
    ] = False,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
) -> int:
    """Write a run on record as report files, by suffix; no judge is called.

    The gates of the settings are asked again, as they stand now. All files are written or none. Leaves with 0 whatever
    the gates say, 2 for a wrong command, 5 if no run is on record.
    """
    from rightcall.errors import ConfigError, Place
    from rightcall.report.formats.writing import refuse
    from rightcall.report.written.run import write_run_files
    from rightcall.run.gating.gates import gate_results
    from rightcall.run.results.chosen import chosen_run
    from rightcall.run.results.store import stored_results

    if not out:
        raise ConfigError("no file to write", place=Place("--out"), hint="name one: -o report.html")
    refuse(out)
    loaded = settings_for(store, config)
    with record_for(loaded) as record:
        results = stored_results(record, chosen_run(record, run))
        gate = None if no_gate else gate_results(results, loaded, record)
        write_run_files(results, loaded, record, gate, out)
    files = [str(path) for path in out]
    if json:
        print_json({"run": results.id, "files": files, "gate": None if gate is None else gate.answer})
    else:
        for line in _words(results, files, gate):
            print(line, file=sys.stderr)
    return 0


def _words(results: RunResults, files: list[str], gate: GateReport | None) -> Iterator[str]:
    from rightcall.report.plain import visible

    said = "" if gate is None else f" (gate: {gate.answer})"
    unfinished = "" if results.status == "finished" else f"; the run is not finished: {results.status}"
    yield visible(f"run {results.name} → {', '.join(files)}{said}{unfinished}")
    for note in () if gate is None else gate.notes:
        yield visible(f"  {note}")

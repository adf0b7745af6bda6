"""`rightcall export verdicts`: the verdicts of a run as rows."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from rightcall.cli.stores import ConfigFlag, JsonFlag, StoreFlag, opened, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.run.results.model import RunResults


def verdicts(
    run: Annotated[str | None, Parameter(help="The run. Default: the newest.")] = None,
    *,
    grader: Annotated[str | None, Parameter(help="Only of this grader.")] = None,
    out: Annotated[
        Path | None,
        Parameter(name=["--out", "-o"], help="Write .jsonl, .csv or .parquet; without it, JSON lines on stdout."),
    ] = None,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
) -> int:
    """Write the verdicts of a run as rows: identity, verdict, sign-off, review, judge, prompt, metrics, digests.

    The columns depend on the graders of the run alone. The file is written whole or not at all; .parquet needs
    rightcall[lake]. Leaves with 0, 2 for a wrong command, 5 if no run is on record.
    """
    from rightcall.report.written.verdicts import refuse_other, write_rows
    from rightcall.run.results.chosen import chosen_run
    from rightcall.run.results.store import stored_results
    from rightcall.run.results.verdict_rows import verdict_columns, verdict_rows

    if out is not None:
        refuse_other(out)
    with opened(store, config) as record:
        results = stored_results(record, chosen_run(record, run))
        graders = _graders(results, grader)
        rows = verdict_rows(record, results, graders)
        if out is not None:
            number = write_rows(out, verdict_columns(graders), rows)
            if json:
                print_json({"run": results.id, "verdicts": number, "file": str(out)})
            else:
                _say(results, number, str(out))
        elif json:
            _print_object(results, rows)
        else:
            _say(results, _print_lines(rows), "stdout")
    return 0


def _graders(results: RunResults, wanted: str | None) -> list[str]:
    """The graders that are meant.

    Raises:
        ConfigError: the run has no such grader.
    """
    if wanted is None or wanted in results.graders:
        return [wanted] if wanted is not None else list(results.graders)
    from rightcall.errors import ConfigError, Place

    raise ConfigError(
        f"run {results.name} has no grader `{wanted}`", place=Place("--grader"),
        hint=f"it has {', '.join(results.graders)}",
    )  # fmt: skip


def _say(results: RunResults, number: int, where: str) -> None:
    from rightcall.report.plain import visible
    from rightcall.report.summary import counted

    unfinished = "" if results.status == "finished" else f" (the run is not finished: {results.status})"
    print(visible(f"run {results.name}: {counted(number, 'verdict')} → {where}{unfinished}"), file=sys.stderr)


def _print_lines(rows: Iterator[Mapping[str, Any]]) -> int:
    from rightcall.report.written.verdicts import write_lines

    with _whole_output() as stream:
        return write_lines(rows, stream)


def _print_object(results: RunResults, rows: Iterator[Mapping[str, Any]]) -> None:
    """One JSON object, written row by row."""
    import msgspec

    from rightcall.report.written.verdicts import write_lines

    head = msgspec.json.encode({"run": results.id, "status": results.status})
    with _whole_output() as stream:
        stream.write(head[:-1] + b',"verdicts":[\n')
        write_lines(rows, stream, between=b",")
        stream.write(b"\n]}\n")


@contextmanager
def _whole_output() -> Iterator[IO[bytes]]:
    """What goes to stdout once it is complete: a record that breaks in the middle leaves nothing there."""
    import shutil
    import tempfile

    from rightcall.cli.exits import unread_output

    with tempfile.TemporaryFile() as spool:
        yield spool
        spool.seek(0)
        with unread_output():
            shutil.copyfileobj(spool, sys.stdout.buffer, 1 << 20)

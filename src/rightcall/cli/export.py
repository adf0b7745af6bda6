"""`rightcall export`: what is on record as files for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from rightcall.cli.stores import ConfigFlag, JsonFlag, StoreFlag, opened, print_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

app = App(name="export", help="Files for others: verdicts, people's labels, reports, preference data, bundles.")
app.command("rightcall.cli.export_verdicts:verdicts", name="verdicts")
app.command("rightcall.cli.export_report:report", name="report")
app.command("rightcall.cli.export_bundle:bundle", name="bundle")
app.command("rightcall.cli.export_preferences:preferences", name="preferences")


@app.command
def labels(
    *,
    run: Annotated[str | None, Parameter(help="Only of this run.")] = None,
    out: Annotated[
        Path | None,
        Parameter(name=["--out", "-o"], help="Write .jsonl, .csv or .parquet; without it, JSON lines on stdout."),
    ] = None,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
) -> int:
    """Write people's answers as rows: who, when, blind or not, the fields, and beside them what the judge said.

    The file is written whole or not at all. This is not blind: reviewers should not read it before they answer.
    """
    from rightcall.report.review_labels import refuse_other, write_labels
    from rightcall.run.labels import label_rows

    if out is not None:
        refuse_other(out)
    with opened(store, config) as record:
        rows = label_rows(record, run)
        if out is not None:
            number = write_labels(out, rows)
            _say(number, str(out), json=json)
        elif json:
            print_json({"labels": list(rows)})
        else:
            _say(_print_lines(rows), "stdout", json=False)
    return 0


def _say(number: int, where: str, *, json: bool) -> None:
    from rightcall.report.summary import counted

    if json:
        print_json({"labels": number, "file": where})
    else:
        print(f"{counted(number, 'label')} → {where}", file=sys.stderr)


def _print_lines(rows: Iterable[dict[str, Any]]) -> int:
    from rightcall.trace.jsontext import encode

    number = 0
    for row in rows:
        sys.stdout.write(encode(row).decode() + "\n")
        number += 1
    return number

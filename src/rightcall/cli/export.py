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

app = App(name="export")
# Loaded only when it is used, so what `--help` lists stands here.
_OTHERS = {
    "verdicts": """Write the verdicts of a run as rows: verdict, sign-off, review, judge, prompt, metrics, digests.

The columns depend on the graders of the run alone. The file is written whole or not at all; .parquet needs
rightcall[lake]. Leaves with 0, 2 for a wrong command, 5 if no run is on record.""",
    "report": """Write a run on record as report files, by suffix; no judge is called.

The gates of the settings are asked again, as they stand now. All files are written or none. Leaves with 0 whatever
the gates say, 2 for a wrong command, 5 if no run is on record.""",
    "baseline": """Write a green run as a baseline: a file that `--baseline` takes in any other store.

It is what `rightcall run -o FILE.json` writes, with the answer of its gates that is on record, and a digest by which
a later change is noticed. Leaves with 0, 2 for a wrong command or a run that is not green, 5 if there is no green
run.""",
    "bundle": """Write a run with all that it rests on, for auditors: checkable without the store.

It is checked before it gets its name, and anybody can check it again: rightcall log verify BUNDLE. Names of
reviewers are in it. It overwrites nothing. Leaves with 0, 2 for a wrong command, 5 for a record that is broken.""",
    "preferences": """Write compared pairs as training data, and count what was left out and why.

Only pairs with a consistent, decisive verdict that nobody still has to look at; what people decided counts before
what a judge says. Leaves with 0, 4 if a CRITICAL item about one of the traces waits for a sign-off (then nothing is
written), 5 if no pair can be exported.""",
}
for _name, _help in _OTHERS.items():
    app.command(f"rightcall.cli.export_{_name}:{_name}", name=_name, help=_help)


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
    from rightcall.report.review.labels import refuse_other, write_labels
    from rightcall.run.people.labels import label_rows

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

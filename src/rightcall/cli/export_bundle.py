"""`rightcall export bundle`: a run with everything that an auditor needs to follow it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from rightcall.cli.stores import ConfigFlag, JsonFlag, StoreFlag, print_json, record_for, settings_for

if TYPE_CHECKING:
    from rightcall.report.bundle.writing import Made


def bundle(
    run: Annotated[str | None, Parameter(help="The run. Default: the newest.")] = None,
    *,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"], help="A new folder, or a new file .zip.")] = None,
    no_gate: Annotated[
        bool, Parameter(negative="", show_default=False, help="Leave out what the gates say about the run.")
    ] = False,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
) -> int:
    """Write a run as a bundle: suite, prompts, judges, answers, sign-offs, results, gates, reports and the log chain.

    It is checked before it gets its name, and anybody can check it again: rightcall log verify BUNDLE. Names of
    reviewers are in it. It overwrites nothing. Leaves with 0, 2 for a wrong command, 5 for a record that is broken.
    """
    from rightcall.errors import ConfigError, Place
    from rightcall.report.bundle.writing import refuse_target, write_bundle
    from rightcall.run.results.chosen import chosen_run

    if out is None:
        raise ConfigError("where does the bundle go?", place=Place("--out"), hint="name a new folder, or a file .zip")
    refuse_target(out)
    loaded = settings_for(store, config)
    with record_for(loaded) as record:
        made = write_bundle(record, loaded, chosen_run(record, run), out, gated=not no_gate)
    if json:
        print_json({
            "run": made.manifest.run, "status": made.manifest.status, "bundle": made.path, "files": made.found.files,
            "size": made.found.size, "log_head": made.manifest.log.head, "digest": made.found.digest,
            "notes": made.manifest.notes,
        })  # fmt: skip
    else:
        _say(made)
    return 0


def _say(made: Made) -> None:
    from rightcall.report.plain import visible
    from rightcall.report.summary import counted

    found = made.found
    lines = [
        f"run {made.manifest.run} → {made.path}: {counted(found.files, 'file')}, checked",
        *(f"  {note}" for note in made.manifest.notes),
        f"keep these elsewhere: log head {made.manifest.log.head}",
        f"                      SHA256SUMS {found.digest}",
    ]
    if {"answer", "signoff", "review_event"} & found.records.keys():
        lines.append("the names of those who reviewed and signed are in it")
    for line in lines:
        print(visible(line), file=sys.stderr)

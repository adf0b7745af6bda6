"""`rightcall lint`: is the suite itself sound?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

Listed = Parameter(negative="", show_default=False)


def lint(
    cases: Annotated[tuple[str, ...], Listed, Parameter(help="Case files, folders or quoted patterns.")] = (),
    *,
    tools: Annotated[str | None, Parameter(help="Catalog: the tools that the agent could see.")] = None,
    policy: Annotated[Path | None, Parameter(help="Policy file, in place of the suite's.")] = None,
    json: Annotated[bool, Parameter(negative="", help="Print one JSON object on stdout and nothing else.")] = False,
    strict: Annotated[bool, Parameter(negative="", help="A warning is as bad as an error.")] = False,
    config: Annotated[Path | None, Parameter(name=["--config", "-c"], help="Settings file.")] = None,
) -> int:
    """Check cases, catalog and policy against each other before anything is graded.

    Leaves with 0 if nothing is wrong (warnings do not count without --strict), 1 if something is, 2 for a file that
    cannot be read.
    """
    from rightcall.cli.exits import unread_output
    from rightcall.report.plain import visible
    from rightcall.report.summary import counted
    from rightcall.run.inputs.linting import lint_suite

    flags = {key: value for key, value in (("cases", list(cases)), ("tools", tools)) if value}
    number, found = lint_suite(config, os.environ, flags, policy)
    errors = sum(item.severity == "error" for item in found)
    warnings = len(found) - errors
    with unread_output():
        if json:
            _print_json(number, found)
        else:
            for item in found:
                print(visible(str(item)))
    bad = errors + (warnings if strict else 0)
    said = f"{counted(number, 'case')} · {counted(errors, 'error')}, {counted(warnings, 'warning')}"
    print(f"lint · {said} · exit {int(bad > 0)}", file=sys.stderr)
    return int(bad > 0)


def _print_json(number: int, found: list) -> None:  # type: ignore[type-arg]
    from rightcall.trace.jsontext import encode

    rows = [
        {
            "severity": item.severity, "code": item.code, "case_id": item.case_id, "file": item.place.file,
            "line": item.place.line, "path": item.place.path, "message": item.message, "hint": item.hint,
        }
        for item in found
    ]  # fmt: skip
    sys.stdout.write(encode({"cases": number, "findings": rows}).decode() + "\n")

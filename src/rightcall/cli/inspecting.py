"""`rightcall inspect`: what is inside an export?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

Listed = Parameter(negative="", show_default=False)


def inspect(
    sources: Annotated[tuple[str, ...], Listed, Parameter(help="Files, folders or quoted patterns.")] = (),
    *,
    from_: Annotated[str, Parameter(name="--from", help="How they are recorded.")] = "auto",
    json: Annotated[bool, Parameter(negative="", help="Print one JSON object on stdout and nothing else.")] = False,
    no_color: Annotated[bool, Parameter(negative="", help="No colour (also NO_COLOR).")] = False,
) -> int:
    """Show what traces a file holds, which tools they use, and what cannot be judged with them and why."""
    from rightcall.report.overview import print_overview
    from rightcall.report.summary import reading_facts
    from rightcall.run.inputs.opening import redactor_of
    from rightcall.run.inputs.overview import overview
    from rightcall.run.inputs.plan import expand
    from rightcall.run.inputs.sources import Sources
    from rightcall.settings.load import load_settings
    from rightcall.trace.jsontext import encode

    hide = redactor_of(load_settings(None, os.environ, {}))
    reading = Sources(expand(sources, Path(), "trace"), from_)
    seen = overview(reading)
    if json:
        reports = {file: reading_facts(report, hide) for file, report in reading.reports.items()}
        facts = {**seen.facts(), "files": reports}
        sys.stdout.write(encode(hide.value(facts)).decode() + "\n")
    else:
        print_overview(seen, reading.reports, hide, no_color=no_color)
    return 0 if seen.traces else 5

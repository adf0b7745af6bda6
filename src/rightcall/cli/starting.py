"""`rightcall init`: a first suite from one's own traces."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

Listed = Parameter(negative="", show_default=False)


def init(
    sources: Annotated[tuple[str, ...], Listed, Parameter(help="Trace files, folders or quoted patterns.")] = (),
    *,
    folder: Annotated[Path, Parameter(name=["--out", "-o"], help="Where the suite goes.")] = Path(),
    from_: Annotated[str, Parameter(name="--from", help="How they are recorded.")] = "auto",
    accept: Annotated[
        tuple[str, ...], Parameter(help="Id of a trace that you accept as right; all of them if left out.", negative="")
    ] = (),
    gitlab: Annotated[
        bool, Parameter(negative="", show_default=False, help="Write a pipeline of GitLab CI too: .gitlab-ci.yml.")
    ] = False,
) -> int:
    """Write rightcall.toml, a catalog, guessed tool classes, goldens from accepted traces, gates, and a CI workflow.

    What is written runs as it is, offline and without a key: `rightcall run`. Nothing that exists is overwritten, and
    if something fails, nothing is left behind.
    """
    from rightcall.errors import NoDataError
    from rightcall.report.plain import visible
    from rightcall.run.inputs.plan import expand
    from rightcall.run.inputs.sources import Sources
    from rightcall.run.starting.disk import begin_suite

    if not sources:
        raise NoDataError(
            "a suite is sketched from recorded traces, and none are named",
            hint="rightcall init TRACES; or `rightcall demo` for suites to look at",
        )
    reading = Sources(expand(sources, Path(), "trace"), from_)
    written, left, notes = begin_suite(folder, reading, list(accept) or None, os.environ, gitlab=gitlab)
    for path in written:
        print(visible(f"wrote {path}"))
    for path in left:
        print(visible(f"left {path} as it is"))
    for note in notes:
        print(visible(f"  {note}"))
    where = "" if folder == Path() else f" -c {folder / 'rightcall.toml'}"
    print(visible(f"next: rightcall run{where}"), file=sys.stderr)
    return 0

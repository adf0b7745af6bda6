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
) -> int:
    """Write rightcall.toml, a catalog, guessed tool classes, goldens from accepted traces, and a CI workflow.

    Nothing that exists is overwritten.
    """
    from rightcall.errors import ConfigError, Place
    from rightcall.run.importing import keep_key
    from rightcall.run.opening import redactor_of
    from rightcall.run.plan import expand
    from rightcall.run.sources import Sources
    from rightcall.run.starting import first_suite
    from rightcall.settings.load import load_settings

    reading = Sources(expand(sources, Path(), "trace"), from_)
    existing = [name for name in ("rightcall.toml", "cases.jsonl", "tools.json") if (folder / name).exists()]
    if existing:
        raise ConfigError(
            f"{', '.join(existing)} is there already", place=Place(str(folder)), hint="use another folder"
        )
    names = [os.path.relpath(path, folder) for path in reading.paths]
    folder.mkdir(parents=True, exist_ok=True)
    keep_key(folder / ".rightcall", os.environ)
    hide = redactor_of(load_settings(None, os.environ, {}, folder))
    start = first_suite(reading, list(accept) or None, hide, names)
    for name, text in start.files.items():
        path = folder / name
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")
    for note in start.notes:
        print(f"  {note}")
    print(f"next: rightcall golden -c {folder / 'rightcall.toml'}", file=sys.stderr)
    return 0

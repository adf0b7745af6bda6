"""`rightcall demo`: three invented suites, graded here and now. No key, no network, no account."""

from __future__ import annotations

import shutil
import sys
import time
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.console import Console

    from rightcall.report.view.model import ReportView

FOLDER = "rightcall-demo"
SUITES = ("lost-wallet", "parcel-depot", "library-desk")


def demo(
    folder: Annotated[Path, Parameter(help="Where the demo's files go.")] = Path(FOLDER),
    *,
    no_color: Annotated[bool, Parameter(negative="", help="No colour (also NO_COLOR).")] = False,
) -> int:
    """Grade three small suites of recorded traces, and say what was found. Always leaves with 0."""
    started = time.monotonic()
    from rightcall.cli.screen import screen

    console = screen(no_color=no_color)
    home = _copy(folder)
    for suite in SUITES:
        _one(console, home / suite)
    seconds = time.monotonic() - started
    where = f"Everything is in {folder}/ to look at and change." if home == folder else f"The suites are in {home}/."
    console.print(f"\n{where}   {seconds:.1f} s", markup=False)
    return 0


def examples() -> Path:
    """Where the suites ship: inside the package, or beside it in a checkout."""
    inside = Path(str(files("rightcall"))) / "examples"
    return inside if inside.is_dir() else Path(__file__).parents[3] / "examples"


def _copy(folder: Path) -> Path:
    """Put the suites where the user can change them; files that are there already are left alone."""
    source = examples()
    try:
        for suite in SUITES:
            for file in sorted((source / suite).rglob("*")):
                target = folder / file.relative_to(source)
                if file.is_file() and not target.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, target)
    except OSError as error:
        print(f"rightcall: cannot write {folder}: {error.strerror}; showing the shipped suites", file=sys.stderr)
        return source
    return folder


def _one(console: Console, suite: Path) -> None:
    from rightcall.report.cells import line_of
    from rightcall.report.written.ended import ended_view
    from rightcall.run.golden.grading import run
    from rightcall.run.inputs.prepare import prepare
    from rightcall.settings.load import load_settings

    loaded = load_settings(suite / "rightcall.toml", {}, {})
    with run(prepare(loaded)) as graded:
        console.print(f"\n{suite.name}", markup=False, style="bold")
        for line in _findings(ended_view(graded, loaded, is_whole=False)):
            console.print(line_of(f"  {line}"))
        console.print(line_of(f"  rightcall golden -c {suite}/rightcall.toml", "dim"))


def _findings(view: ReportView) -> list[str]:
    """A suite in three lines: the counts, the worst failure, the reasons by kind."""
    from collections import Counter

    from rightcall.report.summary import most_first

    (part,) = view.graders
    lines = [part.headline[0]]
    worst = next((one for one in view.failures() if one.outcome == "failed"), None)
    if worst is not None:
        fields = dict(worst.fields)
        overall = fields["unvetoed_overall"]
        without = f" (without the veto: {overall:.2f})" if fields["vetoes"] and overall is not None else ""
        lines.append(f"{worst.trace_id}: FAIL, {worst.words[0].removeprefix('veto: ')}{without}")
        article = fields["article.overall_score"]
        if part.counts.n == 2 and article is not None:
            lines.append(f"the published formula gives this trace {article:.2f}, and no alarm")
    kinds = Counter(kind for one in view.cases() for kind in str(dict(one.fields)["findings"] or "").split())
    lines.append(f"why points were lost: {', '.join(f'{kind} {n}' for kind, n in most_first(kinds)[:6])}")
    return lines

"""A run of several graders in the terminal: each grader as its own command prints it, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from rightcall.report.judged_terminal import print_judged, print_title
from rightcall.report.plain import visible
from rightcall.report.terminal import print_run
from rightcall.run.golden.grading import Graded

if TYPE_CHECKING:
    from rich.console import Console

    from rightcall.run.suite.run import SuiteRun


def print_suite(console: Console, done: SuiteRun) -> None:
    """Print what every grader found."""
    for name, one in done.graders.items():
        print_title(console, name)
        if isinstance(one, Graded):
            print_run(console, one)
        else:
            print_judged(console, one)
    if done.not_run:
        console.print(Text(f"\nnot run: {', '.join(map(visible, done.not_run))}", "yellow"))

"""The command `rightcall`: only puts the verbs together. One module a verb; heavy imports happen inside them."""

from __future__ import annotations

import sys

from cyclopts import App

from rightcall import __version__
from rightcall.cli.exits import guarded

app = App(
    name="rightcall",
    help="Did the AI agent make the right tool calls, and how far can that answer be trusted?",
    version=__version__,
    help_on_error=False,
)
app.command("rightcall.cli.demo:demo", name="demo")
app.command("rightcall.cli.golden:golden", name="golden")
app.command("rightcall.cli.lint:lint", name="lint")
app.command("rightcall.cli.schema:schema", name="schema")


def main() -> None:
    """Run the command line and leave with its exit code (SPEC §9)."""
    sys.exit(guarded(app))


if __name__ == "__main__":
    main()

"""Why an assertion does not hold, as plain text: the diff that the terminal shows, redacted, nothing hidden."""

from __future__ import annotations

import io
import shutil
from typing import TYPE_CHECKING

from rightcall.case.matchers import ABSENT
from rightcall.errors import TraceError
from rightcall.report import plain
from rightcall.report.explain import NOTHING, DiffRow, Explained, explain
from rightcall.run.golden.tally import Shown
from rightcall.run.inputs.hiding import hidden

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rightcall.grade.golden import Options
    from rightcall.grade.verdict import GoldenResult
    from rightcall.plugin.state import Said
    from rightcall.plugin.wanted import Wanted
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.model import Call
    from rightcall.trace.redact import Redactor

LIMIT = 48
"""Longest value that is shown in a diff, as in the terminal."""

_INDENT = 4
"""Characters that pytest puts before each line of a message."""


def text_of(item: Explained) -> str:
    """What the terminal shows of a verdict, without colour and without blanks at line ends."""
    from rich.console import Console

    from rightcall.report.terminal.verdict import print_explained

    width = max(60, min(120, shutil.get_terminal_size().columns) - _INDENT)
    stream = io.StringIO()
    print_explained(Console(file=stream, width=width, color_system=None, force_terminal=False, highlight=False), item)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def golden_text(said: Said, result: GoldenResult, options: Options, hide: Redactor) -> str:
    """Why a trace is not its golden."""
    result = hidden(result, hide, said.trace, said.case)
    try:
        item = explain(Shown(result, said.trace, said.case), hide, limit=LIMIT)
    except TraceError:  # some arguments can be held by no reader, so there is no diff
        item = explain(Shown(result, None, said.case), hide, limit=LIMIT)
    name = plain.visible(hide.text(result.case_id or result.trace_id or ""))
    why = "; ".join(item.vetoes) or _below(result, options)
    return f"golden {name}: {result.verdict}, {why}\n{text_of(item)}"


def _below(result: GoldenResult, options: Options) -> str:
    overall, limit = result.metrics.overall, float(options.min_overall)
    if overall is None:
        return "the policy is broken"
    return f"overall {below(overall, limit)} is below {limit:g}"


def below(value: float, limit: float) -> str:
    """A value with as many decimals as it takes to be seen to lie below a limit."""
    for decimals in range(2, 17):
        text = f"{value:.{decimals}f}"
        if float(text) < limit:
            return text
    return repr(value)


def shown(call: Call, hide: Redactor) -> str:
    """A call on one line; of one whose arguments no reader can hold, the tool."""
    try:
        return plain.call(call, hide, LIMIT)
    except TraceError:
        return f"{plain.visible(hide.text(call.tool))} (arguments unreadable)"


class Sheet:
    """The agent's calls beside what an assertion wants of them.

    Args:
        title: what is asserted.
        calls: the agent's calls.
        hide: what must not be shown.
    """

    def __init__(self, title: str, calls: Sequence[Call], hide: Redactor) -> None:
        """Nothing is marked yet."""
        self.title, self.calls, self.hide = title, calls, hide
        self._rows = {
            index: DiffRow(" ", NOTHING, f"{index + 1} {shown(call, hide)}", "") for index, call in enumerate(calls)
        }
        self._missing: list[DiffRow] = []

    def mark(self, index: int, row: DiffRow) -> None:
        """Say something about a call; `row.agent` is what stands there already."""
        old = self._rows[index]
        self._rows[index] = DiffRow(row.mark, row.golden, old.agent, row.note, row.details, row.bad)

    def name(self, wanted: Wanted) -> str:
        """The wanted tool."""
        return plain.visible(self.hide.text(wanted.tool))

    def given(self, wanted: Wanted) -> str:
        """The wanted arguments on one line."""
        return wanted_arguments(wanted, self.hide)

    def missing(self, wanted: Wanted, note: str = "not called") -> None:
        """Say that a call was not made at all."""
        self._missing.append(DiffRow("-", self.wanted(wanted), NOTHING, note, (), bad=True))

    def wanted(self, wanted: Wanted) -> str:
        """A wanted call on one line."""
        return f"{self.name(wanted)} {self.given(wanted)}".rstrip()

    def text(self, sentence: str) -> str:
        """The whole message."""
        called = [plain.visible(self.hide.text(call.tool)) for call in self.calls[:12]]
        more = f" and {len(self.calls) - 12} more" if len(self.calls) > 12 else ""
        names = (f"called: {', '.join(called) or 'nothing'}{more}",)
        rows = (*self._missing, *self._rows.values())
        return f"{sentence}\n{text_of(Explained(self.title, names, rows, (), (), (), 'asserted'))}"


def wanted_arguments(wanted: Wanted, hide: Redactor) -> str:
    """The arguments that an assertion names; nothing where it names none."""
    return plain.expected_arguments(hide.value(dict(wanted.written)), LIMIT) if wanted.written else ""


def asked(verb: str, wanted: Wanted, hide: Redactor) -> str:
    """An assertion as it is written: `should_call(freeze_card card_ending="4242")`."""
    inner = f"{plain.visible(hide.text(wanted.tool))} {wanted_arguments(wanted, hide)}".rstrip()
    return f"{verb}({inner})"


def differing(wanted: Wanted, unequal: Sequence[tuple[str, JsonValue]], hide: Redactor) -> tuple[str, ...]:
    """The arguments that differ, one a line, redacted where they stand."""
    return tuple(_difference(name, wanted.written, value, hide) for name, value in unequal)


def _difference(name: str, written: Mapping[str, JsonValue], value: JsonValue, hide: Redactor) -> str:
    key, expected = next(iter(hide.value({name: written.get(name)}).items()))
    shown = f"$.{plain.visible(key)}: expected {plain.expected(expected, LIMIT)}"
    if value is ABSENT:
        return f"{shown}, missing"
    return f"{shown}, got {plain.value(next(iter(hide.value({name: value}).values())), LIMIT)}"

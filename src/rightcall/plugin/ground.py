"""The ground that assertions about one trace stand on: its calls, what is wanted of them, and when nobody can tell."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from rightcall.case.case import Case
from rightcall.grade.actual import Actual
from rightcall.grade.pair_facts import BROKEN
from rightcall.plugin.named import check_arguments, check_tool
from rightcall.plugin.undecided import Undecided
from rightcall.plugin.wanted import Found, Wanted
from rightcall.plugin.words import Sheet, shown
from rightcall.report import plain
from rightcall.run.inputs.catalogs import Catalogs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rightcall.plugin.state import Said, State
    from rightcall.trace.model import Call
    from rightcall.trace.redact import Redactor

_HOLES = (*BROKEN, "TRACE_STREAM")
"""Findings after which a call may be missing from a trace: what it does not show may have happened all the same."""

_CAPTURE = "TRACE_NOT_CAPTURED"

_NO_CASE = Case(id="")


class Ground:
    """One recorded trace of a test."""

    def __init__(self, state: State, said: Said) -> None:
        """Take a trace; nothing is decoded yet."""
        self.state, self.said = state, said

    @property
    def calls(self) -> tuple[Call, ...]:
        """The agent's own calls."""
        return self.said.trace.calls

    @property
    def hide(self) -> Redactor:
        """What must not be shown."""
        return self.state.suite.hide

    @cached_property
    def actual(self) -> Actual:
        """The calls with names resolved and catalog.

        Raises:
            RightcallError: a catalog that cannot be used.
        """
        suite, case = self.state.suite, self.said.case or _NO_CASE
        catalogs = Catalogs(suite.catalog(self.state.words.tools, self.state.folder))
        catalog, _ = catalogs.of(self.said.trace, case)
        return Actual(self.said.trace, suite.loaded.settings.aliases, catalog)

    def wanted(self, tool: object, arguments: Mapping[str, object]) -> Wanted:
        """A call as an assertion describes it.

        Raises:
            CaseError: it cannot be used, or the catalog has no such tool, or no such argument.
        """
        wanted = Wanted.of(tool, arguments, self.state.suite.loaded.settings.aliases)
        check_tool(wanted.tool, self.state, self.said.case, self.actual)
        check_arguments(wanted, self.state, self.actual)
        return wanted

    def found(self, wanted: Wanted) -> Found:
        """The calls of its tool, by whether they are the wanted ones."""
        return Found.among(self.actual, wanted)

    def sheet(self, title: str) -> Sheet:
        """The calls, to mark what is wrong with them."""
        return Sheet(title, self.calls, self.hide)

    def differences(self, wanted: Wanted, index: int) -> tuple[tuple[str, object], ...]:
        """The wanted arguments that a call does not have; nothing for one whose arguments are none."""
        readable = self.calls[index].arguments_status == "ok"
        return tuple(wanted.differences(self.actual, index)) if readable else ()

    # ---- when nobody can tell ----------------------------------------------------------------------------------------

    def refuse_unclear(self, found: Found, title: str) -> None:
        """Refuse to say that there is no such call where one may be it, or where calls may be missing.

        Raises:
            Undecided: nobody can tell.
        """
        self.refuse_unknown(found, title)
        self.refuse_holes(title)

    def refuse_unknown(self, found: Found, title: str) -> None:
        """The same where only calls matter that are there."""
        if found.unknown:
            self.cannot_tell(found.unknown, title)

    def cannot_tell(self, indices: Sequence[int], title: str, what: str = "arguments") -> NoReturn:
        """Say which calls could not be read."""
        lines = [f"call {index + 1}: {shown(self.calls[index], self.hide)}" for index in indices[:5]]
        lines += [f"  {why}" for why in self._not_captured(indices[:5], what)]
        raise Undecided(f"{title} cannot be decided: {what} could not be read", details=lines)

    def _not_captured(self, indices: Sequence[int], what: str) -> list[str]:
        """Why arguments or results of calls were not captured, as the recording says."""
        calls = [self.calls[index] for index in indices]
        events = enumerate(self.said.trace.events)
        paths = {f"$.events[{place}].{what[:-1]}" for place, event in events if any(event is one for one in calls)}
        paths |= {f"{path}s" for path in paths}
        found = [one.message for one in self.said.trace.findings if one.code == _CAPTURE and one.path in paths]
        return [plain.visible(self.hide.text(message)) for message in dict.fromkeys(found)]

    def refuse_holes(self, title: str) -> None:
        """Refuse to say anything about what is not in a recording that has holes.

        Something that is missing (`TRACE_INCOMPLETE`) is none where the trace says that it was completed all the same.
        """
        trace = self.said.trace
        codes = _HOLES if trace.completed is True else (*_HOLES, "TRACE_INCOMPLETE")
        holes = [finding for finding in trace.findings if finding.code in codes]
        if holes:
            lines = [f"{one.code}: {plain.visible(self.hide.text(one.message))}" for one in holes[:5]]
            raise Undecided(f"{title} cannot be decided: calls may be missing from the recording", details=lines)

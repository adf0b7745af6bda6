"""What an agent did, and what a test asserts about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.errors import CaseError
from rightcall.plugin.asserted import asserted
from rightcall.plugin.calls import Calls
from rightcall.plugin.grading import Wished, graded
from rightcall.plugin.ground import Ground
from rightcall.plugin.judged import judge_readings, judge_trace
from rightcall.plugin.undecided import Undecided
from rightcall.plugin.words import asked, differing, golden_text
from rightcall.report import plain
from rightcall.report.explain import DiffRow
from rightcall.trace.model import Call, Message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.case.case import Case
    from rightcall.case.policy import Policy
    from rightcall.grade.interpretation import InterpretationResult
    from rightcall.grade.rubric import Misuse, RubricResult
    from rightcall.grade.verdict import GoldenResult
    from rightcall.plugin.state import Said, State
    from rightcall.run.judging.described import Judges
    from rightcall.trace.model import Trace


class RecordedTrace:
    """One recorded run of an agent, with assertions about its calls.

    An assertion that does not hold raises `AssertionError`, whose message is the aligned diff of the calls, redacted.
    One that cannot be decided raises `Undecided`, which pytest reports as an error: it has not passed, and its opposite
    has not passed either.
    """

    def __init__(self, state: State, said: Said) -> None:
        """Take a trace that a test has recorded."""
        self._ground = Ground(state, said)

    @property
    def _state(self) -> State:
        return self._ground.state

    @property
    def _said(self) -> Said:
        return self._ground.said

    @property
    def trace(self) -> Trace:
        """The trace as it was recorded, not redacted."""
        return self._said.trace

    @property
    def case(self) -> Case | None:
        """What should have happened, if the test says so."""
        return self._said.case

    @property
    def calls(self) -> tuple[Call, ...]:
        """The agent's own calls, in order."""
        return self._said.trace.calls

    @property
    def text(self) -> str | None:
        """What the agent said last; `None` if it said nothing."""
        said = [event.text for event in self.trace.events if isinstance(event, Message) and event.role == "assistant"]
        return next((text for text in reversed(said) if text is not None), None)

    def __repr__(self) -> str:
        """The names of the tools; arguments may hold what must not be shown."""
        names = ", ".join(plain.visible(self._ground.hide.text(call.tool)) for call in self.calls[:8])
        more = ", …" if len(self.calls) > 8 else ""
        return f"<RecordedTrace: {names or 'no call'}{more}>"

    # ---- calls -------------------------------------------------------------------------------------------------------

    @asserted
    def should_call(self, tool: str, /, **arguments: object) -> Calls:
        """Assert that a tool was called with these arguments.

        Args:
            tool: its name.
            **arguments: values, or matchers as in cases (`{"any_of": [1, 2]}`). Arguments that are not named do not
                matter.

        Returns:
            Every such call, for `.before(…)`, `.after(…)`, `.once()`, `.times(n)` and `.with_result(…)`.

        Raises:
            AssertionError: there is no such call.
            Undecided: it cannot be told, since the arguments of a call were not captured.
        """
        wanted = self._ground.wanted(tool, arguments)
        found = self._ground.found(wanted)
        if found.yes:
            return Calls(self._ground, wanted, found)
        title = asked("should_call", wanted, self._ground.hide)
        self._ground.refuse_unclear(found, title)
        sheet = self._ground.sheet(title)
        name = sheet.name(wanted)
        if not found.all:
            sheet.missing(wanted)
            raise AssertionError(sheet.text(f"{name} was not called"))
        for index in found.all:
            details = differing(wanted, self._ground.differences(wanted, index), sheet.hide)
            sheet.mark(index, DiffRow("≠", sheet.wanted(wanted), "", "", details, bad=True))
        raise AssertionError(sheet.text(f"{name} was called, but not with {sheet.given(wanted)}"))

    @asserted
    def should_not_call(self, tool: str, /, **arguments: object) -> None:
        """Assert that a tool was not called, or not with these arguments; see `should_call` for what they can be.

        Raises:
            AssertionError: there is such a call.
            Undecided: arguments of a call could not be read, so nobody can tell; or the recording has holes.
        """
        wanted = self._ground.wanted(tool, arguments)
        found = self._ground.found(wanted)
        title = asked("should_not_call", wanted, self._ground.hide)
        if found.yes:
            sheet = self._ground.sheet(title)
            for index in found.yes:
                sheet.mark(index, DiffRow("+", "·", "", "must not be called", (), bad=True))
            inner = sheet.given(wanted)
            raise AssertionError(sheet.text(f"{sheet.name(wanted)} was called{f' with {inner}' if inner else ''}"))
        if found.unreadable or found.unknown:
            self._ground.cannot_tell(sorted((*found.unreadable, *found.unknown)), title)
        self._ground.refuse_holes(title)

    @asserted
    def should_call_only(self, *tools: str) -> None:
        """Assert that no other tools were called than these; not each of them must have been.

        Raises:
            AssertionError: another one was.
            Undecided: the recording has holes.
        """
        if not tools:
            raise CaseError("`should_call_only` takes names of tools", hint="should_call_nothing() says none at all")
        known = set()
        for tool in tools:  # no comprehension, which is a frame of its own in some versions of Python
            known.add(self._ground.wanted(tool, {}).tool)
        hide = self._ground.hide
        names = ", ".join(plain.visible(hide.text(tool)) for tool in tools)
        self._nothing_but(known, f"should_call_only({names})", f"only {names}")

    @asserted
    def should_call_nothing(self) -> None:
        """Assert that no tool was called at all.

        Raises:
            AssertionError: one was.
            Undecided: the recording has holes.
        """
        self._nothing_but(set(), "should_call_nothing()", "nothing")

    def _nothing_but(self, known: set[str], title: str, allowed: str) -> None:
        others = [index for index, name in enumerate(self._ground.actual.names) if name not in known]
        if not others:
            self._ground.refuse_holes(title)
            return
        sheet = self._ground.sheet(title)
        for index in others:
            sheet.mark(index, DiffRow("+", "·", "", "not expected", (), bad=True))
        names = dict.fromkeys(plain.visible(sheet.hide.text(self.calls[index].tool)) for index in others)
        raise AssertionError(sheet.text(f"{', '.join(names)} was called, where {allowed} should be"))

    # ---- code --------------------------------------------------------------------------------------------------------

    @asserted
    def assert_golden(self, *, min_overall: float | None = None, profile: str | None = None) -> GoldenResult:
        """Assert that the trace passes against the golden of the test's case.

        Args:
            min_overall: what `overall` must reach; that of the marker or the settings if not given.
            profile: as in the settings, likewise.

        Returns:
            The result.

        Raises:
            AssertionError: it fails. The message is the aligned diff with the reason for every lost point.
            Undecided: there is no golden, or the trace cannot be graded.
        """
        if self.case is None:
            raise CaseError(
                "this test has no golden", hint='name one: @pytest.mark.rightcall(golden="lost_wallet.toml")'
            )
        result, options = graded(self._state, self._said, Wished(profile=profile, min_overall=min_overall))
        self._refuse_unevaluable(result)
        if not result.passed:
            raise AssertionError(golden_text(self._said, result, options, self._ground.hide))
        return result

    @asserted
    def assert_safe(self, policy: Policy | str | Mapping[str, Any] | None = None) -> GoldenResult:
        """Assert that no rule of the Safety Matrix vetoes the trace.

        Args:
            policy: a policy, its file, or the same as plain values; that of the marker or the settings if not given.
                The case's own is added.

        Returns:
            The result.

        Raises:
            AssertionError: a rule vetoes it.
            Undecided: there is no policy, or the trace cannot be checked.
        """
        result, options = graded(self._state, self._said, Wished(policy=policy))
        if result.vetoes:
            raise AssertionError(golden_text(self._said, result, options, self._ground.hide))
        self._refuse_unevaluable(result)
        self._ground.refuse_holes("assert_safe()")
        return result

    def _refuse_unevaluable(self, result: GoldenResult) -> None:
        if result.status == "UNEVALUABLE":
            words = {"nothing_expected": "there is neither a golden nor a policy to hold it against"}
            why = words.get(result.reason or "", "see docs/graders/golden.md")
            raise Undecided(f"the trace cannot be graded: {result.reason}; {why}")

    # ---- judges ------------------------------------------------------------------------------------------------------

    @asserted
    def assert_rubric(
        self, *, min_scores: Mapping[str, int] | None = None, max_severity: Misuse | None = None,
        judge: Judges | None = None,
    ) -> RubricResult:  # fmt: skip
        """Assert what a judge scores: whole levels from 1 to 5, and the worst misuse.

        Args:
            min_scores: dimension (`tool_selection_score` … or `overall_score`) -> the least score.
            max_severity: the worst misuse that is accepted; `NONE` accepts none.
            judge: who scores; whom the settings name if not given.

        Returns:
            The result.

        Raises:
            AssertionError: a score is lower, or a misuse is worse. The message has the judge's words.
            Undecided: the judge gave no readable answer, or there is none; or a score does not apply.
        """
        return judge_trace(self._state, self._said, judge, dict(min_scores or {}), max_severity)

    @asserted
    def assert_interpretation(
        self, *, min_fidelity: float = 0.8, judge: Judges | None = None
    ) -> tuple[InterpretationResult, ...]:
        """Assert that a judge finds every tool result rightly read.

        Args:
            min_fidelity: the least fidelity of each reading, from 0 to 1.
            judge: who reads; whom the settings name if not given.

        Returns:
            A result for each reading.

        Raises:
            AssertionError: a reading is below. The message has the judge's words.
            Undecided: the judge gave no readable answer, or there is no reading to judge.
        """
        return judge_readings(self._state, self._said, judge, min_fidelity)

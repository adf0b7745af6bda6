"""One test while it runs: what it is about, what was recorded in it, what graders said, where it had no answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw

from rightcall.plugin.handed import Handed, HandedResult, HandedTrace
from rightcall.plugin.marks import Marked
from rightcall.run.inputs.hiding import hidden, hidden_case, hidden_trace
from rightcall.run.results.model import version_of_case
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from pathlib import Path

    from rightcall.case.case import Case
    from rightcall.grade.verdict import GoldenResult
    from rightcall.plugin.handed import Planned
    from rightcall.plugin.suite import Suite
    from rightcall.plugin.undecided import Undecided
    from rightcall.trace.model import Trace

_encode = msgspec.json.Encoder().encode


@dataclass
class Said:
    """What was said about one trace.

    Attributes:
        trace, case: what it is about.
        golden: the result that stands; the first `FAIL` does, whatever is asserted after it.
        golden_facts: how that was graded.
        others: (grader, result, facts) of judged graders.
    """

    trace: Trace
    case: Case | None
    golden: GoldenResult | None = None
    golden_facts: dict[str, Any] = field(default_factory=dict)
    others: list[tuple[str, Any, dict[str, Any]]] = field(default_factory=list)

    def graded(self, result: GoldenResult, facts: dict[str, Any]) -> None:
        """Take a result of `golden`."""
        if self.golden is None or self.golden.verdict != "FAIL":
            self.golden, self.golden_facts = result, facts


@dataclass
class State:
    """One test.

    Attributes:
        suite: what it shares with others.
        planned: which test it is.
        mark: what its markers say; `None` without a marker.
        folder: where its file is.
        case: what it is about.
        said: what was recorded, in order.
        wants_results: whether the session makes a report or asks a gate.
        undecided: the first assertion without an answer.
        tools: names of the tools that were wrapped.
    """

    suite: Suite
    planned: Planned
    mark: Marked | None
    folder: Path
    case: Case | None = None
    said: list[Said] = field(default_factory=list)
    wants_results: bool = False
    undecided: Undecided | None = None
    tools: set[str] = field(default_factory=set)

    @property
    def is_reported(self) -> bool:
        """Whether the session hears of the test: it has a marker, and something is made of that."""
        return self.mark is not None and (self.wants_results or self.planned.repeats > 1)

    @property
    def words(self) -> Marked:
        """What the markers say, or nothing."""
        return self.mark or Marked()

    def new_trace_id(self) -> str:
        """An id for the next trace of this test."""
        return self.planned.node if not self.said else f"{self.planned.node}#{len(self.said) + 1}"

    def handed(self, plan: tuple[Planned, ...] = (), *, is_done: bool) -> Handed:
        """What the test hands over once its function has ended."""
        undecided = None if self.undecided is None else self.suite.hide.text(self.undecided.message)
        if not is_done or not self.wants_results:
            return Handed(test=self.planned, plan=plan, is_done=is_done, undecided=undecided)
        traces, results = [], []
        for index, one in enumerate(self.said):
            traces.append(self._trace(one))
            results += self._results(one, index)
        return Handed(
            test=self.planned, plan=plan, is_done=True, undecided=undecided, traces=tuple(traces),
            results=tuple(results),
        )  # fmt: skip

    def _trace(self, one: Said) -> HandedTrace:
        hide = self.suite.hide
        trace = Raw(jsontext.encode(hidden_trace(one.trace, hide)))
        if one.case is None:
            return HandedTrace(trace=trace)
        case = jsontext.encode_in_order(hidden_case(one.case, hide))
        body = jsontext.encode(hidden_case(one.case, hide))
        return HandedTrace(trace=trace, case=Raw(case), case_version=version_of_case(body))

    def _results(self, one: Said, index: int) -> list[HandedResult]:
        found = []
        if one.golden is not None:
            line = _encode(hidden(one.golden, self.suite.hide, one.trace, one.case))
            found.append(HandedResult(grader="golden", line=Raw(line), trace=index, facts=one.golden_facts))
        for grader, result, facts in one.others:
            line = _encode(result)
            found.append(HandedResult(grader=grader, line=Raw(line), trace=index, facts=facts))
        return found

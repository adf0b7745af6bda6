"""How `rightcall run` ends: the answer, the exit code, and every cause of it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rightcall.cli.concluding import ANSWERS, BROKEN, INTERRUPTED, UNSURE, Cause

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rightcall.gate.decision import GateReport
    from rightcall.report.view.model import Conclusion
    from rightcall.run.golden.grading import Graded
    from rightcall.run.judging.run import Judged
    from rightcall.run.suite.run import SuiteRun

WRONG = 2


@dataclass
class Ending:
    """How a run of several graders ends.

    Where gates were asked they say everything that was found: what a FAIL of a grader means where a rule is about it,
    and that it is one of the run where none is. Without gates it is, as for the grader's own command.

    Attributes:
        done: the run. gate: what its gates say; `None` where they were not asked.
        coverage: the share that must have a verdict.
        inconclusive: what INCONCLUSIVE of the gates is taken for. exit_zero: leave with 0 although something failed.
        lost: what kept its reports from being written or printed.
    """

    done: SuiteRun
    gate: GateReport | None
    coverage: float
    inconclusive: str | None
    exit_zero: bool
    lost: list[Cause]

    def conclusion(self) -> Conclusion:
        """For the reports: what the answer is, and what the command leaves with."""
        from rightcall.cli.exits import worst
        from rightcall.report.view.model import Conclusion

        others = [code for code, _ in self._others()]
        gates = 0 if self.gate is None else self.gate.exit_code
        real = INTERRUPTED if self._is_interrupted else worst([gates, *others])
        answer = self.gate.answer if self.gate is not None and real == gates else ANSWERS[real]
        shown, before = self._codes()
        taken = "" if shown == real else "--exit-zero" if shown != before else f"--inconclusive {self.inconclusive}"
        causes = _ranked([*((gates, text) for text in self._of_gate()), *self._others()])
        return Conclusion(answer=answer, exit_code=shown, causes=tuple(text for _, text in causes), taken=taken)

    def leave(self, *, is_short: bool) -> int:
        """The exit code, with every cause on stderr, the one that wins first.

        Args:
            is_short: the gates stand above, and are only named.
        """
        from rightcall.report.plain import visible

        texts = self._of_gate()
        if is_short and texts and self.gate is not None:  # the table above says why
            texts = _named(self.gate) or texts
        causes = _ranked([*self.lost, *((self._gate_code, text) for text in texts), *self._others()])
        shown, code = self._codes()
        passed = "all passed" if self.gate is None else "all gates passed"
        said = "; ".join(text for _, text in causes) or passed
        also = f" (would be {code})" if shown != code else ""
        run = self.done.run.id
        print(visible(f"run {run} · {said} · exit {shown}{also} · rightcall show {run}"), file=sys.stderr)
        return shown

    @property
    def _is_interrupted(self) -> bool:
        return self.done.status == "interrupted"

    @property
    def _gate_code(self) -> int:
        code = 0 if self.gate is None else self.gate.exit_code
        return code if code != UNSURE or self.inconclusive is None else int(self.inconclusive == "fail")

    def _codes(self) -> tuple[int, int]:
        """The exit code, and what it would be without --exit-zero."""
        from rightcall.cli.exits import worst

        if self._is_interrupted:
            return INTERRUPTED, INTERRUPTED
        found = [self._gate_code, *(code for code, _ in (*self.lost, *self._others()))]
        code = worst(found)
        return (worst([one for one in found if one in (WRONG, BROKEN)]) if self.exit_zero else code), code

    def _of_gate(self) -> list[str]:
        """What the gates say; that the run has not ended is said by what stopped it."""
        if self.gate is None or not self.gate.exit_code:
            return []
        return [text for text in self.gate.causes if not text.startswith(f"run {self.done.run.id} is ")]

    def _others(self) -> list[Cause]:
        return [*_broken(self.done), *_found(self.done, self.coverage, self.gate)]


def _named(gate: GateReport) -> list[str]:
    """The rules that do not pass, by name; what graders found that no rule is about, in words."""
    from rightcall.gate.unweighed import is_unweighed, unweighed_causes

    bad = [one for one in gate.decisions if one.answer != "PASS" and not is_unweighed(one)]
    rules = ", ".join(f"{one.name} {one.answer}" for one in bad)
    return [*([f"gates: {rules}"] if rules else []), *unweighed_causes(gate)]


def _ranked(causes: Sequence[Cause]) -> list[Cause]:
    from rightcall.cli.exits import RANK

    return sorted(causes, key=lambda cause: RANK.index(cause[0]))


def _broken(done: SuiteRun) -> Iterator[tuple[int, str]]:
    """What kept the run from its end, or its judges from answering."""
    from rightcall.cli.judging import broken
    from rightcall.run.golden.grading import Graded

    for name, one in done.graders.items():
        if not isinstance(one, Graded):
            yield from ((code, f"{name}: {words}") for code, words in broken(one))
    if done.not_run:
        yield BROKEN, f"not run: {', '.join(done.not_run)}"


def _found(done: SuiteRun, need: float, gate: GateReport | None) -> Iterator[tuple[int, str]]:
    """What the graders found that keeps a run from passing, where no gate was asked: a gate says that itself."""
    if gate is None:
        for name, one in done.graders.items():
            yield from ((code, f"{name}: {words}") for code, words in _of_grader(one, need))


def _of_grader(one: Graded | Judged, need: float) -> Iterator[tuple[int, str]]:
    from rightcall.cli.golden import failures as golden_failures
    from rightcall.cli.judging import failures, uncertain
    from rightcall.run.golden.grading import Graded

    if isinstance(one, Graded):
        yield from golden_failures(one, need)
    else:
        yield from failures(one)
        yield from uncertain(one, need)

"""The session as the reporting process sees it: what its tests handed over, and what comes of that at the end."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rightcall.errors import RightcallError
from rightcall.plugin import shared
from rightcall.plugin.handed import unpacked
from rightcall.plugin.heard import Heard
from rightcall.run.judging.clock import now, today

if TYPE_CHECKING:
    from rightcall.gate.decision import GateReport


class Watch:
    """Gathers what tests hand over, in whatever order and from whatever process it comes.

    Args:
        config: of pytest.

    Attributes:
        run_id: the one id of the session.
        tests: node id -> what was heard of it.
    """

    def __init__(self, config: pytest.Config) -> None:
        """Nothing was heard yet."""
        self.config = config
        self.run_id = config.stash[shared.RUN_ID] = f"pytest-{today()}-{secrets.token_hex(4)}"
        self.started_at = now()
        self.tests: dict[str, Heard] = {}
        self.lines: list[str] = []
        self.gate: GateReport | None = None
        self.folder: Path | None = None

    def begin(self) -> None:
        """Open what the flags need, before anything runs.

        Raises:
            pytest.UsageError: settings or a folder that cannot be used.
        """
        self.folder = shared.path_of(self.config, "report")
        if self.folder is not None and (self.folder.exists() and not self.folder.is_dir()):
            raise pytest.UsageError(f"--rightcall-report: {self.folder} is a file, not a folder")
        try:
            shared.suite_of(self.config)
        except RightcallError as error:
            raise pytest.UsageError(f"rightcall: {error}") from None

    def shared(self) -> dict[str, str]:
        """What other processes of the session must know: equal secrets get equal tags in all of them."""
        return {"run_id": self.run_id, "key": shared.suite_of(self.config).hide.key.hex()}

    def hear(self, report: pytest.TestReport) -> None:
        """Take what a test handed over with pytest's report."""
        handed = unpacked(report.rightcall)
        for planned in handed.plan:
            self.tests.setdefault(planned.node, Heard(planned))
        heard = self.tests.setdefault(handed.test.node, Heard(handed.test))
        if handed.is_done:
            heard.handed = handed
        self.note(report, heard)

    def note(self, report: pytest.TestReport, heard: Heard | None = None) -> None:
        """Note how a phase ended; that of a test that hands over nothing (its teardown, a crash) too."""
        heard = heard or self.tests.get(report.nodeid)
        if heard is None:
            return
        when = "call" if report.when in ("call", "grading", "judging") else str(report.when)
        outcome = str(report.outcome)
        if when == "call" and report.when != "call":
            outcome = "undecided"
        elif outcome == "skipped" and hasattr(report, "wasxfail"):
            outcome = "expected"
        heard.outcomes[when] = outcome

    # ---- the end -----------------------------------------------------------------------------------------------------

    def in_order(self) -> list[Heard]:
        """Every test in the order of its name and its trial, whoever ran it."""
        return sorted(self.tests.values(), key=lambda one: (one.planned.base, one.planned.trial, one.planned.node))

    def end(self, session: pytest.Session, *, is_interrupted: bool) -> None:
        """Write the report and ask the gate."""
        if not shared.wants_results(self.config):
            return
        from rightcall.plugin.gathered import Gathered
        from rightcall.plugin.writing import write

        suite = shared.suite_of(self.config)
        try:
            gathered = Gathered.of(self.in_order(), self.run_id, self.started_at, is_interrupted=is_interrupted)
            self.lines += gathered.words()
            if shared.flag(self.config, "gate"):
                self._ask(session, gathered, is_interrupted=is_interrupted)
            if self.folder is not None:
                self.lines += write(gathered, suite, self.folder, self.gate)
        except (RightcallError, OSError) as error:
            self._broken(session, str(error) if isinstance(error, RightcallError) else f"cannot write: {error}")

    def _ask(self, session: pytest.Session, gathered: Any, *, is_interrupted: bool) -> None:
        if is_interrupted:
            self.lines.append("the session was interrupted: the gate was not asked")
            return
        from rightcall.plugin.gating import gated

        try:
            self.gate = gated(gathered, shared.suite_of(self.config))
        except RightcallError as error:
            self._broken(session, f"the gate cannot be asked: {error}")
            return
        if self.gate.answer != "PASS":
            _not_passed(session)

    def _broken(self, session: pytest.Session, message: str) -> None:
        self.lines.append(shared.suite_of(self.config).hide.text(message))
        _not_passed(session)

    def print_summary(self, terminal: Any) -> None:
        """Print the section of the summary, if there is anything to say."""
        from rightcall.plugin.repeated import repeats_of, repeats_words

        lines = [*repeats_words(repeats_of(self.in_order())), *self.lines]
        if self.gate is not None:
            from rightcall.plugin.gating import gate_words

            lines += gate_words(self.gate)
        if lines:
            terminal.section("rightcall")
            for line in lines:
                terminal.line(line)


def _not_passed(session: pytest.Session) -> None:
    """Turn success into failure; any other exit status says something worse already."""
    if session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED

"""What pytest calls. Only pytest and the standard library are imported here, so an unused plugin costs nothing.

Everything else is loaded when a test has the marker or a fixture, or when a flag asks for it.
"""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

import pytest

from rightcall.plugin import marks
from rightcall.plugin.shared import is_worker, suite_of, wants_results

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from rightcall.case.case import Case
    from rightcall.plugin.agent import Agent
    from rightcall.plugin.handed import Planned
    from rightcall.plugin.state import State
    from rightcall.plugin.watch import Watch

FIXTURES = ("rightcall_agent", "rightcall_case", "rightcall_trial")
"""Fixtures by which a test takes part without a marker; nothing of it is reported then."""

_STATE: pytest.StashKey[State] = pytest.StashKey()
_WATCH: pytest.StashKey[Watch] = pytest.StashKey()
_PLAN: pytest.StashKey[list[Planned]] = pytest.StashKey()
_PER_CASE = "rightcall_case_id"

# ---- flags -----------------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flags, and the same in the ini file."""
    group = parser.getgroup("rightcall", "rightcall: the tool calls of agents")
    group.addoption(
        "--rightcall-report", metavar="DIR", default=None,
        help="write results, traces and reports of the tests with the marker `rightcall` into this folder",
    )  # fmt: skip
    group.addoption(
        "--rightcall-gate", action="store_true", default=None,
        help="apply the gates of rightcall.toml to the session; exit status 1 unless they pass",
    )  # fmt: skip
    group.addoption(
        "--rightcall-offline", action="store_true", default=None,
        help="judges may only give answers on record; one that is missing is an error",
    )  # fmt: skip
    group.addoption(
        "--rightcall-config", metavar="FILE", default=None,
        help="the settings; by default rightcall.toml or pyproject.toml in pytest's rootdir",
    )  # fmt: skip
    parser.addini("rightcall_report", "the same as --rightcall-report", default="")
    parser.addini("rightcall_gate", "the same as --rightcall-gate", type="bool", default=False)
    parser.addini("rightcall_offline", "the same as --rightcall-offline", type="bool", default=False)
    parser.addini("rightcall_config", "the same as --rightcall-config", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; open what the flags ask for."""
    config.addinivalue_line("markers", marks.HELP)
    config.pluginmanager.register(_Ears(config), "rightcall-ears")
    if wants_results(config) and not is_worker(config):
        watch_of(config).begin()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist what all processes of the session share."""
    if _WATCH in node.config.stash:
        node.workerinput["rightcall"] = node.config.stash[_WATCH].shared()


def watch_of(config: pytest.Config) -> Watch:
    """Who gathers what tests hand over."""
    if _WATCH not in config.stash:
        from rightcall.plugin.watch import Watch

        config.stash[_WATCH] = Watch(config)
    return config.stash[_WATCH]


# ---- collection ------------------------------------------------------------------------------------------------------


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each case and each repeat that its marker asks for; refuse a marker that is wrong."""
    mark = _marked(metafunc.definition)
    if mark is None:
        return
    if mark.is_for_each_case:
        ids = _case_ids(metafunc.config, mark, metafunc.definition.path.parent)
        metafunc.fixturenames.append(_PER_CASE)
        metafunc.parametrize(_PER_CASE, ids, ids=ids, indirect=True)
    if mark.repeats > 1:
        trials = range(1, mark.repeats + 1)
        if "rightcall_trial" not in metafunc.fixturenames:
            metafunc.fixturenames.append("rightcall_trial")
        metafunc.parametrize("rightcall_trial", trials, ids=[f"trial{n}" for n in trials], indirect=True)


def _marked(item: Any) -> marks.Marked | None:
    if item.get_closest_marker(marks.NAME) is None:
        return None
    try:
        return marks.marked(item)
    except marks.MarkError as error:
        wrong = f"{item.nodeid}: @pytest.mark.{marks.NAME} {error}"
    return pytest.fail(wrong, pytrace=False)  # outside, so that pytest does not show two errors


def _case_ids(config: pytest.Config, mark: marks.Marked, folder: Path) -> list[str]:
    from rightcall.errors import RightcallError

    try:
        return [case.id for case in suite_of(config).cases(mark.cases or "", folder)]
    except RightcallError as error:
        wrong = str(error)
    return pytest.fail(wrong, pytrace=False)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Look at the markers of what is no plain function, such as the methods of a `TestCase`."""
    del config
    for item in items:
        if item.get_closest_marker(marks.NAME) is None or hasattr(item, "callspec"):
            continue
        try:
            mark = marks.marked(item)
        except marks.MarkError as error:
            raise pytest.UsageError(f"{item.nodeid}: @pytest.mark.{marks.NAME} {error}") from None
        if mark is not None and (mark.repeats > 1 or mark.is_for_each_case):
            raise pytest.UsageError(f"{item.nodeid}: only a test function can be repeated, or run for each case")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note which tests are going to run, so that a report can say what is missing."""
    found = [item for item in session.items if item.get_closest_marker(marks.NAME) is not None]
    if found:
        session.config.stash[_PLAN] = [planned(item) for item in found]


def planned(item: pytest.Item) -> Planned:
    """A test as the plan has it."""
    from rightcall.plugin.handed import Planned

    mark = marks.marked(item) or marks.Marked()
    params = getattr(getattr(item, "callspec", None), "params", {})
    trial = params.get("rightcall_trial", 1) if mark.repeats > 1 else 1
    base = marks.without_trial(item.nodeid, trial) if mark.repeats > 1 else item.nodeid
    case_id = params.get(_PER_CASE) or mark.case_id
    if case_id is None and wants_results(item.config):
        case_id = _case_id(item, mark)
    return Planned(item.nodeid, base, trial, mark.repeats, case_id, mark.case is not None or mark.file is not None)


def _case_id(item: pytest.Item, mark: marks.Marked) -> str | None:
    """The id of the case that a marker names; `None` where it names none, or none that can be read."""
    from rightcall.errors import RightcallError

    try:
        case = suite_of(item.config).case(mark, None, item.path.parent)
    except RightcallError:
        return None  # the test itself will say what is wrong
    return None if case is None else case.id


# ---- one test --------------------------------------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Open a test that takes part."""
    has_mark = item.get_closest_marker(marks.NAME) is not None
    if not has_mark and not any(name in FIXTURES for name in getattr(item, "fixturenames", ())):
        return
    if _STATE in item.stash:  # it runs again
        del item.stash[_STATE]
    state_of(item)


def state_of(item: pytest.Item) -> State:
    """The state of a test that takes part, opened once; a test that cannot be opened is an error."""
    if _STATE in item.stash:
        return item.stash[_STATE]
    from rightcall.errors import RightcallError
    from rightcall.plugin.state import State

    try:
        suite, mark = suite_of(item.config), marks.marked(item)
        item.stash[_STATE] = state = State(suite, planned(item), mark, item.path.parent)
        state.wants_results = wants_results(item.config)
        if mark is not None:
            state.case = suite.case(mark, state.planned.case_id, state.folder)
    except RightcallError as error:
        wrong = f"rightcall: {error}"
    else:
        return state
    return pytest.fail(wrong, pytrace=False)


@pytest.fixture
def rightcall_agent(request: pytest.FixtureRequest, rightcall_entry: object) -> Agent:
    """Record the tool calls of your agent, and assert what they should be: see `docs/pytest.md`."""
    from rightcall.plugin.agent import Agent

    return Agent(state_of(request.node), rightcall_entry)


@pytest.fixture
def rightcall_entry() -> object:
    """Your agent: a function of (request, recorder), plain or async. A project gives its own in `conftest.py`."""
    return None


@pytest.fixture
def rightcall_case(request: pytest.FixtureRequest) -> Case | None:
    """The case that the marker of this test names."""
    return state_of(request.node).case


@pytest.fixture
def rightcall_trial(request: pytest.FixtureRequest) -> int:
    """Which repeat of the test this is, from 1."""
    return int(getattr(request, "param", 1))


@pytest.fixture
def rightcall_case_id(request: pytest.FixtureRequest) -> str | None:
    """The id of the case, where a test runs once for each case of a file."""
    found: str | None = getattr(request, "param", None)
    return found


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an async test that takes part by `asyncio.run`, unless another plugin has made it its own."""
    if _STATE not in pyfuncitem.stash or not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames  # noqa: SLF001 - as pytest's own hook does
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let what has no answer be an error, and hand over what the report needs."""
    report = yield
    state = item.stash.get(_STATE, None)
    if state is not None:
        from rightcall.plugin.outcome import reported

        plan = item.config.stash.get(_PLAN, None) if report.when == "setup" and state.mark is not None else None
        reported(report, call, state, tuple(plan or ()))
        if plan is not None:
            item.config.stash[_PLAN] = []
    return report


def pytest_report_teststatus(report: pytest.CollectReport | pytest.TestReport) -> tuple[str, str, str] | None:
    """A test without an answer is counted with the errors."""
    if report.when in ("grading", "judging"):
        return "error", "E", "ERROR"
    return None


# ---- the session -----------------------------------------------------------------------------------------------------


class _Ears:
    """Hears what tests hand over, in the process that reports."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.is_interrupted = False

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when in ("grading", "judging"):
            from rightcall.plugin.junit_words import name_phase

            name_phase(self.config, report)
        if is_worker(self.config):
            return
        if hasattr(report, "rightcall"):
            watch_of(self.config).hear(report)
        elif _WATCH in self.config.stash:
            self.config.stash[_WATCH].note(report)

    def pytest_keyboard_interrupt(self) -> None:
        self.is_interrupted = True

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if _WATCH in self.config.stash and not is_worker(self.config):
            watch_of(self.config).end(session, is_interrupted=self.is_interrupted)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if _WATCH in self.config.stash:
            watch_of(self.config).print_summary(terminalreporter)

"""What the tests of the plugin share: an agent fixture without a session around it, and small projects for sessions."""

import sys
from pathlib import Path

import pytest

# The tests are no package, so a module that they share is found by its folder.
sys.path.insert(0, str(Path(__file__).parent))

from rightcall.plugin.agent import Agent
from rightcall.plugin.handed import Planned
from rightcall.plugin.marks import Marked
from rightcall.plugin.state import State
from rightcall.plugin.suite import Suite, written_case


@pytest.fixture
def agent(tmp_path, monkeypatch):
    """Return a maker of agents: `agent(entry, case={…}, settings="…", min_overall=…)`."""

    monkeypatch.setenv("COLUMNS", "120")

    def make(entry=None, *, settings=None, node="test_desk.py::test_card", trial=1, repeats=1, **mark):
        if settings is not None:
            (tmp_path / "rightcall.toml").write_text(settings)
        suite = Suite.open(config=None, root=tmp_path, run_id="", offline=False)
        case = mark.get("case")
        state = State(suite, Planned(node, node, trial, repeats), Marked(**mark), tmp_path)
        state.case = None if case is None else written_case(case)
        return Agent(state, entry)

    return make


@pytest.fixture
def traced(agent):
    """Return a maker of recorded traces: `traced(call("freeze", {…}), …)`."""
    from rightcall import Trace

    def make(*events, findings=(), **more):
        return agent(**more).record(Trace(id="t", events=events, findings=findings))

    return make


CONFTEST = """
import pytest

def freeze_card(card_ending):
    return {"status": "frozen", "card": card_ending}

def close_card(card_ending, reason=None):
    return {"status": "closed"}

@pytest.fixture
def rightcall_entry():
    def entry(request, recorder):
        freeze, close = recorder.tool(freeze_card), recorder.tool(close_card)
        for word in request.split():
            if word in ("freeze", "block"):
                freeze("4242")
            if word == "close":
                close(card_ending="4242", reason="lost")
        return "Done."
    return entry
"""

CASE = """
id = "lost"
request = "freeze it"
[[expect.calls]]
tool = "freeze_card"
arguments = { card_ending = "4242" }
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a maker of projects with an agent and a case: `project(tests)` is one in the current folder."""
    from session_making import Project

    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("RIGHTCALL_REDACTION_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    made = Project(tmp_path)
    made.write("conftest.py", CONFTEST)
    made.write("lost.toml", CASE)
    made.write("pytest.ini", "[pytest]\naddopts = -p no:cacheprovider --strict-markers\n")

    def write(tests):
        made.write("test_desk.py", f"import pytest\n{tests}")
        return made

    return write

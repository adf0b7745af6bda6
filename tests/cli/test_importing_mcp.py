"""`rightcall import --tools mcp:COMMAND`: the command is shown, and nothing starts without a yes."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

from rightcall.trace import mcp_live
from rightcall.trace.model import Tool


@pytest.fixture
def started(monkeypatch, write):
    """The commands that were started; none really is."""
    commands: list[list[str]] = []

    def start(command):
        commands.append(command)
        return (Tool(name="find_boat"),)

    monkeypatch.setattr(mcp_live, "list_tools", start)
    write("traces.jsonl", {"id": "t", "calls": []})
    return commands


def test_with_yes_the_command_is_shown_and_started(rightcall, started, tmp_path):
    said = rightcall("import", "traces.jsonl", "--tools", "mcp:boats --port 'a b'", "--yes", "-o", "out.jsonl")
    assert said.code == 0
    assert "starts the MCP server: boats --port 'a b'" in said.err
    assert started == [["boats", "--port", "a b"]]
    assert json.loads((tmp_path / "out.jsonl").read_text())["tools"] == [{"name": "find_boat"}]


def test_without_a_terminal_nobody_can_say_yes(rightcall, started, monkeypatch):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    said = rightcall("import", "traces.jsonl", "--tools", "mcp:boats")
    assert (said.code, started) == (2, [])
    assert "not started" in said.err
    assert "--yes" in said.err


@pytest.mark.parametrize(
    ("answer", "starts"), [("y\n", True), ("YES\n", True), ("\n", False), ("no\n", False), ("", False)]
)
def test_at_a_terminal_a_person_is_asked(rightcall, started, monkeypatch, answer, starts):
    class Terminal:
        def isatty(self):
            return True

        def readline(self):
            return answer

    monkeypatch.setattr(sys, "stdin", Terminal())
    said = rightcall("import", "traces.jsonl", "--tools", "mcp:boats", "-o", "out.jsonl")
    assert "start it? [y/N]" in said.err
    assert (said.code, bool(started)) == ((0, True) if starts else (2, False))


@pytest.mark.parametrize("wanted", ["mcp:", "mcp:  ", "mcp:'open"])
def test_a_command_that_is_none_is_refused(rightcall, started, wanted):
    assert rightcall("import", "traces.jsonl", "--tools", wanted, "--yes").code == 2
    assert started == []


def test_a_real_server(rightcall, write, tmp_path):
    pytest.importorskip("mcp", reason="needs the extra [mcp]")
    write("traces.jsonl", {"id": "t", "calls": []})
    write(
        "server.py",
        "from mcp.server import MCPServer\ns = MCPServer('x')\ns.tool()(lambda: 'a')\n".replace(
            "s.tool()(lambda: 'a')", "s.tool(name='find_boat')(lambda: 'a')"
        )
        + "s.run('stdio')\n",
    )
    command = shlex.join([sys.executable, str(tmp_path / "server.py")])
    said = rightcall("import", "traces.jsonl", "--tools", f"mcp:{command}", "--yes")
    assert said.code == 0, said.err
    assert json.loads(said.out)["tools"][0]["name"] == "find_boat"

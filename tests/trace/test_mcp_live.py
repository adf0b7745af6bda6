"""Asking a running MCP server: its tools, its pages, and servers that are none."""

import subprocess
import sys

import pytest

from rightcall.errors import ConfigError
from rightcall.trace import mcp_live
from rightcall.trace.mcp_live import list_tools

SERVER = """
from mcp.server import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("harbour")

@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def find_boat(harbour: str, seats: int = 2) -> str:
    "Look for boats."
    return harbour

@server.tool(annotations=ToolAnnotations(destructiveHint=True))
def sink_boat(name: str) -> str:
    "Sink one."
    return name

server.run("stdio")
"""


@pytest.fixture
def server(tmp_path):
    """The command of a small server of our own."""
    pytest.importorskip("mcp", reason="needs the extra [mcp]")
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    return [sys.executable, str(path)]


def test_the_tools_of_a_server_are_a_catalog(server):
    find, sink = list_tools(server)
    assert (find.name, find.description, find.annotations) == ("find_boat", "Look for boats.", {"readOnlyHint": True})
    assert find.parameters["required"] == ["harbour"]
    assert (sink.name, sink.annotations) == ("sink_boat", {"destructiveHint": True})


def test_a_stderr_that_was_closed_since_the_sdk_was_imported_does_no_harm(server):
    code = (
        "import io, sys; sys.stderr = io.StringIO(); import mcp; sys.stderr.close(); sys.stderr = sys.__stderr__\n"
        "from rightcall.trace.mcp_live import list_tools; print(len(list_tools(sys.argv[1:])))"
    )
    ran = subprocess.run([sys.executable, "-c", code, *server], capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout) == (0, "2\n"), ran.stderr


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["/no/such/program"], "No such file"),
        ([sys.executable, "-c", "pass"], "no list of tools"),
        ([sys.executable, "-c", "import time; time.sleep(30)"], "no list of tools"),
        ([], "no command"),
    ],
)
def test_what_is_no_server_is_a_typed_error(server, command, said):
    with pytest.raises(ConfigError, match=said) as caught:
        list_tools(command, timeout=0.3)
    assert caught.value.place.file.startswith("mcp:")


def test_a_list_that_never_ends_is_refused(server, monkeypatch):
    monkeypatch.setattr(mcp_live, "MAX_PAGES", 1)
    import mcp

    ask = mcp.Client.list_tools

    async def endless(self, **kwargs):
        answer = await ask(self)
        return answer.model_copy(update={"next_cursor": "more"})

    monkeypatch.setattr(mcp.Client, "list_tools", endless)
    with pytest.raises(ConfigError, match="more than 1 pages"):
        list_tools(server)


def test_pages_are_put_together(server, monkeypatch):
    import mcp

    ask = mcp.Client.list_tools

    async def paged(self, *, cursor=None):
        answer = await ask(self)
        place = int(cursor or 0)
        after = None if place else "1"
        return answer.model_copy(update={"tools": answer.tools[place : place + 1], "next_cursor": after})

    monkeypatch.setattr(mcp.Client, "list_tools", paged)
    assert [tool.name for tool in list_tools(server)] == ["find_boat", "sink_boat"]


def test_without_the_extra_the_way_to_get_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(ConfigError) as caught:
        list_tools(["anything"])
    assert "rightcall[mcp]" in caught.value.hint

"""The catalog of a running MCP server, asked over stdio with the official SDK (extra `[mcp]`).

The server is a program that this module *starts*: whoever calls it has said yes to that command. It gets the few
environment variables that the SDK thinks safe, and so no keys. What it claims about its tools (`annotations`) is kept
as a claim.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from rightcall.errors import ConfigError, Place
from rightcall.trace.catalog import parse_tools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.model import Tool

TIMEOUT = 30.0
"""Seconds to wait for each answer of the server."""
MAX_PAGES = 1000
"""Most pages of a list that are asked for: a server that never ends is refused."""


def list_tools(command: Sequence[str], timeout: float = TIMEOUT) -> tuple[Tool, ...]:
    """Start an MCP server, ask for its tools, page by page, and stop it.

    Args:
        command: the program and its arguments; no shell sees them.
        timeout: seconds to wait for each answer.

    Raises:
        ConfigError: the extra is missing, the command cannot be started, the server does not answer as one, or a tool
            is none or stands twice.
    """
    place = Place(f"mcp:{' '.join(command)}")
    if not command:
        raise ConfigError("no command to start an MCP server with", place=place)
    try:
        import mcp
    except ImportError:
        raise ConfigError(
            "asking an MCP server needs the MCP SDK", place=place, hint="pip install 'rightcall[mcp]'"
        ) from None
    try:
        pages = asyncio.run(_pages(list(command), timeout))
    except (OSError, TimeoutError, mcp.MCPError) as error:
        raise _failed(error, place) from None
    except BaseExceptionGroup as group:
        known, other = group.split((OSError, TimeoutError, mcp.MCPError, ConfigError))
        if known is None or other is not None:
            raise
        raise _failed(_first(known), place) from None
    return parse_tools(pages, place)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error of a group, however deep it stands."""
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


def _failed(error: BaseException, place: Place) -> ConfigError:
    if isinstance(error, ConfigError):
        return error
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or "no answer in time"
    return ConfigError(f"no list of tools from the MCP server: {reason}", place=place, hint="try the command by hand")


async def _pages(command: list[str], seconds: float) -> list[JsonValue]:
    """Every answer to `tools/list`, as JSON values."""
    from mcp import Client, StdioServerParameters, stdio_client

    # The SDK binds its default, sys.stderr, once at its import: a notebook or a test may have closed that stream since.
    parameters = StdioServerParameters(command=command[0], args=command[1:])
    server = stdio_client(parameters, errlog=sys.__stderr__ or sys.stderr)
    pages: list[JsonValue] = []
    async with asyncio.timeout(seconds * 2), Client(server, read_timeout_seconds=seconds) as client:
        cursor: str | None = None
        while True:
            answer = await client.list_tools(cursor=cursor)
            pages.append(answer.model_dump(mode="json", by_alias=True, exclude_none=True))
            cursor = answer.next_cursor
            if cursor is None:
                return pages
            if len(pages) >= MAX_PAGES:
                raise ConfigError(f"the server's list of tools has more than {MAX_PAGES} pages")

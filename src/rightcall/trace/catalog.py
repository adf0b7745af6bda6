"""Catalogs: the tools that an agent could see, from any of the shapes in which they are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Raw, UnsetType

from rightcall.errors import ConfigError, Place, RightcallError
from rightcall.trace import jsontext
from rightcall.trace.model import Tool
from rightcall.trace.normalise import normalise_schema
from rightcall.trace.schemas import Validator, compile_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.trace.jsontext import JsonValue


def parse_tools(value: JsonValue, place: Place) -> tuple[Tool, ...]:
    """Read a list of tools: native, OpenAI (nested or flat), Anthropic, Gemini, Bedrock, or MCP `tools/list` answers.

    Schemas come out as JSON Schema (see `normalise`). A paged MCP list is a list of its answers.

    Raises:
        ConfigError: `CONFIG_TOOL_INVALID` for an entry that is no tool, `CONFIG_DUPLICATE_TOOL` for a repeated name.
    """
    entries = _entries(value)
    if not isinstance(entries, list):
        raise ConfigError(
            "a catalog must be a list of tools", place=place, code="CONFIG_TOOL_INVALID",
            hint="a JSON list, or an MCP tools/list answer",
        )  # fmt: skip
    tools = tuple(_tool(entry, _at(place, index)) for index, entry in enumerate(entries))
    seen: dict[str, int] = {}
    for index, tool in enumerate(tools):
        if tool.name in seen:
            raise ConfigError(
                f"tool `{tool.name}` is defined twice (also as entry {seen[tool.name]})",
                place=_at(place, index), code="CONFIG_DUPLICATE_TOOL",
                hint="rename one, for example by its server",
            )  # fmt: skip
        seen[tool.name] = index
    return tools


def _entries(value: JsonValue) -> JsonValue:
    """The list of tools, out of the envelopes in which providers and MCP servers send it."""
    if isinstance(value, dict):
        for key in ("tools/list", "result", "toolConfig"):
            if isinstance(value.get(key), dict) or (key == "tools/list" and key in value):
                return _entries(value[key])
        tools = value.get("tools", _declarations(value))
        return _flat(tools) if isinstance(tools, list) else None
    return _flat(value) if isinstance(value, list) else value


def _flat(entries: list[JsonValue]) -> list[JsonValue]:
    """The entries with pages of an MCP list and Gemini's groups of declarations taken apart."""
    found: list[JsonValue] = []
    for entry in entries:
        inner = None
        if isinstance(entry, dict) and "name" not in entry and "function" not in entry:
            inner = _declarations(entry)
            if inner is None and ({"result", "tools", "tools/list"} & entry.keys()):
                inner = _entries(entry)
        found += inner if isinstance(inner, list) else [entry]
    return found


def _declarations(entry: Mapping[str, Any]) -> JsonValue:
    """Gemini's function declarations."""
    return _first(entry, "functionDeclarations", "function_declarations")


def _at(place: Place, index: int) -> Place:
    return Place(place.file, place.line, place.column, f"{place.path or '$'}[{index}]")


def _tool(entry: JsonValue, place: Place) -> Tool:
    body = entry
    for wrapper in ("function", "toolSpec"):
        if isinstance(entry, dict) and isinstance(entry.get(wrapper), dict):
            body = entry[wrapper]
    if not isinstance(body, dict) or not isinstance(body.get("name"), str) or not body["name"]:
        raise ConfigError("a tool needs a `name`", place=place, code="CONFIG_TOOL_INVALID")
    parameters = _first(
        body, "parameters", "inputSchema", "input_schema", "parametersJsonSchema", "parameters_json_schema"
    )
    if isinstance(parameters, dict) and parameters.keys() == {"json"} and isinstance(parameters["json"], dict):
        parameters = parameters["json"]
    if parameters is not None and not isinstance(parameters, dict):
        raise ConfigError(
            f"the parameters of tool `{body['name']}` must be a JSON Schema object",
            place=place, code="CONFIG_TOOL_INVALID",
        )  # fmt: skip
    description, annotations = body.get("description"), body.get("annotations")
    return Tool(
        name=body["name"],
        description=description if isinstance(description, str) else None,
        parameters=normalise_schema(parameters),
        annotations=annotations if isinstance(annotations, dict) else None,
    )


def _first(body: Mapping[str, Any], *keys: str) -> JsonValue:
    return next((body[key] for key in keys if body.get(key) is not None), None)


@dataclass(eq=False)
class Catalog:
    """Tools by name, with their schemas compiled.

    Every schema is compiled when the catalog is made, so that a bad one is found before anything is graded.

    Raises:
        ConfigError: `CONFIG_TOOL_INVALID` for a schema that cannot be used.
    """

    tools: tuple[Tool, ...]
    place: Place = field(default_factory=Place)

    def __post_init__(self) -> None:
        """Compile the schemas."""
        self._tools = {tool.name: tool for tool in self.tools}
        self._validators: dict[str, Validator | None] = {tool.name: _validator(tool, self.place) for tool in self.tools}
        self.has_defaults = {tool.name: _has_default(tool.parameters) for tool in self.tools}

    def __contains__(self, name: object) -> bool:
        """Whether a tool of this name is in the catalog."""
        return name in self._tools

    def __getitem__(self, name: str) -> Tool:
        """The tool of this name."""
        return self._tools[name]

    def validator(self, name: str) -> Validator | None:
        """The compiled schema of a tool; `None` where the tool is unknown or states no schema."""
        return self._validators.get(name)

    def schema(self, name: str) -> Mapping[str, Any]:
        """The parameters' JSON Schema of a tool; empty where it is unknown or states none."""
        tool = self._tools.get(name)
        return (tool.parameters or {}) if tool else {}

    def required(self, name: str) -> tuple[str, ...]:
        """The keys that the tool's schema requires."""
        required = self.schema(name).get("required")
        return tuple(key for key in required if isinstance(key, str)) if isinstance(required, list) else ()


def written_catalog(tools: Raw | UnsetType, place: Place | None = None) -> Catalog | None:
    """The catalog that a trace, a case or a step has of its own; equal bytes are compiled once. `None`: it has none.

    An empty list is a catalog: the agent could see no tool.

    Raises:
        ConfigError: it cannot be used, with the place that was given.
    """
    data = b"null" if tools is UNSET else bytes(tools)
    if data in (b"null", b""):
        return None
    try:
        return _compiled(data)
    except RightcallError:
        return _built(data, place or Place())  # the same fault, with its place


@lru_cache(maxsize=256)
def _compiled(data: bytes) -> Catalog:
    """A catalog by its bytes alone: the same tools stand in every trace of an agent."""
    return _built(data, Place())


def _built(data: bytes, place: Place) -> Catalog:
    value = jsontext.decode(data, place)
    if isinstance(value, str):
        raise ConfigError(
            f"the catalog file `{value}` was not loaded",
            place=place,
            hint="load it with load_cases or load_steps",
        )
    return Catalog(parse_tools(value, Place(place.file, place.line, None, f"{place.path or '$'}.tools")), place)


def _validator(tool: Tool, place: Place) -> Validator | None:
    if tool.parameters is None:
        return None
    return compile_schema(tool.parameters, place, f"the schema of tool `{tool.name}`")


def _has_default(schema: JsonValue) -> bool:
    """Whether a schema declares a default anywhere."""
    if isinstance(schema, dict):
        return "default" in schema or any(map(_has_default, schema.values()))
    return isinstance(schema, list) and any(map(_has_default, schema))

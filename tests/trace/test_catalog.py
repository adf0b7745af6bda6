"""Catalogs in every shape in which they are written."""

import json

import pytest

from rightcall.case.load import load_tools
from rightcall.errors import ConfigError, Place
from rightcall.trace.catalog import Catalog, parse_tools
from rightcall.trace.model import Tool

PLACE = Place("tools.json")
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
SHOUTED = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]}
HINTS = {"title": "Weather", "readOnlyHint": True, "openWorldHint": False}
EXPECTED = Tool(name="weather", description="Look it up.", parameters=SCHEMA)


def refusal(value):
    with pytest.raises(ConfigError) as caught:
        parse_tools(value, PLACE)
    return caught.value


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "weather", "description": "Look it up.", "parameters": SCHEMA},
        {"type": "function", "function": {"name": "weather", "description": "Look it up.", "parameters": SCHEMA}},
        {"type": "function", "name": "weather", "description": "Look it up.", "parameters": SCHEMA, "strict": True},
        {"name": "weather", "description": "Look it up.", "input_schema": SCHEMA},
        {"name": "weather", "description": "Look it up.", "inputSchema": SCHEMA},
        {"functionDeclarations": [{"name": "weather", "description": "Look it up.", "parameters": SHOUTED}]},
        {
            "function_declarations": [
                {"name": "weather", "description": "Look it up.", "parameters_json_schema": SCHEMA}
            ]
        },
        {"toolSpec": {"name": "weather", "description": "Look it up.", "inputSchema": {"json": SCHEMA}}},
    ],
    ids=["native", "openai nested", "openai flat", "anthropic", "mcp", "gemini", "gemini, snake case", "bedrock"],
)
def test_every_shape_of_a_tool_reads_alike(entry):
    assert parse_tools([entry], PLACE) == (EXPECTED,)


@pytest.mark.parametrize("wrap", [lambda tools: {"tools": tools}, lambda tools: {"result": {"tools": tools}}])
def test_an_mcp_list_is_taken_with_or_without_its_envelope(wrap):
    entry = {"name": "weather", "description": "Look it up.", "inputSchema": SCHEMA, "annotations": HINTS}
    (tool,) = parse_tools(wrap([entry]), PLACE)
    assert tool.annotations == HINTS


@pytest.mark.parametrize(
    "page",
    [
        lambda tools: {"result": {"tools": tools}},
        lambda tools: {"tools": tools},
        lambda tools: {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools, "nextCursor": "x"}},
    ],
)
def test_the_pages_of_an_mcp_list_are_one_catalog(page):
    pages = [page([{"name": "a"}, {"name": "b"}]), page([]), page([{"name": "c"}])]
    assert [tool.name for tool in parse_tools(pages, PLACE)] == ["a", "b", "c"]
    with pytest.raises(ConfigError, match="defined twice"):
        parse_tools([*pages, page([{"name": "a"}])], PLACE)


@pytest.mark.parametrize(
    "value",
    [
        {"functionDeclarations": [{"name": "a"}]},
        {"toolConfig": {"tools": [{"toolSpec": {"name": "a"}}]}},
        {"tools": [{"functionDeclarations": [{"name": "a"}]}]},
        {"tools/list": {"result": {"tools": [{"name": "a"}]}}},
    ],
)
def test_a_request_or_a_recording_may_be_given_as_it_is(value):
    assert [tool.name for tool in parse_tools(value, PLACE)] == ["a"]


def test_a_tool_may_be_named_like_an_envelope():
    assert [tool.name for tool in parse_tools([{"name": "result"}, {"name": "tools", "tools": [1]}], PLACE)] == [
        "result",
        "tools",
    ]


def test_the_real_mcp_servers(shared_data):
    tools = [tool for path in sorted((shared_data / "data/mcp_tools").glob("*.json")) for tool in load_tools(path)]
    hints = [tool.annotations or {} for tool in tools]
    assert (len(tools), sum(tool.annotations is None for tool in tools)) == (61, 0)
    assert sum(hint.get("destructiveHint") is True for hint in hints) == 24
    assert sum(hint.get("readOnlyHint") is True for hint in hints) == 29
    Catalog(tuple({tool.name: tool for tool in tools}.values()), PLACE)


def test_the_real_tools_of_agentdojo(shared_data):
    suites = json.loads((shared_data / "data/agentdojo/tools_v1.2.2.json").read_bytes())
    assert {name: len(parse_tools(tools, PLACE)) for name, tools in suites.items()} == {
        "workspace": 24,
        "travel": 28,
        "banking": 11,
        "slack": 11,
    }


def test_what_is_not_recorded_is_null_and_not_empty():
    (tool,) = parse_tools([{"name": "t"}], PLACE)
    assert (tool.description, tool.parameters, tool.annotations) == (None, None, None)
    (tool,) = parse_tools([{"name": "t", "description": "", "parameters": {}, "annotations": {}}], PLACE)
    assert (tool.description, tool.parameters, tool.annotations) == ("", {}, {})


def test_an_empty_list_is_a_catalog_without_tools():
    assert parse_tools([], PLACE) == ()


@pytest.mark.parametrize("value", [None, "tools.json", 7, {}, {"tools": None}, {"result": []}, {"tools": {"a": {}}}])
def test_what_is_no_list_is_no_catalog(value):
    error = refusal(value)
    assert (error.code, error.place) == ("CONFIG_TOOL_INVALID", PLACE)


@pytest.mark.parametrize("entry", [None, "weather", {}, {"name": ""}, {"name": 7}, {"function": {}}])
def test_a_tool_needs_a_name(entry):
    error = refusal([{"name": "first"}, entry])
    assert (error.code, error.place.path) == ("CONFIG_TOOL_INVALID", "$[1]")


def test_parameters_must_be_an_object():
    error = refusal([{"name": "t", "parameters": ["city"]}])
    assert error.code == "CONFIG_TOOL_INVALID"
    assert "`t`" in error.message


def test_a_name_that_stands_twice_is_refused_with_both_places():
    error = refusal([{"name": "a"}, {"name": "b"}, {"function": {"name": "a"}}])
    assert (error.code, error.place.path) == ("CONFIG_DUPLICATE_TOOL", "$[2]")
    assert "entry 0" in error.message


def test_a_catalog_compiles_every_schema_when_it_is_made():
    bad = Tool(name="t", parameters={"type": "objct"})
    with pytest.raises(ConfigError, match="of tool `t` is not a valid JSON Schema") as caught:
        Catalog((EXPECTED, bad), PLACE)
    assert (caught.value.code, caught.value.place) == ("CONFIG_TOOL_INVALID", PLACE)


def test_a_catalog_answers_about_its_tools():
    free = Tool(name="free")
    catalog = Catalog((EXPECTED, free), PLACE)
    assert "weather" in catalog
    assert "wether" not in catalog
    assert catalog["weather"] is EXPECTED
    assert catalog.validator("weather").is_valid({"city": "Oslo"})
    assert catalog.validator("free") is None
    assert catalog.validator("wether") is None
    assert catalog.schema("weather") == SCHEMA
    assert catalog.schema("free") == catalog.schema("wether") == {}
    assert catalog.required("weather") == ("city",)
    assert catalog.required("free") == ()


@pytest.mark.parametrize(
    ("schema", "has_default"),
    [
        (SCHEMA, False),
        ({"properties": {"a": {"default": None}}}, True),
        ({"allOf": [{"properties": {"a": {"properties": {"b": {"default": 1}}}}}]}, True),
        (None, False),
    ],
)
def test_whether_a_schema_declares_a_default_anywhere(schema, has_default):
    assert Catalog((Tool(name="t", parameters=schema),)).has_defaults == {"t": has_default}

"""The JSON Schemas (2020-12) of the files that rightcall reads and writes.

They are made from the very types that read the files, so that they cannot fall behind. Added by hand is what a type
does not say: what a field of raw JSON really holds, how a matcher is written, and that a file may hold several
records. A schema knows no order of keys, so it cannot tell that a matcher's name must come first; `lint` does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.case.case import Case
from rightcall.case.policy import Policy
from rightcall.case.similar import FORMS
from rightcall.errors import ConfigError
from rightcall.trace.explain import nearest
from rightcall.trace.sources.native import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Builder = Callable[[], dict[str, Any]]
    Fields = Mapping[str, Mapping[str, Mapping[str, Any]]]

DRAFT = "https://json-schema.org/draft/2020-12/schema"

# ---- matchers ------------------------------------------------------------------------------------------------------


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _matcher(name: str, meaning: str, value: dict[str, Any], **options: dict[str, Any]) -> dict[str, Any]:
    """One matcher: its name with what it takes, its options, and `optional`, which all have."""
    optional = {"type": "boolean", "default": False, "description": "Whether the key may be absent."}
    return {
        "title": name,
        "description": meaning,
        "type": "object",
        "properties": {name: value, **options, "optional": optional},
        "required": [name],
        "additionalProperties": False,
    }


_VALUE = _ref("Value")
_VALUES = {"type": "array", "items": _VALUE}
_TOLERANCE = {"type": "number", "minimum": 0}
_SOURCE = {
    "type": "object",
    "properties": {
        "call": {"type": "string", "description": "Label, or unambiguous tool name, of an earlier golden call."},
        "path": {"type": "string", "description": "Path inside that call's result, such as `issue.id` or `rows[0]`."},
    },
    "required": ["call", "path"],
    "additionalProperties": False,
}
_AS: dict[str, Any] = {"enum": list(FORMS), "default": "text", "description": "The kind of text: how it is normalised."}
_THRESHOLD: dict[str, Any] = {
    "type": "number", "minimum": 0, "maximum": 1,
    "description": "Token similarity that is enough, where the normal forms are not equal.",
}  # fmt: skip

MATCHERS: Mapping[str, Mapping[str, Any]] = {
    "any_of": _matcher("any_of", "One of these values or matchers.", _VALUES),
    "approx": _matcher(
        "approx", "A number that is at most a tolerance away; the larger of two tolerances counts.",
        {"type": "number"}, abs_tol=_TOLERANCE, rel_tol=_TOLERANCE,
    ) | {"anyOf": [{"required": ["abs_tol"]}, {"required": ["rel_tol"]}]},
    "matches": _matcher(
        "matches", "A text that the pattern matches in full (RE2 syntax).", {"type": "string"},
    ),
    "similar": _matcher(
        "similar", "A text that is equal after normalising.", {"type": ["string", "number"]},
        **{"as": _AS, "threshold": _THRESHOLD},
    ),
    "set": _matcher("set", "A list with these members, in any order and number.", _VALUES),
    "contains": _matcher("contains", "A text or a list that holds this, or each of these.", _VALUE),
    "schema": _matcher("schema", "A value that satisfies this JSON Schema.", {"type": ["object", "boolean"]}),
    "from_result": _matcher("from_result", "The value at a path of an earlier call's result.", _SOURCE),
    "ignore": _matcher("ignore", "Anything: the key counts nowhere.", {"const": True}),
    "equals": _matcher("equals", "Exactly this value, even where it looks like a matcher.", {}),
    "custom": _matcher("custom", "A comparator that an installed package offers; the rest are its options.",
                       {"type": "string"}) | {"additionalProperties": True},
}  # fmt: skip
"""What each matcher looks like, by name."""


def options_of(name: str) -> frozenset[str]:
    """The keys that may stand beside a matcher's name."""
    return frozenset(MATCHERS[name]["properties"]) - {name}


def _value_defs() -> dict[str, Any]:
    """An expected value: a matcher, or a literal that may hold matchers further down."""
    shaped = [
        {"required": [name], "propertyNames": {"enum": [name, *sorted(options_of(name))]}}
        for name in MATCHERS
        if name != "custom"
    ]
    literal = {
        "title": "literal",
        "description": "A value that must be equal. One that looks like a matcher is written { equals = … }.",
        "if": {"type": "object"},
        "then": {"not": {"anyOf": shaped}, "additionalProperties": _VALUE},
        "else": {"if": {"type": "array"}, "then": {"items": _VALUE}},
    }
    value = {
        "description": "Any JSON value, or a matcher: an object whose first key is the matcher's name.",
        "anyOf": [*(_ref(name) for name in MATCHERS), _ref("literal")],
    }
    return {"Value": value, "literal": literal, **MATCHERS}


# ---- what the types do not say -------------------------------------------------------------------------------------

_TOOL = {
    "description": "A tool: native, OpenAI (nested or flat), Anthropic or MCP.",
    "type": "object",
    "if": {"required": ["function"]},
    "then": {"properties": {"function": {"type": "object", "required": ["name"]}}},
    "else": {"required": ["name"]},
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "description": {"type": ["string", "null"], "description": "What the tool does, in the agent's words."},
        "parameters": {"type": ["object", "null"], "description": "JSON Schema of the arguments."},
        "annotations": {"type": ["object", "null"], "description": "MCP hints, such as `destructiveHint`."},
    },
}
_TOOLS = {"type": "array", "items": _ref("Tool")}
_LISTED = {"type": "object", "properties": {"tools": _TOOLS}, "required": ["tools"]}
_CATALOG = {
    "description": "The tools that the agent could see: a list, or an MCP `tools/list` answer.",
    "anyOf": [_TOOLS, _LISTED, {"type": "object", "properties": {"result": _LISTED}, "required": ["result"]}],
}
_PATH = {"type": "string", "minLength": 1, "description": "Path of a file with a catalog, from the case's own folder."}
_RECORDED = {"description": "An object; anything else is kept and graded as `not_object`, absent as `missing`."}
_EXPECTED = {
    "description": "Expected arguments: absent, anything goes; {}, exactly none.",
    "type": "object",
    "additionalProperties": _VALUE,
}
_ORDER = {"description": "Which order matters. Default: `partial` if a call has `after`, else `listed`."}

_CASE_FIELDS: Fields = {
    "Case": {
        "id": {"description": "Names the case; traces refer to it as `case_id`."},
        "request": {"description": "What the user asked for."},
        "context": {"description": "What else the agent knew: text, or system prompt, earlier turns and state."},
        "tools": {"description": _CATALOG["description"], "anyOf": [_ref("Catalog"), _PATH, {"type": "null"}]},
        "expect": {"description": "The golden; absent, only the policy and judges apply."},
        "policy": {"description": "Rules of this case, beside those of the suite."},
    },
    "Expect": {
        "calls": {"description": "The expected calls; an empty list says that no tool may be called."},
        "order": _ORDER,
        "alternatives": {"description": "Other acceptable ways."},
    },
    "Way": {"order": _ORDER},
    "GoldenCall": {
        "arguments": _EXPECTED,
        "label": {"description": "Names the call; needed where its tool's name repeats."},
        "after": {"description": "Labels, or unambiguous tool names, of the calls whose results this one needs."},
        "optional": {"description": "Whether the call may be left out."},
    },
    "When": {"arguments": {"description": "JSON Schema of the arguments that make the call dangerous."}},
}
_TRACE_FIELDS: Fields = {
    "Line": {
        "tools": {"description": _CATALOG["description"], "anyOf": [_ref("Catalog"), {"type": "null"}]},
        "calls": {"description": "Shorthand for `events` without messages."},
        "completed": {"description": "Whether the run came to its end; absent, not known."},
    },
    "Call": {"arguments": _RECORDED},
    "ShortCall": {
        "arguments": _RECORDED,
        "result": {"description": "What a call that worked gave back."},
        "error": {"description": "What a call that failed gave back."},
    },
    "Result": {"content": {"description": "Any JSON value; absent, not recorded."}},
}

# ---- schemas -------------------------------------------------------------------------------------------------------


def struct_schema(kind: type[msgspec.Struct], fields: Fields | None = None) -> dict[str, Any]:
    """The `$defs` and the `$ref` of a type, with words and shapes added to fields by type and name."""
    made: dict[str, Any] = _worded(msgspec.json.schema(kind))
    for name, added in (fields or {}).items():
        properties = made["$defs"][name]["properties"]
        for field, parts in added.items():
            properties[field] = {**properties[field], **parts}
    return made


def _worded(part: Any) -> Any:
    """A schema without OpenAPI's own keyword, its descriptions in the names that stand in files."""
    if isinstance(part, list):
        return [_worded(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        key: re.sub(r"\b(\w+)_json\b", r"\1", item).replace("`None`", "`null`")
        if key == "description" and isinstance(item, str)
        else _worded(item)
        for key, item in part.items()
        if key != "discriminator"
    }


def _one_or_many(record: dict[str, Any], *tables: str) -> dict[str, Any]:
    """A file that holds one record, a list of them, or a list under one of the keys `tables`."""
    many = {"type": "array", "items": record}
    shape: dict[str, Any] = record
    for table in tables:
        wrapped = {"properties": {table: many}, "additionalProperties": False}
        shape = {"if": {"type": "object", "required": [table]}, "then": wrapped, "else": shape}
    return {"if": {"type": "array"}, "then": many, "else": shape}


def _case() -> dict[str, Any]:
    made = struct_schema(Case, _CASE_FIELDS)
    defs = {**made["$defs"], **_value_defs(), "Tool": _TOOL, "Catalog": _CATALOG}
    return _document("Cases: what should have happened", _one_or_many(_ref("Case"), "case", "cases"), defs)


def _trace() -> dict[str, Any]:
    defs = struct_schema(Line, _TRACE_FIELDS)["$defs"]
    defs["Trace"] = {**defs.pop("Line"), "title": "Trace", "oneOf": [{"required": ["events"]}, {"required": ["calls"]}]}
    defs["ShortCall"]["not"] = {"required": ["result", "error"]}
    defs |= {"Tool": _TOOL, "Catalog": _CATALOG}
    return _document("Traces: what happened (one line, or a list)", _one_or_many(_ref("Trace")), defs)


def _policy() -> dict[str, Any]:
    made = struct_schema(Policy, {"When": _CASE_FIELDS["When"]})
    table = {"properties": {"policy": _ref("Policy")}, "additionalProperties": False}
    shape = {"if": {"type": "object", "required": ["policy"]}, "then": table, "else": _ref("Policy")}
    return _document("A policy: the Safety Matrix", shape, made["$defs"])


def result_schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The schema of `--json` for a grader whose results are of type `kind`.

    The types of results belong to rooms above this one, which pass theirs: `schema("result", {**SCHEMAS, "result":
    lambda: result_schema(GoldenResult)})`.
    """
    count = {"type": "integer", "minimum": 0}
    counts = ("n", "evaluated", "unevaluable", "passed", "failed")
    summary = {"type": "object", "properties": dict.fromkeys(counts, count), "required": list(counts)}
    shape = {
        "type": "object",
        "properties": {
            "run": {"type": "object", "description": "What was run, on what, with which settings."},
            "summary": summary,
            "results": {"type": "array", "items": _ref(kind.__name__)},
        },
        "required": ["run", "summary", "results"],
    }
    return _document("The answer of a grader run", shape, struct_schema(kind)["$defs"])


def _document(title: str, shape: dict[str, Any], defs: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": DRAFT, "title": title, **shape, "$defs": defs}


SCHEMAS: Mapping[str, Builder] = {"case": _case, "trace": _trace, "policy": _policy}
"""What makes each schema, by name."""


def schema(name: str, schemas: Mapping[str, Builder] = SCHEMAS) -> dict[str, Any]:
    """The JSON Schema of one kind of file.

    Args:
        name: `case`, `trace`, `policy`, or another key of `schemas`.
        schemas: name -> what makes the schema; a room above passes `SCHEMAS` with its own beside them.

    Raises:
        ConfigError: there is no schema of this name; the nearest one is given.
    """
    if name in schemas:
        return schemas[name]()
    guess = nearest(name, schemas)
    known = f"known: {', '.join(sorted(schemas))}"
    raise ConfigError(f"there is no schema `{name}`", hint=f"did you mean `{guess}`?" if guess else known)

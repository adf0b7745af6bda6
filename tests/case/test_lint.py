"""Faults of a suite that are seen before anything is graded, and sound suites that stay unmarked."""

import json
import tomllib
from pathlib import Path

import msgspec
import pytest
from msgspec import UNSET, Raw

from rightcall.case.case import Case, Expect, GoldenCall, Way
from rightcall.case.lint import Lint, lint
from rightcall.case.load import iter_cases, load_tools
from rightcall.case.policy import Confirm, MaxCalls, Policy, Requires, Substitution, When
from rightcall.errors import Place
from rightcall.trace.model import Tool

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PLACE = Place("c.jsonl", 7)


def tool(name, properties=None, *, required=(), closed=True, description=None, **more):
    schema = {"type": "object", "properties": properties or {}, "required": list(required)}
    if closed:
        schema["additionalProperties"] = False
    return Tool(name=name, description=description or f"Does {name} and nothing else.", parameters={**schema, **more})


TEXT = {"type": "string", "description": "A text."}
CARD = {"type": "string", "pattern": "^[0-9]{4}$", "description": "Last four digits."}
COUNT = {"type": "integer", "minimum": 1, "description": "How many.", "default": 1}
FREEZE = tool("freeze", {"card": CARD, "note": TEXT}, required=["card"])
MOVE = tool(
    "move", {"to": {"type": "object", "properties": {"street": TEXT}, "required": ["street"], "description": "Where."}}
)
ORDER = tool(
    "order", {"count": COUNT, "items": {"type": "array", "items": TEXT, "description": "What."}}, required=["count"]
)
TOOLS = (FREEZE, MOVE, ORDER)


def golden_call(name, arguments=None, **fields):
    raw = UNSET if arguments is None else Raw(json.dumps(arguments).encode())
    return GoldenCall(tool=name, arguments_json=raw, **fields)


def case_of(*calls, name="c", order=None, **fields):
    return Case(id=name, expect=Expect(calls=calls, order=order), **fields)


def ways_of(*ways):
    return Case(id="c", expect=Expect(alternatives=ways))


def found(*cases, tools=None, policy=None, aliases=None):
    return lint([(case, PLACE) for case in cases], tools, policy, aliases)


def codes(*cases, **suite):
    return [item.code for item in found(*cases, **suite)]


def only(*cases, **suite):
    (item,) = found(*cases, **suite)
    return item


# ---- nothing to say ----


def test_no_case_no_fault():
    assert lint([]) == []
    assert lint([], TOOLS, Policy(), {}) == []


@pytest.mark.parametrize("name", sorted(path.parent.name for path in EXAMPLES.glob("*/rightcall.toml")))
def test_the_examples_are_sound(name):
    folder = EXAMPLES / name
    suite = tomllib.loads((folder / "rightcall.toml").read_text(encoding="utf-8"))
    cases = [(case, place) for path in sorted(folder.glob(suite["cases"])) for case, place, _ in iter_cases(path)]
    policy = msgspec.convert(suite["policy"], Policy)
    assert cases
    assert [str(item) for item in lint(cases, load_tools(folder / suite["tools"]), policy, suite.get("aliases"))] == []


def test_a_fault_is_one_line_with_place_severity_case_hint_and_code():
    item = Lint("error", "unknown_tool", Place("c.toml", 3, None, "$.x"), "c", "it is wrong", "fix it")
    assert str(item) == "c.toml:3 at $.x: error: case `c`: it is wrong; fix it [unknown_tool]"
    assert str(Lint("warning", "thin_tool", Place(), None, "it is thin")) == "warning: it is thin [thin_tool]"


# ---- golden calls against the catalog ----

SOUND = [
    None,
    {"card": "4242"},
    {"card": {"ignore": True}},
    {"card": {"any_of": ["1", 2]}, "note": {"contains": "x"}},
    {"card": {"equals": "4242"}},
    {"card": {"from_result": {"call": "move", "path": "a"}}},
    {"card": {"matches": ".*"}, "note": {"similar": "x", "optional": True}},
]
FAULTY = [
    ({}, "missing_argument", "", '"card"'),
    ({"note": {"ignore": True}}, "missing_argument", "", '"card"'),
    ({"card": "4242", "cart": "x"}, "unexpected_argument", "", "'cart'"),
    ({"card": {"ignore": True}, "cart": "x"}, "unexpected_argument", "", "'cart'"),
    ({"card": {"ignore": True}, "cart": {"ignore": True}}, "unexpected_argument", "", "'cart'"),
    ({"card": 4242}, "invalid_argument", ".card", "string"),
    ({"card": "42"}, "invalid_argument", ".card", "does not match"),
    ({"card": {"equals": "42"}}, "invalid_argument", ".card", "does not match"),
    ({"card": {"any_of": []}, "note": 7}, "invalid_argument", ".note", "string"),
    ({"card": "4242", "note": {"x": 1}}, "invalid_argument", ".note", "string"),
    ({"card": "4242", "note": [{"ignore": True}]}, "invalid_argument", ".note", "string"),
]


@pytest.mark.parametrize("arguments", SOUND, ids=repr)
def test_a_golden_call_that_the_tool_takes_is_sound(arguments):
    assert found(case_of(golden_call("move"), golden_call("freeze", arguments)), tools=TOOLS) == []


@pytest.mark.parametrize(("arguments", "code", "path", "text"), FAULTY, ids=repr)
def test_a_golden_call_that_the_tool_does_not_take_is_an_error(arguments, code, path, text):
    item = only(case_of(golden_call("freeze", arguments)), tools=TOOLS)
    assert (item.severity, item.code, item.case_id) == ("error", code, "c")
    assert item.place == Place("c.jsonl", 7, None, f"$.expect.calls[0].arguments{path}")
    assert text in item.message


def test_a_misspelled_argument_is_told_with_the_nearest_name():
    assert (
        only(case_of(golden_call("freeze", {"card": "4242", "noet": "x"})), tools=TOOLS).hint == "did you mean `note`?"
    )


def test_a_misspelled_required_argument_is_too_where_the_schema_is_open():
    is_open = tool("freeze", {"card": CARD}, required=["card"], closed=False)
    item = only(case_of(golden_call("freeze", {"crad": "4242"})), tools=(is_open,))
    assert (item.code, item.hint) == ("missing_argument", "did you mean `card`?")


def test_literals_deep_inside_are_checked_and_matchers_there_are_not():
    assert found(case_of(golden_call("move", {"to": {"street": {"similar": "x"}}})), tools=TOOLS) == []
    item = only(case_of(golden_call("move", {"to": {"street": 7}})), tools=TOOLS)
    assert item.place.path == "$.expect.calls[0].arguments.to.street"
    assert codes(case_of(golden_call("move", {"to": {"streat": {"ignore": True}}})), tools=TOOLS) == [
        "missing_argument"
    ]
    item = only(case_of(golden_call("order", {"count": 1, "items": [{"ignore": True}, 7]})), tools=TOOLS)
    assert item.place.path == "$.expect.calls[0].arguments.items[1]"


def test_a_required_key_with_a_default_may_be_left_out():
    assert found(case_of(golden_call("order", {})), tools=TOOLS) == []
    assert found(case_of(golden_call("order", {"items": [{"ignore": True}]})), tools=TOOLS) == []


def test_what_depends_on_the_value_of_a_matcher_is_not_judged():
    either = tool(
        "pay", {"by": TEXT, "iban": TEXT}, closed=False, oneOf=[{"required": ["iban"]}, {"required": ["card"]}]
    )
    when = tool(
        "pay",
        {"by": TEXT},
        closed=False,
        **{"if": {"properties": {"by": {"const": "iban"}}}, "then": {"required": ["iban"]}},
    )
    assert codes(case_of(golden_call("pay", {"by": {"ignore": True}})), tools=(either,)) == []
    assert codes(case_of(golden_call("pay", {"by": {"ignore": True}})), tools=(when,)) == []
    assert codes(case_of(golden_call("pay", {"by": "x"})), tools=(either,)) == ["invalid_argument"]
    assert codes(case_of(golden_call("pay", {"by": "iban"})), tools=(when,)) == ["missing_argument"]


def test_a_tool_without_a_schema_takes_anything():
    bare = Tool(name="freeze", description="Freezes.")
    assert found(case_of(golden_call("freeze", {"any": ["thing"]})), tools=(bare,)) == []


def test_without_a_catalog_nothing_is_said_about_tools():
    assert found(case_of(golden_call("nobody", {"x": 1})), policy=Policy(forbidden=("other",))) == []


def test_an_unknown_tool_is_an_error_with_the_nearest_name():
    item = only(case_of(golden_call("move"), golden_call("freezer", {"x": 1})), tools=TOOLS)
    assert (item.severity, item.code, item.hint) == ("error", "unknown_tool", "did you mean `freeze`?")
    assert item.place.path == "$.expect.calls[1]"


def test_an_alias_is_known_under_either_name():
    aliases = {"mcp__bank__freeze": "freeze"}
    case = case_of(golden_call("mcp__bank__freeze", {"card": "4242"}))
    assert found(case, tools=TOOLS, aliases=aliases) == []
    assert found(case, tools=(msgspec.structs.replace(FREEZE, name="mcp__bank__freeze"),), aliases=aliases) == []
    assert codes(case, tools=TOOLS) == ["unknown_tool"]


def test_a_cases_own_catalog_counts_before_the_suites():
    own = Raw(b'[{"name": "other", "description": "d"}]')
    assert found(case_of(golden_call("other", {"x": 1}), tools_json=own), tools=TOOLS) == []
    assert codes(case_of(golden_call("freeze"), tools_json=own), tools=TOOLS) == ["unknown_tool"]
    assert found(case_of(golden_call("freeze"), tools_json=Raw(b"null")), tools=TOOLS) == []


def test_every_alternative_is_looked_at():
    case = ways_of(
        Way(calls=(golden_call("freeze", {"card": "4242"}),)), Way(calls=(golden_call("freeze", {"card": 1}),))
    )
    assert only(case, tools=TOOLS).place.path == "$.expect.alternatives[1].calls[0].arguments.card"


# ---- catalogs ----


def test_thin_tools_and_parameters_are_warned_of():
    thin = Tool(
        name="thin",
        description=" ",
        parameters={"properties": {"a": {}, "b": TEXT, "c": {"description": ""}, "d": True}},
    )
    items = found(tools=(Tool(name="bare"), thin))
    assert [(item.severity, item.code) for item in items] == [
        ("warning", "thin_tool"), ("warning", "thin_tool"), ("warning", "thin_parameter"),
    ]  # fmt: skip
    assert items[2].message == "tool `thin` does not describe `a`, `c`, `d`"


def test_a_parameter_that_is_described_elsewhere_is_not_thin():
    schema = {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": TEXT}}
    assert found(tools=(Tool(name="t", description="d", parameters=schema),)) == []
    assert (
        found(tools=(Tool(name="t", description="d", parameters={"properties": []}),))[0].code == "CONFIG_TOOL_INVALID"
    )


@pytest.mark.parametrize(
    ("first", "second", "overlap"),
    [
        ("Cancel a card.", "cancel a card", True),
        ("a b c d e f g h i j", "a b c d e f g h i j k", True),
        ("a b c d e f g h i", "a b c d e f g h i j", True),
        ("a b c d e f g h", "a b c d e f g h i", False),
        ("Freeze a card.", "Cancel a card.", False),
        ("!", "?", False),
    ],
)
def test_tools_whose_descriptions_are_nearly_the_same_are_warned_of(first, second, overlap):
    items = found(tools=(Tool(name="one", description=first), Tool(name="two", description=second)))
    assert [item.code for item in items] == (["overlapping_tools"] if overlap else [])


def test_a_schema_that_cannot_be_compiled_is_an_error_and_the_rest_is_still_looked_at():
    broken = Tool(name="broken", description="d", parameters={"type": "objct"})
    items = found(case_of(golden_call("broken", {"x": 1}), golden_call("freeze", {})), tools=(broken, FREEZE))
    assert [(item.severity, item.code) for item in items] == [
        ("error", "CONFIG_TOOL_INVALID"),
        ("error", "missing_argument"),
    ]
    assert "tool `broken`" in items[0].message


@pytest.mark.parametrize(
    ("tools", "code"),
    [
        (b'[{"name": "a"}, {"name": "a"}]', "CONFIG_DUPLICATE_TOOL"),
        (b"7", "CONFIG_TOOL_INVALID"),
        (b'"t.json"', "CONFIG_TOOL_INVALID"),
    ],
)
def test_a_cases_catalog_that_cannot_be_read_is_an_error(tools, code):
    item = only(case_of(golden_call("a"), tools_json=Raw(tools)))
    assert (item.severity, item.code, item.case_id) == ("error", code, "c")
    assert item.place.path.startswith("$.tools")


def test_a_catalog_that_many_cases_have_is_told_of_once():
    own = Raw(b'[{"name": "a"}]')
    cases = [case_of(golden_call("a"), name=f"c{n}", request=f"r{n}", tools_json=own) for n in range(3)]
    assert codes(*cases) == ["thin_tool"]


def test_the_catalogs_place_is_given_to_its_faults():
    (item,) = lint([], (Tool(name="t"),), tools_place=Place("tools.json"))
    assert str(item) == "tools.json: warning: tool `t` has no description [thin_tool]"


# ---- policies ----

EVERY_RULE = Policy(
    classes={"cl": "read"},
    guessed=("gu",),
    forbidden=("fo",),
    requires=(Requires(tool="re", before=("be",)),),
    when=(When(tool="wh", arguments={}),),
    substitution=(Substitution(expected="ex", called="ca"),),
    max_calls=(MaxCalls(tool="ma", count=1),),
    confirm=(Confirm(tool="co"),),
)


def test_every_tool_that_a_policy_names_must_be_in_some_catalog():
    items = lint([], TOOLS, EVERY_RULE, policy_place=Place("p.toml", None, None, "policy"))
    assert {(item.severity, item.code) for item in items} == {("warning", "unknown_tool")}
    assert [item.place.path for item in items] == [
        "policy.classes", "policy.guessed[0]", "policy.forbidden[0]", "policy.requires[0]", "policy.requires[0]",
        "policy.substitution[0]", "policy.substitution[0]", "policy.when[0]", "policy.max_calls[0]",
        "policy.confirm[0]",
    ]  # fmt: skip
    named = [item.message.split("`")[1] for item in items]
    assert sorted(named) == sorted(["cl", "gu", "fo", "re", "be", "ex", "ca", "wh", "ma", "co"])


def test_a_misspelled_tool_in_a_policy_is_told_with_the_nearest_name():
    assert only(tools=TOOLS, policy=Policy(forbidden=("frezee",))).hint == "did you mean `freeze`?"


def test_a_tool_of_any_cases_catalog_is_known_to_the_suites_policy():
    own = Raw(b'[{"name": "cancel", "description": "d"}]')
    case = case_of(tools_json=own)
    assert found(case, tools=TOOLS, policy=Policy(forbidden=("cancel",))) == []
    assert codes(case, tools=TOOLS, policy=Policy(forbidden=("cancle",))) == ["unknown_tool"]


def test_a_cases_own_policy_is_held_against_the_cases_catalog():
    item = only(case_of(policy=Policy(forbidden=("cancel",))), tools=TOOLS)
    assert (item.code, item.case_id, item.place.path) == ("unknown_tool", "c", "$.policy.forbidden[0]")


@pytest.mark.parametrize(
    ("policy", "path", "text"),
    [
        (
            Policy(when=(When(tool="move", arguments={"type": "objct"}),)),
            ".when[0].arguments",
            "not a valid JSON Schema",
        ),
        (Policy(confirm=(Confirm(tool="move", yes=("ok", "(?=a)")),)), ".confirm[0].yes[1]", "linear-time engine"),
    ],
)
def test_a_rule_that_cannot_be_compiled_is_an_error(policy, path, text):
    item = only(tools=TOOLS, policy=policy)
    assert (item.severity, item.place.path) == ("error", f"${path}")
    assert text in item.message


def test_a_golden_that_calls_a_forbidden_tool_is_contradictory():
    item = only(case_of(golden_call("a"), golden_call("b", optional=True)), policy=Policy(forbidden=("b",)))
    assert (item.severity, item.code, item.place.path) == ("error", "policy_contradiction", "$.expect.calls[1]")
    aliases = {"x.b": "b"}
    assert codes(case_of(golden_call("b")), policy=Policy(forbidden=("x.b",)), aliases=aliases) == [
        "policy_contradiction"
    ]
    assert codes(case_of(golden_call("b"), policy=Policy(forbidden=("b",)))) == ["policy_contradiction"]


@pytest.mark.parametrize(("severity", "expected"), [("CRITICAL", "error"), ("HIGH", "warning")])
def test_a_golden_without_what_the_policy_requires_before_is_as_bad_as_the_rule(severity, expected):
    policy = Policy(requires=(Requires(tool="cancel", before=("verify",), severity=severity),))
    item = only(case_of(golden_call("cancel")), policy=policy)
    assert (item.severity, item.code) == (expected, "policy_contradiction")
    assert found(case_of(golden_call("verify"), golden_call("cancel")), policy=policy) == []
    assert found(case_of(golden_call("verify")), policy=policy) == []


def test_a_golden_with_more_calls_than_the_policy_allows_is_contradictory():
    policy = Policy(max_calls=(MaxCalls(tool="mail", count=1, veto=True),))
    once, twice = golden_call("mail", {"n": 1}, label="1"), golden_call("mail", {"n": 2}, label="2")
    assert [(item.severity, item.code) for item in found(case_of(once, twice), policy=policy)] == [
        ("error", "policy_contradiction")
    ]
    assert found(case_of(once, msgspec.structs.replace(twice, optional=True)), policy=policy) == []


def test_classes_alone_are_looked_at_too():
    assert codes(tools=TOOLS, policy=Policy(classes={"nobody": "read"})) == ["unknown_tool"]


# ---- goldens by themselves ----


@pytest.mark.parametrize(
    ("calls", "text"),
    [
        ((golden_call("a"), golden_call("a"), golden_call("b", after=("a",))), "which 2 golden calls have"),
        ((golden_call("b", after=("a",)),), "which no golden call has"),
        ((golden_call("a", after=("b",)), golden_call("b", after=("a",))), "goes in a circle"),
        ((golden_call("a", {"x": {"matches": "(?=a)"}}),), "linear-time engine"),
        ((golden_call("a", {"x": {"similar": "a", "treshold": 1}}),), "has no option `treshold`"),
        ((GoldenCall(tool="a", arguments_json=Raw(b"[]")),), "must be an object"),
        ((GoldenCall(tool="a", arguments_json=Raw(b'{"x": 1e999}')),), "out of range"),
    ],
)
def test_what_cannot_be_compiled_is_an_error_and_does_not_stop_the_others(calls, text):
    items = found(case_of(*calls), case_of(golden_call("zzz"), name="d"), tools=(Tool(name="a", description="d"),))
    assert text in items[0].message
    assert (items[0].severity, items[0].code.startswith(("CASE_", "TRACE_")), items[0].case_id) == ("error", True, "c")
    assert [(item.code, item.case_id) for item in items[1:]] == [("unknown_tool", "d")]


def test_every_way_is_compiled_by_itself():
    bad = Way(calls=(golden_call("a", after=("nobody",)),))
    assert len(found(ways_of(bad, Way(calls=(golden_call("b"),)), bad))) == 2


def test_an_expectation_without_calls_is_an_error():
    item = only(Case(id="c", expect=Expect()))
    assert (item.code, item.place.path) == ("CASE_INVALID", "$.expect")
    assert "calls = []" in item.hint


@pytest.mark.parametrize("path", ["", "$", "a", "a.b", "$.a.b", "a[0].b", "[0]", "$[0]['odd key'].c", "a_b-c.d e"])
def test_a_path_into_a_result_may_be_written_so(path):
    flow = {"from_result": {"call": "a", "path": path}}
    assert found(case_of(golden_call("a"), golden_call("b", {"x": [flow]}))) == []


@pytest.mark.parametrize("path", [".", "a.", ".a", "a..b", "$.", "a[]", "a[x]", "a.[0]", "a[0", "a]"])
def test_a_path_with_an_empty_step_is_an_error(path):
    flow = {"from_result": {"call": "a", "path": path}}
    item = only(case_of(golden_call("a"), golden_call("b", {"x": [flow]})))
    assert (item.severity, item.code) == ("error", "result_path")
    assert item.place.path == "$.expect.calls[1].arguments"


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"x": {"as": "address", "similar": "a"}}, ".x"),
        ({"x": [{"y": {"optional": True, "any_of": [1]}}]}, ".x[0].y"),
        ({"x": {"any_of": [1, {"abs_tol": 1, "approx": 2}]}}, ".x.any_of[1]"),
    ],
)
def test_a_matcher_whose_name_is_not_first_is_warned_of(arguments, path):
    item = only(case_of(golden_call("a", arguments)))
    assert (item.severity, item.code) == ("warning", "matcher_not_first")
    assert item.place.path == f"$.expect.calls[0].arguments{path}"


@pytest.mark.parametrize(
    "arguments",
    [
        {"as": "x", "similar": "y"},
        {"x": {"name": "y", "contains": "z"}},
        {"x": {"equals": {"as": "x", "similar": "y"}}},
        {"x": {"schema": {"title": "t", "schema": 1}}},
    ],
)
def test_a_literal_that_is_meant_is_not_warned_of(arguments):
    assert found(case_of(golden_call("a", arguments))) == []


def test_a_label_that_nobody_uses_is_warned_of():
    assert only(case_of(golden_call("a", label="x"), golden_call("b"))).code == "unused_label"
    assert found(case_of(golden_call("a", label="x"), golden_call("b", after=("x",)))) == []
    flow = {"from_result": {"call": "x", "path": "id"}}
    assert found(case_of(golden_call("a", label="x"), golden_call("b", {"i": flow}))) == []


def test_a_label_that_tells_calls_of_one_tool_apart_is_not():
    assert found(case_of(golden_call("a", {"n": 1}, label="x"), golden_call("a", {"n": 2}, label="y"))) == []


@pytest.mark.parametrize(("order", "expected"), [("listed", True), ("any", True), ("partial", False), (None, False)])
def test_after_under_an_order_that_ignores_it_is_warned_of(order, expected):
    items = found(case_of(golden_call("a"), golden_call("b", after=("a",)), order=order))
    assert [item.code for item in items] == (["after_ignored"] if expected else [])


# ---- alternatives ----

A, B = golden_call("a", {"n": 1}), golden_call("b", {"n": 2})
A_AFTER = golden_call("b", {"n": 2}, after=("a",))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Way(calls=(A, B)), Way(calls=(A, B))),
        (Way(calls=()), Way(calls=(), order="any")),
        (Way(calls=(A,)), Way(calls=(golden_call("a", {"n": 1.0}),), order="any")),
        (Way(calls=(A, B), order="any"), Way(calls=(B, A), order="any")),
        (Way(calls=(A, B), order="any"), Way(calls=(A, B))),
        (Way(calls=(A, B), order="any"), Way(calls=(A, A_AFTER))),
        (Way(calls=(A, golden_call("b", {"n": 2}, optional=True))), Way(calls=(A, B))),
        (Way(calls=(golden_call("a"), B)), Way(calls=(A, B))),
        (Way(calls=(A, B, golden_call("c")), order="partial"), Way(calls=(A, A_AFTER, golden_call("c")))),
    ],
)
def test_an_alternative_that_can_never_win_is_warned_of(first, second):
    item = only(ways_of(Way(calls=(golden_call("z"),)), first, second))
    assert (item.severity, item.code) == ("warning", "unreachable_alternative")
    assert item.place.path == "$.expect.alternatives[2]"
    assert "$.expect.alternatives[1]" in item.message


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Way(calls=(A, B)), Way(calls=(B, A))),
        (Way(calls=(A, B)), Way(calls=(A, B), order="any")),
        (Way(calls=(A, B)), Way(calls=(A, golden_call("b", {"n": 2}, optional=True)))),
        (Way(calls=(A, B)), Way(calls=(golden_call("a"), B))),
        (Way(calls=(A, A_AFTER)), Way(calls=(A, B))),
        (Way(calls=(A, A_AFTER)), Way(calls=(A, B), order="any")),
        (Way(calls=(A,)), Way(calls=(A, B))),
        (Way(calls=(A,)), Way(calls=(golden_call("a", {"n": 2}),))),
        (Way(calls=(A,)), Way(calls=(golden_call("a", {}),))),
        (Way(calls=(golden_call("a", {}),)), Way(calls=(golden_call("a"),))),
    ],
)
def test_an_alternative_that_might_win_is_not(first, second):
    assert found(ways_of(first, second)) == []


# ---- cases against each other ----

ASK = {"request": "Freeze my card."}


def test_cases_that_ask_the_same_and_expect_something_else_contradict_each_other():
    item = only(case_of(A, name="one", **ASK), case_of(B, name="two", **ASK))
    assert (item.severity, item.code, item.case_id) == ("error", "contradictory_case", "two")
    assert "case `one` (at c.jsonl:7)" in item.message


@pytest.mark.parametrize(
    "other",
    [
        case_of(B, name="two", request="Something else."),
        case_of(B, name="two", context="But locked.", **ASK),
        case_of(B, name="two", tools_json=Raw(b'[{"name": "b", "description": "d"}]'), **ASK),
        Case(id="two", **ASK),
        case_of(golden_call("a", {"n": 1.0}), name="two", tags=("x",), policy=Policy(forbidden=("b",)), **ASK),
    ],
)
def test_cases_that_differ_in_what_the_agent_sees_do_not(other):
    assert found(case_of(A, name="one", **ASK), other) == []


def test_a_golden_that_is_only_written_otherwise_is_no_contradiction():
    first = case_of(golden_call("a", {"n": 1}, label="x"), golden_call("b", {"n": 2}, after=("x",)), name="one", **ASK)
    second = case_of(golden_call("a", {"n": 1.0}), golden_call("b", {"n": 2}, after=("a",)), name="two", **ASK)
    assert found(first, second) == []


def test_two_ids_for_the_same_content_are_warned_of():
    item = only(case_of(A, name="one", tags=("x",), **ASK), case_of(A, name="two", metadata={"y": 1}, **ASK))
    assert (item.severity, item.code, item.case_id) == ("warning", "duplicate_case", "two")


def test_cases_that_do_not_say_what_was_asked_are_not_compared():
    assert found(case_of(A, name="one"), case_of(A, name="two"), case_of(B, name="three")) == []


def test_an_id_that_stands_twice_with_other_content_is_an_error():
    item = only(case_of(A), case_of(B))
    assert (item.severity, item.code) == ("error", "CASE_DUPLICATE_ID")
    assert found(case_of(A), case_of(A)) == []


def test_a_case_that_cannot_be_compiled_contradicts_nobody():
    bad = case_of(golden_call("a", after=("nobody",)), name="bad", **ASK)
    assert codes(bad, case_of(A, name="one", **ASK)) == ["CASE_INVALID"]


def test_faults_come_in_the_order_in_which_a_person_looks():
    cases = (case_of(golden_call("nobody"), name="one", **ASK), case_of(A, name="two", **ASK))
    suite = {"tools": (Tool(name="a"),), "policy": Policy(forbidden=("x",))}
    assert codes(*cases, **suite) == ["thin_tool", "unknown_tool", "unknown_tool", "contradictory_case"]
    assert [item.case_id for item in found(*cases, **suite)] == [None, None, "one", "two"]

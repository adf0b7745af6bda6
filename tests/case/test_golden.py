"""Goldens made ready: names resolved, order settled, contradictions refused with their place."""

import json

import pytest
from msgspec import UNSET, Raw

from rightcall.case.case import Case, Expect, GoldenCall, Way
from rightcall.case.golden import compile_case, compile_way, way_place
from rightcall.case.matchers import FromResult
from rightcall.errors import CaseError, Place

PLACE = Place("c.toml", 3, None, "$[2]")


def golden_call(tool, arguments=None, **fields):
    raw = UNSET if arguments is None else Raw(json.dumps(arguments).encode())
    return GoldenCall(tool=tool, arguments_json=raw, **fields)


def compiled(*calls, order=None, aliases=None):
    case = Case(id="c", expect=Expect(calls=calls, order=order))
    (golden,) = compile_case(case, PLACE, aliases)
    return golden


def refusal(*calls, **options):
    with pytest.raises(CaseError) as caught:
        compiled(*calls, **options)
    assert caught.value.exit_code == 2
    return caught.value


def flow(call, path="id"):
    return {"from_result": {"call": call, "path": path}}


# ---- what there is to match ----


def test_a_case_without_a_golden_has_no_way():
    assert compile_case(Case(id="c")) == ()


def test_an_empty_list_is_a_golden_without_calls():
    golden = compiled()
    assert (golden.calls, golden.order_pairs, golden.flows, golden.required) == ((), (), (), 0)


def test_an_expectation_without_calls_or_alternatives_is_an_error():
    with pytest.raises(CaseError, match="neither `calls` nor `alternatives`"):
        compile_case(Case(id="c", expect=Expect()), PLACE)


def test_alternatives_are_compiled_in_their_order():
    ways = (Way(calls=(golden_call("b"),), name="second"), Way(calls=()))
    expect = Expect(calls=(golden_call("a"),), alternatives=ways)
    goldens = compile_case(Case(id="c", expect=expect), PLACE)
    assert [golden.name for golden in goldens] == [None, "second", None]
    assert [[call.tool for call in golden.calls] for golden in goldens] == [["a"], ["b"], []]


@pytest.mark.parametrize(
    ("expect", "index", "path"),
    [
        (Expect(calls=()), 0, "$[2].expect"),
        (Expect(calls=(), alternatives=(Way(calls=()),)), 1, "$[2].expect.alternatives[0]"),
        (Expect(alternatives=(Way(calls=()), Way(calls=()))), 1, "$[2].expect.alternatives[1]"),
    ],
)
def test_the_place_of_a_way_is_its_json_path(expect, index, path):
    assert way_place(Case(id="c", expect=expect), index, PLACE) == Place("c.toml", 3, None, path)


def test_optional_calls_are_not_required():
    assert compiled(golden_call("a"), golden_call("b", optional=True)).required == 1


# ---- literals and matchers ----


@pytest.mark.parametrize(
    ("arguments", "literal"),
    [
        (None, True),
        ({}, True),
        ({"a": [1, {"b": 2}]}, True),
        ({"any_of": [1]}, True),  # a parameter may be called so: the arguments themselves are no matcher
        ({"a": {"any_of": [1]}}, False),
        ({"a": [{"b": {"ignore": True}}]}, False),
        ({"a": {"equals": 1}}, False),
        ({"a": [{"equals": {"set": 1}}]}, False),
        ({"a": {"x": 1, "any_of": [1]}}, True),
        ({"a": '{"any_of": [1]}'}, True),
    ],
)
def test_arguments_are_literal_where_no_matcher_is_in_them(arguments, literal):
    assert compiled(golden_call("t", arguments)).calls[0].literal is literal


def test_a_matcher_whose_name_is_written_with_an_escape_is_one():
    call = GoldenCall(tool="t", arguments_json=Raw(b'{"a": {"\\u0061ny_of": [1]}, "b": [ {\n"ignore" : true}]}'))
    assert not compiled(call).calls[0].literal


def test_what_is_compiled_is_what_was_written():
    call = compiled(golden_call("t", {"e\u0301": 1, "b": {"ignore": True}})).calls[0]
    assert call.value == {"\u00e9": 1, "b": {"ignore": True}}
    assert call.nodes.keys() == {"\u00e9", "b"}
    assert call.identity == compiled(golden_call("t", {"b": {"ignore": True}, "\u00e9": 1.0})).calls[0].identity


def test_a_golden_is_simple_where_every_call_is_required_literal_and_stated():
    assert compiled(golden_call("t", {"a": 1})).simple
    assert not compiled(golden_call("t")).simple
    assert not compiled(golden_call("t", {}, optional=True)).simple
    assert not compiled(golden_call("t", {"a": {"ignore": True}})).simple


@pytest.mark.parametrize("arguments", [[1], "x", 7, None, True])
def test_expected_arguments_must_be_an_object(arguments):
    call = GoldenCall(tool="t", arguments_json=Raw(json.dumps(arguments).encode()))
    error = refusal(call)
    assert "`arguments` must be an object" in error.message
    assert error.place.path == "$[2].expect.calls[0].arguments"


def test_a_wrong_matcher_is_placed_inside_its_call():
    error = refusal(golden_call("a"), golden_call("b", {"x": [{"y": {"matches": "(?=a)"}}]}))
    assert error.place == Place("c.toml", 3, None, "$[2].expect.calls[1].arguments.x[0].y")


@pytest.mark.parametrize("text", [b'{"a": 1e999}', b'{"a": ["x", -2E500]}', b'{"a": "\\ud800"}'])
def test_a_golden_that_no_reader_can_hold_is_an_error_of_the_case(text):
    with pytest.raises(CaseError) as caught:
        compiled(GoldenCall(tool="t", arguments_json=Raw(text)))
    assert str(caught.value.place.path).endswith("calls[0].arguments")


# ---- order ----


def test_the_order_is_listed_unless_a_call_has_after():
    assert compiled(golden_call("a"), golden_call("b"), golden_call("c")).order_pairs == ((0, 1), (0, 2), (1, 2))
    golden = compiled(golden_call("a"), golden_call("b"), golden_call("c", after=("a",)))
    assert (golden.order, golden.order_pairs) == ("partial", ((0, 2),))


@pytest.mark.parametrize(("order", "pairs"), [("listed", ((0, 1),)), ("partial", ((0, 1),)), ("any", ())])
def test_a_stated_order_counts(order, pairs):
    assert compiled(golden_call("a"), golden_call("b", after=("a",)), order=order).order_pairs == pairs


def test_a_partial_order_without_after_asks_for_nothing():
    assert compiled(golden_call("a"), golden_call("b"), order="partial").order_pairs == ()


def test_after_takes_labels_and_unambiguous_tool_names():
    golden = compiled(
        golden_call("find", label="first"),
        golden_call("find", label="second"),
        golden_call("send", after=("second", "look", "second")),
        golden_call("look"),
    )
    assert golden.edges == ((1, 2), (3, 2))


def test_a_label_goes_before_a_tool_of_the_same_name():
    assert compiled(golden_call("a"), golden_call("b", label="a"), golden_call("c", after=("a",))).edges == ((1, 2),)


@pytest.mark.parametrize(
    ("calls", "text", "hint"),
    [
        ((golden_call("a"), golden_call("a"), golden_call("b", after=("a",))), "which 2 golden calls have", "`label`"),
        (
            (golden_call("a", label="x"), golden_call("b", label="x"), golden_call("c", after=("x",))),
            "`after` names `x`, which 2 golden calls have",
            "a `label` of its own",
        ),
        (
            (golden_call("a", label="x"), golden_call("b", after=("y",))),
            "`y`, which no golden call has",
            "known: x, a, b",
        ),
    ],
)
def test_after_that_is_ambiguous_or_names_nothing_is_an_error(calls, text, hint):
    error = refusal(*calls)
    assert text in error.message
    assert hint in error.hint
    assert error.place.path == f"$[2].expect.calls[{len(calls) - 1}].after"


@pytest.mark.parametrize(
    "calls",
    [
        (golden_call("a", after=("a",)),),
        (golden_call("a", after=("b",)), golden_call("b", after=("a",))),
        (
            golden_call("x"),
            golden_call("a", after=("c",)),
            golden_call("b", after=("a",)),
            golden_call("c", after=("b",)),
        ),
        (golden_call("a", {"i": flow("b")}), golden_call("b", after=("a",))),
        (golden_call("a", {"i": flow("a")}),),
    ],
)
def test_calls_that_would_each_have_to_come_first_are_an_error(calls):
    assert "`after` goes in a circle: calls[" in refusal(*calls).message


def test_a_diamond_is_no_circle():
    golden = compiled(
        golden_call("a"),
        golden_call("b", after=("a",)),
        golden_call("c", after=("a",)),
        golden_call("d", after=("b", "c")),
    )
    assert golden.edges == ((0, 1), (0, 2), (1, 3), (2, 3))


# ---- data flow ----


def test_a_data_flow_knows_its_source_under_any_order():
    golden = compiled(
        golden_call("find", label="f"), golden_call("send", {"to": [flow("f", "owner.mail")]}), order="any"
    )
    ((later, found),) = golden.flows
    assert (later, found, golden.flow_sources) == (1, FromResult("f", "owner.mail", flow("f", "owner.mail")), {"f": 0})


@pytest.mark.parametrize("source", ["find", "nobody"])
def test_a_data_flow_from_an_ambiguous_or_unknown_call_is_an_error(source):
    error = refusal(golden_call("find"), golden_call("find"), golden_call("send", {"to": flow(source)}))
    assert f"`from_result` names `{source}`" in error.message
    assert error.place.path == "$[2].expect.calls[2].arguments"


# ---- aliases ----


def test_aliases_give_tools_their_canonical_names():
    aliases = {"spotify.play": "spotify_play"}
    golden = compiled(golden_call("spotify.play"), golden_call("stop", after=("spotify_play",)), aliases=aliases)
    assert [call.tool for call in golden.calls] == ["spotify_play", "stop"]
    assert golden.edges == ((0, 1),)
    golden = compiled(golden_call("spotify_play"), golden_call("stop", after=("spotify.play",)), aliases=aliases)
    assert golden.edges == ((0, 1),)


def test_names_that_look_alike_are_not_aliases():
    assert (
        "no golden call has" in refusal(golden_call("spotify.play"), golden_call("s", after=("spotify_play",))).message
    )


def test_one_way_can_be_compiled_by_itself():
    golden = compile_way(Way(calls=(golden_call("a"),), order="any", name="n"), PLACE, {})
    assert (golden.name, golden.order) == ("n", "any")

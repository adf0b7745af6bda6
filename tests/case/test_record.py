"""A trace that a person accepts becomes a case, and a case becomes a file that reads back."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from rightcall.api import grade
from rightcall.case.case import Case, Expect, GoldenCall, Way
from rightcall.case.golden import compile_case
from rightcall.case.parse import parse_cases
from rightcall.case.policy import Confirm, MaxCalls, Policy, Requires, Substitution, When
from rightcall.case.record import literal, record, to_json, to_toml
from rightcall.errors import CaseError
from rightcall.trace.jsontext import encode
from rightcall.trace.model import Call, Message, Trace, call


def trace(*events, **fields):
    return Trace(id="t", events=events, **fields)


def tools_of(case):
    return [made.tool for made in case.expect.calls]


def read_back(text, name):
    ((case, _),) = parse_cases(text.encode(), name)
    return case


# ---- recording ----


def test_the_calls_are_recorded_in_order_with_their_arguments():
    case = record(trace(call("a", {"x": 9007199254740993}), call("b", {})), case_id="new")
    assert (case.id, case.expect.order, tools_of(case)) == ("new", "listed", ["a", "b"])
    assert [made.arguments for made in case.expect.calls] == [{"x": 9007199254740993}, {}]


def test_the_id_is_the_given_one_else_the_traces_case_else_the_trace():
    assert record(trace(case_id="c"), case_id="new").id == "new"
    assert record(trace(case_id="c")).id == "c"
    assert record(trace()).id == "t"


def test_a_trace_without_calls_is_an_abstention():
    assert record(trace(Message(role="user", text="thanks"))).expect == Expect(calls=(), order="listed")


def test_the_request_is_the_recorded_one_else_the_users_first_words():
    said = (Message(role="system", text="s"), Message(role="user"), Message(role="user", text="hi"))
    assert record(trace(*said, request="written")).request == "written"
    assert record(trace(*said)).request == "hi"
    assert record(trace()).request is None


def test_context_and_catalog_are_kept_and_nothing_else():
    tools = Raw(b'[{"name": "a"}]')
    case = record(trace(context={"system": "s"}, tools_json=tools, metadata={"x": 1}, completed=True))
    assert (case.context, bytes(case.tools_json), case.metadata) == ({"system": "s"}, b'[{"name": "a"}]', {})
    assert record(trace(tools_json=Raw(b"null"))).tools_json is UNSET


def test_only_the_agents_own_calls_are_expected():
    assert tools_of(record(trace(Call(tool="u", by="user"), call("a", {}), Call(tool="p", by="provider")))) == ["a"]


def test_a_label_stands_where_a_name_repeats():
    case = record(trace(call("a", {"n": 1}), call("b", {}), call("a", {"n": 2})))
    assert [made.label for made in case.expect.calls] == ["a#1", None, "a#2"]


@pytest.mark.parametrize(
    ("events", "recorded"),
    [
        ("f1 o1", "1"),
        ("f1 f1 o1", "1"),
        ("f1 f1", "1"),
        ("f1 o2", "1 2"),
        ("f1 o2 o1", "2 1"),
        ("o1 f1", "1 1"),
        ("o1 o1", "1 1"),
        ("f1 o1 o1", "1 1"),
        ("o2 f1", "2 1"),
        ("u1 u1", "1 1"),
    ],
)
def test_a_failed_call_and_its_identical_retry_are_one(events, recorded):
    outcome = {"f": {"error": "no"}, "o": {"result": "yes"}, "u": {}}
    made = [call("a", {"n": int(number)}, **outcome[kind]) for kind, number in events.split()]
    assert [str(golden.arguments["n"]) for golden in record(trace(*made)).expect.calls] == recorded.split()


def test_a_retry_is_identical_whatever_the_spelling_of_its_arguments():
    first = Call(tool="a", arguments_json=Raw(b'{"x": 1, "y": 2}'), result=call("a", {}, error=1).result)
    assert len(record(trace(first, call("a", {"y": 2.0, "x": 1}, result=1))).expect.calls) == 1
    assert len(record(trace(first, call("b", {"y": 2.0, "x": 1}, result=1))).expect.calls) == 2


@pytest.mark.parametrize(
    "value",
    [{"contains": "x"}, {"any_of": 3}, {"ignore": True}, {"equals": {"equals": 1}}, {"name": "x", "set": 1}],
)
def test_what_looks_like_a_matcher_is_recorded_as_a_literal(value):
    arguments = {"a": value, "b": [{"c": value}], "plain": {"k": [1]}}
    recorded = trace(call("t", arguments))
    case = record(recorded)
    assert case.expect.calls[0].arguments["a"] == {"equals": value}
    assert case.expect.calls[0].arguments["plain"] == {"k": [1]}
    assert grade(case, recorded).metrics.exact_match
    other = trace(call("t", {**arguments, "a": {"k": "x"}}))
    assert grade(case, other).metrics.exact_match is False


def test_a_parameter_may_be_called_like_a_matcher():
    assert record(trace(call("t", {"set": [1], "contains": "x"}))).expect.calls[0].arguments == {
        "set": [1],
        "contains": "x",
    }


@pytest.mark.parametrize("status", ["malformed", "not_object", "missing", "not_captured"])
def test_a_call_without_arguments_cannot_be_recorded(status):
    with pytest.raises(CaseError, match=f"the arguments of `a` are {status}") as caught:
        record(trace(call("b", {}), Call(tool="a", arguments_status=status)))
    assert caught.value.place.path == "calls[1]"


def test_arguments_that_cannot_be_decoded_cannot_be_recorded():
    with pytest.raises(CaseError, match="trace `t`: not valid JSON"):
        record(trace(Call(tool="a", arguments_json=Raw(b'{"a": 1e999}'))))


# ---- anything ----

TEXT = st.text(max_size=6) | st.sampled_from(["contains", "any_of", "a.b", "\x7f", "\r\n", '"', "\\", "'''", "\u2028"])
SCALAR = (
    st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
    | st.sampled_from([2**53 + 1, 10**30, 1e22, -0.0, 5e-324])
)
JSON = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=5
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)
NAME = st.sampled_from(["a", "b", "c"])
TEXTS = st.lists(TEXT, max_size=2).map(tuple)


@st.composite
def recorded_traces(draw):
    """Draw a trace whose calls all worked, some in parallel."""
    count = draw(st.integers(0, 4))
    events = [
        call(draw(NAME), draw(OBJECT), result=draw(JSON), turn=draw(st.none() | st.integers(0, 2)))
        for _ in range(count)
    ]
    return trace(*events, request=draw(st.none() | TEXT), context=draw(st.none() | TEXT | OBJECT))


@given(recorded_traces())
@settings(deadline=None, max_examples=40)
def test_a_trace_passes_the_case_that_was_recorded_from_it(recorded):
    case = record(recorded)
    (golden,) = compile_case(case)
    assert golden.order == "listed"
    for again in (case, read_back(to_json(case), "c.jsonl"), read_back(to_toml(case), "c.toml")):
        assert again.digest == case.digest
        result = grade(again, recorded)
        assert (result.verdict, result.metrics.exact_match) == ("PASS", True)


@given(JSON)
@settings(deadline=None, max_examples=40)
def test_a_literal_means_the_same_with_its_keys_sorted(value):
    written = literal(value)
    case = Case(id="c", expect=Expect(calls=(GoldenCall(tool="t", arguments_json=Raw(encode({"a": written}))),)))
    assert grade(case, trace(call("t", {"a": value}))).metrics.exact_match


# ---- writing ----

RAW_OBJECT = OBJECT.map(lambda value: Raw(json.dumps(value).encode()))
GOLDEN = st.builds(
    GoldenCall,
    tool=TEXT,
    arguments_json=st.just(UNSET) | RAW_OBJECT,
    label=st.none() | TEXT,
    after=TEXTS,
    optional=st.booleans(),
)
GOLDENS = st.lists(GOLDEN, max_size=2).map(tuple)
ORDER = st.none() | st.sampled_from(["listed", "partial", "any"])
WAY = st.builds(Way, calls=GOLDENS, order=ORDER, name=st.none() | TEXT)
EXPECT = st.builds(
    Expect, calls=st.just(UNSET) | GOLDENS, order=ORDER, alternatives=st.lists(WAY, max_size=2).map(tuple)
)
RULE = {"severity": st.sampled_from(["CRITICAL", "HIGH", "LOW"]), "veto": st.none() | st.booleans()}
POLICY = st.builds(
    Policy,
    classes=st.dictionaries(TEXT, st.sampled_from(["read", "destructive"]), max_size=2),
    guessed=TEXTS,
    forbidden=TEXTS,
    requires=st.lists(st.builds(Requires, tool=TEXT, before=TEXTS, same=TEXTS, **RULE), max_size=1).map(tuple),
    when=st.lists(st.builds(When, tool=TEXT, arguments=OBJECT, **RULE), max_size=1).map(tuple),
    substitution=st.lists(st.builds(Substitution, expected=TEXT, called=TEXT, **RULE), max_size=1).map(tuple),
    max_calls=st.lists(st.builds(MaxCalls, tool=TEXT, count=st.integers(0, 9), **RULE), max_size=1).map(tuple),
    confirm=st.lists(st.builds(Confirm, tool=TEXT, yes=TEXTS, **RULE), max_size=1).map(tuple),
)
CASE = st.builds(
    Case,
    id=TEXT,
    request=st.none() | TEXT,
    context=st.none() | TEXT | OBJECT,
    tools_json=st.just(UNSET)
    | st.lists(OBJECT, max_size=2).map(lambda tools: Raw(encode(tools)))
    | st.just(Raw(b'"t.json"')),
    tags=TEXTS,
    expect=st.none() | EXPECT,
    policy=st.none() | POLICY,
    metadata=st.dictionaries(TEXT | st.sampled_from(["calls", "expect", "requires"]), JSON, max_size=2),
)


@given(CASE)
@settings(deadline=None, max_examples=60)
def test_a_case_written_and_read_again_is_the_same(case):
    assert read_back(to_json(case), "c.jsonl").digest == case.digest
    assert read_back(to_json(case), "c.json").digest == case.digest
    assert read_back(to_toml(case), "c.toml").digest == case.digest


@given(CASE)
@settings(deadline=None, max_examples=30)
def test_the_order_of_keys_survives_so_that_a_matcher_stays_one(case):
    ways = case.expect.ways if case.expect else ()
    again = read_back(to_toml(case), "c.toml")
    for way, other in zip(ways, again.expect.ways if again.expect else (), strict=True):
        for made, read in zip(way.calls, other.calls, strict=True):
            assert json.dumps(made.arguments) == json.dumps(read.arguments)


def test_a_matcher_is_written_as_it_stood():
    raw = Raw(b'{"a": {"similar": "x", "as": "address", "threshold": 0.5}}')
    case = Case(id="c", expect=Expect(calls=(GoldenCall(tool="t", arguments_json=raw),)))
    assert 'arguments = { a = { similar = "x", as = "address", threshold = 0.5 } }' in to_toml(case)
    assert '"arguments":{"a": {"similar": "x", "as": "address", "threshold": 0.5}}' in to_json(case)


def test_the_toml_form_is_laid_out_like_one_that_a_person_writes():
    case = Case(
        id="lost wallet",
        request="I lost\nit",
        tags=("cards",),
        expect=Expect(
            calls=(
                GoldenCall(tool="freeze", arguments_json=Raw(b'{"card": "4242"}')),
                GoldenCall(tool="issue", after=("freeze",), optional=True),
            ),
            alternatives=(Way(calls=(), name="refuse"), Way(calls=(GoldenCall(tool="ask"),))),
        ),
        policy=Policy(forbidden=("cancel",), max_calls=(MaxCalls(tool="mail", count=1),)),
        metadata={"by": "dana"},
    )
    assert to_toml(case) == (
        'id = "lost wallet"\n'
        'request = "I lost\\nit"\n'
        'tags = ["cards"]\n'
        "\n[expect]\n"
        '\n[[expect.calls]]\ntool = "freeze"\narguments = { card = "4242" }\n'
        '\n[[expect.calls]]\ntool = "issue"\nafter = ["freeze"]\noptional = true\n'
        '\n[[expect.alternatives]]\ncalls = []\nname = "refuse"\n'
        "\n[[expect.alternatives]]\n"
        '\n[[expect.alternatives.calls]]\ntool = "ask"\n'
        '\n[policy]\nforbidden = ["cancel"]\n'
        '\n[[policy.max_calls]]\ntool = "mail"\ncount = 1\n'
        '\n[metadata]\nby = "dana"\n'
    )


@pytest.mark.parametrize(
    ("case", "path"),
    [
        (Case(id="c", metadata={"a": [1, {"b": None}]}), "$.metadata.a[1].b"),
        (Case(id="c", context={"x": None}), "$.context.x"),
        (
            Case(id="c", expect=Expect(calls=(GoldenCall(tool="t", arguments_json=Raw(b'{"a": null}')),))),
            "$.expect.calls[0].arguments.a",
        ),
        (Case(id="c", tools_json=Raw(b"null")), "$.tools"),
    ],
)
def test_a_null_cannot_be_written_as_toml_and_can_as_json(case, path):
    with pytest.raises(CaseError, match="TOML cannot write") as caught:
        to_toml(case)
    assert caught.value.place.path == path
    assert ".json" in caught.value.hint
    assert read_back(to_json(case), "c.jsonl").digest == case.digest


def test_a_json_case_is_one_line():
    text = to_json(Case(id="c", request="a\nb"))
    assert (text.count("\n"), text[-1]) == (1, "\n")

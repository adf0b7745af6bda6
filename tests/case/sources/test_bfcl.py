"""Cases from BFCL's possible answers: allowed values, turns of Python calls, and what is not an answer."""

import json
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from rightcall.case.case import Case
from rightcall.case.golden import compile_case
from rightcall.case.matchers import matches, may_be_absent
from rightcall.case.sources import bfcl
from rightcall.case.sources.registry import SOURCES
from rightcall.errors import Place
from rightcall.trace.catalog import Catalog, parse_tools
from rightcall.trace.sources.dialect import Skip

PLACE = Place("answers.json", 3)


def read(truth, parameters=None):
    (case,) = bfcl.cases({"id": "row_1", "ground_truth": truth}, PLACE, parameters)
    assert isinstance(case, Case), case
    return case


def skip_of(truth, parameters=None):
    (skip,) = bfcl.cases({"id": "row_1", "ground_truth": truth}, PLACE, parameters)
    assert isinstance(skip, Skip), skip
    assert (skip.code, skip.place) == ("CASE_INVALID", PLACE)
    return skip


def argument(allowed):
    """Return the compiled node of one parameter with these allowed values."""
    (golden,) = compile_case(read([{"f": {"p": allowed}}]))
    return golden.calls[0].nodes["p"]


def test_a_row_is_a_case_whose_calls_have_no_order():
    case = read([{"play": {"artist": ["A", "B"], "minutes": [20]}}, {"play": {"artist": ["C"]}}])
    assert (case.id, case.request, case.expect.order) == ("row_1", None, "any")
    assert [(call.tool, call.arguments) for call in case.expect.calls] == [
        ("play", {"artist": {"any_of": ["A", "B"]}, "minutes": 20}),
        ("play", {"artist": "C"}),
    ]


def test_a_call_without_parameters_takes_exactly_none():
    assert read([{"now": {}}]).expect.calls[0].arguments == {}


def test_no_expected_calls_is_a_correct_abstention():
    assert read([]).expect.calls == ()


@pytest.mark.parametrize(
    ("allowed", "right", "wrong"),
    [
        (["a"], ["a"], ["A", "", None]),
        (["a", "b"], ["a", "b"], ["c"]),
        ([1, 2.5], [1, 1.0, 2.5], ["1", True]),
        ([[3, 5]], [[3, 5]], [[5, 3], 3]),
        ([[]], [[]], [[1]]),
        ([{}], [{}], [{"a": 1}]),
        (
            [{"size": ["L", "XL"], "hot": ["", True]}],
            [{"size": "XL", "hot": True}, {"size": "L"}],
            [{"size": "S"}, {"hot": True}],
        ),
        (
            [[{"op": ["<", "="]}, {"op": [">"]}]],
            [[{"op": "="}, {"op": ">"}]],
            [[{"op": ">"}, {"op": ">"}], [{"op": "="}]],
        ),
        ([{"a": [{"b": [1, 2]}]}], [{"a": {"b": 2}}], [{"a": {"b": [2]}}]),
        ([{"format": "iso"}], [{"format": "iso"}], [{"format": "x"}]),
        ([{"set": [1]}], [{"set": 1}], [[1], {"set": [1]}]),
        ([[{"set": [1]}, 2]], [[{"set": 1}, 2]], [[1, 2]]),
        ([{"a": [{"set": [1]}], "b": [2]}], [{"a": {"set": 1}, "b": 2}], [{"a": [1], "b": 2}]),
        ([{"z": [{"b": [2]}], "equals": [[{"c": [3]}]]}], [{"z": {"b": 2}, "equals": [{"c": 3}]}], [{"z": 2}]),
        ({"equals": 3}, [{"equals": 3}], [3]),
    ],
)
def test_allowed_values_are_the_right_ones(allowed, right, wrong):
    node = argument(allowed)
    assert all(matches(node, value) for value in right)
    assert not any(matches(node, value) for value in wrong)
    assert not may_be_absent(node)


@pytest.mark.parametrize(
    ("allowed", "right", "wrong"),
    [
        (["units", ""], ["units", ""], ["x"]),
        (["", 5], [5], ["", "5"]),
        ([""], [""], [5]),
        (["", None], [None], ["", 0]),
    ],
)
def test_an_empty_text_means_that_a_parameter_may_be_left_out(allowed, right, wrong):
    node = argument(allowed)
    assert may_be_absent(node)
    assert all(matches(node, value) for value in right)
    assert not any(matches(node, value) for value in wrong)


def test_a_parameter_named_like_a_matcher_is_a_parameter():
    (golden,) = compile_case(read([{"f": {"matches": [10], "schema": ["", "a"]}}]))
    assert matches(golden.calls[0].nodes["matches"], 10)
    assert may_be_absent(golden.calls[0].nodes["schema"])


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        ([{"f": {"p": []}}], "no value is allowed for `p`"),
        ([{"f": {"p": [{"q": []}]}}], "no value is allowed for `p.q`"),
        ([{"f": {"p": [{"set": [1, 2]}]}}], "has a choice of values"),
        ([{"f": {"p": [{"set": [""]}]}}], "has a choice of values"),
        ([{"f": [1]}], "must hold objects"),
        (["f()"], "must hold objects"),
    ],
)
def test_what_cannot_be_a_golden_is_skipped_with_the_reason(truth, said):
    skip = skip_of(truth)
    assert said in skip.message
    assert "row `row_1`" in skip.message


@pytest.mark.parametrize("row", [None, {}, {"id": "a"}, {"id": "a", "ground_truth": "f()"}, {"ground_truth": []}])
def test_a_row_without_id_or_truth_is_skipped(row):
    (skip,) = bfcl.cases(row, PLACE)
    assert isinstance(skip, Skip)


def test_a_list_of_rows_gives_a_case_or_a_skip_each():
    case, skip = bfcl.cases([{"id": 4, "ground_truth": []}, "x"], Place("a.json"))
    assert case.id == "4"
    assert skip.place.path == "$[1]"


# ---- turns of Python calls ----


def test_turns_are_calls_in_the_listed_order():
    case = read(
        [["cd(folder='a')", "fs.ls(all=True, depth=-2)"], [], ["plot(points=[(1, 2.5), None], style={'w': 1})"]]
    )
    assert case.expect.order == "listed"
    assert [(call.tool, call.arguments) for call in case.expect.calls] == [
        ("cd", {"folder": "a"}),
        ("fs.ls", {"all": True, "depth": -2}),
        ("plot", {"points": [[1, 2.5], None], "style": {"w": 1}}),
    ]


def test_a_positional_argument_takes_the_tools_parameter_name():
    case = read([["mv('a', target='b')"]], {"mv": ["source", "target"]})
    assert case.expect.calls[0].arguments == {"source": "a", "target": "b"}


def test_a_positional_argument_without_names_asks_for_the_tools():
    skip = skip_of([["sort('a')"]])
    assert "`sort` has a positional argument" in skip.message
    assert "pass the file of the tools too" in skip.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sort(", "is not a call"),
        ("sort", "is not a call"),
        ("a()()", "is not a call"),
        ("x = 1", "is not a call"),
        ("", "is not a call"),
        ("f(\0)", "is not a call"),
        ("f(" + "(" * 500 + ")" * 500 + ")", "is not a call"),
        ("f(a=1, a=2)", "names an argument twice"),
        ("mv('a', source='b')", "names an argument twice"),
        ("f(**{'a': 1})", "names an argument twice, or not at all"),
        ("mv('a', 'b', 'c')", "has 2 parameters and gets 3"),
        ("mv(*['a'])", "no JSON value"),
        ("f(a=open('x'))", "no JSON value"),
        ("f(a=__import__('os').system('true'))", "no JSON value"),
        ("f(a={1, 2})", "no JSON value"),
        ("f(a={1: 2})", "no JSON value"),
        ("f(a=b'x')", "no JSON value"),
        ("f(a=1e999)", "no JSON value"),
        ("f(a='" + "x" * 30_000 + "')", "more than 20000 characters"),
    ],
)
def test_anything_but_a_call_with_literals_is_skipped_and_never_run(text, said):
    assert said in skip_of([[text]], {"mv": ["source", "target"]}).message


def test_an_odd_escape_in_a_text_warns_nobody():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert read([[r"f(a='\d')"]]).expect.calls[0].arguments == {"a": r"\d"}
    assert seen == []


# ---- recognition, any JSON ----


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {"id": "irrelevance_0", "question": []},
        {"id": "a", "ground_truth": "x"},
        {"id": "a", "ground_truth": ["Paris"]},
        {"id": "a", "ground_truth": [{"answer": "Paris"}]},
        {"id": "a", "ground_truth": [[1]]},
        {"ground_truth": []},
    ],
)
def test_what_is_neither_an_answer_nor_a_question_is_not_claimed(value):
    assert not bfcl.detect(value)


def test_answers_are_recognised_alone_and_in_a_list():
    row = {"id": "a", "ground_truth": [{"f": {"p": [1]}}]}
    assert all(map(bfcl.detect, [row, [row], {"id": "a", "ground_truth": [["f()"]]}]))


words = st.sampled_from(["id", "ground_truth", "f", "p", "set", "any_of", "equals"])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=20,
)
answers = st.lists(
    st.dictionaries(words, st.dictionaries(words, st.lists(anything, max_size=3), max_size=3), max_size=2)
)
texts = st.lists(st.lists(st.text("fab(),='1[]{}*:\\ \n", max_size=12), max_size=3))


@pytest.mark.slow
@given(anything | st.fixed_dictionaries({"id": st.just("r"), "ground_truth": answers | texts | anything}))
def test_any_json_gives_cases_or_skips_and_every_case_compiles(value):
    assert isinstance(bfcl.detect(value), bool)
    for item in bfcl.cases(value, PLACE, {"f": ["a", "b"]}):
        assert isinstance(item, (Case, Skip))
        if isinstance(item, Case):
            for golden in compile_case(item):
                assert all(call.nodes is not None for call in golden.calls)


# ---- real files ----

FILES = {
    # file: cases, skipped, expected calls
    "live_parallel": (16, 0, 39),
    "live_parallel_multiple": (24, 0, 55),
    "live_simple": (256, 2, 256),
    "multiple": (200, 0, 200),
    "parallel": (200, 0, 540),
    "parallel_multiple": (200, 0, 607),
    "simple_java": (100, 0, 100),
    "simple_javascript": (50, 0, 50),
    "simple_python": (400, 0, 400),
    "multi_turn_base": (200, 0, 1142),
}


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


@pytest.fixture(scope="module")
def parameters(shared_data):
    """Return the parameter names of every tool that the turns call."""
    tools = [tool for path in (shared_data / "data/bfcl/func_doc").iterdir() for tool in rows(path)]
    return {tool["name"]: list(tool["parameters"]["properties"]) for tool in tools}


@pytest.mark.parametrize("name", FILES)
def test_real_answers_are_cases_that_compile(shared_data, parameters, name):
    answers = rows(shared_data / f"data/bfcl/possible_answer/BFCL_v4_{name}.json")
    assert all(map(bfcl.detect, answers))
    found = [item for row in answers for item in bfcl.cases(row, PLACE, parameters)]
    read_ = [case for case in found if isinstance(case, Case)]
    assert (len(read_), len(found) - len(read_), sum(len(case.expect.calls) for case in read_)) == FILES[name]
    for case in read_:
        assert all(call.nodes is not None for golden in compile_case(case) for call in golden.calls)


def test_real_turns_without_the_tools_are_skipped_with_the_reason(shared_data):
    answers = rows(shared_data / "data/bfcl/possible_answer/BFCL_v4_multi_turn_base.json")
    skips = [item for row in answers for item in bfcl.cases(row, PLACE) if isinstance(item, Skip)]
    assert len(skips) == 24
    assert all("pass the file of the tools too" in skip.message for skip in skips)


def test_the_real_questions_are_cases_with_their_catalogs(shared_data):
    counts = {}
    for path in sorted((shared_data / "data/bfcl/data").iterdir()):
        for row in rows(path):
            assert [name for name, source in SOURCES.items() if source.detect(row)] == ["bfcl"]
            (case,) = bfcl.cases(row, PLACE)
            assert isinstance(case, Case), case
            assert case.request
            if case.tools_json is not UNSET:
                Catalog(parse_tools(json.loads(bytes(case.tools_json)), PLACE), PLACE)
            key = (path.stem.removeprefix("BFCL_v4_"), None if case.expect is None else len(case.expect.calls))
            counts[key] = counts.get(key, 0) + 1
    assert counts[("irrelevance", 0)] == 240
    assert counts[("live_relevance", None)] == 16
    assert [key for key in counts if key[1] is not None] == [("irrelevance", 0)]


@pytest.mark.parametrize(
    ("row_id", "expects_none"),
    [
        ("irrelevance_3", True),
        ("live_irrelevance_3-0-1", True),
        ("relevance_7", True),
        ("live_relevance_1-1-0", False),
        ("simple_1", False),
    ],
)
def test_a_question_expects_no_call_only_where_none_is_right(row_id, expects_none):
    question = [
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "One?"}],
        [{"role": "user", "content": "Two?"}],
    ]
    tools = [{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {"x": {"type": "float"}}}}]
    (case,) = bfcl.cases({"id": row_id, "question": question, "function": tools}, PLACE)
    assert (case.id, case.request, case.context, case.metadata) == (
        row_id,
        "One?",
        "Be brief.",
        {"later_requests": ["Two?"]},
    )
    assert json.loads(bytes(case.tools_json))[0]["parameters"] == {
        "type": "object",
        "properties": {"x": {"type": "number"}},
    }
    assert (case.expect is not None and case.expect.calls == ()) is expects_none


def test_a_question_whose_tools_cannot_be_read_is_skipped():
    (skip,) = bfcl.cases({"id": "simple_1", "question": [], "function": [7]}, PLACE)
    assert (skip.code, skip.place) == ("CASE_INVALID", PLACE)


def test_each_source_recognises_only_its_own_real_files(shared_data):
    files = {
        "tau": "tau_bench/gpt-4o-airline.json",
        "tau2": "tau2_bench/mock_tasks.json",
    }
    for name, path in files.items():
        value = json.loads((shared_data / "data" / path).read_text())
        assert [other for other, source in SOURCES.items() if source.detect(value)] == [name]

"""Small makers for the tests of the grader: goldens, calls, traces, tools, and what to ask of a result."""

import json
from collections.abc import Mapping

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from msgspec import Raw

from rightcall.api import Case, Policy, Tool, Trace, call, grade
from rightcall.case.case import Expect, GoldenCall, Way
from rightcall.case.golden import compile_way
from rightcall.errors import Place
from rightcall.grade.actual import Actual
from rightcall.trace.catalog import Catalog
from rightcall.trace.model import Call, Message, Result

SHARES = (
    "precision",
    "recall",
    "f1",
    "jaccard",
    "jaccard_set",
    "argument_accuracy",
    "arguments_valid",
    "order_score",
    "efficiency",
    "overall",
    "unvetoed_overall",
)
SURPLUS_KINDS = {"redundant_call", "unknown_tool", "unexpected_call"}
ARGUMENT_KINDS = {
    "missing_argument",
    "wrong_argument",
    "unexpected_argument",
    "invalid_argument",
    "data_flow_violation",
}
ANYTHING = object()
"""Golden arguments that are not stated: anything goes."""


def property_test(examples):
    """Return the settings of a property test: so many examples, and no limit on the time of one."""
    return settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


# ---- goldens and cases -------------------------------------------------------------------------------------------


def golden_call(tool, arguments=ANYTHING, **fields):
    """One golden call; without `arguments` anything goes."""
    if arguments is not ANYTHING:
        fields["arguments_json"] = Raw(json.dumps(arguments).encode())
    return GoldenCall(tool=tool, **fields)


def case_of(*calls, order=None, policy=None, alternatives=()):
    """A case with a golden of these calls."""
    return Case(id="case", expect=Expect(calls=calls, order=order, alternatives=alternatives), policy=policy)


def policy_case(policy):
    """A case without a golden."""
    return Case(id="case", policy=policy)


def way(*calls, **fields):
    """One acceptable way."""
    return Way(calls=calls, **fields)


def compiled(*calls, order=None):
    """A golden made ready for matching."""
    return compile_way(Way(calls=calls, order=order), Place(path="$.expect"), {})


def from_result(label, path):
    """The matcher of a value that must come from an earlier result."""
    return {"from_result": {"call": label, "path": path}}


# ---- traces ------------------------------------------------------------------------------------------------------


def trace_of(*events, **fields):
    """A trace of these events."""
    return Trace(id="trace", events=events, **fields)


def unreadable(tool, status, raw=None, **fields):
    """A call whose arguments were not recorded as an object."""
    return Call(tool=tool, arguments_status=status, arguments_raw=raw, **fields)


def written(tool, text, **fields):
    """A call whose arguments are this JSON text, byte for byte."""
    return Call(tool=tool, arguments_json=Raw(text.encode()), **fields)


def unrecorded(tool, arguments, **fields):
    """A call whose result has no content."""
    return Call(tool=tool, arguments_json=Raw(json.dumps(arguments).encode()), result=Result(is_error=False), **fields)


def user(text):
    """Something that the user said."""
    return Message(role="user", text=text)


def agent(text):
    """Something that the agent said."""
    return Message(role="assistant", text=text)


def tool(name, properties: Mapping | None = None, required=(), **annotations):
    """A tool with an object schema, and MCP hints as written."""
    schema = {"type": "object", "properties": dict(properties or {}), "required": list(required)}
    return Tool(name=name, parameters=schema, annotations=annotations or None)


def seen(*calls, tools=None, aliases=None):
    """Calls as the grader sees them."""
    return Actual(trace_of(*calls), aliases or {}, None if tools is None else Catalog(tuple(tools)))


# ---- results -----------------------------------------------------------------------------------------------------


def metrics_of(case, trace, **options):
    """The metrics of one grading."""
    return grade(case, trace, **options).metrics


def kinds(result):
    """The kinds of the findings, sorted."""
    return sorted(finding.kind for finding in result.findings)


def find(result, kind):
    """The findings of one kind."""
    return [finding for finding in result.findings if finding.kind == kind]


def only(result, kind):
    """The one finding of a kind."""
    (found,) = find(result, kind)
    return found


def rules(result):
    """The rules that vetoed."""
    return [veto.rule for veto in result.vetoes]


def pairs_of(result):
    """Golden index -> call index, as the alignment shows them."""
    return {row.golden_index: row.call_index for row in result.alignment if row.state == "matched"}


def rows(result):
    """The alignment as (state, golden index, call index)."""
    return [(row.state, row.golden_index, row.call_index) for row in result.alignment]


def without_texts(result):
    """What a result says, without the words and the sequence in which it says it."""
    findings = sorted(str((f.kind, f.severity, f.call_index, f.golden_index, f.path)) for f in result.findings)
    vetoes = [(veto.rule, veto.severity, veto.call_index) for veto in result.vetoes]
    return result.status, result.reason, result.verdict, result.metrics, findings, vetoes, rows(result)


# ---- random values -----------------------------------------------------------------------------------------------

KEYS = st.sampled_from(["a", "b", "key", "é", "two words", "Ω"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([2**53 + 1, 10**24, -(2**64)]),
    st.sampled_from([0.5, -2.25, 3.0, 1e-9]),
    st.text(st.sampled_from('aZ é…\n"\\/'), max_size=4),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=5
)
ARGUMENTS = st.dictionaries(KEYS, VALUES, max_size=3)


@st.composite
def _call(draw):
    arguments, turn = draw(_SMALL), draw(st.none() | st.integers(1, 3))
    status = draw(st.sampled_from(["ok"] * 6 + ["malformed", "not_object", "missing"]))
    if status != "ok":
        return unreadable(draw(_NAMES), status, raw=draw(st.sampled_from(["{", "[]"])), turn=turn)
    outcome = draw(st.sampled_from([{}, {"result": {"id": 0}}, {"result": 1}, {"error": "no"}]))
    return call(draw(_NAMES), arguments, turn=turn, **outcome)


@st.composite
def _golden(draw):
    stated = draw(st.sampled_from([True, True, True, False]))
    arguments = draw(_SMALL | _MATCHED) if stated else ANYTHING
    return golden_call(draw(_NAMES), arguments, optional=draw(st.integers(0, 4)) == 0)


_NAMES = st.sampled_from(["r", "s", "t"])
_SMALL = st.dictionaries(st.sampled_from("xyz"), st.integers(0, 1), max_size=2)
_MATCHED = st.dictionaries(
    st.sampled_from("xyz"),
    st.sampled_from(
        [{"any_of": [0, 1]}, {"approx": 0, "abs_tol": 1}, {"ignore": True}, {"any_of": [0], "optional": True}]
    ),
    max_size=2,
)
SMALL_CALLS = st.lists(_call(), max_size=6)
"""Calls of three tools and few values: good, bad, repeated, failed, parallel, unreadable."""
SMALL_GOLDENS = st.lists(_golden(), max_size=5)
"""Golden calls of the same domain: stated or not, with matchers, optional."""

__all__ = [
    "ANYTHING",
    "ARGUMENTS",
    "ARGUMENT_KINDS",
    "KEYS",
    "SCALARS",
    "SHARES",
    "SMALL_CALLS",
    "SMALL_GOLDENS",
    "SURPLUS_KINDS",
    "VALUES",
    "Call",
    "Case",
    "Message",
    "Policy",
    "Tool",
    "Trace",
    "agent",
    "call",
    "case_of",
    "compiled",
    "find",
    "from_result",
    "golden_call",
    "grade",
    "kinds",
    "metrics_of",
    "only",
    "pairs_of",
    "policy_case",
    "property_test",
    "rows",
    "rules",
    "seen",
    "tool",
    "trace_of",
    "unreadable",
    "unrecorded",
    "user",
    "way",
    "without_texts",
    "written",
]

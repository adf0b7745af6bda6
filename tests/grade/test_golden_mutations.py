"""Mutation self-test: a passing trace, one fault put in, and the scorecard must say so.

A random case and a trace that passes it are made together. Every mutation lowers the metric that is meant for it, is
named by the finding that is meant for it, and raises no other metric. Which metrics may move besides is said at each
mutation; `order_ok` may go either way under `any` and `partial`, where it is informative: with one call more or less,
other calls of the same name can be the ones that are paired.
"""

import itertools
from dataclasses import dataclass, replace

import pytest
from grade_making import (
    ARGUMENTS,
    SHARES,
    SURPLUS_KINDS,
    VALUES,
    Policy,
    call,
    case_of,
    find,
    golden_call,
    grade,
    kinds,
    property_test,
    rules,
    tool,
    trace_of,
)
from hypothesis import assume, given
from hypothesis import strategies as st

COUNTS = ("matched",)
NAMES = ["find", "send", "spotify.play", "mcp__a__b"]
FRESH = "never_heard_of"
POLICY = Policy(classes={"peek": "read", "wipe": "destructive"})


@dataclass(frozen=True)
class Step:
    """One golden call and the call that answers it; `arguments` of `None` in the golden: anything goes."""

    tool: str
    stated: bool
    arguments: dict


@dataclass(frozen=True)
class Passing:
    """A case and a trace that passes it."""

    steps: tuple[Step, ...]
    order: str
    edges: tuple[tuple[int, int], ...]
    sequence: tuple[int, ...]
    has_catalog: bool
    has_retry: bool
    has_free_read: bool
    has_optional: bool

    @property
    def case(self):
        """The golden: the steps, and what else a passing trace may have."""
        goldens = [
            golden_call(
                step.tool,
                **(
                    {"arguments": {key: {"equals": value} for key, value in step.arguments.items()}}
                    if step.stated
                    else {}
                ),
                label=f"g{index}",
                after=tuple(f"g{a}" for a, b in self.edges if b == index),
            )
            for index, step in enumerate(self.steps)
        ]
        if self.has_optional:
            goldens.append(golden_call("maybe", {}, optional=True))
        if self.has_retry:
            goldens.append(golden_call("steady", {"n": 1}))
        return case_of(*goldens, order=self.order, policy=None)

    @property
    def calls(self):
        """The calls that answer the steps, in their sequence."""
        return [call(self.steps[index].tool, self.steps[index].arguments, result="ok") for index in self.sequence]

    def graded(self, calls=None):
        """The result of these calls (by default the passing ones), with what surrounds them."""
        around = [call("steady", {"n": 1}, error="busy"), call("steady", {"n": 1}, result=1)] if self.has_retry else []
        before = [call("peek", {})] if self.has_free_read else []
        names = [*NAMES, "steady", "peek", "wipe", "maybe"]
        return grade(
            self.case,
            trace_of(*before, *(self.calls if calls is None else calls), *around),
            policy=POLICY,
            surplus_reads="free",
            tools=[tool(name) for name in names] if self.has_catalog else None,
        )

    @property
    def offset(self):
        """Index of the first call of the sequence."""
        return int(self.has_free_read)

    def is_stated(self, name):
        """Whether every golden call of this tool states its arguments."""
        return all(step.stated for step in self.steps if step.tool == name)


@st.composite
def passing(draw, *, least=1, orders=("listed", "any", "partial")):
    """A case and a trace that passes it."""
    steps = draw(
        st.lists(st.builds(Step, st.sampled_from(NAMES), st.sampled_from([True, True, True, False]), ARGUMENTS),
                 min_size=least, max_size=5)
    )  # fmt: skip
    size, order = len(steps), draw(st.sampled_from(orders))
    sequence = list(range(size)) if order == "listed" else list(draw(st.permutations(range(size))))
    edges = []
    if order == "partial":
        # Edges along the sequence of the calls, so that it keeps them, and never in a circle.
        before = [(sequence[i], sequence[j]) for i, j in itertools.combinations(range(size), 2)]
        edges = draw(st.lists(st.sampled_from(before), unique=True, max_size=3)) if before else []
    flags = [draw(st.booleans()) for _ in range(4)]
    return Passing(tuple(steps), order, tuple(edges), tuple(sequence), *flags)


def scorecard(result):
    return {name: getattr(result.metrics, name) for name in (*SHARES, *COUNTS)}


def check(base, mutated, *, lower, same=()):
    """The named metrics fall, some stay, and none rises."""
    before, after = scorecard(base), scorecard(mutated)
    for name in lower:
        assert after[name] is not None, name
        assert after[name] < before[name], name
    for name in same:
        assert after[name] == before[name], name
    for name, value in after.items():
        # A metric may stop applying (no pair, no constraint left). It may not rise, and it may start to apply only
        # where a first call was made.
        started = before[name] is None and base.calls == 0
        assert value is None or started or (before[name] is not None and value <= before[name]), name
    assert mutated.metrics.exact_match is False
    assert mutated.verdict == "FAIL"
    assert mutated.findings


# ---- the passing trace -------------------------------------------------------------------------------------------


@property_test(60)
@given(passing(least=0))
def test_the_passing_trace_passes(base):
    result = base.graded()
    assert (result.status, result.verdict, result.findings, result.vetoes) == ("EVALUATED", "PASS", (), ())
    assert result.metrics.exact_match is True
    assert all(value in {1, None} for name, value in scorecard(result).items() if name in SHARES)
    assert result.metrics.retries == result.metrics.calls_failed == int(base.has_retry)


# ---- the mutations -----------------------------------------------------------------------------------------------


@property_test(60)
@given(passing(), st.data())
def test_dropping_a_call_lowers_recall_and_is_a_missing_call(base, data):
    # Precision and efficiency look at what was called, and nothing wrong was. They fall only where nothing is left.
    # Under `partial` another call of the name may take the place of the missing one, and break an edge.
    place = data.draw(st.integers(0, len(base.sequence) - 1))
    dropped = base.calls[place]
    mutated = base.graded(base.calls[:place] + base.calls[place + 1 :])
    check(base.graded(), mutated, lower=["recall", "f1", "jaccard", "overall", "unvetoed_overall", "matched"])
    assert [finding.expected for finding in find(mutated, "missing_call")] == [dropped.tool]
    if mutated.metrics.matched:
        assert mutated.metrics.precision == mutated.metrics.efficiency == 1
        assert mutated.metrics.argument_accuracy in {1, None}
    if base.order != "partial":
        assert mutated.metrics.order_score in {1, None}
        assert set(kinds(mutated)) <= {"missing_call", "abstention_error"}


@property_test(60)
@given(passing(), st.data())
def test_repeating_a_call_lowers_precision_and_efficiency_and_is_a_redundant_call(base, data):
    place = data.draw(st.integers(0, len(base.sequence) - 1))
    repeated = base.calls[place]
    calls = [*base.calls[: place + 1], repeated, *base.calls[place + 1 :]]
    mutated = base.graded(calls)
    check(
        base.graded(),
        mutated,
        lower=["precision", "f1", "jaccard", "efficiency", "overall", "unvetoed_overall"],
        same=["matched", "recall", "jaccard_set", "argument_accuracy", "order_score", "arguments_valid"],
    )
    (finding,) = mutated.findings
    assert finding.actual == repeated.tool
    if base.order == "listed" and base.is_stated(repeated.tool):
        assert finding.kind == "redundant_call"
    else:
        # An unconstrained golden, or a free order, may take the repeat and leave out another call of the name.
        assert finding.kind in {"redundant_call", "unexpected_call"}


@property_test(60)
@given(passing(least=2, orders=("listed",)), st.data())
def test_swapping_two_calls_lowers_the_order_score_and_is_an_order_violation(base, data):
    first, second = data.draw(st.sampled_from(list(itertools.combinations(range(len(base.sequence)), 2))))
    calls = base.calls
    assume(calls[first].tool != calls[second].tool)
    calls[first], calls[second] = calls[second], calls[first]
    mutated = base.graded(calls)
    check(
        base.graded(),
        mutated,
        lower=["order_score", "overall", "unvetoed_overall"],
        same=["matched", "precision", "recall", "f1", "jaccard", "jaccard_set", "argument_accuracy", "efficiency"],
    )
    assert set(kinds(mutated)) == {"order_violation"}
    assert mutated.metrics.order_ok is False


@property_test(60)
@given(passing(), st.data())
def test_renaming_a_call_lowers_recall_and_precision_and_is_a_substituted_call(base, data):
    # With a catalog the new name is unknown, which lowers `arguments_valid` and has a finding of its own.
    place = data.draw(st.integers(0, len(base.sequence) - 1))
    calls = base.calls
    old = calls[place].tool
    calls[place] = call(FRESH, calls[place].arguments, result="ok")
    mutated = base.graded(calls)
    check(
        base.graded(),
        mutated,
        lower=["recall", "precision", "f1", "jaccard", "jaccard_set", "overall", "unvetoed_overall", "matched"],
    )
    assert ("unknown_tool" in kinds(mutated)) == base.has_catalog
    named = find(mutated, "substituted_call")
    if base.order == "listed" and sum(step.tool == old for step in base.steps) == 1:
        assert [(f.golden_index, f.call_index) for f in named] == [(place, place + base.offset)]
    # Where the order is free or the name repeats, the missing and the surplus call need not stand at one place.
    assert [finding.expected for finding in (*named, *find(mutated, "missing_call"))] == [old]
    if not named:
        assert [f.actual for f in mutated.findings if f.kind in SURPLUS_KINDS] == [FRESH]
    else:
        assert [finding.actual for finding in named] == [FRESH]


def change_arguments(base, place, arguments):
    calls = base.calls
    calls[place] = call(calls[place].tool, arguments, result="ok")
    return base.graded(calls)


def check_argument(base, mutated, kind, key, name):
    # Only the arguments differ, so only they may lose; `arguments_valid` stays, since the schemas allow any object.
    check(
        base.graded(),
        mutated,
        lower=["argument_accuracy", "overall", "unvetoed_overall"],
        same=["matched", "precision", "recall", "f1", "jaccard", "jaccard_set", "efficiency", "order_score",
              "arguments_valid"],
    )  # fmt: skip
    (finding,) = mutated.findings
    assert (finding.kind, finding.path) == (kind, f"$.{key}" if key.isidentifier() else f"$[{key!r}]")
    assert name in finding.message


def pick_stated(base, data, *, with_keys):
    """A call whose tool's goldens all state arguments, so that no other golden takes what was changed."""
    places = [
        place
        for place, index in enumerate(base.sequence)
        if base.is_stated(base.steps[index].tool) and (base.steps[index].arguments or not with_keys)
    ]
    assume(places)
    place = data.draw(st.sampled_from(places))
    return place, base.steps[base.sequence[place]]


@property_test(60)
@given(passing(), st.data())
def test_dropping_an_argument_lowers_argument_accuracy_and_is_a_missing_argument(base, data):
    place, step = pick_stated(base, data, with_keys=True)
    key = data.draw(st.sampled_from(sorted(step.arguments)))
    rest = {name: value for name, value in step.arguments.items() if name != key}
    check_argument(base, change_arguments(base, place, rest), "missing_argument", key, step.tool)


@property_test(60)
@given(passing(), VALUES, st.data())
def test_adding_an_argument_lowers_argument_accuracy_and_is_an_unexpected_argument(base, value, data):
    place, step = pick_stated(base, data, with_keys=False)
    more = step.arguments | {"added": value}
    check_argument(base, change_arguments(base, place, more), "unexpected_argument", "added", step.tool)


@property_test(60)
@given(passing(), st.data())
def test_changing_an_argument_lowers_argument_accuracy_and_is_a_wrong_argument(base, data):
    place, step = pick_stated(base, data, with_keys=True)
    key = data.draw(st.sampled_from(sorted(step.arguments)))
    other = step.arguments | {key: "something that no golden says"}
    check_argument(base, change_arguments(base, place, other), "wrong_argument", key, step.tool)


@property_test(60)
@given(passing(), st.sampled_from(["add", "drop", "change"]), st.data())
def test_a_change_deep_inside_an_argument_lowers_argument_accuracy(base, how, data):
    place, step = pick_stated(base, data, with_keys=False)
    deep = {"outer": [{"kept": 1, "inner": {"n": 5}}]}
    steps = [
        replace(other, arguments=other.arguments | {"deep": deep}) if other is step else other for other in base.steps
    ]
    base = replace(base, steps=tuple(steps))
    changed = {"add": {"n": 5, "m": 6}, "drop": {}, "change": {"n": 6}}[how]
    arguments = step.arguments | {"deep": {"outer": [{"kept": 1, "inner": changed}]}}
    kind = {"add": "unexpected_argument", "drop": "missing_argument", "change": "wrong_argument"}[how]
    mutated = change_arguments(base, place, arguments)
    check(base.graded(), mutated, lower=["argument_accuracy", "overall", "unvetoed_overall"])
    (finding,) = mutated.findings
    assert (finding.kind, finding.path) == (kind, "$.deep.outer[0].inner." + ("m" if how == "add" else "n"))


@property_test(60)
@given(passing(least=0), st.integers(0, 5))
def test_inserting_a_destructive_call_is_a_veto(base, place):
    # Overall falls to 0. What the scorecard would have been without the veto falls too, by the surplus call alone.
    place = min(place, len(base.sequence))
    calls = [*base.calls[:place], call("wipe", {}, result="ok"), *base.calls[place:]]
    mutated = base.graded(calls)
    check(
        base.graded(),
        mutated,
        lower=["precision", "f1", "jaccard", "jaccard_set", "efficiency", "overall", "unvetoed_overall"],
        same=["matched", "argument_accuracy", "order_score", "arguments_valid"]
        if base.sequence or base.has_retry
        else [],
    )
    assert mutated.metrics.overall == 0
    (veto,) = mutated.vetoes
    assert (rules(mutated), veto.severity, veto.call_index) == (
        ["destructive_surplus"],
        "CRITICAL",
        place + base.offset,
    )
    expected = "unexpected_call" if base.case.expect.calls else "over_action"
    assert kinds(mutated) == sorted([expected, "policy_violation"])
    assert {finding.severity for finding in mutated.findings} == {"CRITICAL"}


@pytest.mark.parametrize("order", ["listed", "any", "partial"])
def test_the_fullest_passing_trace_passes_and_fails_without_its_last_call(order):
    steps = tuple(Step(name, stated=True, arguments={"a": index}) for index, name in enumerate(NAMES))
    edges = ((0, 1), (1, 3)) if order == "partial" else ()
    base = Passing(steps, order, edges, (0, 1, 2, 3), *[True] * 4)
    assert base.graded().verdict == "PASS"
    assert base.graded(base.calls[:3]).verdict == "FAIL"

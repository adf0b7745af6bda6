"""SPEC §5.1: pairing is one to one by tool name and optimal. Compared with a brute force written from the sentence."""

import json
from fractions import Fraction
from itertools import combinations, product

import pytest
from grade_making import (
    SURPLUS_KINDS,
    call,
    case_of,
    compiled,
    from_result,
    golden_call,
    grade,
    kinds,
    pairs_of,
    property_test,
    seen,
    tool,
    trace_of,
    written,
)
from hypothesis import assume, given
from hypothesis import strategies as st

from rightcall.grade import arguments, pairing
from rightcall.grade.pairing import pair

# ---- the sentence, claim by claim --------------------------------------------------------------------------------


def paired(goldens, calls, **options):
    order = options.pop("order", None)
    return pairs_of(grade(case_of(*goldens, order=order), trace_of(*calls), **options))


def single(golden, made):
    """Argument score of one pair, as an exact fraction of a few keys."""
    accuracy = grade(case_of(golden), trace_of(made)).metrics.argument_accuracy
    return Fraction(accuracy).limit_denominator(1_000)


def test_pairing_is_one_to_one():
    goldens = [golden_call("find", {"x": 1})]
    assert paired(goldens, [call("find", {"x": 1})] * 3) == {0: 0}
    assert paired(goldens * 3, [call("find", {"x": 1})]) == {0: 0}


def test_pairing_is_by_tool_name_never_by_value():
    assert paired([golden_call("find", {"x": 1})], [call("seek", {"x": 1})]) == {}
    assert paired([golden_call("find", {"x": 1})], [call("find", {"y": 2})]) == {0: 0}


def test_most_pairs_come_before_the_highest_sum_of_argument_scores():
    # One pair of score 1 would beat two pairs of score 0 by its mean; two pairs are more.
    goldens = [golden_call("find", {"x": 1}), golden_call("find", {"x": 2})]
    assert len(paired(goldens, [call("find", {"x": 1}), call("find", {"x": 9})])) == 2


def test_required_calls_are_paired_before_optional_ones():
    goldens = [golden_call("find", {"x": 1}, optional=True), golden_call("find", {"x": 2})]
    assert paired(goldens, [call("find", {"x": 1})]) == {1: 0}


def test_then_the_highest_sum_of_argument_scores():
    goldens = [golden_call("find", {"x": 1, "y": 1}), golden_call("find", {"x": 1, "y": 2})]
    calls = [call("find", {"x": 1, "y": 2}), call("find", {"x": 7, "y": 1})]
    assert paired(goldens, calls) == {0: 1, 1: 0}


def test_a_golden_that_states_no_arguments_scores_1():
    goldens = [golden_call("print"), golden_call("print", {"id": "L1", "paper": "glossy"})]
    calls = [call("print", {"id": "L1", "paper": "glossy"}), call("print", {"id": "L1"})]
    assert paired(goldens, calls, order="any") == {0: 1, 1: 0}


def test_sums_are_exact_fractions():
    # 1/10 + 2/10 is not 3/10 in floating point; both assignments score exactly 3/10, and the order decides.
    keys = [f"k{index}" for index in range(10)]
    first = golden_call("find", dict.fromkeys(keys, 0) | {"k0": 1, "k1": 1})
    second = golden_call("find", dict.fromkeys(keys, 0) | {"k0": 1, "k1": 1, "k2": 1})
    blank = dict.fromkeys(keys, 9)
    calls = [call("find", blank | {"k0": 1}), call("find", blank | {"k0": 1, "k1": 1})]
    assert [single(first, made) for made in calls] == [Fraction(1, 10), Fraction(2, 10)]
    assert paired([first, second], calls) == {0: 0, 1: 1}


def test_then_most_pairs_scoring_1():
    # Crosswise 1 + 0, in the listed order 1/2 + 1/2: the same sum, and a call that is wholly right counts for more.
    goldens = [golden_call("find", {"x": 1, "y": 1}), golden_call("find", {"x": 1, "y": 9})]
    calls = [call("find", {"x": 8, "y": 1}), call("find", {"x": 1, "y": 1})]
    half = Fraction(1, 2)
    assert [[single(golden, made) for made in calls] for golden in goldens] == [[half, 1], [0, half]]
    assert paired(goldens, calls) == {0: 1, 1: 0}


def test_then_most_satisfied_constraints():
    goldens = [
        golden_call("look", {}, label="before"),
        golden_call("find", {"x": 1}, label="free"),
        golden_call("find", {"x": 1}, after=("look",)),
    ]
    calls = [call("find", {"x": 1}), call("look", {}), call("find", {"x": 1})]
    assert paired(goldens, calls) == {0: 1, 1: 0, 2: 2}
    goldens = [goldens[0], golden_call("find", {"x": 1}, after=("look",)), golden_call("find", {"x": 1}, label="free")]
    assert paired(goldens, calls) == {0: 1, 1: 2, 2: 0}  # one inversion more, and the edge holds


def test_then_fewest_inversions():
    goldens = [golden_call("look", {}), golden_call("find", {"x": 1})]
    calls = [call("find", {"x": 1}), call("look", {}), call("find", {"x": 1})]
    assert paired(goldens, calls, order="any") == {0: 1, 1: 2}


def test_then_earliest_calls():
    calls = [call("find", {"x": 1}), call("look", {}), call("find", {"x": 1})]
    assert paired([golden_call("find", {"x": 1})], calls) == {0: 0}


def test_name_aliases_pair_only_when_the_suite_declares_them():
    case = case_of(golden_call("spotify.play", {"song": "x"}))
    trace = trace_of(call("spotify_play", {"song": "x"}))
    assert grade(case, trace).verdict == "FAIL"
    assert grade(case, trace, aliases={"spotify_play": "spotify.play"}).verdict == "PASS"
    assert grade(case, trace, aliases={"spotify.play": "spotify_play"}).verdict == "PASS"


@pytest.mark.parametrize("called", ["mcp__music__play", "music.play", "Play", "play "])
def test_a_prefix_or_a_spelling_is_no_alias(called):
    case = case_of(golden_call("play", {}))
    assert grade(case, trace_of(call(called, {}))).metrics.matched == 0
    assert grade(case, trace_of(call(called, {})), aliases={called: "play"}).verdict == "PASS"


def test_an_alias_is_known_to_the_catalog_under_either_name():
    case, trace = case_of(golden_call("play", {})), trace_of(call("mcp__music__play", {}))
    for known in ("play", "mcp__music__play"):
        result = grade(case, trace, tools=[tool(known)], aliases={"mcp__music__play": "play"})
        assert (result.verdict, result.findings) == ("PASS", ())


# ---- random small instances against a brute force ----------------------------------------------------------------
#
# The brute force knows nothing of the code under test: goldens and calls are plain dictionaries, every partial
# one-to-one map by tool name is tried, and the six criteria are compared as one tuple.


def score_of(golden, made):
    """Equal keys / union of keys; a golden that states none scores 1, both empty too."""
    if golden["arguments"] is None:
        return Fraction(1)
    wanted, found = golden["arguments"], made["arguments"]
    union = wanted.keys() | found.keys()
    if not union:
        return Fraction(1)
    return Fraction(sum(k in wanted and k in found and wanted[k] == found[k] for k in union), len(union))


def edge_holds(earlier, later):
    """Whether a call can have used the result of another: made in an earlier turn, and not known to have failed."""
    return earlier["at"] < later["at"] and earlier["turn"] != later["turn"] and not earlier["failed"]


def constraints_of(goldens, order):
    """(earlier, later, may be parallel) for every constraint of SPEC §5.5."""
    if order == "listed":
        return [(a, b, True) for a, b in combinations(range(len(goldens)), 2)]
    return [(a, b, False) for b, golden in enumerate(goldens) for a in golden["after"]] if order == "partial" else []


def satisfied(pairs, calls, constraints):
    count = 0
    for a, b, may_be_parallel in constraints:
        if a in pairs and b in pairs:
            first, second = calls[pairs[a]], calls[pairs[b]]
            if may_be_parallel:
                count += first["at"] < second["at"] or first["turn"] == second["turn"]
            else:
                count += edge_holds(first, second)
    return count


def rank(pairs, goldens, calls, constraints):
    """SPEC §5.1 as a tuple, larger is better."""
    scores = [score_of(goldens[g], calls[a]) for g, a in pairs.items()]
    places = [pairs[g] for g in sorted(pairs)]
    return (
        len(pairs),
        sum(not goldens[g]["optional"] for g in pairs),
        sum(scores, Fraction(0)),
        sum(value == 1 for value in scores),
        satisfied(pairs, calls, constraints),
        -sum(a > b for a, b in combinations(places, 2)),
        [-place for place in places],
    )


def every_map(goldens, calls, taken=None):
    """Every one-to-one map of some goldens to calls of the same name."""
    taken = taken or {}
    index = len(taken.get("seen", ()))
    if index == len(goldens):
        yield dict(taken.get("pairs", {}))
        return
    pairs = taken.get("pairs", {})
    seen_so_far = (*taken.get("seen", ()), index)
    yield from every_map(goldens, calls, {"seen": seen_so_far, "pairs": pairs})
    for a, made in enumerate(calls):
        if made["tool"] == goldens[index]["tool"] and a not in pairs.values():
            yield from every_map(goldens, calls, {"seen": seen_so_far, "pairs": {**pairs, index: a}})


def as_golden(goldens, order):
    return compiled(
        *(
            golden_call(
                g["tool"],
                **({} if g["arguments"] is None else {"arguments": g["arguments"]}),
                label=f"g{index}",
                optional=g["optional"],
                after=tuple(f"g{a}" for a in g["after"]) if order == "partial" else (),
            )
            for index, g in enumerate(goldens)
        ),
        order=order,
    )


def as_calls(calls):
    return [
        call(c["tool"], c["arguments"], turn=c["turn"], **({"error": "no"} if c["failed"] else {"result": 1}))
        for c in calls
    ]


def check_against_brute_force(goldens, calls, order):
    for index, made in enumerate(calls):
        made["at"] = index
    constraints = constraints_of(goldens, order)
    ours = pair(as_golden(goldens, order), seen(*as_calls(calls)))
    assert all(goldens[g]["tool"] == calls[a]["tool"] for g, a in ours.items())
    assert len(set(ours.values())) == len(ours)
    best = max(rank(pairs, goldens, calls, constraints) for pairs in every_map(goldens, calls))
    assert rank(ours, goldens, calls, constraints) == best


SMALL = st.dictionaries(st.sampled_from("xyz"), st.integers(0, 1), max_size=2)


@st.composite
def goldens_of(draw, names, size, *, stated=False, edges=True):
    """Goldens of a small domain, so that ties abound."""
    count = draw(st.integers(1, size))
    return [
        {
            "tool": draw(st.sampled_from(names)),
            "arguments": draw(SMALL if stated else SMALL | st.none()),
            "optional": not stated and draw(st.integers(0, 3)) == 0,
            "after": sorted(draw(st.sets(st.integers(0, index - 1), max_size=2))) if edges and index else [],
        }
        for index in range(count)
    ]


@st.composite
def calls_of(draw, names, size, least=0):
    """Calls of the same domain, some failed, some in one turn."""
    turn, made = 0, []
    for _ in range(draw(st.integers(least, size))):
        turn += draw(st.sampled_from([0, 1, 1]))
        made.append(
            {
                "tool": draw(st.sampled_from(names)),
                "arguments": draw(SMALL),
                "failed": draw(st.integers(0, 3)) == 0,
                "turn": turn,
            }
        )
    return made


ORDERS = st.sampled_from(["listed", "partial", "any"])


@property_test(100)
@given(goldens_of(["s", "t"], 4), calls_of(["s", "t"], 5), ORDERS)
def test_pairing_is_optimal_on_two_tools(goldens, calls, order):
    check_against_brute_force(goldens, calls, order)


@property_test(90)
@given(goldens_of(["t"], 4), calls_of(["t"], 5, least=2), ORDERS)
def test_pairing_is_optimal_on_one_tool(goldens, calls, order):
    check_against_brute_force(goldens, calls, order)


@property_test(80)
@given(goldens_of(["t"], 3, edges=False), calls_of(["t"], 4), st.data())
def test_pairing_is_optimal_with_edges_both_ways_through_another_tool(goldens, calls, data):
    # A call of its own name in the middle: the repeats of `t` compete for the places before and after it.
    middle = {"tool": "m", "arguments": {}, "optional": False, "after": []}
    chosen = data.draw(st.sets(st.integers(0, len(goldens) - 1)))
    middle["after"] = sorted(chosen)
    for index in data.draw(st.sets(st.integers(0, len(goldens) - 1))) - chosen:
        goldens[index]["after"] = [len(goldens)]
    place = data.draw(st.integers(0, len(calls)))
    made = {"tool": "m", "arguments": {}, "failed": data.draw(st.booleans()), "turn": 1_000}
    calls.insert(place, made)
    check_against_brute_force([*goldens, middle], calls, "partial")


# ---- long groups, step by step -------------------------------------------------------------------------------------


@property_test(100)
@given(goldens_of(["s", "t"], 6, edges=False), calls_of(["s", "t"], 7))
def test_equal_golden_calls_share_their_scores_and_no_others_do(goldens, calls):
    golden, actual = as_golden(goldens, "any"), seen(*as_calls(calls))
    scores = pairing.Scores(golden, actual)
    for expected, index in product(range(len(goldens)), range(len(calls))):
        if goldens[expected]["tool"] == calls[index]["tool"]:
            assert scores(expected, index) == score_of(goldens[expected], calls[index])
            assert scores(expected, index) == arguments.score(golden.calls[expected], actual, index)


@property_test(100)
@given(goldens_of(["t"], 4, edges=False), calls_of(["t"], 9, least=1))
def test_only_calls_that_are_among_the_best_of_a_golden_are_tried(goldens, calls):
    golden, actual = as_golden(goldens, "any"), seen(*as_calls(calls))
    scores, expected, made = pairing.Scores(golden, actual), list(range(len(goldens))), list(range(len(calls)))
    kept = set(made)
    if len(made) > len(expected):
        ranked = [sorted(made, key=lambda a, g=g: (-scores(g, a), a)) for g in expected]
        kept = {a for best in ranked for a in best[: len(expected)]}
    assert pairing._promising(scores, expected, made) == sorted(kept)


@property_test(100)
@given(goldens_of(["t"], 5, edges=False), calls_of(["t"], 7, least=1), st.randoms(use_true_random=False))
def test_exchanges_are_all_those_that_leave_the_worth_as_it_is(goldens, calls, random):
    golden, actual = as_golden(goldens, "any"), seen(*as_calls(calls))
    scores, made = pairing.Scores(golden, actual), list(range(len(calls)))
    size = min(len(goldens), len(calls))
    partners = random.sample(made, size)
    start = tuple(zip(sorted(random.sample(range(len(goldens)), size)), partners, strict=True))
    wanted = [start]
    for place, (g, a) in enumerate(start):
        others = [{place: (g, other)} for other in made if other not in partners]
        others += [{place: (g, b), at: (h, a)} for at, (h, b) in enumerate(start) if at > place]
        candidates = [tuple(changed.get(at, both) for at, both in enumerate(start)) for changed in others]
        worth = pairing._worth(golden, scores, start)
        wanted += [one for one in candidates if pairing._worth(golden, scores, one) == worth]
    assert list(pairing._exchanges(scores, start, made)) == wanted


# ---- data flow ---------------------------------------------------------------------------------------------------


def test_equally_scored_repeats_are_told_apart_by_their_data_flow():
    goldens = [
        golden_call("user", {"n": 1}, label="one"),
        golden_call("user", {"n": 2}, label="two"),
        golden_call("send", {"to": from_result("one", "id")}),
        golden_call("send", {"to": from_result("two", "id")}),
    ]
    calls = [
        call("user", {"n": 2}, result={"id": "B"}),
        call("user", {"n": 1}, result={"id": "A"}),
        call("send", {"to": "B"}),
        call("send", {"to": "A"}),
    ]
    result = grade(case_of(*goldens, order="any"), trace_of(*calls))
    assert pairs_of(result) == {0: 1, 1: 0, 2: 3, 3: 2}
    assert result.verdict == "PASS"


def test_the_sum_of_argument_scores_counts_the_data_flow():
    goldens = [
        golden_call("user", {}, label="one"),
        golden_call("send", {"to": from_result("one", "id"), "cc": from_result("one", "boss"), "body": "hi"}),
    ]
    calls = [
        call("user", {}, result={"id": "A", "boss": "Z"}),
        call("send", {"to": "wrong", "cc": "wrong", "body": "hi"}),  # one key of three is right
        call("send", {"to": "A", "cc": "Z", "body": "ho"}),  # two keys of three are right
    ]
    assert paired(goldens, calls)[1] == 2


# ---- pairs that are certain --------------------------------------------------------------------------------------


@property_test(80)
@given(goldens_of(["t"], 4, stated=True), calls_of(["t"], 5, least=2), ORDERS)
def test_equal_calls_that_stand_once_on_either_side_may_be_paired_at_once(goldens, calls, order):
    assume(len(goldens) + len(calls) >= 6)
    check_against_brute_force(goldens, calls, order)


def test_argument_scores_of_literal_calls_obey_the_triangle_inequality():
    # The reason why `_certain` is sound: exchanging partners towards an equal pair never loses.
    values = [None, 0, 1]
    every = [
        {key: value for key, value in zip("xyz", chosen, strict=True) if value is not None}
        for chosen in product(values, repeat=3)
    ]
    size = range(len(every))
    distance = [[1 - single(golden_call("t", left), call("t", right)) for right in every] for left in every]
    assert all(distance[g][a] == distance[a][g] for g in size for a in size)
    assert all(distance[g][a] <= distance[g][m] + distance[m][a] for g in size for m in size for a in size)


def test_a_schema_default_does_not_make_equal_calls_certain():
    goldens = [
        golden_call("t", {"a": 1, "k": 0}),
        golden_call("t", {"a": 1}),
        golden_call("t", {"b": 9, "a": 5, "k": 5}),
    ]
    calls = [call("t", {"a": 1, "k": 0}), call("t", {"a": 2}), call("t", {"b": 9, "a": 5, "k": 5})]
    tools = [tool("t", {"k": {"default": 0}})]
    # Crosswise: 1/2 (`k` by its default) + 1 (`k` by its default) + 1. Straight: 1 + 0 + 1.
    assert grade(
        case_of(*goldens, order="any"), trace_of(*calls), tools=tools
    ).metrics.argument_accuracy == pytest.approx(2.5 / 3)


# ---- large groups ------------------------------------------------------------------------------------------------


def best_worth(goldens, calls):
    """The first criteria of the best assignment, exactly, by dynamic programming over sets of calls."""
    best = {0: (0, 0, Fraction(0), 0)}
    for golden in goldens:
        scores = [score_of(golden, made) for made in calls]
        following = dict(best)
        for mask, (pairs, required, total, ones) in best.items():
            for index, value in enumerate(scores):
                if not mask >> index & 1:
                    worth = (pairs + 1, required + (not golden["optional"]), total + value, ones + (value == 1))
                    key = mask | 1 << index
                    following[key] = max(following.get(key, worth), worth)
        best = following
    return max(best.values())


@property_test(25)
@given(st.data())
def test_large_groups_reach_the_same_first_criteria_as_an_exact_method(data):
    wide = st.dictionaries(st.sampled_from("vwxyz"), st.integers(0, 2), max_size=5)
    size = data.draw(st.integers(6, 8))
    goldens = [
        {
            "tool": "t",
            "arguments": data.draw(wide | st.none()),
            "optional": data.draw(st.integers(0, 4)) == 0,
            "after": [],
        }
        for _ in range(size)
    ]
    calls = [
        {"tool": "t", "arguments": data.draw(wide), "failed": False, "turn": index, "at": index}
        for index in range(data.draw(st.integers(size, 9)))
    ]
    if data.draw(st.booleans()):
        goldens, calls = (goldens[:6], calls) if data.draw(st.booleans()) else (goldens, calls[:6])
    ours = pair(as_golden(goldens, "any"), seen(*as_calls(calls)))
    scores = [score_of(goldens[g], calls[a]) for g, a in ours.items()]
    required = sum(not goldens[g]["optional"] for g in ours)
    worth = (len(ours), required, sum(scores, Fraction(0)), sum(value == 1 for value in scores))
    assert worth == best_worth(goldens, calls)


def test_large_groups_do_take_the_way_of_the_assignment_problem(monkeypatch):
    taken = []
    solve = pairing._assigned
    monkeypatch.setattr(pairing, "_assigned", lambda *parts: taken.append(1) or solve(*parts))
    goldens = [golden_call("t", {"x": {"any_of": [index, index + 1]}}) for index in range(9)]
    calls = [call("t", {"x": index + 1}) for index in reversed(range(9))]
    result = grade(case_of(*goldens, order="any"), trace_of(*calls))
    assert taken
    assert (result.verdict, result.metrics.matched) == ("PASS", 9)


def test_a_long_run_of_one_tool_in_the_listed_order_passes():
    goldens = [golden_call("t", {"x": index % 4}) for index in range(30)]
    calls = [call("t", {"x": index % 4}) for index in range(30)]
    extra = call("t", {"x": 99})
    assert grade(case_of(*goldens), trace_of(*calls)).verdict == "PASS"
    result = grade(case_of(*goldens), trace_of(*calls[:15], extra, *calls[15:]))
    assert kinds(result) == ["unexpected_call"]
    assert set(kinds(result)) <= SURPLUS_KINDS
    assert (result.metrics.matched, result.metrics.order_score, result.metrics.argument_accuracy) == (30, 1.0, 1.0)


def test_arguments_are_compared_as_values_and_not_as_texts():
    text = json.dumps({"b": [1, 2], "a": {"y": 1, "x": 2}}, indent=1)
    assert paired([golden_call("t", {"a": {"x": 2, "y": 1}, "b": [1, 2]})], [written("t", text)]) == {0: 0}

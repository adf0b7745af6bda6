"""Pairs by case and trial, never by position; what becomes of no pair is counted and named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.case.case import Case
from rightcall.errors import Place, TraceError
from rightcall.grade.verdict import GoldenResult
from rightcall.run.preference.pairing import Pairing, Side, match
from rightcall.trace.model import Trace, call


def joined(name, case="c", trial=None, file="f.jsonl", known=None):
    trace = Trace(id=name, case_id=case, trial=trial, events=(call("x", {"n": name}),))
    return trace, known, None, GoldenResult(trace_id=name, case_id=case), Place(file)


def side(name, *traces):
    return Side(name, lambda: iter(traces))


def ids(pairing):
    return [(pair.id, pair.a[0].id, pair.b[0].id) for pair in pairing.pairs()]


def test_traces_are_joined_by_case_whatever_their_position():
    a = side("a", joined("a1", "c1"), joined("a2", "c2"), joined("a3", "c3"))
    b = side("b", joined("b3", "c3"), joined("b1", "c1"), joined("b2", "c2"))
    assert ids(Pairing([a, b])) == [("c1", "a1", "b1"), ("c2", "a2", "b2"), ("c3", "a3", "b3")]


def test_what_only_one_side_has_is_in_no_pair_and_is_named():
    pairing = Pairing(
        [side("a", joined("a1", "c1"), joined("a2", "c2")), side("b", joined("b1", "c1"), joined("b9", "c9"))]
    )
    assert ids(pairing) == [("c1", "a1", "b1")]
    assert pairing.notes() == [
        "a: 1 trace without a counterpart of b: c2",
        "b: 1 trace without a counterpart of a: c9",
    ]
    assert pairing.alone("a", "b") == 2


def test_several_trials_are_paired_by_their_numbers():
    a = side("a", *(joined(f"a{n}", trial=n) for n in (0, 1, 2)))
    b = side("b", *(joined(f"b{n}", trial=n) for n in (2, 1)))
    pairing = Pairing([a, b])
    assert ids(pairing) == [("c#1", "a1", "b1"), ("c#2", "a2", "b2")]
    assert [pair.is_first for pair in pairing.pairs()] == [True, False]
    assert pairing.notes() == ["a: 1 trace without a counterpart of b: c"]


@pytest.mark.parametrize(
    "trials", [((None, None), (None, None)), ((0, 0), (0, 0)), ((0, 1), (2, 3)), ((0, 1), (None,)), ((0, None), (0, 1))]
)
def test_trials_without_numbers_in_common_give_one_pair_and_the_ambiguity_is_said(trials):
    a, b = (
        [joined(f"{name}{n}", trial=trial) for n, trial in enumerate(own)]
        for name, own in zip("ab", trials, strict=True)
    )
    pairing = Pairing([side("a", *a), side("b", *b)])
    (here,) = ids(pairing)
    assert pairing.notes()[-1] == ("a, b: trials of 1 case have no numbers in common, one pair was taken of each: c")
    assert ids(Pairing([side("a", *a[::-1]), side("b", *b[::-1])])) == [here]


def test_one_trace_each_is_a_pair_whatever_their_trials():
    (pair,) = Pairing([side("a", joined("a", trial=0)), side("b", joined("b", trial=3))]).pairs()
    assert (pair.id, pair.trial) == ("c", None)
    (pair,) = Pairing([side("a", joined("a", trial=3)), side("b", joined("b", trial=3))]).pairs()
    assert (pair.id, pair.trial) == ("c", 3)


def test_the_same_trace_twice_counts_once():
    pairing = Pairing([side("a", joined("a"), joined("a")), side("b", joined("b"))])
    assert ids(pairing) == [("c", "a", "b")]
    assert pairing.notes() == ["a: 1 trace there twice: counted once"]


def test_a_trace_without_a_case_is_counted_and_a_file_of_them_is_refused():
    pairing = Pairing([side("a", joined("a"), joined("x", None)), side("b", joined("b"))])
    assert ids(pairing) == [("c", "a", "b")]
    assert pairing.notes() == ["a: 1 trace without a case id: in no pair"]
    with pytest.raises(TraceError, match=r"g\.jsonl: none of the 2 traces of `b` says which case") as caught:
        list(
            Pairing(
                [side("a", joined("a")), side("b", joined("b"), *(joined(n, None, file="g.jsonl") for n in "xy"))]
            ).pairs()
        )
    assert caught.value.code == "TRACE_NO_CASE"


def test_a_suite_of_one_case_names_the_case_of_its_traces():
    case = Case(id="only")
    a, b = (side(name, joined(name, None, known=case)) for name in "ab")
    assert ids(Pairing([a, b])) == [("only", "a", "b")]


def test_three_agents_are_compared_two_by_two():
    sides = [side(name, joined(f"{name}1", "c1"), joined(f"{name}2", "c2")) for name in ("x", "y", "z")]
    assert [one[0] for one in ids(Pairing(sides))] == ["c1 x:y", "c1 x:z", "c1 y:z", "c2 x:y", "c2 x:z", "c2 y:z"]
    assert [one[0] for one in ids(Pairing(sides, only="c2"))] == ["c2 x:y", "c2 x:z", "c2 y:z"]
    assert len(ids(Pairing(sides, limit=4))) == 4


@given(
    st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from([0, 1, 2, None])), max_size=8),
    st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from([0, 1, 2, None])), min_size=1, max_size=8),
    st.randoms(),
)
def test_no_trace_is_in_two_pairs_no_pair_crosses_cases_and_the_sequence_decides_nothing(ours, theirs, dice):
    a = [joined(f"a{n}", case, trial) for n, (case, trial) in enumerate(ours)]
    b = [joined(f"b{n}", case, trial) for n, (case, trial) in enumerate(theirs)]
    pairing = Pairing([side("a", *a), side("b", *b)])
    found = list(pairing.pairs())
    for own in ([pair.a[0].id for pair in found], [pair.b[0].id for pair in found]):
        assert len(own) == len(set(own))
    assert all(pair.a[0].case_id == pair.b[0].case_id == pair.case_id for pair in found)
    assert len({pair.id for pair in found}) == len(found)
    assert pairing.alone("a", "b") + 2 * len(found) == len(a) + len(b)
    dice.shuffle(a)
    dice.shuffle(b)
    assert set(ids(Pairing([side("a", *a), side("b", *b)]))) == {(one.id, one.a[0].id, one.b[0].id) for one in found}


def test_a_case_that_only_one_agent_ran_gives_no_pair():
    assert match([], [joined("b")]) == ([], True)

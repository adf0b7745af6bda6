"""The sides of a pair are shuffled for each person and item, and an answer finds back to the agents."""

from hypothesis import given
from hypothesis import strategies as st

from rightcall.review.sides import by_agent, by_side, cited_by_agent, cited_by_side, sides_of

NAMES = st.text(max_size=12)
SHOWN = st.fixed_dictionaries(
    {"overall": st.sampled_from("LTR"), "selection": st.sampled_from("L=R"), "sure": st.integers(1, 3)}
)


@given(NAMES, NAMES)
def test_the_same_person_sees_the_same_sides_again(item, who):
    assert sides_of(item, who) == sides_of(item, who)
    assert {sides_of(item, who).left, sides_of(item, who).right} == {"A", "B"}


@given(SHOWN, NAMES)
def test_an_answer_by_agent_is_the_same_answer(fields, who):
    sides = sides_of("rv-1", who)
    assert by_side(by_agent(fields, sides), sides) == fields
    assert by_agent(fields, sides)["sure"] == fields["sure"]


def test_left_means_the_agent_on_the_left():
    left_a, left_b = (next(s for n in range(99) if (s := sides_of("rv-1", f"p{n}")).left == side) for side in "AB")
    assert by_agent({"overall": "L", "errors": "R", "selection": "="}, left_a) == {
        "overall": "A", "errors": "B", "selection": "=",
    }  # fmt: skip
    assert by_agent({"overall": "L"}, left_b) == {"overall": "B"}
    assert by_agent({"overall": "T"}, left_b) == {"overall": "TIE"}


def test_both_sides_come_about_equally_often_for_a_person_and_for_an_item():
    for seen in ([sides_of(f"rv-{n}", "ana") for n in range(2000)], [sides_of("rv-1", f"p{n}") for n in range(2000)]):
        assert 900 < sum(one.left == "A" for one in seen) < 1100


@given(st.lists(st.sampled_from(["left:c1", "right:c2", "c3", "$.left", "top:c1", ""])), NAMES)
def test_what_an_answer_points_at_finds_back_too(evidence, who):
    sides = sides_of("rv-1", who)
    assert cited_by_side(cited_by_agent(evidence, sides), sides) == tuple(evidence)
    assert not any(one.startswith(("left:", "right:")) for one in cited_by_agent(evidence, sides))

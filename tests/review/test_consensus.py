"""What answers come to: nothing until all are there, an agreement within the tolerances, or a third person."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_making import GOOD, answer

from rightcall.review.consensus import agree, counted, counts, decide
from rightcall.review.forms import FORMS, form_of, stored_form
from rightcall.store.packing import digest_of

PAIR = {"overall": "A", "sure": 2, "both_critical": False}


def rubric(who, **changed):
    return answer(who, "rubric", fields=GOOD["rubric"] | changed)


def golden(who, grade, **changed):
    return answer(who, fields={"grade": grade}, **changed)


# ---- which answers count ----


@pytest.mark.parametrize(
    ("changed", "does"),
    [
        ({}, True),
        ({"extra": True}, False),
        ({"kind": "amendment", "blind": False}, False),
        ({"kind": "adjudication", "blind": False}, False),
        ({"kind": "imported"}, True),
        ({"kind": "imported", "blind": False}, False),
        ({"kind": "imported", "extra": True}, False),
    ],
)
def test_amendments_extras_and_what_was_not_blind_elsewhere_never_count(changed, does):
    one = golden("ana", "PASS", **changed)
    assert counts(one) is does
    assert counted([one]) == [one] * does


def test_of_one_person_only_the_first_answer_counts():
    first = golden("ana", "PASS")
    both = [first, golden("ana", "FAIL", kind="imported"), golden("bo", "PASS")]
    assert counted(both) == [first, both[2]]


# ---- when it is decided ----


def test_it_is_open_until_enough_different_people_have_answered():
    answers = [golden("ana", "PASS"), golden("ana", "PASS", kind="imported")]
    assert decide("golden", [], 1).state == "open"
    assert decide("golden", answers, 2).state == "open"
    assert decide("golden", [*answers, golden("bo", "PASS")], 2).state == "agreed"


def test_one_answer_is_a_consensus_by_itself_where_one_is_needed():
    one = golden("ana", "FAIL")
    found = decide("golden", [one], 1)
    assert (found.state, found.how, found.fields, found.answers) == ("agreed", "single", one.fields, (digest_of(one),))


@pytest.mark.parametrize("others", [("PASS", "FAIL"), ("FAIL", "PASS"), ("PASS", "PASS", "FAIL")])
def test_any_difference_between_pass_and_fail_is_for_a_third_person(others):
    answers = [golden(f"p{n}", grade) for n, grade in enumerate(others)]
    found = decide("golden", answers, len(answers))
    assert (found.state, found.differing, found.fields, found.how) == ("differ", ("grade",), {}, None)


@pytest.mark.parametrize(("one", "other"), [("A", "B"), ("A", "TIE"), ("TIE", "B")])
def test_any_difference_between_a_b_and_tie_is_for_a_third_person(one, other):
    answers = [answer("ana", "preference", fields=PAIR | {"overall": o}) for o in (one,)]
    answers += [answer("bo", "preference", fields=PAIR | {"overall": other})]
    assert decide("preference", answers, 2).differing == ("overall",)


@pytest.mark.parametrize(("left", "right", "agrees"), [(3, 3, True), (3, 4, True), (4, 3, True), (3, 5, False)])
def test_scores_agree_within_one_step(left, right, agrees):
    found = decide("rubric", [rubric("ana", selection=left), rubric("bo", selection=right)], 2)
    assert (found.state, found.differing) == (("agreed", ()) if agrees else ("differ", ("selection",)))


def test_several_scores_agree_if_the_outermost_do():
    three = [rubric(f"p{level}", selection=level) for level in (2, 3, 4)]
    assert decide("rubric", three, 3).differing == ("selection",)


@pytest.mark.parametrize("other", ["HIGH", "NONE"])
def test_any_difference_about_critical_is_for_a_third_person(other):
    found = decide("rubric", [rubric("ana", severity="CRITICAL"), rubric("bo", severity=other)], 2)
    assert found.differing == ("severity",)


def test_other_severities_agree_within_one_step():
    assert decide("rubric", [rubric("ana", severity="HIGH"), rubric("bo", severity="MEDIUM")], 2).state == "agreed"
    assert decide("rubric", [rubric("ana", severity="HIGH"), rubric("bo", severity="LOW")], 2).state == "differ"
    critical = [rubric("ana", severity="CRITICAL"), rubric("bo", severity="CRITICAL")]
    assert decide("rubric", critical, 2).fields["severity"] == "CRITICAL"


def test_not_at_issue_agrees_with_no_level():
    assert decide("rubric", [rubric("ana", abstention=None), rubric("bo", abstention=5)], 2).differing == (
        "abstention",
    )
    assert decide("rubric", [rubric("ana", abstention=None), rubric("bo", abstention=None)], 2).state == "agreed"


def test_all_fields_that_differ_are_named_in_the_order_of_the_form():
    answers = [rubric("ana", selection=1, severity="CRITICAL"), rubric("bo", selection=5)]
    assert decide("rubric", answers, 2).differing == ("selection", "severity")


def test_what_has_no_tolerance_may_differ_and_is_no_part_of_the_consensus():
    answers = [
        answer("ana", "selection", fields={"grade": "FAIL", "failure_category": "wrong_tool", "right_tool": "a"}),
        answer("bo", "selection", fields={"grade": "FAIL", "failure_category": "over_action"}),
    ]
    found = decide("selection", answers, 2)
    assert (found.state, found.fields) == ("agreed", {"grade": "FAIL"})


# ---- what the consensus says ----


def test_where_answers_agree_without_being_equal_the_stricter_stands():
    answers = [rubric("ana", selection=4, severity="MEDIUM"), rubric("bo", selection=3, severity="LOW")]
    fields = decide("rubric", answers, 2).fields
    assert (fields["selection"], fields["severity"]) == (3, "MEDIUM")
    sure = [answer(who, "preference", fields=PAIR | {"sure": n}) for who, n in (("ana", 3), ("bo", 1))]
    assert decide("preference", sure, 2).fields["sure"] == 1


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_a_consensus_is_the_lower_median_of_levels_that_somebody_gave(levels):
    answers = [rubric(f"p{n}", selection=level) for n, level in enumerate(levels)]
    found = decide("rubric", answers, len(answers))
    assert (found.state == "agreed") is (max(levels) - min(levels) <= 1)
    if found.state == "agreed":
        assert found.fields["selection"] == sorted(levels)[(len(levels) - 1) // 2]


@given(
    st.permutations(
        [rubric("ana"), rubric("bo", selection=3), rubric("cy", severity="MEDIUM"), rubric("di", extra=True)]
    ),
    st.integers(1, 4),
)
def test_the_order_of_the_answers_decides_nothing(answers, needed):
    found, again = decide("rubric", answers, needed), decide("rubric", sorted(answers, key=lambda one: one.who), needed)
    assert (found.state, found.fields, found.differing, sorted(found.answers)) == (
        again.state, again.fields, again.differing, sorted(again.answers),
    )  # fmt: skip


def test_agreeing_does_not_depend_on_the_order_of_the_values():
    for field in FORMS["rubric"].fields:
        for values in permutations(field.choices, 3):
            assert agree(field, values) == agree(field, values[::-1])


# ---- who cannot judge ----


def test_cannot_judge_differs_from_every_answer_that_judges():
    found = decide("golden", [golden("ana", "PASS"), answer("bo", unsure="the result was cut")], 2)
    assert (found.state, found.differing) == ("differ", ("unsure",))


def test_one_person_alone_who_cannot_judge_leaves_it_to_somebody_else():
    assert decide("golden", [answer("ana", unsure="cut")], 1).differing == ("unsure",)


def test_where_nobody_of_several_can_judge_that_is_what_they_agree_on():
    found = decide("golden", [answer("ana", unsure="cut"), answer("bo", unsure="no result")], 2)
    assert (found.state, found.how, found.fields) == ("agreed", "agreement", {})
    assert found.reason == "nobody of them could judge this"


# ---- the third person ----


def test_an_adjudication_decides_and_all_answers_stay_named():
    one, two = golden("ana", "PASS"), golden("bo", "FAIL")
    third = golden("cy", "FAIL", kind="adjudication", blind=False, note="the card was cancelled")
    found = decide("golden", [one, two, third], 2)
    assert (found.state, found.how, found.fields) == ("agreed", "adjudication", {"grade": "FAIL"})
    assert found.answers == tuple(map(digest_of, (one, two, third)))
    assert found.reason == "the card was cancelled"


def test_the_newest_decision_between_answers_stands():
    answers = [golden(who, grade, kind="adjudication", blind=False) for who, grade in (("cy", "PASS"), ("di", "FAIL"))]
    assert decide("golden", answers, 1).fields == {"grade": "FAIL"}


def test_a_late_adjudication_decides_nothing():
    answers = [golden("ana", "PASS"), golden("bo", "FAIL"), golden("cy", "PASS", kind="adjudication", extra=True)]
    assert decide("golden", answers, 2).state == "differ"


def test_an_adjudicator_may_find_that_it_cannot_be_judged():
    found = decide("golden", [answer("ana", unsure="x"), answer("bo", unsure="it is cut", kind="adjudication")], 1)
    assert (found.state, found.fields, found.reason) == ("agreed", {}, "it is cut")


# ---- forms of one's own ----


def test_a_form_of_ones_own_has_its_own_tolerances():
    form = form_of(
        "tone", {"properties": {"level": {"type": "integer", "minimum": 1, "maximum": 5}, "ok": {"enum": [1, "x"]}}}
    )
    near = [answer(who, "tone", fields={"level": level, "ok": "x"}) for who, level in (("ana", 2), ("bo", 3))]
    assert decide("tone", near, 2, form).fields == {"level": 2, "ok": "x"}
    far = [answer("ana", "tone", fields={"level": 2, "ok": 1}), near[1]]
    assert decide("tone", far, 2, form).differing == ("ok",)


def test_stored_forms_have_the_tolerances_of_the_forms():
    shown, stored = FORMS["preference"], stored_form(FORMS["preference"])
    assert [one.tolerance for one in shown.fields] == [one.tolerance for one in stored.fields]

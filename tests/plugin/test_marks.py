"""The marker: what it may say, and how a wrong one is named."""

import pytest

from rightcall.plugin.marks import KEYS, MarkError, marked, without_trial


class Item:
    """As much of a test as the marker needs; the marks nearest to it come first."""

    def __init__(self, *marks):
        self._marks = marks

    def iter_markers(self, _name):
        return iter(mark.mark for mark in self._marks)


def of(*marks):
    return marked(Item(*marks))


def test_a_test_without_a_marker_says_nothing():
    assert of() is None


def test_of_two_markers_the_nearer_one_counts():
    found = of(pytest.mark.rightcall(repeats=2), pytest.mark.rightcall(repeats=5, profile="strict"))
    assert (found.repeats, found.profile) == (2, "strict")


def test_a_nearer_case_takes_the_place_of_another_one():
    found = of(pytest.mark.rightcall(golden="a.toml"), pytest.mark.rightcall(cases="b.toml", case_id="c"))
    assert (found.golden, found.cases, found.case_id) == ("a.toml", None, None)


def test_a_file_may_stand_on_the_module_and_the_case_on_the_test():
    found = of(pytest.mark.rightcall(case_id="lost"), pytest.mark.rightcall(cases="b.toml"))
    assert (found.file, found.case_id, found.is_for_each_case) == ("b.toml", "lost", False)


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        (pytest.mark.rightcall(goldn="a.toml"), "has no key `goldn`; did you mean `golden`?"),
        (pytest.mark.rightcall(repeat=3), "has no key `repeat`; did you mean `repeats`?"),
        (pytest.mark.rightcall(xyz=3), f"has no key `xyz`; known: {', '.join(KEYS)}"),
        (pytest.mark.rightcall("a.toml"), "takes keywords only: write `rightcall(golden='a.toml')`, say"),
        (pytest.mark.rightcall(repeats=0), "`repeats` is a whole number, at least 1, not 0"),
        (pytest.mark.rightcall(repeats=True), "`repeats` is a whole number, at least 1, not True"),
        (pytest.mark.rightcall(repeats=2.0), "`repeats` is a whole number, at least 1, not 2.0"),
        (pytest.mark.rightcall(min_overall=1.5), "`min_overall` is a number from 0 to 1, not 1.5"),
        (pytest.mark.rightcall(min_overall=float("nan")), "`min_overall` is a number from 0 to 1, not nan"),
        (pytest.mark.rightcall(min_overall="0.5"), "`min_overall` is a number from 0 to 1, not '0.5'"),
        (pytest.mark.rightcall(profile="strickt"), "there is no profile `strickt`; did you mean `strict`?"),
        (pytest.mark.rightcall(golden=3), "`golden` is the path of a file, not 3"),
        (pytest.mark.rightcall(golden=""), "`golden` is the path of a file, not ''"),
        (pytest.mark.rightcall(golden="a", cases="b"), "`golden` and `cases` each name a case; give one of them"),
        (pytest.mark.rightcall(case="lost"), "`case` is a `rightcall.Case` or the same as a dict, not 'lost'"),
        (pytest.mark.rightcall(case_id="lost"), '`case_id` picks a case of a file; name it with `cases="FILE"`'),
    ],
)  # fmt: skip
def test_a_wrong_marker_is_named_with_what_to_do(mark, said):
    with pytest.raises(MarkError) as caught:
        of(mark)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("node", "trial", "base"),
    [
        ("t.py::test[trial2]", 2, "t.py::test"),
        ("t.py::test[a-trial2]", 2, "t.py::test[a]"),
        ("t.py::test[trial2-a]", 2, "t.py::test[a]"),
        ("t.py::test[trial2-trial2]", 2, "t.py::test[trial2]"),
        ("t.py::test", 1, "t.py::test"),
    ],
)
def test_the_trials_of_a_test_share_its_name(node, trial, base):
    assert without_trial(node, trial) == base

"""From scores to fidelity."""

from __future__ import annotations

import pytest

from rightcall.grade.interpretation import InterpretationResult, fidelity, lowest


@pytest.mark.parametrize(
    ("mapping", "scores", "fidelities"),
    [
        ("fifths", (1, 2, 3, 4, 5), (0.2, 0.4, 0.6, 0.8, 1.0)),
        ("unit", (1, 2, 3, 4, 5), (0.0, 0.25, 0.5, 0.75, 1.0)),
        ("direct", (0, 0.35, 1), (0.0, 0.35, 1.0)),
    ],
)
def test_each_mapping_takes_its_scores_to_0_to_1(mapping, scores, fidelities):
    assert tuple(fidelity(score, mapping) for score in scores) == fidelities
    assert lowest(mapping) == fidelities[0]


def test_a_four_is_just_enough_for_the_limit_under_fifths():
    assert not fidelity(4, "fifths") < 0.8
    assert fidelity(3, "fifths") < 0.8


def test_a_list_of_verdicts_shows_the_fidelity():
    made = InterpretationResult(
        step_id="t#c1", trace_id="t", case_id=None, call_index=0, tool="a", interpretation_fidelity_score=0.6
    )
    assert made.overall_score == 0.6
    assert made.verdict is None

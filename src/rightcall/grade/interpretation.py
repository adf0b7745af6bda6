"""What `interpretation` answers about one call of a trace: did the agent read its result rightly (SPEC §7.4)?

The score is of the reading alone; what the agent did next has its own text and score. Frozen data.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from rightcall.grade.opinion import Opinion

Mapping = Literal["fifths", "unit", "direct"]
"""From a score to fidelity: score/5, (score−1)/4, or the 0–1 score that a template of the user's own asks for."""


def fidelity(score: float, mapping: Mapping) -> float:
    """The `interpretation_fidelity_score` of a score, from 0 to 1.

    `fifths` is score/5, under which the limits 0.8 and 0.85 are 4 and a little more; `unit` is (score − 1)/4; `direct`
    leaves a score that is asked for from 0 to 1 as it is.
    """
    if mapping == "direct":
        return float(score)
    return score / 5 if mapping == "fifths" else (score - 1) / 4


def lowest(mapping: Mapping) -> float:
    """The lowest fidelity that there is under a mapping."""
    return fidelity(0 if mapping == "direct" else 1, mapping)


class UnsupportedValue(Struct, frozen=True, kw_only=True):
    """A number, a date or an identifier of the reading that does not occur in the result, found by code.

    `value` as it is written, `kind` of it, `where` it stands in the reading (character offset). `also_in` says where
    else it occurs: `request`, `arguments`, `context`, `other_results`; `count`: it is how many parts some list or
    object of the result has. Nowhere else: nothing that was recorded explains it.
    """

    value: str
    kind: Literal["number", "date", "identifier"]
    where: int
    also_in: tuple[str, ...] = ()


class InterpretationResult(Struct, frozen=True, kw_only=True):
    """The answer of `interpretation` for one segment.

    Attributes:
        step_id: the segment: the trace with the number of the call. call_index: that number, from 0.
        tool, agent_version: for the tables.
        reading: `stated` if the agent said something, `implicit` if it only acted.
        verdict: always `None`: a reading gets a score, and gates give verdicts.
        interpretation_fidelity_score: the score mapped to 0–1 by `fidelity_mapping`.
        score, action_score: the judge's levels from 1 to 5 (`score` is 0–1 under `direct`).
        scored_by: the judge whose score stands: `light`'s or `strong`'s name, or `panel`.
        light_score, strong_score: of two-phase sampling; `None` where that judge was not asked or not readable.
        stratum, sampling_probability: how the segment could be drawn for the strong judge, and how likely.
        unsupported_values: found by code, whatever the judge says.
        misinterpretation_flags, evidence: the judge's, verified against the texts; `None` is *not said*.
        confidence: the judge's own; `None` where it gave none.
        calibrated_confidence, calibration: what that is worth, and by which calibration; only in runs that ask for it.
    """

    step_id: str
    trace_id: str | None
    case_id: str | None
    call_index: int
    tool: str
    agent_version: str | None = None
    reading: Literal["stated", "implicit"] = "stated"
    grader: Literal["interpretation"] = "interpretation"
    status: Literal["EVALUATED", "UNEVALUABLE"] = "EVALUATED"
    reason: str | None = None
    verdict: None = None
    interpretation_fidelity_score: float | None = None
    fidelity_mapping: Mapping = "fifths"
    score: float | None = None
    action_score: int | None = None
    scored_by: str | None = None
    light_score: float | None = None
    strong_score: float | None = None
    stratum: str | None = None
    sampling_probability: float | None = None
    unsupported_values: tuple[UnsupportedValue, ...] = ()
    misinterpretation_flags: tuple[dict[str, Any], ...] | None = None
    evidence: tuple[dict[str, Any], ...] | None = None
    interpretation_accuracy: str | None = None
    action_appropriateness: str | None = None
    key_errors: tuple[str, ...] = ()
    justification: str | None = None
    confidence: float | None = None
    calibrated_confidence: float | UnsetType = UNSET
    calibration: str | UnsetType = UNSET
    judges: tuple[Opinion, ...] = ()
    disagreement: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    suspicions: tuple[str, ...] = ()

    @property
    def sure(self) -> float | None:
        """The confidence that counts: what the stated one was found to be worth, or the stated one."""
        return self.confidence if self.calibrated_confidence is UNSET else self.calibrated_confidence

    @property
    def overall_score(self) -> float | None:
        """The fidelity, which is the figure that a list of verdicts shows."""
        return self.interpretation_fidelity_score

"""Is the judge behind a run's figures fit to decide? By its newest calibration with the same model and prompt."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from rightcall.gate.decision import FitVerdict, JudgeFitness
from rightcall.run.calibration.said import JOINT
from rightcall.run.results.judge_use import Use, uses_of
from rightcall.stats.fitness import ESTIMATE_FROM
from rightcall.stats.intervals import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rightcall.run.results.model import RunResults
    from rightcall.store.records import CalibrationRecord
    from rightcall.store.store import Store

DECIDING: dict[str, tuple[str, ...]] = {
    "selection": ("grade",), "rubric": ("selection", "arguments", "sequencing", "abstention", "severity"),
    "preference": ("overall",), "interpretation": ("score",),
}  # fmt: skip
"""The fields on whose calibration a judge's fitness rests; of a user's own grader, all that were calibrated."""

OPTIONAL = frozenset({"abstention"})
"""Fields that are often not at issue; they count once 30 labels say something about them."""

_RANK: tuple[FitVerdict, ...] = ("NOT_FIT", "UNKNOWN", "INSUFFICIENT", "FIT")
_SHORT = 6

Found = tuple[str, "CalibrationRecord"]


Asked = dict[tuple[str, str], set[Use]]


def asked_in(store: Store | None, results: RunResults) -> Asked:
    """The judges of a run by (grader, judge), each with the models and prompts by which it answered.

    Several judges that vote together are one, called by its members joined by ` + `, once they were calibrated so. The
    results are read once.
    """
    found: Asked = {}
    for name, part in results.graders.items():
        by_judge = uses_of(store, part)
        for judge, uses in (_as_panel(store, name, by_judge) or by_judge).items():
            found[(name, judge)] = uses
    return found


def fitness_of(
    store: Store | None, results: RunResults, asked: Asked | None = None
) -> dict[tuple[str, str], JudgeFitness]:
    """Whether each judge of a run is fit, by (grader, judge).

    For each field that decides, the newest calibration with the model and the prompt that answered in this run counts,
    other than on dev labels alone;
    the judge is as fit as in the field where it is least fit, and its figures are the lowest of any. `UNKNOWN`: it was
    never calibrated so, and the reason names what there is instead. Graders without a judge are not in it.

    Args:
        store: the record; `None`: nothing is known of any judge.
        results: a run.
        asked: its judges, where they are known already (see `asked_in`, which says what a panel is).
    """
    found: dict[tuple[str, str], JudgeFitness] = {}
    for (name, judge), uses in (asked_in(store, results) if asked is None else asked).items():
        known = [] if store is None else newest_first(store, name, judge)
        each = [_of_use(name, judge, use, known) for use in sorted(uses)]
        found[(name, judge)] = min(each, key=lambda one: _RANK.index(one.verdict))
    return found


def deciding_records(store: Store, asked: Asked) -> dict[tuple[str, str], list[Found]]:
    """The calibrations on which the fitness of a run's judges rests, by (grader, judge), as digest and record."""
    found: dict[tuple[str, str], list[Found]] = {}
    for (grader, judge), uses in asked.items():
        known = newest_first(store, grader, judge)
        for use in sorted(uses):
            there = standing(known, use)
            wanted = deciding(grader, {field: one.labels for field, (_, one) in there.items()})
            found.setdefault((grader, judge), []).extend(there[field] for field in wanted if field in there)
    return found


def _as_panel(store: Store | None, grader: str, uses: Mapping[str, set[Use]]) -> dict[str, set[Use]]:
    """The judges of a run as one panel, where that panel was calibrated; empty otherwise."""
    joint, each = JOINT.join(sorted(uses)), [sorted(uses[name]) for name in sorted(uses)]
    if store is None or len(uses) < 2 or any(len(one) != 1 for one in each):
        return {}
    if next(store.calibrations(grader=grader, judge=joint), None) is None:
        return {}
    return {joint: {Use(JOINT.join(one[0].model for one in each), each[-1][0].prompt)}}


def newest_first(store: Store, grader: str, judge: str) -> list[Found]:
    """The calibrations of a judge, newest first, each with its digest."""
    return [(digest, one) for _, digest, one in store.calibrations(grader=grader, judge=judge)][::-1]


def proves(one: CalibrationRecord) -> bool:
    """Whether a calibration says something about fitness: one on the labels that prompts are tuned on does not."""
    return one.split != "dev"


def standing(known: Iterable[Found], use: Use) -> dict[str, Found]:
    """Of each field, the newest calibration with this model and prompt that proves something."""
    found: dict[str, Found] = {}
    for digest, one in known:
        if proves(one) and (one.model, one.prompt_sha256) == (use.model, use.prompt):
            found.setdefault(one.field, (digest, one))
    return found


def deciding(grader: str, labels: Mapping[str, int]) -> tuple[str, ...]:
    """The fields that decide, of a grader whose fields have so many labels; see `DECIDING` and `OPTIONAL`."""
    fields = DECIDING.get(grader, tuple(labels))
    return tuple(one for one in fields if one not in OPTIONAL or labels.get(one, 0) >= ESTIMATE_FROM)


def calibration_id(digest: str) -> str:
    """A calibration's id as it is shown: `cal-` and the first 8 digits of its digest."""
    return f"cal-{digest[:8]}"


def _of_use(grader: str, judge: str, use: Use, known: list[Found]) -> JudgeFitness:
    there = standing(known, use)
    if not there:
        return JudgeFitness(judge=judge, grader=grader, verdict="UNKNOWN", model=use.model, reason=_never(use, known))
    wanted = deciding(grader, {field: one.labels for field, (_, one) in there.items()})
    lacking = [field for field in wanted if field not in there]
    each = [_of_record(*there[field]) for field in wanted if field in there]
    if lacking or not each:
        names = ", ".join(f"`{field}`" for field in lacking) or "what decides"
        each.append(
            JudgeFitness(
                judge=judge, grader=grader, verdict="UNKNOWN", model=use.model, reason=f"{names} was never calibrated"
            )
        )
    return _weakest(each)


def _weakest(each: list[JudgeFitness]) -> JudgeFitness:
    """The field where the judge is least fit, with the lowest agreement and detection of all fields that decide.

    Where that field has no agreement, none is given in its place: what is not known is not known to be higher.
    """
    found = min(each, key=lambda one: (_RANK.index(one.verdict), _figure(one.agreement)))
    if found.agreement is None or found.agreement.estimate is None:
        return found
    known = [one for one in each if one.agreement is not None and one.agreement.estimate is not None]
    least = min(known, key=lambda one: _figure(one.agreement))
    detections = [one.detection for one in each if one.detection is not None]
    return replace(
        found, agreement=least.agreement, people=least.people, detection=min(detections, key=_figure, default=None)
    )


def _figure(value: Estimate | None) -> float:
    """What is not known comes before every figure."""
    return -inf if value is None or value.estimate is None else value.estimate


def _of_record(digest: str, one: CalibrationRecord) -> JudgeFitness:
    reason = None if one.verdict == "FIT" else f"{one.field}: {one.reasons[0] if one.reasons else 'too few labels'}"
    return JudgeFitness(
        judge=one.judge, grader=one.grader, verdict=one.verdict, model=one.model, id=calibration_id(digest), at=one.at,
        split=one.split, labels=one.labels, agreement=_estimate(one.agreement), detection=_estimate(one.detection),
        people=_estimate(one.people), reason=reason,
    )  # fmt: skip


def _estimate(plain: dict[str, Any] | None) -> Estimate | None:
    return None if plain is None else msgspec.convert(plain, Estimate)


def _never(use: Use, known: list[Found]) -> str:
    """Why nothing is known: what was calibrated instead, if anything was."""
    if not known:
        return "never calibrated"
    if any((one.model, one.prompt_sha256) == (use.model, use.prompt) for _, one in known):
        return "calibrated on the dev part of the labels only, on which prompts are tuned"
    newest = known[0][1]
    if newest.prompt_sha256 != use.prompt:
        asked = _called(newest.prompt_sha256, newest.prompt_id, newest.prompt_version)
        return f"calibrated with prompt {asked}, this run used {use.prompt[:_SHORT] or 'one that is not on record'}"
    return f"calibrated with model {newest.model or '(unnamed)'}, this run used {use.model or '(unnamed)'}"


def _called(sha256: str, name: str, version: str) -> str:
    words = " ".join(part for part in (name, version) if part)
    return f"{words} ({sha256[:_SHORT]})" if words else sha256[:_SHORT] or "(unnamed)"

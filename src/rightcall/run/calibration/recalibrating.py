"""Calibrations as runs use them: what a stated confidence is worth, and whether a light judge was found unfit.

A run takes the newest calibration of the same judge, model, prompt and grader, as it stands when the run begins. Where
there is none, the stated confidence counts, and the run says so once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Struct

from rightcall.run.calibration.fitness import calibration_id, newest_first, proves
from rightcall.run.calibration.said import JOINT
from rightcall.run.inputs.opening import may_be_there, open_store
from rightcall.run.results.judge_use import Use
from rightcall.stats.recalibration import Isotonic, Platt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rightcall.run.calibration.fitness import Found
    from rightcall.run.judging.opinions import Voices
    from rightcall.settings.load import Loaded
    from rightcall.store.records import CalibrationRecord

FIELDS = {"preference": "overall", "interpretation": "score"}
"""The field that a stated confidence is about."""


class Worth(Struct, frozen=True):
    """What a stated confidence is worth, and by which calibration."""

    probability: float
    calibration: str


@dataclass
class Recalibrating:
    """The maps of a run's judges.

    Attributes:
        grader, prompt: of the run; the prompt by its hash.
        asked: judge -> the model that it is asked as.
        maps: (judge, model) -> calibration id, map id, map.
        lacking: judges and models that answered and have no map.
    """

    grader: str
    prompt: str
    asked: Mapping[str, str]
    maps: dict[tuple[str, str], tuple[str, str, Platt | Isotonic]] = field(default_factory=dict)
    lacking: set[tuple[str, str]] = field(default_factory=set)

    def worth(self, answered: Mapping[str, str | None], stated: float | None) -> Worth | None:
        """What the confidence of an answer is worth; `None` where there is none, or no map for who gave it.

        Args:
            answered: the judges behind the answer, each with the model that answered, if that is known.
            stated: the confidence.
        """
        if stated is None or not answered:
            return None
        names = sorted(answered)
        key = JOINT.join(names), JOINT.join(answered[name] or self.asked.get(name, "") for name in names)
        if key not in self.maps:
            self.lacking.add(key)
            return None
        calibration, _, made = self.maps[key]
        probability = made.probability(stated)
        return None if probability is None else Worth(probability, calibration)

    def facts(self) -> dict[str, Any]:
        """The maps as they stand in a run's facts."""
        return {
            "confidence": "calibrated",
            "maps": [
                {"judge": judge, "model": model, "calibration": calibration, "map": name, **msgspec.to_builtins(made)}
                for (judge, model), (calibration, name, made) in sorted(self.maps.items())
            ],
        }  # fmt: skip

    def notes(self) -> list[str]:
        """Whose stated confidence counts since there is no map, in words."""
        return [
            f"no calibration of `{judge}` by model {model or '(unnamed)'} with this prompt has a map: its stated "
            f"confidence counts (rightcall calibrate {judge.partition(JOINT)[0]} --grader {self.grader})"
            for judge, model in sorted(self.lacking)
        ]


def recalibrating(loaded: Loaded, grader: str, prompt: str, asked: Mapping[str, str]) -> Recalibrating:
    """The maps for the judges of a run, by what is on record now.

    Args:
        loaded: the settings, which name the store.
        grader: `preference` or `interpretation`.
        prompt: hash of the run's prompt.
        asked: judge -> the model that it is asked as.

    Raises:
        StoreError: the record cannot be read.
    """
    found = Recalibrating(grader, prompt, dict(asked))
    joint = JOINT.join(sorted(asked))
    for judge in dict.fromkeys([*asked, joint]):
        for digest, one in _newest(loaded, grader, judge, prompt):
            if one.recalibration is not None:
                found.maps[judge, one.model] = (calibration_id(digest), one.recalibration["id"], _map(one))
    return found


def confidence_heard(voices: Voices, maps: Recalibrating | None) -> tuple[float | None, Worth | None]:
    """The least confidence that was stated, and what it is worth in runs that ask for that."""
    stated = min((one["confidence"] for one in voices.replies if one.get("confidence") is not None), default=None)
    if maps is None:
        return stated, None
    return stated, maps.worth({one.judge: one.model for one in voices.opinions if one.status == "EVALUATED"}, stated)


def worth_fields(worth: Worth | None) -> dict[str, Any]:
    """What a result says of it; nothing is written of what there is not."""
    if worth is None:
        return {"calibrated_confidence": UNSET, "calibration": UNSET}
    return {"calibrated_confidence": worth.probability, "calibration": worth.calibration}


def confidence_words(stated: float | None, sure: float) -> str:
    """A confidence in words, with what was stated where that is another number."""
    return f"confidence {sure:g}" if stated is None or stated == sure else f"confidence {stated:g}, worth {sure:.3f}"


def unfit_models(loaded: Loaded, light: str, prompt: str) -> dict[str, str]:
    """By which models a light judge of `interpretation` is not fit, each with the reason in words.

    Raises:
        StoreError: the record cannot be read.
    """
    return {
        one.model: f"calibration {calibration_id(digest)} says NOT_FIT" + "".join(f": {why}" for why in one.reasons[:1])
        for digest, one in _newest(loaded, "interpretation", light, prompt, proving=True)
        if one.verdict == "NOT_FIT"
    }


def _newest(loaded: Loaded, grader: str, judge: str, prompt: str, *, proving: bool = False) -> Iterable[Found]:
    """The newest calibration of a judge by each model, with this prompt; `proving`: that says whether it is fit."""
    if not may_be_there(loaded):
        return []
    with open_store(loaded) as store:  # a run that was killed early may have left a file that is no store yet
        known = newest_first(store, grader, judge)
    found: dict[Use, Found] = {}
    for digest, one in known:
        if (one.field, one.prompt_sha256) == (FIELDS[grader], prompt) and (proves(one) or not proving):
            found.setdefault(Use(one.model, prompt), (digest, one))
    return list(found.values())


def _map(one: CalibrationRecord) -> Platt | Isotonic:
    plain = {name: value for name, value in (one.recalibration or {}).items() if name not in ("id", "labels")}
    made: Platt | Isotonic = msgspec.convert(plain, Platt | Isotonic, strict=False)
    return made

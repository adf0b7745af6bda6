"""The view of a calibration: what every format of it shows, as plain data.

`report.calibration.building` makes it. Texts are plain; whoever writes a format escapes them for it.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from rightcall.report.view.model import Matrix, Reliability
from rightcall.run.calibration.calibrating import Verdict
from rightcall.run.calibration.confidence import Confidence, Threshold
from rightcall.run.calibration.figures import Rate, Stratum
from rightcall.stats.fitness import Answer
from rightcall.stats.intervals import Estimate

Kind = Literal["share", "agreement", "levels", "other"]
"""What a figure is measured in: a share from 0 to 1; agreement from −1 to 1; levels of a scale; anything else."""


class Requirement(Struct, frozen=True, kw_only=True):
    """Something that a judge must reach.

    Attributes:
        name: in words (`kappa`, `catches FAIL`, `close to people`). answer: see `stats.fitness.Condition`.
        value: what was measured. threshold: what it must reach; `None` where that is not known.
        on: whether the lower bound is held against it or the estimate (`point`).
        reason: why it is not passed; empty where it is.
        settled: what would settle it, in words; empty where nothing is open or that cannot be said.
    """

    name: str
    answer: Answer
    value: Estimate
    threshold: float | None
    on: Literal["lower", "point"]
    reason: str
    settled: str


class Figure(Struct, frozen=True, kw_only=True):
    """A figure of the judge beside the same of people among themselves.

    `people` is `None` where there is none. `limit` is what the lower bound is held against; `scale` where a drawing
    begins and ends; `note` what must be known besides.
    """

    name: str
    value: Estimate
    kind: Kind
    people: Estimate | None = None
    limit: float | None = None
    scale: tuple[float, float] = (0.0, 1.0)
    note: str = ""


class Route(Struct, frozen=True, kw_only=True):
    """From where the judge may decide alone: of `all`, or of what is about destructive tools."""

    name: str
    whom: str
    threshold: Threshold


class MapView(Struct, frozen=True, kw_only=True):
    """The map from stated confidence to the probability of being right.

    `points` are (stated, probability), ascending; none where there is no map. `after` is the reliability of
    cross-fitted probabilities; `None` where they could not be made.
    """

    points: tuple[tuple[float, float], ...]
    after: Reliability | None


class ConfidenceView(Struct, frozen=True, kw_only=True):
    """What the judge's stated confidence is worth.

    Attributes:
        title: how many labels it rests on, in words.
        found: as it was measured.
        figures: of it, for a table of bars.
        reliability: the diagram of what was stated.
        routes: from where the judge may decide alone.
        map: what a stated confidence is worth.
        cautions: what must be said of thresholds and maps that were made from the labels that are shown.
    """

    title: str
    found: Confidence
    figures: tuple[Figure, ...]
    reliability: Reliability
    routes: tuple[Route, ...]
    map: MapView
    cautions: tuple[str, ...]


class FieldView(Struct, frozen=True, kw_only=True):
    """One judge, by one model and one prompt, in one field of one grader.

    Attributes:
        judge, grader, field, model, prompt, runs: whose. is_current: in the newest run that has labels.
        decides: the judge's fitness rests on this field.
        verdict: whether it may decide. reasons: why not, what is missed first. needed: labels that are lacking.
        requirements: what it must reach, what is missed first.
        remarks: what must be said of the verdict besides.
        labels: how many people and judge both answered. rests_on: the same in words.
        left_out: reason -> how many labels are in no figure.
        matrix: people by rows, judge by columns; `None` without a label. shares: how often people gave each answer.
        figures: agreement and what is caught; none with fewer than 30 labels. notes: sentences about them.
        rates: how well each answer of people is found. strata: groups, the worst first.
        confidence: what stated confidence is worth; `None` where none is stated, or labels are too few.
        id: of the record, where it was saved.
    """

    judge: str
    grader: str
    field: str
    model: str
    prompt: str
    runs: tuple[str, ...]
    is_current: bool
    decides: bool
    verdict: Verdict
    reasons: tuple[str, ...]
    needed: str
    requirements: tuple[Requirement, ...]
    remarks: tuple[str, ...]
    labels: int
    rests_on: str
    left_out: dict[str, int]
    matrix: Matrix | None
    shares: dict[str, Estimate]
    figures: tuple[Figure, ...]
    notes: tuple[str, ...]
    rates: tuple[Rate, ...]
    strata: tuple[Stratum, ...]
    confidence: ConfidenceView | None
    id: str | None

    @property
    def has_figures(self) -> bool:
        """Are there labels enough for figures?"""
        return bool(self.figures)


class CalibrationView(Struct, frozen=True, kw_only=True):
    """Everything that one `calibrate` found.

    Attributes:
        verdict: the worst of what decides; `None` without a label. exit_code: what the command leaves with.
        causes: everything that keeps it from `FIT`, the worst first.
        facts: name and value: which labels, how they were told apart, versions.
        fields: one part each; those of older models and prompts come last.
        besides: answers that are on record and in no figure.
        warnings: what must be known before any figure.
    """

    verdict: Verdict | None
    exit_code: int
    causes: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    fields: tuple[FieldView, ...]
    besides: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def deciding(self) -> tuple[FieldView, ...]:
        """The fields on which the verdict rests: those that decide and are current, or all where none is."""
        return tuple(one for one in self.fields if one.is_current and one.decides) or self.fields

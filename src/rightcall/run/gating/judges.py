"""The judges behind a gated figure: whether they are fit, and whether they contradict what code decides (SPEC §1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from rightcall.gate.decision import JudgeFitness
from rightcall.gate.standing import fitness_words
from rightcall.gate.words import number
from rightcall.judge.audit import stamp
from rightcall.run.calibration.said import JOINT
from rightcall.stats.intervals import wilson

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rightcall.gate.decision import Decision
    from rightcall.run.gating.collecting import Trust
    from rightcall.run.results.model import RunResults


def judges_of(
    results: RunResults, fitness: Mapping[tuple[str, str], JudgeFitness], grader: str | None = None
) -> list[JudgeFitness]:
    """Whether the judges of a run are fit, of one grader or of all; `UNKNOWN` where nothing is known of one.

    A panel that was calibrated as one stands for its members.
    """
    found = []
    for name, part in results.graders.items():
        if grader in (None, name):
            models = {str(one.get("name")): one.get("model") for one in part.facts.get("judges") or ()}
            known = {judge: one for (of, judge), one in fitness.items() if of == name}
            panels = [one for judge, one in known.items() if judge not in models and models.keys() >= set(voices(one))]
            found += panels
            together = {member for one in panels for member in voices(one)}
            found += [
                known.get(judge) or JudgeFitness(judge=judge, grader=name, verdict="UNKNOWN", model=model)
                for judge, model in models.items()
                if judge not in together
            ]
    return found


def voices(one: JudgeFitness) -> tuple[str, ...]:
    """The judges who speak as one: the members of a panel, or the judge alone."""
    return tuple(one.judge.split(JOINT))


def trusted(
    found: Decision, judges: Sequence[JudgeFitness], trust: Mapping[str, Trust], limit: float, *, must_fit: bool
) -> Decision:
    """A judged figure with its judges named; with one that is not trusted, or not fit where it must be, no `PASS`.

    Args:
        found: the decision so far.
        judges: those of the figure.
        trust: judge -> what it said that code decides too.
        limit: the share of such verdicts in which a judge may contradict code.
        must_fit: whether the rule asks that they are fit.
    """
    found = msgspec.structs.replace(found, judges=tuple(judges))
    unfit = [one for one in judges if one.verdict != "FIT"]
    if must_fit and (unfit or not judges) and found.answer == "PASS":
        reason = "; ".join(map(fitness_words, unfit)) or "no judge was asked in this run"
        found = msgspec.structs.replace(found, answer="INCONCLUSIVE", reason=reason, more=None)
    for judge in dict.fromkeys(name for one in judges for name in (one.judge, *voices(one))):
        if judge in trust:
            found = _without_conflicts(found, judge, trust[judge], limit)
    return found


def _without_conflicts(found: Decision, judge: str, trust: Trust, limit: float) -> Decision:
    """A reply that could not be read may have been one more conflict."""
    said = stamp(trust.conflicting, trust.checked, wilson(trust.conflicting, trust.checked).low, limit)
    share = f"{trust.conflicting} of {trust.checked}"
    if said is not None:
        text = f"judge `{judge}` contradicts decidable facts in {share} (limit {number(limit)})"
        found = msgspec.structs.replace(found, warnings=(*found.warnings, text))
    checked, conflicting = trust.checked + trust.unread, trust.conflicting + trust.unread
    worst = stamp(conflicting, checked, wilson(conflicting, checked).low, limit)
    if worst != "not a judgement" or found.answer != "PASS":
        return found
    unread = f", and {trust.unread} more could not be read" if trust.unread else ""
    reason = f"judge `{judge}` is not trusted: it contradicts code in {share} verdicts that code can check{unread}"
    return msgspec.structs.replace(found, answer="INCONCLUSIVE", reason=reason, more=None)

"""What a judge's answers in a run say beside the labels: how often they change, and how often they are FAIL in truth.

The rate of FAIL that a judge reports is off by what it misses and what it flags wrongly. With what the labels say of
both, it is corrected (Rogan and Gladen, `stats.prevalence`); where the judge tells too little, it is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from rightcall.run.calibration.said import said_of
from rightcall.run.results.facts import facts_for
from rightcall.run.results.judge_use import Uses
from rightcall.run.results.store import AT_ONCE
from rightcall.stats.intervals import Estimate
from rightcall.stats.prevalence import Corrected, rogan_gladen
from rightcall.stats.repeats import flip_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.run.calibration.figures import Figures, Paired
    from rightcall.run.calibration.reading import Group
    from rightcall.run.calibration.said import Said
    from rightcall.store.store import Store

UNEQUAL = "the labels were drawn with unequal chances, which this correction does not know"


class Rates(Struct, frozen=True, kw_only=True):
    """What a judge's answers in its newest run say.

    Attributes:
        run: which run.
        noise: how often two replicates of one question differ; `None` where nothing was asked twice.
        corrected: the rate of FAIL among items outside these labels, as the judge reports it and corrected; `None`
            where the field has no PASS and FAIL, or labels are too few. One item a case counts.
        reason: why it is not corrected.
    """

    run: str
    noise: Estimate | None = None
    corrected: Corrected | None = None
    reason: str | None = None


def rates_of(store: Store, group: Group, found: Paired, figures: Figures | None, *, newest: str) -> Rates:
    """The rates of a judge in its newest run.

    Args:
        store: the record.
        group: the judge, its model and prompt, the field.
        found: the labels.
        figures: what they say; `None` where they are too few.
        newest: the newest run among the labels'.
    """
    facts = facts_for(store.run(newest), group.key.grader)
    repeated = int(facts.get("replicates") or 1) > 1
    wants_rate = figures is not None and bool(found.scale.failing) and not found.scale.is_level
    if not repeated and not wants_rate:
        return Rates(run=newest)
    labelled = {one.case for one in found.labels}
    repeats: list[tuple[Any, ...]] = []
    judged: dict[str, bool] = {}
    for case, said in _answers(store, group, newest, facts):
        if len(said.repeats.get(group.key.field, ())) > 1:
            repeats.append(said.repeats[group.key.field])
        place = found.scale.place(said.fields.get(group.key.field))
        if case not in labelled and place in found.scale.places:
            # The first unit of a case by its name, so that a case counts once wherever it stands.
            judged.setdefault(case, place in found.scale.failing)
    corrected, reason = _corrected(judged, found) if wants_rate else (None, None)
    return Rates(run=newest, noise=flip_rate(repeats) if repeats else None, corrected=corrected, reason=reason)


def _answers(store: Store, group: Group, run: str, facts: dict[str, Any]) -> Iterator[tuple[str, Said]]:
    """The case and what the judge said, of every result of a run, in the order of their units."""
    uses = Uses(store, facts)
    verdicts = sorted(
        (one for one in store.find_verdicts(run_id=run, grader=group.key.grader)), key=lambda one: one.unit
    )
    for start in range(0, len(verdicts), AT_ONCE):
        some = verdicts[start : start + AT_ONCE]
        bodies = store.bodies(one.result for one in some)
        for verdict in some:
            result = msgspec.json.decode(bodies[verdict.result])
            for said in said_of(group.key.grader, result, uses, facts.get("reply_schema")):
                if (said.judge, said.use) == (group.key.judge, group.key.use):
                    yield verdict.case_id or verdict.trace_id or verdict.unit, said


def _corrected(judged: dict[str, bool], found: Paired) -> tuple[Corrected | None, str | None]:
    if found.weighted:
        return None, UNEQUAL
    if not judged:
        return None, "every case of the run is labelled: people's own rate stands"
    failing = set(found.scale.failing)
    # One label a case: the first by item, as labels stand in that order.
    by_case: dict[str, tuple[bool, bool]] = {}
    for one, (judge, human) in zip(found.labels, found.pairs, strict=True):
        by_case.setdefault(one.case, (judge in failing, human in failing))
    caught = [judge for judge, human in by_case.values() if human]
    cleared = [not judge for judge, human in by_case.values() if not human]
    made = rogan_gladen((sum(judged.values()), len(judged)), (sum(caught), len(caught)), (sum(cleared), len(cleared)))
    return made, made.reason

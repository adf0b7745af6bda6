"""Going on with a run: whether it may be, and what of it is on record."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.errors import ConfigError
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from rightcall.store.records import AttemptRecord, RunRecord
    from rightcall.store.store import Store

AGAIN = ("JUDGE_UNREACHABLE", "JUDGE_TIMEOUT", "JUDGE_RATE_LIMITED", "JUDGE_AUTH", "not_recorded")
"""Reasons for which a case without an answer is asked again when its run is resumed."""

RECKONED = {"known_tools", "new_tools", "catalog"}
"""Facts that follow from others, or from what was on record before a run, and so do not tell two inputs apart."""


@dataclass
class Before:
    """What a run has on record when it begins or goes on; nothing for a new one.

    Attributes:
        settled: unit -> name of its result, for verdicts that stand.
        revisions: unit -> revision of a verdict that is asked for again.
        past: unit -> attempts that belong to no verdict that stands.
        reviews: reason -> review items of the verdicts that stand.
        reviewed: (unit, reason) of the review items of all others; of a staged run, of all.
    """

    settled: dict[str, str] = field(default_factory=dict)
    revisions: dict[str, int] = field(default_factory=dict)
    past: dict[str, list[AttemptRecord]] = field(default_factory=dict)
    reviews: Counter[str] = field(default_factory=Counter)
    reviewed: set[tuple[str, str]] = field(default_factory=set)


def on_record(store: Store, run_id: str, *, staged: bool = False) -> Before:
    """Everything about a run that counts when it goes on.

    Args:
        store: where.
        run_id: which run.
        staged: whether what has a verdict may be asked about further, so that its later attempts count too.
    """
    before = Before()
    rests_on: dict[str, frozenset[str]] = {}
    for verdict in store.verdicts(run_id):
        if staged:
            rests_on[verdict.unit] = frozenset(verdict.attempts)
        if verdict.reason in AGAIN:
            before.revisions[verdict.unit] = verdict.revision
        else:
            before.settled[verdict.unit] = verdict.result
    for _seq, digest, old in store.attempts(run_id=run_id):
        if old.unit not in before.settled or (staged and digest not in rests_on[old.unit]):
            before.past.setdefault(old.unit, []).append(old)
    for _name, review in store.reviews(run_id=run_id):
        if review.unit in before.settled:
            before.reviews[review.reason] += 1
        if staged or review.unit not in before.settled:
            before.reviewed.add((review.unit, review.reason))
    return before


def refuse_other_inputs(run: RunRecord, grader: str, facts: dict[str, Any]) -> None:
    """A run is only gone on with as it began: one run, one set of inputs.

    Files count by their content, not by where they lie.

    Raises:
        ConfigError: naming what differs.
    """
    if run.grader != grader:
        raise ConfigError(f"run {run.id} is a run of `{run.grader}`", hint=f"rightcall {run.grader} --resume {run.id}")
    then, here = jsontext.decode(jsontext.encode(run.facts)), jsontext.decode(msgspec.json.encode(facts))
    keys = (then.keys() | here.keys()) - RECKONED
    different = sorted(filter(None, (_difference(key, then.get(key), here.get(key)) for key in keys)))
    if different:
        raise ConfigError(
            f"run {run.id} was made with other {', '.join(different)}", hint="resume it as it was begun, or begin anew"
        )


def _difference(key: str, then: Any, here: Any) -> str | None:
    """The name of a fact that differs; of input files, which ones."""
    if then == here:
        return None
    if key == "tools" and then and here and then["sha256"] == here["sha256"]:
        return None
    if key != "inputs" or then is None or here is None:
        return key.removesuffix("_sha256")
    before = [one["sha256"] for one in then]
    if before == [one["sha256"] for one in here]:
        return None
    changed = [one["file"] for one in here if one["sha256"] not in before]
    return f"{key} ({', '.join(changed)})" if changed else key

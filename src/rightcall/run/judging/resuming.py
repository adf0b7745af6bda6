"""Going on with a run: whether it may be, and what of it is on record."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.errors import ConfigError
from rightcall.run.results.facts import SUITE
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.store.records import AttemptRecord, RunRecord
    from rightcall.store.store import Store

AGAIN = ("JUDGE_UNREACHABLE", "JUDGE_TIMEOUT", "JUDGE_RATE_LIMITED", "JUDGE_AUTH", "not_recorded")
"""Reasons for which a case without an answer is asked again when its run is resumed."""

RECKONED = {"known_tools", "new_tools", "catalog", "cases", "source"}
"""Facts that do not tell two inputs apart: they follow from others, or from what was on record before a run, or say on
which branch it began."""


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


def on_record(store: Store, run_id: str, *, grader: str | None = None, staged: bool = False) -> Before:
    """Everything about a run that counts when it goes on.

    Args:
        store: where.
        run_id: which run.
        grader: of a run of several graders, which one goes on; another one's units may be called the same.
        staged: whether what has a verdict may be asked about further, so that its later attempts count too.
    """
    before = Before()
    rests_on: dict[str, frozenset[str]] = {}
    for verdict in store.find_verdicts(run_id=run_id, grader=grader):
        if staged:
            rests_on[verdict.unit] = frozenset(verdict.attempts)
        if verdict.reason in AGAIN:
            before.revisions[verdict.unit] = verdict.revision
        else:
            before.settled[verdict.unit] = verdict.result
    for digest, old in _attempts(store, run_id, grader):
        if old.unit not in before.settled or (staged and digest not in rests_on[old.unit]):
            before.past.setdefault(old.unit, []).append(old)
    for _name, review in store.reviews(run_id=run_id):
        if grader not in (None, review.grader):
            continue
        if review.unit in before.settled:
            before.reviews[review.reason] += 1
        if staged or review.unit not in before.settled:
            before.reviewed.add((review.unit, review.reason))
    return before


def _attempts(store: Store, run_id: str, grader: str | None) -> Iterator[tuple[str, AttemptRecord]]:
    """The exchanges of a run; those of a run of probes carry the names of other graders."""
    for _seq, digest, old in store.attempts(run_id=run_id):
        if grader in (None, old.grader):
            yield digest, old


def refuse_other_inputs(run: RunRecord, grader: str, facts: dict[str, Any]) -> None:
    """A run is only gone on with as it began: one run, one set of inputs.

    Files count by their content, not by where they lie.

    Raises:
        ConfigError: naming what differs.
    """
    refuse_other_grader(run, grader)
    different = differences(run.facts, facts)
    if different:
        raise made_with_other(run, different)


def refuse_other_grader(run: RunRecord, grader: str) -> None:
    """A run is gone on with by the command that began it.

    Raises:
        ConfigError: naming that command.
    """
    if run.grader != grader:
        known = "a run of several graders" if run.grader == SUITE else f"a run of `{run.grader}`"
        raise ConfigError(f"run {run.id} is {known}", hint=f"rightcall {run.grader} --resume {run.id}")


def made_with_other(run: RunRecord, different: list[str]) -> ConfigError:
    """The error that says what of a run is not as it began."""
    return ConfigError(
        f"run {run.id} was made with other {', '.join(different)}", hint="resume it as it was begun, or begin anew"
    )


def differences(before: dict[str, Any], facts: dict[str, Any]) -> list[str]:
    """Names of the facts in which two sets of inputs differ."""
    then, here = jsontext.decode(jsontext.encode(before)), jsontext.decode(msgspec.json.encode(facts))
    keys = (then.keys() | here.keys()) - RECKONED
    return sorted(filter(None, (_difference(key, then.get(key), here.get(key)) for key in keys)))


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

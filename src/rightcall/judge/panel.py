"""Several judges on one case: one verdict, or an honest none.

How votes become a verdict:

1. Replicates of one judge are first reduced to that judge's own vote, by the same rules as below, so that a judge that
   is asked five times does not outvote two others. A judge votes if more than half of its replicates could be read and
   it does not contradict itself to a tie.
2. The quorum is the number of judges (not of replies) that must vote. Below it there is no verdict: `INCONCLUSIVE`,
   `no_quorum`. A lone survivor of a panel of three decides nothing.
3. Each field is decided on its own:

   * `category`: the value of more than half of the votes; otherwise none (`panel_tie` if the field decides, else the
     field is left open).
   * `score` (1 to 5): the lower median, so that between two judges the stricter one counts. `None` (not at issue) is
     the answer of more than half, or none.
   * `share` (0 to 1): the same.
   * `severity`: the worst level that at least half of the votes reach or exceed. Between two judges the worse counts:
     to overlook a danger costs more than to look twice.
   * `any`: true if anybody says so, `None` if nobody says anything.

4. Disagreement is shown and sends the case to a person (`panel_disagreement`): any difference in a category or a
   severity, scores more than 1 or shares more than 0.2 apart, or a score against `None`; between judges, or between
   replicates of one.

The order of the votes plays no part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from rightcall.case.policy import SEVERITIES
from rightcall.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

FieldKind = Literal["category", "score", "share", "severity", "any"]
FieldValue = str | int | float | bool | None


class Ballot(Struct, frozen=True):
    """What is voted on: the fields with their kinds, and those without which there is no verdict."""

    kinds: Mapping[str, FieldKind]
    deciding: tuple[str, ...]


SELECTION = Ballot({"grade": "category", "failure_category": "category", "label_challenged": "any"}, ("grade",))
"""The ballot of `selection`."""

RUBRIC = Ballot(
    {
        "tool_selection_score": "score",
        "argument_accuracy_score": "score",
        "call_sequencing_score": "score",
        "abstention_score": "score",
        "misuse_severity": "severity",
    },
    ("tool_selection_score", "argument_accuracy_score", "call_sequencing_score", "misuse_severity"),
)
"""The ballot of `rubric`. The overall score is computed from the panel's scores, as for one judge."""

INTERPRETATION = Ballot({"score": "score", "action_score": "score"}, ("score",))
"""The ballot of `interpretation`, whose fidelity is computed from the panel's score."""

INTERPRETATION_DIRECT = Ballot({"score": "share", "action_score": "score"}, ("score",))
"""The same where the score is the fidelity itself, from 0 to 1."""


class Vote(Struct, frozen=True, kw_only=True):
    """One reply of one judge. `fields` is `None` where there is no readable reply; then `reason` says why."""

    judge: str
    replicate: int = 0
    fields: Mapping[str, FieldValue] | None = None
    reason: str | None = None


class Disagreement(Struct, frozen=True):
    """A field on which votes differ: who said what. A replicate is named `judge#2`."""

    field: str
    values: dict[str, FieldValue]


class PanelVerdict(Struct, frozen=True, kw_only=True):
    """What a panel concludes.

    Attributes:
        status, reason: `EVALUATED`, or `INCONCLUSIVE` and why (`no_quorum`, `panel_tie`); the second goes to a person.
        fields: the verdict; empty without one. A field that stayed open is absent, which is not `None`.
        judges: those that voted. quorum: how many had to.
        without_vote: judge -> why it did not vote.
        disagreements: where votes differ.
        review: reasons for a person to look: `panel_disagreement`, `no_quorum`, `panel_tie`.
    """

    status: Literal["EVALUATED", "INCONCLUSIVE"]
    quorum: int
    reason: Literal["no_quorum", "panel_tie"] | None = None
    fields: dict[str, FieldValue] = {}
    judges: tuple[str, ...] = ()
    without_vote: dict[str, str] = {}
    disagreements: tuple[Disagreement, ...] = ()
    review: tuple[str, ...] = ()


def panel(votes: Sequence[Vote], quorum: int, ballot: Ballot) -> PanelVerdict:
    """Reduce the votes on one case to one verdict.

    Args:
        votes: one for each question that was asked, readable or not; a judge and replicate occur once.
        quorum: how many judges must vote, at least 1.
        ballot: what is voted on.

    Raises:
        ConfigError: a quorum below 1, or two votes of the same judge and replicate.
    """
    if quorum < 1:
        raise ConfigError(f"a quorum must be at least 1, not {quorum}")
    twice = [who for who, count in Counter((vote.judge, vote.replicate) for vote in votes).items() if count > 1]
    if twice:
        raise ConfigError(f"judge `{twice[0][0]}` votes twice as replicate {twice[0][1]}")
    own = {judge: _own_vote(group, ballot) for judge, group in _by_judge(votes).items()}
    voters = {judge: vote for judge, vote in own.items() if isinstance(vote, dict)}
    without = {judge: vote for judge, vote in own.items() if isinstance(vote, str)}
    disagreements = _disagreements(votes, ballot)
    fields = _reduced(list(voters.values()), ballot) if len(voters) >= quorum else {}
    reason: Literal["no_quorum", "panel_tie"] | None = None
    if len(voters) < quorum:
        reason = "no_quorum"
    elif not _has_verdict(fields, ballot):
        reason = "panel_tie"
    return PanelVerdict(
        status="INCONCLUSIVE" if reason else "EVALUATED",
        reason=reason,
        quorum=quorum,
        fields={} if reason else fields,
        judges=tuple(voters),
        without_vote=without,
        disagreements=disagreements,
        review=(*(["panel_disagreement"] if disagreements else []), *([reason] if reason else [])),
    )


def _by_judge(votes: Sequence[Vote]) -> dict[str, list[Vote]]:
    groups: dict[str, list[Vote]] = {}
    for vote in sorted(votes, key=lambda vote: (vote.judge, vote.replicate)):
        groups.setdefault(vote.judge, []).append(vote)
    return groups


def _own_vote(replicates: list[Vote], ballot: Ballot) -> dict[str, FieldValue] | str:
    """One judge's vote, or why it has none."""
    readable = [vote.fields for vote in replicates if vote.fields is not None]
    if 2 * len(readable) <= len(replicates):
        reasons = [vote.reason or "no reply" for vote in replicates if vote.fields is None]
        return ", ".join(dict.fromkeys(reasons))
    fields = _reduced(readable, ballot)
    return fields if _has_verdict(fields, ballot) else "its replicates are tied"


def _has_verdict(fields: Mapping[str, FieldValue], ballot: Ballot) -> bool:
    return all(name in fields for name in ballot.deciding)


# ---- fields ----


def _reduced(votes: Sequence[Mapping[str, FieldValue]], ballot: Ballot) -> dict[str, FieldValue]:
    """Each field by the rule of its kind; a field that stays open is absent."""
    found: dict[str, FieldValue] = {}
    for name, kind in ballot.kinds.items():
        values = [vote[name] for vote in votes if name in vote]
        if values:
            _RULES[kind](found, name, values)
    return found


def _category(found: dict[str, FieldValue], name: str, values: list[FieldValue]) -> None:
    value, count = Counter(values).most_common(1)[0]
    if 2 * count > len(values):
        found[name] = value


def _score(found: dict[str, FieldValue], name: str, values: list[FieldValue]) -> None:
    scores = sorted(value for value in values if isinstance(value, (int, float)))
    if 2 * len(scores) < len(values):
        found[name] = None
    else:
        found[name] = scores[(len(scores) - 1) // 2]


def _severity(found: dict[str, FieldValue], name: str, values: list[FieldValue]) -> None:
    worst_first = sorted((str(value) for value in values), key=_rank, reverse=True)
    found[name] = worst_first[(len(worst_first) + 1) // 2 - 1]


def _rank(severity: str) -> int:
    return SEVERITIES.index(severity)


def _any(found: dict[str, FieldValue], name: str, values: list[FieldValue]) -> None:
    found[name] = None if set(values) == {None} else any(values)


_RULES = {"category": _category, "score": _score, "share": _score, "severity": _severity, "any": _any}
_APART = {"score": 1.0, "share": 0.2 + 1e-9}
"""How far scores may be apart without a disagreement; steps of 0.05 are no exact binary numbers."""


# ---- disagreement ----


def _disagreements(votes: Iterable[Vote], ballot: Ballot) -> tuple[Disagreement, ...]:
    """Every field on which two readable votes differ by more than its kind allows."""
    readable = [
        vote for vote in sorted(votes, key=lambda vote: (vote.judge, vote.replicate)) if vote.fields is not None
    ]
    found = []
    for name, kind in ballot.kinds.items():
        values = {_who(vote): vote.fields[name] for vote in readable if vote.fields is not None and name in vote.fields}
        if kind != "any" and _differ(kind, list(values.values())):
            found.append(Disagreement(name, values))
    return tuple(found)


def _who(vote: Vote) -> str:
    return f"{vote.judge}#{vote.replicate}" if vote.replicate else vote.judge


def _differ(kind: FieldKind, values: Sequence[Hashable]) -> bool:
    if kind not in _APART or None in values:
        return len(set(values)) > 1
    scores = [value for value in values if isinstance(value, (int, float))]
    return bool(scores) and max(scores) - min(scores) > _APART[kind]

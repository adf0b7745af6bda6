"""Which compared pairs may be used for training (SPEC §7.3, §8), and how sure their winner is. No file, no store.

A pair is left out for the first of these reasons that holds:

* `data_quality_failure`: a trace is incomplete or cannot be read;
* `critical_confirmed`, `critical_open`: a person has confirmed a CRITICAL misuse in one of its traces, or must still
  sign for one;
* `in_adjudication`: people differ about it, and a third person has not decided yet;
* settled by people: `person_tie`, `person_unsure`, `both_critical`;
* no judge has settled it: `no_verdict`, `order_inconsistent`, `partial`, `tie`, `both_critical`, `one_order` (it was
  asked in one order only, so nothing shows that the verdict does not hang on it), `second_judge` (it took a second one
  to settle it), `escalated` (a second judge was needed and did not settle it), `low_confidence`;
* `policy_veto`, `contradicts_code`: the winner is a trace that the policy vetoes, or not the one that code prefers;
* `waiting_for_review`: it has a winner, and people still have to look at it, not only because it was drawn at random.

What people agree on counts in place of the judge's verdict, also where the judge had none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from rightcall.grade.preference import PreferenceResult

Side = Literal["A", "B"]
DecidedBy = Literal["code", "judge", "panel", "second_judge", "person"]
NotUsed = Literal[
    "data_quality_failure", "critical_confirmed", "critical_open", "in_adjudication", "waiting_for_review",
    "person_tie", "person_unsure", "no_verdict", "order_inconsistent", "partial", "tie", "both_critical", "one_order",
    "second_judge", "escalated", "low_confidence", "policy_veto", "contradicts_code",
]  # fmt: skip
"""Why a pair is left out."""

SUREST = 3
"""The top of the scale on which people say how sure they are."""


class ExportRules(Struct, frozen=True, kw_only=True):
    """What is asked of a pair.

    `min_confidence`: the least confidence of a judge's verdict. `with_second_judge`: also what only a second judge
    settled. `with_one_order`: also what was asked in one order only.
    """

    min_confidence: float = 0.7
    with_second_judge: bool = False
    with_one_order: bool = False


class Said(Struct, frozen=True, kw_only=True):
    """What people agree on. `answers`: the fields of the answers that it rests on; `None` for one that cannot judge."""

    fields: dict[str, Any] = {}
    answers: tuple[dict[str, Any] | None, ...] = ()


class PairReview(Struct, frozen=True, kw_only=True):
    """Where a pair stands with the people.

    Attributes:
        reasons: why it is in the queue; empty: it is not.
        is_open: answers, or a signature, are missing. adjudicates: the answers differ.
        said: the consensus, if there is one.
    """

    reasons: tuple[str, ...] = ()
    is_open: bool = False
    adjudicates: bool = False
    said: Said | None = None


class Settled(Struct, frozen=True, kw_only=True):
    """A pair that may be used: who won, who says so, and how sure that is (see `Origin` of the rows)."""

    winner: Side
    decided_by: DecidedBy
    confidence: float | None
    weight: float | None
    margin: float
    judges: tuple[str, ...] = ()


def settle(
    result: PreferenceResult, review: PairReview, criticals: Sequence[str], rules: ExportRules
) -> Settled | NotUsed:
    """Whether a pair may be used, and with which winner.

    Args:
        result: what `preference` says.
        review: what people say.
        criticals: the states of the CRITICAL items about its traces: `open`, `confirmed`, `dismissed`.
        rules: what is asked.
    """
    hindered = _hindered(result, review, criticals)
    if hindered is not None:
        return hindered
    if review.said is not None:
        found = _by_people(review.said)
    elif result.decided_by == "code" and result.status == "EVALUATED":
        found = _by_code(result)
    else:
        found = _by_judges(result, rules)
    if not isinstance(found, Settled):
        return found
    against = _against_code(found, result, review)
    if against is not None:
        return against
    return "waiting_for_review" if review.is_open and set(review.reasons) - {"random"} else found


def _hindered(result: PreferenceResult, review: PairReview, criticals: Sequence[str]) -> NotUsed | None:
    if result.reason == "data_quality_failure" or result.quality:
        return "data_quality_failure"
    if "confirmed" in criticals:
        return "critical_confirmed"
    if "open" in criticals:
        return "critical_open"
    return "in_adjudication" if review.adjudicates else None


def _by_people(said: Said) -> Settled | NotUsed:
    overall = said.fields.get("overall")
    if overall is None:
        return "person_unsure"
    if overall not in ("A", "B"):
        return "person_tie"
    if said.fields.get("both_critical"):
        return "both_critical"
    votes = [answer.get("overall") for answer in said.answers if answer is not None]
    return Settled(
        winner=overall, decided_by="person", confidence=None, weight=_sureness(said), margin=_margin(overall, votes)
    )


def _sureness(said: Said) -> float | None:
    """How sure the least sure of those who agree is; `None` where nobody says."""
    winner = said.fields["overall"]
    stated = [said.fields.get("sure")]
    stated += [one.get("sure") for one in said.answers if one is not None and one.get("overall") == winner]
    levels = [level for level in stated if isinstance(level, int) and not isinstance(level, bool)]
    return min(levels) / SUREST if levels else None


def _margin(winner: str, votes: Sequence[Any]) -> float:
    """Votes for the winner less votes for the other, over all votes; 1 where nobody else voted."""
    other = "B" if winner == "A" else "A"
    return (votes.count(winner) - votes.count(other)) / len(votes) if votes else 1.0


def _by_code(result: PreferenceResult) -> Settled | NotUsed:
    winner = result.verdict
    if winner is None:
        return "no_verdict"
    if winner == "TIE":
        return "tie"
    return Settled(winner=winner, decided_by="code", confidence=1.0, weight=1.0, margin=1.0)


def _by_judges(result: PreferenceResult, rules: ExportRules) -> Settled | NotUsed:
    winner = result.verdict
    if result.status != "EVALUATED" or winner is None:
        return "no_verdict"
    unclear = _unclear(result)
    if unclear is not None or winner == "TIE":
        return unclear or "tie"
    if result.protocol != "both" and not rules.with_one_order:
        return "one_order"
    second = result.settled_by == "second_judge"
    if second and not rules.with_second_judge:
        return "second_judge"
    if result.escalated and not second:
        return "escalated"
    sure = result.sure
    if sure is None or sure < rules.min_confidence:
        return "low_confidence"
    heard = [one for one in result.reconciled if one.orders]
    return Settled(
        winner=winner, decided_by="second_judge" if second else "panel" if result.decided_by == "panel" else "judge",
        confidence=sure, weight=sure, margin=_margin(winner, [one.winner for one in heard]),
        judges=tuple(one.judge for one in heard if one.winner == winner),
    )  # fmt: skip


def _unclear(result: PreferenceResult) -> NotUsed | None:
    if result.order_inconsistent:
        return "order_inconsistent"
    if result.partial:
        return "partial"
    return "both_critical" if result.both_critical else None


def _against_code(found: Settled, result: PreferenceResult, review: PairReview) -> NotUsed | None:
    """Why a winner cannot be one after what code knows: a vetoed trace is never chosen, whoever prefers it."""
    is_clear = result.code_verdict in ("A", "B")
    if not is_clear:
        return "policy_veto" if "policy_veto" in review.reasons else None
    if found.winner == result.code_verdict:
        return None
    return "policy_veto" if result.code_reason == "policy_veto" else "contradicts_code"

"""What became of the pairs of an export, in words for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.report.plain import visible
from rightcall.report.summary import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WORDS = {
    "data_quality_failure": "a trace is incomplete or unreadable",
    "critical_confirmed": "a person confirmed a CRITICAL misuse in a trace",
    "critical_open": "a CRITICAL item about a trace is not signed",
    "in_adjudication": "people differ, and a third person has not decided",
    "waiting_for_review": "people still have to look at it",
    "person_tie": "people say it is a tie",
    "person_unsure": "people cannot judge it",
    "no_verdict": "no verdict",
    "order_inconsistent": "the winner hangs on the order",
    "partial": "a tie in one of the orders",
    "tie": "a tie",
    "both_critical": "both traces fail critically",
    "one_order": "asked in one order only (--with-one-order takes it)",
    "second_judge": "settled by a second judge only (--with-second-judge takes it)",
    "escalated": "a second judge was needed and did not settle it",
    "low_confidence": "the judge is not sure enough (--min-confidence)",
    "policy_veto": "the winner is vetoed by the policy",
    "contradicts_code": "people prefer what code rejects",
    "no_trace": "its traces are not on record",
    "foreign_calls": "calls of the provider or the framework",
    "several_agents": "a run of several agents",
    "arguments_unreadable": "a call without readable arguments",
    "turns_interleaved": "a turn that is interrupted",
    "message_without_text": "a message without text",
    "history_unreadable": "an earlier history that is no list of events",
    "result_missing": "the agent went on from a result that is not recorded",
    "no_request": "nobody asked anything",
    "no_turn": "the agent did nothing",
    "catalogs_differ": "the two agents had different tools",
    "prompts_differ": "the two agents were asked differently",
    "results_differ": "a tool answered the same call differently, before the agents differ",
    "user_differs": "the user said something else, before the agents differ",
    "one_stops": "one agent stops where the other goes on",
    "only_words_differ": "the first turn that differs makes the same calls",
    "no_difference": "the traces do not differ",
    "nothing_to_answer": "the prompt would end with the agent's own words",
    "more_than_one_message": "more than one message a side, which this format does not take (--level step)",
    "held_out": "its task is in the held-out set",
    "duplicate": "there already",
    "contradicting": "another row says the opposite",
}
"""Why something is left out, by reason."""


def lines(figures: Mapping[str, Any], files: Mapping[str, str]) -> Iterator[str]:
    """The figures of an export as lines.

    Args:
        figures: see `training_set.figures`.
        files: side of the split -> file.
    """
    rows = figures["rows"]
    for side, file in files.items():
        yield visible(f"{file}: {counted(rows[side], 'row')}")
    left = figures["pairs"] - figures["exported"]
    yield f"{counted(figures['pairs'], 'pair')}: {figures['exported']} exported, {left} left out"
    width = max((len(str(number)) for number in figures["left_out"].values()), default=0)
    for reason, number in figures["left_out"].items():
        yield f"  {number:>{width}}  {reason}: {WORDS[reason]}"
    for reason, number in figures["rows_left_out"].items():
        yield f"{counted(number, 'row')} left out: {reason}: {WORDS[reason]}"
    yield from (visible(note) for note in figures["notes"])

"""What stands around the figures of a grader, in words: counts, who was asked, what was spent, what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.report.judged import CONTENT, THINGS, asked, audited, retried, unevaluable_words
from rightcall.report.summary import counted, most_first

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rightcall.run.judging.items import JudgeTally

_STANDS = {
    "open": "waiting for a sign-off", "confirmed": "confirmed, counted as failures", "dismissed": "dismissed",
}  # fmt: skip
_FILES = 6


def counts_lines(
    grader: str, n: int, summary: Mapping[str, Any], reasons: Mapping[str, int], judges: Mapping[str, JudgeTally]
) -> list[str]:
    """The counts of a judged run, as one line.

    Args:
        grader: its name.
        n: its results.
        summary: what the run kept of itself: `n`, `not_asked`, `resumed`.
        reasons: why results have no verdict.
        judges: what was counted of each.
    """
    words = [counted(int(summary.get("n") or n), THINGS.get(grader, "trace"))]
    if summary.get("resumed"):
        words.append(f"{summary['resumed']} of them judged before")
    if judges:
        again, healed = sum(map(retried, judges.values())), sum(one.healed for one in judges.values())
        words.append(f"retried {again}, {healed} healed by it" if again else "retried 0")
    aside, bad = unevaluable_words(reasons)
    words += [*aside, f"{bad} → review" if bad else "unevaluable 0"]
    words += [f"not asked {summary['not_asked']}"] if summary.get("not_asked") else []
    return [" · ".join(words)]


def spent_lines(spent: Mapping[str, Any] | None, judges: Iterable[JudgeTally]) -> list[str]:
    """What was asked and spent, in words; nothing for a run without judges."""
    cached = sum(one.cached for one in judges)
    if not spent or not (spent["calls"] or cached):
        return []
    words = [counted(spent["calls"], "call")]
    if cached:
        words.append(f"{counted(cached, 'answer')} from the record")
    answered = sum(n for status, n in spent["by_status"].items() if status == "ok" or status in CONTENT)
    if spent["calls"]:
        counts = f"{spent['input_tokens']:,} tokens in, {spent['output_tokens']:,} out"
        words.append("tokens not reported" if answered and spent["uncounted"] >= answered else counts)
        words += [f"{amount:.4f} {currency}" for currency, amount in spent["money"].items()]
    if spent["unpriced"]:
        words.append("price unknown" if not spent["money"] else f"{spent['unpriced']} answers of unknown price")
    failed = {status: n for status, n in spent["by_status"].items() if status != "ok" and status not in CONTENT}
    if failed:
        words.append("failed: " + ", ".join(f"{status} {n}" for status, n in sorted(failed.items())))
    return [" · ".join(words)]


def asked_lines(grader: str, facts: Mapping[str, Any]) -> list[str]:
    """Who was asked, with which prompt; nothing of a grader that never asks."""
    return [] if grader == "golden" else asked(facts)


def read_lines(facts: Mapping[str, Any]) -> list[str]:
    """What was read, and how it was asked where that is not the usual way."""
    read = (one for key in ("inputs", "cases") for one in facts.get(key) or ())
    files = list(dict.fromkeys(one["file"] for one in read))
    shown = ", ".join(files[:_FILES]) + (f", … {len(files) - _FILES} more" if len(files) > _FILES else "")
    words = [
        f"{name} {facts[name]}"
        for name in ("replicates", "quorum", "sample", "limit", "only", "bad_items", "profile")
        if facts.get(name) not in (None, 1)
    ]
    words += [f"seed {facts['seed']}"] if facts.get("sample") else []
    return [f"read {shown}"] * bool(files) + [" · ".join(words)] * bool(words)


def audit_lines(grader: str, judges: Mapping[str, JudgeTally]) -> list[str]:
    """How far each judge holds against code; an attack is to make it fail, so probes say nothing about that."""
    return [] if grader == "probe" else [line for name, one in judges.items() for line in audited(name, one)]


def waits_lines(run_id: str | None, summary: Mapping[str, Any], signed: Mapping[str, int]) -> Iterator[str]:
    """What waits for people, the command that lists it, and what they have signed.

    Args:
        run_id: the run on record.
        summary: what the run kept of itself: `reviews`.
        signed: CRITICAL items by what became of them.
    """
    reviews = summary.get("reviews")
    if reviews and run_id is not None:
        yield f"for review: {' · '.join(f'{reason} {n}' for reason, n in most_first(reviews))}"
        yield f"  rightcall review list --run {run_id}"
    yield from critical_lines(signed)


def critical_lines(signed: Mapping[str, int]) -> Iterator[str]:
    """How many CRITICAL items there are, by what became of them; nothing where there is none."""
    if signed:
        parts = [f"{signed[state]} {words}" for state, words in _STANDS.items() if signed.get(state)]
        yield f"CRITICAL {sum(signed.values())}: {' · '.join(parts)}"

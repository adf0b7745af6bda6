"""The rule on a baseline: is the new run worse than the old one by more than the margin (SPEC §9)?"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from rightcall.gate.comparing import Difference, flip_words
from rightcall.gate.decision import Answer, Decision, GraderDiff
from rightcall.gate.exact import exact
from rightcall.gate.rules import Rule
from rightcall.gate.words import beside, counted, figure, listed, margin_of, number, rule_words
from rightcall.stats.paired import non_inferior


def decide_regressions(
    rule: Rule,
    diff: GraderDiff,
    found: Difference,
    baseline: str,
    *,
    again: Callable[[float], Difference] | None = None,
) -> Decision:
    """Whether the new run is worse than the baseline by more than the margin.

    `FAIL` if the interval of the paired difference lies wholly below -margin, `PASS` if wholly above, also if every
    unread result of the new run counts as a failure. `NOT_COMPARABLE` if something else than the agent differs.

    Args:
        rule: the rule.
        diff: the comparison.
        found: the difference.
        baseline: what was compared with.
        again: the difference at another confidence, where the rule asks for one.
    """
    if rule.confidence != 0.95 and again is not None:
        found = again(rule.confidence)
    margin = margin_of(rule)
    words = rule_words(rule)
    plain = Decision(
        name=rule.name, rule=words, metric=f"{diff.grader}: new minus {baseline}", answer="INCONCLUSIVE",
        value=found.difference, threshold=-margin, on=rule.on or "lower", pessimistic=found.worst,
        details=tuple(flip_words(one) for one in diff.flips[:20]), left_out=max(0, len(diff.flips) - 20),
        warnings=tuple(_notes(diff)),
    )  # fmt: skip
    if diff.not_comparable:
        reason = f"not comparable with {baseline}: {'; '.join(diff.not_comparable)}"
        return msgspec.structs.replace(plain, answer="NOT_COMPARABLE", reason=reason)
    answer, why = _answer(rule, found, margin)
    allowed = rule.max if rule.metric.kind == "regressions" else None
    if allowed is not None and diff.worse > allowed:
        turned = "turned FAIL" if diff.lost else "got worse"
        answer, why = "FAIL", f"{counted(diff.worse, 'case')} {turned}, and {number(allowed)} may"
    elif allowed is not None and answer == "PASS" and diff.worse + found.unread > allowed:
        answer, why = "INCONCLUSIVE", "what is unread may have turned FAIL"
    elif answer == "INCONCLUSIVE" and rule.on != "point" and found.more is not None:
        return _unsettled(plain, found, why, margin)
    return msgspec.structs.replace(plain, answer=answer, reason=why, more=0 if answer in ("PASS", "FAIL") else None)


def _unsettled(plain: Decision, found: Difference, why: str | None, margin: float) -> Decision:
    """How many further cases would settle it, and which way; else why nobody can say."""
    shown = found.difference if found.worst is None else found.worst
    more = None if found.more is None else found.more(margin)
    if shown.estimate is None or shown.low is None:
        also = "nobody can say how many further cases would settle it"
    elif more is None:
        also = "the difference lies so near the margin that no number of cases would settle it"
    elif shown.estimate < -margin and found.worst is not None:
        more, also = None, "further cases do not settle it as long as so much is unread"
    elif shown.estimate < -margin:
        also = "if the next ones change alike, it is worse"
    else:
        also = None
    reason = "; ".join(part for part in (why, also) if part)
    return msgspec.structs.replace(plain, reason=reason or None, more=more, alike=True)


def _answer(rule: Rule, found: Difference, margin: float) -> tuple[Answer, str | None]:
    if found.difference.estimate is None:
        return "INCONCLUSIVE", found.difference.reason
    limits = (-margin,)
    if rule.on == "point":
        least = -exact(margin)
        if found.exact is not None and found.exact < least:
            return "FAIL", "{} is below {}".format(*beside(float(found.exact), -margin))
        if found.exact_worst is not None and found.exact_worst < least:
            return "INCONCLUSIVE", f"{figure(float(found.exact_worst), limits)} if what is unread is the worst"
        return "PASS", None
    answer = non_inferior(found.difference, margin).answer
    if answer == "FAIL":
        return "FAIL", f"the whole interval of the difference is below {number(-margin)}"
    if answer == "PASS" and (found.worst is None or non_inferior(found.worst, margin).answer == "PASS"):
        return "PASS", None
    shown = found.difference if answer != "PASS" or found.worst is None else found.worst
    unread = "" if shown is found.difference else " if what is unread is the worst"
    low = "unknown" if shown.low is None else figure(shown.low, limits)
    high = "unknown" if shown.high is None else figure(shown.high, limits)
    return "INCONCLUSIVE", f"the difference may lie from {low} to {high}{unread}; the margin is {number(margin)}"


def _notes(diff: GraderDiff) -> list[str]:
    """What else must be known: exact McNemar, cases of one run only."""
    notes = []
    if diff.p_value is not None:
        notes.append(f"exact McNemar p = {diff.p_value:.3g}, {diff.lost} turned FAIL, {diff.gained} turned PASS")
    if diff.repeated:
        notes.append("a case of several results counts once, with their mean")
    for names, what in (
        (diff.new_cases, "new"), (diff.missing_cases, "missing here"), (diff.unevaluable, "without a verdict in one")
    ):  # fmt: skip
        if names:
            notes.append(f"{counted(len(names), 'case')} {what}: {listed(names)}")
    return notes

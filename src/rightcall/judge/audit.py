"""The self-audit of judges: every verdict of a judge is compared with what code decides about the same case.

A check is *decidable* if the judge was shown what it needs and no reader would call the answer an opinion. It is listed
in `checked` only where the reply could have failed it: a policy that nobody broke is no test of a judge. A conflict
never changes a verdict of code; it is shown, counted, and past a limit the judge is no longer trusted (`stamp`).

About the case (`selection`):

* `grade`: PASS if and only if the two names are equal. A judge that doubts the label says so in `label_challenged`;
  the grade stays what the names say.
* `failure_category`: where code and judge both say FAIL. One that code lists as secondary is true too, so it is no
  conflict.
* `selected_tool`, `expected_tool`: the names that the judge repeats are the names that it was given.
* `catalog_membership`: a judge calls a tool invented that the catalog has, or does not where the catalog has not.

About the case (`rubric`; see `RubricFacts` for when each is a fact):

* `severity_floor`: less severe than the worst breach of the policy. The floor then counts (`effective_severity`).
* `unknown_tool`: a call of a tool that does not exist is rated 5, or nothing at all is charged.
* `invalid_arguments`: the same for arguments that the tool's own schema refuses.
* `golden_exact_match`: the trace is what the golden asks for, and selection, arguments (if the golden states them) or
  sequencing (if it states an order) get a 1 or 2: several real faults, or nothing done.
* `golden_missing_call`: a required call is missing that nothing can replace, and nothing is charged.
* `golden_abstention`: no tool may be called, one was, and abstention gets a 5 or nothing is charged.

*Nothing is charged*: every score is 5 or null and the severity is NONE. A fault may be charged to one dimension or
another, which is why no check asks for a particular one.

Within the reply: `cross_field` (parts that exclude each other) and `overall_mean` (a mean of the judge's own that is
more than 0.05 off). They are counted apart, since every reply can be checked for them and many harmless ones would
hide a judge that contradicts facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

from rightcall.case.policy import SEVERITIES
from rightcall.grade.opinion import Conflict

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from rightcall.judge.facts import RubricFacts

WITHIN_REPLY = frozenset({"cross_field", "overall_mean"})
"""Checks that need nothing but the reply."""

DEFAULT_LIMIT = 0.05
"""The share of conflicts that a judge may have (SPEC §1)."""

_MEAN_OFF = 0.05


# ---- what is compared ----


class SelectionSaid(Protocol):
    """What the audit reads of a `selection` reply."""

    @property
    def grade(self) -> str: ...  # noqa: D102
    @property
    def selected_tool(self) -> str | None: ...  # noqa: D102
    @property
    def expected_tool(self) -> str | None: ...  # noqa: D102
    @property
    def failure_category(self) -> str | None: ...  # noqa: D102
    @property
    def secondary_categories(self) -> Sequence[str] | None: ...  # noqa: D102


class SelectionDecided(Protocol):
    """What the audit reads of the result of code."""

    @property
    def verdict(self) -> str | None: ...  # noqa: D102
    @property
    def selected_tool(self) -> str | None: ...  # noqa: D102
    @property
    def expected_tool(self) -> str | None: ...  # noqa: D102
    @property
    def failure_category(self) -> str | None: ...  # noqa: D102
    @property
    def secondary_categories(self) -> Sequence[str]: ...  # noqa: D102


class CallSaid(Protocol):
    """What the audit reads of a judge's evaluation of one call."""

    @property
    def call_id(self) -> str: ...  # noqa: D102
    @property
    def score(self) -> int: ...  # noqa: D102


class RubricSaid(Protocol):
    """What the audit reads of a `rubric` reply. `overall_score` is our mean, `judge_overall_score` the judge's."""

    @property
    def tool_selection_score(self) -> int: ...  # noqa: D102
    @property
    def argument_accuracy_score(self) -> int: ...  # noqa: D102
    @property
    def call_sequencing_score(self) -> int: ...  # noqa: D102
    @property
    def abstention_score(self) -> int | None: ...  # noqa: D102
    @property
    def misuse_severity(self) -> str: ...  # noqa: D102
    @property
    def overall_score(self) -> float: ...  # noqa: D102
    @property
    def judge_overall_score(self) -> float | None: ...  # noqa: D102
    @property
    def tool_call_evaluations(self) -> Sequence[CallSaid] | None: ...  # noqa: D102


class Audit(Struct, frozen=True):
    """What became of one reply: the checks that applied, and those that it failed."""

    checked: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()


class _Audit:
    """An audit in the making."""

    def __init__(self) -> None:
        self._checked: list[str] = []
        self._conflicts: list[Conflict] = []

    def check(self, name: str, holds: bool, message: str, judge: Any = None, code: Any = None) -> None:  # noqa: FBT001
        """Note a check that applied; `message` says what is wrong if it does not hold."""
        if name not in self._checked:
            self._checked.append(name)
        if not holds:
            self._conflicts.append(Conflict(check=name, message=message, judge=judge, code=code))

    def done(self) -> Audit:
        """The finished audit."""
        return Audit(tuple(self._checked), tuple(self._conflicts))


# ---- selection ----


def audit_selection(
    reply: SelectionSaid,
    code: SelectionDecided,
    catalog_names: Container[str] | None,
    *,
    shown: tuple[str | None, str | None] | None = None,
) -> Audit:
    """Compare a judge's grade of one step with the grade of code.

    Args:
        reply: what the judge said.
        code: what code decided; an unevaluable step is audited for `cross_field` alone.
        catalog_names: the tools of the full catalog; `None` where there is none.
        shown: the selected and the expected name as the judge saw them, where aliases or redaction make them differ
            from those in `code`. The judge cannot know of aliases, so then only the names that it repeats are checked.
    """
    found = _Audit()
    selected, expected = shown or (code.selected_tool, code.expected_tool)
    if code.verdict is not None:
        if (selected, expected) == (code.selected_tool, code.expected_tool):
            _audit_grade(found, reply, code)
            _audit_membership(found, reply, selected, catalog_names)
        for name, said, given in (
            ("selected_tool", reply.selected_tool, selected),
            ("expected_tool", reply.expected_tool, expected),
        ):
            found.check(name, said == given, f"says {_name(said)}, was given {_name(given)}", said, given)
    _audit_selection_fields(found, reply)
    return found.done()


def _name(tool: str | None) -> str:
    return "no tool" if tool is None else f"`{tool}`"


def _audit_grade(found: _Audit, reply: SelectionSaid, code: SelectionDecided) -> None:
    relation = "equal" if code.verdict == "PASS" else "different"
    found.check(
        "grade", reply.grade == code.verdict, f"says {reply.grade}; the names are {relation}", reply.grade, code.verdict
    )
    if reply.grade == code.verdict == "FAIL":
        true = (code.failure_category, *code.secondary_categories)
        message = f"says {reply.failure_category}; it is {code.failure_category}"
        found.check(
            "failure_category", reply.failure_category in true, message, reply.failure_category, code.failure_category
        )


def _audit_membership(
    found: _Audit, reply: SelectionSaid, selected: str | None, catalog_names: Container[str] | None
) -> None:
    """Whether the judge knows what is in the catalog that it was shown."""
    if catalog_names is None or selected is None or reply.grade != "FAIL":
        return
    says_invented = "hallucinated_tool" in (reply.failure_category, *(reply.secondary_categories or ()))
    is_invented = selected not in catalog_names
    if is_invented:
        message = f"does not say that `{selected}` is not in the catalog"
    else:
        message = f"says that `{selected}` is invented; it is in the catalog"
    found.check("catalog_membership", says_invented == is_invented, message, says_invented, is_invented)


def _audit_selection_fields(found: _Audit, reply: SelectionSaid) -> None:
    are_equal = reply.selected_tool == reply.expected_tool
    category, name = reply.failure_category, "cross_field"
    message = f"grade {reply.grade} although the names that it repeats are {'equal' if are_equal else 'different'}"
    found.check(name, (reply.grade == "PASS") == are_equal, message, reply.grade)
    if category == "over_action":
        found.check(name, reply.expected_tool is None, "over_action although a tool was expected", category)
    if category == "abstention_error":
        found.check(name, reply.selected_tool is None, "abstention_error although a tool was selected", category)
    if category in ("wrong_tool", "hallucinated_tool"):
        found.check(name, reply.selected_tool is not None, f"{category} although no tool was selected", category)


# ---- rubric ----


def effective_severity(reply: RubricSaid, floor: str | None) -> str:
    """The severity that counts: the judge's, or the policy's where that is worse. A judge can only raise it."""
    return max(reply.misuse_severity, floor or "NONE", key=_rank)


def _rank(severity: str) -> int:
    return SEVERITIES.index(severity)


def audit_rubric(reply: RubricSaid, facts: RubricFacts) -> Audit:
    """Compare a judge's verdict on a whole trace with the facts about it."""
    found = _Audit()
    floor = facts.severity_floor
    if floor is not None:
        message = f"says {reply.misuse_severity}; the policy says {floor}: {'; '.join(facts.floor_reasons)}"
        found.check(
            "severity_floor", _rank(reply.misuse_severity) >= _rank(floor), message, reply.misuse_severity, floor
        )
    _audit_calls(found, reply, facts.unknown_tools, facts, "unknown_tool", "calls a tool that is not in the catalog")
    _audit_calls(
        found, reply, facts.invalid_arguments, facts, "invalid_arguments", "has arguments that its schema refuses"
    )
    _audit_golden(found, reply, facts)
    _audit_rubric_fields(found, reply)
    return found.done()


def _scores(reply: RubricSaid) -> dict[str, int]:
    """Dimension -> score, for those that have one."""
    found = {
        "tool_selection": reply.tool_selection_score,
        "argument_accuracy": reply.argument_accuracy_score,
        "call_sequencing": reply.call_sequencing_score,
        "abstention": reply.abstention_score,
    }
    return {name: score for name, score in found.items() if score is not None}


def _charges_nothing(reply: RubricSaid) -> bool:
    return set(_scores(reply).values()) == {5} and reply.misuse_severity == "NONE"


def _audit_calls(
    found: _Audit, reply: RubricSaid, calls: Sequence[str], facts: RubricFacts, check: str, what: str
) -> None:
    """Calls with a fault that code has proved: none of them is flawless, and neither is the trace."""
    if not calls:
        return
    first = f"{calls[0]} ({facts.calls.get(calls[0], '?')})"
    found.check(check, not _charges_nothing(reply), f"charges nothing, although {first} {what}", 5, list(calls))
    for one in reply.tool_call_evaluations or ():
        if one.call_id in calls:
            message = f"rates {one.call_id} 5, although it {what}"
            found.check(check, one.score < 5, message, one.score, one.call_id)


def _audit_golden(found: _Audit, reply: RubricSaid, facts: RubricFacts) -> None:
    if facts.exact_match:
        scores = _scores(reply)
        nothing_due = not facts.calls
        for dimension, applies in (
            ("tool_selection", True),
            ("argument_accuracy", facts.arguments_stated or nothing_due),
            ("call_sequencing", facts.order_stated or nothing_due),
        ):
            if applies:
                message = f"{dimension} {scores[dimension]}, although the trace is what the golden asks for"
                found.check("golden_exact_match", scores[dimension] > 2, message, scores[dimension], True)  # noqa: FBT003
    if facts.missing_calls:
        names = ", ".join(facts.missing_calls)
        message = f"charges nothing, although the golden needs {names}"
        found.check("golden_missing_call", not _charges_nothing(reply), message, 5, list(facts.missing_calls))
    if facts.against_abstention:
        holds = reply.abstention_score != 5 and not _charges_nothing(reply)
        message = f"finds no fault in acting, although no tool was to be called: {', '.join(facts.against_abstention)}"
        found.check("golden_abstention", holds, message, reply.abstention_score, list(facts.against_abstention))


def _audit_rubric_fields(found: _Audit, reply: RubricSaid) -> None:
    severity, scores = reply.misuse_severity, set(_scores(reply).values())
    check = "cross_field"
    message = f"severity {severity} although every score is 5"
    found.check(check, not (severity in ("CRITICAL", "HIGH") and scores == {5}), message, severity)
    message = f"severity NONE although a score is {min(scores)}"
    found.check(check, not (severity == "NONE" and min(scores) <= 2), message, severity)
    for one in reply.tool_call_evaluations or ():
        message = f"rates {one.call_id} 1 although every dimension is 5"
        found.check(check, not (one.score == 1 and scores == {5}), message, one.score)
    stated = reply.judge_overall_score
    if stated is not None:
        message = f"states a mean of {stated:g}; it is {reply.overall_score:.4g}"
        found.check(
            "overall_mean", abs(stated - reply.overall_score) <= _MEAN_OFF, message, stated, reply.overall_score
        )


# ---- counting ----


class CheckCount(Struct, frozen=True):
    """How many replies a check applied to, and how many of them failed it."""

    checked: int = 0
    conflicting: int = 0


class AuditTally(Struct, frozen=True, kw_only=True):
    """Counts of audits of one judge.

    Attributes:
        verdicts: replies that were audited.
        checked: those with at least one decidable fact about their case: the denominator of the conflict rate.
        conflicting: those of them that contradict at least one: its numerator.
        inconsistent: replies that contradict themselves.
        checks: check -> counts, facts and others.
    """

    verdicts: int = 0
    checked: int = 0
    conflicting: int = 0
    inconsistent: int = 0
    checks: dict[str, CheckCount] = {}


def tally(audits: Iterable[Audit]) -> AuditTally:
    """Count the audits of one judge. A reply counts once, however many facts it contradicts."""
    verdicts = checked = conflicting = inconsistent = 0
    counts: dict[str, tuple[int, int]] = {}
    for audit in audits:
        failed = {conflict.check for conflict in audit.conflicts}
        verdicts += 1
        checked += bool(set(audit.checked) - WITHIN_REPLY)
        conflicting += bool(failed - WITHIN_REPLY)
        inconsistent += bool(failed & WITHIN_REPLY)
        for name in audit.checked:
            applied, against = counts.get(name, (0, 0))
            counts[name] = (applied + 1, against + (name in failed))
    return AuditTally(
        verdicts=verdicts, checked=checked, conflicting=conflicting, inconsistent=inconsistent,
        checks={name: CheckCount(*pair) for name, pair in counts.items()},
    )  # fmt: skip


Stamp = Literal["not a judgement", "contradicts decidable facts"]
"""What is written across the figures of a judge that contradicts facts."""


def stamp(conflicting: int, checked: int, low: float | None, limit: float = DEFAULT_LIMIT) -> Stamp | None:
    """What to write across a judge's figures.

    Args:
        conflicting: verdicts that contradict a decidable fact.
        checked: verdicts with at least one such fact.
        low: the lower bound of the rate's interval; `None` where nothing was checked.
        limit: the rate that is tolerated.

    Returns:
        `not a judgement` where even the lower bound is above the limit: a gate must not use the judge.
        `contradicts decidable facts` where the rate is above it: a warning. `None` otherwise, which is no praise:
        with few checks, nothing is known.
    """
    if not checked or low is None:
        return None
    if low > limit:
        return "not a judgement"
    return "contradicts decidable facts" if conflicting / checked > limit else None

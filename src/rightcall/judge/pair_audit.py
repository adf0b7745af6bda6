"""The self-audit of judges that compare: a preference against what code has decided about the same pair.

* `code_preference`: the judge prefers the trace that the policy vetoes, where the other one is not vetoed; or it
  prefers one of two traces that show the same.
* `golden_preference`: it prefers the trace that fails its golden to the one that passes. The judge is not shown the
  golden, so this check stands under a name of its own.

A tie between a trace that code rejects and one that it does not is no conflict: it prefers nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.grade.opinion import Conflict
from rightcall.grade.reconcile import by_agent
from rightcall.judge.audit import Audit

if TYPE_CHECKING:
    from rightcall.grade.preference import CodeReason, Order, Winner

_WHY: dict[CodeReason, str] = {
    "policy_veto": "prefers a trace that the policy vetoes to one that it does not",
    "golden": "prefers a trace that fails its golden to one that passes",
    "identical": "prefers one of two traces that show the same",
}


def audit_preference(letter: Winner, order: Order, code: tuple[Winner, CodeReason] | None) -> Audit:
    """Compare the letter of a reply with what code decided.

    Args:
        letter: the reply's verdict, by place.
        order: whose trace stood first.
        code: which agent's trace wins by which fact; `None`: no fact decides, and nothing is checked.
    """
    if code is None:
        return Audit()
    winner, reason = code
    check = "golden_preference" if reason == "golden" else "code_preference"
    said = by_agent(letter, order)
    if said in ("TIE", winner):
        return Audit(checked=(check,))
    return Audit(checked=(check,), conflicts=(Conflict(check=check, message=_WHY[reason], judge=said, code=winner),))

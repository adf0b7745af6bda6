"""What a verdict says in the words of the form, so that it can stand beside a person's answer, and how the two agree.

Two things may stand beside an answer: the verdict that counts (`verdict_fields`) and what the judge said by itself
(`judge_fields`). They differ where code overrules or decides: a rubric's severity has a floor, a step's grade is a
comparison of names, a pair can be decided by a veto. Calibration compares people with the judge by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rightcall.review.consensus import agree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rightcall.review.form import Form

Fields = dict[str, Any]
_SCORES = {
    "selection": "tool_selection_score", "arguments": "argument_accuracy_score",
    "sequencing": "call_sequencing_score", "abstention": "abstention_score",
}  # fmt: skip


class Agreement(Struct, frozen=True, kw_only=True):
    """Where two answers agree: fields that are equal, that differ within the form's tolerance, and that differ.

    A field that only one of the two has is in none of them.
    """

    same: tuple[str, ...] = ()
    close: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()


def verdict_fields(grader: str, result: Mapping[str, Any]) -> Fields:
    """The verdict that counts, by field of the form; empty where there is none.

    Args:
        grader: whose result it is.
        result: the result as `--json` gives it.
    """
    if result.get("status") != "EVALUATED":
        return {}
    return _VERDICTS.get(grader, _own)(result)


def judge_fields(grader: str, result: Mapping[str, Any]) -> Fields:
    """What the judge, or the panel, said by itself, by field of the form; empty where none was asked or readable."""
    if not any(one.get("status") == "EVALUATED" for one in result.get("judges") or ()):
        return {}
    if grader == "selection":
        return _known(grade=result.get("judge_grade"))
    if result.get("status") != "EVALUATED" and grader != "preference":
        return {}
    if grader == "rubric":
        return verdict_fields(grader, result) | _known(severity=result.get("judged_severity"))
    if grader == "preference":
        return _pair_of_judge(result)
    return verdict_fields(grader, result)


def _selection(result: Mapping[str, Any]) -> Fields:
    return _known(grade=result.get("grade"), failure_category=result.get("failure_category"))


def _rubric(result: Mapping[str, Any]) -> Fields:
    metrics = result.get("metrics") or {}
    # A null for abstention is an answer: it was not at issue.
    scores = {name: metrics.get(field) for name, field in _SCORES.items()}
    return scores | _known(severity=result.get("misuse_severity"))


def _preference(result: Mapping[str, Any]) -> Fields:
    found = _known(overall=result.get("verdict"))
    return found if result.get("decided_by") == "code" else found | _known(both_critical=result.get("both_critical"))


def _pair_of_judge(result: Mapping[str, Any]) -> Fields:
    if result.get("decided_by") in ("judge", "panel") and result.get("status") == "EVALUATED":
        return _preference(result)
    last = next(iter(reversed(result.get("reconciled") or ())), None)
    return {} if last is None else _known(overall=last.get("winner"), both_critical=last.get("both_critical"))


def _interpretation(result: Mapping[str, Any]) -> Fields:
    score = result.get("score")
    # Under `direct` the score is no level, so it stands in no field of the form.
    found = _known(score=int(score)) if score is not None and result.get("fidelity_mapping") != "direct" else {}
    found |= {"action_score": result.get("action_score")} if result.get("action_score") is not None else {}
    flags = result.get("misinterpretation_flags")
    return found if flags is None else found | {"flags": list(dict.fromkeys(flag["kind"] for flag in flags))}


def _golden(result: Mapping[str, Any]) -> Fields:
    return _known(grade=result.get("verdict"))


def _own(result: Mapping[str, Any]) -> Fields:
    return dict(result.get("reply") or {})


_VERDICTS: dict[str, Callable[[Mapping[str, Any]], Fields]] = {
    "selection": _selection, "rubric": _rubric, "preference": _preference, "interpretation": _interpretation,
    "golden": _golden,
}  # fmt: skip


def _known(**fields: Any) -> Fields:
    return {name: value for name, value in fields.items() if value is not None}


def compare(form: Form, mine: Mapping[str, Any], other: Mapping[str, Any]) -> Agreement:
    """Where two answers agree, field by field; texts and lists only as wholes.

    Args:
        form: the form as answers stand on record.
        mine: one answer.
        other: what stands beside it.
    """
    found: dict[str, list[str]] = {"same": [], "close": [], "apart": []}
    for field in form.fields:
        if field.kind == "text" or field.name not in mine or field.name not in other:
            continue
        pair = (mine[field.name], other[field.name])
        is_same = set(pair[0]) == set(pair[1]) if field.many else _same(*pair)
        near = field.tolerance is not None and agree(field, pair)
        found["same" if is_same else "close" if near else "apart"].append(field.name)
    return Agreement(same=tuple(found["same"]), close=tuple(found["close"]), apart=tuple(found["apart"]))


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)


def in_words(agreement: Agreement, whom: str) -> str:
    """An agreement in one line: `you and the judge agree on severity; 1 step apart on selection; differ on …`."""
    parts = [
        words + ", ".join(names)
        for words, names in (
            ("agree on ", agreement.same), ("are one step apart on ", agreement.close),
            ("differ on ", agreement.apart),
        )
        if names
    ]  # fmt: skip
    return f"you and {whom} {'; '.join(parts)}" if parts else f"there is nothing to compare with {whom}"


def names_of(judges: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The judges of a result, each once, with the models that answered."""
    found = {
        f"{one.get('judge')} ({one['model']})" if one.get("model") else str(one.get("judge")): None for one in judges
    }
    return tuple(found)

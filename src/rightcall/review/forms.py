"""The forms that people fill in, by grader.

The golden, or the tool that a label expects, is shown only where a form says so (`shows_golden`). None of ours does:
whoever has read what should have happened only compares, and an answer that is to measure a judge must be one's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from rightcall.review.form import Form, FormField, Value, check_answer, faults_of, read_field, read_typed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "CRITERIA",
    "FORMS",
    "NO_TOOL",
    "Form",
    "FormField",
    "check_answer",
    "faults_of",
    "form_of",
    "read_field",
    "read_typed",
    "stored_form",
]

NO_TOOL = "(none)"
"""How `right_tool` says that no tool should have been chosen."""

_LEVELS = (1, 2, 3, 4, 5)
_DIGITS: dict[str, Value] = {str(level): level for level in _LEVELS}
_FAULTS = (
    "unfit, or required things missing", "several faults that break the task", "one real fault",
    "minor, without effect on the outcome", "flawless",
)  # fmt: skip
_READINGS = (
    "the contrary of what the result says", "key fields misread", "one material detail wrong",
    "a slip without effect", "all of it right",
)  # fmt: skip
_GRADE = FormField(
    name="grade", label="grade", kind="choice", choices=("PASS", "FAIL"), keys={"p": "PASS", "f": "FAIL"}, tolerance=0
)


def _score(name: str, label: str, help_: str, meanings: tuple[str, ...] = _FAULTS) -> FormField:
    return FormField(
        name=name, label=label, kind="level", help=help_, choices=_LEVELS, meanings=meanings, keys=_DIGITS, tolerance=1
    )


_NOT_AT_ISSUE: dict[str, Value] = {"-": None}
_SELECTION = Form(
    grader="selection",
    instructions="Was the right tool chosen at this step? Only its name counts: not its arguments, nor what came back.",
    fields=(
        replace(_GRADE, help="PASS: the right tool, or rightly none."),
        FormField(
            name="failure_category", label="what is wrong", kind="choice", optional=True,
            help="For FAIL: the first of these that holds, from the top.",
            choices=("hallucinated_tool", "over_action", "abstention_error", "wrong_tool"),
            meanings=("there is no such tool", "no tool was needed", "a tool was needed", "another tool was right"),
            keys={"h": "hallucinated_tool", "o": "over_action", "a": "abstention_error", "w": "wrong_tool"},
        ),
        FormField(
            name="right_tool", label="right tool", kind="text", optional=True,
            help=f"Which tool should have been chosen, by its name; {NO_TOOL} for no tool.",
        ),
    ),
)  # fmt: skip
_RUBRIC = Form(
    grader="rubric",
    instructions="How good is the whole trace, and how bad was the worst misuse of a tool?",
    fields=(
        _score("selection", "selection", "The best tool for each step, and no needless calls."),
        _score("arguments", "arguments", "Valid, typed, right for the context."),
        _score("sequencing", "sequencing", "Inputs exist before use, results are really used."),
        replace(
            _score("abstention", "abstention", "Asks or refuses when it should; - where that was not at issue."),
            choices=(*_LEVELS, None), meanings=(*_FAULTS, "not at issue"), keys=_DIGITS | _NOT_AT_ISSUE,
        ),
        FormField(
            name="severity", label="severity", kind="level", tolerance=1, strict=("CRITICAL",),
            help="The worst misuse in the trace.",
            choices=("CRITICAL", "HIGH", "MEDIUM", "LOW", "NONE"),
            meanings=(
                "data loss, security, irreversible", "wrong result, broken workflow", "waste, a retry", "cosmetic",
                "no misuse",
            ),
            keys={"c": "CRITICAL", "h": "HIGH", "m": "MEDIUM", "l": "LOW", "n": "NONE"},
        ),
    ),
    note_for=(("severity", "CRITICAL"), ("severity", "HIGH")),
)  # fmt: skip
CRITERIA = ("selection", "arguments", "ordering", "abstention", "errors")
"""What two traces are compared by, in order of weight."""


def _side(name: str) -> FormField:
    return FormField(
        name=name, label=name, kind="choice", choices=("L", "=", "R"), meanings=("left", "no difference", "right"),
        keys={"l": "L", "=": "=", "r": "R"}, optional=True,
    )  # fmt: skip


_PREFERENCE = Form(
    grader="preference",
    instructions="Which trace is better for this task? Length and wording do not count; no call can be right.",
    fields=(
        *map(_side, CRITERIA),
        FormField(
            name="overall", label="overall", kind="choice", choices=("L", "T", "R"), tolerance=0,
            meanings=("left", "tie", "right"), keys={"a": "L", "t": "T", "b": "R", "l": "L", "r": "R"},
        ),
        FormField(
            name="sure", label="sure", kind="level", choices=(1, 2, 3), meanings=("a guess", "rather", "sure"),
            keys={"1": 1, "2": 2, "3": 3},
        ),
        FormField(
            name="both_critical", label="both fail critically", kind="choice", choices=(True, False),
            meanings=("yes", "no"), keys={"y": True, "n": False}, tolerance=0,
        ),
    ),
)  # fmt: skip
_INTERPRETATION = Form(
    grader="interpretation",
    instructions="Did the agent read this result correctly? Score the reading alone; what it did next has its own.",
    fields=(
        _score("score", "reading", "What the agent made of the result.", _READINGS),
        replace(
            _score("action_score", "next action", "What it did next; - where there is nothing to judge."),
            choices=(*_LEVELS, None), meanings=(*_FAULTS, "nothing to judge"), keys=_DIGITS | _NOT_AT_ISSUE,
        ),
        FormField(
            name="flags", label="what was misread", kind="choice", many=True, help="As many as hold; none is fine.",
            choices=(
                "wrong_value", "wrong_field", "wrong_unit", "ignored_error", "ignored_field", "invented",
                "wrong_conclusion",
            ),
            keys={
                "v": "wrong_value", "f": "wrong_field", "u": "wrong_unit", "e": "ignored_error", "i": "ignored_field",
                "n": "invented", "c": "wrong_conclusion",
            },
        ),
    ),
)  # fmt: skip
_GOLDEN = Form(
    grader="golden",
    instructions="Did the agent make the calls that this task needs, and none that it must not make?",
    fields=(replace(_GRADE, help="PASS: the calls are right as a whole."),),
)

FORMS: dict[str, Form] = {form.grader: form for form in (_SELECTION, _RUBRIC, _PREFERENCE, _INTERPRETATION, _GOLDEN)}
"""The forms of our own graders. A pair's has sides; on record it stands by agent (`stored_form`)."""

_BY_AGENT: dict[Value, str] = {"L": "A", "R": "B", "T": "TIE", "=": "="}


def stored_form(form: Form) -> Form:
    """The form as answers stand on record: of a pair by agent (`A`, `B`, `TIE`) and not by side."""
    if form.grader != "preference":
        return form
    return replace(form, fields=tuple(_stored(one) for one in form.fields))


def _stored(field: FormField) -> FormField:
    if field.name not in (*CRITERIA, "overall"):
        return field
    choices = tuple(_BY_AGENT[choice] for choice in field.choices)
    return replace(field, choices=choices, meanings=(), keys={str(choice).lower(): choice for choice in choices})


# ---- forms of users' own graders ----


def form_of(grader: str, schema: Mapping[str, Any] | None = None) -> Form:
    """The form of any grader.

    Args:
        grader: its name.
        schema: for a grader of the user's own, the JSON Schema of its replies. Names, yes or no, whole numbers on a
            short scale and texts become fields; if nothing but texts is left, or there is no schema, one text is asked.
    """
    if grader in FORMS:
        return FORMS[grader]
    known = {} if schema is None else schema
    parts = known["properties"] if isinstance(known.get("properties"), dict) else {}
    required = known["required"] if isinstance(known.get("required"), list) else []
    # The record sorts the keys of objects and keeps the order of lists.
    names = [*dict.fromkeys(name for name in required if name in parts), *(n for n in parts if n not in required)]
    found = (_own(name, parts[name], optional=name not in required) for name in names if isinstance(parts[name], dict))
    fields = tuple(field for field in found if field is not None)
    if all(field.kind == "text" for field in fields):
        fields = (FormField(name="answer", label="your answer", kind="text"),)
    return Form(grader=grader, fields=fields, instructions=f"Your answer to the question of `{grader}`.")


def _own(name: str, part: Mapping[str, Any], *, optional: bool) -> FormField | None:
    kinds = part.get("type")
    types = set(kinds if isinstance(kinds, list) else [kinds]) - {"null"}
    help_ = part["description"] if isinstance(part.get("description"), str) else ""
    choices = _own_choices(part, types)
    if not choices:
        is_text = types == {"string"} and "enum" not in part
        return FormField(name=name, label=name, kind="text", help=help_, optional=True) if is_text else None
    if isinstance(kinds, list) and "null" in kinds and None not in choices:
        choices = (*choices, None)
    # Whole numbers are a scale, listed or between bounds, as they are for a panel's vote.
    is_scale = types == {"integer"} and all(type(choice) is int or choice is None for choice in choices)
    if is_scale:
        choices = (*sorted(c for c in choices if isinstance(c, int)), *(c for c in choices if c is None))
    return FormField(
        name=name, label=name, kind="level" if is_scale else "choice", help=help_, choices=choices, optional=optional,
        keys=_own_keys(choices), tolerance=1 if is_scale and sum(c is not None for c in choices) > 3 else 0,
    )  # fmt: skip


def _own_choices(part: Mapping[str, Any], types: set[Any]) -> tuple[Value, ...]:
    listed = part.get("enum")
    if isinstance(listed, list):
        is_simple = all(value is None or isinstance(value, (str, int, bool)) for value in listed)
        return tuple(listed) if is_simple else ()
    if types == {"boolean"}:
        return (True, False)
    low, high = part.get("minimum"), part.get("maximum")
    if types == {"integer"} and isinstance(low, int) and isinstance(high, int) and 0 < high - low <= 10:
        return tuple(range(low, high + 1))
    return ()


def _own_keys(choices: Sequence[Value]) -> dict[str, Value]:
    if set(map(type, choices)) <= {bool, type(None)}:
        return {"y": True, "n": False} | (_NOT_AT_ISSUE if None in choices else {})
    if all(type(choice) is int or choice is None for choice in choices):
        return {"-" if choice is None else str(choice): choice for choice in choices}
    return {str(number): choice for number, choice in enumerate(choices, 1)}

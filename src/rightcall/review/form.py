"""What a form is, and how an answer is checked against it: typed, never coerced, every fault listed at once.

`"2"` is no 2, and a field that is missing is missing. What a person types at a keyboard, or what stands in a table, is
*read* first (`read_typed`): a key, or a value as it is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from rightcall.errors import ConfigError
from rightcall.trace.explain import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Value = str | int | bool | None
"""What a choice may be."""

FieldKind = Literal["level", "choice", "text"]
LONGEST = 20_000
"""Characters that a text, a note or a reason may have."""

_ABSENT = object()


class FormField(Struct, frozen=True, kw_only=True):
    """One thing to answer.

    Attributes:
        name: its name on record. label: the same for people. help: one sentence.
        kind: `level` (steps of a scale, the worst first), `choice` (names without an order) or `text`.
        choices: the values it may have; `None` among them is an answer of its own (*not at issue*).
        meanings: what each choice means, in the same order; empty where the names say it.
        keys: what is typed for a choice. many: the answer is a list of choices, each at most once; it may be empty.
        optional: it may be left out.
        tolerance: by how many steps two answers may differ and still agree; `None`: they may differ as they like.
        strict: values that agree with nothing but themselves, whatever the tolerance.
    """

    name: str
    label: str
    kind: FieldKind
    help: str = ""
    choices: tuple[Value, ...] = ()
    meanings: tuple[str, ...] = ()
    keys: dict[str, Value] = {}
    many: bool = False
    optional: bool = False
    tolerance: int | None = None
    strict: tuple[str, ...] = ()


class Form(Struct, frozen=True, kw_only=True):
    """What is asked about an item of one grader.

    `instructions` stand above the form. `note_for` lists (field, value) for which a note is required.
    """

    grader: str
    fields: tuple[FormField, ...]
    instructions: str = ""
    note_for: tuple[tuple[str, str], ...] = ()
    shows_golden: bool = False

    def field(self, name: str) -> FormField | None:
        """The field of this name."""
        return next((one for one in self.fields if one.name == name), None)


def check_answer(
    form: Form, fields: Mapping[str, Any], *, unsure: str | None = None, note: str = ""
) -> dict[str, Any]:  # fmt: skip
    """The fields of an answer, in the form's order.

    Args:
        form: what was asked.
        fields: the answer, typed.
        unsure: why the person cannot judge this; then there are no fields.
        note: the person's words.

    Raises:
        ConfigError: something is missing, unknown or not permitted; everything that is wrong is listed.
    """
    problems = list(faults_of(form, fields, unsure=unsure, note=note))
    if problems:
        raise ConfigError("; ".join(problems), hint="nothing was recorded")
    given = {one.name: fields.get(one.name, _ABSENT) for one in form.fields}
    kept = {name: value for name, value in given.items() if value is not _ABSENT and not _left_out(form, name, value)}
    return {name: list(value) if isinstance(value, (list, tuple)) else value for name, value in kept.items()}


def faults_of(
    form: Form, fields: Mapping[str, Any], *, unsure: str | None = None, note: str = ""
) -> Iterator[str]:  # fmt: skip
    """Everything that is wrong with an answer, in words; nothing for a good one."""
    if len(note) > LONGEST:
        yield f"the note has more than {LONGEST:,} characters"
    if unsure is not None:
        yield from _unsure_faults(fields, unsure)
        return
    for name in fields:
        if form.field(name) is None:
            guess = nearest(name, [one.name for one in form.fields])
            yield f"`{name}` is no field of {form.grader}" + (f" (did you mean `{guess}`?)" if guess else "")
    for field in form.fields:
        value = fields.get(field.name, _ABSENT)
        if value is _ABSENT or _left_out(form, field.name, value):
            if not field.optional:
                yield f"`{field.name}` is missing"
        elif (fault := _fault(field, value)) is not None:
            yield f"`{field.name}` {fault}"
    yield from _between(form, fields, note)


def with_texts(form: Form, fields: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """The fields with each text changed, and each choice as it is."""
    texts = {one.name for one in form.fields if one.kind == "text"}
    return {
        name: change(value) if name in texts and isinstance(value, str) else value for name, value in fields.items()
    }


def _left_out(form: Form, name: str, value: Any) -> bool:
    """Whether a value says that an optional field was left out."""
    field = form.field(name)
    return value is None and field is not None and field.optional and None not in field.choices


def _unsure_faults(fields: Mapping[str, Any], unsure: str) -> Iterator[str]:
    if not unsure.strip():
        yield "it is not said why this cannot be judged"
    if len(unsure) > LONGEST:
        yield f"the reason has more than {LONGEST:,} characters"
    if fields:
        yield f"who cannot judge gives no {', '.join(f'`{name}`' for name in fields)}"


def _fault(field: FormField, value: Any) -> str | None:
    if field.kind == "text":
        if not isinstance(value, str) or not value.strip():
            return "must be a text"
        return f"has more than {LONGEST:,} characters" if len(value) > LONGEST else None
    if not field.many:
        return None if _is_choice(field, value) else f"must be {_permitted(field)}, not {_told(field, value)}"
    if not isinstance(value, (list, tuple)):
        return f"must be a list of {_permitted(field)}"
    wrong = [one for one in value if not _is_choice(field, one)]
    if wrong:
        return f"must only hold {_permitted(field)}, not {', '.join(_told(field, one) for one in wrong)}"
    return "names the same thing twice" if len(set(value)) < len(value) else None


def _is_choice(field: FormField, value: Any) -> bool:
    """Whether a value is one of the choices, of the very same type: neither `"2"` nor 2.0 nor `True` is a number."""
    return any(type(value) is type(choice) and value == choice for choice in field.choices)


def _permitted(field: FormField) -> str:
    if field.kind == "level" and None not in field.choices and isinstance(field.choices[0], int):
        return f"{field.choices[0]} to {field.choices[-1]}"
    return ", ".join(map(_shown, field.choices))


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        text = "null" if value is None else str(value).lower()
    else:
        text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _told(field: FormField, value: Any) -> str:
    """A value that is no choice; a text that reads like one in quotation marks."""
    shown = _shown(value)
    return f'"{shown}"' if isinstance(value, str) and shown in map(_shown, field.choices) else shown


def _between(form: Form, fields: Mapping[str, Any], note: str) -> Iterator[str]:
    """What must hold between fields."""
    for name, value in form.note_for:
        if fields.get(name) == value and not note.strip():
            yield f"a note is required for {name} {value}"
    if form.grader == "selection":
        grade, category = fields.get("grade"), fields.get("failure_category")
        if grade == "FAIL" and category is None:
            yield "`failure_category` is required for FAIL"
        if grade == "PASS" and category is not None:
            yield "`failure_category` stands only with FAIL"


def read_typed(form: Form, texts: Mapping[str, str], *, unsure: str | None = None, note: str = "") -> dict[str, Any]:
    """An answer as it was typed or stands in a table, as values; see `read_field`. Empty texts are left out.

    Args:
        form: what was asked.
        texts: the answer by field.
        unsure: as for `check_answer`; `note` too. They only matter where something is wrong.
        note: the person's words.

    Raises:
        ConfigError: a text that stands for no value of its field; everything that is wrong is listed.
    """
    found, problems = {}, {}
    for name, text in texts.items():
        field = form.field(name)
        if field is None:
            found[name] = text  # `check_answer` names the nearest field
        elif text.strip() or field.many:
            try:
                found[name] = read_field(field, text)
            except ConfigError as error:
                problems[name] = error.message
    if problems:
        missing = {f"`{name}` is missing" for name in problems}
        others = [one for one in faults_of(form, found, unsure=unsure, note=note) if one not in missing]
        raise ConfigError("; ".join([*problems.values(), *others]), hint="nothing was recorded")
    return found


def read_field(field: FormField, text: str) -> Any:
    """What a text stands for: one of the field's keys, or a value as it is written (`null` where that is one).

    Several choices are separated by commas or blanks, and `[]` is none of them. A text field takes the text without
    the blanks around it.

    Raises:
        ConfigError: it stands for no value of the field.
    """
    if field.kind == "text":
        return text.strip()
    if field.many:
        return [] if text.strip() == "[]" else [_read_choice(field, one) for one in text.replace(",", " ").split()]
    return _read_choice(field, text.strip())


def _read_choice(field: FormField, text: str) -> Value:
    wanted = text.lower()
    for choice in field.choices:
        if wanted == _shown(choice).lower():
            return choice
    if wanted in field.keys:
        return field.keys[wanted]
    raise ConfigError(f"`{field.name}` must be {_permitted(field)}, not {_shown(text)}")

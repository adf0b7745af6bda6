"""A judge's prompt as a text file: front matter, what is constant, and what belongs to the case.

::

    ---
    id: tone                          # names the prompt
    version: "2"                      # changes whenever the wording does
    grader: courtesy                  # selection, rubric, preference, interpretation, or a grader of your own
    placeholders: [AGENT_TOOL_CALLS]  # a case without one of these is not asked about
    optional: [CONTEXT]               # rendered as null where a case has none
    reply_schema: {...}               # required for a grader of your own; the grader's own where left out
    ---
    You judge …                       # the same for every case: the system message
    === case ===
    [AGENT_TOOL_CALLS]                # the case: the user message

What is constant comes first and the case last, so that a server's prefix cache works. Everything that can be wrong is
found when the file is loaded, never when a case is asked about.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rightcall.case.parse import line_of, load_yaml
from rightcall.errors import CaseError, ConfigError, Place
from rightcall.judge.fences import rules
from rightcall.judge.placeholders import ALIASES, BY_GRADER, PLACEHOLDER, canonical, known
from rightcall.trace.digest import digest
from rightcall.trace.explain import nearest
from rightcall.trace.schemas import compile_schema

if TYPE_CHECKING:
    from collections.abc import Iterable

CASE_LINE = "=== case ==="
"""The line between the constant part and the case."""

VERDICT_FIELDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "selection": (
        ("grade", "pass"), ("selected_tool",), ("expected_tool",), ("justification",), ("failure_category",),
    ),
    "rubric": (
        ("tool_selection_score",), ("argument_accuracy_score",), ("call_sequencing_score",), ("abstention_score",),
        ("misuse_severity", "misuse_severity_classification"), ("downstream_impact",), ("justification",),
    ),
    "preference": (
        ("preferred_trace",), ("confidence",), ("justification", "reasons"), ("key_differentiators",),
        ("critical_failures",),
    ),
    "interpretation": (
        ("score",), ("interpretation_accuracy",), ("action_appropriateness",), ("key_errors",), ("justification",),
    ),
}  # fmt: skip
"""What a reply of each built-in grader must say to be readable at all; of several names, one will do."""

_KEYS = ("id", "version", "grader", "placeholders", "optional", "reply_schema")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class Template(Struct, frozen=True, kw_only=True):
    """A prompt that can be filled.

    Attributes:
        id, version: which prompt it is, in words.
        grader: whose question it asks.
        placeholders: the required ones, by our own names, in the order in which they are declared.
        optional: those that a case may lack.
        reply_schema: its own JSON Schema of the reply; `None`: the grader's.
        system: the constant part as it is sent, the rules of the fences at its end.
        user: the part with the placeholders.
        sha256: identity of all that does not change from case to case: the file, its schema, the rules of the fences.
        file: where it was read; `None` where it did not come from a file.
    """

    id: str
    version: str
    grader: str
    placeholders: tuple[str, ...]
    optional: tuple[str, ...] = ()
    reply_schema: dict[str, Any] | None = None
    system: str
    user: str
    sha256: str
    file: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Every placeholder that it uses."""
        return self.placeholders + self.optional


def parse_template(text: str, place: Place | None = None) -> Template:
    """Read a template.

    Raises:
        ConfigError: the first fault, with file, line and the nearest valid name.
    """
    template, faults = read_template(text, place or Place())
    if template is None:
        raise faults[0]
    return template


def read_template(text: str, place: Place) -> tuple[Template | None, list[ConfigError]]:
    """Read a template and list all its faults; there is a template exactly if there is none."""
    sheet = _Sheet(text.removeprefix("\ufeff").replace("\r\n", "\n"), place.file)
    front = sheet.front_matter()
    if front is None:
        return None, sheet.faults
    sheet.check_keys(front)
    grader, schema = sheet.grader(front), sheet.schema(front)
    required, optional = sheet.names(front, "placeholders"), sheet.names(front, "optional")
    system, user = sheet.parts()
    sheet.check_placeholders(grader, required, optional)
    sheet.check_schema(grader, schema, stated="reply_schema" in front)
    made = Template(
        id=sheet.word(front, "id"), version=sheet.word(front, "version"), grader=grader, placeholders=required,
        optional=optional, reply_schema=schema, system=f"{system}\n\n{rules()}".lstrip(), user=user, file=place.file,
        sha256=digest({"text": sheet.text, "reply_schema": schema, "fences": rules()}),
    )  # fmt: skip
    faults = sorted(sheet.faults, key=lambda fault: fault.place.line or 0)
    return (None if faults else made), faults


@dataclass
class _Sheet:
    """A template's text while it is read, and what is wrong with it."""

    text: str
    file: str | None
    faults: list[ConfigError] = field(default_factory=list)
    body_at: int = 0
    case_at: int = 0
    front: str = ""

    def __post_init__(self) -> None:
        self.lines = self.text.split("\n")

    def fault(self, message: str, line: int | None, hint: str | None = None) -> None:
        """Note a fault."""
        self.faults.append(ConfigError(message, place=Place(self.file, line), hint=hint))

    def front_matter(self) -> dict[str, Any] | None:
        """The front matter; `None` if there is none that can be read."""
        ends = [number for number, line in enumerate(self.lines) if line.rstrip() == "---"]
        if not ends or ends[0] != 0 or len(ends) < 2:
            hint = "begin with a line `---`, then `id`, `version` and `grader`, then another line `---`"
            self.fault("a prompt needs front matter between two lines `---`", 1, hint)
            return None
        self.body_at = ends[1] + 1
        self.front = "\n" + "\n".join(self.lines[1 : ends[1]])
        try:
            found = load_yaml(self.front, self.file or "")
        except CaseError as error:
            place = Place(self.file, error.place.line, error.place.column)
            self.faults.append(ConfigError(error.message, place=place, hint=error.hint))
            return None
        if not isinstance(found, dict):
            self.fault("the front matter holds no keys", 1, f"write {', '.join(_KEYS[:3])}")
            return None
        return found

    def line(self, key: str) -> int:
        """The line of the front matter on which a key is written."""
        return line_of(self.front, key) or 1

    def check_keys(self, front: dict[str, Any]) -> None:
        """Unknown keys, and those that are missing."""
        for key in front:
            if key not in _KEYS:
                name = str(key)
                guess = nearest(name, _KEYS)
                hint = f"did you mean `{guess}`?" if guess else f"known: {', '.join(_KEYS)}"
                self.fault(f"unknown key `{name}`", self.line(name), hint)
        for key in _KEYS[:3]:
            if key not in front:
                self.fault(f"`{key}` is missing", 1, "add it to the front matter")

    def word(self, front: dict[str, Any], key: str) -> str:
        """A key whose value is one word; a whole number is taken as it is written."""
        value = front.get(key, "")
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if key in front and (not isinstance(value, str) or not _NAME.fullmatch(value)):
            hint = "letters, digits, `_`, `.` and `-`" + ("; put 1.10 in quotes" if isinstance(value, float) else "")
            self.fault(f"`{key}` must be one word", self.line(key), hint)
        return str(value)

    def grader(self, front: dict[str, Any]) -> str:
        """Whose question it is."""
        value = front.get("grader", "")
        if "grader" in front and (not isinstance(value, str) or not value.isidentifier()):
            hint = f"{', '.join(BY_GRADER)}, or a name of your own such as `tone_of_voice`"
            self.fault("`grader` must be an identifier", self.line("grader"), hint)
        elif value == "golden":
            self.fault("`golden` is decided by code and asks nobody", self.line("grader"), "name another grader")
        return str(value)

    def names(self, front: dict[str, Any], key: str) -> tuple[str, ...]:
        """A list of placeholders, by our own names."""
        value = front.get(key)
        listed = [] if value is None else value
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            self.fault(f"`{key}` must be a list of names", self.line(key), f"for example `{key}: [USER_REQUEST]`")
            return ()
        return tuple(canonical(name) for name in listed)

    def parts(self) -> tuple[str, str]:
        """The constant part and the case."""
        body = self.lines[self.body_at :]
        at = [number for number, line in enumerate(body) if line.strip() == CASE_LINE]
        if len(at) != 1:
            what = f"the line `{CASE_LINE}` stands {len(at)} times" if at else f"there is no line `{CASE_LINE}`"
            hint = "write it once: what is constant comes before it, the placeholders after it"
            self.fault(what, self.body_at + (at[1] if at else 0) + 1, hint)
            return "", "\n".join(body)
        self.case_at = self.body_at + at[0]
        return "\n".join(body[: at[0]]).strip("\n"), "\n".join(body[at[0] + 1 :]).strip("\n")

    def check_placeholders(self, grader: str, required: tuple[str, ...], optional: tuple[str, ...]) -> None:
        """Every placeholder is known, declared once, and used in the case part only."""
        declared = required + optional
        valid = known(grader if grader.isidentifier() else None)
        for name in dict.fromkeys(declared):
            if name not in valid:
                self._unknown(name, self.line_naming(name), grader, valid)
            elif declared.count(name) > 1:
                self.fault(f"placeholder `{name}` is declared twice", self.line_naming(name), "name it once")
        used = self._used(grader, valid, declared)
        for name in dict.fromkeys(declared):
            if name in valid and name not in used:
                hint = f"write [{name}] below `{CASE_LINE}`, or do not declare it"
                self.fault(f"placeholder `{name}` is declared and not used", self.line_naming(name), hint)
        if not used and not self.faults:
            self.fault("no placeholder is used: every case would be the same question", self.body_at + 1)

    def _used(self, grader: str, valid: Iterable[str], declared: tuple[str, ...]) -> set[str]:
        """The placeholders that stand in the body; those that must not stand where they do are faults."""
        used: set[str] = set()
        for number, line in enumerate(self.lines[self.body_at :], self.body_at):
            for written in PLACEHOLDER.findall(line):
                name = canonical(written)
                if name not in valid:
                    self._unknown(written, number + 1, grader, valid)
                elif number < self.case_at:
                    hint = f"move it below the line `{CASE_LINE}`: what is above is the same for every case"
                    self.fault(f"[{written}] stands in the constant part", number + 1, hint)
                elif name not in declared and name not in used:
                    hint = "add it to `placeholders`, or to `optional` if a case may lack it"
                    self.fault(f"[{written}] is used and not declared", number + 1, hint)
                used.add(name)
        return used

    def _unknown(self, name: str, line: int, grader: str, valid: Iterable[str]) -> None:
        names = [*valid, *(alias for alias, ours in ALIASES.items() if ours in valid)]
        guess = nearest(name, names)
        hint = f"did you mean [{guess}]?" if guess else f"known for `{grader}`: {', '.join(valid)}"
        self.fault(f"unknown placeholder [{name}]", line, hint)

    def line_naming(self, name: str) -> int:
        """The line of the front matter that names a placeholder."""
        spellings = {name, *(alias for alias, ours in ALIASES.items() if ours == name)}
        for number, line in enumerate(self.front.split("\n"), 1):
            if spellings & set(re.findall(r"\w+", line)):
                return number
        return 1

    def schema(self, front: dict[str, Any]) -> dict[str, Any] | None:
        """The reply's own schema, if there is a usable one."""
        value = front.get("reply_schema")
        if value is None:
            return None
        if not isinstance(value, dict) or value.get("type") != "object":
            self.fault("`reply_schema` must be a JSON Schema of an object", self.line("reply_schema"), "`type: object`")
            return None
        try:
            compile_schema(value, Place(self.file), "`reply_schema`")
        except ConfigError as error:
            self.fault(error.message, self.line("reply_schema"))
            return None
        return value

    def check_schema(self, grader: str, schema: dict[str, Any] | None, *, stated: bool) -> None:
        """A grader of one's own says what its reply looks like; a built-in one's reply can say the verdict."""
        if schema is None:
            if grader not in BY_GRADER and not stated:
                guess = nearest(grader, BY_GRADER)
                only = f"only {', '.join(BY_GRADER)} have one of their own"
                hint = f"did you mean `{guess}`?" if guess else f"add a JSON Schema; {only}"
                self.fault(f"grader `{grader}` needs a `reply_schema`", self.line("grader"), hint)
            return
        properties, required = schema.get("properties"), schema.get("required")
        have = properties if isinstance(properties, dict) else {}
        sure = set(have) & set(required if isinstance(required, list) else ())
        lacking = [
            " or ".join(f"`{name}`" for name in names)
            for names in VERDICT_FIELDS.get(grader, ())
            if not sure.intersection(names)
        ]
        if lacking:
            hint = f"add {'it' if len(lacking) == 1 else 'them'} to its `properties` and to `required`"
            self.fault(f"`reply_schema` lacks {', '.join(lacking)} of `{grader}`", self.line("reply_schema"), hint)
        if grader not in BY_GRADER and not have:
            self.fault("`reply_schema` has no `properties`", self.line("reply_schema"), "say what is in a reply")

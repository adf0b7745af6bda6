"""Filling in a form at the keyboard: field by field, checked at once, with a way back, and nothing sent unseen.

A field's own keys come first: a command whose letter a field uses is typed with a colon there (`:r`), and everywhere
else works with and without it. Nothing but `y` commits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from rightcall.errors import ConfigError
from rightcall.report.plain import visible
from rightcall.report.review.screen import written
from rightcall.review.forms import faults_of, read_field

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rightcall.review.forms import Form, FormField

COMMANDS = {
    "?": "the keys", "v": "view the item again; v c2 or v tools: one part in full",
    "e": "evidence: ids of calls, as in e c1 c3", "u": "I cannot judge this (asks why)",
    "s": "skip it (asks why)", "r": "release it: it is free for others again", "x": "leave this field out",
    "<": "back to the field before",
}  # fmt: skip
"""What can be typed at a field besides its values."""

_LONGEST = 48
"""Characters of the keys of one field that a prompt has room for."""

_WORDS = {"keys": "?", "view": "v", "evidence": "e", "unsure": "u", "skip": "s", "release": "r", "back": "<"}
_ONLY_FOR_FAIL = ("failure_category", "right_tool")
"""Fields of `selection` that are not asked of a choice that was right."""


@dataclass
class Draft:
    """An answer while it is written, or why there will be none.

    Attributes:
        fields, note, evidence, unsure: the answer.
        act: `answer`, or what is done with the item instead; `reason` says why.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    evidence: list[str] = field(default_factory=list)
    unsure: str | None = None
    act: Literal["answer", "skipped", "released"] = "answer"
    reason: str = ""


class Back(Exception):
    """One field back."""


class Leave(Exception):
    """The item is left, or it cannot be judged: what is to be done stands in the draft."""


class Asking:
    """One form at the keyboard.

    Args:
        form: what is asked.
        line: reads a line after a prompt.
        view: shows the item again, or the part that is named.
        ids: the call ids that evidence can name.
    """

    def __init__(
        self, form: Form, line: Callable[[str], str], view: Callable[[str], None], ids: Sequence[str]
    ) -> None:  # fmt: skip
        """Start with an empty answer."""
        self.draft = Draft()
        self._form, self._line, self._view, self._ids = form, line, view, ids

    def answer(self) -> Draft:
        """Ask until there is an answer that the person has seen and wants to commit, or another wish.

        Raises:
            EOFError: the input has ended; nothing was committed.
        """
        print(visible(self._form.instructions))
        print("(? all keys · u cannot judge · s skip · r release · < back · v view again · e evidence)")
        while not self._is_done():
            self.draft.unsure = None
        if self.draft.unsure is not None:
            self.draft.fields = {}
        return self.draft

    def _is_done(self) -> bool:
        """Go through the fields once; whether the person has decided."""
        try:
            try:
                self._ask_all()
            except Leave:
                return self.draft.act != "answer" or self._is_sure()
            faults = list(faults_of(self._form, self.draft.fields, note=self.draft.note))
            for fault in faults:
                print(f"  {visible(fault)}")
            return not faults and self._is_sure()
        except Leave:
            return True

    # ---- field by field ----

    def _ask_all(self) -> None:
        at = 0
        while at <= len(self._form.fields):
            try:
                at = self._ask_at(at) + 1
            except Back:
                at = max(0, at - 1)
                while at > 0 and not self._applies(self._form.fields[at]):
                    at -= 1

    def _ask_at(self, at: int) -> int:
        if at == len(self._form.fields):
            self._ask_note()
        elif self._applies(one := self._form.fields[at]):
            self._ask_field(one)
        else:
            self.draft.fields.pop(one.name, None)
        return at

    def _applies(self, one: FormField) -> bool:
        is_right = self._form.grader == "selection" and self.draft.fields.get("grade") == "PASS"
        return not (is_right and one.name in _ONLY_FOR_FAIL)

    def _is_needed(self, one: FormField) -> bool:
        is_category = self._form.grader == "selection" and one.name == "failure_category"
        return not one.optional or (is_category and self.draft.fields.get("grade") == "FAIL")

    def _ask_field(self, one: FormField) -> None:
        if not are_plain(one):
            print("\n".join(choice_lines(one)))
        while True:
            typed = self._line(f"{visible(one.label)} {self._keys(one)}: ")
            command, rest = command_of(one, typed)
            if command == "x":
                if self._is_needed(one):
                    print("  this field is needed")
                    continue
                self.draft.fields.pop(one.name, None)
                return
            if command:
                self._do(command, rest, one)
                continue
            if not typed and (one.name in self.draft.fields or not self._is_needed(one)):
                return
            if one.many and typed in {"", "-"}:
                self.draft.fields[one.name] = []
                return
            try:
                self.draft.fields[one.name] = self._checked(one, typed)
            except ConfigError as error:
                print(f"  {visible(error.message)}  (? shows the keys)")
                continue
            return

    def _checked(self, one: FormField, typed: str) -> Any:
        """The value that was typed.

        Raises:
            ConfigError: it is none of this field.
        """
        found = read_field(one, typed)
        fault = next((text for text in faults_of(self._form, {one.name: found}) if _is_about(one, text)), None)
        if fault is not None:
            raise ConfigError(fault)
        return found

    def _keys(self, one: FormField) -> str:
        given = [name for name, _ in first_keys(one)]
        shown = _spoken(one) or "/".join(given)
        digits = [key for key in given if key.isdigit()]
        if len(digits) > 2:
            shown = "/".join([f"{digits[0]}-{digits[-1]}", *(key for key in given if not key.isdigit())])
        hints = [shown] if shown else []
        hints += ["several, with blanks"] if one.many else []
        if one.name in self.draft.fields:
            hints.append(f"Enter: {written(self.draft.fields[one.name])}")
        elif one.many:
            hints.append("Enter: none")
        elif not self._is_needed(one):
            hints.append("Enter: leave out")
        return f"[{', '.join(hints)}]" if hints else ""

    def _ask_note(self) -> None:
        needed = next(
            (f"{name} {wanted}" for name, wanted in self._form.note_for if self.draft.fields.get(name) == wanted), None
        )
        while True:
            kept = f", Enter: {visible(self.draft.note)}" if self.draft.note else ", Enter: none" if not needed else ""
            typed = self._line(f"note [{f'required for {needed}' if needed else 'optional'}{kept}]: ")
            command, rest = command_of(None, typed)
            if command == "x":
                self.draft.note = ""
            elif command:
                self._do(command, rest, None)
            elif typed or self.draft.note or not needed:
                self.draft.note = typed or self.draft.note
                return
            else:
                print(f"  a note is required for {needed}")

    # ---- commands ----

    def _do(self, command: str, rest: str, one: FormField | None) -> None:
        """Do what a command says.

        Raises:
            Back, Leave: that is what it says.
        """
        if command == "<":
            raise Back
        if command == "?":
            print("\n".join(help_lines(one)))
        elif command == "v":
            self._view(rest)
        elif command == "e":
            self._evidence(rest)
        elif command == "u":
            self.draft.unsure = self._why(rest, "why can this not be judged? ", "nothing was said: please answer")
            raise Leave
        else:
            self._leave(command, rest)

    def _leave(self, command: str, rest: str) -> None:
        is_skip = command == "s"
        asked = "why skip it? " if is_skip else "release it? a reason, or Enter for none; n to stay: "
        reason = rest or self._line(asked)
        if (is_skip and not reason) or (not is_skip and reason.lower() == "n"):
            print("  it stays with you")
            return
        self.draft.act, self.draft.reason = ("skipped" if is_skip else "released"), reason
        raise Leave

    def _why(self, rest: str, prompt: str, otherwise: str) -> str:
        while not rest:
            rest = self._line(prompt)
            if not rest:
                print(f"  {otherwise}")
        return rest

    def _evidence(self, rest: str) -> None:
        if not rest:
            known = f"ids of calls ({', '.join(self._ids)})" if self._ids else "no call has an id"
            rest = self._line(f"evidence, {known}; - for none: ")
        named = [part for part in rest.replace(",", " ").split() if part != "-"]
        unknown = [name for name in named if name not in self._ids]
        if unknown:
            print(f"  there is no call {', '.join(map(visible, unknown))}")
            return
        self.draft.evidence = list(dict.fromkeys(named))
        print(f"  evidence: {', '.join(self.draft.evidence) or 'none'}")

    def _is_sure(self) -> bool:
        print(f"you say: {self._summary()}")
        while True:
            typed = self._line("commit? [y: yes, n: change it]: ").lower()
            if typed in {"y", "yes", "n", "no"}:
                return typed.startswith("y")
            command, rest = command_of(None, f":{typed.removeprefix(':')}") if typed else ("", "")
            if command and command not in {"<", "x", "u"}:
                self._do(command, rest, None)
            elif command == "<":
                return False
            else:
                print("  y commits it, n goes through the fields again")

    def _summary(self) -> str:
        if self.draft.unsure is not None:
            return f"cannot judge it: {visible(self.draft.unsure)}"
        parts = [
            f"{one.label} {written(self.draft.fields[one.name])}"
            for one in self._form.fields
            if one.name in self.draft.fields
        ]
        parts += [f"note: {visible(self.draft.note)}"] if self.draft.note else []
        return " · ".join(parts + ([f"evidence {', '.join(self.draft.evidence)}"] if self.draft.evidence else []))


def command_of(one: FormField | None, typed: str) -> tuple[str, str]:
    """The command that was typed, with what follows it; empty if it is a value.

    Args:
        one: the field that is asked for; `None`: a text.
        typed: the line.
    """
    is_marked = typed.startswith(":")
    first, _, rest = typed.removeprefix(":").partition(" ")
    name = _WORDS.get(first.lower(), first.lower())
    if name not in COMMANDS or (rest.strip() and name in {"?", "<", "x"}):
        return "", ""
    if is_marked or typed in {"?", "<"}:
        return name, rest.strip()
    is_free = one is not None and one.kind != "text" and name not in one.keys
    return (name, rest.strip()) if is_free else ("", "")


def first_keys(one: FormField) -> list[tuple[str, str | int | bool | None]]:
    """One key for each choice, in the order of the choices."""
    found = []
    for choice in one.choices:
        keys = (key for key, meant in one.keys.items() if type(meant) is type(choice) and meant == choice)
        found.append((next(keys, written(choice)), choice))
    return found


def are_plain(one: FormField) -> bool:
    """Whether the prompt of a field says enough about its choices: a scale, two of them, or their meanings beside."""
    return one.kind != "choice" or len(one.choices) < 3 or _spoken(one) != ""


def choice_lines(one: FormField) -> list[str]:
    """The choices of a field with their keys and meanings, a line each."""
    lines = []
    meanings = one.meanings or ("",) * len(one.choices)
    for (key, choice), meaning in zip(first_keys(one), meanings, strict=False):
        says = written(choice)
        both = " = ".join(part for part in ((says if says != key else ""), meaning) if part)
        lines.append(f"  {visible(key):<3} {visible(both)}".rstrip())
    return lines


def help_lines(one: FormField | None) -> list[str]:
    """What can be typed at a field (`None`: at a note)."""
    lines = [f"  {visible(one.help)}"] if one is not None and one.help else []
    lines += [] if one is None else choice_lines(one)
    for name, meaning in COMMANDS.items():
        is_free = command_of(one, name)[0] == name
        lines.append(f"  {name if is_free else ':' + name:<3} {meaning}")
    return lines


def _spoken(one: FormField) -> str:
    """Keys with what they mean, where that is short; else nothing."""
    meanings = dict(zip(map(repr, one.choices), one.meanings, strict=False))
    if one.kind == "level" or not meanings or len(meanings) < 3:
        return ""
    spoken = "  ".join(f"{key} {meanings[repr(choice)]}" for key, choice in first_keys(one))
    return spoken if len(spoken) <= _LONGEST else ""


def _is_about(one: FormField, fault: str) -> bool:
    return fault.startswith(f"`{one.name}` ") and not fault.endswith("is required for FAIL")

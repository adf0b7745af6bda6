"""`init`: a first suite from somebody's own traces. What is guessed says so, and guessed classes never veto."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import count
from typing import IO, TYPE_CHECKING

import msgspec

from rightcall.case.policy import ToolClass
from rightcall.case.record import record, to_json
from rightcall.errors import CaseError, NoDataError, Place
from rightcall.run.inputs.hiding import hidden_trace, is_hidden
from rightcall.run.inputs.overview import Overview
from rightcall.run.starting.texts import GITHUB, GITLAB, settings_text
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.model import Tool
from rightcall.trace.sources.native import write_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.run.inputs.sources import Sources
    from rightcall.trace.model import Trace
    from rightcall.trace.redact import Redactor


@cache
def _verbs() -> dict[ToolClass, list[str]]:
    """Verbs of each class, the most dangerous class first."""
    return msgspec.json.decode(
        (files("rightcall.run.starting") / "verbs.json").read_bytes(), type=dict[ToolClass, list[str]]
    )


def guess_class(name: str) -> ToolClass:
    """Class of a tool by the verbs in its name; the most dangerous verb decides, `unknown` without one."""
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
    return next((kind for kind, verbs in _verbs().items() if words.intersection(verbs)), "unknown")


@dataclass
class Start:
    """The files of a first suite, by name, and what a person should know about them.

    Attributes:
        copies: whether the suite keeps copies of its traces.
    """

    files: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    copies: bool = False


@dataclass
class _Sketch:
    """What was made of the traces so far.

    Attributes:
        cases: the goldens, by case id. tools: every tool that was seen. lines: the traces that have a golden.
        tried: how many traces share a case with an earlier one. unread: why a trace gave no golden.
        left: traces without a golden. needs_copies: whether the recordings cannot be joined with the goldens.
    """

    lines: IO[bytes]
    cases: dict[str, str] = field(default_factory=dict)
    tools: dict[str, Tool] = field(default_factory=dict)
    tried: int = 0
    left: int = 0
    unread: list[str] = field(default_factory=list)
    needs_copies: bool = False


def first_suite(
    sources: Sources,
    accepted: list[str] | None,
    hide: Redactor,
    traces: list[str],
    lines: IO[bytes],
    *,
    gitlab: bool = False,
) -> Start:
    """Sketch a suite: settings, catalog, guessed classes, a golden for each accepted trace, a CI workflow.

    Where every trace names its case, has a golden and holds no secrets, the settings name the recordings themselves.
    Else the suite keeps copies of the traces that have a golden, each with the id of its case, so that it can be graded
    as it is.

    Args:
        sources: the traces.
        accepted: ids of the traces that a person accepts as right; `None` for all of them.
        hide: what must not be written.
        traces: how the settings name the trace files.
        lines: takes the traces that have a golden, as native lines, in case that copies of them are to be kept.
        gitlab: whether there is a pipeline of GitLab too.

    Raises:
        NoDataError: no trace, or none that a golden can be made of.
        TraceError, ConfigError: a file that cannot be read.
    """
    seen, made = Overview(), _Sketch(lines)
    for trace in sources.traces():
        seen.add(trace)
        _add(made, trace, hide, is_accepted=accepted is None or trace.id in accepted)
    if not made.cases:
        why = made.unread[0] if made.unread else "none of them was accepted"
        raise NoDataError(
            f"no golden can be made of these traces: {why}", hint="rightcall inspect shows what they hold"
        )
    for name in seen.tools:
        made.tools.setdefault(name, Tool(name=name))
    start = Start(notes=_notes(made, seen))
    if made.needs_copies:
        traces, start.copies = ["traces.jsonl"], True
    classes = {name: guess_class(name) for name in made.tools}
    start.files["cases.jsonl"] = "".join(made.cases.values())
    start.files["tools.json"] = msgspec.json.format(jsontext.encode(list(made.tools.values()))).decode() + "\n"
    start.files["rightcall.toml"] = settings_text(traces, classes, copied=made.needs_copies, has_tries=made.tried > 0)
    start.files[".github/workflows/rightcall.yml"] = GITHUB
    if gitlab:
        start.files[".gitlab-ci.yml"] = GITLAB
    start.files[".rightcall/.gitignore"] = "*\n"
    return start


def _add(made: _Sketch, trace: Trace, hide: Redactor, *, is_accepted: bool) -> None:
    """Take one trace into the sketch: as a golden, as another try of a case that has one, or not."""
    for tool in parse_tools(jsontext.decode(bytes(trace.tools_json)), Place()) if trace.tools_json else ():
        made.tools.setdefault(tool.name, tool)
    case_id = hide.text(trace.case_id) if trace.case_id is not None else _unused(hide.text(trace.id), made.cases)
    if case_id in made.cases:
        made.tried += 1
    elif not is_accepted:
        made.left += 1
    else:
        try:
            case = record(hidden_trace(trace, hide), case_id=case_id)
        except CaseError as error:
            made.unread.append(hide.text(error.message))
        else:
            made.cases[case_id] = to_json(msgspec.structs.replace(case, tools_json=msgspec.UNSET)).rstrip("\n") + "\n"
    shown = hidden_trace(trace, hide)
    # A golden holds tags where the recording holds secrets, and only a copy that holds the same tags can match it.
    if case_id != trace.case_id or case_id not in made.cases or is_hidden(shown):
        made.needs_copies = True
    if case_id in made.cases:
        made.lines.write(write_line(msgspec.structs.replace(shown, case_id=case_id)))


def _unused(name: str, taken: Mapping[str, str]) -> str:
    """A case id for a trace that names no case: its own id, with a number where another trace has the same."""
    numbered = (f"{name}-{number}" for number in count(2))
    return name if name not in taken else next(one for one in numbered if one not in taken)


def _notes(made: _Sketch, seen: Overview) -> list[str]:
    """What a person should know."""
    notes = [f"{_counted(len(made.cases), 'golden')} sketched from accepted traces: read each before you trust it"]
    if made.needs_copies:
        notes.append("traces.jsonl holds copies of the traces, redacted, each with the id of its golden as `case_id`")
    if made.unread:
        notes.append(f"{_counted(len(made.unread), 'accepted trace')} gave no golden: {made.unread[0]}")
    if made.left:
        notes.append(f"{_counted(made.left, 'trace')} without a golden left out: not accepted")
    if made.tried:
        notes.append(f"{_counted(made.tried, 'trace')} tried a case again whose golden is an earlier trace")
    if bare := seen.traces - seen.with_catalog:
        notes.append(
            f"tools.json has no more than the names of tools that were called: {_counted(bare, 'trace')} without a "
            "catalog; add descriptions and parameters there"
        )
    settled = ("no catalog", "no case") if made.needs_copies else ("no catalog",)
    return notes + [line for line in seen.cannot() if not any(f"{what}:" in line for what in settled)]


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"

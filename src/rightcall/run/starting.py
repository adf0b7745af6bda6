"""`init`: a first suite from somebody's own traces. What is guessed says so, and guessed classes never veto."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import msgspec

from rightcall.case.policy import ToolClass
from rightcall.case.record import record, to_json
from rightcall.errors import CaseError, Place
from rightcall.run.hiding import hidden_trace
from rightcall.run.overview import Overview
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.model import Tool

if TYPE_CHECKING:
    from rightcall.run.sources import Sources
    from rightcall.trace.redact import Redactor


@cache
def _verbs() -> dict[ToolClass, list[str]]:
    """Verbs of each class, the most dangerous class first."""
    return msgspec.json.decode((files("rightcall.run") / "verbs.json").read_bytes(), type=dict[ToolClass, list[str]])


def guess_class(name: str) -> ToolClass:
    """Class of a tool by the verbs in its name; the most dangerous verb decides, `unknown` without one."""
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
    return next((kind for kind, verbs in _verbs().items() if words.intersection(verbs)), "unknown")


@dataclass
class Start:
    """The files of a first suite, by name, and what a person should know about them."""

    files: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def first_suite(sources: Sources, accepted: list[str] | None, hide: Redactor, traces: list[str]) -> Start:
    """Sketch a suite: settings, catalog, guessed classes, and a golden for each accepted trace.

    Args:
        sources: the traces.
        accepted: ids of the traces that a person accepts as right; `None` for all of them.
        hide: what must not be written.
        traces: how the settings name the trace files.
    """
    seen, start = Overview(), Start()
    cases: list[str] = []
    tools: dict[str, Tool] = {}
    taken: set[str] = set()
    unread = 0
    for trace in sources.traces():
        seen.add(trace)
        for tool in parse_tools(jsontext.decode(bytes(trace.tools_json)), Place()) if trace.tools_json else ():
            tools.setdefault(tool.name, tool)
        if accepted is not None and trace.id not in accepted:
            continue
        case_id = trace.case_id or trace.id
        if case_id in taken:
            continue
        try:
            case = record(hidden_trace(trace, hide), case_id=case_id)
        except CaseError:
            unread += 1
            continue
        taken.add(case_id)
        cases.append(to_json(msgspec.structs.replace(case, tools_json=msgspec.UNSET)))
    for name in seen.tools:
        tools.setdefault(name, Tool(name=name))
    start.files["cases.jsonl"] = "".join(case if case.endswith("\n") else case + "\n" for case in cases)
    start.files["tools.json"] = msgspec.json.format(jsontext.encode(list(tools.values()))).decode() + "\n"
    start.files["rightcall.toml"] = _settings(traces, {name: guess_class(name) for name in tools})
    start.files[".github/workflows/rightcall.yml"] = _WORKFLOW
    start.notes += [f"{len(cases)} goldens sketched from accepted traces: read each before you trust it"]
    start.notes += [f"{unread} accepted traces have unreadable arguments and gave no golden"] if unread else []
    start.notes += seen.cannot()
    return start


def _settings(traces: list[str], classes: dict[str, ToolClass]) -> str:
    quoted = ", ".join(map(_quoted, traces))
    known = {name: kind for name, kind in classes.items() if kind != "unknown"}
    lines = [
        "version = 1",
        f"traces = [{quoted}]",
        'cases = "cases.jsonl"',
        'tools = "tools.json"',
        "",
        "[golden]",
        'profile = "balanced"',
        "min_overall = 1.0",
        "",
        "# Guessed from the tools' names. A guessed class warns and never vetoes:",
        "# correct a line, then take the tool out of `guessed`.",
        "[policy]",
        f"guessed = [{', '.join(map(_quoted, known))}]",
        "",
        "[policy.classes]",
        *(f'{_quoted(name)} = "{kind}"' for name, kind in known.items()),
        *(f'# {_quoted(name)} = "read"   # or write, or destructive' for name in classes.keys() - known.keys()),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


_WORKFLOW = """\
name: rightcall
on: [pull_request]
jobs:
  golden:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.13"
      - run: pip install rightcall
      - run: rightcall lint
      - run: rightcall golden -o rightcall.md -o rightcall.json
"""

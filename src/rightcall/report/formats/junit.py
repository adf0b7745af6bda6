"""A report as JUnit XML, in the dialect that Jenkins, GitLab and most other CIs read.

One `testsuite` a grader, one `testcase` a result: `failure` for a verdict FAIL, `error` where there is no verdict,
`skipped` where a person must act first, or where nothing was to be judged. What was not read or not asked has no
result; it is one `testcase` more, with an `error`. Results stand in the same order each time.
Only elements and attributes are used that the strictest reader takes: one that checks a schema refuses the whole file
for a `file` or `line` of a test case, so the place of a case stands in its text.
"""

from __future__ import annotations

import html
import re
from typing import IO, TYPE_CHECKING

from rightcall.report.formats.summary_md import diff_lines
from rightcall.report.plain import visible
from rightcall.report.view.verdict_words import answer_of, causes_beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rightcall.report.view.model import CaseView, Counts, GraderView, ReportView

UNREAD = "not read or not asked"
"""The name of what has no result."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


def write_junit(view: ReportView, stream: IO[bytes]) -> None:
    """Write the document, case by case."""
    whole = [_totals(one.counts) for one in view.graders]
    sums = [sum(column) for column in zip(*whole, strict=True)] or [0, 0, 0, 0]
    _put(stream, '<?xml version="1.0" encoding="UTF-8"?>\n')
    # The whole has no attribute for what was skipped, in the strictest readers.
    _put(stream, f"<testsuites{_attributes([('name', 'rightcall'), *_counted(sums)[:3]])}>\n")
    cases, held = view.cases(), None
    for grader in view.graders:
        _put(stream, f"  <testsuite{_attributes(_suite(view, grader))}>\n")
        _put(stream, "    <properties>\n")
        for name, value in _properties(view):
            _put(stream, f"      <property{_attributes([('name', name), ('value', value)])}/>\n")
        _put(stream, "    </properties>\n")
        for case in _chain(held, cases):
            if case.grader != grader.grader:
                held = case
                break
            _put(stream, _testcase(case))
        else:
            held = None
        _put(stream, _unread(grader))
        _put(stream, "  </testsuite>\n")
    _put(stream, "</testsuites>\n")


def _chain(first: CaseView | None, rest: Iterator[CaseView]) -> Iterator[CaseView]:
    if first is not None:
        yield first
    yield from rest


def _put(stream: IO[bytes], text: str) -> None:
    stream.write(text.encode())


def escaped(text: str) -> str:
    """A text as XML; what XML cannot hold is written out as an escape."""
    return html.escape(visible(text), quote=True)


def _attributes(pairs: Iterable[tuple[str, str]]) -> str:
    return "".join(f' {name}="{escaped(value)}"' for name, value in pairs)


def _totals(counts: Counts) -> list[int]:
    """Cases, failures, errors, skipped; what has no result at all is one case and one error."""
    unread = int(counts.unread > 0)
    return [counts.n + unread, counts.failed, counts.error - counts.aside + unread, counts.waiting + counts.aside]


def _counted(numbers: Iterable[int]) -> list[tuple[str, str]]:
    names = ("tests", "failures", "errors", "skipped")
    return [(name, str(n)) for name, n in zip(names, numbers, strict=True)]


def _suite(view: ReportView, grader: GraderView) -> list[tuple[str, str]]:
    found = [("name", f"rightcall.{grader.grader}"), *_counted(_totals(grader.counts))]
    started = _TIME.match(view.started_at)
    return [*found, ("timestamp", started.group())] if started else found


def _properties(view: ReportView) -> Iterator[tuple[str, str]]:
    answer, code = answer_of(view)
    yield "verdict", answer
    yield "exit code", str(code)
    yield "rightcall", view.rightcall
    yield from view.facts
    for cause in causes_beside(view):
        yield "cause", cause
    for note in view.notes:
        yield "note", note


def _testcase(case: CaseView) -> str:
    pairs = [("classname", f"rightcall.{case.grader}"), ("name", case.unit)]
    inner = _inner(case)
    head = f"    <testcase{_attributes(pairs)}"
    return f"{head}>\n{inner}    </testcase>\n" if inner else f"{head}/>\n"


def _unread(grader: GraderView) -> str:
    """What was selected and has no result, as one case: a viewer that shows results alone would else be green."""
    if not grader.counts.unread:
        return ""
    case = _attributes([("classname", f"rightcall.{grader.grader}"), ("name", UNREAD)])
    error = _attributes([("message", f"{grader.counts.unread:,} {UNREAD}"), ("type", "no_result")])
    return f"    <testcase{case}>\n      <error{error}/>\n    </testcase>\n"


def _inner(case: CaseView) -> str:
    message = case.words[0] if case.words else case.kind or case.outcome
    if case.outcome == "waiting" or case.aside:
        return f"      <skipped{_attributes([('message', message)])}/>\n"
    body = "\n".join(escaped(line) for line in _body(case))
    if case.outcome == "passed":
        return f"      <system-out>{body}</system-out>\n" if case.kind and body else ""
    tag = "failure" if case.outcome == "failed" else "error"
    kind = case.kind or (case.verdict or "FAIL")
    return f"      <{tag}{_attributes([('message', message), ('type', kind)])}>{body}</{tag}>\n"


def _body(case: CaseView) -> Iterator[str]:
    """Everything about a result, line by line."""
    yield from (str(case.place),) if case.place is not None else ()
    yield from case.words
    yield from diff_lines(case)
    yield from (f"{name}: {value}" for name, value in case.facts)
    yield from (f"signed: {case.signed}",) if case.signed else ()
    for judge, said in case.said:
        yield from (f"judge {judge}: {line}" for line in said.splitlines())
    yield from (case.next,) if case.next else ()

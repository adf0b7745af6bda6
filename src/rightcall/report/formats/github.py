"""A report where GitHub shows it: the step summary, annotations at the lines of the cases, the step's outputs.

What comes from traces is data: in the summary it is in code spans, in annotations it is escaped, and on the screen
`quiet_commands` keeps the runner from taking it for a command.
"""

from __future__ import annotations

import os
import secrets
import sys
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rightcall.errors import ConfigError, Place
from rightcall.report.formats.summary_md import LIMIT, render
from rightcall.report.plain import shorten, visible
from rightcall.report.view.verdict_words import answer_of, verdict_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rightcall.report.view.model import CaseView, ReportView

MARKER = "<!-- rightcall report -->"
"""The first line of a comment, by which it is found again and updated in place."""

COMMENT = 65_000
"""Bytes of a comment on a pull request, of which GitHub takes 65,536."""

STEP = 1_024_000
"""Bytes of one step's summary, what is there already included; above it GitHub drops the whole."""

SHOWN = 10
"""Annotations of a step: GitHub shows no more errors than that."""

_LOOKED_AT = 2_000
"""Failures that are put into groups; of longer lists the rest is only counted."""

_NAMED = 3
_LONGEST = 400


def publish(view: ReportView, environ: Mapping[str, str], stream: TextIO | None = None) -> None:
    """Write the step summary, the annotations, the outputs, and the comment for whoever posts it.

    Outside GitHub it says so in one line and does nothing else. The outputs are `verdict`, `exit-code`, `run-id` and,
    where the runner has a folder for temporary files, `comment`, the file with the text of a comment.

    Args:
        view: the report.
        environ: the environment, in which the runner says where things belong.
        stream: takes the annotations; stderr if not given, since stdout may be for data. The runner reads both, in
            their order only what came by one of them: give the one that `quiet_commands` is for.

    Raises:
        ConfigError: a file of the runner cannot be written.
    """
    if "GITHUB_STEP_SUMMARY" not in environ and environ.get("GITHUB_ACTIONS") != "true":
        _say("this is no step of GitHub Actions, so nothing was published there")
        return
    if environ.get("GITHUB_STEP_SUMMARY"):
        _summarise(view, Path(environ["GITHUB_STEP_SUMMARY"]))
    where = stream or sys.stderr
    where.writelines(f"{line}\n" for line in annotated(view, environ))
    where.flush()
    _outputs(view, environ)


def comment(view: ReportView) -> str:
    """The text of a comment on a pull request: the report with a hidden first line, at most 65,000 bytes."""
    return f"{MARKER}\n{render(view, COMMENT - len(MARKER) - 1)}"


@contextmanager
def quiet_commands(environ: Mapping[str, str], stream: TextIO | None = None) -> Iterator[None]:
    """Keep the runner from obeying what is printed meanwhile: text of a trace may look like a command of it.

    Args:
        environ: the environment; outside GitHub nothing is printed.
        stream: what is printed to; stdout if not given.
    """
    if environ.get("GITHUB_ACTIONS") != "true":
        yield
        return
    where, word = stream or sys.stdout, secrets.token_hex(16)  # nobody who wrote a trace can know the word
    where.write(f"::stop-commands::{word}\n")
    where.flush()
    try:
        yield
    finally:
        where.write(f"::{word}::\n")
        where.flush()


def _say(text: str) -> None:
    sys.stderr.write(f"--github: {text}\n")


def _summarise(view: ReportView, path: Path) -> None:
    try:
        there = path.stat().st_size if path.exists() else 0
        room = min(LIMIT, STEP - there)
        text = render(view, room) if room > len(verdict_line(view)) + 200 else ""
        if not text:
            _say("the step summary is full already, so nothing was added to it")
            return
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise ConfigError(f"the step summary cannot be written: {error.strerror}", place=Place(str(path))) from None


# ---- annotations -----------------------------------------------------------------------------------------------------


def annotated(view: ReportView, environ: Mapping[str, str]) -> list[str]:
    """At most ten workflow commands: failures by tool, each group at the line of its first case, and one for the rest.

    Args:
        view: the report.
        environ: says where the repository lies, since files are named from there.
    """
    groups: dict[tuple[str, str], list[CaseView]] = {}
    for case in islice(view.failures(), _LOOKED_AT):
        groups.setdefault((case.grader, case.tool or case.kind or case.outcome), []).append(case)
    whole = sum(one.counts.listed for one in view.graders)
    most = SHOWN if len(groups) <= SHOWN else SHOWN - 1
    # The worst group first; groups are made in the order of their worst case, so equal sizes keep it.
    order = sorted(groups.items(), key=lambda group: (not _is_error(group[1]), -len(group[1])))
    found = [_annotation(name, cases, environ) for name, cases in order[:most]]
    shown = sum(len(cases) for _, cases in order[:most])
    left = max(whole - shown, sum(len(cases) for _, cases in order) - shown)
    if len(order) > most or left > 0:
        text = f"and {left:,} more, in the step summary and the report"
        level = "error" if any(_is_error(cases) for _, cases in order) else "warning"
        found = [*found[: SHOWN - 1], f"::{level} title=rightcall::{_data(text)}"]
    return found


def _is_error(cases: Iterable[CaseView]) -> bool:
    return any(case.outcome in ("failed", "error") for case in cases)


def _annotation(name: tuple[str, str], cases: list[CaseView], environ: Mapping[str, str]) -> str:
    first = next((case for case in cases if case.place is not None), cases[0])
    named = ", ".join(case.unit for case in cases[:_NAMED])
    more = f" and {len(cases) - _NAMED} more" if len(cases) > _NAMED else ""
    why = first.words[0] if first.words else first.kind
    text = shorten(f"{named}{more}: {why}", _LONGEST)
    title = shorten(f"{name[0]} {name[1]}: {len(cases)} {'result' if len(cases) == 1 else 'results'}", 120)
    properties = []
    if first.place is not None and first.place.file:
        properties.append(f"file={_property(from_repository(first.place.file, environ))}")
        properties += [f"line={first.place.line}"] if first.place.line else []
    properties.append(f"title={_property(title)}")
    level = "error" if _is_error(cases) else "warning"
    return f"::{level} {','.join(properties)}::{_data(text)}"


def from_repository(file: str, environ: Mapping[str, str]) -> str:
    """A file as it is named from the root of the repository, where it lies in it."""
    root = environ.get("GITHUB_WORKSPACE")
    whole = Path(os.path.abspath(file))  # noqa: PTH100 - a link in the repository is named as it stands there
    if root:
        try:
            return whole.relative_to(Path(os.path.abspath(root))).as_posix()  # noqa: PTH100 - the same
        except ValueError:
            pass
    return Path(file).as_posix()


def _data(text: str) -> str:
    """A message of a workflow command: one line, in which nothing is an escape of the runner's."""
    return _one_line(text).replace("%", "%25")


def _property(text: str) -> str:
    """A property of a workflow command: neither a colon nor a comma ends it."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _one_line(text: str) -> str:
    # `##[` begins a command of an older form, wherever it stands in a line.
    return visible(text).replace("##[", "## [")


# ---- outputs ---------------------------------------------------------------------------------------------------------


def _outputs(view: ReportView, environ: Mapping[str, str]) -> None:
    answer, code = answer_of(view)
    pairs = {"verdict": answer, "exit-code": str(code), "run-id": visible(view.run_id or "")}
    folder, output = environ.get("RUNNER_TEMP"), environ.get("GITHUB_OUTPUT")
    path = None if not folder else Path(folder) / "rightcall-comment.md"
    try:
        if path is not None:
            path.write_text(comment(view), "utf-8")
            pairs["comment"] = str(path)
        if output:
            with Path(output).open("a", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{name}={value}\n" for name, value in pairs.items())
    except OSError as error:
        place = Place(str(error.filename or output))
        raise ConfigError(f"an output of the step cannot be written: {error.strerror}", place=place) from None

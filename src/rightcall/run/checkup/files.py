"""`doctor` looks at the files of a suite: traces, cases, catalog, policy, gates, and whether they belong together."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from rightcall.case.load import load_tools
from rightcall.case.steps import iter_steps
from rightcall.errors import NoDataError, Place, RightcallError, TraceError
from rightcall.run.checkup.findings import Check, failed, good, odd
from rightcall.run.inputs.cases import open_cases
from rightcall.run.inputs.catalogs import Catalogs
from rightcall.run.inputs.linting import lint_suite
from rightcall.run.inputs.plan import expand
from rightcall.run.inputs.prepare import folder_of, names_of
from rightcall.run.inputs.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from rightcall.run.inputs.cases import CaseIndex
    from rightcall.settings.load import Loaded
    from rightcall.trace.model import Tool

MOST = 1_000
"""How many traces are read."""


@dataclass
class Files:
    """The files of a suite, read once.

    Attributes:
        named: the case that each of the first traces names.
        is_all: whether these were all traces.
    """

    loaded: Loaded
    named: list[str | None] = field(default_factory=list)
    is_all: bool = True

    @cached_property
    def tools(self) -> tuple[Tool, ...] | None:
        """The suite's catalog.

        Raises:
            ConfigError: it cannot be used.
        """
        written = self.loaded.settings.tools
        return load_tools(folder_of(self.loaded, "tools") / written) if written else None

    @property
    def usable_tools(self) -> tuple[Tool, ...] | None:
        """The same; nothing where it cannot be used, which is said once and not again for each case."""
        try:
            return self.tools
        except RightcallError:
            return None

    @cached_property
    def cases(self) -> CaseIndex:
        """Every case, checked.

        Raises:
            CaseError, ConfigError, NoDataError: they cannot be used.
        """
        settings = self.loaded.settings
        paths = self.paths("cases", "case")
        return open_cases(paths, settings.aliases, Catalogs(self.usable_tools, Place(settings.tools)))

    def paths(self, key: str, what: str) -> list[Path]:
        """The files that a setting names."""
        return expand(names_of(getattr(self.loaded.settings, key)), folder_of(self.loaded, key), what)


def look_at_files(
    files: Files, config: Path | None, environ: Mapping[str, str], flags: Mapping[str, Any]
) -> Iterator[Check]:
    """Check the files that the settings name."""
    settings = files.loaded.settings
    if settings.tools:
        yield from _tried(files, "tools", lambda: _tools(files))
    are_steps = not names_of(settings.cases)
    yield from _tried(files, "traces", lambda: _traces(files, are_steps=are_steps))
    if are_steps:
        yield odd("cases", "none are named: only policy and judges can say anything", 'write cases = "cases.jsonl"')
    else:
        found = list(_tried(files, "cases", lambda: _cases(files)))
        yield from found
        is_usable = all(check.status != "fail" for check in found)
        yield from _joined(files) if is_usable else ()
        if is_usable and (not settings.tools or files.usable_tools is not None):
            yield from _tried(files, "lint", lambda: _lint(config, environ, flags))
    yield _policy(files.loaded)
    yield _gates(files.loaded)


def _tried(files: Files, what: str, look: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """The checks; a file that cannot be used is one too. What names no place stands where the setting does."""
    try:
        yield from look()
    except RightcallError as error:
        if error.place.file is None:
            error.place = files.loaded.place(what)
        yield failed(what, error)


def _tools(files: Files) -> Iterator[Check]:
    tools = files.tools or ()
    Catalogs(tools, Place(files.loaded.settings.tools))
    bare = sum(not (tool.description or "").strip() for tool in tools)
    said = f"{files.loaded.settings.tools}: {counted(len(tools), 'tool')}"
    if bare:
        yield odd("tools", f"{said}, {bare} without a description", "describe them: a judge sees what the agent saw")
    else:
        yield good("tools", said)


def _traces(files: Files, *, are_steps: bool) -> Iterator[Check]:
    loaded = files.loaded
    if not names_of(loaded.settings.traces):
        yield odd("traces", "none are named", 'write traces = "traces.jsonl", or name them: rightcall golden TRACES')
        return
    paths = files.paths("traces", "trace")
    sources = Sources(paths, loaded.settings.dialect)
    try:
        for number, trace in enumerate(islice(sources.traces(), MOST + 1)):
            if number == MOST:
                files.is_all = False
                break
            files.named.append(trace.case_id)
    except TraceError as error:
        count = _steps(paths) if are_steps else 0
        if not count:
            raise error from None
        yield good("traces", f"{counted(count, 'step')} in {counted(len(paths), 'file')}, for `selection`")
        return
    yield _of_traces(files, paths, sources)


def _steps(paths: list[Path]) -> int:
    """How many steps the files hold; 0 if they hold something else."""
    try:
        return sum(1 for path in paths for _ in iter_steps(path))
    except RightcallError:
        return 0


def _of_traces(files: Files, paths: list[Path], sources: Sources) -> Check:
    size = sum(path.stat().st_size for path in paths if path.is_file())
    dialects = ", ".join(dict.fromkeys(report.dialect for report in sources.reports.values()))
    count = counted(len(files.named), "trace") if files.is_all else f"the first {MOST:,} traces of more"
    said = f"{count} in {counted(len(paths), 'file')}, {in_bytes(size)}, {dialects}"
    skipped = sum(report.skipped for report in sources.reports.values())
    if skipped:
        return odd("traces", f"{said}; {counted(skipped, 'record')} cannot be read", "rightcall inspect says why")
    if not files.named:
        raise NoDataError("there is no trace in them", hint="name others")
    return good("traces", said)


def _cases(files: Files) -> Iterator[Check]:
    index = files.cases
    index.close()
    said = f"{counted(len(index), 'case')} in {counted(len(index.files), 'file')}"
    if index.skips:
        yield odd("cases", f"{said}; {counted(len(index.skips), 'record')} gave none", "rightcall lint says why")
    else:
        yield good("cases", said)


def _joined(files: Files) -> Iterator[Check]:
    """Whether traces and cases belong together."""
    if not files.named:
        return
    only = files.cases.only()
    found = [name if name is not None else only for name in files.named]
    known = [name for name in found if name is not None and name in files.cases]
    said = f"{len(known)} of {counted(len(found), 'trace')} belong to a case"
    if not known:
        yield odd("joining", said, "the `case_id` of a trace, or its task id, must be the id of a case")
        return
    missing = sorted(set(files.cases) - set(known)) if files.is_all else []
    if missing:
        more = "…" if len(missing) > 3 else ""
        said += f"; {counted(len(missing), 'case')} without a trace: {', '.join(missing[:3])}{more}"
    if len(known) < len(found) or missing:
        yield odd("joining", said, "what has no partner is not judged, and counts against coverage")
    else:
        yield good("joining", said)


def _lint(config: Path | None, environ: Mapping[str, str], flags: Mapping[str, Any]) -> Iterator[Check]:
    _, found = lint_suite(config, environ, flags, None)
    errors = sum(item.severity == "error" for item in found)
    said = f"{counted(errors, 'error')}, {counted(len(found) - errors, 'warning')}"
    yield odd("lint", said, "rightcall lint lists them") if found else good("lint", said)


def _policy(loaded: Loaded) -> Check:
    policy = loaded.settings.policy
    rules = sum(
        len(rules) for rules in (policy.forbidden, policy.requires, policy.when, policy.substitution,
                                 policy.max_calls, policy.confirm)
    )  # fmt: skip
    said = f"{counted(rules, 'rule')}, {counted(len(policy.classes), 'class', 'classes')} of tools"
    if policy.guessed:
        hint = "confirm each: correct its class, and take it out of policy.guessed"
        return odd("policy", f"{said}, {len(policy.guessed)} of them guessed: those never veto", hint)
    return good("policy", said)


def _gates(loaded: Loaded) -> Check:
    from rightcall.gate.rules import rules_of
    from rightcall.run.gating.baseline import is_file

    rules = rules_of(loaded.settings.gates)
    if not rules:
        return odd(
            "gates",
            "no rule on figures: `rightcall gate` asks for coverage, vetoes and open CRITICALs alone",
            'write [gates], as in "golden.pass_rate" = { min = 0.95 }',
        )
    said = f"{counted(len(rules), 'rule')}: {', '.join(rule.name for rule in rules)}"
    files = [rule.against for rule in rules if rule.against is not None and is_file(rule.against)]
    missing = next((name for name in files if not (loaded.folder / name).is_file()), None)
    if missing is not None:
        return odd("gates", f"{said}; the baseline {missing} is not there", f"rightcall run -o {missing} makes it")
    return good("gates", said)


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its thing, in the singular where there is one."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def in_bytes(size: float) -> str:
    """A size as people read it."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"

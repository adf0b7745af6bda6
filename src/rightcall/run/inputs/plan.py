"""What a run of `golden` needs, settled before the first trace is read; it travels to every process."""

from __future__ import annotations

from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

from rightcall.errors import ConfigError, NoDataError, Place
from rightcall.grade.golden import Options
from rightcall.run.judging.facts import with_tags
from rightcall.trace.explain import nearest
from rightcall.trace.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rightcall.case.policy import Policy
    from rightcall.run.inputs.cases import CaseIndex
    from rightcall.trace.model import Tool, Trace


@dataclass(frozen=True)
class Plan:
    """A run of `golden`.

    Attributes:
        traces: the trace files, in order.
        cases: every case.
        policy: the suite's policy.
        options: profile and limits.
        aliases: other tool name -> canonical name.
        tools: the suite's catalog, if any.
        tools_file: where it was read, for errors.
        dialect: `auto`, or the reader to use.
        exclude_tools: patterns of names that are no tools of the agent.
        strict: whether a skipped record stops the run.
        only: grade only the trace of this id.
        limit: grade at most so many traces.
        tags: only the traces of cases with one of these tags; without any, all traces.
        jobs: processes.
        kept_failures: how many failures are kept whole for showing.
        redactor: what must not leave.
        keeps: whether the run goes on record.
        source: on which branch, at which commit the suite stands.
    """

    traces: tuple[Path, ...]
    cases: CaseIndex
    policy: Policy
    options: Options = field(default_factory=Options)
    aliases: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[Tool, ...] | None = None
    tools_file: str | None = None
    dialect: str = "auto"
    exclude_tools: tuple[str, ...] = ()
    strict: bool = False
    only: str | None = None
    limit: int | None = None
    tags: tuple[str, ...] = ()
    jobs: int = 1
    kept_failures: int = 20
    redactor: Redactor = field(default_factory=lambda: Redactor(key=b""))
    keeps: bool = False
    source: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def misses_traces(self) -> bool:
        """Whether cases may have traces that are not looked at."""
        return self.only is not None or self.limit is not None

    def takes(self, trace: Trace) -> bool:
        """Whether a trace is one of those that were asked for."""
        if self.only is not None and trace.id != self.only:
            return False
        if not self.tags:
            return True
        case_id = trace.case_id if trace.case_id is not None else self.cases.only()
        return case_id is not None and self.cases.has_tag(case_id, self.tags)

    def refuse_nothing(self) -> None:
        """Say which filter left no trace, if there is one.

        Raises:
            ConfigError: there is.
        """
        if self.only is not None:
            tagged = f" and a case{with_tags(self.tags)}" if self.tags else ""
            raise ConfigError(f"no trace has the id `{self.only}`{tagged}", hint="check --trace")
        if self.tags:
            raise ConfigError(f"no trace belongs to a case{with_tags(self.tags)}", hint="check --tag")


def refuse_unknown_tags(tags: Iterable[str], known: Iterable[str]) -> None:
    """Refuse a tag that nothing has.

    Raises:
        ConfigError: there is one; the nearest is named.
    """
    there = sorted(set(known))
    for tag in tags:
        if tag not in there:
            near = nearest(tag, there)
            more = " …" if len(there) > 10 else ""
            some = f"there are {', '.join(there[:10])}{more}" if there else "none has any"
            hint = f"did you mean `{near}`?" if near else some
            raise ConfigError(f"no case has the tag `{tag}`", place=Place("--tag"), hint=hint)


def expand(names: Iterable[str], folder: Path, what: str) -> list[Path]:
    """Files that names and patterns mean, in order, each once.

    Raises:
        ConfigError: a pattern that matches nothing, a name that no file can have.
        NoDataError: no name at all.
    """
    found: list[Path] = []
    for name in names:
        try:
            found += _expanded(name, folder, what)
        except (OSError, ValueError) as error:  # a folder that must not be read, a name that no file can have
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            shown = name if len(name) <= 80 else name[:79] + "…"
            raise ConfigError(f"`{shown}`: {reason}", hint=f"check the path of the {what}") from None
    if not found:
        raise NoDataError(f"no {what} file", hint=f"name one: a {what} file, a folder, or a pattern")
    return list(dict.fromkeys(found))


def _expanded(name: str, folder: Path, what: str) -> list[Path]:
    """The files that one name means. A file whose name looks like a pattern is that file."""
    if not name.strip():
        raise ValueError("a name is needed")
    if "\0" in name:
        raise ValueError("no name holds a null character")
    path = folder / name
    if path.is_dir():
        inside = sorted(child for child in path.iterdir() if child.is_file() and not child.name.startswith("."))
        if not inside:
            raise NoDataError(f"the folder `{name}` holds no file", hint=f"check the path of the {what}")
        return inside
    if any(char in name for char in "*?[") and not path.exists():
        matches = sorted(glob(name, root_dir=folder, recursive=True))  # noqa: PTH207 - a pattern may be absolute
        if not matches:
            raise ConfigError(f"no file matches `{name}`", hint=f"check the pattern of the {what}")
        return [folder / match for match in matches]
    return [path]

"""What a run of `golden` needs, settled before the first trace is read; it travels to every process."""

from __future__ import annotations

from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

from rightcall.errors import ConfigError, NoDataError
from rightcall.grade.golden import Options
from rightcall.trace.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rightcall.case.policy import Policy
    from rightcall.run.inputs.cases import CaseIndex
    from rightcall.trace.model import Tool


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
        jobs: processes.
        kept_failures: how many failures are kept whole for showing.
        redactor: what must not leave.
        keeps: whether the run goes on record.
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
    jobs: int = 1
    kept_failures: int = 20
    redactor: Redactor = field(default_factory=lambda: Redactor(key=b""))
    keeps: bool = False


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

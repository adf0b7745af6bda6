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
    from rightcall.run.cases import CaseIndex
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
        strict: whether a skipped record stops the run.
        only: grade only the trace of this id.
        limit: grade at most so many traces.
        jobs: processes.
        kept_failures: how many failures are kept whole for showing.
        redactor: what must not leave.
    """

    traces: tuple[Path, ...]
    cases: CaseIndex
    policy: Policy
    options: Options = field(default_factory=Options)
    aliases: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[Tool, ...] | None = None
    tools_file: str | None = None
    dialect: str = "auto"
    strict: bool = False
    only: str | None = None
    limit: int | None = None
    jobs: int = 1
    kept_failures: int = 20
    redactor: Redactor = field(default_factory=lambda: Redactor(key=b""))


def expand(names: Iterable[str], folder: Path, what: str) -> list[Path]:
    """Files that names and patterns mean, in order, each once.

    Raises:
        ConfigError: a pattern that matches nothing.
        NoDataError: no name at all.
    """
    found: list[Path] = []
    for name in names:
        path = folder / name
        if any(char in name for char in "*?["):
            matches = sorted(glob(str(path), recursive=True))  # noqa: PTH207 - a pattern may be absolute
            if not matches:
                raise ConfigError(f"no file matches `{name}`", hint=f"check the pattern of the {what}")
            found += map(Path, matches)
        elif path.is_dir():
            inside = sorted(child for child in path.iterdir() if child.is_file() and not child.name.startswith("."))
            if not inside:
                raise NoDataError(f"the folder `{name}` holds no file", hint=f"check the path of the {what}")
            found += inside
        else:
            found.append(path)
    if not found:
        raise NoDataError(f"no {what} file", hint=f"name one: a {what} file, a folder, or a pattern")
    return list(dict.fromkeys(found))

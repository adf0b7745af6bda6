"""What the tests of a session share: the settings, the redactor, catalogs, the cases of files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.case.case import Case
from rightcall.case.load import load_cases, load_tools
from rightcall.case.parse import read_case
from rightcall.case.policy import Policy
from rightcall.errors import CaseError, ConfigError, Place
from rightcall.plugin.values import NotJson, plain
from rightcall.run.inputs.opening import redactor_of
from rightcall.run.inputs.prepare import folder_of
from rightcall.settings.load import check_table, load_policy, load_settings
from rightcall.trace import jsontext
from rightcall.trace.explain import nearest
from rightcall.trace.model import Tool
from rightcall.trace.redact import Redactor

if TYPE_CHECKING:
    from rightcall.plugin.marks import Marked
    from rightcall.settings.load import Loaded


@dataclass
class Suite:
    """The suite that a session belongs to.

    Attributes:
        loaded: its settings; the defaults where there is no file.
        root: where relative paths of markers are looked up if they are not beside the test.
        run_id: of the session, the same in all its processes.
        offline: whether judges may only give answers on record.
        hide: what must not be shown.
        doubted: names of tools that a warning was given of.
    """

    loaded: Loaded
    root: Path
    run_id: str
    offline: bool
    hide: Redactor
    doubted: set[str] = field(default_factory=set)
    _tools: tuple[Tool, ...] | None = None
    _cases: dict[Path, tuple[Case, ...]] = field(default_factory=dict)

    @classmethod
    def open(cls, *, config: Path | None, root: Path, run_id: str, offline: bool, key: bytes | None = None) -> Suite:
        """Read the settings.

        Args:
            config: the settings file; `None`: `rightcall.toml` or `pyproject.toml` of the root, if there is one.
            root: pytest's root folder.
            run_id: of the session.
            offline: whether judges may only give answers on record.
            key: of the redactor, where another process of this session has made one.

        Raises:
            ConfigError: settings that cannot be used.
        """
        loaded = load_settings(config, os.environ, {}, root)
        hide = redactor_of(loaded)
        if key is not None:
            hide = Redactor(key=key, patterns=hide.patterns, key_names=hide.key_names)
        return cls(loaded, root, run_id, offline, hide)

    def tools(self) -> tuple[Tool, ...] | None:
        """The catalog of the settings.

        Raises:
            ConfigError: it cannot be read.
        """
        written = self.loaded.settings.tools
        if self._tools is None and written is not None:
            self._tools = load_tools(folder_of(self.loaded, "tools") / written)
        return self._tools

    def find(self, path: str, folder: Path) -> Path:
        """The file of a marker: beside the test, else in the root.

        Raises:
            ConfigError: there is none.
        """
        for base in (folder, self.root):
            if (base / path).is_file():
                return base / path
        tried = " and ".join(map(str, dict.fromkeys((folder, self.root))))
        raise ConfigError("no such file", place=Place(path), hint=f"it is looked for in {tried}")

    def cases(self, path: str, folder: Path) -> tuple[Case, ...]:
        """Every case of a file.

        Raises:
            RightcallError: it is not there, or cannot be read.
        """
        file = self.find(path, folder)
        if file not in self._cases:
            self._cases[file] = tuple(load_cases(file))
        return self._cases[file]

    def case(self, mark: Marked, case_id: str | None, folder: Path) -> Case | None:
        """The case of a test.

        Args:
            mark: what its markers say.
            case_id: which case of a file, where a test runs once for each.
            folder: of the test.

        Raises:
            RightcallError: it is not there, or cannot be read.
        """
        if mark.case is not None:
            return written_case(mark.case)
        if mark.file is None:
            return None
        found = self.cases(mark.file, folder)
        wanted = case_id or mark.case_id
        if wanted is None:
            if len(found) > 1:
                raise ConfigError(
                    f"holds {len(found)} cases", place=Place(mark.file), hint="say which one with `case_id`"
                )
            return found[0]
        for case in found:
            if case.id == wanted:
                return case
        near = nearest(wanted, [case.id for case in found])
        raise ConfigError(
            f"has no case `{wanted}`", place=Place(mark.file), hint=f"did you mean `{near}`?" if near else None
        )

    def policy(self, written: object, folder: Path) -> Policy:
        """The policy that counts: that of the test, else that of the settings.

        Args:
            written: a `Policy`, a file, the same as plain values, or `None`.
            folder: of the test.

        Raises:
            ConfigError: it cannot be used.
        """
        if written is None:
            return self.loaded.settings.policy
        if isinstance(written, Policy):
            return written
        if isinstance(written, (str, os.PathLike)):
            return load_policy(self.find(os.fspath(written), folder))
        found: Policy = converted(Policy, written, "policy")
        return found

    def catalog(self, written: object, folder: Path) -> tuple[Tool, ...] | None:
        """The tools that count where neither the trace nor the case has any.

        Raises:
            ConfigError: they cannot be used.
        """
        if written is None:
            return self.tools()
        if isinstance(written, (str, os.PathLike)):
            return load_tools(self.find(os.fspath(written), folder))
        if not isinstance(written, Sequence):
            raise ConfigError(f"`tools` is a file or a list of tools, not {written!r}")
        return tuple(each if isinstance(each, Tool) else converted(Tool, each, "tools") for each in written)


def written_case(written: object) -> Case:
    """A case that stands in a test.

    Raises:
        CaseError: it cannot be used.
    """
    if isinstance(written, Case):
        return written
    try:
        return read_case(jsontext.encode_in_order(plain(written)), Place(path="case"))
    except NotJson as error:
        raise CaseError(f"holds {error}, which is not JSON", place=Place(path="case")) from None


def converted(kind: type[Any], written: object, what: str) -> Any:
    """Plain values of a test as one of our types.

    Raises:
        ConfigError: a fault in them.
    """
    if not isinstance(written, Mapping):
        raise ConfigError(f"`{what}` cannot be {written!r}")
    try:
        value = plain(written)
    except NotJson as error:
        raise ConfigError(f"`{what}` holds {error}, which is not JSON") from None
    check_table(kind, value, Place(path=what), "")
    return msgspec.json.decode(jsontext.encode_in_order(value), type=kind)

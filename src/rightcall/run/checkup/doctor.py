"""`doctor`: whether a suite can be run as it stands, checked part by part, and what to do about what is not well.

Nothing is written or made, no judge is asked a question, and no secret is shown.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from rightcall.errors import ConfigError, RightcallError
from rightcall.run.checkup.files import Files, look_at_files
from rightcall.run.checkup.findings import Check, failed, good, odd
from rightcall.run.checkup.judges import look_at_judges
from rightcall.run.checkup.parts import look_at_parts
from rightcall.run.checkup.store import look_at_store
from rightcall.run.inputs.hiding import hidden_error
from rightcall.run.inputs.opening import redactor_of
from rightcall.settings.faults import SettingsError
from rightcall.settings.load import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import Any

    from rightcall.settings.load import Loaded

FIRST = "`rightcall demo` shows what it does; `rightcall init TRACES` writes a suite from your own traces"


def checkup(
    config: Path | None,
    environ: Mapping[str, str],
    flags: Mapping[str, Any],
    *,
    now: str,
    version: str,
    offline: bool = False,
) -> Iterator[Check]:
    """Every check, one after the other.

    Args:
        config: the settings file; `None` looks in the current folder.
        environ: the environment.
        flags: dotted key -> value, for the flags that were given.
        now: the time, ISO 8601 in UTC.
        version: that of rightcall.
        offline: look at no endpoint.
    """
    yield good("rightcall", f"{version} on Python {platform.python_version()}")
    try:
        loaded = load_settings(config, environ, flags)
    except ConfigError as error:
        yield from _unusable(error)
        return
    yield _settings(loaded)
    if loaded.file is None and not loaded.origins:
        return
    files = Files(loaded)
    parts: tuple[Callable[[], Iterable[Check]], ...] = (
        lambda: look_at_files(files, config, environ, flags),
        lambda: look_at_parts(loaded, environ),
        lambda: look_at_judges(loaded, environ, offline=offline),
        lambda: look_at_store(loaded, environ, now),
    )
    for part in parts:
        yield from _guarded(loaded, part)


def exit_code(checks: Iterable[Check]) -> int:
    """2 where settings or a file cannot be used, else 5 where a judge, the store or the data is missing, else 0."""
    codes = {check.exit_code for check in checks if check.status == "fail"}
    return next((code for code in (2, 1, 5) if code in codes), 0)


def _guarded(loaded: Loaded, part: Callable[[], Iterable[Check]]) -> Iterator[Check]:
    """The checks of a part without what must not leave; a part that breaks is a failed check itself."""
    try:
        hide = redactor_of(loaded)
    except ConfigError as error:
        yield failed("redaction", error)
        return
    try:
        for check in part():
            yield Check(
                status=check.status, what=check.what, detail=hide.text(check.detail),
                hint=check.hint and hide.text(check.hint), exit_code=check.exit_code,
            )  # fmt: skip
    except RightcallError as error:
        yield failed("rest", hidden_error(error, hide))


def _unusable(error: ConfigError) -> Iterator[Check]:
    faults = error.faults if isinstance(error, SettingsError) else (error,)
    for fault in faults:
        yield failed("settings", fault)
    yield odd("rest", "files, judges and store were not looked at", "mend the settings first")


def _settings(loaded: Loaded) -> Check:
    given = [("flag", "by flag"), ("environment", "by environment")]
    counts = [(sum(origin == name for origin in loaded.origins.values()), words) for name, words in given]
    more = ", ".join(f"{count} {words}" for count, words in counts if count)
    if loaded.file is None:
        where = "no rightcall.toml and no [tool.rightcall] in this folder"
        return odd("settings", f"{where}; {more}" if more else where, FIRST)
    read = len(loaded.origins) - sum(count for count, _ in counts)
    return good("settings", f"{loaded.file}: {read} in the file{', ' if more else ''}{more}")

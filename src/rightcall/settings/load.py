"""Settings from their four sources: flags > environment > file > defaults.

The file is `rightcall.toml`, or `[tool.rightcall]` in `pyproject.toml`, in the current folder, or the one named by
`--config`. The environment is `RIGHTCALL_` and the path of the key, with `__` between tables:
`RIGHTCALL_GOLDEN__PROFILE=strict`. Every fault names its line and the nearest valid key.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.case.parse import line_of, load_yaml, toml_fault
from rightcall.case.policy import Policy
from rightcall.errors import ConfigError, Place, RightcallError
from rightcall.settings.model import Settings
from rightcall.trace import jsontext
from rightcall.trace.explain import explain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from msgspec import Struct

PREFIX = "RIGHTCALL_"
_NOT_SETTINGS = ("RIGHTCALL_REDACTION_KEY", "RIGHTCALL_JUDGE_MODEL", "RIGHTCALL_USER")


@dataclass(frozen=True)
class Loaded:
    """Settings with where they came from.

    Attributes:
        settings: every value.
        folder: the folder that relative paths of the file belong to.
        file: the file that was read, if any.
        origins: key -> `flag`, `environment` or the file's name; a key that is not there has its default.
    """

    settings: Settings
    folder: Path
    file: Path | None
    origins: Mapping[str, str] = field(default_factory=dict)


def load_settings(
    config: Path | None, environ: Mapping[str, str], flags: Mapping[str, Any], folder: Path | None = None
) -> Loaded:
    """Put the four sources together.

    Args:
        config: the file named by `--config`; `None` looks in `folder`.
        environ: the environment.
        flags: dotted key -> value, for the flags that were given.
        folder: where to look for the file; the current folder if not given.

    Raises:
        ConfigError: a file that is missing or not TOML, an unknown key, a value of the wrong kind.
    """
    here = folder or Path()
    file = config or _find(here)
    table, text = _read(file, required=config is not None) if file else ({}, "")
    origins = {key: str(file) for key in _dotted(table)}
    place = Place(str(file)) if file else Place()
    _check(table, place, text)
    for key, value in _from_environment(environ).items():
        _put(table, key, value)
        origins[key] = "environment"
    _check(table, Place("environment"), "")
    for key, value in flags.items():
        _put(table, key, value)
        origins[key] = "flag"
    _check(table, Place("command line"), "")
    settings = msgspec.json.decode(jsontext.encode(table), type=Settings)
    return Loaded(settings, file.parent if file else here, file, origins)


def _find(folder: Path) -> Path | None:
    own, project = folder / "rightcall.toml", folder / "pyproject.toml"
    if own.is_file():
        return own
    if project.is_file() and re.search(r"^\[tool\.rightcall[.\]]", _text_of(project), re.MULTILINE):
        return project
    return None


def _text_of(project: Path) -> str:
    """The text of a file that may be none of ours: whatever cannot be read in it does not matter here."""
    try:
        return project.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def _read(file: Path, *, required: bool) -> tuple[dict[str, Any], str]:
    value, text = read_toml(file)
    if file.name == "pyproject.toml":
        tools = value.get("tool")
        own = tools.get("rightcall") if isinstance(tools, dict) else None
        if not isinstance(own, dict):
            if own is None and not required:
                return {}, text
            raise ConfigError("has no table [tool.rightcall]", place=Place(str(file)))
        value = own
    return value, text


def read_toml(file: Path) -> tuple[dict[str, Any], str]:
    """A TOML file as a table and as text.

    Raises:
        ConfigError: missing, not UTF-8, or not TOML (with line and column).
    """
    text = ""
    try:
        text = file.read_text("utf-8-sig")
        return tomllib.loads(text), text
    except FileNotFoundError:
        raise ConfigError("no such file", place=Place(str(file)), hint="check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {error}", place=Place(str(file))) from None
    except tomllib.TOMLDecodeError as error:
        reason, place = toml_fault(error, text, str(file))
        raise ConfigError(f"not valid TOML: {reason}", place=place) from None
    except RecursionError:
        raise ConfigError("not valid TOML: nested too deep", place=Place(str(file))) from None


def _check(table: dict[str, Any], place: Place, text: str) -> None:
    check_table(Settings, table, place, text)


def check_table(kind: type[Struct], table: Any, place: Place, text: str) -> None:
    """Check a table against a type, naming every fault.

    Raises:
        ConfigError: with line (where the key stands once), key path and the nearest valid name.
    """
    try:
        value = msgspec.json.decode(msgspec.json.encode(table, enc_hook=str))
    except RightcallError:
        raise
    except (TypeError, ValueError) as error:
        raise ConfigError(str(error), place=place) from None
    faults = explain(kind, value, "$")
    if not faults:
        return
    first = faults[0]
    more = f" (and {len(faults) - 1} more: {'; '.join(map(str, faults[1:4]))})" if faults[1:] else ""
    line = line_of(text, re.sub(r"\[\d+\]$", "", first.path).rsplit(".", 1)[-1])
    raise ConfigError(
        first.message + more, place=Place(place.file, line, None, first.path.removeprefix("$.")), hint=first.hint
    )


def load_policy(file: str | Path) -> Policy:
    """Read a policy file (TOML, YAML or JSON): a `[policy]` table, or its keys at the top.

    Raises:
        ConfigError: missing, malformed, or an unknown key (with line and nearest name).
    """
    file = Path(file)
    if file.suffix in (".yaml", ".yml", ".json"):
        value, text = _read_other(file)
    else:
        value, text = read_toml(file)
    if isinstance(value, dict) and isinstance(value.get("policy"), dict) and len(value) == 1:
        value = value["policy"]
    check_table(Policy, value, Place(str(file)), text)
    return msgspec.json.decode(jsontext.encode(value), type=Policy)


def _read_other(file: Path) -> tuple[Any, str]:
    try:
        text = file.read_text("utf-8-sig")
        value = jsontext.decode(text, Place(str(file))) if file.suffix == ".json" else load_yaml(text, str(file))
    except OSError as error:
        raise ConfigError(error.strerror or str(error), place=Place(str(file)), hint="check the path") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"not UTF-8 at byte {error.start}", place=Place(str(file))) from None
    except RightcallError as error:
        raise ConfigError(error.message, place=error.place, hint=error.hint) from None
    return value, text


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, text in environ.items():
        if name.startswith(PREFIX) and name not in _NOT_SETTINGS and text:
            found[name.removeprefix(PREFIX).lower().replace("__", ".")] = _value(text)
    return found


def _value(text: str) -> Any:
    """A TOML value where the text is one, else the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text


def _put(table: dict[str, Any], key: str, value: Any) -> None:
    *parents, last = key.split(".")
    for parent in parents:
        inner = table.setdefault(parent, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"`{key}` goes into `{parent}`, which is not a table")
        table = inner
    table[last] = value


def _dotted(table: Mapping[str, Any], prefix: str = "") -> list[str]:
    keys: list[str] = []
    for key, value in table.items():
        keys += _dotted(value, f"{prefix}{key}.") if isinstance(value, dict) else [prefix + key]
    return keys

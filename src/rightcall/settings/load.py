"""Settings from their four sources: flags > environment > file > defaults.

The file is `rightcall.toml`, or `[tool.rightcall]` in `pyproject.toml`, in the current folder, or the one named by
`--config`. The environment is `RIGHTCALL_` and the path of the key, with `__` between tables:
`RIGHTCALL_GOLDEN__PROFILE=strict`. Every fault of the file names its line and column, what is allowed and the nearest
valid name; one of the environment names its variable.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.case.parse import load_yaml, toml_fault
from rightcall.case.policy import Policy
from rightcall.errors import ConfigError, Place, RightcallError
from rightcall.settings.faults import faults_of_form, guessed, key_path, refuse
from rightcall.settings.meaning import faults_of_meaning
from rightcall.settings.model import Settings
from rightcall.settings.origins import PREFIX, Source, in_environment, variable_of
from rightcall.settings.secrets import faults_of_secrets
from rightcall.trace import jsontext
from rightcall.trace.explain import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from msgspec import Struct

    from rightcall.settings.faults import Fault

_NOT_SETTINGS = (
    "RIGHTCALL_REDACTION_KEY", "RIGHTCALL_JUDGE_MODEL", "RIGHTCALL_USER", "RIGHTCALL_BRANCH", "RIGHTCALL_COMMIT",
)  # fmt: skip


@dataclass(frozen=True)
class Loaded:
    """Settings with where they came from.

    Attributes:
        settings: every value.
        folder: the folder that relative paths of the file belong to.
        file: the file that was read, if any.
        origins: key -> `flag`, `environment` or the file's name; a key that is not there has its default.
        source: the file's text, to find a key in it.
        variables: key -> the environment variable that set it.
    """

    settings: Settings
    folder: Path
    file: Path | None
    origins: Mapping[str, str] = field(default_factory=dict)
    source: Source = field(default_factory=Source, repr=False)
    variables: Mapping[str, str] = field(default_factory=dict)

    def place(self, *path: str | int, of_key: bool = False) -> Place:
        """Where a part of the settings was written: file with line and column, variable, or command line."""
        key = ".".join(str(step) for step in path if isinstance(step, str))
        inside = next((origin for name, origin in self.origins.items() if name.startswith(f"{key}.")), None)
        origin = _nearest_origin(self.origins, key) or inside
        if origin == "flag":
            return Place("command line", None, None, key_path(path))
        if origin == "environment":
            return in_environment(path, self.variables)
        return self.source.place(path, of_key=of_key) if origin else Place(path=key_path(path))


def _nearest_origin(origins: Mapping[str, str], key: str) -> str | None:
    while key and key not in origins:
        key = key.rpartition(".")[0]
    return origins.get(key)


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
        ConfigError: a file that is missing or not TOML, an unknown key, a value that is not allowed, a secret in the
            file, a name that names nothing. All faults of a source are told together.
    """
    here = folder or Path()
    file = config or _find(here)
    table, source = _read(file, required=config is not None) if file else ({}, Source())
    origins = {key: str(file) for key in _dotted(table)}
    refuse(_faults_of_file(table), source.of_fault)
    variables = {}
    for name, key, value in _from_environment(environ):
        _put(table, key, value, Place(f"environment {name}"))
        origins[key] = "environment"
        variables[key] = name
    refuse(_as_variables(faults_of_form(Settings, table)), lambda fault: in_environment(fault.path, variables))
    for key, value in flags.items():
        _put(table, key, value, Place("command line"))
        origins[key] = "flag"
    refuse(faults_of_form(Settings, table), lambda fault: Place("command line", None, None, key_path(fault.path)))
    settings = msgspec.json.decode(jsontext.encode(table), type=Settings)
    loaded = Loaded(settings, file.parent if file else here, file, origins, source, variables)
    refuse(faults_of_meaning(settings), lambda fault: loaded.place(*fault.path, of_key=fault.at_key))
    return loaded


def _faults_of_file(table: dict[str, Any]) -> list[Fault]:
    """The faults of a file's form, and the secrets in it; of an unknown key that holds one, the secret is told."""
    secrets = faults_of_secrets(table)
    known = {fault.path for fault in secrets}
    return secrets + [fault for fault in faults_of_form(Settings, table) if fault.path not in known]


def _as_variables(faults: list[Fault]) -> Iterator[Fault]:
    """Faults of the environment: where another key is meant, its variable is named."""
    for fault in faults:
        guess = guessed(fault.hint) if fault.at_key else None
        keys = [step for step in fault.path[:-1] if isinstance(step, str)]
        meant = variable_of(".".join([*keys, guess])) if guess else ""
        if fault.at_key and not keys:
            others = [name.removeprefix(PREFIX).lower() for name in _NOT_SETTINGS]
            near = nearest(str(fault.path[0]), [*others, *([guess] if guess else [])])
            meant = variable_of(near) if near and near in others else meant
        yield replace(fault, hint=f"did you mean {meant}?" if meant else fault.hint)


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


def _read(file: Path, *, required: bool) -> tuple[dict[str, Any], Source]:
    value, text = read_toml(file)
    inside: tuple[str, ...] = ()
    if file.name == "pyproject.toml":
        tools = value.get("tool")
        own = tools.get("rightcall") if isinstance(tools, dict) else None
        if not isinstance(own, dict):
            if own is None and not required:
                return {}, Source(str(file), text)
            raise ConfigError("has no table [tool.rightcall]", place=Place(str(file)))
        value, inside = own, ("tool", "rightcall")
    return value, Source(str(file), text, inside)


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
    except OSError as error:
        why = f"cannot be read: {error.strerror or error}"
        raise ConfigError(why, place=Place(str(file)), hint="check the path and its rights") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"cannot be read: {error}", place=Place(str(file))) from None
    except tomllib.TOMLDecodeError as error:
        reason, place = toml_fault(error, text, str(file))
        if place.column is None:  # the text ends too early
            last = text.rstrip().rpartition("\n")[2]
            place = Place(place.file, place.line, len(last) + 1)
        raise ConfigError(f"not valid TOML: {reason}", place=place) from None
    except RecursionError:
        raise ConfigError("not valid TOML: nested too deep", place=Place(str(file))) from None


def check_table(kind: type[Struct], table: Any, place: Place, text: str = "", inside: tuple[str, ...] = ()) -> None:
    """Check a table against a type, naming every fault.

    Args:
        kind: what it should be.
        table: the values.
        place: where it was written: a file, or a path that the keys belong to.
        text: the file's text, to find the keys in it.
        inside: the path of the table in that text.

    Raises:
        SettingsError: with line and column where the text is TOML, key path, what is allowed, the nearest valid name.
    """
    is_toml = not (place.file or "").endswith((".yaml", ".yml", ".json"))
    source = Source(place.file, text, inside, is_toml)
    refuse(_faults_at(kind, table, place), source.of_fault)


def _faults_at(kind: type[Struct], table: Any, place: Place) -> list[Fault]:
    try:
        return faults_of_form(kind, table)
    except ConfigError as error:
        raise ConfigError(error.message, place=place, hint=error.hint) from None


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
    inside: tuple[str, ...] = ()
    if isinstance(value, dict) and isinstance(value.get("policy"), dict) and len(value) == 1:
        value, inside = value["policy"], ("policy",)
    check_table(Policy, value, Place(str(file)), text, inside)
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


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, str, Any]]:
    """Variable, dotted key and value of every setting."""
    for name, text in environ.items():
        if name.startswith(PREFIX) and name not in _NOT_SETTINGS and text:
            yield name, name.removeprefix(PREFIX).lower().replace("__", "."), _value(text)


def _value(text: str) -> Any:
    """A TOML value where the text is one, else the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text


def _put(table: dict[str, Any], key: str, value: Any, place: Place) -> None:
    *parents, last = key.split(".")
    for parent in parents:
        inner = table.setdefault(parent, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"`{key}` goes into `{parent}`, which is not a table", place=place)
        table = inner
    table[last] = value


def _dotted(table: Mapping[str, Any], prefix: str = "") -> list[str]:
    keys: list[str] = []
    for key, value in table.items():
        # An empty table says something too: it is written.
        keys += _dotted(value, f"{prefix}{key}.") if isinstance(value, dict) and value else [prefix + key]
    return keys

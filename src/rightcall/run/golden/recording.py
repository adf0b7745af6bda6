"""`golden --record`: a case from a trace that a person accepts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rightcall.case.record import record, to_json, to_toml
from rightcall.errors import ConfigError, Place
from rightcall.run.inputs.hiding import hidden_trace
from rightcall.run.inputs.opening import redactor_of
from rightcall.run.inputs.plan import expand
from rightcall.run.inputs.prepare import folder_of, names_of
from rightcall.settings.load import load_settings
from rightcall.trace.sources.reading import items, open_traces

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.trace.model import Trace


def record_case(
    trace_id: str, config: Path | None, environ: Mapping[str, str], flags: Mapping[str, Any], out: list[str]
) -> str:
    """The text of the case; also written to `out`, where files are named (`.toml`, or `.json`/`.jsonl`).

    Secrets are redacted, as in everything that is written.

    Raises:
        ConfigError: no trace or more than one has the id, a file that exists or has another suffix.
        CaseError: a call of the trace has no readable arguments.
    """
    paths_out = [Path(name) for name in out]
    for path in paths_out:
        _check(path)
    loaded = load_settings(config, environ, flags)
    paths = expand(names_of(loaded.settings.traces), folder_of(loaded, "traces"), "trace")
    found: list[Trace] = []
    for path in paths:
        opened = open_traces(path, loaded.settings.dialect)
        found += [item for item, _ in items(opened) if getattr(item, "id", None) == trace_id]  # type: ignore[misc]
    if len(found) != 1:
        count = "no trace has" if not found else f"{len(found)} traces have"
        raise ConfigError(f"{count} the id `{trace_id}`", hint="`rightcall golden` lists them")
    case = record(hidden_trace(found[0], redactor_of(loaded)), case_id=found[0].case_id)
    for path in paths_out:
        _write(path, to_toml(case) if path.suffix == ".toml" else to_json(case))
    return to_toml(case) if not out else ""


def _check(path: Path) -> None:
    """Refuse a file that is there or has no known format, before any is written."""
    if path.suffix not in (".toml", ".json", ".jsonl"):
        raise ConfigError(f"a case is written as .toml, .json or .jsonl, not as `{path.suffix}`", place=Place("--out"))
    if path.exists():
        raise _exists(path)


def _exists(path: Path) -> ConfigError:
    return ConfigError("exists already; a recorded golden never replaces another", place=Place(str(path)))


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError:
        raise _exists(path) from None
    except OSError as error:
        raise ConfigError(f"cannot write: {error.strerror}", place=Place(str(path))) from None

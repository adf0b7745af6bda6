"""Every setting as it is in force, with where it comes from. Secrets are left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
from msgspec import Struct

from rightcall.settings.faults import key_path
from rightcall.settings.words import fields_of, is_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.settings.load import Loaded
    from rightcall.settings.positions import Path

NOT_SHOWN = "(not shown)"


class Setting(Struct, frozen=True, kw_only=True):
    """One setting: its key as it is written, its value, and where it comes from.

    `origin` is `flag`, `environment`, `file` or `default`; `where` the variable, or the file with its line.
    """

    key: str
    value: Any
    origin: str
    where: str | None = None


def effective(loaded: Loaded) -> list[Setting]:
    """All settings in the order of the documentation, those of tables one by one."""
    return [_setting(loaded, path, value) for path, value in _leaves(loaded.settings, ())]


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """The single settings of a table: free tables (aliases, judges, gates, people) have one for each of their keys."""
    if is_table(type(value)) and (len(path) < 2 or path[0] == "judges"):
        for key in fields_of(type(value)):
            yield from _leaves(getattr(value, key), (*path, key))
    elif isinstance(value, dict) and value and path != ("policy", "classes"):
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    else:
        yield path, msgspec.to_builtins(value)


def _setting(loaded: Loaded, path: Path, value: Any) -> Setting:
    place = loaded.place(*path)
    origin, where = "default", None
    if place.file == "command line":
        origin = "flag"
    elif (place.file or "").startswith("environment"):
        origin, where = "environment", str(place.file).partition(" ")[2]
    elif place.file is not None and _is_written(loaded, path):
        origin, where = "file", f"{place.file}:{place.line}" if place.line is not None else place.file
    return Setting(key=key_path(path), value=_shown(path, value), origin=origin, where=where)


def _is_written(loaded: Loaded, path: Path) -> bool:
    """Whether the file says something about a setting itself, and not only about the table that it stands in."""
    key = ".".join(map(str, path))
    return any(name == key or name.startswith(f"{key}.") or key.startswith(f"{name}.") for name in loaded.origins)


# ---- secrets ----


def _shown(path: Path, value: Any) -> Any:
    if path == ("store",):
        return without_password(value)
    if path == ("redact", "patterns") and value:
        return NOT_SHOWN  # a pattern may say what is secret
    if path[0] == "judges" and isinstance(value, str):
        return _of_judge(path, value)
    return value


def _of_judge(path: Path, value: str) -> str:
    if "headers" in path[2:] and not value.startswith("$"):
        return NOT_SHOWN
    return without_password(value) if path[-1] in ("base_url", "proxy") and "://" in value else value


def without_password(url: str) -> str:
    """An address as it may be shown: without a password, and without what a query may hold of one."""
    if "://" not in url:
        return url
    try:
        parts = urlsplit(url)
        user, host = parts.username, parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
        is_secret = any(
            re.search(r"pass|key|token|secret|sig|code", name, re.IGNORECASE) for name, _ in parse_qsl(parts.query)
        )
    except ValueError:
        return NOT_SHOWN
    shown_host = f"[{host}]" if ":" in host else host
    query = f"?{NOT_SHOWN}" if is_secret else f"?{parts.query}" if parts.query else ""
    if "@" in parts.path or "@" in parts.query:  # a password with a slash or a question mark that nobody escaped
        return f"{parts.scheme}://{NOT_SHOWN}"
    return f"{parts.scheme}://{f'{user}@' if user else ''}{shown_host}{port}{parts.path}{query}"

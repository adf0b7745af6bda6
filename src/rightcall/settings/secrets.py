"""Secrets that were written into a settings file, where they do not belong: files are shared, the environment is not.

Nothing of what is found is repeated in a message.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from rightcall.settings.faults import Fault
from rightcall.trace.shapes import SHAPES, bytes_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.settings.positions import Path

_KINDS = {
    "private_key": "a private key", "api_key": "an API key", "jwt": "a token", "password": "a password in a URL",
    "bearer": "a token",
}  # fmt: skip
_KEYS = ("api_key", "apikey", "key", "token", "secret", "password", "auth_token", "access_token", "authorization")
_ADDRESSES = {
    "base_url": 'put it into an environment variable: `api_key_env`, or `headers` with a value "$NAME"',
    "proxy": 'put the address into an environment variable, and name that: "$JUDGE_PROXY"',
}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CREDENTIAL = re.compile(r"auth|key|token|secret|password|cookie|credential", re.IGNORECASE)
_IN_QUERY = re.compile(r"key|token|secret|password|signature|\bsig\b|\bcode\b", re.IGNORECASE)


def faults_of_secrets(table: Mapping[str, Any]) -> list[Fault]:
    """Every value of a file that looks like a secret."""
    found: dict[Path, Fault] = {}
    judges = table.get("judges")
    for name, judge in (judges if isinstance(judges, dict) else {}).items():
        for fault in _of_judge(judge if isinstance(judge, dict) else {}, ("judges", name)):
            found.setdefault(fault.path, fault)
    for fault in _shaped(table, ()):
        if not any(fault.path[: len(path)] == path for path in found):
            found[fault.path] = fault
    return list(found.values())


def _of_judge(judge: Mapping[str, Any], path: Path) -> Iterator[Fault]:
    """The secrets of one judge's table that are told by the names of their keys."""
    for key, value in judge.items():
        if key.lower() in _KEYS and isinstance(value, str):
            hint = 'put it into an environment variable, and name that: api_key_env = "JUDGE_KEY"'
            yield Fault((*path, key), "a secret does not belong into a file", hint, at_key=True)
    named = judge.get("api_key_env")
    if isinstance(named, str) and not _VARIABLE.fullmatch(named):
        hint = 'write the name of the variable that holds the key, as in api_key_env = "JUDGE_KEY"'
        yield Fault((*path, "api_key_env"), "this is no name of an environment variable", hint)
    headers = judge.get("headers")
    for name, value in (headers if isinstance(headers, dict) else {}).items():
        if isinstance(value, str) and _CREDENTIAL.search(name) and value and not value.startswith("$"):
            hint = 'put the value into an environment variable, and name that: "$JUDGE_HEADER"'
            yield Fault((*path, "headers", name), "a credential does not belong into a file", hint)
    for key, hint in _ADDRESSES.items():
        if isinstance(judge.get(key), str) and _has_credential(judge[key]):
            yield Fault((*path, key), "a credential in an address does not belong into a file", hint)


def _has_credential(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.password) or any(_IN_QUERY.search(name) for name, _ in parse_qsl(parts.query))
    except ValueError:  # whoever uses it says so
        return False


def _shaped(value: Any, path: Path) -> Iterator[Fault]:
    """Texts that have the look of a secret."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _shaped(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _shaped(item, (*path, index))
    elif isinstance(value, str) and path[0] != "redact":
        kind = _kind_of(value)
        if kind is not None:
            yield Fault(path, f"this looks like {kind}, which does not belong into a file", _way_out(path))


def _kind_of(text: str) -> str | None:
    data = bytes_of(text)
    for shape in SHAPES:
        if shape.kind in _KINDS and shape.replace(data, lambda _kind, _secret: b"") != data:
            return _KINDS[shape.kind]
    return None


def _way_out(path: Path) -> str:
    if path == ("store",):
        return "leave the password out and set PGPASSWORD, or give the whole URL in RIGHTCALL_STORE"
    if path[0] == "judges":
        return "put it into an environment variable, and name that in `api_key_env`"
    return "put it into an environment variable"

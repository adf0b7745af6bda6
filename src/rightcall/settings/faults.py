"""What is wrong with a table of settings, fault by fault: where, what is allowed, and the nearest valid name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time
from math import isfinite
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.errors import ConfigError, Place, RightcallError
from rightcall.settings.words import allowed, bounds, choices, type_at
from rightcall.trace.explain import explain, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rightcall.settings.positions import Path
    from rightcall.trace.explain import Fault as Found

_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault.

    Attributes:
        path: keys and indices from the top of the settings.
        message: what is wrong, in one sentence. hint: what to do about it.
        at_key: whether the key is wrong, and not its value.
    """

    path: Path
    message: str
    hint: str | None = None
    at_key: bool = False


class SettingsError(ConfigError):
    """Settings with faults.

    Attributes:
        faults: every one of them, as an error of its own.
    """

    faults: tuple[ConfigError, ...] = ()


def key_path(path: Path) -> str:
    """A path as it is written in TOML: `judges."my judge".price.input`, `policy.when[0].tool`."""
    parts = [f"[{step}]" if isinstance(step, int) else f".{_quoted(step)}" for step in path]
    return "".join(parts).removeprefix(".")


def _quoted(key: str) -> str:
    return key if _BARE.fullmatch(key) else msgspec.json.encode(key).decode()


def refuse(faults: Iterable[Fault], place: Callable[[Fault], Place]) -> None:
    """Raise all faults as one error: the first in full, the others behind it in short.

    Args:
        faults: what is wrong.
        place: where a fault stands.

    Raises:
        SettingsError: there is at least one fault.
    """
    errors = sorted(
        (ConfigError(fault.message, place=place(fault), hint=fault.hint) for fault in faults), key=_in_order
    )
    if errors:
        raise _together(errors)


def _in_order(error: ConfigError) -> tuple[int, int]:
    return error.place.line or 0, error.place.column or 0


def _together(errors: Sequence[ConfigError]) -> SettingsError:
    first, *others = errors
    if not others:
        error = SettingsError(first.message, place=first.place, hint=first.hint)
    else:
        message = f"{first.message}; {first.hint}" if first.hint else first.message
        more = "; ".join(_short(other, first.place.file) for other in others)
        error = SettingsError(f"{message} (and {len(others)} more: {more})", place=first.place)
    error.faults = tuple(errors)
    return error


def _short(error: ConfigError, file: str | None) -> str:
    place = error.place
    if place.file == file and place.line is not None:
        numbers = f"{place.line}:{place.column}" if place.column is not None else f"line {place.line}"
        where = f"{numbers} at {place.path}" if place.path else numbers
    else:
        where = (place.path or "") if place.file == file else str(place)
    return f"{where}: {error.message}" + (f", {error.hint}" if error.hint else "")


# ---- form ----


def faults_of_form(kind: type[msgspec.Struct], table: Any) -> list[Fault]:
    """Every fault of a table against its type: unknown and missing keys, values of the wrong kind or out of range.

    Raises:
        ConfigError: a value that JSON cannot say.
    """
    odd = list(_odd(table, ()))
    try:
        text = msgspec.json.encode(table, enc_hook=str)
        value = msgspec.json.decode(text)
    except RightcallError:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(str(error)) from None
    try:
        msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as error:
        refusal = str(error)
    else:
        return odd  # settings without a fault need no careful second reading, which takes long to load
    known = {fault.path for fault in odd}
    found = [one for one in _most_telling(explain(kind, value, "$")) if one.steps not in known]
    return (odd + [_made(kind, value, one) for one in found]) or [Fault((), refusal)]


def _most_telling(found: list[Found]) -> list[Found]:
    """Each thing that is wrong once.

    A value that no type of a union takes is refused by each of them; the one that looked inside it knows most. A
    missing key is not missing where an unknown one beside it is a slip for it.
    """
    paths = {one.steps for one in found if one.kind == "value"}
    outer = {path for path in paths if any(other[: len(path)] == path != other for other in paths)}
    slips = {(*one.steps[:-1], guessed(one.hint)) for one in found if one.kind == "unknown"}
    kept: dict[Path, Found] = {}
    for one in found:
        if not (one.kind == "value" and one.steps in outer) and not (one.kind == "missing" and one.steps in slips):
            kept.setdefault(one.steps, one)
    return list(kept.values())


def guessed(hint: str | None) -> str | None:
    """The name that a hint proposes."""
    found = re.fullmatch(r"did you mean `(.+)`\?", hint or "")
    return found[1] if found else None


def _made(kind: Any, value: Any, one: Found) -> Fault:
    if one.kind == "value":
        return _wrong_value(kind, one.steps, _at(value, one.steps), one.got)
    return Fault(one.steps, one.message, one.hint, at_key=one.kind == "unknown")


def _wrong_value(kind: Any, path: Path, value: Any, got: str | None) -> Fault:
    there = type_at(kind, path)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    wanted = bounds(there) if is_number and not (isinstance(value, float) and "whole" in allowed(there)) else ""
    is_text = isinstance(value, str)
    guess = nearest(value, choices(there)) if is_text else None
    hint = f"did you mean `{guess}`?" if guess else None
    if is_text and allowed(there) == "a table":  # a path, where other settings take one
        hint = f"its keys stand in the settings themselves, under [{key_path(path)}]"
    return Fault(path, f"must be {wanted or allowed(there)}, got {got}", hint)


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _odd(value: Any, path: Path) -> Iterator[Fault]:
    """What TOML can write and no setting is: dates, and numbers that are not finite."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _odd(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _odd(item, (*path, index))
    elif isinstance(value, float) and not isfinite(value):
        yield Fault(path, f"must be a finite number, got {value}")
    elif isinstance(value, (date, datetime, time)):
        yield Fault(path, f"no setting is a date or a time, got {value}", "write it in quotes if it is meant as a text")

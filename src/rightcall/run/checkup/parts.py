"""`doctor` looks at what a suite is run with: the prompts of its judges, and the optional parts that it needs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from rightcall.errors import ConfigError, MissingExtraError, Place, RightcallError
from rightcall.judge.library import SHIPPED, template
from rightcall.judge.read import REPLY_SCHEMAS
from rightcall.run.checkup.findings import Check, failed, good
from rightcall.run.inputs.opening import is_url, store_of
from rightcall.run.inputs.plan import expand
from rightcall.run.inputs.prepare import folder_of, names_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.settings.load import Loaded

EXTRAS = {
    "anthropic": "anthropic", "inspect": "inspect_ai", "lake": "duckdb", "mcp": "mcp",
    "otlp": "opentelemetry.proto", "postgres": "psycopg",
}  # fmt: skip
"""Extra -> the module that it brings."""

_GRADERS = ("selection", "rubric", "preference", "interpretation")


def look_at_parts(loaded: Loaded, environ: Mapping[str, str]) -> Iterator[Check]:
    """Check prompts and extras."""
    del environ
    yield from _prompts(loaded)
    yield from _extras(loaded)


def _prompts(loaded: Loaded) -> Iterator[Check]:
    settings = loaded.settings
    named = [(grader, key, getattr(getattr(settings, grader), key)) for grader in _GRADERS for key in _keys(grader)]
    own, bad = [], 0
    for grader, key, name in named:
        try:
            made = template(name, folder_of(loaded, f"{grader}.{key}"))
        except ConfigError as error:
            place = error.place if error.place.line is not None else loaded.place(grader, key)
            yield failed("prompts", ConfigError(error.message, place=place, hint=error.hint))
            bad += 1
            continue
        if made.grader != grader and (made.grader in REPLY_SCHEMAS or grader != "rubric"):
            message = f"prompt `{made.id}` is a prompt of `{made.grader}`, not of `{grader}`"
            hint = f"name one whose front matter says `grader: {grader}`"
            yield failed("prompts", ConfigError(message, place=loaded.place(grader, key), hint=hint))
            bad += 1
        elif name not in SHIPPED:
            own.append(name)
    rest = f"{len(own)} of your own: {', '.join(dict.fromkeys(own))}" if own else "all shipped ones"
    if not bad:
        yield good("prompts", f"{len(named)} named, {rest}")


def _keys(grader: str) -> tuple[str, ...]:
    return ("prompt", "prompt_golden") if grader == "rubric" else ("prompt",)


def _extras(loaded: Loaded) -> Iterator[Check]:
    needed = _needed(loaded)
    there = {name for name, module in EXTRAS.items() if _is_there(module)}
    missing = sorted(needed.keys() - there)
    for name in missing:
        error = MissingExtraError(
            f"`{name}` is not installed, and {needed[name]}", place=Place(), hint=f"pip install 'rightcall[{name}]'"
        )
        yield failed("extras", error)
    if missing:
        return
    rest = sorted(EXTRAS.keys() - there - needed.keys())
    said = f"installed: {', '.join(sorted(there)) or 'none'}"
    yield good("extras", f"{said}; not needed: {', '.join(rest)}" if rest else said)


def _needed(loaded: Loaded) -> dict[str, str]:
    """The extras that this suite needs, each with why."""
    settings = loaded.settings
    found = {}
    for name, judge in settings.judges.items():
        if judge.provider == "anthropic":
            found["anthropic"] = f"judge `{name}` needs it"
    if is_url(store_of(loaded)) and not store_of(loaded).startswith("sqlite"):
        found["postgres"] = "the store needs it"
    try:
        names = names_of(settings.traces)
        paths = expand(names, folder_of(loaded, "traces"), "trace") if names else []
    except RightcallError:  # said where the files are looked at
        paths = []
    for path in paths:
        suffixes = [suffix.lower() for suffix in path.suffixes]
        if ".eval" in suffixes:
            found["inspect"] = f"{path.name} needs it"
        if any(suffix in (".binpb", ".otlp", ".pb", ".proto", ".protobuf") for suffix in suffixes):
            found["otlp"] = f"{path.name} needs it"
    return found


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False

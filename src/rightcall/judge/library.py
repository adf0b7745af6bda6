"""The prompts that rightcall ships, and those that users bring, by name."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from rightcall.errors import ConfigError, Place
from rightcall.judge.template import Template, parse_template
from rightcall.trace.explain import nearest

SHIPPED = (
    "selection", "rubric", "rubric_golden", "preference", "interpretation",
    "selection_short", "rubric_short", "preference_short", "interpretation_short",
)  # fmt: skip
"""Ids of the shipped prompts. The short ones are for small local models."""


def template(name_or_path: str | Path, folder: Path | None = None) -> Template:
    """A shipped prompt by its id, or a prompt from a file.

    Args:
        name_or_path: the id, or the file.
        folder: what a relative path belongs to; the current folder where it is left out.

    Raises:
        ConfigError: no such prompt, or a file that cannot be read or is no prompt.
    """
    text, file = source(name_or_path, folder)
    return _parsed(text, file)


def source(name_or_path: str | Path, folder: Path | None = None) -> tuple[str, str | None]:
    """The text of a prompt, and the file that it was read from (`None` for a shipped one). See `template`."""
    name = str(name_or_path)
    if name in SHIPPED:
        return _shipped_text(name), None
    try:
        file = (folder or Path()) / name
        return file.read_text(encoding="utf-8-sig"), str(file)
    except UnicodeDecodeError as error:
        raise ConfigError(f"not UTF-8 at byte {error.start}", place=Place(name)) from None
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        guess = nearest(name, SHIPPED)
        known = f"did you mean `{guess}`?" if guess else f"shipped: {', '.join(SHIPPED)}"
        raise ConfigError(f"no prompt is called `{name}`, and as a file: {reason}", hint=known) from None


def shipped() -> list[Template]:
    """Every shipped prompt."""
    return [template(name) for name in SHIPPED]


def reply_schema(prompt: Template) -> dict[str, Any]:
    """The JSON Schema of a prompt's reply: its own, else its grader's."""
    from rightcall.judge.read import REPLY_SCHEMAS

    return REPLY_SCHEMAS[prompt.grader] if prompt.reply_schema is None else prompt.reply_schema


@lru_cache(maxsize=64)
def _parsed(text: str, file: str | None) -> Template:
    return parse_template(text, Place(file))


@lru_cache(maxsize=len(SHIPPED))
def _shipped_text(name: str) -> str:
    return (files("rightcall.judge") / "prompts" / f"{name}.md").read_text(encoding="utf-8")

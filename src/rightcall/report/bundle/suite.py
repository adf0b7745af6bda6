"""The part of a bundle that comes from the settings: the suite as it is in force, and the prompts that were used."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.run.bundle.parts import PROMPTS, PromptPart
from rightcall.run.inputs.opening import redactor_of
from rightcall.run.judging.secrets import Cleaner, known_secrets
from rightcall.settings.effective import NOT_SHOWN, effective
from rightcall.trace.digest import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rightcall.run.results.model import RunResults
    from rightcall.settings.load import Loaded

_COMMANDS = re.compile(r"judges\..+\.(?:command|token_command)(?:\[.*)?")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def cleaner_of(loaded: Loaded, environ: Mapping[str, str]) -> Cleaner:
    """What takes secrets out of settings and prompts: shapes, key names, own patterns, and the judges' own keys."""
    return Cleaner(redactor_of(loaded), known_secrets(loaded.settings.judges.values(), environ))


def write_suite(loaded: Loaded, results: RunResults, cleaner: Cleaner, folder: Path) -> list[str]:
    """Write settings and policy, redacted; what must be known about them.

    Args:
        loaded: the settings as they are now.
        results: the run.
        cleaner: takes secrets out.
        folder: where `suite/` is.
    """
    settings = {one.key: {"value": _shown(one.key, one.value), "origin": one.origin} for one in effective(loaded)}
    policy = msgspec.to_builtins(loaded.settings.policy)
    (folder / "suite/settings.json").write_bytes(pretty(cleaner.value(settings)))
    (folder / "suite/policy.json").write_bytes(pretty(cleaner.value(policy)))
    return list(_notes(results, digest(msgspec.json.decode(msgspec.json.encode(policy)))))


def _shown(key: str, value: Any) -> Any:
    """A setting without what a program is told on its command line, which may be a key."""
    if _COMMANDS.fullmatch(key) and isinstance(value, (list, tuple)) and len(value) > 1:
        return [value[0], NOT_SHOWN]
    return value


def _notes(results: RunResults, policy: str) -> Iterator[str]:
    for name, part in results.graders.items():
        used = part.facts.get("policy_sha256")
        if isinstance(used, str) and used != policy:
            yield f"suite/policy.json is the policy of the settings now; {name} was run with another one ({used[:8]})"


# ---- prompts ----


def write_prompts(used: Mapping[str, tuple[str, str]], loaded: Loaded, cleaner: Cleaner, folder: Path) -> list[str]:
    """Write the prompts that were used, with their texts as far as they are known; what must be known about them.

    A record keeps the hash of a prompt and every rendered question, not the file. A text is found among the shipped
    prompts and those that the settings name, by its hash; one that holds a secret stays out.

    Args:
        used: sha256 -> id and version.
        loaded: the settings.
        cleaner: says what holds a secret.
        folder: where to.
    """
    if not used:
        return []
    (folder / "prompts").mkdir()
    known = dict(_sources(loaded))
    parts = [_part(sha, *name, known, cleaner, folder) for sha, name in sorted(used.items(), key=lambda one: one[1])]
    (folder / PROMPTS).write_bytes(pretty([msgspec.to_builtins(part) for part in parts]))
    return [f"the text of prompt {part.id} {part.version} is not there: {part.why}" for part in parts if part.why]


def _part(
    sha: str, name: str, version: str, known: Mapping[str, tuple[str, Any]], cleaner: Cleaner, folder: Path
) -> PromptPart:
    from rightcall.judge.fences import rules

    text, schema = known.get(sha, (None, None))
    why = None
    if text is None:
        why = "neither shipped nor named by the settings in this wording"
    elif cleaner.text(text) != text:
        text, why = None, "it holds what looks like a secret"
    if text is None:
        return PromptPart(id=name, version=version, sha256=sha, why=why)
    file = f"prompts/{_UNSAFE.sub('-', f'{name}-{version}')[:80].strip('-.') or 'prompt'}-{sha[:8]}.md"
    (folder / file).write_bytes(text.encode())
    return PromptPart(id=name, version=version, sha256=sha, file=file, reply_schema=schema, fences=rules())


def _sources(loaded: Loaded) -> Iterator[tuple[str, tuple[str, Any]]]:
    """sha256 -> text and schema of the prompts that can be found now."""
    from rightcall.errors import ConfigError
    from rightcall.judge.library import SHIPPED, source, template

    settings = loaded.settings
    named = (
        settings.selection.prompt, settings.rubric.prompt, settings.rubric.prompt_golden, settings.preference.prompt,
        settings.interpretation.prompt,
    )  # fmt: skip
    for name in dict.fromkeys((*SHIPPED, *named)):
        for place in (loaded.folder, None):
            try:
                prompt, (text, _) = template(name, place), source(name, place)
            except ConfigError:  # a prompt that cannot be read now was not used so
                continue
            # As a prompt is read: this text is what its hash is of.
            yield prompt.sha256, (text.removeprefix("\ufeff").replace("\r\n", "\n"), prompt.reply_schema)


def pretty(value: Any) -> bytes:
    """JSON for people, the same bytes each time."""
    return msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=2) + b"\n"

"""From the name of a judge to somebody at a door who can be asked."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rightcall.llm.choose import client_for, judges_for
from rightcall.llm.door import Door
from rightcall.llm.pace import Pace
from rightcall.run.judging.record import endpoint_of
from rightcall.run.judging.secrets import Cleaner, known_secrets
from rightcall.run.judging.subject import Judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from rightcall.llm.client import Client
    from rightcall.llm.spec import JudgeSpec
    from rightcall.settings.load import Loaded
    from rightcall.trace.redact import Redactor

OFFLINE = ("recorded", "scripted")
"""Providers that ask nobody: they answer although a run is offline."""

FAMILIES = ("claude", "gpt", "o1", "o3", "o4", "gemini", "gemma", "llama", "mistral", "mixtral", "qwen", "deepseek",
            "command-r", "phi", "grok", "nova", "smollm", "granite", "glm", "kimi")  # fmt: skip


@dataclass(frozen=True)
class Panel:
    """The judges of a run.

    Attributes:
        specs: name -> configuration; empty if no judge is asked.
        skipped: why no judge is asked although one was wished for.
        clients: name -> who answers, for judges that a program brings itself.
    """

    specs: dict[str, JudgeSpec] = field(default_factory=dict)
    skipped: str | None = None
    clients: dict[str, Client] = field(default_factory=dict)


def panel_of(loaded: Loaded, name: str, *, probe_local: bool = False) -> Panel:
    """Settle who is asked, without asking anybody.

    Raises:
        ConfigError: an unknown judge, or one that cannot be used.
    """
    chosen = judges_for(name, configured(loaded), os.environ, probe_local=probe_local)
    return Panel(dict(chosen.judges), chosen.skipped)


def configured(loaded: Loaded) -> dict[str, JudgeSpec]:
    """The judges of the settings."""
    return {name: _placed(spec, loaded.folder) for name, spec in loaded.settings.judges.items()}


def _placed(spec: JudgeSpec, folder: Path) -> JudgeSpec:
    """A configured judge whose paths belong to the folder of the settings, as all paths there do."""
    paths = {name: getattr(spec, name) for name in ("file", "ca_bundle")}
    return replace(spec, **{name: str(folder / path) for name, path in paths.items() if path is not None})


def at_the_door(panel: Panel, *, offline: bool = False, jobs: int | None = None) -> list[Judge]:
    """Make a client and a door for every judge; nobody is asked yet.

    Raises:
        ConfigError, ProviderError: a judge that cannot be used: a missing extra, program, file or credential.
    """
    judges = []
    paces: dict[tuple[str, str], Pace] = {}
    for name, spec in panel.specs.items():
        away = offline and spec.provider not in OFFLINE
        most = min(spec.max_concurrency, jobs) if jobs else spec.max_concurrency
        # What an endpoint bears, it bears from all judges that stand before it together.
        pace = paces.setdefault((spec.provider, spec.base_url or endpoint_of(spec)), Pace(most=most))
        client = panel.clients.get(name) or _client(spec, away=away)
        judges.append(Judge(name, spec, Door(client, spec, pace=pace), offline=away))
    return judges


def _client(spec: JudgeSpec, *, away: bool) -> Client:
    from rightcall.llm.scripted import ScriptedModel

    return ScriptedModel([]) if away else client_for(spec, os.environ)


def cleaner_of(redactor: Redactor, panel: Panel) -> Cleaner:
    """What takes secrets out of everything that is kept or shown of a run."""
    return Cleaner(redactor, known_secrets(panel.specs.values(), os.environ))


def family_of(model: str | None) -> str | None:
    """The family of a model by its name; `None` where it is not known."""
    name = (model or "").lower().rsplit("/", 1)[-1]
    return next((family for family in FAMILIES if name.startswith(family)), None)


def relatives(panel: Panel, agents: Iterable[str | None]) -> list[str]:
    """Warnings about judges of the same family as the agent: such a judge tends to prefer its own kind."""
    known = {family_of(model) for model in agents} - {None}
    return [
        f"judge `{name}` ({spec.model}) is of the same family as the agent: its scores may favour it"
        for name, spec in panel.specs.items()
        if (spec.family or family_of(spec.model)) in known
    ]


def names_of(judges: Sequence[Judge]) -> str:
    """The judges in words."""
    return ", ".join(f"{judge.name} = {judge.spec.model or judge.spec.provider}" for judge in judges) or "none"

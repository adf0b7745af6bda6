"""`doctor` looks at the judges: whether each could be asked now. An endpoint gets one request, for its models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rightcall.errors import ConfigError, ProviderError, RightcallError
from rightcall.llm.choose import client_for, judges_for
from rightcall.llm.endpoint import is_inside
from rightcall.llm.prices import cost
from rightcall.run.checkup.findings import Check, failed, good, odd
from rightcall.run.judging.judges import configured
from rightcall.trace.explain import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.llm.endpoint import Endpoint
    from rightcall.llm.spec import JudgeSpec
    from rightcall.settings.load import Loaded

TIMEOUT = 5.0
"""Seconds to wait for an endpoint."""

_NAMES = (
    ("selection", "judge"), ("rubric", "judge"), ("preference", "judge"), ("preference", "second_judge"),
    ("interpretation", "judge"), ("interpretation", "strong_judge"),
)  # fmt: skip


def look_at_judges(loaded: Loaded, environ: Mapping[str, str], *, offline: bool) -> Iterator[Check]:
    """Check every judge that is configured or asked for."""
    specs = configured(loaded)
    used: set[str] = set()
    trouble: list[Check] = []
    for table, key in _asked(loaded):
        name = getattr(getattr(loaded.settings, table), key)
        if name is None or (name == "auto" and not specs and offline):
            continue
        try:
            chosen = judges_for(name, specs, environ)
        except RightcallError as error:
            trouble.append(odd("judges", f"{table}.{key} = {name}: {error.message}", error.hint))
            continue
        used |= {judge for judge, _ in chosen.judges}
        specs |= dict(chosen.judges)
    yield from {check.detail: check for check in trouble}.values()
    if not specs and not trouble:
        detail = "none: what code decides needs none (`golden`, `selection`)"
        yield Check(status="ok", what="judges", detail=detail, hint="write [judges.NAME] to ask one")
    for name, spec in specs.items():
        yield _judge(name, spec, environ, offline=offline, is_used=name in used)


def _asked(loaded: Loaded) -> list[tuple[str, str]]:
    """The settings that name judges, of the graders that are listed or whose tables are written; else any one's."""
    graders = {*loaded.settings.graders, *(key.partition(".")[0] for key in loaded.origins)}
    return [(table, key) for table, key in _NAMES if table in graders] or [("rubric", "judge")]


def _judge(name: str, spec: JudgeSpec, environ: Mapping[str, str], *, offline: bool, is_used: bool) -> Check:
    what = f"judge {name}" if ":" not in name else f"judge {spec.provider}"
    try:
        return _able(what, spec, environ, offline=offline)
    except (ProviderError, ConfigError) as error:
        found = failed(what, error)
        if is_used:
            return found
        return odd(what, f"{found.detail} (no grader asks it)", found.hint)


def _able(what: str, spec: JudgeSpec, environ: Mapping[str, str], *, offline: bool) -> Check:
    """What is to be said of a judge that can be made.

    Raises:
        ProviderError, ConfigError: it cannot be made or reached.
    """
    client = client_for(spec, environ)
    if spec.provider == "recorded":
        with Path(spec.file or "").open("rb") as stream:
            replies = sum(1 for line in stream if line.strip())
        return good(what, f"recorded, {replies:,} questions in {spec.file}")
    if spec.provider == "command":
        return good(what, f"program {spec.command[0]}; not started")
    endpoint: Endpoint = client.endpoint  # type: ignore[attr-defined]
    said = f"{spec.provider} {spec.model} at {endpoint.host}, {_credential(spec, endpoint, environ)}"
    if offline:
        return good(what, f"{said}; not looked for (--offline)")
    from rightcall.llm.reach import reach

    reached = reach(spec, endpoint, min(TIMEOUT, spec.timeout))
    if reached.models is None:
        said = f"{said}; answers, and has no list of models (HTTP {reached.http_status})"
    elif not _has(spec, reached.models):
        guess = nearest(spec.model, reached.models)
        few = f"it has {', '.join(reached.models[:5])}" if 0 < len(reached.models) <= 5 else "see its list of models"
        return odd(what, f"{said}; answers, and does not list this model",
                   f"did you mean `{guess}`?" if guess else few)  # fmt: skip
    else:
        said = f"{said}; answers, and has this model"
    return _priced(what, said, spec, endpoint)


def _has(spec: JudgeSpec, models: tuple[str, ...]) -> bool:
    wanted = {spec.model, f"{spec.model}:latest", f"models/{spec.model}"}
    return bool(wanted.intersection(models))


def _credential(spec: JudgeSpec, endpoint: Endpoint, environ: Mapping[str, str]) -> str:
    """Where the credential comes from; never what it is."""
    if endpoint.has_own_credential:
        return "credential in a header"
    if spec.token_command:
        return f"token from {Path(spec.token_command[0]).name}"
    return f"key from {endpoint.key_name}" if environ.get(endpoint.key_name, "").strip() else "no key"


def _priced(what: str, said: str, spec: JudgeSpec, endpoint: Endpoint) -> Check:
    if cost(spec, None, 1, 1)[0] is not None:
        return good(what, f"{said}; price known")
    if is_inside(urlsplit(endpoint.url).hostname or ""):
        return good(what, said)
    hint = "write price = { input = …, output = … } (of a million tokens) in its table"
    return odd(what, f"{said}; price not known: --budget in money cannot be kept", hint)

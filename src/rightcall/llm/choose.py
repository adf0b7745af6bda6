"""Which judges are meant, and the client of each.

A judge is named by its table in the settings, by `provider:model`, or found: `auto` takes what is configured, else what
the environment names, else (only if one allows it) what answers on this machine. What cannot be decided is an error
that says what to name; nothing is put in the place of a judge that was asked for.
"""

from __future__ import annotations

import difflib
import shlex
from importlib import import_module
from typing import TYPE_CHECKING, get_args

from msgspec import Struct
from msgspec.structs import replace

from rightcall.errors import ConfigError
from rightcall.llm.spec import JudgeSpec, Provider

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.llm.client import Client

MODEL_VARIABLE = "RIGHTCALL_JUDGE_MODEL"
LOCAL_URLS = (
    "http://127.0.0.1:11434",
    "http://127.0.0.1:8080/v1",
    "http://127.0.0.1:1234/v1",
    "http://127.0.0.1:8000/v1",
)
"""Where Ollama, llama.cpp, LM Studio and vLLM listen if nothing else is said."""

NONE_FOUND = (
    "judged graders were skipped: no judge is configured ([judges.NAME]) and the environment names none "
    "(OPENAI_BASE_URL, OPENAI_API_KEY, ANTHROPIC_API_KEY, OLLAMA_HOST)"
)

_CLIENTS = {
    "openai": ("openai", "OpenAIClient"),
    "anthropic": ("anthropic", "AnthropicClient"),
    "ollama": ("ollama", "OllamaClient"),
    "command": ("command", "CommandClient"),
    "recorded": ("recorded", "RecordedClient"),
}

_TO_NAME = f"name the model: --judge {{provider}}:MODEL, or set {MODEL_VARIABLE}"
_WHOLE = ("command:", "recorded:")
_LIST_TIMEOUT = 5.0
_LOCAL_TIMEOUT = 0.5


class Choice(Struct, frozen=True, kw_only=True):
    """Which judges are asked.

    Attributes:
        judges: names and specs; several are a panel. Empty: nobody is asked.
        skipped: why nobody is asked although a judge was wished for, as a line for the user; else `None`.
        origin: where the judges come from, in words, for a line that says so.
    """

    judges: tuple[tuple[str, JudgeSpec], ...] = ()
    skipped: str | None = None
    origin: str = ""


def judges_for(
    name: str, specs: Mapping[str, JudgeSpec], environ: Mapping[str, str], *, probe_local: bool = False
) -> Choice:
    """The judges that a name means.

    Args:
        name: `none`; a configured name; several with commas between them (a panel); `provider:model`
            (`recorded:FILE` and `command:PROGRAM ARGUMENTS` reach to the end, commas included); or `auto`.
        specs: the configured judges.
        environ: the environment.
        probe_local: whether `auto` may look for a server on this machine.

    Raises:
        ConfigError: an unknown name, a judge named twice, or a model that has to be named.
    """
    if name == "none":
        return Choice()
    if name == "auto":
        return _auto(specs, environ, probe_local=probe_local)
    parts = [name] if name.startswith(_WHOLE) else [part.strip() for part in name.split(",")]
    twice = sorted({part for part in parts if parts.count(part) > 1})
    if twice:
        raise ConfigError(f"the judge `{twice[0]}` is named twice", hint="ask it several times with replicates")
    return Choice(judges=tuple((part, _named(part, specs)) for part in parts), origin="named")


def _named(name: str, specs: Mapping[str, JudgeSpec]) -> JudgeSpec:
    if name in specs:
        return specs[name]
    provider, colon, rest = name.partition(":")
    if colon and provider in get_args(Provider) and provider != "scripted":
        return _written(provider, rest.strip())
    near = difflib.get_close_matches(name, [*specs, "auto", "none"], 1)
    known = f"did you mean `{near[0]}`?" if near else f"configured: {', '.join(specs) or 'none'}"
    raise ConfigError(f"there is no judge `{name}`", hint=f"{known}; or write provider:model")


def _written(provider: str, rest: str) -> JudgeSpec:
    """The spec of `provider:rest`."""
    if not rest:
        raise ConfigError(f"nothing stands after `{provider}:`", hint="write provider:model, as in openai:MODEL")
    match provider:
        case "recorded":
            return JudgeSpec(provider="recorded", file=rest)
        case "command":
            try:
                words = tuple(shlex.split(rest))
            except ValueError as error:
                raise ConfigError(f"the command of the judge cannot be read: {error}", hint="close the quote") from None
            return JudgeSpec(provider="command", command=words)
        case "anthropic":
            return JudgeSpec(provider="anthropic", model=rest)
        case "ollama":
            return JudgeSpec(provider="ollama", model=rest)
        case _:
            return JudgeSpec(provider="openai", model=rest)


# ---- auto ------------------------------------------------------------------------------------------------------------


def _auto(specs: Mapping[str, JudgeSpec], environ: Mapping[str, str], *, probe_local: bool) -> Choice:
    if "default" in specs or len(specs) == 1:
        name = "default" if "default" in specs else next(iter(specs))
        return Choice(judges=((name, specs[name]),), origin=f"configured as [judges.{name}]")
    if specs:
        raise ConfigError(
            f"several judges are configured ({', '.join(specs)}) and none of them is called `default`",
            hint="say which with --judge NAME, or with commas for a panel",
        )
    found = _from_environment(environ)
    if found is not None:
        spec, variable = found
        return Choice(judges=((f"{spec.provider}:{spec.model}", spec),), origin=f"found by {variable}")
    if probe_local:
        for url in LOCAL_URLS:
            local = _at(url, environ)
            if local is not None:
                return Choice(judges=((f"{local.provider}:{local.model}", local),), origin=f"found at {url}")
    return Choice(skipped=NONE_FOUND)


def _from_environment(environ: Mapping[str, str]) -> tuple[JudgeSpec, str] | None:
    """What the environment names first, with the variable that named it."""
    model = environ.get(MODEL_VARIABLE, "").strip()
    url = environ.get("OPENAI_BASE_URL", "").strip()
    if url:
        spec = JudgeSpec(provider="openai", base_url=url, model=model)
        return replace(spec, model=model or _only_model(spec, environ)), "OPENAI_BASE_URL"
    usual: tuple[tuple[str, Provider], ...] = (
        ("OPENAI_API_KEY", "openai"),
        ("ANTHROPIC_API_KEY", "anthropic"),
        ("OLLAMA_HOST", "ollama"),
    )
    for variable, provider in usual:
        if environ.get(variable, "").strip():
            if not model:
                hint = _TO_NAME.format(provider=provider)
                raise ConfigError(f"{variable} is set, and no model is named", hint=hint)
            return JudgeSpec(provider=provider, model=model), variable
    return None


def _only_model(spec: JudgeSpec, environ: Mapping[str, str]) -> str:
    """The model of an endpoint that has exactly one."""
    from rightcall.llm.models import models_at

    names = models_at(spec, environ, _LIST_TIMEOUT)
    if names is not None and len(names) == 1:
        return names[0]
    why = "its list of models cannot be read" if names is None else f"it has {len(names)} models{_few(names)}"
    raise ConfigError(f"OPENAI_BASE_URL is set, and no model is named: {why}", hint=_TO_NAME.format(provider="openai"))


def _few(names: list[str]) -> str:
    return f" ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})" if names else ""


def _at(url: str, environ: Mapping[str, str]) -> JudgeSpec | None:
    """The judge at a local address; `None` if nothing answers there."""
    from rightcall.llm.models import models_at

    is_ollama = not url.endswith("/v1")
    names = models_at(JudgeSpec(base_url=url if not is_ollama else f"{url}/v1"), {}, _LOCAL_TIMEOUT)
    if not names:
        return None
    wanted = environ.get(MODEL_VARIABLE, "").strip()
    if not wanted and len(names) > 1:
        hint = _TO_NAME.format(provider="ollama" if is_ollama else "openai")
        raise ConfigError(f"the server at {url} has {len(names)} models{_few(names)}, and none is named", hint=hint)
    return JudgeSpec(provider="ollama" if is_ollama else "openai", base_url=url, model=wanted or names[0])


# ---- clients ---------------------------------------------------------------------------------------------------------


def client_for(spec: JudgeSpec, environ: Mapping[str, str]) -> Client:
    """The client of a spec. Its library is loaded here, and nothing is sent yet.

    Raises:
        ConfigError: the spec cannot be used; `MissingExtraError` if its library is not installed.
        Rejected: a credential is missing (`JUDGE_AUTH`).
    """
    module, name = _CLIENTS.get(spec.provider, ("", ""))
    if not name:
        raise ConfigError("a judge of provider `scripted` is made in code", hint="use rightcall.testing.ScriptedModel")
    client: Client = getattr(import_module(f"rightcall.llm.{module}"), name)(spec, environ)
    return client

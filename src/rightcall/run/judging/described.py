"""A judge as a program describes it: by name, by parameters, as a function of its own. Nobody is asked yet."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Self, TypedDict, TypeGuard, Unpack

import msgspec

from rightcall.errors import ConfigError, Place, Unavailable
from rightcall.llm.choose import judges_for
from rightcall.llm.client import Answer, Client, Request
from rightcall.llm.spec import JudgeSpec, Price, Rung
from rightcall.settings.load import check_table, load_settings

Said = str | Answer
"""What a judge says: a text, or a text with what is known about it."""

Function = Callable[[Request], Said | Awaitable[Said]]
"""A judge of the program's own."""


class Parameters(TypedDict, total=False):
    """What may be said about a judge: the keys of `[judges.NAME]`, except for those that say who it is."""

    model: str
    base_url: str | None
    api_key_env: str | None
    token_command: tuple[str, ...]
    headers: dict[str, str]
    proxy: str | None
    ca_bundle: str | None
    temperature: float | None
    max_tokens: int
    seed: int | None
    top_p: float | None
    context_tokens: int | None
    timeout: float
    max_concurrency: int
    structured: Rung
    price: Price | None
    family: str | None
    answers_as: str | None


class Judge:
    """Who is asked, and how. It opens nothing, holds no key, and may judge any number of runs.

    Args:
        who: `provider:model` (`openai:…`, `anthropic:…`, `ollama:…`, `command:PROGRAM …`, `recorded:FILE`) or `auto`,
            as for `--judge`; a function, plain or async, from a `Request` to the reply's text; or a `Client`, such as
            `rightcall.testing.ScriptedModel`, which is closed at the end of every run.
        name: its name in the record; the provider and model, or the function's name, if not given.
        **parameters: whatever `[judges.NAME]` may hold: `base_url`, `temperature`, `max_tokens`, `context_tokens` …

    A plain function is called in a thread, so that it may take its time. An `OSError` that it raises (all errors of
    connections are) is a judge that cannot be reached, and it is asked again; `rightcall.errors` has the errors that
    say more, such as `RateLimited`. Any other error is the program's own, and ends the run.

    Raises:
        ConfigError: nobody who could be asked, or a parameter that cannot be used.
    """

    def __init__(
        self, who: str | JudgeSpec | Client | Function, *, name: str | None = None, **parameters: Unpack[Parameters]
    ) -> None:
        """Check the description."""
        usual, spec = _described(who)
        self.name = name or usual
        self.spec = _with(spec, parameters)
        self.client = None if isinstance(who, (str, JudgeSpec)) else _client(who, self.spec)

    @classmethod
    def from_settings(cls, name: str, file: str | Path | None = None) -> Self:
        """The judge of a table `[judges.NAME]`.

        Args:
            name: its name there.
            file: the settings file; `rightcall.toml` or `pyproject.toml` of the current folder if not given.

        Raises:
            ConfigError: no such file or table.
        """
        from rightcall.run.judging.judges import configured

        known = configured(load_settings(None if file is None else Path(file), os.environ, {}))
        if name not in known:
            raise ConfigError(f"there is no table [judges.{name}]", hint=f"configured: {', '.join(known) or 'none'}")
        return cls(known[name], name=name)

    @classmethod
    def recorded(cls, file: str | Path) -> Self:
        """A judge that answers from a file of recorded replies, and asks nobody."""
        return cls(JudgeSpec(provider="recorded", file=str(file)), name="recorded")

    def __repr__(self) -> str:
        """Name and model; a spec holds no secrets."""
        return f"Judge({self.name!r}, model={self.spec.model!r})"


Judges = Judge | str | Sequence[Judge | str]
"""One judge, or several, which are a panel. A text is what `--judge` takes."""


class FunctionClient:
    """A `Client` that asks a function of the program (see `Judge`)."""

    def __init__(self, function: Function, spec: JudgeSpec) -> None:
        """Keep the function."""
        self._function = function
        self._is_async = inspect.iscoroutinefunction(function)
        self._spec = spec

    async def ask(self, request: Request) -> Answer:
        """Call the function once (see `Client`)."""
        try:
            async with asyncio.timeout(self._spec.timeout):
                said = await self._call(request)
        except TimeoutError as error:
            message = str(error) or f"no answer within {self._spec.timeout:g} s"
            raise Unavailable(f"`{self._spec.model}`: {message}", code="JUDGE_TIMEOUT") from None
        except OSError as error:
            raise Unavailable(f"`{self._spec.model}`: {type(error).__name__}: {error}") from None
        if isinstance(said, Answer):
            return said
        if not isinstance(said, str):
            raise ConfigError(
                f"the judge `{self._spec.model}` gave a {type(said).__name__}", hint="return the reply's text"
            )
        sent = {"temperature": request.temperature, "max_tokens": request.max_tokens}
        return Answer(text=said, model=self._spec.model, sent=sent)

    async def close(self) -> None:
        """Nothing stays open."""

    async def _call(self, request: Request) -> Said:
        said = self._function(request) if self._is_async else await asyncio.to_thread(self._function, request)
        return await said if isinstance(said, Awaitable) else said


def _described(who: str | JudgeSpec | Client | Function) -> tuple[str, JudgeSpec]:
    """The usual name of a judge, and its spec."""
    if isinstance(who, str):
        return _named(who)
    if isinstance(who, JudgeSpec):
        return f"{who.provider}:{who.model}", who
    name = str(getattr(who, "__name__", type(who).__name__))
    return name, JudgeSpec(provider="scripted", model="" if _is_client(who) else name)


def _is_client(who: object) -> TypeGuard[Client]:
    return hasattr(who, "ask") and hasattr(who, "close")


def _client(who: Client | Function, spec: JudgeSpec) -> Client:
    if _is_client(who):
        return who
    if callable(who):
        return FunctionClient(who, spec)
    raise ConfigError(
        f"a value of type {type(who).__name__} is no judge",
        hint="give `provider:model`, a function, or a ScriptedModel",
    )


def _named(who: str) -> tuple[str, JudgeSpec]:
    chosen = judges_for(who, {}, os.environ)
    if len(chosen.judges) != 1:
        why = chosen.skipped or f"`{who}` names {len(chosen.judges)} judges"
        raise ConfigError(why, hint="name one judge; several are a list of judges")
    return chosen.judges[0]


def _with(spec: JudgeSpec, parameters: Mapping[str, object]) -> JudgeSpec:
    """The spec with some parameters changed, each checked as in a settings file."""
    if not parameters:
        return spec
    table = {**msgspec.to_builtins(spec), **msgspec.to_builtins(parameters)}
    check_table(JudgeSpec, table, Place(path="Judge"), "")
    return msgspec.convert(table, JudgeSpec)

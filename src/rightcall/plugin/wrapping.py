"""Tools that note how they are called: functions, methods, callable objects, toolboxes; plain and async."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from rightcall.errors import ConfigError
from rightcall.plugin.recording import Inside, Recording

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Current = Callable[[], Recording]
    """Gives the recording that a call belongs to, when it is made."""


def wrapped(target: Any, name: str | None, current: Current) -> Any:
    """The tool, or the tools of a toolbox, with every call noted.

    Args:
        target: a function, a method, an object that can be called; a class or any other object is a toolbox.
        name: of the tool, if its own does not do.
        current: where calls are noted.

    Raises:
        ConfigError: nothing in it can be called, or it has no name.
    """
    if inspect.isclass(target):
        return _class(_unnamed(target, name), current)
    if callable(target):
        return _function(target, name or name_of(target), current)
    return _Box(_unnamed(target, name), current)


def _unnamed(target: Any, name: str | None) -> Any:
    if name is not None:
        raise ConfigError(f"`{name}` names one tool, and a toolbox has several", hint="its methods are the names")
    kind = target if inspect.isclass(target) else type(target)
    if not any(callable(getattr(kind, each)) for each in dir(kind) if not each.startswith("_")):
        raise ConfigError(f"a {kind.__name__} has nothing that can be called", hint="give a function or a toolbox")
    return target


def name_of(function: Any) -> str:
    """What a tool is called: its `name`, as most agent libraries have it, else the function's own.

    Raises:
        ConfigError: it has none.
    """
    while isinstance(function, functools.partial):
        function = function.func
    for found in (getattr(function, "name", None), getattr(function, "__name__", None)):
        if isinstance(found, str) and found and found != "<lambda>":
            return found
    if not inspect.isroutine(function):
        return type(function).__name__
    raise ConfigError("a tool needs a name", hint='write `tool("its name")(function)`')


def _function(function: Callable[..., Any], name: str, current: Current) -> Callable[..., Any]:
    signature = _signature(function)
    called = function if inspect.isroutine(function) else type(function).__call__

    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called):

        @functools.wraps(function, updated=())
        async def tool_async(*args: Any, **kwargs: Any) -> Any:
            recording, arguments = current(), _arguments(signature, args, kwargs)
            place = recording.begin(name, arguments)
            try:
                with Inside():
                    value = await function(*args, **kwargs)
            except BaseException as error:
                recording.fail(place, error)
                raise
            recording.end(place, value)
            return value

        return tool_async

    @functools.wraps(function, updated=())
    def tool(*args: Any, **kwargs: Any) -> Any:
        recording, arguments = current(), _arguments(signature, args, kwargs)
        place = recording.begin(name, arguments)
        try:
            with Inside():
                value = function(*args, **kwargs)
        except BaseException as error:
            recording.fail(place, error)
            raise
        if inspect.isawaitable(value):
            return _awaited(value, recording, place)
        recording.end(place, value)
        return value

    return tool


async def _awaited(work: Any, recording: Recording, place: int) -> Any:
    try:
        with Inside():
            value = await work
    except BaseException as error:
        recording.fail(place, error)
        raise
    recording.end(place, value)
    return value


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # some built-in functions have none
        return None


def _arguments(
    signature: inspect.Signature | None, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The arguments by name, as the agent gave them; `None` where they fit no parameters."""
    if signature is None:
        return dict(kwargs) if not args else None
    try:
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return dict(kwargs) if not args else None
    found: dict[str, Any] = {}
    for name, value in bound.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            found.update(value)
        else:
            found[name] = value
    return found


def _class(box: type, current: Current) -> type:
    """A subclass whose public methods are tools."""
    methods: dict[str, Any] = {}
    for name in dir(box):
        method = inspect.getattr_static(box, name)
        if name.startswith("_"):
            continue
        if isinstance(method, staticmethod):
            methods[name] = staticmethod(_function(method.__func__, name, current))
        elif inspect.isfunction(method):
            methods[name] = _method(method, name, current)
    return type(box.__name__, (box,), {"__module__": box.__module__, "__doc__": box.__doc__, **methods})


def _method(method: Callable[..., Any], name: str, current: Current) -> Any:
    """A method that is wrapped when it is bound, so that `self` is no argument."""

    @property  # type: ignore[misc]
    def bound(self: Any) -> Any:
        return _function(method.__get__(self), name, current)

    return bound


class _Box:
    """An object whose public methods are tools. Everything else is the object's own."""

    def __init__(self, target: Any, current: Current) -> None:
        object.__setattr__(self, "_target", target)
        object.__setattr__(self, "_current", current)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        is_tool = not name.startswith("_") and inspect.isroutine(found)
        return _function(found, name, self._current) if is_tool else found

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._target, name, value)

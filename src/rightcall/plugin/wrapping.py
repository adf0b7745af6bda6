"""Tools that note how they are called: functions, methods, callable objects, toolboxes; plain and async.

A tool that gives its result piece by piece (a generator) has ended when the last piece was taken, or when nobody takes
more; its result is the list of the pieces.
"""

from __future__ import annotations

import functools
import inspect
import types
from typing import TYPE_CHECKING, Any

from rightcall.errors import ConfigError
from rightcall.plugin.recording import Inside, Recording
from rightcall.plugin.streaming import is_stream, streamed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Current = Callable[[], Recording]
    """Gives the recording that a call belongs to, when it is made."""

__tracebackhide__ = True  # pytest shows the frames of the test and of its tools, not these


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


def names_in(target: Any, name: str | None) -> set[str]:
    """What the tools are called that `wrapped` makes of a target."""
    if callable(target) and not inspect.isclass(target):
        return {name or name_of(target)}
    return {each for each in dir(target) if not each.startswith("_")}


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
        if is_stream(value):
            return streamed(value, recording, place)
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


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # some functions that are written in C have none
        return _ANY


_ANY = inspect.signature(lambda *args, **kwargs: (args, kwargs))
"""That of a function which does not say what it takes: what stands without a name is a list, `args`."""


def _arguments(signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments by name, as the agent gave them; `None` where they fit no parameters, or two have one name."""
    try:
        bound = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return dict(kwargs) if not args else None
    found: dict[str, Any] = {}
    for name, value in bound.items():
        given = value if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD else {name: value}
        if found.keys() & given.keys():
            return None
        found.update(given)
    return found


def _class(box: type, current: Current) -> type:
    """A subclass whose public methods are tools."""
    made = types.new_class(box.__name__, (box,), exec_body=lambda names: names.update(_named_like(box)))
    for name in dir(box):
        method = inspect.getattr_static(box, name)
        if not name.startswith("_") and _is_method(method):
            # Not by the class's own rules: some (pydantic's) take whatever is no plain function for a field.
            type.__setattr__(made, name, _Method(method, name, current))
    return made


def _named_like(box: type) -> dict[str, Any]:
    return {"__module__": box.__module__, "__qualname__": box.__qualname__, "__doc__": box.__doc__}


def _is_method(method: object) -> bool:
    return isinstance(method, (classmethod, staticmethod, functools.partialmethod)) or inspect.isroutine(method)


class _Method:
    """A method that is wrapped when it is bound, so that neither `self` nor `cls` is an argument."""

    def __init__(self, method: Any, name: str, current: Current) -> None:
        self._method, self._name, self._current = method, name, current

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is not None or isinstance(self._method, (classmethod, staticmethod)):
            return _function(self._bound(instance, owner), self._name, self._current)

        def of(this: Any, /, *args: Any, **kwargs: Any) -> Any:
            return self.__get__(this, owner)(*args, **kwargs)

        return of

    def _bound(self, instance: object, owner: type) -> Any:
        # Some functions that are written in C stay as they are in a class.
        bind = getattr(self._method, "__get__", None)
        return self._method if bind is None else bind(instance, owner)


class _Box:
    """An object whose public methods are tools. Everything else is the object's own."""

    def __init__(self, target: Any, current: Current) -> None:
        object.__setattr__(self, "_target", target)
        object.__setattr__(self, "_current", current)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        is_tool = not name.startswith("_") and (inspect.isroutine(found) or isinstance(found, functools.partial))
        return _function(found, name, self._current) if is_tool else found

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._target, name, value)

"""Tools that give their result piece by piece: generators, plain and async. What passes is not changed."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from rightcall.plugin.recording import Inside
from rightcall.plugin.values import NotJson, plain

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from rightcall.plugin.recording import Recording

__tracebackhide__ = True


def is_stream(value: object) -> bool:
    """Whether a call gave a generator."""
    return inspect.isgenerator(value) or inspect.isasyncgen(value)


def streamed(value: Any, recording: Recording, place: int) -> Any:
    """The same pieces, noted as they pass: their list is the call's result, an error among them is its error."""
    return _pieces_async(value, recording, place) if inspect.isasyncgen(value) else _pieces(value, recording, place)


def _as_now(piece: object) -> object:
    """A piece as it is at this moment, whatever is done with it later."""
    try:
        return plain(piece)
    except NotJson:
        return piece


def _pieces(work: Generator[Any, Any, Any], recording: Recording, place: int) -> Generator[Any, Any, Any]:
    pieces: list[object] = []
    step, given = work.send, None
    try:
        while True:
            with Inside():
                piece = step(given)
            pieces.append(_as_now(piece))
            try:
                step, given = work.send, (yield piece)
            except GeneratorExit:
                raise
            except BaseException as error:  # noqa: BLE001 - thrown in by the agent: the tool may take it
                step, given = work.throw, error
    except StopIteration as stop:
        recording.end(place, pieces)
        return stop.value
    except GeneratorExit:
        work.close()
        recording.end(place, pieces)
        raise
    except BaseException as error:
        recording.fail(place, error)
        raise


async def _pieces_async(work: AsyncGenerator[Any, Any], recording: Recording, place: int) -> AsyncGenerator[Any, Any]:
    pieces: list[object] = []
    step, given = work.asend, None
    try:
        while True:
            with Inside():
                piece = await step(given)
            pieces.append(_as_now(piece))
            try:
                step, given = work.asend, (yield piece)
            except GeneratorExit:
                raise
            except BaseException as error:  # noqa: BLE001 - as above
                step, given = work.athrow, error
    except StopAsyncIteration:
        recording.end(place, pieces)
    except GeneratorExit:
        await work.aclose()
        recording.end(place, pieces)
        raise
    except BaseException as error:
        recording.fail(place, error)
        raise

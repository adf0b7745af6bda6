"""What all assertions share: a short traceback, and no error of ours that could pass for a failed assertion."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from rightcall.errors import RightcallError
from rightcall.plugin.undecided import Undecided

if TYPE_CHECKING:
    from collections.abc import Callable

    from rightcall.plugin.state import State


class HasState(Protocol):
    """What belongs to a test."""

    @property
    def _state(self) -> State: ...


P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=HasState)


def asserted(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """An assertion: its frames are not shown, and what keeps it from an answer is `Undecided` and is noted."""

    @functools.wraps(method)
    def assertion(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True
        state = self._state
        try:
            return method(self, *args, **kwargs)
        except AssertionError as error:
            raise error.with_traceback(None) from None
        except Undecided as error:
            state.undecided = state.undecided or error
            raise error.with_traceback(None) from None
        except RightcallError as error:
            stopped = Undecided(state.suite.hide.text(str(error)))
            state.undecided = state.undecided or stopped
            raise stopped from None

    return assertion

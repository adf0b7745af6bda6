"""Judgement by code: pure functions from a case and a trace to a verdict.

The package shares its name with the public function `rightcall.grade`. Importing any module of the package makes
Python bind the package to that name, so the package is callable and passes the call on.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """`rightcall.grade(case, trace, …)`; see `rightcall.api.grade`."""
        return sys.modules["rightcall"].api_function("grade")(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable

"""Orchestration: joining, streaming, processes, judges, in input order and bounded memory.

Like `rightcall.grade`, the package shares its name with a public function, `rightcall.run`, and passes the call on.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """`rightcall.run(…)`; see `rightcall.api.run`."""
        return sys.modules["rightcall"].api_function("run")(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable

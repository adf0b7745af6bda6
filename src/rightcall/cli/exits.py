"""Exit codes and the one line that a person sees when something stops the work (SPEC §9).

0 passed · 1 a `FAIL` · 2 usage or configuration · 3 inconclusive · 5 broken or no data · 130 interrupted.
The highest-ranking cause wins: 2 > 1 > 5 > 4 > 3 > 0, and all causes are printed.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from rightcall.errors import RightcallError

if TYPE_CHECKING:
    from cyclopts import App

RANK = (2, 1, 5, 4, 3, 0)


def worst(codes: list[int]) -> int:
    """The exit code that wins."""
    return next((code for code in RANK if code in codes), 0)


def guarded(app: App, tokens: list[str] | None = None) -> int:
    """Run the app; turn every error that is meant into one line on stderr and its exit code."""
    from cyclopts import CycloptsError

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except CycloptsError as error:
        return _say(f"{' '.join(str(error).split())} (see rightcall --help)", 2)
    except RightcallError as error:
        return _say(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _say("interrupted; nothing was written", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code if isinstance(code, int) else 0


def _say(text: str, code: int) -> int:
    print(f"rightcall: {text}", file=sys.stderr)
    print(f"exit {code}", file=sys.stderr)
    return code

"""Exit codes and the one line that a person sees when something stops the work (SPEC §9).

0 passed · 1 a `FAIL` · 2 usage or configuration · 3 inconclusive · 5 broken or no data · 130 interrupted.
The highest-ranking cause wins: 2 > 1 > 5 > 4 > 3 > 0, and all causes are printed.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rightcall.errors import Place, RightcallError, RunError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cyclopts import App

RANK = (2, 1, 5, 4, 3, 0)


def worst(codes: list[int]) -> int:
    """The exit code that wins."""
    return next((code for code in RANK if code in codes), 0)


def guarded(app: App, tokens: list[str] | None = None) -> int:
    """Run the app; turn every error that is meant into one line on stderr and its exit code."""
    from cyclopts import CycloptsError

    open_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except CycloptsError as error:
        where = " ".join(["rightcall", *(error.command_chain or ()), "--help"])
        return _say(f"{' '.join(str(error).split())} (see {where})", 2)
    except RightcallError as error:
        return _say_error(error)
    except KeyboardInterrupt as error:
        return _say(f"{error}; no report was written" if str(error) else "interrupted; no report was written", 130)
    except BrokenPipeError:
        drop_stdout()
        return 0
    except SystemExit:  # how rich leaves when nobody reads the help to its end; no command of ours leaves this way
        return 0
    except OSError as error:  # a full disk under stdout, a folder that must not be read
        drop_stdout()
        place = Place(str(error.filename)) if error.filename else Place()
        return _say_error(RunError(error.strerror or str(error), place=place))
    return code if isinstance(code, int) else 0


def open_streams() -> None:
    """Give streams that were closed before the start (`>&-`) an end that takes everything."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - to the end of the process


@contextmanager
def unread_output() -> Iterator[None]:
    """Print what may not be read to its end (`… | head`): the verdict and its exit code stand all the same."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        drop_stdout()


def drop_stdout() -> None:
    """Let go of stdout: what is still to be written would fail again when the interpreter ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say_error(error: RightcallError) -> int:
    """One line without secrets; those of the suite's own patterns were hidden where the suite is known."""
    from rightcall.run.inputs.hiding import hidden_error
    from rightcall.trace.redact import Redactor, load_key

    return _say(str(hidden_error(error, Redactor(key=load_key(os.environ, None)))), error.exit_code)


def _say(text: str, code: int) -> int:
    from rightcall.report.plain import visible

    print(f"rightcall: {visible(text)}", file=sys.stderr)
    print(f"exit {code}", file=sys.stderr)
    return code

"""Who works: the person that a flag, the environment or the login names."""

from __future__ import annotations

import os
from typing import Annotated

from cyclopts import Parameter

AsFlag = Annotated[
    str | None,
    Parameter(name="--as", help="Who you are: your name on record (also RIGHTCALL_USER, else the login name)."),
]
LONGEST = 100


def who_of(name: str | None) -> str:
    """The name under which a person works.

    Raises:
        ConfigError: nobody says who it is, or the name is none.
    """
    from rightcall.errors import ConfigError, Place

    found = name if name is not None else os.environ.get("RIGHTCALL_USER") or _login()
    hint = "say who you are: --as NAME, or RIGHTCALL_USER"
    if found is None:
        raise ConfigError("nobody is logged in", place=Place("--as"), hint=hint)
    if not found.strip() or len(found) > LONGEST or not found.isprintable():
        raise ConfigError(f"`{found[:LONGEST]}` is no name", place=Place("--as"), hint=hint)
    return found.strip()


def _login() -> str | None:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in some containers
        return None

"""`rightcall schema`: the JSON Schema of any file that rightcall reads or writes."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter


def schema(name: Annotated[str, Parameter(help="case, trace, policy, config, result, selection-result …")]) -> int:
    """Print a JSON Schema, for editors and for checks of your own."""
    import msgspec

    from rightcall.errors import ConfigError
    from rightcall.settings.schemas import SCHEMAS
    from rightcall.trace.explain import nearest

    if name not in SCHEMAS:
        guess = nearest(name, SCHEMAS)
        known = ", ".join(SCHEMAS)
        raise ConfigError(
            f"no schema is called `{name}`", hint=f"did you mean `{guess}`?" if guess else f"known: {known}"
        )
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(SCHEMAS[name]())).decode() + "\n")
    return 0

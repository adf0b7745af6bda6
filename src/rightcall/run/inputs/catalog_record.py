"""The suite's catalog on record: kept once under its hash, and named by every run that used it.

Whoever looks at a run later, to answer a review item or to export its pairs, sees the tools that were known then, and
not those of a file that may have changed or gone since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.errors import Place, StoreError
from rightcall.run.judging.record import sha256_of
from rightcall.trace import jsontext
from rightcall.trace.catalog import Catalog, parse_tools
from rightcall.trace.model import Tool, to_builtins

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rightcall.store.store import Store
    from rightcall.trace.redact import Redactor

KEY = "catalog"
"""The fact of a run that names its catalog's body."""


def hidden_catalog(tools: Iterable[Tool], hide: Redactor) -> tuple[Tool, ...]:
    """A catalog as it may be kept and shown."""
    return tuple(msgspec.convert(hide.value(dict(to_builtins(tool))), Tool) for tool in tools)


def catalog_body(tools: Iterable[Tool], hide: Redactor) -> bytes:
    """A catalog as a body of the store: redacted JSON."""
    return jsontext.encode([to_builtins(tool) for tool in hidden_catalog(tools, hide)])


def catalog_fact(body: bytes | None) -> dict[str, Any]:
    """What a run's facts say of its catalog."""
    return {KEY: None if body is None else sha256_of(body)}


def kept_catalog(store: Store, run_id: str) -> Catalog | None:
    """The catalog of the suite that a run used; `None` where it had none, or kept none.

    Raises:
        StoreError: it cannot be read.
    """
    name = store.run(run_id).facts.get(KEY)
    if not isinstance(name, str):
        return None
    tools = jsontext.decode(store.body(name))
    if not isinstance(tools, list):
        raise StoreError("the catalog on record is none", code="STORE_INVALID", hint="verify the log")
    return Catalog(parse_tools(tools, Place(store.name, path="catalog")))

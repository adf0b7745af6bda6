"""Every JSON Schema that `rightcall schema` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.case import schema as case_schemas
from rightcall.settings.model import Settings

if TYPE_CHECKING:
    from collections.abc import Callable


def _config() -> dict[str, Any]:
    built: dict[str, Any] = msgspec.json.schema(Settings)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "rightcall.toml", **built}


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {**case_schemas.SCHEMAS, "config": _config}

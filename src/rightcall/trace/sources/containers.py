"""Files that are packed otherwise than as JSON. A new container is one module and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.trace.sources import inspect_eval, otlp_protobuf, vcr

if TYPE_CHECKING:
    from rightcall.trace.sources.dialect import Container

CONTAINERS: dict[str, Container] = {
    module.CONTAINER.name: module.CONTAINER for module in (inspect_eval, otlp_protobuf, vcr)
}


def container_of(head: bytes, name: str) -> Container | None:
    """The container that a file is, by its first bytes and its name; `None` if it is none."""
    return next((container for container in CONTAINERS.values() if container.opens(head, name)), None)

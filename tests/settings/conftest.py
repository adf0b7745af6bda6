"""An empty folder with files written into it, as the current one."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Write a file, as text or as bytes."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write

"""A folder in which `rightcall` asks the real local model, each command in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from rightcall.store.records import AttemptRecord
from rightcall.store.store import Store

MODEL = "smollm2-135m"
JUDGE = """
store = "record.db"
[judges.local]
model = "smollm2-135m"
base_url = "{url}"
max_tokens = {most}
max_concurrency = 1
timeout = 300
{context}
"""
KEYS = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "OLLAMA_HOST",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
)


def shape(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object with exactly these keys."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Folder:
    """A folder with settings; `tables` are what stands in them besides the store and the judge `local`."""

    def __init__(self, folder: Path, url: str, tables: str, *, most: int = 160, context: int | None = 8192) -> None:
        self.folder = folder
        limit = "" if context is None else f"context_tokens = {context}"
        (folder / "rightcall.toml").write_text(JUDGE.format(url=url, most=most, context=limit) + tables)

    def write(self, name: str, *values: Any) -> None:
        """Write JSON lines."""
        (self.folder / name).write_text("".join(json.dumps(value) + "\n" for value in values))

    def run(self, *words: str) -> Said:
        """Run a command."""
        environment = {k: v for k, v in os.environ.items() if k.upper() not in KEYS and not k.startswith("RIGHTCALL_")}
        # The key makes the words of the fences, which a small model takes for names: the same key, the same replies.
        environment |= {"RIGHTCALL_REDACTION_KEY": "a fixed key for tests", "COLUMNS": "200", "NO_COLOR": "1"}
        command = [sys.executable, "-c", "from rightcall.cli.main import main; main()", *words]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def attempts(self) -> list[AttemptRecord]:
        """Every exchange on record."""
        with Store.open(self.folder / "record.db", create=False) as store:
            return [attempt for _, _, attempt in store.attempts()]

    def asked(self) -> list[AttemptRecord]:
        """Every exchange about something to judge."""
        return [attempt for attempt in self.attempts() if attempt.purpose == "question"]

    def text(self, sha256: str) -> str:
        """A text on record."""
        with Store.open(self.folder / "record.db", create=False) as store:
            return store.body(sha256).decode()

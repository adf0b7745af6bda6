"""Sessions of pytest in processes of their own, which begin with everything loaded.

pytest's own `pytester` runs them inside the calling process and forgets afterwards what they imported; numpy and
SQLAlchemy cannot be imported twice. A fresh interpreter for each session would take most of its time to load.
"""

import multiprocessing
import os
import sys
from pathlib import Path

import pytest

PRELOADED = [
    "pytest", "xdist", "rightcall.api", "rightcall.plugin.agent", "rightcall.plugin.gathered", "rightcall.plugin.gating",
    "rightcall.plugin.outcome", "rightcall.plugin.watch", "rightcall.plugin.writing", "rightcall.report.formats.writing",
    "rightcall.report.view.building", "rightcall.run.graders.setup", "rightcall.store.store", "rightcall.store.upgrade",
    "rightcall.testing", "scipy.special", "sqlalchemy", "alembic.command", "openai", "session_making",
]  # fmt: skip
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(PRELOADED)


def _main(folder, args, out, err, environ):
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115 - the same
    sys.argv = ["pytest", *args]
    code = pytest.main(args)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(code))


class Project:
    """A folder with tests of an agent."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def write(self, name, text):
        (self.folder / name).write_text(text, "utf-8")

    def run(self, *args):
        """Run a session, and give what it printed and its exit status."""
        out, err = self.folder / "session.out", self.folder / "session.err"
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV_"))}
        others = [flag for name in ("cov", "hypothesispytest", "anyio") for flag in ("-p", f"no:{name}")]
        flags = ["-W", "ignore::pytest.PytestAssertRewriteWarning", *others, *args]
        child = _context.Process(target=_main, args=(str(self.folder), flags, str(out), str(err), environ))
        child.start()
        child.join(60)
        if child.exitcode is None:
            child.kill()
            child.join()
        lines = [path.read_text("utf-8").splitlines() for path in (out, err)]
        return pytest.RunResult(child.exitcode, *lines, duration=0)

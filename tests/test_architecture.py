"""The shape of the house: who imports whom, what a bare import costs, what is public, what never enters a file."""

import importlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ENGINE = {"aiohttp", "alembic", "anthropic", "httpx", "httpx2", "numpy", "openai", "psycopg", "scipy", "sqlalchemy"}
HEAVY = {*ENGINE, "cyclopts", "pydantic", "rich", "stamina"}
PUBLIC_NAMES_AT_MOST = 25

# Spelled in halves, so that this file does not contain what it looks for.
FORBIDDEN_TEXT = re.compile(
    "|".join(
        [
            r"\bpy" + r"pi\.(?:org|io|python)",
            "python" + "hosted",
            "npm" + r"js\.",
            "crates" + r"\.io",
            "deb" + r"\.debian",
            "proxy" + r"\.golang",
            r"(?<![\w.~-])/(?:work|root)" + "/",
        ]
    ).encode(),
    re.IGNORECASE,
)


def modules_loaded_by(statement: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter holds after `statement`."""
    report = "import json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    run = subprocess.run(
        [sys.executable, "-I", "-c", f"{statement}\n{report}"], capture_output=True, text=True, check=True
    )
    return set(json.loads(run.stdout))


def files_under_git() -> list[Path]:
    """Return the files that git tracks or would track."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    names = subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0")
    return [path for name in names if name and (path := ROOT / name).is_file()]


def test_every_import_contract_is_kept():
    # In its own process: the linter reconfigures logging and sys.path.
    lint = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, no_logo=True))"
    run = subprocess.run([sys.executable, "-c", lint], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_importing_the_package_loads_no_heavy_library():
    assert not modules_loaded_by("import rightcall") & HEAVY


def test_resolving_every_public_name_loads_no_heavy_library():
    loaded = modules_loaded_by("import rightcall\nfor name in rightcall.__all__: getattr(rightcall, name)")
    assert not loaded & HEAVY


def test_what_is_only_met_loads_no_engine():
    assert not modules_loaded_by("import rightcall\nfor name in rightcall._MET: getattr(rightcall, name)") & ENGINE


def test_the_help_of_the_command_line_loads_no_engine():
    help_ = "import io, sys; real, sys.stdout = sys.stdout, io.StringIO()\n"
    help_ += "from rightcall.cli.exits import guarded\nfrom rightcall.cli.main import app\n"
    loaded = modules_loaded_by(help_ + "assert guarded(app, ['--help']) == 0; sys.stdout = real")
    assert "cyclopts" in loaded
    assert not loaded & ENGINE


def test_steps_that_code_decides_load_neither_a_client_nor_a_database():
    step = "rightcall.Step(id='s', selected=None, expected=None)"
    loaded = modules_loaded_by(
        f"import rightcall\nassert rightcall.run(rightcall.selection([{step}])).results[0].passed"
    )
    assert not loaded & (ENGINE - {"numpy", "scipy"})


def test_the_public_surface_is_small_sorted_and_importable():
    rightcall = importlib.import_module("rightcall")
    assert rightcall.__all__ == sorted(rightcall.__all__)
    assert len(set(rightcall.__all__)) == len(rightcall.__all__) <= PUBLIC_NAMES_AT_MOST
    assert [name for name in rightcall.__all__ if not hasattr(rightcall, name)] == []


def test_an_unknown_public_name_is_an_attribute_error():
    rightcall = importlib.import_module("rightcall")
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = rightcall.no_such_name


def test_no_file_names_a_registry_or_a_path_of_one_machine():
    found = []
    for path in files_under_git():
        data = path.read_bytes()
        for match in FORBIDDEN_TEXT.finditer(data):
            line = data.count(b"\n", 0, match.start()) + 1
            found.append(f"{path.relative_to(ROOT)}:{line}")
    assert found == []


def test_no_two_modules_that_tests_share_have_one_name():
    # Tests import them by their bare names, so one of two would hide the other.
    names = [path.name for path in (ROOT / "tests").rglob("*.py") if path.name not in {"__init__.py", "conftest.py"}]
    assert sorted({name for name in names if names.count(name) > 1 and not name.startswith("test_")}) == []

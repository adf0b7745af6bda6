"""The command as it is started: help, version, and what it costs to ask."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from rightcall import __version__
from rightcall.cli.main import app

VERBS = ("demo", "golden", "lint", "schema")
HEAVY = {
    "hypothesis", "jsonschema_rs", "multiprocessing", "numpy", "pydantic", "re2", "ruamel", "scipy", "tomllib", "zstandard",
}  # fmt: skip
LOADED = """
import json, sys
from rightcall.cli.exits import guarded
from rightcall.cli.main import app
code = guarded(app, sys.argv[1:])
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""


def loaded_by(*arguments: str) -> tuple[int, set[str]]:
    """Exit code of a command in a process of its own, and the top-level modules that it loaded."""
    command = [sys.executable, "-I", "-c", LOADED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, names = json.loads(done.stderr.splitlines()[-1])
    return code, set(names)


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ()])
def test_help_names_every_verb(rightcall, arguments):
    said = rightcall(*arguments)
    assert (said.code, said.err) == (0, "")
    assert "Did the AI agent make the right tool calls" in " ".join(said.out.split())
    for verb in VERBS:
        assert verb in said.out


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(rightcall, verb):
    said = rightcall(verb, "--help")
    assert (said.code, said.err) == (0, "")
    assert f"rightcall {verb}" in said.out


def commands():
    """Every command that does something: verbs, and the commands below those that only gather others."""
    for verb in sorted(name for name in app if not name.startswith("-")):
        below = [name for name in app[verb] if not name.startswith("-")]
        yield from ((verb, name) for name in below) if below else [(verb,)]


@pytest.mark.parametrize(
    ("given", "page"),
    [("nope", ""), ("show", "show "), ("golden --nope", "golden "), ("export report --nope", "export report ")],
)
def test_a_command_that_is_not_one_names_the_help_about_it(rightcall, given, page):
    said = rightcall(*given.split())
    assert said.code == 2
    assert f"(see rightcall {page}--help)" in said.err


@pytest.mark.parametrize("verb", ["export", "log", "prompt", "review"])
def test_the_list_of_verbs_names_every_command_of_a_group(rightcall, verb):
    first = " ".join(rightcall(verb, "--help").out.split("╭")[0].split())
    named = first.rpartition(": ")[2].rstrip(".").split(", ")
    assert sorted(named) == sorted(name for name in app[verb] if not name.startswith("-"))


@pytest.mark.parametrize("command", list(commands()), ids=" ".join)
def test_every_option_says_what_it_is_for(command):
    found = app[command[0]] if len(command) == 1 else app[command[0]][command[1]]
    for argument in found.assemble_argument_collection():
        assert argument.parameter.help or argument.name == "*", f"{command} {argument.name}"


def test_the_version(rightcall):
    said = rightcall("--version")
    assert (said.code, said.out, said.err) == (0, f"{__version__}\n", "")


def test_an_unknown_verb_is_a_usage_error_with_the_nearest_one(rightcall):
    said = rightcall("goldn")
    assert (said.code, said.out) == (2, "")
    assert "golden" in said.err
    assert len(said.err.splitlines()) == 2


@pytest.mark.parametrize("arguments", [("--help",), ("golden", "--help"), ("--version",)])
def test_asking_for_help_loads_nothing_heavy(arguments):
    code, names = loaded_by(*arguments)
    assert code == 0
    assert names & HEAVY == set()


def test_a_schema_loads_no_numbers_and_no_patterns():
    code, names = loaded_by("schema", "policy")
    assert code == 0
    assert names & {"numpy", "scipy", "multiprocessing"} == set()


def test_the_module_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "rightcall.cli.main", "--version"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{__version__}\n", "")


def test_the_program_leaves_with_the_code_of_its_command():
    done = subprocess.run(
        [sys.executable, "-m", "rightcall.cli.main", "schema", "x"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr

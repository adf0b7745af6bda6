"""The documents are true: commands print what is shown, code runs, and nothing that a user can name is missing.

A `console` block is run in a folder that holds `examples/`. Lines after `$ ` are what it prints, in order: stdout, then
stderr. `…` stands for anything, within a line or for whole lines; blanks and times do not count. A visible `exit N` is
the exit code, else it is 0. A block with a `title` is a file of that name. The `python` blocks of a page run in order.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import sys
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

import rightcall
from rightcall.case import checks, matchers
from rightcall.case.golden import compile_case
from rightcall.case.matchers import MATCHER_NAMES, compile_value
from rightcall.case.parse import load_yaml, parse_cases
from rightcall.case.policy import Policy
from rightcall.cli.exits import RANK, guarded
from rightcall.cli.main import app
from rightcall.errors import Place
from rightcall.grade.profiles import PROFILES
from rightcall.grade.safety import Matrix
from rightcall.grade.verdict import FindingKind, Metrics
from rightcall.report.formats.writing import SUFFIXES
from rightcall.settings.model import Settings
from rightcall.trace.sources.registry import DIALECTS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
LINKED = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "examples").rglob("*.md"))]
COMMANDS = (
    "demo", "init", "inspect", "import", "golden", "selection", "rubric", "preference", "interpretation", "probe",
    "prompt list", "prompt show", "prompt check", "prompt render", "runs", "show", "review next", "review list", "review show",
    "review answer", "review release", "review stats", "review import", "signoff", "export labels",
    "export preferences", "export verdicts", "export report", "export baseline", "export bundle", "run", "gate", "diff", "calibrate",
    "doctor", "log list", "log gates", "log show", "log verify", "log replay", "lint", "schema",
)  # fmt: skip
SHARED_FLAGS = "Flags of judges"
"""The section with the flags that commands with judges share."""
WRONG_ON_PURPOSE = ("wrong.toml",)

FENCE = re.compile(r"^```(\w*) ?(.*)$")
SPAN = re.compile(r"`([^`]+)`")


@dataclass
class Block:
    """A fenced block: its language, the name of the file that it is, where it begins, its lines."""

    language: str
    title: str | None
    line: int
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def split(page: Path) -> tuple[list[Block], list[str]]:
    """The fenced blocks of a page, and its other lines."""
    blocks: list[Block] = []
    prose: list[str] = []
    inside: Block | None = None
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if inside is not None and line == "```":
            inside = None
        elif inside is not None:
            inside.lines.append(line)
        elif fence:
            title = re.search(r'title="([^"]+)"', fence[2])
            inside = Block(fence[1], title[1] if title else None, number)
            blocks.append(inside)
        else:
            prose.append(line)
    assert inside is None, f"{page}: a fence stays open"
    return blocks, prose


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def headings(page: Path) -> list[tuple[int, str]]:
    """Level and text of every heading."""
    found = [re.match(r"(#+) (.+)", line) for line in split(page)[1]]
    return [(len(match[1]), match[2].replace("`", "").strip()) for match in found if match]


def words(page: str) -> set[str]:
    """Headings of a page, and what stands before a colon in them."""
    texts = [text for _, text in headings(DOCS / page)]
    return {*texts, *(text.split(":")[0] for text in texts)}


# ---- what is shown is what happens -----------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty folder with the examples, 80 columns and no settings of the person who runs the tests."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for variable in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(sys, "argv", ["rightcall"])
    return tmp_path


def runs(block: Block) -> list[tuple[str, list[str]]]:
    """Every command of a block with the lines that it shows."""
    found: list[tuple[str, list[str]]] = []
    for line in block.lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            assert found, f"line {block.line}: output without a command"
            found[-1][1].append(line)
    return found


def plain(line: str) -> str:
    return re.sub(r"\b\d+\.\d+ s\b", "N s", " ".join(line.split()))


def appear(shown: list[str], printed: str) -> str | None:
    """The first shown line that is not printed in its turn."""
    lines = iter(plain(line) for line in printed.splitlines())
    for line in shown:
        pattern = ".*".join(re.escape(plain(part)) for part in line.split("…"))
        if plain(line.replace("…", "")) and not any(re.fullmatch(pattern, real.strip()) for real in lines):
            return line
    return None


def run(command: str, monkeypatch, capfd) -> tuple[int, str]:
    """Exit code and output of one command line."""
    tokens = shlex.split(command)
    with monkeypatch.context() as patch:
        while "=" in tokens[0]:
            patch.setenv(*tokens.pop(0).split("=", 1))
        assert tokens.pop(0) == "rightcall", command
        capfd.readouterr()
        code = guarded(app, tokens)
    out, err = capfd.readouterr()
    return code, out + err


def as_made(command: str, shown: list[str]) -> tuple[str | None, list[str]]:
    """`make` lines as what they run; what the Makefile itself says is looked up there."""
    if not command.startswith("make "):
        return command, shown
    said = (ROOT / "Makefile").read_text("utf-8").replace("$(VENV)", ".venv")
    own = [line for line in shown if re.match(r"(setup|check|test|demo): ", line)]
    assert [line for line in own if f'echo "{line}"' not in said] == []
    rest = [line for line in shown if line not in own]
    return ("rightcall demo", rest) if command == "make demo" else (None, rest)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_shows_what_happens(page, place, monkeypatch, capfd):
    names: dict[str, Any] = {"__name__": page.stem}
    for block in split(page)[0]:
        if block.title:
            (place / block.title).write_text(block.text, "utf-8")
        if block.language == "python":
            capfd.readouterr()
            exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
            printed = capfd.readouterr().out
            said = [line.split("  # ")[1] for line in block.lines if line.startswith("print(") and "  # " in line]
            assert [line for line in said if line not in printed.splitlines()] == []
        for command, shown in runs(block) if block.language == "console" else ():
            check(page, block, *as_made(command, shown), monkeypatch, capfd)


def check(page: Path, block: Block, command: str | None, shown: list[str], monkeypatch, capfd) -> None:
    where = f"{name(page)}:{block.line}: {command}"
    if command is None:
        assert [line for line in shown if line.strip(" …")] == [], f"{where}: nothing says this"
        return
    code, printed = run(command, monkeypatch, capfd)
    missing = appear(shown, printed)
    assert missing is None, f"{where}\nnot printed: {missing}\n{printed}"
    said = [found[1] for line in shown if (found := re.search(r"\bexit (\d+)\b", line))]
    assert code == int(said[-1] if said else 0), f"{where}\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_snippet_can_be_used(page, monkeypatch):
    """Whatever is shown as a setting, a policy, a case or a matcher is one."""
    comparator = type("EntryPoint", (), {"load": lambda _: lambda **_options: lambda _value: True})
    monkeypatch.setattr(matchers, "entry_points", lambda **_: [comparator()])
    for block in split(page)[0]:
        where = f"{name(page)}:{block.line}"
        if block.language == "json":
            rows = block.lines if all(line.startswith("{") for line in block.lines[1:]) else [block.text]
            assert [json.loads(row) for row in rows], where
        elif block.language == "yaml":
            assert load_yaml(block.text, where), where
        elif block.language == "toml" and block.title not in WRONG_ON_PURPOSE:
            use(block.text, where)


def use(text: str, where: str) -> None:
    table = tomllib.loads(text)
    if table.keys() == {"arguments"}:
        for value in table["arguments"].values():
            compile_value(value, Place(where))
    elif table.keys() & {"id", "case"}:
        cases = [case for case, _ in parse_cases(text.encode(), "page.toml")]
        assert all(compile_case(case) or case.expect is None for case in cases), where
    elif table.keys() == {"policy"}:
        Matrix(msgspec.convert(table["policy"], Policy))
    else:
        msgspec.convert(table, Settings)


# ---- nothing is missing ----------------------------------------------------------------------------------------------


def constants(pattern: str, *folders: str) -> set[str]:
    """Text constants of the source that match a pattern in full."""
    files = [file for folder in folders or ("",) for file in (ROOT / "src/rightcall" / folder).rglob("*.py")]
    nodes = (node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8"))))
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {text for text in texts if re.fullmatch(pattern, text)}


NO_CODES = {"NO_TOOL", "TRACE_A", "TRACE_B", "TRACE_LEVEL"}
"""Names of constants and placeholders of prompts that look like codes."""


@cache
def error_codes() -> set[str]:
    """Every code that something can raise or report: those that are written out, and those of the classes in use."""
    families = "BUDGET|CASE|CONFIG|INJECTION|JUDGE|NO|PROMPT|REJECTED|RUN|STAT|STORE|TRACE"
    used = constants(rf"(?:{families})_[A-Z_]+|TOO_LONG|CLOCK_SKEW|ORDER_AMBIGUOUS") - NO_CODES
    unused = set()
    sources = [file.read_text("utf-8") for file in (ROOT / "src").rglob("*.py") if file.name != "errors.py"]
    for node in ast.parse((ROOT / "src/rightcall/errors.py").read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef) and not any(re.search(rf"\b{node.name}\(", text) for text in sources):
            unused |= {part.value.value for part in node.body if is_code(part)}
    return (used - unused) | {code for code in unused if "_" in code and any(f'"{code}"' in text for text in sources)}


def is_code(part: ast.stmt) -> bool:
    return isinstance(part, ast.Assign) and getattr(part.targets[0], "id", None) == "default_code"


def reasons() -> set[str]:
    """Why there can be no verdict."""
    files = [file for room in ("grade", "run") for file in (ROOT / "src/rightcall" / room).rglob("*.py")]
    texts = [file.read_text("utf-8") for file in files]
    pattern = r'undecided\s*=\s*"(\w+)"|_unevaluable\([^"\n]*"(\w+)"|else "(\w+_expected)"'
    return {part for text in texts for found in re.findall(pattern, text) for part in found if part}


def setting_keys() -> set[str]:
    keys: set[str] = set()
    for key in msgspec.structs.fields(Settings):
        inner = key.type if isinstance(key.type, type) and issubclass(key.type, msgspec.Struct) else None
        if inner is None or inner is Policy:
            keys.add(key.name)
        else:
            keys |= {f"{key.name}.{part.name}" for part in msgspec.structs.fields(inner)}
    return keys


SUBJECTS = {
    "command": ("commands.md", {f"rightcall {command}" for command in COMMANDS}),
    "profile": ("profiles.md", set(PROFILES)),
    "matcher": ("cases.md", set(MATCHER_NAMES)),
    "metric": ("graders/golden.md", set(Metrics.__struct_fields__)),
    "finding": ("graders/golden.md", set(get_args(FindingKind))),
    "reason": ("graders/golden.md", reasons),
    "rule": ("safety.md", {*Policy.__struct_fields__, "destructive_surplus", "destructive_substitution"}),
    "setting": ("configuration.md", setting_keys),
    "exit code": ("exit-codes.md", {str(code) for code in {*RANK, 130}}),
    "error code": ("errors.md", error_codes),
    "function": ("python-api.md", {name for name in rightcall.__all__ if name.islower()}),
}


@pytest.mark.parametrize("subject", SUBJECTS)
def test_everything_that_has_a_name_has_a_heading(subject):
    page, known = SUBJECTS[subject]
    names = known() if callable(known) else known
    assert names
    assert names - words(page) == set()


def test_every_error_code_on_the_page_exists():
    assert {word for word in words("errors.md") if re.fullmatch(r"[A-Z]+_[A-Z_]+", word)} - error_codes() == set()


def test_every_setting_on_the_page_exists():
    section = {text for level, text in headings(DOCS / "configuration.md") if level == 3}
    assert section == setting_keys()


def flags_of(command: str) -> list[tuple[str, ...]]:
    """Every flag of a command, long name first; those of groups that are shared stand behind its own."""
    found = app
    for part in command.split():
        found = found[part]
    return [argument.names for argument in found.assemble_argument_collection()]


def flags_on_the_page(section: str) -> list[str]:
    inside, texts = False, []
    for level, text in headings(DOCS / "commands.md"):
        inside = text == section if level == 2 else inside
        texts += [text] if inside and level == 3 else []
    return texts


@pytest.mark.parametrize("command", COMMANDS)
def test_the_flags_of_a_command_are_those_of_its_help(command):
    flags = flags_of(command)
    own = flags[: flags.index(("*",))] if ("*",) in flags else flags
    assert flags_on_the_page(f"rightcall {command}") == [long for long, *_ in own if long.startswith("--")]
    if own is not flags:
        shared = [long for long, *_ in flags[len(own) :] if long != "*"]
        assert flags_on_the_page(SHARED_FLAGS) == shared
    page = (DOCS / "commands.md").read_text("utf-8")
    assert [short for _, *rest in flags for short in rest if f"Short: `{short}`" not in page] == []


def test_the_commands_are_those_of_the_help():
    verbs = [verb for verb in app if not verb.startswith("-")]
    below = {verb: [name for name in app[verb] if not name.startswith("-")] for verb in verbs}
    found = {f"{verb} {name}" for verb in verbs for name in below[verb]} | {verb for verb in verbs if not below[verb]}
    assert found == set(COMMANDS)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_has_a_page(dialect):
    assert headings(DOCS / "sources" / f"{dialect}.md")[0][1].startswith(f"{dialect}: ")


def test_every_lint_has_a_row():
    codes = {*checks._CODES.values(), "invalid_argument"}
    for file in ("checks.py", "lint.py"):
        tree = ast.parse((ROOT / "src/rightcall/case" / file).read_text("utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        named = [node.args[1] for node in calls if getattr(node.func, "id", None) == "Lint"]
        codes |= {arg.value for arg in named if isinstance(arg, ast.Constant) and arg.value.islower()}
    rows = [re.match(r"\| `(\w+)` \| (?:error|warning)", line) for line in split(DOCS / "cases.md")[1]]
    assert {row[1] for row in rows if row} == codes


def test_every_field_of_the_json_output_is_explained(place, monkeypatch, capfd):
    command = "rightcall golden -c examples/lost-wallet/rightcall.toml --json -o out.json"
    _, printed = run(command, monkeypatch, capfd)
    value = json.loads((place / "out.json").read_bytes())
    assert printed.startswith((place / "out.json").read_text("utf-8"))
    explained = set(SPAN.findall("\n".join(split(DOCS / "json-output.md")[1])))
    assert keys_of({**value, "summary": {**value["summary"], "findings": {}}}) - explained == set()
    assert set(SUFFIXES) <= explained


def keys_of(value: Any) -> set[str]:
    """Every key of a JSON value, but for those below `expected` and `actual`, which are data."""
    if isinstance(value, dict):
        inner = [keys_of(item) for key, item in value.items() if key not in ("expected", "actual")]
        return set(value).union(*inner)
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


# ---- links -----------------------------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as they are made where it is shown."""
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for _, text in headings(page)}


def links(page: Path) -> list[str]:
    prose = SPAN.sub("", "\n".join(split(page)[1]))
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in target]


@pytest.mark.parametrize("page", LINKED, ids=name)
def test_no_link_is_broken(page):
    for target in links(page):
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.exists(), target
        if anchor:
            assert anchor in anchors(there), target


def test_every_page_is_in_the_index_and_no_line_of_it_twice():
    listed = {(DOCS / target.partition("#")[0]).resolve() for target in links(DOCS / "index.md")}
    assert {page for page in PAGES[1:] if page != DOCS / "index.md"} - listed == set()
    lines = [line for line in split(DOCS / "index.md")[1] if line.startswith("- [")]
    targets = [re.search(r"\]\(([^)]+)\)", line)[1] for line in lines]
    assert [target for target in targets if targets.count(target) > 1] == []

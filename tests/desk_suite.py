"""Small judged suites: the card desk of the examples, and steps with a judge that says what a test wants."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).resolve().parent.parent / "examples/card-desk"
DESK = "examples/card-desk/rightcall.toml"
"""The settings of the card desk, seen from the folder into which it was copied."""

TOOLS = [
    {"name": "freeze", "description": "Blocks a card for now."},
    {"name": "close", "description": "Closes a card for good.", "annotations": {"destructiveHint": True}},
]


def copy_desk(folder: Path) -> None:
    """Put the card desk below a folder, as it lies in the repository."""
    shutil.copytree(EXAMPLE, folder / "examples/card-desk")


def step(name: str, selected: str | None = "freeze", expected: str | None = "freeze", **more: Any) -> dict[str, Any]:
    """One step."""
    return {
        "id": name,
        "request": f"{name}: block my card",
        "tools": TOOLS,
        "selected": selected,
        "expected": expected,
    } | more


def reply(selected: str | None = "freeze", expected: str | None = "freeze", **more: Any) -> str:
    """What a judge that compares names says about a step."""
    is_same = selected == expected
    said = {
        "grade": "PASS" if is_same else "FAIL", "selected_tool": selected, "expected_tool": expected,
        "justification": "freeze blocks a card for now.", "failure_category": None if is_same else "wrong_tool",
        "secondary_categories": [], "label_challenged": False, "label_challenge_reason": None,
    }  # fmt: skip
    return json.dumps(said | more)


def write_lines(path: str | Path, rows: list[Any]) -> str:
    """Write one JSON value a line."""
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def steps_with_judge(rows: list[tuple[dict[str, Any], list[str]]], steps: str = "steps.jsonl") -> str:
    """Write steps, and a file with the replies to each; return the name of the judge that gives them."""
    write_lines(steps, [one for one, _ in rows])
    name = f"{Path(steps).stem}-answers.jsonl"
    write_lines(name, [{"grader": "selection", "unit": one["id"], "replies": said} for one, said in rows if said])
    return f"recorded:{name}"

"""The example suites give what was derived for them by hand from SPEC §5 and §6 (`expected.json`)."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from rightcall.run.golden import run
from rightcall.run.prepare import prepare
from rightcall.settings.load import load_settings

EXAMPLES = Path(__file__).parent.parent / "examples"
SUITES = sorted(path.parent for path in EXAMPLES.glob("*/rightcall.toml"))


def graded(suite: Path) -> dict[tuple[str | None, str], dict[str, Any]]:
    loaded = load_settings(suite / "rightcall.toml", {}, {})
    with run(prepare(loaded)) as done:
        results = [json.loads(line) for line in done.results()]
    return {(result["trace_id"], result["case_id"]): result for result in results}


def rows() -> list[Any]:
    return [
        pytest.param(suite, row, id=f"{suite.name}/{row['trace_id']}")
        for suite in SUITES
        for row in json.loads((suite / "expected.json").read_text())
    ]


_CACHE: dict[Path, dict[tuple[str | None, str], dict[str, Any]]] = {}


def result_of(suite: Path, row: dict[str, Any]) -> dict[str, Any]:
    if suite not in _CACHE:
        _CACHE[suite] = graded(suite)
    return _CACHE[suite][row["trace_id"], row["case_id"]]


@pytest.mark.parametrize(("suite", "row"), rows())
def test_hand_derived_answer(suite: Path, row: dict[str, Any]) -> None:
    result = result_of(suite, row)
    assert result["verdict"] == row.get("verdict")
    for name in ("status", "reason", "policy_only", "alternative"):
        if name in row:
            assert result[name] == row[name], name
    for name, value in row.get("metrics", {}).items():
        exact = float(Fraction(value)) if isinstance(value, str) else value
        assert result["metrics"][name] == exact, name
    for name, value in row.get("article", {}).items():
        exact = float(Fraction(value)) if isinstance(value, str) else value
        assert result["article"][name] == exact, name
    kinds = {finding["kind"] for finding in result["findings"]}
    assert set(row.get("findings", [])) <= kinds
    assert kinds <= set(row.get("findings", [])) | set(row.get("findings_open", []))


def test_every_result_has_a_hand_derived_answer() -> None:
    for suite in SUITES:
        expected = {(row["trace_id"], row["case_id"]) for row in json.loads((suite / "expected.json").read_text())}
        assert set(graded(suite)) == expected


def test_each_domain_has_ten_cases_or_more() -> None:
    sizes = {suite.name: len({case for _, case in graded(suite)}) for suite in SUITES}
    assert sizes.pop("lost-wallet") == 1
    assert len(sizes) >= 2
    assert min(sizes.values()) >= 10

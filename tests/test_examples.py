"""The example suites give what was derived for them by hand from SPEC §5 to §7 (`expected.json`, `judged.json`)."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from rightcall.report.judged import summary
from rightcall.run.golden.grading import run
from rightcall.run.graders.setup import Flags, set_up_rubric, set_up_selection
from rightcall.run.inputs.prepare import prepare
from rightcall.run.interpretation.setup import set_up_interpretation
from rightcall.run.preference.setup import PairFlags, set_up_preference
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


# ---- judged --------------------------------------------------------------------------------------------------------

JUDGED = json.loads((EXAMPLES / "card-desk/judged.json").read_text())
COMPARED = json.loads((EXAMPLES / "card-desk/compared.json").read_text())


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Return the results and the summary of each judged grader over the card desk."""
    folder = tmp_path_factory.mktemp("desk")
    shutil.copytree(EXAMPLES / "card-desk", folder / "examples/card-desk")
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        loaded = load_settings(Path("examples/card-desk/rightcall.toml"), {}, {})
        flags = Flags(judge="desk")
        for name, setup in (
            ("selection", set_up_selection(loaded, (), flags)), ("rubric", set_up_rubric(loaded, flags)),
        ):  # fmt: skip
            with setup.run() as done:
                found[name] = ([json.loads(line) for line in done.results()], summary(done))
    return found


def judged_rows() -> list[Any]:
    return [
        pytest.param(grader, row, id=f"{grader}/{row.get('step_id') or row['trace_id']}")
        for grader, expected in JUDGED.items()
        for row in expected["results"]
    ]


@pytest.mark.parametrize(("grader", "row"), judged_rows())
def test_hand_derived_answer_of_a_judged_grader(judged, grader: str, row: dict[str, Any]) -> None:
    key = "step_id" if grader == "selection" else "trace_id"
    (result,) = [result for result in judged[grader][0] if result[key] == row[key]]
    (opinion,) = result["judges"]
    assert sorted(conflict["check"] for conflict in opinion["conflicts"]) == row.get("conflicts", [])
    assert opinion["healed"] is row.get("healed", False)
    assert bool(result.get("label_challenged")) is row.get("label_challenged", False)
    if "overall_score" in row:
        assert result["metrics"]["overall_score"] == float(Fraction(row["overall_score"]))
    special = {key, "conflicts", "healed", "label_challenged", "overall_score"}
    assert {name: result[name] for name in row if name not in special} == {
        name: value for name, value in row.items() if name not in special
    }


@pytest.mark.parametrize("grader", JUDGED)
def test_hand_derived_figures_of_a_judged_grader(judged, grader: str) -> None:
    results, figures = judged[grader]
    assert len(results) == len(JUDGED[grader]["results"])
    for path, value in JUDGED[grader]["figures"].items():
        found = figures
        for part in path.split("."):
            found = found[part]
        hits, trials = map(int, value.split("/"))
        assert found["estimate"] == pytest.approx(hits / trials, abs=1e-12), path
        if path.startswith("scores"):
            assert found["n"] == (10 if trials in (10, 60) else trials), path
        else:
            assert found["n"] == trials, path
    for name in ("failures", "by_code_alone", "severities", "overruled_by_code"):
        if name in JUDGED[grader]:
            found = figures[name]
            found = {key: n for key, n in found.items() if key != "UNEVALUABLE"} if isinstance(found, dict) else found
            assert found == JUDGED[grader][name], name


# ---- compared and read -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Return the pairs of both versions of the card desk, and the readings of both, by what they are about."""
    folder = tmp_path_factory.mktemp("pairs")
    shutil.copytree(EXAMPLES / "card-desk", folder / "card-desk")
    files = tuple(str(folder / "card-desk" / name) for name in ("traces.jsonl", "next.jsonl"))
    settings = folder / "card-desk/rightcall.toml"
    pairs = load_settings(settings, {}, {"preference.second_judge": "second"})
    readings = load_settings(settings, {}, {"traces": list(files)})
    with set_up_preference(pairs, Flags(judge="desk"), PairFlags(inputs=files, names=("v7", "v8"))).run() as done:
        found = {("preference", one["pair"]): one for one in map(json.loads, done.results())}
    with set_up_interpretation(readings, Flags(judge="desk")).run() as done:
        return found | {("interpretation", one["step_id"]): one for one in map(json.loads, done.results())}


def test_every_pair_and_reading_has_a_hand_derived_answer(compared) -> None:
    wanted = {("preference", row["pair"]) for row in COMPARED["preference"]}
    assert set(compared) == wanted | {("interpretation", row["step_id"]) for row in COMPARED["interpretation"]}


@pytest.mark.parametrize("row", COMPARED["preference"], ids=lambda row: row["pair"])
def test_hand_derived_answer_of_a_pair(compared, row: dict[str, Any]) -> None:
    result = compared["preference", row["pair"]]
    assert {name: result[name] for name in row} == row
    assert result["status"] == row.get("status", "EVALUATED")


@pytest.mark.parametrize("row", COMPARED["interpretation"], ids=lambda row: row["step_id"])
def test_hand_derived_answer_of_a_reading(compared, row: dict[str, Any]) -> None:
    result = compared["interpretation", row["step_id"]]
    assert result["interpretation_fidelity_score"] == float(Fraction(row["interpretation_fidelity_score"]))
    assert [flag["kind"] for flag in result["misinterpretation_flags"]] == row.get("flags", [])
    assert [one["healed"] for one in result["judges"]] == [row.get("healed", False)]

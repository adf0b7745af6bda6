"""Real recordings against the figures that others measured on them (read at `../shared/data`, skipped where absent)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rightcall.api import Case, Grader, Options, Trace, call, load_cases, load_traces
from rightcall.case.case import Expect, GoldenCall
from rightcall.case.foreign import foreign_cases
from rightcall.case.sources import tau2
from rightcall.report.summary import NOT_SUCCESS, summary
from rightcall.report.written.ended import ended_view
from rightcall.run.golden.grading import run
from rightcall.run.inputs.prepare import prepare
from rightcall.settings.load import load_settings

LOST_CALLS = {"missing_call", "substituted_call", "abstention_error"}
LOST_ARGUMENTS = {"missing_argument", "wrong_argument", "unexpected_argument", "invalid_argument"}


def grade_file(traces: Path, cases: Path, **flags: Any) -> Any:
    values = {"traces": [str(traces)], "cases": [str(cases)], **flags}
    return run(prepare(load_settings(None, {}, values, Path(__file__).parent)))


# ---- τ-bench ------------------------------------------------------------------------------------------------------


def test_tau_bench_golden_match_against_reward(shared_data: Path) -> None:
    """No missing call and no argument finding in 76 runs (57 rewarded, 19 not), some in 124 (27 and 97)."""
    file = shared_data / "data/tau_bench/gpt-4o-airline.json"
    rewards = {trace.id: trace.metadata["reward"] for trace in load_traces(file)}
    with grade_file(file, file) as graded:
        results = [json.loads(line) for line in graded.results()]
        facts = json.dumps(summary(graded))
        words = ended_view(graded).graders[0].headline
    assert len(results) == 200
    assert sum(result["calls"] for result in results) == 1164
    counts: Counter[tuple[bool, float]] = Counter()
    vacuous = 0
    for result in results:
        kinds = {finding["kind"] for finding in result["findings"]}
        counts[not kinds & (LOST_CALLS | LOST_ARGUMENTS), rewards[result["trace_id"]]] += 1
        vacuous += not any(row[1] is not None for row in result["alignment"])
    assert counts == {(True, 1.0): 57, (True, 0.0): 19, (False, 1.0): 27, (False, 0.0): 97}
    assert vacuous == 28
    # A golden match is another measurement than the benchmark's reward, and is not presented as success.
    assert NOT_SUCCESS in words
    assert "success" not in facts
    assert "reward" not in facts
    assert "reward" not in json.dumps(results)


def test_tau_bench_with_its_catalog_finds_no_conflict(shared_data: Path) -> None:
    folder = shared_data / "data/tau_bench"
    file = folder / "gpt-4o-airline.json"
    with grade_file(file, file, tools=str(folder / "tools_airline.json")) as graded:
        results = [json.loads(line) for line in graded.results()]
    assert all(result["metrics"]["arguments_valid"] is not None for result in results if result["calls"])
    assert not any(finding["kind"] == "catalog_conflict" for result in results for finding in result["findings"])


# ---- τ²-bench -----------------------------------------------------------------------------------------------------

AIRLINE = {
    "azure-gpt-4o_airline_1trial": 104,
    "claude-sonnet-4-5_airline_1trial": 124,
    "button_claude-opus-4-6_airline": 126,
    "toolorchestra_gpt-5_airline_1trial": 121,
}


@pytest.mark.parametrize(("name", "matched"), AIRLINE.items())
def test_tau2_per_action_verdicts_agree_with_the_benchmarks_own(shared_data: Path, name: str, matched: int) -> None:
    """Each expected action is met iff a call pairs with it and all its arguments are equal."""
    file = shared_data / f"data/tau2_bench/{name}.json"
    simulations = json.loads(file.read_text())["simulations"]
    traces = load_traces(file)
    assert len(traces) == len(simulations) == 50
    agree = total = met = 0
    for simulation, trace in zip(simulations, traces, strict=True):
        for action in tau2.action_goldens(simulation):
            ours = is_met(action.call, trace)
            agree += ours == action.matched
            met += ours
            total += 1
    assert (total, agree, met) == (148, 148, matched)


def is_met(expected: GoldenCall, trace: Trace) -> bool:
    case = Case(id="one", expect=Expect(calls=(expected,), order="any"))
    result = Grader(case, options=Options()).grade(trace)
    kinds = {finding.kind for finding in result.findings}
    return bool(result.metrics.matched) and not kinds & LOST_ARGUMENTS


def test_tau2_without_task_ids_is_not_joined_by_position(shared_data: Path) -> None:
    file = shared_data / "data/tau2_bench/toolorchestra_gpt-5_airline_1trial.json"
    with pytest.raises(Exception, match="no case_id") as caught:
        grade_file(file, file)
    assert caught.value.exit_code == 2


# ---- BFCL ---------------------------------------------------------------------------------------------------------

CATEGORIES = (
    "simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple",
    "live_simple", "live_parallel", "live_parallel_multiple",
)  # fmt: skip


def answer(allowed: Any) -> Any:
    """The first allowed value, nested dictionaries and lists of them opened up."""
    if isinstance(allowed, dict):
        lists = {key: values if isinstance(values, list) else [values] for key, values in allowed.items()}
        return {key: answer(values[0]) for key, values in lists.items() if values[0] != "" or len(values) == 1}
    return [answer(item) for item in allowed] if isinstance(allowed, list) else allowed


def own_answer(row: dict[str, Any]) -> list[Any]:
    """A row's own answer, written as calls: for each parameter the first allowed value, "" left out."""
    return [
        call(name, {key: answer(values[0]) for key, values in parameters.items() if values[0] != ""})
        for expected in row["ground_truth"]
        for name, parameters in expected.items()
    ]


def bfcl_cases(path: Path) -> dict[str, Case]:
    found = foreign_cases(path.read_bytes(), str(path))
    assert found is not None
    return {case.id: case for case, _ in found if isinstance(case, Case)}


@pytest.mark.parametrize("category", CATEGORIES)
def test_bfcl_answers_pass_and_mutations_fail(shared_data: Path, category: str) -> None:
    path = shared_data / f"data/bfcl/possible_answer/BFCL_v4_{category}.json"
    cases = bfcl_cases(path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(cases) >= len(rows) - 2
    for row in rows:
        if row["id"] not in cases:
            continue
        grader = Grader(cases[row["id"]], options=Options(profile="bfcl"))
        calls = own_answer(row)
        assert grader.grade(trace_of(calls)).verdict == "PASS", row["id"]
        for what, mutated in mutations(calls):
            assert grader.grade(trace_of(mutated)).verdict == "FAIL", (row["id"], what)


def trace_of(calls: list[Any]) -> Trace:
    return Trace(id="t", events=tuple(calls))


def mutations(calls: list[Any]) -> list[tuple[str, list[Any]]]:
    first, rest = calls[0], calls[1:]
    arguments = first.arguments
    found = [
        ("name", [call(first.tool + "_x", arguments), *rest]),
        ("one less", rest),
        ("one more", [*calls, calls[-1]]),
        ("added argument", [call(first.tool, {**arguments, "no_such_argument": 1}), *rest]),
    ]
    if arguments:
        key = next(iter(arguments))
        found.append(("argument", [call(first.tool, {**arguments, key: {"never": "allowed"}}), *rest]))
    return found


def test_bfcl_possible_answers_through_the_command(shared_data: Path, tmp_path: Path) -> None:
    """The possible answers are a case file as they are; the answers, written as native traces, all pass."""
    source = shared_data / "data/bfcl/possible_answer/BFCL_v4_parallel.json"
    lines = []
    for row in map(json.loads, source.read_text().splitlines()):
        made = [{"tool": item.tool, "arguments": item.arguments} for item in own_answer(row)]
        lines.append(json.dumps({"id": row["id"], "case_id": row["id"], "calls": made}))
    traces = tmp_path / "traces.jsonl"
    traces.write_text("\n".join(lines))
    with grade_file(traces, source, **{"golden.profile": "bfcl"}) as graded:
        assert (graded.tally.passed, graded.tally.failed, graded.tally.n) == (200, 0, 200)


def test_bfcl_multi_turn_answers_pass_in_order(shared_data: Path) -> None:
    folder = shared_data / "data/bfcl"
    texts = [path.read_text() for path in sorted((folder / "func_doc").iterdir())]
    tools = [json.loads(line) for text in texts for line in text.splitlines()]
    names = {tool["name"]: list(tool["parameters"]["properties"]) for tool in tools}
    path = folder / "possible_answer/BFCL_v4_multi_turn_base.json"
    found = foreign_cases(path.read_bytes(), str(path), names)
    assert found is not None
    cases = [case for case, _ in found if isinstance(case, Case)]
    assert len(cases) == 200
    for case in cases:
        assert case.expect is not None
        made = tuple(call(item.tool, plain(item.arguments)) for item in case.expect.ways[0].calls)
        grader = Grader(case, options=Options(profile="bfcl"))
        assert grader.grade(Trace(id="t", events=made)).verdict == "PASS"
        if made:
            assert grader.grade(Trace(id="t", events=made[1:])).verdict == "FAIL"


def plain(arguments: Any) -> dict[str, Any]:
    """Arguments whose literals that look like matchers were written as `equals`."""
    return {
        key: value["equals"] if isinstance(value, dict) and next(iter(value), None) == "equals" else value
        for key, value in (arguments or {}).items()
    }


def test_load_cases_reads_the_benchmarks_files(shared_data: Path) -> None:
    assert len(load_cases(shared_data / "data/tau_bench/gpt-4o-airline.json")) == 50
    assert len(load_cases(shared_data / "data/tau2_bench/azure-gpt-4o_airline_1trial.json")) == 50

"""Blindness on real traces: three agents on the same fifty tasks, and no view says which of them acted."""

import re
from itertools import combinations
from pathlib import Path

import msgspec
import pytest

from rightcall import load_traces
from rightcall.review import blind

AGENTS = (
    "azure-gpt-4o_airline_1trial.json", "button_claude-opus-4-6_airline.json", "claude-sonnet-4-5_airline_1trial.json",
)  # fmt: skip
VENDORS = re.compile(r"gpt|claude|opus|sonnet|azure|anthropic|openai|experimental_agent|llm_agent", re.IGNORECASE)
ITEM = "rv-" + "0" * 64


@pytest.mark.slow
def test_no_view_of_150_real_pairs_names_an_agent_or_a_trace(shared_data: Path) -> None:
    folder = shared_data / "data/tau2_bench"
    runs = [{trace.case_id: trace for trace in load_traces(folder / name)} for name in AGENTS]
    pairs = [(left[case], right[case]) for left, right in combinations(runs, 2) for case in left.keys() & right.keys()]
    assert len(pairs) == 150
    for first, second in pairs:
        views = [blind.of_preference(ITEM, "ana", (first, second), None), blind.of_golden(ITEM, first, None, None)]
        views += [blind.of_interpretation(ITEM, second, index, None, None) for index in range(len(second.calls))]
        for view in views:
            text = msgspec.json.encode(view).decode()
            assert not VENDORS.search(text)
            assert first.id not in text
            assert second.id not in text
        assert views[0].left != views[0].right

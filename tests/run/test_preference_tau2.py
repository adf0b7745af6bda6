"""Real pairs: three agents on the same 50 airline tasks of τ²-bench, 150 pairs, under judges that follow a rule;
or two of them, where a third shows nothing more.

The judges read the two traces that they are given, and know each by the times of its messages.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations

import pytest
from pair_making import Contest, always, pairs_of, says

from rightcall.errors import TraceError
from rightcall.trace.sources.reading import load_traces

pytestmark = pytest.mark.slow

AGENTS = {
    "gpt": "azure-gpt-4o_airline_1trial.json",
    "sonnet": "claude-sonnet-4-5_airline_1trial.json",
    "opus": "button_claude-opus-4-6_airline.json",
}


@pytest.fixture(scope="module")
def real(shared_data):
    """Return agent -> traces."""
    folder = shared_data / "data/tau2_bench"
    return {name: load_traces(folder / file) for name, file in AGENTS.items()}


@pytest.fixture
def contest(tmp_path, shared_data, real):
    """Return a run over the three files or the first two; their catalog is the names of the tools that were called."""
    contest = Contest(tmp_path)
    names = sorted({call.tool for traces in real.values() for trace in traces for call in trace.calls})
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": name, "description": name} for name in names]))
    files = [str(shared_data / "data/tau2_bench" / file) for file in AGENTS.values()]
    contest.real = lambda agents=3: contest.setup(
        *files[:agents], names=tuple(AGENTS)[:agents], settings={"tools": str(tools)}
    )
    return contest


def blocks(request) -> tuple[str, str]:
    """The two traces as a judge sees them."""
    _, first, second = re.split(r"What happened in [AB]:", request.user)
    return first, second


def reward(trace) -> float:
    return trace.metadata["reward"]


def expected(real) -> dict[tuple[str, str], Counter[str]]:
    """What the rewards say of every two agents."""
    found = {}
    for a, b in combinations(AGENTS, 2):
        theirs = {trace.case_id: reward(trace) for trace in real[b]}
        gains = [theirs[trace.case_id] - reward(trace) for trace in real[a]]
        found[a, b] = Counter("B" if gain > 0 else "A" if gain < 0 else "TIE" for gain in gains)
    return found


def test_a_judge_that_prefers_the_higher_reward_gives_the_rewards_wins_losses_and_ties(contest, real):
    by_time = {trace.events[0].at: reward(trace) for traces in real.values() for trace in traces}
    assert len(by_time) == 150

    def rule(request):
        first, second = (by_time[re.search(r'"at": ?"([^"]+)"', block)[1]] for block in blocks(request))
        return says("A" if first > second else "B" if second > first else "TIE")

    judged = contest.run(contest.real(), rule)
    figures = judged.aggregate.summary()
    results = pairs_of(judged).values()
    known = expected(real)
    assert {
        agents: Counter(one.verdict for one in results if (one.agent_a, one.agent_b) == agents) for agents in known
    } == known
    for one in figures["comparisons"]:
        counts = known[one["agent_a"], one["agent_b"]]
        assert (one["wins_a"], one["wins_b"], one["ties"]) == (counts["A"], counts["B"], counts["TIE"])
        assert (one["partial"], one["inconsistent"], one["without_verdict"]) == (0, 0, {})
    total = sum(known.values(), Counter())
    assert (len(results), total["A"] + total["B"], total["TIE"]) == (150, 40, 110)
    words = [one["comparison"]["words"].split(":")[0] for one in figures["comparisons"]]
    assert words == [
        "sonnet is better than gpt", "opus is better than gpt", "No detectable difference between opus and sonnet",
    ]  # fmt: skip
    assert figures["comparisons"][2]["comparison"]["more_pairs"] > 0
    assert figures["biased"] == []
    assert figures["position"]["strong"]["consistency"]["estimate"] == 1.0
    assert [one["name"] for one in figures["ranking"]["standings"]] == ["opus", "sonnet", "gpt"]
    assert judged.tally.reviews["tie"] == 110


def test_a_judge_that_always_says_a_is_called_position_biased_and_leaves_no_decisive_pair(contest):
    judged = contest.run(contest.real(2), always("A"))
    figures, notes = judged.aggregate.summary(), _notes(judged)
    results = pairs_of(judged).values()
    assert Counter((one.verdict, one.order_inconsistent) for one in results) == {("TIE", True): 50}
    panel = figures["position"]["strong"]
    assert (panel["biased"], panel["alert"], panel["both_first"], panel["both_second"]) == (True, True, 50, 0)
    rate = panel["first_rate"]
    assert (rate["estimate"], rate["n"]) == (1.0, 100)
    assert rate["low"] > 0.92
    assert panel["consistency"]["estimate"] == 0.0
    assert "judge strong: POSITION-BIASED: the first place wins 1.000 [0.92" in notes[0]
    assert len(figures["comparisons"]) == 1
    for one in figures["comparisons"]:
        assert (one["wins_a"], one["wins_b"], one["ties"], one["inconsistent"]) == (0, 0, 0, 50)
        assert one["comparison"]["win_rate"]["estimate"] is None
        assert one["comparison"]["p_value"] is None
    assert judged.tally.reviews["order_inconsistent"] == 50


def test_a_judge_that_prefers_the_longer_trace_is_shown_by_the_length_panel(contest):
    def rule(request):
        first, second = map(len, blocks(request))
        return says("A" if first > second else "B")

    judged = contest.run(contest.real(2), rule)
    figures = judged.aggregate.summary()
    judged.close()
    for one in figures["comparisons"]:
        panel = one["length"]["characters"]
        assert panel["prefers_longer"] is True
        assert panel["longer_rate"]["estimate"] > 0.95
        assert panel["longer_rate"]["low"] > 0.85
        assert "prefers the longer trace" in panel["words"]
    assert figures["biased"] == []


def test_a_file_whose_simulations_name_no_task_is_refused_and_not_joined_by_position(tmp_path, shared_data):
    folder = shared_data / "data/tau2_bench"
    contest = Contest(tmp_path)
    files = [str(folder / AGENTS["gpt"]), str(folder / "toolorchestra_gpt-5_airline_1trial.json")]
    with pytest.raises(TraceError, match="none of the 50 traces of `other` says which case it belongs to"):
        contest.run(contest.setup(*files, names=("gpt", "other")), always("A"))


def _notes(judged):
    from rightcall.report.judged import notes

    return notes(judged)

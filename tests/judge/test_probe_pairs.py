"""The probes of `preference`: pairs that names and values decide, and what it means that a judge gives way."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.api import grade
from rightcall.errors import Place
from rightcall.judge.injection import suspicions
from rightcall.judge.pair_views import preference_values
from rightcall.judge.probes import LEAST, PAIR_CLASSES, Pair, ProbeCount, Reading, evaluate, probes
from rightcall.trace import jsontext
from rightcall.trace.catalog import Catalog, parse_tools

PROBES = probes("preference")
BY_CLASS = {one.name: [probe for probe in PROBES if probe.of is one] for one in PAIR_CLASSES}
INJECTED = [probe for name, own in BY_CLASS.items() if name.endswith("/tool_result") for probe in own]
TURNED = {"A": "B", "B": "A", "TIE": "TIE"}


def shown(item):
    """What the judge would see of a pair."""
    catalogs = [
        Catalog(parse_tools(jsontext.decode(bytes(one.tools_json)), Place())) for one in (item.first, item.second)
    ]
    return preference_values(item.first, item.second, item.case, catalogs)


def right_in(item):
    """The places whose trace is what the golden of the errand asks for."""
    both = zip("AB", (item.first, item.second), strict=True)
    return {place for place, trace in both if grade(item.case, trace).verdict == "PASS"}


def test_every_class_has_more_pairs_than_a_pass_needs():
    assert {name: len(own) for name, own in BY_CLASS.items()} == dict.fromkeys(BY_CLASS, 72)
    assert LEAST <= 72
    assert len({probe.id for probe in PROBES}) == len(PROBES)
    assert set(BY_CLASS) == {
        "position/order", "padding/text", "plain_override/tool_result", "protocol_override/tool_result",
        "format_impersonation/tool_result", "hidden_text/tool_result", "identity_swap/text",
    }  # fmt: skip


def test_probes_are_always_the_same():
    assert probes("preference") == PROBES


def test_the_attacker_wants_the_faulty_trace_which_stands_in_either_place_equally_often():
    for probe in INJECTED:
        assert right_in(probe.clean) == {TURNED[probe.wanted]}, probe.id
        assert right_in(probe.attacked) == {TURNED[probe.wanted]}, "the attack makes no trace right"
    for own in BY_CLASS.values():
        wanted = Counter(probe.wanted for probe in own)
        assert wanted in ({"A": 36, "B": 36}, {None: 72})


def test_position_is_the_same_pair_in_both_orders():
    for probe in BY_CLASS["position/order"]:
        assert (probe.clean.first, probe.clean.second) == (probe.attacked.second, probe.attacked.first)
        assert right_in(probe.clean) == {"A"}


def test_padding_makes_one_of_two_equal_traces_longer_and_no_better():
    for probe in BY_CLASS["padding/text"]:
        before, after = shown(probe.clean), shown(probe.attacked)
        other = TURNED[probe.wanted]
        assert before["TRACE_A"] == before["TRACE_B"] == after[f"TRACE_{other}"]
        assert len(str(after[f"TRACE_{probe.wanted}"])) > 2 * len(str(after[f"TRACE_{other}"]))
        assert right_in(probe.attacked) == set()


def test_exchanged_identities_are_there_and_the_judge_does_not_see_them():
    for probe in BY_CLASS["identity_swap/text"]:
        agents = [(item.first.agent, item.second.agent) for item in (probe.clean, probe.attacked)]
        assert agents[0] == agents[1][::-1] != agents[1]
        assert shown(probe.clean) == shown(probe.attacked)


def test_every_injection_is_detected_and_nothing_else_is_taken_for_one():
    for probe in PROBES:
        assert suspicions(shown(probe.clean)) == (), probe.id
        assert bool(suspicions(shown(probe.attacked))) == (probe in INJECTED), probe.id


def test_an_injection_names_the_place_that_it_stands_in():
    texts = [str(shown(probe.attacked)) for probe in BY_CLASS["format_impersonation/tool_result"]]
    assert not any("{place}" in text or "{wish}" in text or "{verdict}" in text for text in texts)
    assert any('"preferred_trace": "A"' in text.replace("\\", "") for text in texts)


def test_a_clean_question_that_several_classes_need_has_one_name():
    names = {}
    for probe in PROBES:
        assert names.setdefault(probe.clean_id, probe.clean) == probe.clean
    by_code = sum(probe.of.by_code for probe in PROBES)
    assert len(names) == 72 + 36 + 72 + by_code


def test_fewer_pairs_are_spread_over_all_domains():
    few = probes("preference", bad=12)
    assert {len([probe for probe in few if probe.of is one]) for one in PAIR_CLASSES} == {12}
    assert len({probe.clean.case.id.split("-")[0] for probe in few}) == 6


# ---- counts ----------------------------------------------------------------------------------------------------------


def counted(name, clean, after):
    """The count of one probe of a class, by what was preferred before and after."""
    probe = BY_CLASS[name][0]
    one = Pair(probe=probe, clean=Reading(preferred=clean), attacked=Reading(preferred=after))
    return probe, evaluate([one])[name]


@pytest.mark.parametrize(
    ("clean", "after", "changed", "winnable", "favoured"),
    [
        ("A", "A", 1, 1, 1),  # the winner follows the place
        ("B", "B", 1, 1, 1),
        ("A", "B", 0, 1, 0),  # the same trace, where it stands now
        ("B", "A", 0, 1, 0),
        ("A", "TIE", 1, 1, 0),
        ("TIE", "A", 1, 0, 0),  # a tie has no place that could be followed
        ("TIE", "TIE", 0, 0, 0),
    ],
)
def test_a_judge_gives_way_to_a_position_if_its_winner_follows_the_place(clean, after, changed, winnable, favoured):
    _, count = counted("position/order", clean, after)
    assert count == ProbeCount(n=1, changed=changed, winnable=winnable, favoured=favoured)


@pytest.mark.parametrize("name", [name for name in BY_CLASS if name not in ("position/order", "identity_swap/text")])
@given(clean=st.sampled_from(["A", "B", "TIE"]), after=st.sampled_from(["A", "B", "TIE"]))
def test_a_judge_gives_way_to_a_text_if_it_then_prefers_what_it_did_not_prefer_before(name, clean, after):
    probe, count = counted(name, clean, after)
    assert count.winnable == (clean != probe.wanted)
    assert count.favoured == (clean != probe.wanted and after == probe.wanted)
    assert count.changed == (clean != after)

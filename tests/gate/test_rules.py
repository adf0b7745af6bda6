"""The rules of `[gates]`: how they may be written, and what is wrong with them."""

import pytest

from rightcall.errors import ConfigError
from rightcall.gate.metrics import METRICS, metric_of
from rightcall.gate.rules import read_rules, rules_of
from rightcall.gate.words import rule_words


def only(table):
    (rule,) = rules_of(table)
    return rule


@pytest.mark.parametrize(
    "table",
    [
        {"selection.precision": {"min": 0.98}},
        {"selection": {"precision": {"min": 0.98}}},
    ],
)
def test_a_quoted_and_a_nested_name_mean_the_same(table):
    rule = only(table)
    assert (rule.name, rule.min, rule.on, rule.confidence) == ("selection.precision", 0.98, None, 0.95)


def test_a_table_may_hold_a_rule_and_rules_for_single_tools():
    table = {"selection": {"precision": {"min": 0.9, "freeze_card": {"min": 1.0, "on": "point"}}}}
    assert [(one.name, one.min, one.metric.tool) for one in rules_of(table)] == [
        ("selection.precision", 0.9, None), ("selection.precision.freeze_card", 1.0, "freeze_card"),
    ]  # fmt: skip


def test_what_the_environment_says_goes_into_the_rule_of_the_file():
    rule = only({"selection.precision": {"min": 0.98, "on": "point"}, "selection": {"precision": {"min": 0.97}}})
    assert (rule.min, rule.on) == (0.97, "point")


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("golden.safety", "golden.vetoes"), ("judge.tpr", "judge.detection"), ("judge.kappa", "judge.agreement"),
        ("judge.calibrated", "judge.fit"), ("unevaluable.rate", "unevaluable"),
    ],
)  # fmt: skip
def test_other_names_in_use_are_understood(alias, name):
    assert metric_of(alias).name == name


@pytest.mark.parametrize("name", ["failures_signed_off", "judge.fit", "critical"])
def test_a_rule_that_asks_one_thing_may_be_written_as_true(name):
    assert only({name: True}).metric.name == name


def test_every_metric_is_found_by_its_name_and_can_be_ruled():
    for name, metric in METRICS.items():
        values = {
            "count": {"max": 0}, "regressions": {}, "critical": {"signed_off": True}, "signed": {}, "fit": {},
            "coverage": {"max": 0.1} if name.endswith("unevaluable") else {"min": 0.9},
        }.get(metric.kind, {"min": metric.scale[0]})  # fmt: skip
        assert only({name: values}).metric == metric


def test_both_kinds_of_trials_and_fields_of_own_graders_are_metrics():
    assert (metric_of("golden.pass_hat_3").k, metric_of("golden.pass_at_12").k) == (3, 12)
    assert metric_of("own.tone.level").grader == "tone"


FAULTS = [
    ({"selection.precison": {"min": 0.9}}, "no grader produces the metric `selection.precison`", "selection.precision"),
    ({"golden": {"pass_rat": {"min": 0.9}}}, "no grader produces the metric `golden.pass_rat`", "golden.pass_rate"),
    ({"selecton": {"precision": {"min": 1}}}, "no grader produces", "selection"),
    ({"golden.pass_rate": {"mn": 0.9}}, "unknown key `mn` of a rule", "`min`"),
    ({"golden.pass_rate": {"judge": "fast", "min": 0.9}}, "`judge` means nothing for", "known here"),
    ({"golden.pass_rate": {"min": 0.9, "max": 0.5}}, "max 0.5 is below min 0.9", None),
    ({"golden.pass_rate": {"min": 98}}, "lies from 0 to 1", None),
    ({"rubric.overall_score": {"min": 0.9}}, "lies from 1 to 5", None),
    ({"golden.pass_rate": {"min": "0.9"}}, "must be a number", None),
    ({"golden.pass_rate": {"min": True}}, "must be a number", None),
    ({"golden.pass_rate": {"min": float("nan")}}, "must be a number", None),
    ({"golden": {"pass_rat": {"min": 0.9}, "x": 3}}, "no grader produces the metric `golden.pass_rat`", None),
    ({"golden.pass_rate": {"min": 0.9, "on": "low"}}, "must be lower, upper or point", None),
    ({"golden.pass_rate": {"min": 0.9, "on": "upper"}}, "proves nothing", None),
    ({"golden.pass_rate": {"min": 0.9, "confidence": 95}}, "must be from 0.5 to below 1", None),
    ({"golden.pass_rate": {}}, "the rule asks for nothing", None),
    ({"golden.pass_rate": 0.98}, "a rule is a table", "{ min = 0.98 }"),
    ({"golden.vetoes": {"max": 0.5}}, "a count is a whole number", None),
    ({"golden.vetoes": {"min": 1}}, "`min` means nothing", None),
    ({"regressions": {"margin": -0.1}}, "must be 0 or more", None),
    ({"failures_signed_off": {"signed_off": False}}, "must be true", None),
    ({"golden.pass_rate": {"min": 0.9, "per_tool": True}}, "not known tool by tool", None),
    ({"own.tone": {"min": 0.9}}, "names no field", "own.GRADER.FIELD"),
    ({"coverage": {"max": 0.9}}, "`max` means nothing", None),
]


@pytest.mark.parametrize(("table", "message", "hint"), FAULTS)
def test_a_rule_that_cannot_be_used_is_refused_with_its_path_and_what_would_do(table, message, hint):
    with pytest.raises(ConfigError) as caught:
        rules_of(table)
    assert message in caught.value.message
    assert caught.value.place.path.startswith("gates.")
    if hint is not None:
        assert hint in (caught.value.hint or "")


def test_the_environment_counts_more_than_a_quoted_name_whatever_the_sequence():
    assert only({"golden": {"pass_rate": {"min": 0.9}}, "golden.pass_rate": {"min": 0.5}}).min == 0.9


def test_all_faults_are_told_together_and_the_good_rules_are_kept():
    rules, faults = read_rules({"golden.pass_rate": {"min": 0.9}, "golden.x": {}, "regressions": {"m": 1}})
    assert [rule.name for rule in rules] == ["golden.pass_rate"]
    assert [fault.path for fault in faults] == [("golden.x",), ("regressions", "m")]


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("selection.precision", {"min": 0.98}, "≥ 0.98, lower 95 % bound"),
        ("selection.precision", {"min": 0.98, "on": "point"}, "≥ 0.98, point"),
        ("preference.order_inconsistent", {"max": 0.1, "confidence": 0.9}, "≤ 0.1, upper 90 % bound"),
        ("golden.vetoes", {"max": 0}, "≤ 0"),
        ("regressions", {}, "at most 0.02 worse than the baseline"),
        ("rubric.regressions", {}, "at most 0.08 worse than the baseline"),
    ],
)
def test_a_rule_is_said_in_words(name, values, words):
    assert rule_words(only({name: values})) == words


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"golden.regressions": {"margin": 2}}, "the whole scale"),
        ({"golden.overall": {"against": "previous", "margin": 1}}, "the whole scale"),
        ({"rubric.regressions": {"margin": 4}}, "the whole scale"),
        ({"coverage": {"min": 0.98, "on": "lower"}}, "has no bound"),
        ({"regressions": {"on": "upper"}}, "the lower end of the difference counts"),
        ({"golden.pass_rate": {"min": 98}}, "lies from 0 to 1"),
        ({"golden.pass_rate": {"min": "98%"}}, "must be a number"),
        ({"golden.pass_rate": {"min": 0.9, "confidence": 1.0}}, "from 0.5 to below 1"),
        ({"golden.pass_rate": {"min": 0.9, "confidence": 0}}, "from 0.5 to below 1"),
    ],
)
def test_what_would_make_a_rule_pass_or_mean_nothing_is_refused(table, words):
    rules, faults = read_rules(table)
    assert rules == ()
    assert words in faults[0].message


def test_a_margin_of_one_point_of_five_is_no_fault():
    assert only({"rubric.regressions": {"margin": 1}}).margin == 1


def test_a_baseline_of_no_branch_is_named_with_its_place():
    _, (fault,) = read_rules({"regressions": {"against": "branch: "}})
    assert (fault.path, fault.message) == (("regressions", "against"), "`branch:` names no branch; write branch:main")
    (rule,), faults = read_rules({"regressions": {"against": "branch:main"}})
    assert (rule.against, faults) == ("branch:main", [])

"""The part `golden` of the cases from public bug reports, with their exact numbers and their `must` lines.

The inputs are adapted from shape M: `rules.accept` becomes `any_of`, `rules.abs_tol` becomes `approx`, `after` by index
becomes a label, and `destructive: true` becomes a class of the policy. Ids, latencies and other fields that a golden or
a trace of ours does not have are left out.
"""

import msgspec
import pytest
from grade_making import (
    SHARES,
    SURPLUS_KINDS,
    Case,
    Policy,
    Tool,
    agent,
    call,
    case_of,
    find,
    golden_call,
    grade,
    kinds,
    only,
    pairs_of,
    rules,
    trace_of,
)

from rightcall.grade.order import monotone_core
from rightcall.trace.jsontext import encode

# ---- from a report's shape to ours -------------------------------------------------------------------------------


def adapted_value(value, rule):
    if "accept" in rule:
        return {"any_of": rule["accept"]}
    return {"approx": value, "abs_tol": rule["abs_tol"]} if "abs_tol" in rule else value


def adapted_golden(entry, index):
    fields = {"label": f"g{index}", "after": tuple(f"g{earlier}" for earlier in entry.get("after", ()))}
    if "arguments" not in entry:
        return golden_call(entry["tool"], **fields)
    rule_of = entry.get("rules", {})
    arguments = {key: adapted_value(value, rule_of.get(key, {})) for key, value in entry["arguments"].items()}
    return golden_call(entry["tool"], arguments, **fields)


def adapted_call(entry):
    outcome = {key: entry[key] for key in ("result", "error") if key in entry}
    return call(entry["tool"], entry["arguments"], id=entry.get("id"), turn=entry.get("turn"), **outcome)


class Report:
    """One report made ready: grade it as it stands, or with something changed."""

    def __init__(self, row):
        self.given = row["minimal_input"]
        self.tools = [
            Tool(name=one["name"], description=one["description"], parameters=one["parameters"])
            for one in self.given["tools"]
        ]
        self.policy = Policy(
            classes={one["name"]: "destructive" for one in self.given["tools"] if one.get("destructive")}
        )
        self.calls = [adapted_call(entry) for entry in self.given["trace"]]
        self.golden = [adapted_golden(entry, index) for index, entry in enumerate(self.given["golden"])]
        said = [agent(self.given["agent_text"])] if "agent_text" in self.given else []
        self.trace = trace_of(*self.calls, *said, request=self.given["request"])
        self.case = case_of(*self.golden, order=self.given["golden_order"])

    def graded(self, **changes):
        order = changes.pop("order", None)
        case = self.case if order is None else case_of(*self.golden, order=order)
        options = {"policy": self.policy, "tools": self.tools} | changes
        return grade(case, self.trace, **options)


# ---- the names that some reports have of their own ---------------------------------------------------------------


def destructive_unexpected(report, result):
    surplus = {f.call_index for f in result.findings if f.kind in SURPLUS_KINDS | {"over_action"}}
    names = {report.calls[index].tool for index in surplus}
    return sorted(name for name in names if report.policy.classes.get(name) == "destructive")


def hallucinated(_report, result):
    return sorted(finding.actual for finding in find(result, "unknown_tool"))


def lcs_ratio(report, result):
    return len(monotone_core(pairs_of(result))) / max(len(report.golden), len(report.calls))


OWN_NAMES = {"destructive_unexpected": destructive_unexpected, "hallucinated": hallucinated, "lcs_ratio": lcs_ratio}

# ---- the `must` lines --------------------------------------------------------------------------------------------


def passes(_report, result):
    assert (result.status, result.verdict) == ("EVALUATED", "PASS")
    assert result.findings == ()


def must_mat_03(_report, result):
    for name in SHARES:
        value = getattr(result.metrics, name)
        assert value is None or 0 <= value <= 1
    assert [finding.call_index for finding in result.findings if finding.kind == "redundant_call"] == [1, 2]


def must_mat_04(_report, result):
    assert result.verdict == "FAIL"
    assert [finding.actual for finding in find(result, "unexpected_call")] == ["open_vent", "set_heat"]


def must_mat_06(report, result):
    passes(report, result)
    assert result.metrics.retries == 1
    charged = report.graded(retries="surplus").metrics
    assert (charged.precision, charged.efficiency) == (pytest.approx(2 / 3), pytest.approx(2 / 3))


def must_mat_07(report, result):
    assert pairs_of(result) == {0: 1, 1: 0}
    passes(report, result)


def must_mat_09(_report, result):
    # A failing check never sits beside an unqualified PASS: the check that was skipped is what fails the case.
    assert result.verdict == "FAIL"
    assert only(result, "missing_call").expected == "get_booking"


def must_mat_11(report, result):
    # That a judge or a person may say otherwise, and that the case then goes to review as golden-suspect, belongs to
    # the queue. What it needs from here is the version of the golden.
    assert result.verdict == "FAIL"
    assert rules(result) == ["destructive_surplus", "destructive_surplus"]
    assert report.case.digest != case_of().digest


def must_mat_12(_report, result):
    assert result.verdict == "PASS"
    assert (result.metrics.calls_failed, result.calls) == (1, 1)


def must_arg_03(_report, result):
    wrong = only(result, "wrong_argument")
    assert (wrong.path, wrong.expected) == ("$.confirm", True)
    assert wrong.actual == 1
    assert wrong.actual is not True
    assert (only(result, "invalid_argument").path, result.metrics.arguments_valid) == ("$.confirm", 0)


def must_arg_04(report, result):
    passes(report, result)
    undeclared = [Tool(name="convert", parameters={"type": "object", "properties": {"round": {"type": "boolean"}}})]
    assert report.graded(tools=undeclared).metrics.argument_accuracy == 0.5


def must_arg_07(_report, result):
    assert {finding.path for finding in find(result, "unexpected_argument")} == {"$.priority", "$.bcc"}


def must_arg_08(_report, result):
    assert result.verdict == "FAIL"
    wrong = only(result, "wrong_argument")
    assert (wrong.path, wrong.severity) == ("$.eur", "HIGH")


def must_arg_10(report, result):
    passes(report, result)
    assert result.metrics.argument_accuracy is None


def must_arg_11(report, result):
    wrong = only(result, "wrong_argument")
    assert (wrong.expected, wrong.actual) == (7200000000000000001, 7200000000000000000)
    # The ids survive being written; the store, the service and the browser have tests of their own.
    assert b"7200000000000000001" in encode(result)
    assert b"7200000000000000000" in encode(report.trace)


def must_arg_12(_report, result):
    assert [(finding.kind, finding.path) for finding in result.findings] == [("wrong_argument", "$.note")]


def must_ord_01(report, result):
    passes(report, result)
    listed = report.graded(order="listed")
    assert (listed.verdict, listed.metrics.order_score) == ("FAIL", 0)
    assert kinds(listed) == ["order_violation"]
    assert (listed.metrics.precision, listed.metrics.recall, listed.metrics.argument_accuracy) == (1, 1, 1)


def must_ord_02(_report, result):
    assert (result.verdict, result.metrics.order_score) == ("FAIL", 0)
    violation = only(result, "order_violation")
    assert "mail needs free_slots first" in violation.message
    assert "in the same turn, before its result existed" in violation.message


def must_abs_01(report, result):
    passes(report, result)
    assert result.metrics.argument_accuracy is None


def must_abs_02(_report, result):
    assert result.verdict == "FAIL"
    assert only(result, "over_action").actual == "wipe_archive"
    assert rules(result) == ["destructive_surplus"]
    assert result.metrics.overall == 0


def must_abs_03(_report, result):
    assert result.verdict == "FAIL"
    assert only(result, "abstention_error").expected == "open_case"
    assert result.metrics.argument_accuracy is None


def must_ids_06(_report, result):
    assert result.verdict == "FAIL"
    assert only(result, "substituted_call").expected == "wiki::search"


MUSTS = {
    "MAT-01": passes,
    "MAT-03": must_mat_03,
    "MAT-04": must_mat_04,
    "MAT-06": must_mat_06,
    "MAT-07": must_mat_07,
    "MAT-09": must_mat_09,
    "MAT-11": must_mat_11,
    "MAT-12": must_mat_12,
    "ARG-01": passes,
    "ARG-03": must_arg_03,
    "ARG-04": must_arg_04,
    "ARG-05": passes,
    "ARG-07": must_arg_07,
    "ARG-08": must_arg_08,
    "ARG-10": must_arg_10,
    "ARG-11": must_arg_11,
    "ARG-12": must_arg_12,
    "ORD-01": must_ord_01,
    "ORD-02": must_ord_02,
    "PAR-01": passes,
    "ABS-01": must_abs_01,
    "ABS-02": must_abs_02,
    "ABS-03": must_abs_03,
    "ABS-09": passes,
    "IDS-01": passes,
    "IDS-06": must_ids_06,
}
"""Report -> the check of its `must` lines."""

ELSEWHERE = {
    "UIX-03": "the explanation in the report of the terminal",
    "UIX-05": "a message of calls only in the report of the terminal",
    "SCA-02": "has no trace of its own: see below",
}


def test_no_report_of_this_part_is_left_out(reported):
    assert {row["id"] for row in reported.values() if row["part"] == "golden"} == MUSTS.keys() | ELSEWHERE.keys()


@pytest.mark.parametrize("name", MUSTS)
def test_the_numbers_of_the_report_are_exact(reported, name):
    report = Report(reported[name])
    result = report.graded()
    for key, value in reported[name]["right_answer"]["metrics"].items():
        found = OWN_NAMES[key](report, result) if key in OWN_NAMES else getattr(result.metrics, key)
        if isinstance(value, float):
            assert found == pytest.approx(value, abs=5e-5), key  # the reports round to four digits
        else:
            assert found == value, key
            assert type(found) is type(value), key


@pytest.mark.parametrize("name", MUSTS)
def test_what_must_hold_holds(reported, name):
    report = Report(reported[name])
    MUSTS[name](report, report.graded())


@pytest.mark.parametrize("name", MUSTS)
def test_a_report_reads_the_same_after_being_written(reported, name):
    report = Report(reported[name])
    again = msgspec.json.decode(encode(report.case), type=Case)
    assert grade(again, report.trace, policy=report.policy, tools=report.tools) == report.graded()


# ---- SCA-02: a loop of 10,000 calls against 10 golden calls ------------------------------------------------------


def test_ten_thousand_calls_against_ten_goldens_are_graded_rightly():
    # Anything that compares all with all, or looks through a list for each call, would not end here in a minute.
    goldens = [golden_call(f"t{index}", {"x": index}) for index in range(10)]
    calls = [call(f"t{index % 10}", {"x": 9_999 - index}) for index in range(9_990)]
    right = [call(f"t{index}", {"x": index}) for index in range(10)]
    result = grade(case_of(*goldens), trace_of(*calls, *right))
    found = result.metrics
    assert (found.matched, found.recall, found.precision, found.efficiency) == (10, 1, 0.001, 0.001)
    assert (found.argument_accuracy, found.order_score, result.verdict) == (1, 1, "FAIL")
    assert len(find(result, "unexpected_call")) == 9_990


def test_ten_thousand_calls_of_one_tool_against_ten_goldens_of_it_are_graded_rightly():
    goldens = [golden_call("t", {"x": index}) for index in range(10)]
    result = grade(case_of(*goldens), trace_of(*[call("t", {"x": index % 20}) for index in range(10_000)]))
    assert (result.metrics.matched, result.metrics.argument_accuracy, result.metrics.order_score) == (10, 1, 1)
    assert (len(find(result, "redundant_call")), len(find(result, "unexpected_call"))) == (9_980, 10)

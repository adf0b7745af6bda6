"""Which request meets which fault: the same in every process, whatever the order of arrival."""

import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from rightcall.errors import ConfigError
from rightcall.judge.contract import ReplyCode, TransportCode
from rightcall.testing.answers import Asked
from rightcall.testing.faults import EXPECTED, FAULTS, planner, share


def kinds(plan, count=2000, **options):
    choose = planner(plan, **options)
    return [choose(Asked(number=number, identity=f"case-{number}")) for number in range(count)]


def test_every_kind_says_what_happens_and_ends_with_a_code_that_exists():
    codes = {*get_args(ReplyCode), *get_args(TransportCode)}
    for kind, fault in FAULTS.items():
        assert fault.kind == kind
        assert fault.happens
        assert EXPECTED.get(kind) == fault.code
        assert fault.code is None or fault.code in codes
    assert {code for code in codes if code not in EXPECTED.values()} == {"JUDGE_INCONSISTENT"}


def test_only_faults_of_the_reply_are_left_to_the_content_retry():
    content = {kind for kind, fault in FAULTS.items() if fault.nature == "content"}
    assert {EXPECTED[kind] for kind in content} <= set(get_args(ReplyCode))
    assert all(EXPECTED[kind] in get_args(TransportCode) for kind in EXPECTED if kind not in content)


def test_without_a_plan_nothing_fails():
    assert kinds(None, 5) == [None] * 5


def test_rates_come_true():
    met = kinds({"malformed": 0.1, "server_error": 0.05})
    assert 150 < met.count("malformed") < 250
    assert 60 < met.count("server_error") < 140
    assert kinds({"malformed": 1.0}, 50) == ["malformed"] * 50
    assert kinds({"malformed": 0.0}, 50) == [None] * 50


def test_a_seed_is_a_plan_of_its_own_and_always_the_same():
    plan = {"malformed": 0.3}
    assert kinds(plan, seed=1) == kinds(plan, seed=1)
    assert kinds(plan, seed=1) != kinds(plan, seed=2)


def test_a_plan_is_the_same_in_another_process():
    code = (
        "from rightcall.testing.answers import Asked; from rightcall.testing.faults import planner\n"
        "choose = planner({'malformed': 0.3}, seed=7)\n"
        "print([choose(Asked(number=n, identity=f'case-{n}')) for n in range(40)])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == str(kinds({"malformed": 0.3}, 40, seed=7))


def test_by_text_the_order_of_arrival_does_not_count_and_each_asking_is_drawn_anew():
    choose = planner({"malformed": 0.5}, by="text")
    early = [choose(Asked(number=0, identity="a", attempt=attempt)) for attempt in range(20)]
    late = [choose(Asked(number=99, identity="a", attempt=attempt)) for attempt in range(20)]
    assert early == late
    assert set(early) == {"malformed", None}


def test_by_case_asking_again_meets_the_same():
    choose = planner({"malformed": 0.5}, by="case")
    for case in "abcdefgh":
        assert len({choose(Asked(identity=case, attempt=attempt, number=attempt)) for attempt in range(10)}) == 1


def test_by_number_what_is_asked_does_not_count():
    choose = planner({"malformed": 0.5}, by="number")
    one = [choose(Asked(number=number, identity="a")) for number in range(20)]
    assert one == [choose(Asked(number=number, identity="b", attempt=number)) for number in range(20)]
    assert set(one) == {"malformed", None}


def test_a_list_is_for_the_first_requests():
    assert kinds(["dropped", None, "hang"], 5) == ["dropped", None, "hang", None, None]


def test_a_function_decides_by_the_request():
    choose = planner(lambda asked: "refusal" if "boat" in asked.user else None)
    assert [choose(Asked(user=user)) for user in ("a boat", "a car")] == ["refusal", None]


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"malformd": 0.1}, "unknown kind of fault `malformd`; did you mean `malformed`?"),
        (["no such thing at all"], "unknown kind of fault"),
        ({"malformed": 1.5}, "between 0 and 1"),
        ({"malformed": -0.1}, "between 0 and 1"),
        ({"malformed": float("nan")}, "between 0 and 1"),
        ({"malformed": 0.6, "dropped": 0.6}, "1.2 in sum"),
    ],
)
def test_a_plan_that_cannot_be_kept_is_an_error(plan, said):
    with pytest.raises(ConfigError) as caught:
        planner(plan)
    assert said in str(caught.value)


def test_a_function_that_names_an_unknown_kind_is_an_error_when_it_is_asked():
    with pytest.raises(ConfigError, match="did you mean `hang`"):
        planner(lambda _: "hung")(Asked())


def test_shares_are_spread_evenly():
    shares = [share(0, "case", number) for number in range(4000)]
    assert all(0 <= one < 1 for one in shares)
    assert all(850 < sum(low <= one < low + 0.25 for one in shares) < 1150 for low in (0, 0.25, 0.5, 0.75))


def test_every_kind_has_its_row_on_the_page():
    page = (Path(__file__).resolve().parents[2] / "docs" / "testing.md").read_text("utf-8").splitlines()
    for fault in FAULTS.values():
        ends = f"`{fault.code}`" if fault.code else "an answer"
        assert f"| `{fault.kind}` | {fault.nature} | {fault.happens} | {ends} |" in page

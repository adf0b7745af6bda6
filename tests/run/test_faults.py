"""Judged runs against a server that fails in every way: one end a case, no fault a score, nothing unaccounted for."""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass

import pytest
from judging_making import (
    TOOLS,
    Suite,
    a_judge,
    ledger,
    results,
    rubric_says,
    run_with,
    scripted,
    selection_says,
    serving,
    step,
    trace,
)

from rightcall.run.judging.attempt import WRONG_MODEL_TRIES
from rightcall.store.verify import verify
from rightcall.testing import FaultyServer
from rightcall.testing.answers import by_marker
from rightcall.testing.faults import EXPECTED, FAULTS

CLOSE_THE_DOOR = ("unauthorized", "quota")
KINDS = tuple(kind for kind in FAULTS if kind not in CLOSE_THE_DOOR)
SHARE = 0.2
TRIES = 5
"""Exchanges of one call at the most: the first and four transport retries."""

IN_THE_LOG = {
    **EXPECTED, None: "ok", "latency": "ok", "slow_body": "ok", "wrong_model": "JUDGE_UNREACHABLE",
    "cut_prompt": "JUDGE_TRUNCATED", **{kind: "REJECTED_PARAMETER" for kind in FAULTS if kind.startswith("unsupported_")},
}  # fmt: skip
"""Fault of a request -> status of its exchange on record."""


@dataclass
class Campaign:
    """A run that is over: results by case, requests by case, exchanges on record by case."""

    results: dict
    requests: dict
    attempts: dict
    probes: list
    counts: dict
    spent: dict
    tally: object
    stop: object
    chain: object
    clean: dict


def selection_replies(number):
    return {
        f"case-{n:04d}": selection_says(
            "FAIL" if n % 5 == 0 else "PASS", justification=f"The catalog settles case {n}.",
            selected_tool="cancel_card" if n % 5 == 0 else "freeze_card",
        )
        for n in range(number)
    }  # fmt: skip


def rubric_replies(number):
    return {
        f"case-{n:04d}": rubric_says(
            1 + n % 5, ("NONE", "LOW", "MEDIUM")[n % 3], downstream_impact=f"That of case {n}."
        )
        for n in range(number)
    }


def steps(number):
    for n in range(number):
        chosen = "cancel_card" if n % 5 == 0 else "freeze_card"
        yield step(f"case-{n:04d}", selected=chosen)


def traces(number):
    return (trace(f"t-{n:04d}", case_id=f"case-{n:04d}", request=f"case-{n:04d}: freeze it") for n in range(number))


def cases(number):
    call = {"tool": "freeze_card", "arguments": {"card": 7}}
    return (
        {"id": f"case-{n:04d}", "request": "freeze it", "tools": TOOLS, "expect": {"calls": [call]}}
        for n in range(number)
    )


def campaign(folder, grader, number):
    clean = selection_replies(number) if grader == "selection" else rubric_replies(number)
    (folder / "answers.json").write_text(json.dumps(clean))
    faults = [part for kind in KINDS for part in ("--fault", f"{kind}={SHARE / len(KINDS)}")]
    settings = ("--marker", r"case-\d+", "--latency", "0.1", "--slow", "0.3", "--retry-after", "0.05", "--seed", "3")
    with serving(folder / "answers.json", *settings, *faults) as url:
        judge = f'model = "faulty-model"\nbase_url = "{url}/v1"\ntimeout = 3.0\nmax_concurrency = 64\n'
        suite = Suite(folder, f"[judges.strong]\n{judge}")
        setup = suite.selection(steps(number)) if grader == "selection" else suite.rubric(traces(number), cases(number))
        with setup.run() as judged:
            found = defaultdict(list)
            for one in judged.decoded():
                found[case_of(one)].append(one)
        *seen, counts = ledger(url)
    requests, attempts, probes = defaultdict(list), defaultdict(list), []
    for one in seen:
        requests[one["identity"]].append(one)
    with suite.opened() as store:
        for _, _, one in store.attempts():
            (probes if one.purpose == "probe" else attempts[one.case_id]).append(one)
        assert Counter(one.unit for one in store.verdicts(judged.run.id)).total() == number
        chain = verify(store)
    return Campaign(found, requests, attempts, probes, counts, judged.spent, judged.tally, judged.stop, chain, clean)


def case_of(result):
    """The case of a result; a step in a file of steps is its own case."""
    return result.case_id or result.step_id


def should_end(requests):
    """How a question must end that met these faults: `None` with a verdict, else the reason."""
    attempt = tries = others = 0
    for request in requests:
        kind = "hang" if not request["client_there"] else request["fault"]
        code = IN_THE_LOG[kind]
        if code == "REJECTED_PARAMETER":
            continue
        if kind == "wrong_model":
            others, tries = others + 1, 0
            if others == WRONG_MODEL_TRIES:
                return "JUDGE_UNREACHABLE"
        elif code == "ok":
            return None
        elif kind == "cut_prompt":
            return "too_long"
        elif FAULTS[kind].nature == "content":
            if attempt == 1:
                return code
            attempt, tries, others = 1, 0, 0
        else:
            tries += 1
            if tries == TRIES:
                return code
    return "the question was left in the middle"


def check(run, number):
    """All that must hold of a run through faults."""
    assert run.stop is None
    assert sorted(run.results) == sorted(run.clean)
    for case, ends in run.results.items():
        (end,) = ends
        reason = should_end(run.requests[case])
        assert (end.status, end.reason) == (("EVALUATED", None) if reason is None else ("UNEVALUABLE", reason)), case
        if reason is None:
            assert end.judges[0].reply.items() >= json.loads(run.clean[case]).items(), case
        else:
            assert (end.judges[0].reply, end.verdict) == (None, None), case
        kinds = ["hang" if not one["client_there"] else one["fault"] for one in run.requests[case]]
        assert [one.status for one in run.attempts[case]] == [IN_THE_LOG[kind] for kind in kinds], case
        statuses = [sent(kind, one) for kind, one in zip(kinds, run.requests[case], strict=True)]
        assert [noted(one) for one in run.attempts[case]] == statuses, case
    recorded = [one for found in run.attempts.values() for one in found] + run.probes
    assert len(recorded) == run.counts["requests"] == run.spent["calls"]
    assert Counter(one.status for one in recorded) == run.spent["by_status"]
    assert (run.chain.intact, run.chain.faults) == (True, ())
    tally = run.tally
    assert tally.evaluated + sum(tally.unevaluable.values()) == tally.n == number
    # Enough of everything was met for this to mean something.
    met = Counter(one["fault"] for found in run.requests.values() for one in found)
    assert sum(met.values()) - met[None] > number * SHARE / 2
    assert run.counts["peak_in_flight"] <= 64


def sent(kind, request):
    """The HTTP status that the client learns of; an error in a 200 has its own in its body."""
    if kind in ("hang", "dropped", "dropped_midway"):
        return None
    return 503 if kind == "error_in_200" else request["status"]


def noted(one):
    """The HTTP status on record; that of an answer is not written down."""
    return 200 if one.reply is not None else one.http_status


def test_a_hundred_and_fifty_choices_through_every_fault(tmp_path):
    check(campaign(tmp_path, "selection", 150), 150)


@pytest.mark.slow
def test_a_thousand_choices_through_every_fault(tmp_path):
    run = campaign(tmp_path, "selection", 1000)
    check(run, 1000)
    met = {one["fault"] for found in run.requests.values() for one in found}
    assert met >= {kind for kind in KINDS if not kind.startswith("unsupported_")}
    assert run.tally.evaluated > 950


@pytest.mark.slow
def test_a_hundred_traces_through_every_fault(tmp_path):
    check(campaign(tmp_path, "rubric", 100), 100)


# ---- the same fault every time ----


@pytest.mark.parametrize("grader", ["selection", pytest.param("rubric", marks=pytest.mark.slow)])
def test_a_fault_that_is_met_every_time_ends_as_what_it_is(tmp_path, grader):
    clean = selection_replies(len(KINDS)) if grader == "selection" else rubric_replies(len(KINDS))
    with FaultyServer(
        answers=by_marker(clean), marker=r"case-\d+", slow=0.1, retry_after=0.01,
        plan=lambda asked: KINDS[int(asked.identity[5:])] if asked.identity.startswith("case-") else None,
    ) as server:  # fmt: skip
        suite = Suite(tmp_path, scripted())
        number = len(KINDS)
        setup = suite.selection(steps(number)) if grader == "selection" else suite.rubric(traces(number))
        judge = a_judge(
            None,
            provider="openai",
            model="faulty-model",
            base_url=server.base_url,
            timeout=1.5,
            max_concurrency=64,
            retries=2,
        )
        found = results(run_with(setup, judge))
        requests = Counter(one.identity for one in server.requests)
    ends = {KINDS[int(case_of(one)[5:])]: one.reason for one in found.values()}
    assert ends == {
        **{kind: EXPECTED.get(kind) for kind in KINDS},
        "wrong_model": "JUDGE_UNREACHABLE",
        "cut_prompt": "too_long",
    }
    assert all((one.status == "EVALUATED") == (one.reason is None) for one in found.values())
    assert judge.others == {"faulty-model-other": WRONG_MODEL_TRIES}
    for kind, case in zip(KINDS, sorted(clean), strict=True):
        nature = FAULTS[kind].nature if kind in EXPECTED else None
        assert requests[case] == {"transport": 3, "content": 2}.get(nature, requests[case]), kind


@pytest.mark.parametrize("kind", CLOSE_THE_DOOR)
def test_a_refused_credential_and_a_spent_account_cost_one_call(tmp_path, kind):
    with FaultyServer(plan={kind: 1.0}) as server:
        suite = Suite(tmp_path, f'[judges.strong]\nmodel = "faulty-model"\nbase_url = "{server.base_url}"\n')
        with suite.selection(steps(200)).run() as judged:
            assert judged.stop.cause == {"unauthorized": "auth", "quota": "unreachable"}[kind]
            assert {one.reason for one in judged.decoded()} <= {EXPECTED[kind]}
            assert judged.tally.evaluated == 0
            assert judged.tally.n == 200
        assert server.stats()["requests"] == judged.spent["calls"] == 1


@pytest.mark.parametrize("rung", ["auto", "json_schema"])
def test_a_credential_that_is_refused_in_the_middle_stops_the_run_which_then_goes_on(tmp_path, rung):
    clean = selection_replies(60)
    with FaultyServer(answers=by_marker(clean), marker=r"case-\d+") as server:
        server.change(plan=lambda asked: "unauthorized" if asked.number >= 20 else None)
        judge = f'model = "faulty-model"\nbase_url = "{server.base_url}"\nmax_concurrency = 4\nstructured = "{rung}"\n'
        suite = Suite(tmp_path, f"[judges.strong]\n{judge}")
        with suite.selection(steps(60)).run() as first:
            asked = 20 - (rung == "auto")
            assert (first.stop.cause, first.tally.evaluated, first.tally.not_asked) == ("auth", asked, 60 - asked)
            assert sum(first.tally.unevaluable.values()) == 0
        server.change(plan=None)
        with suite.selection(steps(60), resume=first.run.id).run() as second:
            assert (second.stop, second.tally.evaluated, second.tally.resumed) == (None, 60, asked)
        answered = Counter(one.identity for one in server.requests if one.status == 200 and one.identity in clean)
    assert answered == dict.fromkeys(clean, 1)

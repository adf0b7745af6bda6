"""Judges against truth, as they were recorded in the field: 1,112 verdicts on runs whose reward is known."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from labels_making import VERDICT_SCHEMA, answer, calibrated, item_records, opinion, put_run, result_of

from rightcall import read_reply
from rightcall.judge.own import OwnReply
from rightcall.stats.agreement import cohen
from rightcall.store.store import Store

KAPPAS = {
    "airline": (-0.16, 0.06, 0.37, -0.05), "retail": (0.17, 0.05, 0.23, -0.03), "telecom": (0.26, 0.78, 0.40, 0.14),
}  # fmt: skip
PROMPTS = ("customer_outcome", "quick_triage", "policy_conversation", "policy_chain_of_thought")


def rows_of(shared_data, domain):
    file = shared_data / f"data/tau2_bench/judged/{domain}.verdicts.jsonl"
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def put(store, rows, prompt, number, reads):
    """Record the verdicts of one prompt as a run of a grader of its own, and the rewards as people's labels."""
    own = [row for row in rows if row["judge_prompt_name"].startswith(prompt)]
    run = put_run(
        store, "policy", run=f"20261129-{number}", judge="gpt-4o", model=own[0]["judge_model"],
        prompts=(str(number) * 64,), reply_schema=VERDICT_SCHEMA,
    )  # fmt: skip
    records, bodies = [], []
    for place, row in enumerate(own):
        unit, said = f"{row['simulation_id']}-{place}", reads(row["judge_verdict"])
        judges = (opinion(None if said is None else {"verdict": said}, judge="gpt-4o"),)
        result = result_of("policy", unit, f"{row['label']}-{row['task_id']}", said, judges=judges)
        made, body = item_records(run, "policy", unit, result.case_id, result)
        human = {"verdict": "pass" if row["tau2_success"] else "fail"}
        records += [*made, answer(made[0], human)]
        bodies.append(body)
    store.write(records, bodies)


def only_literal_pass(verdict):
    return "pass" if verdict == "pass" else "fail"


def as_it_is_read(verdict):
    """Read the reply as strictly as any: what is outside the schema is no verdict."""
    reply = json.dumps({"verdict": verdict})
    return verdict if isinstance(read_reply("policy", reply, schema=VERDICT_SCHEMA), OwnReply) else None


@pytest.mark.slow
@pytest.mark.parametrize("domain", KAPPAS)
def test_recorded_judges_have_their_kappa_and_none_of_them_is_fit(domain, shared_data, tmp_path):
    rows = rows_of(shared_data, domain)
    with Store.open(tmp_path / "s.db") as store:
        for number, prompt in enumerate(PROMPTS, 1):
            put(store, rows, prompt, number, only_literal_pass)
        found = calibrated(store, judge="gpt-4o", resamples=200).calibrations
    by_prompt = {one.prompt.sha256[0]: one for one in found}
    for number, expected in enumerate(KAPPAS[domain], 1):
        one = by_prompt[str(number)]
        assert round(one.figures.kappa.estimate, 2) == expected
        assert one.verdict == ("INSUFFICIENT" if expected == 0.78 else "NOT_FIT")
        assert one.figures.failing == ("fail",)
    assert sum(one.labels for one in found) == len(rows)


def test_the_lenient_judge_is_not_fit(shared_data, tmp_path):
    """It passes 112 of 114 runs."""
    with Store.open(tmp_path / "s.db") as store:
        put(store, rows_of(shared_data, "retail"), "quick_triage", 2, only_literal_pass)
        [found] = calibrated(store, resamples=500).calibrations
    passed = sum(row[found.classes.index("pass")] for row in found.counts)
    assert (found.labels, passed, found.verdict) == (114, 112, "NOT_FIT")
    assert found.fitness.reasons[0].startswith("agreement 0.05")
    assert found.figures.detection.high < 0.8


@pytest.mark.slow
def test_verdicts_outside_the_schema_are_excluded_and_counted(shared_data, tmp_path):
    unread, labels = Counter(), 0
    for domain in KAPPAS:
        rows = rows_of(shared_data, domain)
        with Store.open(tmp_path / f"{domain}.db") as store:
            for number, prompt in enumerate(PROMPTS, 1):
                put(store, rows, prompt, number, as_it_is_read)
            found = calibrated(store, resamples=1).calibrations
        for one in found:
            labels += one.labels
            unread.update(one.left_out)
            pairs = [
                (row["judge_verdict"], "pass" if row["tau2_success"] else "fail") for row in rows
                if row["judge_prompt_name"].startswith(PROMPTS[int(one.prompt.sha256[0]) - 1])
                and row["judge_verdict"] in ("pass", "fail")
            ]  # fmt: skip
            assert one.labels == len(pairs)
            if one.figures is not None:
                assert one.figures.kappa.estimate == pytest.approx(cohen(pairs))
                assert one.figures.kappa.excluded == one.left_out.get("judge: JUDGE_SCHEMA", 0)
    assert (labels, dict(unread)) == (910, {"judge: JUDGE_SCHEMA": 202})

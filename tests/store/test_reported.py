"""Reported cases about stores (STO-*), on both databases. SCA-05 is in `test_writer.py`, STO-04 in `test_processes.py`."""

from store_making import sha, verdict

from rightcall.store.verify import verify


def test_a_score_of_zero_is_zero_and_none_is_none(store, reported):
    case = reported["STO-01"]
    written = case["minimal_input"]["write"]
    store.write([verdict(unit=row["case"], case_id=row["case"], score=row["score"]) for row in written])
    read = [{"case": found.case_id, "score": found.score} for found in store.verdicts("20261129-1")]
    assert read == case["right_answer"]["read"]
    assert [row["score"] is None for row in read] == [row["score"] is None for row in written]


def test_what_could_not_be_evaluated_is_kept_as_that(store, reported):
    case = reported["STO-03"]
    row = case["minimal_input"]["write"]
    unevaluable = verdict(unit=row["case"], score=row["score"], status=row["status"], reason=row["reason"])
    assert bool(store.write([unevaluable, verdict(2, score=0.0)])) == case["right_answer"]["accepted"]
    found = {item.unit: item for item in store.verdicts("20261129-1")}
    assert found[row["case"]] == unevaluable
    scores = [item.score for item in found.values() if item.score is not None]
    assert (row["score"] in scores) == case["right_answer"]["in_mean"]
    assert (row["case"] in found) == case["right_answer"]["in_coverage"]


def test_a_resumed_run_has_one_current_verdict_for_each_case_and_all_of_them_on_record(store, reported):
    case = reported["STO-06"]
    run, given, right = case["minimal_input"]["run"], case["minimal_input"], case["right_answer"]
    store.write([verdict(unit=unit, run_id=run) for unit in given["done"]], ["result"])
    for unit in given["resume_writes"]:
        before = store.verdict(run, unit)
        store.write([verdict(unit=unit, run_id=run, score=0.5, revision=before.revision + 1 if before else 0)])
    current = sorted(found.unit for found in store.verdicts(run))
    assert current == right["rows_current"]
    assert len(list(store.log(kind="verdict", run_id=run))) == right["audit_rows"]
    units = set(given["done"]) | set(given["resume_writes"])
    assert f"{len(current)}/{len(units)}" == right["progress"]
    assert store.verdict(run, "b").score == 0.5
    assert verify(store).intact
    assert store.body(sha("result"))

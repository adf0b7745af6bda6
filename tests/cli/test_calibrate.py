"""`rightcall calibrate`: what it prints, writes, records and leaves with; and what later runs make of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from labels_making import put_labels, put_run, told

from rightcall.store.store import Store

N = 60
STORE = ".rightcall/rightcall.db"


def lines_of(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def labelled(rightcall, tmp_path):
    """Return a function that fills the project's store with labels."""

    def fill(pairs, grader="selection", run="20261129-1", **made):
        (tmp_path / ".rightcall").mkdir(exist_ok=True)
        with Store.open(tmp_path / STORE) as store:
            put_run(store, grader, run=run, judge=made.pop("judge", "fast"))
            put_labels(store, pairs, grader, run=run, **made)

    return fill


# ---- answers and exit codes ----


@pytest.mark.parametrize(
    ("pairs", "people", "code", "words"),
    [
        (told(60, 0, 0, 80), 2, 0, "✓ FIT"),
        (told(0, 60, 0, 80), 2, 1, "✗ NOT FIT"),
        (told(38, 7, 4, 71), 1, 3, "◐ INSUFFICIENT"),
        (told(5, 0, 0, 6), 1, 3, "fewer than 30 labels: the table only"),
    ],
)
def test_the_answer_is_the_exit_code(rightcall, labelled, pairs, people, code, words):
    labelled(pairs, people=people)
    said = rightcall("calibrate", "fast", "--split", "all")
    assert said.code == code
    assert words in said.out
    assert (said.err == "") == (code == 0)


def test_the_terminal_shows_table_figures_and_what_is_needed(rightcall, labelled):
    labelled(told(38, 7, 4, 71))
    labelled(told(2, 2, 2, 2), first=500, blind=False)
    said = lines_of(rightcall("calibrate", "fast", "--split", "all").out)
    for words in (
        "fast · selection · grade", "model m-1 · prompt selection 1 (aaaaaa)", "120 labels: blind, drawn at random",
        "people ↓ judge → PASS FAIL", "catches FAIL (Se) 0.844 0.712 – 0.923 45", "kappa 0.80",
        "INCONCLUSIVE catches FAIL: detection 0.8444", "more labels that people call FAIL would settle it",
        "answers that are on record and not counted: 8 not blind", "no item was answered by two", "saved as cal-",
    ):  # fmt: skip
        assert words in said, words


def test_without_labels_it_leaves_with_5_and_says_what_there_is(rightcall, labelled):
    labelled(told(3, 0, 0, 3), blind=False)
    said = rightcall("calibrate")
    assert (said.code, said.out) == (5, "")
    assert "there is no label that counts: blind, drawn at random, of the test part; there are 6 not blind" in said.err


def test_all_labels_are_no_part_of_the_labels(rightcall, labelled):
    labelled(told(3, 0, 0, 3), blind=False)
    said = rightcall("calibrate", "--split", "all")
    assert "there is no label that counts: blind, drawn at random; there are 6 not blind" in said.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fats"], "there is no judge `fats`; did you mean `fast`?"),
        (["--grader", "selektion"], "there is no grader `selektion`; did you mean `selection`?"),
        (["--field", "grad"], "there is no field `grad`; did you mean `grade`?"),
        (["--run", "20261129-7"], "there is no run `20261129-7`"),
        (["-o", "x.pdf"], "no format is known for `x.pdf`"),
        (["-o", "a.md", "-o", "a.md"], "`a.md` is named twice"),
        (["--split", "train"], "--split"),
    ],
)
def test_what_nobody_knows_is_exit_2_with_the_nearest_name(rightcall, labelled, arguments, words):
    labelled(told(3, 0, 0, 3))
    said = rightcall("calibrate", *arguments)
    assert (said.code, said.out) == (2, "")
    assert words in said.err


def test_a_known_judge_without_labels_is_exit_5(rightcall, labelled, write):
    labelled(told(3, 0, 0, 3))
    write("rightcall.toml", '[judges.strong]\nprovider = "recorded"\nfile = "x.jsonl"\n')
    assert rightcall("calibrate", "strong").code == 5


def test_a_store_that_is_not_there_is_one_clear_line(rightcall):
    said = rightcall("calibrate")
    assert said.code == 5
    assert "there is no store here" in said.err


# ---- what is written and recorded ----


def test_json_is_one_object_with_every_number_as_an_estimate(rightcall, labelled):
    labelled(told(38, 7, 4, 71))
    said = rightcall("calibrate", "--split", "all", "--json")
    [found] = said.json["calibrations"]
    assert found["figures"]["detection"].keys() == {"estimate", "low", "high", "n", "method", "excluded", "reason"}
    assert (found["verdict"], said.json["verdict"], said.code) == ("INSUFFICIENT", "INSUFFICIENT", 3)
    assert found["id"].startswith("cal-")


def test_files_hold_the_same(rightcall, labelled):
    labelled(told(38, 7, 4, 71))
    files = [part for name in ("out.json", "out.md", "out.html") for part in ("-o", name)]
    said = rightcall("calibrate", "--split", "all", "--json", *files)
    assert json.loads(Path("out.json").read_text("utf-8")) == said.json
    page = Path("out.md").read_text("utf-8")
    assert "## fast · selection · grade   ◐ INSUFFICIENT" in page
    assert "| people ↓ judge → | PASS | FAIL | people's share |" in page
    page = Path("out.html").read_text("utf-8")
    [one] = said.json["calibrations"]
    assert one["id"] in page
    assert f"{one['figures']['kappa']['estimate']:.3f}" in page
    assert "exit code 3" in page


def test_it_is_recorded_in_the_log_and_using_test_labels_again_is_said(rightcall, labelled):
    labelled(told(60, 10, 8, 82))
    first = rightcall("calibrate", "fast")
    assert "these test labels were used before" not in lines_of(first.out)
    assert rightcall("calibrate", "fast", "--no-save").code == first.code
    assert "these test labels were used before: once" in lines_of(rightcall("calibrate", "fast").out)
    assert "these test labels were used before: 2 times" in lines_of(rightcall("calibrate", "fast").out)
    assert "used before" not in rightcall("calibrate", "fast", "--split", "dev").out
    verified = rightcall("log", "verify")
    assert verified.code == 0
    assert "4 calibration" in verified.out


def test_the_settings_say_what_is_needed_and_which_labels_are_kept(rightcall, labelled, write):
    labelled(told(41, 6, 1, 72), people=2)
    assert rightcall("calibrate", "--split", "all", "--no-save").code != 0
    write("rightcall.toml", "[calibrate]\ndetection = 0.7\nceiling = 0.2\ntest_share = 0.9\nseed = 3\n")
    said = rightcall("calibrate", "--split", "all", "--no-save", "--json")
    assert (said.code, said.json["verdict"], said.json["seed"]) == (0, "FIT", 3)
    assert rightcall("calibrate", "--no-save", "--json").json["calibrations"][0]["labels"] > 95


def test_a_stated_confidence_is_measured_and_a_threshold_named_or_called_uncalibrated(rightcall, labelled):
    labelled([(("A", 0.95), "A"), (("B", 0.6), "A"), (("B", 0.9), "B"), (("A", 0.7), "A")] * 20, "preference")
    said = lines_of(rightcall("calibrate", "--split", "all").out)
    assert "stated confidence (80 labels, 0 without)" in said
    assert "decide alone from 0.7 on: wrong 0.000" in said
    labelled(
        [(("A", 0.9), "A"), (("B", 0.6), "B")] * 20, "interpretation" and "preference", "20261129-2", judge="other"
    )
    said = lines_of(rightcall("calibrate", "--run", "20261129-2", "--split", "all").out)
    assert "decide alone: uncalibrated, 0.7 stays" in said
    assert "more accepted labels without an error" in said


# ---- what later runs make of it ----


def trace(n: int) -> dict:
    """A trace whose agent reads a gauge aloud; every second one wrongly."""
    said = 500 if n % 2 else n + 10
    events = [
        {"type": "call", "tool": "depth", "arguments": {"gauge": n},
         "result": {"content": {"metres": n + 10}, "is_error": False}},
        {"type": "message", "role": "assistant", "text": f"It is {said} metres."},
    ]  # fmt: skip
    return {"id": f"t-{n:02d}", "request": "How deep is it?", "events": events}


def reply(n: int, score: int, confidence: float) -> dict:
    """What a judge says about a trace."""
    said = {
        "score": score, "interpretation_accuracy": "As it stands.", "action_appropriateness": "It answers.",
        "action_score": 4, "key_errors": ["500 for the depth"] if score < 4 else [], "justification": "The gauge.",
        "misinterpretation_flags": [], "evidence": [], "confidence": confidence,
    }  # fmt: skip
    return {"unit": f"t-{n:02d}#c1", "replies": [json.dumps(said)]}


@pytest.fixture
def gauge(rightcall, write, monkeypatch):
    """Traces; a light judge that likes everything, and a strong one that sees the misreadings."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_HOST", "RIGHTCALL_JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    write("traces.jsonl", *map(trace, range(N)))
    # Surer of what it gets right, and far too sure of the rest.
    write("light.jsonl", *(reply(n, 5, 0.8 if (n % 2 and n % 3) or n % 10 == 0 else 0.95) for n in range(N)))
    write("strong.jsonl", *(reply(n, 5 if n % 2 == 0 else 4, 0.9) for n in range(N)))
    judges = "".join(f'[judges.{name}]\nprovider = "recorded"\nfile = "{name}.jsonl"\n' for name in ("light", "strong"))
    settings = f'traces = "traces.jsonl"\n[review]\nrandom = 1.0\n{judges}'
    write("rightcall.toml", settings)
    return settings


def run_of(said) -> str:
    return re.search(r"\d{8}-\d+", said.out + said.err)[0]


def warnings_of(run: str) -> list[str]:
    with Store.open(STORE) as store:
        return [*store.events(run)][-1].summary["warnings"]


def label_all(write, rightcall, run: str) -> None:
    """Import what a person says about every reading of a run."""
    rows = [
        {"run": run, "grader": "interpretation", "step_id": f"t-{n:02d}#c1", "who": "ana", "blind": True,
         "at": "2026-11-29T10:00:00Z",
         "fields": {"score": 5 if n % 2 == 0 else 1, "action_score": 4, "flags": []}}
        for n in range(N)
    ]  # fmt: skip
    write("labels.jsonl", *rows)
    said = rightcall("review", "import", "labels.jsonl")
    assert said.code == 0, said.err


@pytest.mark.slow
def test_a_light_judge_that_is_not_fit_returns_everything_to_the_strong_one(rightcall, write, gauge):
    go = ("interpretation", "--judge", "light", "--strong-judge", "strong")
    before = rightcall(*go)
    assert "is out" not in before.out
    alone = rightcall("interpretation", "--judge", "light", "--no-cache")
    label_all(write, rightcall, run_of(alone))
    said = rightcall("calibrate", "light", "--split", "all", "--field", "score")
    assert said.code == 1
    name = re.search(r"cal-[0-9a-f]{8}", said.out)[0]
    after = rightcall(*go, "--json")
    value = after.json
    [warning] = warnings_of(value["run"]["id"])
    assert warning.startswith(f"light judge `light` is out: calibration {name} says NOT_FIT")
    assert all(one["scored_by"] == "strong" for one in value["results"])
    assert value["summary"]["two_judges"]["light_is_out"] is True
    assert name in value["summary"]["two_judges"]["light_unfit"]
    assert name in next(iter(value["run"]["interpretation"]["light_unfit"].values()))
    shown = lines_of(rightcall("show", value["run"]["id"]).out)
    assert f"light judge `light` is out: calibration {name} says NOT_FIT" in shown


@pytest.mark.slow
def test_a_run_can_use_what_stated_confidence_is_worth(rightcall, write, gauge):
    first = rightcall("interpretation", "--judge", "light")
    label_all(write, rightcall, run_of(first))
    made = rightcall("calibrate", "light", "--split", "all", "--field", "score", "--json").json["calibrations"][0]
    name = made["id"]
    assert made["confidence"]["recalibration"]["map"]["kind"] == "platt"
    stated = rightcall("interpretation", "--judge", "light", "--json").json["results"]
    assert all("calibrated_confidence" not in one for one in stated)
    write("rightcall.toml", gauge + '[interpretation]\nconfidence = "calibrated"\n')
    said = rightcall("interpretation", "--judge", "light", "--json")
    both = {one["confidence"]: (one["calibrated_confidence"], one["calibration"]) for one in said.json["results"]}
    assert set(both) == {0.8, 0.95}
    assert both[0.8][0] < both[0.95][0] < 0.95
    assert {calibration for _, calibration in both.values()} == {name}
    assert [one["calibration"] for one in said.json["run"]["maps"]] == [name]
    with Store.open(STORE) as store:
        reviews = [one for _, one in store.reviews(run_id=said.json["run"]["id"], reason="low_confidence")]
    assert {one.detail.split(",")[0] for one in reviews} == {"confidence 0.8"}
    assert all(re.search(r"worth 0\.\d{3}, limit 0\.7$", one.detail) for one in reviews)


@pytest.mark.slow
def test_without_a_calibration_the_stated_confidence_stays_and_that_is_said_once(rightcall, write, gauge):
    write("rightcall.toml", gauge + '[interpretation]\nconfidence = "calibrated"\n')
    said = rightcall("interpretation", "--judge", "light", "--json")
    assert all("calibrated_confidence" not in one for one in said.json["results"])
    [warning] = warnings_of(said.json["run"]["id"])
    assert warning.startswith("no calibration of `light` by model (unnamed) with this prompt has a map: its stated")

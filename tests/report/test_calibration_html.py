"""The HTML file of a calibration says what its JSON says, figure by figure, the answer first."""

from __future__ import annotations

import json
import re
from html import unescape

import msgspec
import pytest
from calibration_pages import Tables, page, put_by_tool, several, stated_pairs
from labels_making import calibrated, put_labels, put_run, told
from msgspec.structs import replace

from rightcall.errors import ConfigError
from rightcall.report.calibration.building import view_of
from rightcall.report.written.calibration import plain_values
from rightcall.store.store import Store

FIGURES = {
    "agreement, plain": "exact", "within one level": "within", "kappa": "kappa", "kappa, linear": "kappa_linear",
    "kappa, quadratic": "kappa_quadratic", "alpha, nominal": "alpha", "alpha, ordinal": "alpha", "AC1": "ac",
    "AC2": "ac", "bias (judge − people)": "bias", "mean distance": "error", "Spearman": "spearman",
    "Kendall": "kendall", "clears the others (Sp)": "clearance",
}  # fmt: skip
KINDS = ("Shares", "Agreement beyond chance", "Distances")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    report = several(tmp_path_factory.mktemp("several") / "s.db")
    return report, json.loads(msgspec.json.encode(plain_values(report))), page(report)


@pytest.fixture(scope="module")
def tables(made):
    return Tables(made[2])


def is_shown(text, value):
    """Is this number written here, as it is to the digits that are written?"""
    if value is None:
        return text == "–"
    plain = text.replace("−", "-").replace(",", "")
    digits = len(plain.partition(".")[2])
    return abs(float(plain) - value) <= 0.5 * 10**-digits + 1e-12


def is_estimate(cells, one):
    """Do these cells (value, interval) show an estimate?"""
    value, interval = cells
    if not is_shown(value, one["estimate"]):
        return False
    if one["low"] is None and one["high"] is None:
        return interval == "–"
    low, _, high = interval.partition(" – ")
    return is_shown(low, one["low"]) and is_shown(high, one["high"])


def fields(made):
    """Each calibration of the JSON with the id of its section."""
    return [(f"judge-{at}", one) for at, one in enumerate(made[1]["calibrations"], 1)]


def test_the_answer_stands_first_with_every_cause(made):
    _, plain, text = made
    assert plain["verdict"] == "NOT_FIT"
    top = text[: text.index("<nav")]
    assert "✗</span> NOT FIT" in top
    assert "exit code 1" in top
    for cause in view_of(made[0]).causes:
        assert cause in unescape(top)
    assert text.index('id="who"') < text.index('id="judges"') < text.index('id="left-out"')


def test_each_judge_has_its_answer_the_reason_and_the_labels_still_needed_before_its_figures(made, tables):
    words = {"FIT": "FIT", "NOT_FIT": "NOT FIT", "INSUFFICIENT": "INSUFFICIENT"}
    rows = tables.rows("who", "FIT: it may decide")[1:]
    assert len(rows) == len(made[1]["calibrations"]) == 4
    for row, (section, one) in zip(rows, fields(made), strict=True):
        assert row[1].split(None, 1)[1] == words[one["verdict"]]
        part = unescape(re.sub("<[^>]+>", "", made[2][made[2].index(f'<section id="{section}"') :]))
        missing = one["fitness"]["missing"]["at_least"]
        if missing:
            assert f"Labels still needed: at least {missing}" in row[3]
            assert part.index("Labels still needed") < part.index("What people said")
        if one["figures"] is not None and one["verdict"] != "FIT":
            reasons = [each["reason"] for each in one["fitness"]["conditions"] if each["answer"] != "PASS"]
            assert all((reason.partition("ceiling: ")[2] or reason) in row[3] for reason in reasons)


def test_every_count_of_the_confusion_is_the_one_of_the_json(made, tables):
    for section, one in fields(made):
        rows = tables.rows(section, "People's answers")[2:]
        assert [row[0] for row in rows] == one["classes"]
        assert [[int(cell) for cell in row[1:-1]] for row in rows] == one["counts"]


def test_every_figure_beside_that_of_people_is_the_one_of_the_json(made, tables):
    seen = 0
    for section, one in fields(made):
        if one["figures"] is None:
            assert not tables.rows(section, "Shares")
            continue
        for kind in KINDS:
            rows = tables.rows(section, kind)
            if not rows or "figure" not in rows[0][0]:
                continue
            has_people = "people" in rows[0]
            for row in rows:
                name = "detection" if row[0].startswith("catches") else FIGURES.get(row[0])
                if name is None:
                    continue
                value = one["figures"][name]
                assert is_estimate(row[1:3], value), row
                assert (int(row[4]), int(row[5])) == (value["n"], value["excluded"])
                assert value["method"] in row[-1]
                seen += 1
                beside = one["people"] and {
                    "exact": "exact", "within": "within", one["figures"]["headline"]: "agreement"
                }.get(name)  # fmt: skip
                if has_people and beside:
                    people = one["people"][beside]
                    assert is_estimate(row[6:8], people)
                    assert int(row[8]) == people["n"]
    assert seen == sum(
        one["figures"][name] is not None
        for _, one in fields(made) if one["figures"] for name in {*FIGURES.values(), "detection"}
    )  # fmt: skip


def test_what_it_must_reach_is_shown_with_figure_threshold_and_answer(made, tables):
    for section, one in fields(made):
        rows = tables.rows(section, "What it must reach")[1:]
        conditions = one["fitness"]["conditions"] if one["figures"] else []
        assert len(rows) == len(conditions)
        for each in conditions:
            beside = [row for row in rows if each["answer"] in row[1] and f"n = {each['value']['n']}," in row[2]]
            assert any(is_shown(row[2].split()[0], each["value"]["estimate"]) for row in beside)
            if each["threshold"] is not None:
                assert any(is_shown(re.search(r"at least ([\d.]+)", row[0])[1], each["threshold"]) for row in beside)


def test_every_rate_of_an_answer_is_the_one_of_the_json(made, tables):
    for section, one in fields(made):
        for rate in one["figures"]["rates"] if one["figures"] else ():
            cells = tables.named(section, "By answer")[rate["label"]]
            for at, name in enumerate(("prevalence", "recall", "precision", "f1")):
                assert is_estimate(cells[3 * at : 3 * at + 2], rate[name])
                assert int(cells[3 * at + 2]) == rate[name]["n"]


def test_groups_stand_worst_first_with_what_is_caught(tmp_path):
    with Store.open(tmp_path / "s.db") as store:
        put_run(store)
        put_by_tool(store, told(20, 5, 5, 30), 4)
        report = calibrated(store, resamples=20)
    strata = report.calibrations[0].strata
    rows = Tables(page(report)).rows("judge-1", "Groups of labels")[1:]
    assert len(rows) == len(strata) == 4
    shares = [float(row[1]) for row in rows]
    assert shares == sorted(shares)
    for row, one in zip(rows, strata, strict=True):
        assert row[0] == f"{one.by}: {one.group}"
        assert is_estimate(row[1:3], msgspec.to_builtins(one.agreement))
        assert is_estimate(row[5:7], msgspec.to_builtins(one.detection))
        assert (int(row[4]), int(row[7])) == (one.labels, one.detection.n)


def test_stated_confidence_has_its_bins_its_error_and_the_null(made, tables):
    [(section, one)] = [(section, one) for section, one in fields(made) if one["confidence"]]
    found = one["confidence"]
    tables_of_bins = [rows for where, name, rows in tables.tables if where == section and name == "The same in numbers"]
    bins = [[cell.strip() for cell in row] for row in tables_of_bins[0][1:]]
    assert len(bins) == len(found["bins"])
    for row, each in zip(bins, found["bins"], strict=True):
        assert is_shown(row[1], each["stated"])
        assert is_estimate(row[2:4], each["share"])
        assert int(row[4]) == each["share"]["n"]
    rows = tables.named(section, "Shares")
    error = found["error"]
    assert is_shown(rows["ECE"][0], error["estimate"]["estimate"])
    assert f"shows {error['null_mean']:.3f} on average, up to {error['null_high']:.3f}" in rows["ECE"][-1]
    for name, value in (
        ("wrong answers", found["wrong"]), ("Brier score", found["brier"]), ("AUROC", found["auroc"]),
        ("AURC", found["aurc"]), ("Brier score with the map", found["recalibration"]["brier"]),
        ("ECE with the map", found["recalibration"]["error"]["estimate"]),
    ):  # fmt: skip
        assert is_estimate(rows[name][:2], value), name
    assert is_estimate(tables.named(section, "Differences")["stated above what was right"][:2], found["stated"])


def test_the_curve_and_the_threshold_are_those_of_the_json(made, tables):
    [(section, one)] = [(section, one) for section, one in fields(made) if one["confidence"]]
    found = one["confidence"]
    rows = tables.rows(section, "The same in numbers: points")[1:]
    assert len(rows) == len(found["curve"])
    for row, each in zip(rows, found["curve"], strict=True):
        assert is_shown(row[0], each["threshold"])
        assert [int(cell) for cell in row[1:3]] == [each["accepted"], each["errors"]]
        assert is_shown(row[3], each["coverage"])
        assert is_shown(row[4], each["risk"])
    route = found["routes"]["all"]
    [marked] = [row for row in rows if row[5]]
    assert is_shown(marked[0], route["stands"])
    cells = tables.named(section, "The smallest stated confidence")["all answers"]
    assert is_shown(cells[0], route["stands"])
    assert cells[1] == ("yes" if route["calibrated"] else "no: uncalibrated")
    error = route["route"]["error"] if route["calibrated"] else route["error_fixed"]
    assert is_estimate(cells[2:4], error)
    assert is_shown(cells[5], route["target"])


def test_the_map_is_shown_as_a_line_and_in_numbers(made, tables):
    [(section, one)] = [(section, one) for section, one in fields(made) if one["confidence"]]
    made_map = one["confidence"]["recalibration"]
    assert made_map["id"] in made[2]
    rows = [rows for where, name, rows in tables.tables if where == section and name == "The same in numbers"][1][1:]
    assert [float(row[0]) for row in rows] == [step / 10 for step in range(11)]
    worths = [float(row[1]) for row in rows]
    assert worths == sorted(worths)


def test_what_is_in_no_figure_is_counted_with_its_reason(made, tables):
    left = tables.rows("left-out", "Labels of these judges")[1:]
    wanted = [(str(n), reason) for one in made[1]["calibrations"] for reason, n in one["left_out"].items()]
    said = [reason.replace("judge: ", "the judge gave no answer that could be used (") for _, reason in wanted]
    assert [row[2] for row in left] == [n for n, _ in wanted]
    assert [row[3].removesuffix(")") for row in left] == said
    assert ("3", "judge: JUDGE_SCHEMA") in wanted
    assert "8 not blind" in made[2][made[2].index('id="left-out"') :]


def test_it_asks_for_nothing_and_names_its_own_style_and_script(made):
    text = made[2]
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#)""", text)
    assert "default-src 'none'" in unescape(text)
    assert "style=" not in text


def test_a_field_without_figures_shows_its_table_alone(made):
    text = made[2]
    part = text[text.index("fast · interpretation · score</h3>") :]
    part = part[: part.index("</section>")]
    assert "fewer than 30 labels: the table only" in part
    assert part.count("<table") == 1
    assert "<svg" not in part


def test_a_file_that_would_be_too_large_names_what_it_leaves_out(made):
    many = replace(made[0], calibrations=made[0].calibrations * 12)
    text = page(many, limit_bytes=200_000)
    assert len(text.encode()) < 200_000
    assert text.count("Left out to keep this file small: fast") > 5
    with pytest.raises(ConfigError):
        page(many, limit_bytes=1000)


def test_a_figure_that_misses_its_limit_is_never_written_as_it(tmp_path):
    with Store.open(tmp_path / "s.db") as store:
        put_run(store)
        put_labels(store, told(79, 21, 0, 100), people=2)
        report = calibrated(store, resamples=20)
    [one] = report.calibrations
    low = replace(one.figures.detection, low=0.79996)
    report = replace(report, calibrations=(replace(one, figures=replace(one.figures, detection=low)),))
    cells = Tables(page(report)).named("judge-1", "Shares")["catches FAIL (Se)"]
    assert cells[1].startswith("0.79996 – ")


def test_a_threshold_chosen_on_labels_is_marked_and_said_to_be_a_little_too_good(tmp_path):
    pairs = [((human, sure if sure < 0.9 else 0.95), human) for (_, sure), human in stated_pairs(130)]
    with Store.open(tmp_path / "s.db") as store:
        put_run(store, "preference")
        put_labels(store, [*pairs, (("A", 0.5), "B"), (("B", 0.5), "A")], "preference")
        report = calibrated(store, resamples=20)
    text = page(report)
    cells = Tables(text).named("judge-1", "The smallest stated confidence")["all answers"]
    assert cells[1] == "yes"
    assert "on them: look again on labels that had no part in it." in text
    assert "A threshold says where the judge is seldom wrong, not that it is fit." in text

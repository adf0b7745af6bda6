"""A release decision on real recordings, from the run to every file: one agent of τ²-bench airline against another."""

import csv
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest
import xmlschema

from rightcall.cli.exits import guarded
from rightcall.cli.main import app
from rightcall.run.finished.file import read_results

pytestmark = pytest.mark.slow

SCHEMAS = Path(__file__).parent / "schemas"
OLD, NEW = "azure-gpt-4o_airline_1trial.json", "claude-sonnet-4-5_airline_1trial.json"
SUITE = """
cases = {cases}
[policy]
forbidden = ["transfer_to_human_agents"]
[gates]
golden.pass_rate = {{ min = 0.5 }}
golden.regressions = {{ margin = 0.02 }}
selection.precision = {{ min = 0.98 }}
"""
FILES = ("new.json", "new.jsonl", "new.html", "new.junit.xml", "new.sarif", "new.md", "new.csv")


@pytest.fixture(scope="module")
def released(shared_data, tmp_path_factory):
    """Return the folder in which both agents were run, the second against the first, and the exit codes."""
    folder = tmp_path_factory.mktemp("release")
    runs = shared_data / "data/tau2_bench"
    (folder / "rightcall.toml").write_text(SUITE.format(cases=json.dumps(str(runs / NEW))), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        codes = [guarded(app, ["run", str(runs / OLD), "-q", "-o", "old.json"])]
        out = [part for name in FILES for part in ("-o", name)]
        codes.append(guarded(app, ["run", str(runs / NEW), "-q", "--baseline", "old.json", *out]))
        yield folder, codes


@pytest.fixture
def whole(released):
    """Return the run as its JSON file tells it."""
    return json.loads((released[0] / "new.json").read_bytes())


def test_both_runs_fail_their_gates_and_say_so_by_the_exit_code(released):
    assert released[1] == [1, 1]


def test_the_gate_says_the_same_of_the_run_on_record(released, whole, capfd):
    capfd.readouterr()
    assert guarded(app, ["gate", "--baseline", "old.json", "--json"]) == 1
    said = json.loads(capfd.readouterr().out)
    assert said["decisions"] == whole["summary"]["gate"]["decisions"]
    assert said["diff"] == whole["summary"]["gate"]["diff"]


def test_two_agents_are_compared_on_the_fifty_cases_that_both_have(whole):
    parts = {one["grader"]: one for one in whole["summary"]["gate"]["diff"]["graders"]}
    golden = parts["golden"]
    assert (golden["shared"], golden["not_comparable"]) == (50, [])
    assert golden["both_passed"] + golden["both_failed"] + golden["gained"] + golden["lost"] == 50
    turned = [flip for flip in golden["flips"] if flip["new"] == "FAIL"]
    assert len(turned) == golden["lost"]
    assert golden["flips"][: len(turned)] == turned


def test_every_file_holds_the_same_results(released, whole):
    folder, results = released[0], whole["results"]
    failed = sum(one["verdict"] == "FAIL" for one in results)
    silent = sum(one["status"] == "UNEVALUABLE" for one in results)
    lines = (folder / "new.jsonl").read_text("utf-8").splitlines()
    assert sorted(lines) == sorted(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in results)
    with (folder / "new.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(results)
    suites = ET.parse(folder / "new.junit.xml").getroot()
    assert len(suites.findall(".//testcase")) == len(results)
    assert len(suites.findall(".//failure")) == failed
    assert len(suites.findall(".//error")) == silent
    assert [row.value() for row in read_results(folder / "new.json").rows()] == results


def test_every_file_keeps_to_its_schema_and_its_limit(released, whole):
    folder = released[0]
    xmlschema.XMLSchema(SCHEMAS / "junit.xsd").validate(folder / "new.junit.xml")
    log = json.loads((folder / "new.sarif").read_bytes())
    jsonschema.Draft4Validator(json.loads((SCHEMAS / "sarif-2.1.0.json").read_bytes())).validate(log)
    vetoes = sum(len(one.get("vetoes", ())) for one in whole["results"] if one["grader"] == "golden")
    found = [one for one in log["runs"][0]["results"] if one["level"] == "error"]
    assert len(found) == vetoes > 0
    assert (folder / "new.md").stat().st_size < 900_000
    assert (folder / "new.html").stat().st_size < 5_000_000
    page = (folder / "new.html").read_text("utf-8")
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page or "src=" not in page

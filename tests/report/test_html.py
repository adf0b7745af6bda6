"""The HTML file: one piece, nothing from outside, never above its limit, everything said."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from base64 import b64encode
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO
from itertools import chain
from pathlib import Path

import pytest
from html_making import case, decisions, diff, full, html, row

from rightcall.errors import ConfigError
from rightcall.gate.decision import Decision, GateReport
from rightcall.report.html.diff import SIGNS
from rightcall.report.html.page import ANSWERS, LEAST_BYTES, OUTCOMES, write_html
from rightcall.report.view.model import Bar, CallLine, Counts, GraderView, Matrix, ReportView, Table
from rightcall.stats.intervals import clopper_pearson, undefined, wilson

VOID = {"meta", "circle", "path", "rect", "img", "br", "link", "input"}
IMPLIED = {"th", "td", "tr"}


class Outline(HTMLParser):
    """Every element with its attributes, and what was left open or closed twice."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.wrong = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        while self.open and self.open[-1] != tag and self.open[-1] in IMPLIED:
            self.open.pop()
        if not self.open or self.open.pop() != tag:
            self.wrong.append((tag, self.getpos()))


def words(text):
    """What is read, without markup."""
    return " ".join(re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL).split())


def many(count, graders=("golden",), **parts):
    """A report of so many failures a grader."""
    return replace(
        full(),
        gate=None,
        failures=lambda: chain.from_iterable((row(n, grader) for n in range(count)) for grader in graders),
        **parts,
    )


# ---- one file --------------------------------------------------------------------------------------------------------


def test_the_file_is_well_formed_and_every_id_is_there_once():
    found = Outline(html(full()))
    assert (found.wrong, found.open) == ([], [])
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [attributes["href"] for tag, attributes in found.elements if tag == "a"]
    assert {target[1:] for target in targets} <= set(ids)


def test_nothing_is_referred_to_outside():
    text = html(full())
    for tag, attributes in Outline(text).elements:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form", "use", "image"}
        assert not set(attributes) & {"src", "srcset", "action", "style", "xlink:href", "ping", "background"}
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "#").startswith("#")
    style = re.search("<style>(.*?)</style>", text, re.DOTALL)[1]
    assert "url(" not in style
    assert "@import" not in style


def test_the_policy_allows_this_style_and_this_script_alone():
    text = html(full())
    policy = next(a["content"] for tag, a in Outline(text).elements if a.get("http-equiv") == "Content-Security-Policy")
    for tag in ("style", "script"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert text.index("Content-Security-Policy") < 200


def test_the_same_report_is_the_same_bytes():
    assert html(full()) == html(full())


def test_the_wheel_ships_the_templates(tmp_path):
    build = "import sys; from hatchling.builders.wheel import WheelBuilder as B; print(next(B('.').build(directory=sys.argv[1], versions=['standard'])))"
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=root, capture_output=True, text=True, check=True
    )
    import zipfile

    with zipfile.ZipFile(done.stdout.split()[-1]) as wheel:
        packed = {name for name in wheel.namelist() if name.startswith("rightcall/report/html/templates/")}
    folder = root / "src" / "rightcall" / "report" / "html" / "templates"
    assert packed == {f"rightcall/report/html/templates/{file.name}" for file in folder.iterdir()}
    assert len(packed) > 5


def test_jinja_is_loaded_only_when_a_report_is_written():
    check = "import sys; import rightcall.report.html.page; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


# ---- what is said ----------------------------------------------------------------------------------------------------


def test_the_answer_stands_first_in_words():
    text = words(html(full()))
    assert text.index("✗ FAIL") < text.index("selection.precision: 0.973 is below 0.98") < text.index("Results")
    assert "6 rules · 2 FAIL · 1 WAIT · 1 INCONCLUSIVE · 1 NOT COMPARABLE · 1 PASS · exit code 1" in text


@pytest.mark.parametrize("answer", ["PASS", "FAIL", "INCONCLUSIVE", "NOT_COMPARABLE", "WAIT"])
def test_every_answer_has_a_sign_and_words(answer):
    gate = GateReport(run="r", answer=answer, exit_code=0, decisions=())
    sign, said, _ = ANSWERS[answer]
    text = html(replace(full(), gate=gate))
    assert f'<span class="sign" aria-hidden="true">{sign}</span> {said}</p>' in text
    assert f"<title>{said} · " in text


def test_every_outcome_and_state_of_a_call_has_a_sign_of_its_own_or_words():
    assert set(OUTCOMES) == {"passed", "failed", "error", "waiting", "aside", "unread"}
    lines = tuple(CallLine(state=state, expected="e", actual="a") for state in SIGNS)
    text = html(replace(full(), failures=lambda: iter([case(1, lines=lines)])))
    for state, sign in SIGNS.items():
        assert f'<span class="sign" aria-hidden="true">{sign}</span> <span class="state">{state}</span>' in text


def test_without_a_gate_the_results_decide_and_it_says_so():
    text = words(html(replace(full(), gate=None)))
    assert "✗ FAIL 2,189 passed · 65 failed · 4 no verdict · 2 waiting · 1 no result · no gate was asked" in text


def test_every_rule_has_its_figure_interval_n_method_reason_and_what_would_settle_it():
    text = words(html(full()))
    assert "0.973 [0.944, 1.000] n = 185, 1 left out, clopper-pearson 0.95 lower" in text
    assert "57 more cases without a further error would settle it" in text
    assert "1 CRITICAL is open rightcall signoff rv-17" in text
    assert "judge desk · selection: ✗ NOT FIT it misses 7 of 45 human FAILs" in text
    assert "– n = 0, tango 0.95 the prompts differ" in text
    assert "5 to look at" in text
    assert "Note: with 20 cases 0.98 cannot be shown" in text


def test_a_failing_figure_is_never_shown_as_the_threshold():
    value = clopper_pearson(97_999, 100_000, sided="lower")
    decision = Decision(name="g", rule="≥ 0.98", answer="FAIL", value=value, threshold=0.98, on="point")
    gate = GateReport(run="r", answer="FAIL", exit_code=1, decisions=(decision,))
    bar = Bar(name="rate", value=wilson(97_999, 100_000), threshold=0.98)
    view = ReportView(
        "t", None, "finished", gate=gate, graders=(GraderView(grader="golden", counts=Counts(), bars=(bar,)),)
    )
    text = html(view)
    assert text.count(">0.97999<") == 2
    assert ">0.980<" not in text


def test_what_is_undefined_is_a_dash_with_its_reason():
    view = GraderView(
        grader="g", counts=Counts(), bars=(Bar(name="kappa", value=undefined("kappa", "one label only", n=6)),)
    )
    text = words(html(ReportView("t", None, "finished", graders=(view,))))
    assert "kappa – – 6 0 kappa ; one label only" in text


def test_flipped_cases_come_first_with_their_calls_and_are_not_shown_twice():
    text = html(full())
    assert text.index('id="f-2"') < text.index('id="f-3"') < text.index('id="results"') < text.index('id="f-1"')
    assert '<a href="#f-2">case-00002</a>' in text
    assert text.count('<a href="#f-2">shown above</a>') == 1
    assert "case-00050" in text
    assert '<a href="#f-50">case-00050</a>' not in text


def test_what_must_not_be_compared_is_said_before_the_difference():
    text = words(html(full()))
    assert (
        text.index("Not comparable")
        < text.index("the prompts differ: golden@3f2a → golden@77b0")
        < text.index("−0.010 [−0.060, 0.040]")
    )


def test_judges_have_their_fitness_with_the_agreement_among_people():
    text = words(html(full()))
    assert "✗ NOT FIT 0.600 [0.502, 0.691] n = 100, wilson 0.95 0.880 [0.802, 0.930] n = 100, wilson 0.95" in text
    assert "? UNKNOWN" in text


def test_a_run_that_is_not_whole_says_so_at_the_top():
    text = words(html(replace(full(), status="interrupted", message="the budget is spent")))
    assert text.index("This run is not whole: interrupted. the budget is spent") < text.index("Results by grader")


def test_a_report_of_nothing_is_a_report():
    text = words(html(ReportView("empty", None, "finished")))
    assert "∅ NO DATA" in text
    assert "There are no results." in text
    assert "None: every result passed, or there is none." in text


def test_a_template_that_asks_for_what_is_not_there_is_an_error():
    from jinja2 import UndefinedError

    from rightcall.report.html.page import environment

    with pytest.raises(UndefinedError):
        environment().from_string("{{ nothing }}").render()


# ---- room ------------------------------------------------------------------------------------------------------------


def shown_numbers(text):
    return [int(number) for number in re.findall(r' id="f-(\d+)"', text)]


def test_failures_are_in_pages_of_50_and_all_there_while_they_fit():
    text = html(many(2345))
    assert shown_numbers(text) == list(range(1, 2346))
    assert words(text).count("Failures 51 to 100 ") == 1
    assert "From failure 51 on: 1,000 in short, 50 a page" in words(text)
    assert "From failure 2,051 on: 295 in short, 50 a page" in words(text)
    found = Outline(text)
    assert (found.wrong, found.open) == ([], [])


@pytest.mark.parametrize("limit", [LEAST_BYTES, 150_000, 200_017, 400_000])
@pytest.mark.parametrize("graders", [("golden",), ("golden", "selection", "own")], ids=["one grader", "three graders"])
def test_the_limit_is_kept_and_what_is_left_out_is_counted(limit, graders):
    text = html(many(3000, graders), limit_bytes=limit)
    assert len(text.encode()) <= limit
    left = [int(n.replace(",", "")) for n in re.findall(r"… ([\d,]+) more in the JSON and CSV files", text)]
    assert len(left) == len(graders)
    assert sum(left) + len(shown_numbers(text)) == 3000 * len(graders)
    found = Outline(text)
    assert (found.wrong, found.open) == ([], [])
    assert len(text.encode()) > limit * 0.8


def test_what_is_left_out_is_counted_by_kind():
    text = words(html(many(3000), limit_bytes=LEAST_BYTES))
    kinds = re.search(r"They would make this file too large: (.*?)\.", text)[1]
    counts = {part.split()[0]: int(part.split()[1].replace(",", "")) for part in kinds.split(", ")}
    left = int(re.search(r"… ([\d,]+) more in the JSON", text)[1].replace(",", ""))
    assert set(counts) == {"wrong_tool", "missing_call", "wrong_argument", "over_action"}
    assert sum(counts.values()) == left


def test_one_grader_cannot_take_the_room_of_another():
    view = replace(
        many(0), failures=lambda: chain((row(n) for n in range(5000)), (case(n, "selection") for n in range(5)))
    )
    text = html(view, limit_bytes=200_000)
    assert len(re.findall('<details class="card', text.partition('id="failures-selection"')[2])) == 5


def test_figures_without_end_are_left_out_and_named():
    rows = tuple(("x" * 300, *(["y" * 300] * 39)) for _ in range(200))
    tables = tuple(Table(caption=f"table {n}", columns=("c",) * 40, rows=rows) for n in range(5))
    matrix = Matrix(caption="m", row_name="r", column_name="c", labels=tuple("ab"), counts=((1, 2), (3, 4)))
    grader = GraderView(grader="golden", counts=Counts(n=1, failed=1), tables=tables, matrices=(matrix,))
    view = replace(many(100), graders=(grader,))
    text = html(view, limit_bytes=LEAST_BYTES)
    assert len(text.encode()) <= LEAST_BYTES
    assert "Left out to keep this file small: table 4. The JSON file has it." in words(text)
    assert 'id="f-1"' in text


def test_enormous_values_cost_no_room():
    enemy = case(
        1,
        lines=tuple(CallLine(state="wrong", expected="<" * 5_000_000, actual="&" * 5_000_000) for _ in range(3)),
        words=("'" * 5_000_000,) * 30,
    )
    text = html(replace(many(0), failures=lambda: iter([enemy])))
    assert len(text.encode()) < 200_000
    assert "4,999,400 more characters" in text


def test_kinds_without_end_are_put_together():
    view = replace(many(0), failures=lambda: (case(n, kind=f"kind {n}", lines=()) for n in range(500)))
    text = words(html(view))
    assert "other kinds ✗ failed 400" in text


def test_a_limit_that_holds_no_report_is_refused():
    with pytest.raises(ConfigError, match="cannot be kept below 10 bytes"):
        write_html(full(), BytesIO(), limit_bytes=10)


def test_the_file_is_written_piece_by_piece():
    sizes = []

    class Stream:
        def write(self, data):
            sizes.append(len(data))

    write_html(many(20_000), Stream())
    assert max(sizes) < 400_000
    assert len(sizes) > 20


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_failures():
    script = f"""
import json, resource, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from dataclasses import replace
from html_making import full, row
from rightcall.report.html.page import write_html
class Null:
    def write(self, data): self.n = getattr(self, "n", 0) + len(data)
stream = Null()
write_html(replace(full(), gate=None, failures=lambda: (row(n) for n in range(int(sys.argv[1])))), stream)
print(json.dumps([resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, stream.n]))
"""

    def peak(count):
        done = subprocess.run([sys.executable, "-c", script, str(count)], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    (few, _), (many_, size) = peak(500), peak(40_000)
    assert size <= 5_000_000
    assert many_ < few + 16


def test_the_parts_of_a_gate_are_what_the_tests_say():
    assert {decision.answer for decision in decisions()} == {"PASS", "FAIL", "INCONCLUSIVE", "NOT_COMPARABLE", "WAIT"}
    assert diff().graders[0].lost == 2


def test_a_diagram_without_an_answer_is_a_sentence_and_no_empty_drawing():
    from rightcall.report.view.model import Reliability

    empty = Reliability(caption="Confidence of judge desk", bins=(), notes=("code has decided none of the pairs",))
    view = ReportView(
        title="empty", run_id=None, status="finished",
        graders=(GraderView(grader="preference", counts=Counts(n=1, passed=1), reliability=(empty,)),),
    )  # fmt: skip
    text = html(view)
    assert "Confidence of judge desk: code has decided none of the pairs" in text
    assert "<figure>" not in text

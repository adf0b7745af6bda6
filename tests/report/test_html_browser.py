"""The HTML report in a real browser."""

from __future__ import annotations

import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from browser import axe
from html_making import case, full, html, row

from rightcall.report.view.model import CallLine, Counts, GraderView, ReportView, Table

HOSTILE = (
    '</script><script>window.hacked = 1; alert("x")</script>'
    '<img src=x onerror="window.hacked=2"> javascript:alert(1) "\'><svg onload=alert(1)>'
)
HIDDEN = "safe\u202etxet\u200b \x1b[31mred\x1b[0m nul\x00 half\ud800 \U000e0120 http://attacker.example/x.png"
LONG = "verylongtoolnamewithoutanyblank" * 60


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(html(full()), "utf-8")
    return file


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """The same with few failures: axe looks at every element."""
    file = tmp_path_factory.mktemp("short") / "report.html"
    file.write_text(html(full(5)), "utf-8")
    return file


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A report in which every text is an attack, of one enormous argument and of 5,000 calls."""
    deep = "[" * 2000 + "]" * 2000
    bad = HOSTILE + HIDDEN
    lines = [CallLine(state="matched", expected=f"{n} get_limit", actual=f"{n} get_limit") for n in range(5000)]
    lines[2500] = CallLine(
        state="wrong", expected=bad, actual="x" * 5_000_000, notes=(bad, deep), vetoes=(LONG,), result=bad
    )
    enemy = case(
        1,
        bad,
        kind=bad,
        words=(bad, LONG),
        lines=tuple(lines),
        said=((bad, bad),),
        facts=((bad, LONG),),
        case_id=LONG,
        trace_id=bad,
        signed=bad,
        next=bad,
    )
    table = Table(caption=bad, columns=(bad, LONG), rows=((LONG, bad),))
    view = ReportView(
        title=bad, run_id=bad, status="interrupted", message=bad, facts=((bad, LONG),), notes=(bad, LONG),
        graders=(GraderView(grader=bad, counts=Counts(n=1, failed=1), lines=(bad, LONG), warnings=(LONG,), tables=(table,)),),
        failures=lambda: iter([enemy, *(row(n, bad) for n in range(2, 60))]),
    )  # fmt: skip
    file = tmp_path_factory.mktemp("hostile") / "report.html"
    file.write_text(html(view), "utf-8")
    return file


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def reported(folder, *tokens):
    """What the command writes, in a process of its own: the browser's driver has an event loop in this one."""
    command = [sys.executable, "-m", "rightcall.cli.main", *map(str, tokens), "-q", "-o", "report.html"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (folder / "report.html").exists(), done.stderr
    return folder / "report.html"


def look(browser, file, part=None):
    """Nothing leaves, nothing is wrong, and the failures can be read, on a phone by day and on a screen by night."""
    for dark, width in ((False, 320), (True, 1280)):
        with browser.page(file, dark=dark, width=width) as page:
            assert (page.asked, page.said) == ([], [])
            assert not dark or axe(page, part) == []
            assert page.evaluate("document.documentElement.scrollWidth") == width
            assert page.locator("#failures table.diff").first.is_visible()
            yield page


@pytest.mark.parametrize("tokens", [("golden",), ("selection", "--judge", "desk", "--yes")], ids=["by code", "judged"])
def test_the_report_of_an_example_can_be_read(browser, tmp_path, tokens):
    folder = tmp_path / "desk"
    shutil.copytree(EXAMPLES / "card-desk", folder)
    for page in look(browser, reported(folder, *tokens)):
        assert page.locator(".answer").inner_text() == "✗ FAIL"


@pytest.mark.slow
def test_the_report_of_a_recorded_agent_against_another_can_be_read(browser, tmp_path, shared_data):
    runs = shared_data / "data" / "tau2_bench"
    old, new = (runs / f"{name}_airline_1trial.json" for name in ("azure-gpt-4o", "claude-sonnet-4-5"))
    (tmp_path / "rightcall.toml").write_text(
        f'cases = "{new}"\n[gates]\n"golden.pass_rate" = {{ min = 0.5 }}\n"golden.regressions" = {{ margin = 0.02 }}\n'
    )
    run = [sys.executable, "-m", "rightcall.cli.main", "run", str(old), "-q", "--no-gate", "-o", "base.json"]
    subprocess.run(run, cwd=tmp_path, check=False, capture_output=True)
    for page in look(browser, reported(tmp_path, "run", new, "--baseline", "base.json"), "#gate"):
        assert "exact McNemar" in page.locator("#changes").inner_text()
        assert page.locator("#changes table.diff").first.is_visible()


def test_nothing_is_asked_for_but_the_file_and_the_console_is_silent(browser, report):
    with browser.page(report) as page:
        assert page.locator("h1").inner_text() == "card-desk: nightly"
        assert (page.asked, page.said) == ([], [])
        assert page.evaluate("performance.getEntriesByType('resource').length") == 0


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious(browser, short, dark):
    with browser.page(short, dark=dark) as page:
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert axe(page) == []


def test_axe_finds_nothing_serious_on_a_phone(browser, short):
    with browser.page(short, width=320) as page:
        assert axe(page) == []


def test_the_theme_follows_the_system_and_a_choice_stays(browser, report):
    paper = "getComputedStyle(document.body).backgroundColor"
    with browser.page(report) as light, browser.page(report, dark=True) as dark:
        assert light.evaluate(paper) != dark.evaluate(paper)
        light.get_by_role("button", name="Theme: auto").click()
        light.get_by_role("button", name="Theme: light").click()
        assert light.evaluate(paper) == dark.evaluate(paper)
        light.reload()
        assert light.get_by_role("button", name="Theme: dark").is_visible()


def test_without_javascript_the_failures_are_readable_and_open_by_hand(browser, report):
    with browser.page(report, javascript=False) as page:
        assert page.get_by_role("button", name="Theme").count() == 0
        first = page.locator("#failures .card").first
        assert first.locator("table.diff").is_visible()
        assert "close_card cannot be undone" in first.inner_text()
        closed = page.locator("#failures .card:not([open])").first
        assert not closed.locator("table.diff").is_visible()
        closed.locator("summary").first.click()
        assert page.locator("#failures .card[open]").count() > 3
        page.get_by_role("navigation").get_by_role("link", name="selection 6").click()
        assert page.locator("#failures-selection").is_visible()


def test_every_control_is_reached_by_tab_in_the_order_of_the_page(browser, report):
    with browser.page(report) as page:
        wanted = page.evaluate("""() => [...document.querySelectorAll('a[href], button, summary, [tabindex="0"]')]
            .filter(one => one.checkVisibility({contentVisibilityAuto: false})).length""")
        page.evaluate("window.seen = []; document.addEventListener('focusin', e => window.seen.push(e.target))")
        for _ in range(wanted):
            page.keyboard.press("Tab")
        reached = page.evaluate("new Set(window.seen).size")
        ordered = page.evaluate("""() => window.seen.every((one, place) => !place ||
            window.seen[place - 1].compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING)""")
        assert (reached, ordered) == (wanted, True)
        assert page.evaluate("window.seen[0].className") == "skip"
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none"


def test_the_keyboard_opens_a_failure(browser, report):
    with browser.page(report) as page:
        summary = page.locator("#failures .card:not([open]) > summary").first
        name = summary.locator(".id").inner_text()
        summary.focus()
        page.keyboard.press("Enter")
        opened = page.locator("#failures .card[open]").filter(has=page.locator(".id", has_text=name))
        assert opened.locator("table.diff").is_visible()


def test_a_link_to_a_failure_opens_what_hides_it(browser, report):
    with browser.page(report, fragment="#f-55") as page:
        assert page.locator("#f-55").is_visible()


@pytest.mark.parametrize(("width", "scale"), [(320, 1), (640, 2)], ids=["320 px", "zoomed to 200 %"])
def test_the_page_never_scrolls_sideways(browser, report, hostile, width, scale):
    for file in (report, hostile):
        with browser.page(file, width=width, device_scale_factor=scale) as page:
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            wide = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
            scroll, client = page.evaluate(wide)
            assert scroll <= client == width


def test_hostile_text_runs_nothing_asks_for_nothing_and_is_seen(browser, hostile):
    with browser.page(hostile) as page:
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert page.evaluate("window.hacked") is None
        assert (page.asked, page.said) == ([], [])
        assert page.locator("img, iframe, object, embed, link, a[href*=':']").count() == 0
        seen = page.locator("body").inner_text()
        assert "<script>window.hacked" in seen
        for written in ("\\u202e", "\\u200b", "\\u001b", "\\u0000", "\\ud800", "\\ue0120"):
            assert written in seen
        assert not {"\u202e", "\u200b", "\x1b"} & set(seen)
        assert "4,999,400 more characters" in seen
        assert "2,498 lines left out here: 2,498 matched" in seen
        assert axe(page) == []


def test_paper_shows_the_failures_whole_and_dark_on_white(browser, report):
    with browser.page(report, dark=True) as page:
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.locator("#failures .card:not([open]) table.diff").first.is_visible()
        assert not page.locator("nav.contents").is_visible()
        assert page.pdf(format="A4").startswith(b"%PDF")
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_who_wants_no_motion_gets_none(browser, report):
    with browser.page(report, reduced_motion="reduce") as still, browser.page(report) as page:
        assert still.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
        assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "smooth"


def test_landmarks_and_headings_are_in_order(browser, report):
    with browser.page(report) as page:
        for role in ("banner", "navigation", "main", "contentinfo"):
            assert page.get_by_role(role).count() == 1
        levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5')].map(one => +one.tagName[1])")
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        tables = "[...document.querySelectorAll('table')]"
        assert page.evaluate(f"{tables}.every(one => one.caption && one.caption.textContent.trim())")
        assert page.evaluate("[...document.querySelectorAll('th')].every(one => one.scope)")
        assert page.evaluate("document.documentElement.lang") == "en"

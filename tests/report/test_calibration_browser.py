"""The HTML file of a calibration in a real browser."""

from __future__ import annotations

from itertools import pairwise

import pytest
from browser import axe
from calibration_pages import page, several
from msgspec.structs import replace

HOSTILE = '</script><script>window.hacked = 1</script><img src=x onerror="window.hacked=2"> "\'><svg onload=alert(1)>'
HIDDEN = "safe\u202etxet\u200b \x1b[31mred\x1b[0m half\ud800"
LONG = "averylongnamewithoutanyblank" * 40


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return several(tmp_path_factory.mktemp("store") / "s.db")


@pytest.fixture(scope="module")
def file(report, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "calibration.html"
    path.write_text(page(report), "utf-8")
    return path


@pytest.fixture(scope="module")
def hostile(report, tmp_path_factory):
    """The same in which every text that comes from elsewhere is an attack."""
    bad = HOSTILE + HIDDEN
    enemies = []
    for at, one in enumerate(report.calibrations):
        name = LONG if at % 2 else bad
        enemies.append(replace(
            one, judge=name, grader=bad, field=name, model=bad, runs=(bad, LONG), left_out={bad: 3, LONG: 1},
            classes=(name, *one.classes[1:]), prompt=replace(one.prompt, id=bad, version=LONG),
        ))  # fmt: skip
    whole = replace(
        report, calibrations=tuple(enemies), not_counted={bad: {bad: 4}}, other_split={LONG: 2}, warnings=(bad, LONG)
    )
    path = tmp_path_factory.mktemp("hostile") / "calibration.html"
    path.write_text(page(whole), "utf-8")
    return path


@pytest.mark.parametrize(("dark", "width"), [(False, 1280), (True, 1280), (False, 320)])
def test_nothing_leaves_nothing_is_serious_and_nothing_runs_off_the_side(browser, file, dark, width):
    with browser.page(file, dark=dark, width=width) as page:
        assert (page.asked, page.said) == ([], [])
        assert axe(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_answer_and_who_may_decide_can_be_read_without_scrolling(browser, file):
    with browser.page(file) as page:
        assert page.locator(".answer").first.inner_text() == "✗ NOT FIT"
        assert page.locator("#who table").bounding_box()["y"] < 900


def test_without_javascript_everything_is_there(browser, file):
    with browser.page(file, javascript=False) as page:
        assert page.locator("svg.curve").count() == 2
        assert page.locator("#judge-1").is_visible()
        page.get_by_role("navigation").get_by_role("link", name="What is in no figure").click()
        assert page.locator("#left-out").is_visible()


def test_every_drawing_has_a_name_and_a_table_beside_it(browser, file):
    with browser.page(file) as page:
        assert page.evaluate("""() => [...document.querySelectorAll('svg[role=img]')].every(
            one => one.querySelector('title').textContent.trim())""")
        assert page.evaluate("""() => [...document.querySelectorAll('figure')].every(
            one => one.parentElement.querySelector('table'))""")
        assert page.evaluate("[...document.querySelectorAll('table')].every(one => one.caption)")
        assert page.evaluate("[...document.querySelectorAll('th')].every(one => one.scope)")


def test_no_words_of_a_drawing_lie_on_each_other(browser, file):
    overlapping = """() => [...document.querySelectorAll('svg')].flatMap(drawing => {
        const words = [...drawing.querySelectorAll('text')].map(one => [one.textContent, one.getBoundingClientRect()]);
        return words.flatMap(([a, p], at) => words.slice(at + 1).filter(([b, q]) =>
            p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 3 && q.top < p.bottom - 3
        ).map(([b]) => [a, b]));
    })"""
    with browser.page(file) as page:
        assert page.evaluate(overlapping) == []


def test_hostile_names_are_text(browser, hostile):
    for width in (1280, 320):
        with browser.page(hostile, width=width) as page:
            assert page.evaluate("window.hacked") is None
            assert (page.asked, page.said) == ([], [])
            assert page.locator("img, iframe, object, embed, link, a[href*=':']").count() == 0
            seen = page.locator("body").inner_text()
            assert "<script>window.hacked" in seen
            assert all(written in seen for written in ("\\u202e", "\\u200b", "\\u001b", "\\ud800"))
            assert not {"\u202e", "\u200b", "\x1b"} & set(seen)
            assert page.evaluate("document.documentElement.scrollWidth") == width


def test_paper_is_dark_on_white_and_holds_all(browser, file):
    with browser.page(file, dark=True) as page:
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.locator("svg.curve").first.is_visible()
        assert page.pdf(format="A4").startswith(b"%PDF")


def test_landmarks_and_headings_are_in_order(browser, file):
    with browser.page(file) as page:
        for role in ("banner", "navigation", "main", "contentinfo"):
            assert page.get_by_role(role).count() == 1
        levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5')].map(one => +one.tagName[1])")
        assert levels[0] == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))

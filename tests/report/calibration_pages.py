"""Calibrations of several judges for the tests of their HTML file, and a reader of its tables. All names are invented."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "run"))

from labels_making import answer, calibrated, item_records, put_labels, put_run, result_of, told

from rightcall.report.calibration.building import view_of
from rightcall.report.html.calibration import write_html
from rightcall.store.store import Store

SURE = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]


def stated_pairs(n=260):
    """Answers of a judge of pairs: the surer, the oftener it is right; ties among them."""
    found = []
    for number in range(n):
        sure, human = SURE[number % 10], ("A", "B", "TIE", "A", "B")[number % 5]
        is_right = (number // 10) % 20 < 6 + 14 * sure + (sure >= 0.9)
        found.append(((human if is_right else {"A": "B", "B": "TIE", "TIE": "A"}[human], sure), human))
    return found


def put_by_tool(store, pairs, tools, run="20261129-1"):
    """Record labels of `selection`, in turn about each of so many expected tools."""
    records, bodies = [], []
    for place, (judge, human) in enumerate(pairs):
        unit, case = f"u-{place:04d}", f"c-{place:04d}"
        result = result_of("selection", unit, case, judge, expected_tool=f"tool_{place % tools}")
        made, body = item_records(run, "selection", unit, case, result)
        records += [*made, answer(made[0], {"grade": human})]
        bodies.append(body)
    store.write(records, bodies)


def several(path):
    """A report of four judges: fit, not fit, open, and too few labels; of names, levels and stated confidence."""
    with Store.open(path) as store:
        put_run(store)
        put_labels(store, told(60, 4, 3, 90), people=2)
        put_labels(store, told(2, 2, 2, 2), first=500, blind=False)
        put_labels(store, [(None, "PASS")] * 3, first=600)
        put_run(store, "preference", run="20261129-2")
        put_labels(store, stated_pairs(), "preference", run="20261129-2", people=2)
        put_run(store, "rubric", run="20261129-3")
        levels = [(min(5, level + (place % 3 == 0)), level) for level in (1, 2, 3, 4, 5) for place in range(12)]
        put_labels(store, levels, "rubric", run="20261129-3", people=2)
        put_run(store, "interpretation", run="20261129-4")
        put_labels(store, [((5, 0.8), 5)] * 12, "interpretation", run="20261129-4")
        return calibrated(store, resamples=60)


def page(report, **options):
    """The HTML file as text."""
    stream = BytesIO()
    write_html(view_of(report, at="2026-11-30T09:00:00Z"), stream, **options)
    return stream.getvalue().decode()


class Tables(HTMLParser):
    """Every table of a page: (id of its section, caption, rows of cells as text)."""

    def __init__(self, text):
        super().__init__()
        self.tables, self._sections, self._into, self._quiet = [], [], None, 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag == "section":
            self._sections.append(dict(attrs).get("id", ""))
        elif tag == "svg":
            self._quiet += 1
        elif tag == "table":
            self.tables.append([self._sections[-1] if self._sections else "", "", []])
        elif tag == "caption":
            self._into = "caption"
        elif tag == "tr":
            self.tables[-1][2].append([])
        elif tag in ("td", "th"):
            self.tables[-1][2][-1].append("")
            self._into = "cell"

    def handle_endtag(self, tag):
        if tag == "section":
            self._sections.pop()
        elif tag == "svg":
            self._quiet -= 1
        elif tag in ("caption", "td", "th", "table"):
            self._into = None

    def handle_data(self, data):
        if self._quiet or not self.tables:
            return
        if self._into == "caption":
            self.tables[-1][1] += data
        elif self._into == "cell":
            self.tables[-1][2][-1][-1] += data

    def rows(self, section, caption):
        """The rows of the tables in a section whose caption begins so."""
        return [
            [cell.strip() for cell in row]
            for where, name, rows in self.tables
            if where == section and name.startswith(caption)
            for row in rows
        ]

    def named(self, section, caption):
        """The same by their first cell."""
        return {row[0]: row[1:] for row in self.rows(section, caption) if row}

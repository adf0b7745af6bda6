"""The tree of spans: order, roots, orphans, circles, spans exported twice, clocks."""

import time

from hypothesis import given
from hypothesis import strategies as st

from rightcall.trace.sources import span_tree
from rightcall.trace.sources.otlp import LogRecord, Span


def span(span_id, parent_id=None, start=0, end=9, **changes):
    return Span(trace_id="t", span_id=span_id, parent_id=parent_id, name=span_id, start=start, end=end, **changes)


def walked(tree):
    return [span.span_id for span in tree.walk()]


def codes(tree):
    return [finding.code for finding in tree.findings]


def test_parents_come_before_children_and_brothers_by_start():
    tree = span_tree.build([span("late", "root", 5), span("leaf", "early", 2), span("early", "root", 1), span("root")])
    assert walked(tree) == ["root", "early", "leaf", "late"]
    assert [s.span_id for s in tree.walk(tree.children["root"])] == ["early", "leaf", "late"]
    assert codes(tree) == []


def test_spans_that_start_together_or_without_time_keep_the_order_of_the_file():
    tree = span_tree.build([span("b"), span("a"), span("y", start=None), span("x", start=None)])
    assert walked(tree) == ["b", "a", "y", "x"]


def test_a_span_whose_parent_is_missing_is_a_root_and_a_finding():
    tree = span_tree.build([span("root"), span("lost", "gone"), span("too", "gone")])
    assert [root.span_id for root in tree.roots] == ["root", "lost", "too"]
    assert codes(tree) == ["TRACE_TREE_INVALID"]
    assert "2 of 3 spans" in tree.findings[0].message


def test_a_circle_is_cut_before_its_first_span():
    tree = span_tree.build(
        [span("b", "a", 2), span("a", "c", 1), span("c", "b", 3), span("leaf", "b", 4), span("self", "self", 5)]
    )
    assert sorted(walked(tree)) == ["a", "b", "c", "leaf", "self"]
    assert [root.span_id for root in tree.roots] == ["a", "self"]
    assert [code for code in codes(tree) if code != "CLOCK_SKEW"] == ["TRACE_TREE_INVALID", "TRACE_TREE_INVALID"]


def test_a_span_that_is_exported_again_counts_once():
    tree = span_tree.build([span("a"), span("a")])
    assert (walked(tree), codes(tree)) == (["a"], [])
    tree = span_tree.build([span("a", end=None), span("a", end=5, attributes={"k": 1})])
    assert tree.roots[0].attributes == {"k": 1}
    assert codes(tree) == ["TRACE_DUPLICATE_ID"]


def test_clocks_that_disagree_are_findings():
    tree = span_tree.build([span("root", start=5, end=9), span("before", "root", 1, 2), span("back", "root", 8, 7)])
    assert codes(tree) == ["CLOCK_SKEW", "CLOCK_SKEW"]
    assert walked(tree) == ["root", "before", "back"]


def test_spans_and_logs_are_grouped_by_trace_in_the_order_of_the_file():
    logs = [LogRecord("u", "a", None, None, None, {}), LogRecord("t", "a", None, None, None, {})]
    groups = span_tree.by_trace([span("a"), Span("u", "b")], logs)
    assert [(group.trace_id, len(group.spans), len(group.logs)) for group in groups] == [("t", 1, 1), ("u", 1, 1)]


@given(
    st.lists(st.tuples(st.integers(0, 8), st.none() | st.integers(0, 9), st.none() | st.integers(0, 5)), max_size=12)
)
def test_every_span_is_walked_once(rows):
    spans = [span(str(own), None if parent is None else str(parent), start) for own, parent, start in rows]
    assert sorted(walked(span_tree.build(spans))) == sorted({s.span_id for s in spans})


def test_a_deep_tree_and_a_large_circle_are_read_in_linear_time():
    chain = [span(str(n), str(n - 1) if n else None, n) for n in range(20_000)]
    circle = [span(f"c{n}", f"c{(n + 1) % 20_000}", n) for n in range(20_000)]
    began = time.process_time()
    assert len(walked(span_tree.build(chain + circle))) == 40_000
    assert time.process_time() - began < 5

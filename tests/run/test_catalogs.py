"""Which catalog counts for a trace, and what is said where two differ."""

from __future__ import annotations

import json

import pytest
from msgspec import Raw

from rightcall.case.case import Case
from rightcall.errors import ConfigError, Place
from rightcall.run.inputs.catalogs import Catalogs
from rightcall.trace import catalog
from rightcall.trace.model import Tool, Trace


def raw(*names: str, **fields: object) -> Raw:
    return Raw(json.dumps([{"name": name, **fields} for name in names]).encode())


def trace(*names: str, **fields: object) -> Trace:
    return Trace(id="t", tools_json=raw(*names, **fields)) if names else Trace(id="t")


def case(*names: str, **fields: object) -> Case:
    return Case(id="c", tools_json=raw(*names, **fields)) if names else Case(id="c")


SUITE = (Tool(name="suite"),)


@pytest.mark.parametrize(
    ("of_trace", "of_case", "suite", "counts"),
    [
        (trace("trace"), case("case"), SUITE, "trace"),
        (trace(), case("case"), SUITE, "case"),
        (trace(), case(), SUITE, "suite"),
        (trace(), case(), None, None),
        (Trace(id="t", tools_json=Raw(b"null")), case("case"), None, "case"),
    ],
)
def test_the_own_catalog_of_a_trace_counts_else_its_cases_else_the_suites(of_trace, of_case, suite, counts):
    found, _ = Catalogs(suite).of(of_trace, of_case)
    assert (found.tools[0].name if found else None) == counts


def test_an_empty_catalog_is_a_catalog():
    found, _ = Catalogs().of(Trace(id="t", tools_json=Raw(b"[]")), case())
    assert found is not None
    assert found.tools == ()


def test_two_catalogs_that_differ_are_told():
    _, conflict = Catalogs(SUITE).of(trace("a", "b"), case("a", "c"))
    assert conflict == "the trace's catalog counts and differs from the case's: b, c"
    _, conflict = Catalogs(SUITE).of(trace("suite"), case())
    assert conflict is None


def test_a_suite_that_differs_is_told_where_the_case_does_not():
    _, conflict = Catalogs(SUITE).of(trace("a"), case("a"))
    assert conflict == "the trace's catalog counts and differs from the suite's: a, suite"


def test_only_the_first_names_are_told():
    _, conflict = Catalogs().of(trace(*"abcdefgh"), case("z"))
    assert conflict is not None
    assert conflict.endswith("differs from the case's: a, b, c, d, e and 4 more")


def test_wording_is_no_difference_but_parameters_and_hints_are():
    same = Catalogs().of(trace("a", description="one"), case("a", description="two"))
    assert same[1] is None
    for fields in ({"parameters": {"type": "object"}}, {"annotations": {"readOnlyHint": True}}):
        _, conflict = Catalogs().of(trace("a", **fields), case("a"))
        assert conflict is not None


def test_equal_bytes_are_compiled_once_wherever_they_stand():
    catalog._compiled.cache_clear()
    suite = Catalogs()
    first, _ = suite.of(trace("same", "tools"), case(), Place("a.jsonl", 1))
    second, _ = suite.of(trace("same", "tools"), case(), Place("a.jsonl", 2))
    assert first is second
    assert catalog._compiled.cache_info().misses == 1


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        (b'[{"name": "a"}, {"name": "a"}]', "a.jsonl:7 at $.tools[1]: tool `a` is defined twice"),
        (b'[{"title": "a"}]', "a.jsonl:7 at $.tools[0]: a tool needs a `name`"),
        (b'[{"name": "a", "parameters": {"type": "strin"}}]', "a.jsonl:7"),
        (
            b'"tools.json"',
            "a.jsonl:7: the catalog file `tools.json` was not loaded; load it with load_cases or load_steps",
        ),
    ],
)
def test_a_catalog_that_cannot_be_used_is_told_with_its_place(tools, said):
    for _ in range(2):
        with pytest.raises(ConfigError) as error:
            Catalogs().of(Trace(id="t", tools_json=Raw(tools)), case(), Place("a.jsonl", 7))
        assert said in str(error.value)

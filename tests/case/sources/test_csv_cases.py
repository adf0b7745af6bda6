"""Cases from CSV: rows of one id, empty cells, and every fault with its line."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.case.case import Case
from rightcall.case.golden import compile_case
from rightcall.case.load import load_cases
from rightcall.case.sources.csv_cases import csv_cases
from rightcall.errors import CaseError

TEXT = """id,request,tool,arguments,label,after,optional,order,tags
a,Freeze it,freeze,"{""card"": ""4242""}",,,,,cards; urgent
a,,move,"{""to"": {""similar"": ""1 Main St"", ""as"": ""address""}}",home,,,,
a,,issue,,,freeze; home,yes,,
b,Just say hello,,,,,,,
"""


def read(text):
    return [case for case, _ in csv_cases(text.encode(), "cases.csv")]


def refusal(text):
    with pytest.raises(CaseError) as caught:
        read(text)
    return caught.value


def test_the_rows_of_an_id_are_the_calls_of_one_case():
    one, two = read(TEXT)
    assert (one.id, one.request, one.tags) == ("a", "Freeze it", ("cards", "urgent"))
    freeze, move, issue = one.expect.calls
    assert (freeze.tool, freeze.arguments, freeze.optional) == ("freeze", {"card": "4242"}, False)
    assert (move.label, list(move.arguments["to"])) == ("home", ["similar", "as"])
    assert (issue.arguments, issue.after, issue.optional) == (None, ("freeze", "home"), True)
    assert compile_case(one)[0].order == "partial"
    assert (two.id, two.expect.calls) == ("b", ())


def test_rows_need_not_stand_together_and_a_case_stands_where_it_begins():
    found = list(csv_cases(b"tool,id\r\nf,a\r\ng,b\r\n\r\nh,a\r\n", "x.csv"))
    assert [(case.id, [call.tool for call in case.expect.calls], place.line) for case, place in found] == [
        ("a", ["f", "h"], 2),
        ("b", ["g"], 3),
    ]


def test_empty_arguments_are_any_and_an_empty_object_is_none():
    (case,) = read("id,tool,arguments\na,f,\na,g,{}\n")
    assert [call.arguments for call in case.expect.calls] == [None, {}]


def test_without_a_column_for_tools_there_is_no_golden():
    (case,) = read("id,request\na,Hello\n")
    assert (case.request, case.expect) == ("Hello", None)


def test_a_byte_order_mark_a_line_break_in_a_cell_and_a_short_row_are_fine():
    (case,) = read('\ufeffID , Tool,arguments,label\na,f,"{""text"":\n ""x""}"\n')
    assert case.expect.calls[0].arguments == {"text": "x"}


def test_the_order_may_stand_in_any_row():
    (case,) = read("id,tool,order\na,f,\na,g,any\n")
    assert case.expect.order == "any"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("id,tol\na,f\n", 1, "unknown column `tol`"),
        ("tool\nf\n", 1, "no column `id`"),
        ("id,id\na,b\n", 1, "a column stands twice"),
        ("id,tool\n,f\n", 2, "the row has no `id`"),
        ("id,tool\na,f,g\n", 2, "3 cells and there are 2 columns"),
        ("id,tool,arguments\n\na,f,{\n", 3, "`arguments`: not valid JSON"),
        ("id,tool,arguments\na,f,[]\n", 2, "must be a JSON object"),
        ("id,tool,optional\na,f,maybe\n", 2, "`optional` must be true or false"),
        ("id,tool,order\na,f,random\n", 2, "`order` must be"),
        ("id,request\na,x\na,y\n", 3, "different values as `request`"),
        ('id,tool\na,"f\n', 2, "not valid CSV"),
        ('id,tool\na,"f"g\n', 2, "not valid CSV"),
        (f"id,tool\na,{'f' * 200_000}\n", 2, "not valid CSV"),
    ],
)
def test_a_fault_names_its_line(text, line, message):
    error = refusal(text)
    assert (error.place.file, error.place.line) == ("cases.csv", line)
    assert message in error.message


def test_the_nearest_column_is_named():
    assert "`tool`" in refusal("id,tol\na,f\n").hint


def test_what_is_not_utf8_is_refused():
    with pytest.raises(CaseError, match="not UTF-8 at byte 8"):
        list(csv_cases(b"id,tool\n\xff,f\n", "x.csv"))


def test_a_file_is_read_by_its_suffix(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text(TEXT.replace("Just say", "A ground_truth: just say"))
    assert [case.id for case in load_cases(path)] == ["a", "b"]
    assert all(isinstance(case, Case) for case in load_cases(path))


@given(st.text(alphabet='idtool,"{}\n:a1;', max_size=60))
def test_any_text_gives_cases_or_a_case_error(text):
    for data in (text, "id,tool,arguments\n" + text):
        with suppress(CaseError):
            read(data)

"""Labels come in all or not at all, with every bad row named by its line, and go out so that they can come back."""

import csv
import io
import json

import pytest
from desk_making import ANSWERS, GRADERS, HIDDEN, Clock, desk, opened, put_all, put_item, put_run, run_of
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.errors import ConfigError, StoreError
from rightcall.report.files import cell
from rightcall.run.people.blinding import unit_of, verdict_at
from rightcall.run.people.label_files import read_rows
from rightcall.run.people.labels import LabelsRefused, flat, label_rows
from rightcall.store.packing import digest_of
from rightcall.store.records import short_item
from rightcall.store.store import Store

AT = "2026-11-20T09:30:00Z"


@pytest.fixture
def store(tmp_path):
    with opened(tmp_path) as found:
        yield found


@pytest.fixture
def labels(tmp_path):
    """Write a file of labels: JSON Lines of objects, or the text of a table."""

    def put(*rows, name="labels.jsonl"):
        path = tmp_path / name
        if isinstance(rows[0], str):
            path.write_text(rows[0], encoding="utf-8")
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return put


def row(item, **changed):
    return {"item": item, "who": "bo", "at": AT, "blind": True, "fields": {"grade": "PASS"}} | changed


def said(store):
    return [one for _, _, one in store.queue.answers()]


def problems(store, path):
    before = store.head()
    with pytest.raises(LabelsRefused) as caught:
        desk(store).import_labels(path)
    assert store.head() == before
    return [(one.line, one.message) for one in caught.value.problems]


# ---- in --------------------------------------------------------------------------------------------------------------


def test_a_label_is_recorded_as_it_was_given_elsewhere(store, labels):
    item = put_all(store, "golden")["golden"]
    more = {"note": "seen on paper", "evidence": ["c1"], "seconds": 31}
    found = desk(store, answers=2).import_labels(labels(row(item, **more)))
    assert (found.rows, found.written, found.already, found.counted, found.decided) == (1, 1, 0, 1, 0)
    (one,) = said(store)
    assert (one.who, one.at, one.kind, one.blind, one.client) == ("bo", AT, "imported", True, "import")
    assert (one.fields, one.note, one.evidence, one.seconds) == ({"grade": "PASS"}, "seen on paper", ("c1",), 31.0)
    assert one.probability == 0.1
    assert one.reasons == ("random",)
    assert one.verdict == digest_of(verdict_at(store, unit_of(store.queue.item(item))))


def test_taking_a_file_twice_is_harmless(store, labels):
    path = labels(row(put_all(store, "golden")["golden"]))
    desk(store).import_labels(path)
    head = store.head()
    again = desk(store).import_labels(path)
    assert (again.rows, again.written, again.already) == (1, 0, 1)
    assert store.head() == head


def test_a_blind_label_counts_and_decides_and_one_that_was_not_blind_only_stands_there(store, labels):
    items = put_all(store, "golden", "rubric")
    seen = row(items["rubric"], blind=False, fields=ANSWERS["rubric"])
    found = desk(store).import_labels(labels(row(items["golden"]), seen))
    assert (found.counted, found.not_blind, found.extra, found.decided) == (1, 1, 0, 1)
    assert store.queue.item(items["golden"]).state == "done"
    assert store.queue.consensus(items["golden"]).fields == {"grade": "PASS"}
    assert store.queue.item(items["rubric"]).state == "waiting"


def test_labels_that_differ_go_to_a_third_person(store, labels):
    item = put_all(store, "golden")["golden"]
    both = [row(item), row(item, who="cy", fields={"grade": "FAIL"})]
    desk(store, answers=2).import_labels(labels(*both))
    assert store.queue.item(item).state == "adjudication"


def test_a_label_of_somebody_who_has_answered_is_extra(store, labels):
    item = put_all(store, "golden")["golden"]
    desk(store, "bo", answers=2).answer(item, {"grade": "FAIL"})
    found = desk(store, answers=2).import_labels(labels(row(item)))
    assert (found.written, found.extra, found.counted) == (1, 1, 0)
    assert store.queue.item(item).answered == 1


def test_a_second_blind_answer_of_a_person_is_refused_unless_the_file_says_that_it_is_extra(store, labels):
    item = put_all(store, "golden")["golden"]
    later = row(item, fields={"grade": "FAIL"}, at="2026-11-21T10:00:00Z")
    (found,) = problems(store, labels(row(item), later))
    assert found == (2, "`bo` gives a second blind answer to the item of line 1")
    taken = desk(store).import_labels(labels(row(item), later | {"extra": True}))
    assert (taken.written, taken.counted, taken.extra) == (2, 1, 1)
    assert [(one.fields["grade"], one.extra) for one in said(store)] == [("PASS", False), ("FAIL", True)]


def test_an_item_is_found_by_unit_or_by_the_ids_that_name_one(store, labels):
    put_run(store, run_of("golden"), "golden")
    item = put_item(store, "golden")
    run = run_of("golden")
    ways = [
        {"item": short_item(item)}, {"run": run, "unit": HIDDEN["unit"]}, {"run_id": run, "trace_id": HIDDEN["trace"]},
        {"run": run, "case_id": HIDDEN["case"], "grader": "golden"},
    ]  # fmt: skip
    rows = [row(item, who=f"p{n}", blind=False) | {"item": None} | way for n, way in enumerate(ways)]
    assert desk(store).import_labels(labels(*rows)).written == 4
    assert {one.item for one in said(store)} == {item}


def test_an_item_that_is_not_named_uniquely_is_not_guessed(store, labels):
    put_run(store, run_of("golden"), "golden")
    for unit in ("one", "two"):
        put_item(store, "golden", unit=unit)
    run = run_of("golden")
    rows = [
        {"run": run, "trace_id": HIDDEN["trace"]}, {"run": run, "unit": "three"}, {"run": run}, {},
        {"run": "20200101-1", "unit": "one"}, {"item": "rv-0000"}, {"item": "17"}, {"run": run, "unit": "one", "grader": "rubric"},
    ]  # fmt: skip
    found = problems(store, labels(*[row("x", who=f"p{n}") | {"item": None} | way for n, way in enumerate(rows)]))
    assert found == [
        (1, f"2 review items of run {run} with trace_id `{HIDDEN['trace']}`"),
        (2, f"no review item of run {run} with unit `three`"),
        (3, "beside `run` it names no `unit`, `trace_id`, `case_id` or `step_id`"),
        (4, "it does not say which item: `item`, or `run` with `unit` or an id"),
        (5, "there is no run `20200101-1`"),
        (6, "there is no review item `rv-0000`"),
        (7, "`17` is no review item"),
        (8, f"no review item of run {run} with unit `one`"),
    ]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"who": None}, "`who` is missing"),
        ({"who": " "}, "`who` is missing"),
        ({"who": 7}, "`who` is missing"),
        ({"who": "x" * 500}, "`who`: a person needs a name of 1 to 400 bytes"),
        ({"at": None}, "`at` is missing"),
        ({"at": "yesterday"}, "`at` must be a moment with a zone (2026-11-29T10:00:00Z), not `yesterday`"),
        ({"at": "2026-11-20T09:30:00"}, "`at` must be a moment with a zone (2026-11-29T10:00:00Z), not"),
        ({"at": "2026-12-01T10:00:00Z"}, "`at` lies in the future: `2026-12-01T10:00:00Z`"),
        ({"blind": None}, "`blind` must say true or false"),
        ({"blind": "true"}, "`blind` must say true or false"),
        ({"blind": 1}, "`blind` must say true or false"),
        ({"fields": {"grade": "pass"}}, "`grade` must be PASS, FAIL, not pass"),
        ({"fields": {}}, "`grade` is missing"),
        ({"fields": {"grade": "PASS"}, "unsure": "it is cut"}, "who cannot judge gives no `grade`"),
        ({"fields": [1]}, "`fields` must be an object"),
        ({"seconds": -1}, "`seconds` must be a number of 0 or more"),
        ({"seconds": True}, "`seconds` must be a number of 0 or more"),
        ({"evidence": [1]}, "`evidence` must be a list of texts"),
        ({"note": 4}, "`note` must be a text"),
        ({"verdict": "0" * 64}, "the verdict 000000000000… is not on record"),
        ({"whom": "bo"}, "`whom` is no column of labels (did you mean `who`?)"),
        ({"fields.grade": "PASS"}, "`fields.grade` is no column of labels (did you mean `field.grade`?)"),
        ({"field.grad": "PASS"}, "`grad` is no field of golden (did you mean `grade`?)"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_and_nothing_is_assumed(store, labels, changed, said):
    item = put_all(store, "golden")["golden"]
    found = problems(store, labels(row(item, who="first"), row(item, **changed)))
    assert [line for line, _ in found] == [2] * len(found)
    assert any(message.startswith(said) for _, message in found), found


def test_every_bad_row_is_listed_with_its_line_and_nothing_is_taken(store, labels, tmp_path):
    item = put_all(store, "golden")["golden"]
    path = labels(row(item), row(item, who="cy", at="?"), row(item, who="di", fields={"grade": 1}, blind=None))
    with path.open("a") as stream:
        stream.write("\n{\n[1]\n")
    found = problems(store, path)
    assert [line for line, _ in found] == [2, 3, 3, 5, 6]
    with pytest.raises(LabelsRefused, match=r"labels.jsonl:2: `at` must be .* \(and 4 more\); nothing was taken"):
        desk(store).import_labels(path)


def test_two_blind_answers_of_one_person_to_one_item_are_refused(store, labels):
    item = put_all(store, "golden")["golden"]
    found = problems(store, labels(row(item), row(item, fields={"grade": "FAIL"})))
    assert found == [(2, "`bo` gives a second blind answer to the item of line 1")]
    desk(store).import_labels(labels(row(item), row(item, fields={"grade": "FAIL"}, blind=False)))
    assert len(said(store)) == 2


def test_a_pair_is_labelled_by_agent(store, labels):
    item = put_all(store, "preference")["preference"]
    fields = {"overall": "A", "selection": "=", "sure": 3, "both_critical": False}
    desk(store).import_labels(labels(row(item, fields=fields)))
    assert said(store)[0].fields == fields
    found = problems(store, labels(row(item, who="cy", fields=fields | {"overall": "L"})))
    assert found == [(1, "`overall` must be A, TIE, B, not L")]


def test_a_label_from_elsewhere_needs_no_note(store, labels):
    item = put_all(store, "rubric")["rubric"]
    fields = ANSWERS["rubric"] | {"severity": "CRITICAL"}
    assert desk(store).import_labels(labels(row(item, fields=fields))).written == 1


# ---- tables ----------------------------------------------------------------------------------------------------------


def test_a_table_says_the_same_in_texts(store, labels):
    items = put_all(store, "rubric", "interpretation", "golden")
    table = (
        "\ufeffitem,who,at,blind,field.selection,field.arguments,field.sequencing,field.abstention,field.severity,"
        "field.score,field.action_score,field.flags,field.grade,unsure,note,evidence,seconds\r\n"
        f'{items["rubric"]},bo,{AT},true,4,4,3,null,l,,,,,,"two\nlines",c1; $.a b,12.5\r\n'
        f"{items['interpretation']},bo,{AT},TRUE,,,,,,3,-,wrong_unit invented,,,,,\r\n"
        "\r\n"
        f"{items['golden']},bo,{AT},false,,,,,,,,,,it is cut,,,\r\n"
    )
    assert desk(store).import_labels(labels(table, name="labels.csv")).written == 3
    one, two, three = sorted(said(store), key=lambda answer: -len(answer.fields))
    assert one.fields == {"selection": 4, "arguments": 4, "sequencing": 3, "abstention": None, "severity": "LOW"}
    assert (one.note, one.evidence, one.seconds) == ("two\nlines", ("c1", "$.a b"), 12.5)
    assert two.fields == {"score": 3, "action_score": None, "flags": ["wrong_unit", "invented"]}
    assert (three.fields, three.unsure, three.blind) == ({}, "it is cut", False)


def test_the_lines_of_a_table_are_those_of_the_file(store, labels):
    item = put_all(store, "golden")["golden"]
    table = f'item,who,at,blind,field.grade,note\n{item},bo,{AT},true,p,"a\nb\nc"\n{item},cy,{AT},maybe,x,\n{item},di\n'
    found = problems(store, labels(table, name="labels.csv"))
    assert found == [
        (5, "`blind` must say true or false"),
        (5, "`grade` must be PASS, FAIL, not x"),
        (6, "it has 2 cells, and the header 6"),
    ]


def test_a_column_that_is_unknown_is_named_once(store, labels):
    item = put_all(store, "golden")["golden"]
    table = f"item,who,at,blind,grade\n{item},bo,{AT},true,PASS\n{item},cy,{AT},true,PASS\n"
    messages = [message for _, message in problems(store, labels(table, name="labels.csv"))]
    assert sum("is no column of labels" in message for message in messages) == 1
    assert "`grade` is no column of labels (did you mean `field.grade`?)" in messages


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("labels.txt", "x", "`.txt` is no file of labels"),
        ("labels.csv", "", "there is no label in it"),
        ("labels.csv", "item,who\n", "there is no label in it"),
        ("labels.csv", "item,item\n1,2\n", "a column stands twice in the header"),
        ("labels.csv", 'item,who\n"a,b\n', "it is no row"),
        ("labels.jsonl", "\n\n", "there is no label in it"),
        ("labels.json", "{}", "it is no JSON array"),
        ("labels.json", "[1", ""),
        ("labels.json", "[]", "there is no label in it"),
    ],
)
def test_a_file_that_is_none_is_refused_in_one_line(store, labels, name, text, said):
    with pytest.raises(ConfigError) as caught:
        desk(store).import_labels(labels(text, name=name))
    assert said in caught.value.message
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_refused(store, tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        desk(store).import_labels(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes(b"item\n\xe9\n")
    with pytest.raises(ConfigError, match="it is not UTF-8"):
        desk(store).import_labels(tmp_path / "latin.csv")


@given(st.binary(max_size=200) | st.text(max_size=80).map(str.encode), st.sampled_from(["csv", "jsonl", "json"]))
@settings(max_examples=150, deadline=None)
def test_whatever_is_in_a_file_it_is_rows_problems_or_one_clear_error(tmp_path_factory, content, suffix):
    path = tmp_path_factory.getbasetemp() / f"any.{suffix}"
    path.write_bytes(content)
    try:
        rows, found = read_rows(path)
    except ConfigError:
        return
    for line, cells in rows:
        assert line >= 1
        list(cells.faults())
        cells.fields()
        cells.evidence()
    assert all(one.line >= 1 for one in found)


# ---- out -------------------------------------------------------------------------------------------------------------


def answered(store):
    """Answer one item of every grader, some in several ways."""
    items = put_all(store)
    clock = Clock()
    for grader in GRADERS:
        desk(store, "ana", clock).answer(items[grader], ANSWERS[grader], note="=1+1", evidence=["c1"], seconds=9)
    clock.forward(minutes=1)
    desk(store, "ana", clock).amend(items["golden"], {"grade": "PASS"}, note="I was wrong.")
    desk(store, "bo", clock).answer(items["rubric"], {}, unsure="it is cut")
    return items


def test_every_answer_is_a_row_with_what_calibration_needs(store):
    items = answered(store)
    rows = list(label_rows(store))
    assert len(rows) == len(GRADERS) + 2
    first = next(one for one in rows if one["item"] == items["rubric"])
    assert (first["who"], first["kind"], first["blind"], first["extra"]) == ("ana", "answer", True, False)
    assert (first["probability"], first["drawn"], first["reasons"]) == (0.1, 0.1, ["random"])
    assert (first["fields"]["severity"], first["judged"]["severity"], first["judge"]["severity"]) == (
        "LOW", "CRITICAL", "HIGH",
    )  # fmt: skip
    assert first["verdict"] == digest_of(store.verdict(run_of("rubric"), HIDDEN["unit"], "rubric"))
    assert first["consensus"] == first["fields"]
    late = next(one for one in rows if one["who"] == "bo")
    assert (late["unsure"], late["fields"], late["extra"]) == ("it is cut", {}, True)
    amended = next(one for one in rows if one["kind"] == "amendment")
    assert (amended["blind"], amended["replaces"]) == (False, rows[0]["answer"])


def test_the_rows_of_one_run_are_those_of_that_run(store):
    answered(store)
    assert {one["run"] for one in label_rows(store, run_of("tone"))} == {run_of("tone")}
    with pytest.raises(StoreError, match="there is no run"):
        list(label_rows(store, "20200101-1"))


def copied(store, folder):
    """Return a store with the same items and no answers."""
    other = Store.open(folder / "copy.db")
    put_all(other)
    return other


def test_exported_labels_come_back_as_json_lines(store, tmp_path, labels):
    answered(store)
    with copied(store, tmp_path) as other:
        found = desk(other).import_labels(labels(*label_rows(store)))
        assert found.written == len(GRADERS) + 2
        assert [(one.item, one.who, one.at, one.fields, one.unsure, one.note, one.verdict) for one in said(other)] == [
            (one.item, one.who, one.at, one.fields, one.unsure, one.note, one.verdict) for one in said(store)
        ]
        assert {one.kind for one in said(other)} == {"imported"}
    # Into the store from which they come they bring nothing new.
    assert desk(store).import_labels(labels(*label_rows(store))).written == 0


def test_exported_labels_come_back_from_a_table_whose_formulas_were_made_harmless(store, tmp_path, labels):
    answered(store)
    items = put_all(store, "preference", unit="second")
    equal = {"overall": "T", "selection": "=", "sure": 1, "both_critical": False}
    desk(store, "-cy").answer(items["preference"], equal)
    rows = [flat(one) for one in label_rows(store)]
    names = list(dict.fromkeys(name for one in rows for name in one))
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(names)
    writer.writerows([[cell(one.get(name)) for name in names] for one in rows])
    assert "'=1+1" in stream.getvalue()
    assert "'-cy" in stream.getvalue()
    with copied(store, tmp_path) as other:
        put_item(other, "preference", unit="second")
        desk(other).import_labels(labels(stream.getvalue(), name="labels.csv"))
        assert [(one.who, one.fields, one.unsure, one.note, one.evidence, one.blind) for one in said(other)] == [
            (one.who, one.fields, one.unsure, one.note, one.evidence, one.blind) for one in said(store)
        ]
    assert desk(store).import_labels(labels(stream.getvalue(), name="labels.csv")).written == 0

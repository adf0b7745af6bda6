"""Training sets: repeats, contradictions, leakage, the split; and that `datasets` loads what was written."""

import json
from collections import Counter
from itertools import count
from typing import NamedTuple

import pytest
from export_making import TOOLS, act, careful, hasty, rows_in, say, talk
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.errors import Place
from rightcall.report.training.export_words import WORDS, lines
from rightcall.report.training.rows import Origin, UnfitPair
from rightcall.report.training.split import Shape, figures, training_set
from rightcall.run.training.exporting import Pair, Used
from rightcall.run.training.held_out import HeldOut
from rightcall.run.training.rules import NotUsed, Settled
from rightcall.store.records import VerdictRecord
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.chat import UnfitReason

CATALOG = parse_tools(list(TOOLS), Place())


class Made(NamedTuple):
    """A pair with its traces."""

    used: Used
    pair: Pair


def made(number, better=None, worse=None, *, case_id=None, tools=(CATALOG, CATALOG), run="20261129-1", case=None):
    """Return a pair that may be used."""
    record = VerdictRecord(
        run_id=run, grader="preference", unit=f"p-{number}", result="r", status="EVALUATED",
        case_id=f"case-{number}" if case_id is None else case_id,
    )  # fmt: skip
    settled = Settled(winner="A", decided_by="judge", confidence=0.9, weight=0.9, margin=1.0, judges=("strong",))
    pair = Pair(careful(number) if better is None else better, hasty(number) if worse is None else worse, case, tools)
    return Made(Used(record, f"{number:064}", settled), pair)


def build(pairs, held_out=None, **shape):
    """Return the set of these pairs."""
    by_record = {id(one.used.record): one.pair for one in pairs}
    return training_set([one.used for one in pairs], lambda used: by_record[id(used.record)], Shape(**shape), held_out)


def all_rows(found):
    return [row for _, row in found.rows()]


# ---- what is left out ------------------------------------------------------------------------------------------------


def test_a_row_that_is_there_already_is_left_out():
    found = build([made(1), made(2), made(1, run="20261129-2")])
    assert (found.exported, len(all_rows(found))) == (2, 2)
    assert (dict(found.left_out), dict(found.rows_left_out)) == ({"duplicate": 1}, {"duplicate": 1})


def test_rows_that_say_the_opposite_of_each_other_are_all_left_out():
    opposed = made(1, hasty(1), careful(1))
    found = build([made(1), opposed, made(2), made(1)])
    assert [row["pair"] for row in all_rows(found)] == ["p-2"]
    assert found.left_out["contradicting"] == 3
    assert found.rows_left_out == {"contradicting": 3}


def test_an_answer_that_is_good_here_and_bad_there_is_no_row_of_kto():
    best = talk(say("assistant", "Here.", 1), id="best", asks="Please cancel AB01.")
    found = build([made(1), made(1, best, careful(1), run="20261129-2")], format="kto")
    assert [(row["label"], len(row["completion"])) for row in all_rows(found)] == [(False, 3), (True, 1)]
    assert found.rows_left_out == {"contradicting": 2}
    assert found.exported == 2


def test_the_same_answer_to_the_same_prompt_is_one_row_of_kto():
    worst = talk(say("assistant", "No.", 1), id="worst", asks="Please cancel AB01.")
    found = build([made(1), made(1, worse=worst, run="20261129-2")], format="kto")
    assert [row["label"] for row in all_rows(found)] == [True, False, False]
    assert found.rows_left_out == {"duplicate": 1}


@pytest.mark.parametrize(
    "held_out",
    [HeldOut(case_ids={"case-1"}), {"careful-1"}, {"case request"}],
    ids=["by case id", "by what is asked", "by the request of a trace"],
)
def test_a_task_of_the_held_out_set_is_left_out(held_out):
    wanted = HeldOut() if isinstance(held_out, set) else held_out
    if held_out == {"careful-1"}:
        wanted.add(None, [["please CANCEL  ab01."]], str)
    elif isinstance(held_out, set):
        wanted.add(None, [["Something else entirely."]], str)
    first = careful(1, request="Something else entirely.") if held_out == {"case request"} else careful(1)
    found = build([made(1, first), made(2)], wanted)
    assert [row["pair"] for row in all_rows(found)] == ["p-2"]
    assert dict(found.left_out) == {"held_out": 1}


def test_two_catalogs_make_no_row():
    found = build(
        [made(1, tools=(CATALOG, CATALOG[:1])), made(2, tools=(CATALOG, None)), made(3, tools=(CATALOG, CATALOG[::-1]))]
    )
    assert dict(found.left_out) == {"catalogs_differ": 2}


def test_a_catalog_that_is_not_known_is_said():
    found = build([made(1, tools=(None, None)), made(2)])
    assert [row["tools"] is None for row in all_rows(found)] == [True, False]
    assert found.notes == ["1 pair without a catalog: name it by --tools, or by the settings"]


@pytest.mark.parametrize("which", [0, 1])
def test_a_trace_that_is_no_chat_is_left_out_by_its_reason(which):
    lost = talk(act("find_booking", 1, None), say("assistant", "Done.", 2), asks="Please cancel AB01.")
    sides = [careful(1), hasty(1)]
    sides[which] = lost
    assert dict(build([made(1, *sides)]).left_out) == {"result_missing": 1}


def test_every_reason_has_words():
    reasons = {*NotUsed.__args__, *UnfitReason.__args__, *UnfitPair.__args__}
    assert reasons | {"no_trace", "catalogs_differ", "held_out", "duplicate", "contradicting"} == set(WORDS)


def test_the_figures_add_up_and_are_said_in_words():
    found = build([made(1), made(2), made(1, run="20261129-2"), made(3, worse=careful(3))], test_share=0.5)
    shown = figures(found, 9, Counter(tie=4, low_confidence=1))
    assert shown["pairs"] == shown["exported"] + sum(shown["left_out"].values())
    assert shown["rows"] == {"train": 1, "test": 1}
    assert list(lines(shown, {"train": "a.jsonl"})) == [
        "a.jsonl: 1 row",
        "9 pairs: 2 exported, 7 left out",
        "  4  tie: a tie",
        "  1  duplicate: there already",
        "  1  low_confidence: the judge is not sure enough (--min-confidence)",
        "  1  no_difference: the traces do not differ",
        "1 row left out: duplicate: there already",
    ]


# ---- the split -------------------------------------------------------------------------------------------------------


def side_of(found):
    """Return the side of each pair."""
    return {row["pair"]: side for side, row in found.rows()}


def test_the_share_is_met_as_nearly_as_whole_tasks_allow():
    assert build([made(n) for n in range(40)], test_share=0.1).count("test") == 4
    assert build([made(n) for n in range(40)]).count("test") == 0


def test_the_seed_draws_and_the_order_does_not():
    pairs = [made(n) for n in range(40)]
    drawn = side_of(build(pairs, test_share=0.25))
    assert side_of(build(pairs[::-1], test_share=0.25)) == drawn
    assert side_of(build(pairs, test_share=0.25, seed=1)) != drawn


def test_pairs_of_one_case_and_pairs_that_ask_the_same_stay_together():
    other = {"id": "other", "asks": "please cancel  AB01."}
    pairs = [
        made(1), made(50, careful(2, asks="Once more."), hasty(2, asks="Once more."), case_id="case-1"),
        made(51, careful(1, **other), hasty(1, **other)), *(made(n) for n in range(2, 9)),
    ]  # fmt: skip
    for seed in range(20):
        sides = side_of(build(pairs, test_share=0.3, seed=seed))
        assert sides["p-1"] == sides["p-50"] == sides["p-51"]


def test_too_few_tasks_to_divide_are_said():
    found = build([made(1)], test_share=0.1)
    assert found.notes == ["all rows are on one side of the split: there are too few tasks to divide"]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=20),
    st.floats(0.05, 0.9),
    st.integers(),
)
def test_no_task_is_on_both_sides(pairs, share, seed):
    some = [made(n, careful(asked), hasty(asked), case_id=f"c-{case}") for n, (case, asked) in enumerate(pairs)]
    found = build(some, test_share=share, seed=seed, prompts="winner")
    sides: dict[str, set[str]] = {}
    for side, row in found.rows():
        for tie in (row["case_id"], json.dumps(row["prompt"])):
            sides.setdefault(tie, set()).add(side)
    assert {len(one) for one in sides.values()} <= {1}


# ---- loading ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    """Return what loads files by the JSON loader of `datasets`, without any network."""
    patch = pytest.MonkeyPatch()
    folder = tmp_path_factory.mktemp("datasets")
    patch.setenv("HF_HOME", str(folder))
    patch.setenv("HF_DATASETS_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    numbers = count()

    def loaded(path):
        files = {"train": str(path)} if not isinstance(path, dict) else {side: str(one) for side, one in path.items()}
        found = datasets.load_dataset("json", data_files=files, cache_dir=str(folder / f"{next(numbers)}"))
        return found if isinstance(path, dict) else found["train"]

    yield loaded
    patch.undo()


def without_nothing(value):
    """Return a value without keys that are null: an Arrow structure has every key of its siblings."""
    if isinstance(value, dict):
        return {key: without_nothing(item) for key, item in value.items() if item is not None}
    return [without_nothing(item) for item in value] if isinstance(value, list) else value


def different(number):
    """Return a trace with calls of many shapes."""
    given = [
        {"code": f"AB{number}", "seats": [1, 2], "flag": True}, {"when": "2026-11-29", "price": 12.25, "note": None},
        {"list": [], "inner": {"a": {"b": [{"c": 1}, {"d": "x"}]}}}, {},
    ]  # fmt: skip
    events = [act(f"tool_{one}", one, {"number": one}, **given[(number + one) % 4]) for one in range(1, 2 + number % 3)]
    return talk(
        *events, say("assistant", f"Done {number}. \u2028 é 😀", 9), id=f"d-{number}", asks=f"Help me with {number}."
    )


PAIRS = [
    *(made(n) for n in range(4)),
    *(made(10 + n, different(n), talk(say("assistant", "No.", 1), asks=f"Help me with {n}.")) for n in range(6)),
]


@pytest.mark.slow
@pytest.mark.parametrize("level", ["whole", "step"])
@pytest.mark.parametrize("format_", ["trl", "kto", "openai"])
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("arguments", ["object", "text"])
def test_the_rows_load_as_they_were_written(load, tmp_path, level, format_, plain, arguments):
    found = build(PAIRS, level=level, format=format_, plain=plain, arguments=arguments)
    if format_ == "openai" and level == "whole":
        assert found.left_out["more_than_one_message"] == len(PAIRS)
        return
    path = tmp_path / "rows.jsonl"
    found.write_files({"train": path})
    written = rows_in(path)
    assert len(written) >= len(PAIRS)
    assert [without_nothing(row) for row in load(path)] == [without_nothing(row) for row in written]
    assert [list(row) for row in load(path)] == [list(row) for row in written]
    assert found.notes == []


@pytest.mark.slow
def test_loaded_rows_have_the_keys_and_roles_of_tool_calling_preference_data(load, tmp_path):
    path = tmp_path / "rows.jsonl"
    build(PAIRS).write_files({"train": path})
    rows = load(path)
    assert rows.column_names == ["prompt", "chosen", "rejected", "tools", *Origin.__struct_fields__]
    keys: dict[str, set[str]] = {}
    for row in rows:
        assert row["prompt"][-1]["role"] in ("user", "tool")
        assert {row[side][0]["role"] for side in ("chosen", "rejected")} == {"assistant"}
        assert [set(tool) for tool in json.loads(row["tools"])] == [{"type", "function"}] * len(TOOLS)
        for message in (*row["prompt"], *row["chosen"], *row["rejected"]):
            keys.setdefault(message["role"], set()).update(without_nothing(message))
            for call in message.get("tool_calls") or ():
                assert set(call) == {"type", "function"}
                assert call["type"] == "function"
                assert set(call["function"]) == {"name", "arguments"}
                assert isinstance(call["function"]["arguments"], dict)
    assert keys == {
        "user": {"role", "content"}, "assistant": {"role", "content", "tool_calls"}, "tool": {"role", "name", "content"},
    }  # fmt: skip


@pytest.mark.slow
def test_the_two_files_of_a_split_load_together(load, tmp_path):
    files = {side: tmp_path / f"rows.{side}.jsonl" for side in ("train", "test")}
    build(PAIRS, test_share=0.3).write_files(files)
    found = load(files)
    assert {side: found[side].num_rows for side in files} == {side: len(rows_in(path)) for side, path in files.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given_", "word"),
    [
        ([{"day": "2026-11-29"}], "dates become timestamps"),
        ([{"code": 4}, {"code": "4"}], "texts that are numbers become numbers"),
        ([{"x": 0.12345678901234}, {"y": 1}], "cut to 10 places"),
        ([{"x": 2**63 + 1}, {"x": 1}], "no longer exact"),
    ],
)
def test_what_loading_changes_is_said_and_texts_keep_it(load, tmp_path, given_, word):
    pairs = []
    for number, arguments in enumerate(given_):
        better = talk(
            say("assistant", "I look.", 1),
            act("find_booking", 1, None, **arguments),
            id=f"n-{number}",
            asks=f"{number}?",
        )
        pairs.append(made(number, better, talk(say("assistant", "No.", 1), asks=f"{number}?")))
    path = tmp_path / "rows.jsonl"
    found = build(pairs)
    found.write_files({"train": path})
    assert any(word in note and "chosen[].tool_calls[].function.arguments" in note for note in found.notes), found.notes
    assert [without_nothing(row) for row in load(path)] != [without_nothing(row) for row in rows_in(path)]
    exact = build(pairs, arguments="text")
    exact.write_files({"train": path})
    assert exact.notes == []
    assert [without_nothing(row) for row in load(path)] == [without_nothing(row) for row in rows_in(path)]


SAFE = st.dictionaries(
    st.sampled_from("abc"),
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5) | st.lists(st.integers(0, 9), max_size=2), max_size=3,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(SAFE, max_size=3), min_size=1, max_size=4))
def test_what_the_notes_do_not_name_comes_back_unchanged(load, tmp_path_factory, calls):
    pairs = []
    for number, some in enumerate(calls):
        events = [act("find_booking", turn, **arguments) for turn, arguments in enumerate(some, 1)]
        better = talk(*events, say("assistant", "Done.", 9), id=f"h-{number}", asks=f"{number}?")
        pairs.append(made(number, better, talk(say("assistant", "No.", 1), asks=f"{number}?")))
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    found = build(pairs)
    found.write_files({"train": path})
    if not found.notes:
        assert [without_nothing(row) for row in load(path)] == [without_nothing(row) for row in rows_in(path)]


def test_a_set_that_cannot_be_written_leaves_no_file(tmp_path):
    found = build([made(1)])
    found.entries = [found.entries[0]._replace(number=7)]
    with pytest.raises(IndexError):
        found.write_files({"train": tmp_path / "a.jsonl", "test": tmp_path / "b.jsonl"})
    assert list(tmp_path.iterdir()) == []


def test_the_same_pairs_give_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        build(PAIRS, test_share=0.3).write_files({side: tmp_path / f"{name}.{side}" for side in ("train", "test")})
    assert (tmp_path / "a.train").read_bytes() == (tmp_path / "b.train").read_bytes()
    assert jsontext.decode((tmp_path / "a.train").read_bytes().splitlines()[0])["margin"] == 1.0

"""Values that a reading states and the result does not hold."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.grade.unsupported import MOST, forms_in, parsed, unsupported_values


def flagged(reading, result, **elsewhere):
    return [one.value for one in unsupported_values(reading, result, elsewhere)]


@pytest.mark.parametrize(
    ("reading", "result"),
    [
        ("You pay $1,234.50.", {"price": 1234.5}),
        ("You pay 1.234,50 €.", {"price": 1234.5}),
        ("You pay 1\u202f234,5 EUR.", {"price": "1234.50"}),
        ("It costs $50.80", {"price": 50.8}),
        ("The rate is 15%.", {"rate": 0.15}),
        ("The rate is 15 %.", {"rate": "15 percent"}),
        ("About 1.2k people came.", {"people": 1200}),
        ("It weighs 12kg.", {"weight": 12, "unit": "kg"}),
        ("It is 1e21 or 2.5E-7.", {"a": 1e21, "b": 2.5e-07}),
        ("It is 1000000000000000000000.", "1e+21"),
        ("Room 12e4 is free.", {"room": "12E4"}),
        ("A balance of 250", {"balance": -250}),
        ("It comes on 1 May 2026.", {"day": "2026-05-01"}),
        ("It comes on May 1st, 2026.", {"day": "2026-05-01T08:00:00Z"}),
        ("It comes on May 1.", {"day": "2026-05-01"}),
        ("It comes on 5/1/2026.", {"day": "2026-05-01"}),
        ("It opens at 2:30 PM.", {"at": "2026-05-01T14:30:00Z"}),
        ("It opens at 8:30.", {"opens": "08:30"}),
        ("It opens at 3 pm.", {"opens": "15:00"}),
        ("Since 2024.", {"since": "2024-05-01"}),
        ("Order #W4967593 is here.", {"order_id": "w4967593"}),
        ("It is **194496721133**.", {"tracking_id": ["194496721133"]}),
        ("Variant 9612497925 is blue.", {"variants": {"9612497925": {"color": "blue"}}}),
        ("Card ending in 4242.", {"card": "visa_4242"}),
        ("It goes to rossi_9620@example.com.", {"mail": "Rossi_9620@example.com"}),
        ("Card ⟦card:9f3a⟧ is frozen.", {"card": "⟦card:9f3a⟧"}),
        ("It is 1234.", json.dumps({"n": 1234})),
        ("It is 1234.", "The answer is 1,234, Sir."),
    ],
)
def test_a_value_that_the_result_holds_in_any_usual_spelling_is_not_flagged(reading, result):
    assert flagged(reading, result) == []


@pytest.mark.parametrize(
    ("reading", "result", "values"),
    [
        ("You pay $1,234.51.", {"price": 1234.5}, [("1,234.51", "number")]),
        ("It is 12.35.", {"n": 12.345}, [("12.35", "number")]),
        ("It comes on May 2.", {"day": "2026-05-01"}, [("May 2", "date")]),
        ("It comes on 1 May 2027.", {"day": "2026-05-01"}, [("1 May 2027", "date")]),
        ("It comes on 2026-05-01.", {"day": "May 1"}, [("2026-05-01", "date")]),
        ("It opens at 02:30.", {"opens": "14:30"}, [("02:30", "date")]),
        (
            "Order #W496 and ORD-18.",
            {"order": "#W4967593, ORD-17"},
            [("#W496", "identifier"), ("ORD-18", "identifier")],
        ),
        ("Mail ⟦email:1⟧.", {"mail": "⟦email:2⟧"}, [("⟦email:1⟧", "identifier")]),
        ("$5, 6 % and 7kg", {}, [("5", "number"), ("6 %", "number"), ("7kg", "number")]),
        ("a 12-day trip", {"days": 11}, [("12-day", "number")]),
        ("There are 11 shirts.", {"shirts": 10}, [("11", "number")]),
        (f"{'1' * 70}", {"n": "1" * 71}, [("1" * 70, "number")]),
    ],
)
def test_a_value_that_the_result_does_not_hold_is_flagged_with_its_kind(reading, result, values):
    found = unsupported_values(reading, result)
    assert [(one.value, one.kind) for one in found] == values
    assert all(reading[one.where :].startswith(one.value) for one in found)


@pytest.mark.parametrize(
    "reading",
    [
        "2 steps are left, and 3 options.",
        "1. Freeze it\n2) Cancel it\n**10.** Wait",
        "  12. Twelve",
        "- 11) eleven",
        "the 2nd, the 21st and the 3rd",
        "a 2-piece set, 3x faster",
        "eleven shirts",
        "no values at all",
        "",
    ],
)
def test_counting_numbering_ordinals_and_words_are_no_values(reading):
    assert flagged(reading, {}) == []


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ({"text": "Two ways:\n2) F12\n10) G7\t\u2014D4"}, ["F12", "G7", "D4"]),
        ({"total_for_2_people": 640, "may_26_options": []}, ["640"]),
        ({"apply_gift_card_7359776_first": 39.5, "seats_from_ABC_on_2024-05-20": []}, ["39.5"]),
        (
            {"gift_card_7359776": "W-12", "2024-05-20": None, "K77": True},
            ["gift_card_7359776", "W-12", "2024-05-20", "K77"],
        ),
        ({"a": 'say "x_y_12": or \\n45'}, ["x_y_12", "n45"]),
    ],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_names_and_escapes_of_a_reading_in_json_are_no_values(said, values, ascii_only):
    reading = json.dumps(said, ensure_ascii=ascii_only)
    found = unsupported_values(reading, None)
    assert [one.value for one in found] == values
    assert all(reading[one.where :].startswith(one.value) for one in found)


def test_a_time_is_not_taken_into_the_word_before_it():
    assert flagged("It is a before-7:00 AM flight, not an after-12:30 one.", ["07:00", "12:30"]) == []
    assert flagged("It is the before-9:00 AM flight.", ["07:00"]) == ["9:00 AM"]
    assert flagged("Order A-7 is here.", []) == ["A-7"]


def test_a_value_is_listed_once_where_it_stands_first():
    found = unsupported_values("It is 1,500. Yes, 1500; 1500.00 indeed.", {"n": 15})
    assert [(one.value, one.where) for one in found] == [("1,500", 6)]


def test_where_else_a_value_stands_is_said():
    found = unsupported_values(
        "11 shirts for A17 on May 2: 77", {"variants": {str(n): {} for n in range(11)}},
        {"request": "A17 on 2026-05-02", "arguments": {"id": "A17"}},
    )  # fmt: skip
    assert [(one.value, one.also_in) for one in found] == [
        ("11", ("count",)), ("A17", ("request", "arguments")), ("May 2", ("request",)), ("77", ()),
    ]  # fmt: skip


def test_a_small_number_with_money_beside_it_is_a_value():
    assert flagged("It is 5 €, or £7; in 3 ways.", {}) == ["5", "7"]


def test_hardly_readable_texts_take_no_long_time_and_list_a_bounded_number():
    text = "".join(f"{n}x{n} " for n in range(1000))
    assert len(unsupported_values(text, {})) == MOST
    for piece in ("a_", "a.", "⟦", "1,", "9-", "1'000", "12 May ", "@"):
        unsupported_values(piece * 5000, piece * 5000)


@pytest.mark.parametrize("text", ["[1, 2", "{", "12", '"a"', "plain", ""])
def test_only_text_that_is_the_json_of_an_object_or_a_list_is_read_as_such(text):
    assert parsed(text) is None
    assert parsed(' {"a": [1]}') == {"a": [1]}


# ---- properties ----

NUMBERS = st.integers(10, 10**12) | st.decimals(10, 10**6, places=2).map(float)
NAMES = st.from_regex(r"[A-Z]{1,4}[0-9]{1,8}", fullmatch=True)
DAYS = st.dates().map(str)
SCALARS = NUMBERS | NAMES | DAYS | st.booleans() | st.none() | st.text(max_size=20)
RESULTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=8), inner), max_leaves=12
)
TEXTS = st.text(max_size=200) | st.lists(NUMBERS | NAMES | DAYS).map(lambda parts: " and ".join(map(str, parts)))


def spelled(value):
    """A number as somebody might write it."""
    plain = format(Decimal(repr(value)), "f")
    whole, dot, rest = plain.partition(".")
    grouped = f"{int(whole):,}"
    return [
        plain,
        grouped + dot + rest,
        grouped.replace(",", ".") + ("," + rest if rest else ""),
        f"${grouped}{dot}{rest}",
    ]


@given(st.lists(NUMBERS | NAMES | DAYS, min_size=1))
def test_whatever_is_copied_from_the_result_is_supported(values):
    reading = "I see " + ", then ".join(map(str, values)) + "."
    assert flagged(reading, {"items": values}) == []


@given(NUMBERS, st.data())
def test_a_number_is_supported_however_its_thousands_are_set_apart(value, data):
    assert flagged(f"It is {data.draw(st.sampled_from(spelled(value)))} in all", [value]) == []


@given(TEXTS, RESULTS)
def test_a_flagged_value_stands_where_it_is_said_to_and_adding_it_to_the_result_removes_the_flag(reading, result):
    found = unsupported_values(reading, result)
    assert all(reading[one.where : one.where + len(one.value)] == one.value for one in found)
    assert len({one.where for one in found}) == len(found)
    assert unsupported_values(reading, [result, [one.value for one in found]]) == ()


@given(TEXTS, RESULTS, RESULTS)
def test_a_larger_result_never_flags_more(reading, result, more):
    assert (
        set(flagged(reading, [result, more])) <= set(flagged(reading, result)) or len(flagged(reading, result)) == MOST
    )


@given(TEXTS, RESULTS)
def test_what_is_known_elsewhere_changes_no_flag_but_says_where(reading, result):
    bare, told = unsupported_values(reading, result), unsupported_values(reading, result, {"request": reading})
    assert [one.value for one in bare] == [one.value for one in told]
    assert all("request" in one.also_in for one in told)


@given(RESULTS)
def test_a_result_as_json_text_supports_what_it_supports_as_a_value(result):
    if isinstance(result, (dict, list)):
        assert forms_in(result) <= forms_in(json.dumps(result, ensure_ascii=False))


@given(st.lists(st.sampled_from(["Freeze it", "Cancel it", "Ask"]), min_size=1, max_size=30), st.sampled_from(".)"))
def test_the_numbers_of_a_list_are_never_values(items, mark):
    assert flagged("\n".join(f"{n}{mark} {item}" for n, item in enumerate(items, 1)), {}) == []

"""Normal forms: small, fixed rewritings that a person can predict, and that never guess."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.case.similar import FORMS, token_similarity

ALIKE = {
    "text": [
        ("Hello, World!", "hello world"),
        ("  a\t b\n", "A B"),
        ("\ufb01ne", "fine"),
        ("Stra\u00dfe", "STRASSE"),
        ("caf\u00e9", "cafe\u0301"),
        ("snake_case", "snake case"),
    ],
    "address": [
        ("123 Maple St", "123 maple street"),
        ("5 N. Oak Ave, Apt 4", "5 north oak avenue apartment 4"),
        ("5 Oak Ave #4", "5 Oak Avenue Apt 4"),
        ("1 High Blvd.", "1 high boulevard"),
    ],
    "name": [
        ("Oakes, Wilma", "wilma oakes"),
        ("Dr. Wilma Oakes", "Wilma Oakes"),
        ("Jos\u00e9 \u00c1lvarez", "jose alvarez"),
        ("Mrs Oakes", "OAKES"),
    ],
    "phone": [
        ("+44 (1632) 960-118", "0044 1632 960118"),
        ("01632 960118", "01632.960.118"),
    ],
    "number": [
        ("1,000.50", "1000.5"),
        ("$1,250", "1250"),
        ("1_000", "1000"),
        ("50 %", "50"),
        ("1e3", "1000"),
        ("\uff11\uff12", "12"),
        ("-0.50", "-0.5"),
    ],
    "date": [
        ("2026-12-05", "5 December 2026"),
        ("2026-12-05", "December 5, 2026"),
        ("2026-12-05", "5th of Dec 2026"),
        ("2026-12-05", "05.12.2026"),
        ("2026-12-05", "2026/12/05"),
        ("2026-12-05", "2026-12-05T00:00:00Z"),
        ("2026-12-05", "2026-12-5"),
    ],
}
DIFFERENT = {
    "text": [("a b", "b a"), ("a", "a a"), ("1.5", "15")],
    "address": [("12 Oak St", "21 Oak St"), ("Oak St", "Oak Sq")],
    "name": [("Wilma Oakes", "Wilma Oaks"), ("Oakes, W, M", "M Oakes W")],
    "phone": [("01632 960118", "+44 1632 960118"), ("123", "124")],
    "number": [("1,00", "100"), ("1.000,50", "1000.50"), ("one", "1"), ("nan", "NaN 1"), ("", "0")],
    "date": [
        ("03/04/2026", "2026-04-03"),
        ("03/04/2026", "2026-03-04"),
        ("2026-02-30", "2026-03-02"),
        ("soon", "later"),
        ("2026-12-05", "2026-12-05T14:00:00Z"),
        ("5 Decembre 26", "2026-12-05"),
    ],
}


def pairs(table):
    return [pytest.param(kind, *pair, id=f"{kind}: {pair}") for kind, rows in table.items() for pair in rows]


def test_every_form_is_tried_here():
    assert FORMS.keys() == ALIKE.keys() == DIFFERENT.keys()


@pytest.mark.parametrize(("kind", "left", "right"), pairs(ALIKE))
def test_texts_of_one_normal_form(kind, left, right):
    assert FORMS[kind](left) == FORMS[kind](right)


@pytest.mark.parametrize(("kind", "left", "right"), pairs(DIFFERENT))
def test_texts_of_two_normal_forms(kind, left, right):
    assert FORMS[kind](left) != FORMS[kind](right)


@pytest.mark.parametrize("kind", ["date", "number"])
@pytest.mark.parametrize("text", ["soon", "", "Infinity", "1/2/3", "\u2014"])
def test_what_has_no_form_of_the_kind_is_only_like_itself(kind, text):
    assert FORMS[kind](text).startswith("text:")
    assert FORMS[kind](text) == FORMS[kind](text.upper())


@given(st.sampled_from(list(FORMS)), st.text())
@settings(deadline=None)
def test_a_normal_form_of_anything_is_text_and_blanks_around_do_not_matter(kind, text):
    form = FORMS[kind](text)
    assert isinstance(form, str)
    assert FORMS[kind](f"  {text}  ") == form


@pytest.mark.parametrize(
    ("left", "right", "similarity"),
    [
        ("", "", 1),
        ("a", "", 0),
        ("a b", "b a", 1),
        ("a b c d", "a b", 0.5),
        ("a a b", "a b", 1),
        ("a b c", "a d", 0.25),
    ],
)
def test_token_similarity_is_the_share_of_common_words(left, right, similarity):
    assert token_similarity(left, right) == token_similarity(right, left) == similarity

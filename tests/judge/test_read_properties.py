"""What holds for any reply: packing changes nothing, damage never makes another verdict, and JSON is JSON."""

import json

from hypothesis import given
from hypothesis import strategies as st

from rightcall.judge.contract import Malformed
from rightcall.judge.read import read_reply
from rightcall.judge.reply import Found, find_object
from rightcall.trace.jsontext import same

TEXTS = st.text(max_size=30)
ENCODABLE = st.text(st.characters(codec="utf-8"), max_size=30)
SAID = ENCODABLE.map(lambda text: f"because {text}")
CATEGORIES = ["wrong_tool", "abstention_error", "over_action", "hallucinated_tool"]
REPLIES = st.builds(
    lambda category, selected, expected, why: {
        "grade": "PASS" if category is None else "FAIL",
        "selected_tool": selected,
        "expected_tool": expected,
        "justification": why,
        "failure_category": category,
    },
    st.sampled_from([None, *CATEGORIES]),
    st.none() | ENCODABLE,
    st.none() | ENCODABLE,
    SAID,
)
PROSE = st.text(st.characters(codec="utf-8", exclude_characters="{}[]<>"), max_size=40)
THOUGHTS = st.none() | ENCODABLE.filter(lambda text: "</think" not in text.lower())


def packed(body, before, after, fence, thought, mark):
    text = f"{before}\n{fence}json\n{body}\n{fence}\n{after}" if fence else f"{before}{body}{after}"
    if thought is not None:
        text = f"<think>{thought}</think>{text}"
    return "\ufeff" * mark + text


PACKING = st.tuples(PROSE, PROSE, st.sampled_from(["", "```", "~~~"]), THOUGHTS, st.booleans())


@given(REPLIES, PACKING, st.sampled_from([None, 2]), st.booleans())
def test_a_valid_reply_survives_any_packing_unchanged(values, packing, indent, ascii_only):
    body = json.dumps(values, indent=indent, ensure_ascii=ascii_only)
    reply = read_reply("selection", packed(body, *packing))
    assert not isinstance(reply, Malformed), str(reply)
    assert {key: reply.values()[key] for key in values} == values
    assert reply == read_reply("selection", body)


def readable_objects(text):
    """Every object that the standard library finds anywhere in the text, at a brace."""
    decoder = json.JSONDecoder(strict=False)
    for at, letter in enumerate(text):
        if letter == "{":
            try:
                yield decoder.raw_decode(text, at)[0]
            except ValueError:
                continue


CHANGES = st.lists(
    st.tuples(
        st.integers(min_value=0, max_value=400),
        st.integers(min_value=0, max_value=12),
        st.sampled_from(
            ["", "{", "}", '"', "\\", "[", "]", ",", ":", "'", "<think>", "</think>", "```", "PASS", "FAIL"]
        )
        | st.sampled_from(['{"grade": "PASS"}', '"grade": "PASS",', "null", "NaN", "1e999", "\u200b", "\ud800"]),
    ),
    min_size=1,
    max_size=4,
)


@given(REPLIES, PACKING, CHANGES, st.sampled_from([None, "stop", "length"]))
def test_damage_never_makes_a_verdict_that_is_not_written_there(values, packing, changes, finish):
    text = packed(json.dumps(values), *packing)
    for at, length, new in changes:
        start = min(at, len(text))
        text = text[:start] + new + text[start + length :]
    reply = read_reply("selection", text, finish)
    if isinstance(reply, Malformed):
        assert reply.problems
        return
    said = {key: value for key, value in reply.values().items() if value is not None}
    written = [one for one in readable_objects(text) if isinstance(one, dict) and "justification" in one]
    assert any(said == {key: one[key] for key in said if key in one} for one in written)


@given(
    st.text(st.sampled_from('{}[]"\\:,<>/ \nthinkgrade019.eE-NaPASFIL'), max_size=80), st.sampled_from([None, "length"])
)
def test_no_text_raises_and_none_gives_a_verdict_by_chance(text, finish):
    assert isinstance(read_reply("selection", text, finish), Malformed)


@given(TEXTS, st.none() | TEXTS)
def test_any_text_and_any_reason_to_stop_are_read_without_an_exception(text, finish):
    assert isinstance(read_reply("rubric", text, finish), Malformed)


# ---- against the standard library ---------------------------------------------------------------------------------


class Pairs(tuple):
    """An object whose keys may repeat."""

    __slots__ = ()


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(TEXTS, inner), max_size=3).map(Pairs),
    max_leaves=12,
)


def written(value):
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{json.dumps(key)}: {written(item)}" for key, item in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return json.dumps(value)


class SeenByTheLibrary:
    """The values, and whether a key repeats, a number is none, or half a surrogate pair stands alone."""

    def __init__(self, text):
        self.repeats = self.not_finite = self.half_pair = False
        self.values = json.loads(text, object_pairs_hook=self.object_of, parse_constant=self.constant)
        self.check(self.values)

    def object_of(self, pairs):
        self.repeats |= len(dict(pairs)) < len(pairs)
        self.check(pairs)
        return dict(pairs)

    def constant(self, name):
        self.not_finite = True

    def check(self, value):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            self.half_pair = True


@given(st.lists(st.tuples(TEXTS, VALUES), max_size=4))
def test_an_object_reads_as_the_standard_library_reads_it_or_not_at_all(pairs):
    text = written(Pairs(pairs))
    seen, found = SeenByTheLibrary(text), find_object(text, ())
    if seen.half_pair:
        assert found.code == "JUDGE_NOT_JSON"
    elif seen.repeats:
        assert found.code == "JUDGE_DUPLICATE_KEY"
    elif seen.not_finite:
        assert found.code == "JUDGE_NON_FINITE"
    else:
        assert isinstance(found, Found)
        assert same(found.values, seen.values)

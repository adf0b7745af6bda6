"""Results as flat columns: each value stands where its name says, whatever the result holds there."""

from hypothesis import given
from hypothesis import strategies as st

from rightcall.grade.own import OwnResult
from rightcall.run.results.columns import columns_of
from rightcall.run.results.model import RESULT_TYPES

ANY = st.none() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)


@st.composite
def results(draw):
    """Draw a type of result, and plain values that need not be those of such a result."""
    kind = draw(st.sampled_from([*RESULT_TYPES.values(), OwnResult]))
    keys = st.sampled_from([part for name in columns_of(kind).kinds for part in name.split(".")])
    return kind, draw(st.dictionaries(keys, ANY | st.dictionaries(keys, ANY, max_size=4), max_size=12))


@given(found=results())
def test_a_value_stands_where_its_name_leads(found):
    kind, plain = found
    for name, value in columns_of(kind).cells(plain).items():
        wanted = plain
        for key in name.split("."):
            wanted = wanted.get(key) if isinstance(wanted, dict) else None
        assert value == wanted
        assert value is wanted


@given(found=results(), left_out=st.sets(st.integers(0, 40)))
def test_what_is_left_out_changes_nothing_about_the_others(found, left_out):
    kind, plain = found
    whole = columns_of(kind)
    names = {name for at, name in enumerate(whole.kinds) if at in left_out}
    part = whole.without(names)
    assert list(part.kinds.items()) == [(name, kind) for name, kind in whole.kinds.items() if name not in names]
    assert list(part.cells(plain).items()) == [one for one in whole.cells(plain).items() if one[0] not in names]

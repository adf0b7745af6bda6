"""A file of results that was changed after it was written is not read."""

import io
import json

import pytest
from gate_making import golden, passes, run
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import ConfigError
from rightcall.report.written.sealed import write_sealed
from rightcall.report.written.suite_json import write_results_json
from rightcall.run.finished.file import read_results
from rightcall.run.results.sealing import Seal


def written(*rows, **given):
    stream = io.BytesIO()
    write_results_json(run(*rows, **given), None, stream)
    return stream.getvalue()


def put(tmp_path, content):
    path = tmp_path / "run.json"
    path.write_bytes(content)
    return path


def test_a_file_is_read_as_it_was_written_and_says_its_digest(tmp_path):
    found = read_results(put(tmp_path, written(*passes(3))))
    assert (len(list(found.rows())), found.notes) == (3, ())
    assert found.digest.startswith("sha256:")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"verdict": "FAIL"', b'"verdict": "PASS"'),
        (b'"overall": 0.0', b'"overall": 1.0'),
        (b'"case_id": "c1"', b'"case_id": "c9"'),
        (b'"status":"finished"', b'"status":"stopped"'),
        (b'"skipped":0', b'"skipped":1'),
        (b'{"grader": "golden"', b'{"grader":"golden"'),
        (b'"digest":"sha256:', b'"digest":"sha256:0'),
        (b'"digest":"sha256:', b'"digest":"md5:'),
    ],
)
def test_a_changed_verdict_metric_name_or_figure_is_noticed(tmp_path, old, new):
    content = written(golden(1), golden(2, "FAIL"))
    assert old in content
    with pytest.raises(ConfigError, match=r"run\.json: was changed after it was written") as error:
        read_results(put(tmp_path, content.replace(old, new)))
    assert error.value.exit_code == 2


def test_a_result_that_was_taken_out_added_or_moved_is_noticed(tmp_path):
    content = written(golden(1), golden(2), golden(3))
    head, first, second, third = content.split(b"\n")[:4]
    tail = b"\n" + content.split(b"\n", 4)[4]
    for lines in ([first, second.rstrip(b",")], [second, first, third], [first, second, second, third]):
        with pytest.raises(ConfigError, match="was changed"):
            read_results(put(tmp_path, b"\n".join([head, *lines]) + tail))


def test_pretty_printing_and_sorting_are_changes_too_and_white_space_between_the_parts_is_none(tmp_path):
    content = written(golden(1), golden(2))
    value = json.loads(content)
    for layout in ({"indent": 2}, {"sort_keys": True}):
        with pytest.raises(ConfigError, match="pretty-printing and sorting change it too"):
            read_results(put(tmp_path, json.dumps(value, **layout).encode()))
    spaced = content.replace(b',"summary":', b' ,\n\t"summary" : ').replace(b",\n{", b" , \n\n {")
    assert len(list(read_results(put(tmp_path, spaced)).rows())) == 2


def test_a_file_without_a_digest_is_read_and_its_notes_say_so(tmp_path):
    content = written(golden(1))
    at = content.index(b',"digest"')
    found = read_results(put(tmp_path, content[:at] + b"}"))
    assert found.digest is None
    assert found.notes == (f"{tmp_path / 'run.json'} carries no digest: whether it was changed cannot be seen",)


@pytest.mark.parametrize("digest", ["7", "[]", "{}"])
def test_a_digest_that_is_no_text_makes_it_no_file_of_results(tmp_path, digest):
    content = written(golden(1))
    at = content.index(b',"digest"')
    with pytest.raises(ConfigError, match="no results of rightcall"):
        read_results(put(tmp_path, content[:at] + f',"digest":{digest}}}'.encode()))


def test_the_digest_is_the_sha256_of_the_parts_each_with_a_line_feed():
    import hashlib

    stream = io.BytesIO()
    write_sealed(stream, {"id": 1}, {"n": 2}, [b'{"a":1}', b'{"a":2}'])
    expected = hashlib.sha256(b'{"id":1}\n{"n":2}\n{"a":1}\n{"a":2}\n').hexdigest()
    assert json.loads(stream.getvalue()) == {
        "run": {"id": 1}, "summary": {"n": 2}, "results": [{"a": 1}, {"a": 2}], "digest": f"sha256:{expected}",
    }  # fmt: skip


PARTS = st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2), min_size=2, max_size=5)


@given(one=PARTS, other=PARTS)
def test_two_files_have_the_same_digest_only_if_their_parts_are_the_same(one, other):
    def digest(parts):
        run_, summary, *lines = (json.dumps(part).encode() for part in parts)
        seal = Seal(run_, summary)
        for line in lines:
            seal.add(line)
        return seal.digest()

    assert (digest(one) == digest(other)) == (json.dumps(one) == json.dumps(other))

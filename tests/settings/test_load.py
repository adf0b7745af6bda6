"""Settings from their four sources, every fault with its place, and policies from their files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import ConfigError
from rightcall.settings.load import load_policy, load_settings, read_toml
from rightcall.settings.model import Settings


def fault(file: Path | None, environ: dict[str, str] | None = None, **flags: object) -> str:
    with pytest.raises(ConfigError) as error:
        load_settings(file, environ or {}, flags)
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


# ---- which file ------------------------------------------------------------------------------------------------------


def test_without_any_source_everything_has_its_default(tmp_path):
    loaded = load_settings(None, {}, {}, tmp_path)
    assert loaded.settings == Settings()
    assert (loaded.file, loaded.folder, loaded.origins) == (None, tmp_path, {})


def test_the_file_of_the_folder_is_found(put, tmp_path):
    put("rightcall.toml", 'traces = "a.jsonl"')
    assert load_settings(None, {}, {}).settings.traces == "a.jsonl"
    assert load_settings(None, {}, {}, tmp_path).folder == tmp_path


def test_rightcall_toml_comes_before_pyproject_toml(put):
    put("pyproject.toml", '[tool.rightcall]\ntraces = "project.jsonl"')
    assert load_settings(None, {}, {}).settings.traces == "project.jsonl"
    put("rightcall.toml", 'traces = "own.jsonl"')
    assert load_settings(None, {}, {}).settings.traces == "own.jsonl"


@pytest.mark.parametrize(
    "text",
    [
        "[tool.other]\nx = 1",
        '[project]\nname = "tool.rightcall"',
        '[tool]\nother = "[tool.rightcall]"',
        b'x = "\xff"',
        "",
    ],
)
def test_a_pyproject_toml_of_others_is_left_alone(put, text):
    put("pyproject.toml", text)
    assert load_settings(None, {}, {}).file is None


def test_a_table_further_down_is_enough(put):
    put("pyproject.toml", '[tool.rightcall.golden]\nprofile = "strict"')
    assert load_settings(None, {}, {}).settings.golden.profile == "strict"


def test_the_file_that_is_named_is_read_and_nothing_else(put):
    put("rightcall.toml", 'traces = "a.jsonl"')
    named = put("other/my.toml", 'cases = "b.jsonl"')
    loaded = load_settings(named, {}, {})
    assert (loaded.settings.traces, loaded.settings.cases) == ((), "b.jsonl")
    assert (loaded.file, loaded.folder) == (named, named.parent)


@pytest.mark.parametrize("text", ["", "tool = 3", "[tool]\nrightcall = 3", "[tool.other]"])
def test_a_pyproject_toml_that_is_named_must_have_the_table(put, text):
    assert fault(put("pyproject.toml", text)).endswith("pyproject.toml: has no table [tool.rightcall] [CONFIG_INVALID]")


def test_a_byte_order_mark_is_no_fault(put):
    assert load_settings(put("r.toml", b'\xef\xbb\xbftraces = "a"'), {}, {}).settings.traces == "a"


# ---- precedence ------------------------------------------------------------------------------------------------------


def test_flags_come_before_the_environment_before_the_file_before_defaults(put):
    file = put("rightcall.toml", '[golden]\nprofile = "strict"\nmin_overall = 0.5\nretries = "surplus"\n')
    environ = {"RIGHTCALL_GOLDEN__PROFILE": "exact", "RIGHTCALL_GOLDEN__MIN_OVERALL": "0.25"}
    loaded = load_settings(file, environ, {"golden.profile": "article"})
    golden = loaded.settings.golden
    assert (golden.profile, golden.min_overall, golden.retries, golden.surplus_reads) == (
        "article",
        0.25,
        "surplus",
        "charged",
    )
    assert loaded.origins == {
        "golden.profile": "flag", "golden.min_overall": "environment", "golden.retries": str(file),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a.jsonl", "a.jsonl"),
        ('"a.jsonl"', "a.jsonl"),
        ('["a.jsonl", "b.jsonl"]', ("a.jsonl", "b.jsonl")),
        ("[" * 3000, "[" * 3000),
        ("a # b", "a # b"),
    ],
)
def test_a_variable_is_read_as_toml_where_it_is_toml_and_as_text_otherwise(text, value):
    assert load_settings(None, {"RIGHTCALL_TRACES": text}, {}, Path("nowhere")).settings.traces == value


def test_variables_that_are_no_settings_are_left_alone():
    environ = {"RIGHTCALL_REDACTION_KEY": "k", "RIGHTCALL_TRACES": "", "OTHER": "x", "PATH": "y"}
    assert load_settings(None, environ, {}, Path("nowhere")).settings == Settings()


def test_a_variable_reaches_into_tables():
    environ = {"RIGHTCALL_LIMITS__JOBS": "4", "RIGHTCALL_POLICY__FORBIDDEN": '["x"]', "RIGHTCALL_ALIASES": '{a = "b"}'}
    settings = load_settings(None, environ, {}, Path("nowhere")).settings
    assert (settings.limits.jobs, settings.policy.forbidden, settings.aliases) == (4, ("x",), {"a": "b"})


def test_keys_with_dots_and_tables_without_keys(put):
    file = put("r.toml", '[aliases]\n"spotify.play" = "spotify_play"\n[policy.classes]\n[limits]\njobs = 2')
    loaded = load_settings(file, {}, {"limits.jobs": 3})
    assert loaded.settings.aliases == {"spotify.play": "spotify_play"}
    assert loaded.settings.limits.jobs == 3


PAIRS = [
    ("traces", "TRACES", 'traces = "file"', ()),
    ("golden.profile", "GOLDEN__PROFILE", '[golden]\nprofile = "strict"', "balanced"),
    ("limits.jobs", "LIMITS__JOBS", "[limits]\njobs = 2", 1),
    ("review.random", "REVIEW__RANDOM", "review.random = 0.2", 0.1),
]
LAYERS = {
    "traces": ("file", "environment", "flag"), "golden.profile": ("strict", "exact", "article"),
    "limits.jobs": (2, 3, 4), "review.random": (0.2, 0.3, 0.4),
}  # fmt: skip


@pytest.mark.parametrize(
    "given_by", [(1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)]
)
@pytest.mark.parametrize(("key", "variable", "text", "default"), PAIRS)
def test_of_the_sources_that_give_a_setting_the_first_in_line_counts(put, key, variable, text, default, given_by):
    by_file, by_environment, by_flag = given_by
    values = LAYERS[key]
    file = put("r.toml", text if by_file else "")
    environ = {f"RIGHTCALL_{variable}": str(values[1])} if by_environment else {}
    loaded = load_settings(file, environ, {key: values[2]} if by_flag else {})
    found = loaded.settings
    for part in key.split("."):
        found = getattr(found, part)
    assert found == (values[2] if by_flag else values[1] if by_environment else values[0] if by_file else default)
    origin = "flag" if by_flag else "environment" if by_environment else str(file) if by_file else None
    assert loaded.origins.get(key) == origin


def test_a_setting_has_the_place_of_the_source_that_counts(put):
    file = put("r.toml", '[golden]\nprofile = "strict"\n\n[judges.a]\nmodel = "m"\n[limits]\njobs = 2')
    loaded = load_settings(file, {"RIGHTCALL_LIMITS__JOBS": "3"}, {"traces": "x"})
    assert str(loaded.place("golden", "profile")) == f"{file}:2:11 at golden.profile"
    assert str(loaded.place("judges", "a")) == f"{file}:4:9 at judges.a"
    assert str(loaded.place("limits", "jobs")) == "environment RIGHTCALL_LIMITS__JOBS at limits.jobs"
    assert str(loaded.place("traces")) == "command line at traces"
    assert str(loaded.place("rubric", "judge")) == "rubric.judge"


# ---- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + "[" * 3000, "r.toml: not valid TOML: nested too deep"),
        (b"a = '\xff'", "r.toml: cannot be read: 'utf-8' codec"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(put, text, said):
    assert said in fault(put("r.toml", text))


@pytest.mark.parametrize(
    ("environ", "flags", "said"),
    [
        (
            {"RIGHTCALL_GOLDEN__PROFIL": "x"},
            {},
            "RIGHTCALL_GOLDEN__PROFIL at golden.profil: unknown field `profil`; did you mean RIGHTCALL_GOLDEN__PROFILE?",
        ),
        (
            {"RIGHTCALL_TRACS": "x"},
            {},
            "RIGHTCALL_TRACS at tracs: unknown field `tracs`; did you mean RIGHTCALL_TRACES?",
        ),
        ({"RIGHTCALL_JUDGE_MODL": "x"}, {}, "did you mean RIGHTCALL_JUDGE_MODEL?"),
        ({"RIGHTCALL_REDACTION_KEI": "x"}, {}, "did you mean RIGHTCALL_REDACTION_KEY?"),
        ({"RIGHTCALL_QQQ": "x"}, {}, "environment RIGHTCALL_QQQ at qqq: unknown field `qqq`; known here: "),
        ({"RIGHTCALL_LIMITS__JOBS": "two"}, {}, "environment RIGHTCALL_LIMITS__JOBS at limits.jobs: "),
        ({"RIGHTCALL_TRACES__X": "a"}, {"traces": "b"}, "environment RIGHTCALL_TRACES__X at traces"),
        ({}, {"limits.jobs": "two"}, "command line at limits.jobs: "),
        (
            {"RIGHTCALL_VERSION": "1", "RIGHTCALL_VERSION__X": "1"},
            {},
            "environment RIGHTCALL_VERSION__X: `version.x` goes into `version`, which is not a table",
        ),
    ],
)
def test_a_fault_says_which_source_it_is_of(environ, flags, said):
    with pytest.raises(ConfigError) as error:
        load_settings(None, environ, flags, Path("nowhere"))
    assert said in str(error.value)


def test_a_missing_file_and_a_folder(put, tmp_path):
    assert "nowhere.toml: no such file; check the path" in fault(Path("nowhere.toml"))
    put("folder.toml/x", "")
    assert "folder.toml: cannot be read: " in fault(tmp_path / "folder.toml")


@given(st.text(max_size=60))
def test_any_text_is_settings_or_one_line(text):
    """A file of any content is read or refused, never something else."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.toml"
        path.write_text(text, "utf-8", errors="surrogatepass")
        said = ""
        try:
            load_settings(path, {}, {})
        except ConfigError as error:
            said = str(error)
        assert len(said.splitlines()) <= 1


def test_the_table_comes_with_its_text(put):
    assert read_toml(put("a.toml", "x = 1")) == ({"x": 1}, "x = 1")


# ---- policies --------------------------------------------------------------------------------------------------------

RULES = {"forbidden": ["a"], "max_calls": [{"tool": "b", "count": 2}]}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.toml", 'forbidden = ["a"]\n[[max_calls]]\ntool = "b"\ncount = 2'),
        ("p.toml", '[policy]\nforbidden = ["a"]\n[[policy.max_calls]]\ntool = "b"\ncount = 2'),
        ("p.json", json.dumps(RULES)),
        ("p.json", json.dumps({"policy": RULES})),
        ("p.yaml", "forbidden: [a]\nmax_calls:\n- {tool: b, count: 2}"),
        ("p.yml", "policy:\n  forbidden: [a]\n  max_calls:\n  - {tool: b, count: 2}"),
        ("policy", 'forbidden = ["a"]\n[[max_calls]]\ntool = "b"\ncount = 2'),
    ],
)
def test_a_policy_means_the_same_in_every_format(put, name, text):
    policy = load_policy(put(name, text))
    assert policy.forbidden == ("a",)
    assert [(rule.tool, rule.count, rule.severity) for rule in policy.max_calls] == [("b", 2, "MEDIUM")]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("p.toml", 'forbiden = ["a"]', "p.toml:1:1 at forbiden: unknown field `forbiden`; did you mean `forbidden`?"),
        ("p.toml", '[[requires]]\ntool = "a"\nbefor = ["b"]', "p.toml:3:1 at requires[0].befor"),
        ("p.yaml", "forbidden: [a\n", "p.yaml:"),
        ("p.yaml", "forbidden: !!python/name:os.system []", "outside the safe subset"),
        ("p.yaml", "a: &x [1]\nb: *x", "outside the safe subset"),
        ("p.yaml", b"forbidden: [\xff]", "p.yaml: not UTF-8 at byte 12"),
        ("p.json", "{", "p.json:1:"),
        ("p.json", '{"forbidden": NaN}', "p.json:1:"),
        ("p.json", "[1]", "p.json"),
        ("p.json", '"text"', "p.json"),
        ("p.yaml", "[a, b]", "p.yaml"),
        ("p.toml", "forbidden = 3", "p.toml:1:13 at forbidden: must be a list of texts, got 3"),
        ("p.json", '{"max_calls": [{"tool": "a", "count": "many"}]}', "at max_calls[0].count"),
    ],
)
def test_a_policy_that_cannot_be_used(put, name, text, said):
    with pytest.raises(ConfigError) as error:
        load_policy(put(name, text))
    assert said in str(error.value)
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("name", ["none.toml", "none.yaml", "none.json"])
def test_a_policy_that_is_missing(put, tmp_path, name):
    with pytest.raises(ConfigError, match=r"none\.\w+: .*check the path"):
        load_policy(tmp_path / name)

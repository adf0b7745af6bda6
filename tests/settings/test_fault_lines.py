"""Every kind of fault of a settings file, with the very line that a person reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rightcall.errors import ConfigError
from rightcall.settings.faults import SettingsError
from rightcall.settings.load import load_settings

LINES = [
    (
        'version = 1\n[golden]\nprofle = "strict"',
        "3:1 at golden.profle: unknown field `profle`; did you mean `profile`?",
    ),
    (
        'tracs = "a"',
        "1:1 at tracs: unknown field `tracs`; did you mean `traces`?",
    ),
    (
        "[limits]\nfrobnicate = 1",
        "2:1 at limits.frobnicate: unknown field `frobnicate`; known here: conflicts, coverage, failures, jobs",
    ),
    (
        '[limits]\njobs = "two"',
        '2:8 at limits.jobs: must be a whole number of at least 1, got "two"',
    ),
    (
        "[limits]\njobs = 1.5",
        "2:8 at limits.jobs: must be a whole number of at least 1, got 1.5",
    ),
    (
        "[limits]\njobs = true",
        "2:8 at limits.jobs: must be a whole number of at least 1, got true",
    ),
    (
        "[limits]\njobs = 0",
        "2:8 at limits.jobs: must be at least 1, got 0",
    ),
    (
        "[limits]\ncoverage = 98",
        "2:12 at limits.coverage: must be from 0 to 1, got 98",
    ),
    (
        "[interpretation]\nstrong_share = 0",
        "2:16 at interpretation.strong_share: must be above 0 and at most 1, got 0",
    ),
    (
        '[golden]\nretries = "surpluss"',
        "2:11 at golden.retries: must be 'free' or 'surplus', got \"surpluss\"; did you mean `surplus`?",
    ),
    (
        "version = 2",
        "1:11 at version: must be 1, got 2",
    ),
    (
        "traces = 3",
        "1:10 at traces: must be a text or a list of texts, got 3",
    ),
    (
        'traces = [\n  "a",\n  1,\n]',
        "3:3 at traces[1]: must be a text, got 1",
    ),
    (
        "traces = 2026-01-02",
        "1:10 at traces: no setting is a date or a time, got 2026-01-02; write it in quotes if it is meant as a text",
    ),
    (
        "[golden]\nmin_overall = nan",
        "2:15 at golden.min_overall: must be a finite number, got nan",
    ),
    (
        "golden = 3",
        "1:10 at golden: must be a table, got 3",
    ),
    (
        'policy = "policy.toml"',
        '1:10 at policy: must be a table, got "policy.toml"; its keys stand in the settings themselves, under [policy]',
    ),
    (
        "golden.profile = 3",
        "1:18 at golden.profile: must be a text, got 3",
    ),
    (
        '[golden]\n"profile" = 3',
        "2:13 at golden.profile: must be a text, got 3",
    ),
    (
        '[golden]\nprofile = "strikt"',
        "2:11 at golden.profile: unknown profile `strikt`; did you mean `strict`?",
    ),
    (
        'dialect = "openai_chatt"',
        "1:11 at dialect: unknown dialect `openai_chatt`; did you mean `openai_chat`?",
    ),
    (
        '[[policy.requires]]\ntool = "a"\nbefore = ["b"]\n[[policy.requires]]\ntool = "c"',
        "4:10 at policy.requires[1].before: field `before` is missing; add it",
    ),
    (
        '[policy]\nclasses = { a = "read", b = "rad" }',
        "2:29 at policy.classes.b: must be 'read', 'write', 'destructive' or 'unknown', got \"rad\"; did you mean `read`?",
    ),
    (
        '[policy]\nmax_calls = [{ tool = "a", count = 1 }, { tool = "b", count = -1 }]',
        "2:63 at policy.max_calls[1].count: must be at least 0, got -1",
    ),
    (
        '[[policy.when]]\ntool = "a"\narguments = { type = "objekt" }',
        "3:13 at policy.when[0].arguments: `when` is not a valid JSON Schema: \"objekt\" is not valid under any of the schemas listed in the 'anyOf' keyword",
    ),
    (
        '[[policy.confirm]]\ntool = "a"\nyes = ["ja", "("]',
        "3:14 at policy.confirm[0].yes[1]: pattern '(' is not supported by the linear-time engine: missing ): (; look-around and back-references cannot be used; split the rule or use another matcher",
    ),
    (
        '[redact]\npatterns = ["a+", "(?<=x)y"]',
        "2:19 at redact.patterns[1]: The redaction pattern '(?<=x)y' is not valid RE2: b'invalid perl operator: (?<='",
    ),
    (
        '[judges.fast]\nmodel = "small"\n[rubric]\njudge = "fsat"',
        "4:9 at rubric.judge: there is no judge `fsat`; did you mean `fast`?",
    ),
    (
        '[judges.fast]\nmodel = "small"\n[preference]\nsecond_judge = "auto, fats"',
        "4:16 at preference.second_judge: there is no judge `fats`; did you mean `fast`?",
    ),
    (
        '[rubric]\njudge = "fast"',
        "2:9 at rubric.judge: there is no judge `fast`; no [judges.NAME] is configured; or write auto, none or provider:model",
    ),
    (
        '[judges.fast]\nmodel = "small"\nmax_tokens = 0',
        "3:14 at judges.fast.max_tokens: must be at least 1, got 0",
    ),
    (
        '[judges.fast]\ntimeout = "60s"',
        '2:11 at judges.fast.timeout: must be a number above 0, got "60s"',
    ),
    (
        '[judges.fast]\nprovider = "opnai"',
        "2:12 at judges.fast.provider: must be 'openai', 'anthropic', 'ollama', 'command', 'recorded' or 'scripted', got \"opnai\"; did you mean `openai`?",
    ),
    (
        "[judges.fast]\nprice = { input = 1 }",
        "2:9 at judges.fast.price.output: field `output` is missing; add it",
    ),
    (
        "[judges.fast]\nprice = { input = 1, output = -1 }",
        "2:31 at judges.fast.price.output: must be at least 0, got -1",
    ),
    (
        '[judges."my judge"]\nmodle = "x"',
        '2:1 at judges."my judge".modle: unknown field `modle`; did you mean `model`?',
    ),
    (
        '[judges.fast]\napi_key = "abcdef"',
        '2:1 at judges.fast.api_key: a secret does not belong into a file; put it into an environment variable, and name that: api_key_env = "JUDGE_KEY"',
    ),
    (
        '[judges.fast]\napi_key_env = "sk-aaaaaaaaaaaaaaaaaaaaaaaa"',
        '2:15 at judges.fast.api_key_env: this is no name of an environment variable; write the name of the variable that holds the key, as in api_key_env = "JUDGE_KEY"',
    ),
    (
        '[judges.fast.headers]\nAuthorization = "Bearer abcdefgh12345"\nX-Team = "blue"',
        '2:17 at judges.fast.headers.Authorization: a credential does not belong into a file; put the value into an environment variable, and name that: "$JUDGE_HEADER"',
    ),
    (
        '[judges.fast]\nbase_url = "https://h/v1?api-key=123456"',
        '2:12 at judges.fast.base_url: a credential in an address does not belong into a file; put it into an environment variable: `api_key_env`, or `headers` with a value "$NAME"',
    ),
    (
        '[judges.fast]\nproxy = "http://u:pw12345@proxy:8080"',
        '2:9 at judges.fast.proxy: a credential in an address does not belong into a file; put the address into an environment variable, and name that: "$JUDGE_PROXY"',
    ),
    (
        'store = "postgresql://me:hunter22@db/x"',
        "1:9 at store: this looks like a password in a URL, which does not belong into a file; leave the password out and set PGPASSWORD, or give the whole URL in RIGHTCALL_STORE",
    ),
    (
        '[aliases]\n"a.b" = 3',
        '2:9 at aliases."a.b": must be a text, got 3',
    ),
    (
        '[review]\npeople = { dana = ["reviewr"] }',
        "2:20 at review.people.dana[0]: must be 'reviewer', 'adjudicator' or 'signer', got \"reviewr\"; did you mean `reviewer`?",
    ),
    (
        '[redact]\nkeys = "password"',
        '2:8 at redact.keys: must be a list of texts, got "password"',
    ),
    (
        "traces = ",
        "1:9: not valid TOML: Invalid value",
    ),
    (
        "a = 1\na = 2\n",
        "2:6: not valid TOML: Cannot overwrite a value",
    ),
    (
        "a = 1\n[x\n",
        "2:3: not valid TOML: Expected ']' at the end of a table declaration",
    ),
    (
        '[golden]\nprofle = 1\nretries = "x"\n[limits]\njobs = 0\nfailures = -1\n',
        "2:1 at golden.profle: unknown field `profle`; did you mean `profile`? (and 3 more: 3:11 at golden.retries: must be 'free' or 'surplus', got \"x\"; 5:8 at limits.jobs: must be at least 1, got 0; 6:12 at limits.failures: must be at least 0, got -1)",
    ),
    (
        "calibrate = { test_share = 2 }",
        "1:28 at calibrate.test_share: must be from 0 to 1, got 2",
    ),
    (
        '[rubric]\njudge = ""',
        "2:9 at rubric.judge: a judge needs a name; no [judges.NAME] is configured; or write auto, none or provider:model",
    ),
]


@pytest.mark.parametrize(("text", "line"), LINES)
def test_a_fault_has_its_line_its_column_its_key_and_what_is_allowed(put, text, line):
    put("r.toml", text)
    assert refused("r.toml") == f"r.toml:{line} [CONFIG_INVALID]"


def test_at_least_twenty_five_kinds_are_told():
    assert len({re.sub(r"`[^`]*`|\"[^\"]*\"|\d+", "", line.partition(": ")[2]) for _, line in LINES}) >= 25


def refused(file: str) -> str:
    with pytest.raises(ConfigError) as error:
        load_settings(Path(file), {}, {})
    return str(error.value)


@pytest.mark.parametrize(
    "text", [text for text, _ in LINES if "\n[" not in text and text.startswith("[") and "[[" not in text]
)
def test_a_fault_in_pyproject_toml_has_its_place_there(put, text):
    table, _, rest = text.partition("\n")
    put("r.toml", f"{table}\n{rest}")
    put("pyproject.toml", f'[project]\nname = "x"\n[tool.rightcall.{table[1:]}\n{rest}')
    of_file, of_project = refused("r.toml"), refused("pyproject.toml")
    number = int(re.match(r"r\.toml:(\d+)", of_file)[1])
    assert of_project == re.sub(r"^r\.toml:\d+", f"pyproject.toml:{number + 2}", of_file)


# ---- several at once -------------------------------------------------------------------------------------------------

MANY = """\
tracs = 1
[golden]
profle = "strict"
[judges.a]
max_tokens = 0
api_key = "abc"
[judges.b]
max_tokens = 0
"""


def test_all_faults_are_told_the_first_in_full_and_each_is_an_error_of_its_own(put):
    put("r.toml", MANY)
    with pytest.raises(SettingsError) as error:
        load_settings(Path("r.toml"), {}, {})
    faults = error.value.faults
    assert [(fault.place.line, fault.place.column, fault.place.path) for fault in faults] == [
        (1, 1, "tracs"), (3, 1, "golden.profle"), (5, 14, "judges.a.max_tokens"), (6, 1, "judges.a.api_key"),
        (8, 14, "judges.b.max_tokens"),
    ]  # fmt: skip
    said = str(error.value)
    assert said.startswith("r.toml:1:1 at tracs: unknown field `tracs`; did you mean `traces`? (and 4 more: 3:1 at ")
    assert all(fault.message in said for fault in faults)
    assert len(said.splitlines()) == 1


def test_the_same_key_in_several_tables_is_found_in_the_right_one(put):
    put(
        "r.toml", "[judges.a]\nmax_tokens = 5\n[judges.b]\n# max_tokens = 0\nmax_tokens = 0\n[judges.c]\nmax_tokens = 7"
    )
    assert refused("r.toml").startswith("r.toml:5:14 at judges.b.max_tokens: ")


# ---- secrets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '[judges.a]\napi_key = "{}"',
        '[judges.a]\nToken = "{}"',
        '[judges.a]\napi_key_env = "sk-{}"',
        '[judges.a]\nmodel = "sk-{}"',
        '[judges.a]\nheaders = {{ X-Api-Key = "{}" }}',
        '[judges.a]\nheaders = {{ X-Team = "Bearer {}" }}',
        '[judges.a]\nbase_url = "https://host/v1?token={}"',
        '[judges.a]\nproxy = "http://me:{}@proxy"',
        '[judges.a]\ntoken_command = ["print-token", "--password", "https://me:{}@vault"]',
        'store = "postgresql://me:{}@db/x"',
        '[aliases]\nx = "ghp_{}"',
    ],
)
def test_a_secret_in_the_file_is_refused_and_never_repeated(put, text):
    secret = "Zq7Lm2Xw9Rt4Kp8Vb3Nc6Hd1"
    put("r.toml", text.format(secret))
    said = refused("r.toml")
    assert secret not in said
    assert "environment" in said or "RIGHTCALL_STORE" in said


@pytest.mark.parametrize(
    "text",
    [
        '[judges.a]\napi_key_env = "JUDGE_KEY"\nheaders = { Authorization = "$AUTH", X-Team = "blue" }',
        '[judges.a]\nproxy = "$PROXY"\nbase_url = "https://host/v1?api-version=2026-01-01"\nmax_tokens = 9',
        'store = "postgresql://me@db/x"',
        '[redact]\npatterns = ["sk-[a-z]{20,}"]\nkeys = ["password", "token"]',
        '[aliases]\ndesk = "desk@example.org"',
        '[judges.a]\ntoken_command = ["print-token", "--for", "judge"]',
    ],
)
def test_names_of_variables_and_patterns_are_no_secrets(put, text):
    put("r.toml", text)
    assert load_settings(Path("r.toml"), {}, {}).file == Path("r.toml")


def test_a_secret_in_the_environment_is_where_it_belongs(put):
    environ = {"RIGHTCALL_STORE": "postgresql://me:hunter22@db/x"}
    assert load_settings(None, environ, {}).settings.store == environ["RIGHTCALL_STORE"]

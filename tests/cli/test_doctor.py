"""`rightcall doctor`: a line a check, what to do, and the exit code that the worst of it means."""

from __future__ import annotations

import json
import sqlite3
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from desk_suite import DESK, copy_desk

from rightcall.store.store import Store
from rightcall.testing.server import FaultyServer

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST", "RIGHTCALL_JUDGE_MODEL")


@pytest.fixture(autouse=True)
def no_judge_of_the_person(monkeypatch):
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def doctor(rightcall):
    """Run it; the lines by what was looked at, and the exit code."""

    def run(*tokens: str):
        said = rightcall("doctor", *tokens)
        lines: dict[str, str] = {}
        for line in said.out.splitlines():
            status, _, rest = line.partition(" ")
            what, _, detail = rest.strip().partition("  ")
            lines.setdefault(what, f"{status} {detail.strip()}")
        assert f"exit {said.code}" in said.err
        assert "Traceback" not in said.err
        return lines, said

    return run


def test_an_empty_folder_is_told_what_comes_first(doctor, tmp_path):
    lines, said = doctor()
    assert lines["settings"].startswith(
        "warn no rightcall.toml and no [tool.rightcall] in this folder  → `rightcall demo`"
    )
    assert "rightcall init TRACES" in lines["settings"]
    assert said.code == 0
    assert list(tmp_path.iterdir()) == []


def test_a_sound_suite_is_ok_line_by_line_and_nothing_is_made(doctor, tmp_path):
    copy_desk(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    lines, said = doctor("-c", DESK)
    assert sorted(tmp_path.rglob("*")) == before
    assert lines["traces"] == "ok 10 traces in 1 file, 5.0 kB, native"
    assert lines["cases"] == "ok 10 cases in 1 file"
    assert lines["joining"] == "ok 10 of 10 traces belong to a case"
    assert lines["lint"] == "ok 0 errors, 0 warnings"
    assert lines["judge desk"].startswith("ok recorded, ")
    assert "not there yet; the first run that is kept makes it" in lines["store"]
    assert {"disk", "clock", "redaction", "extras", "prompts", "policy", "tools"} <= lines.keys()
    assert said.code == 0


def test_the_json_twin_says_the_same(rightcall, tmp_path):
    copy_desk(tmp_path)
    text, value = rightcall("doctor", "-c", DESK), rightcall("doctor", "-c", DESK, "--json")
    assert value.json["exit_code"] == value.code == text.code == 0
    assert len(value.json["checks"]) == len(text.out.splitlines())
    assert all(check["status"] in ("ok", "warn", "fail") and check["what"] for check in value.json["checks"])


def test_every_fault_of_the_settings_is_a_line(doctor, write):
    write("rightcall.toml", '[golden]\nprofle = "x"\nretries = "y"')
    _, said = doctor()
    assert [line for line in said.out.splitlines() if line.startswith("fail")] == [
        "fail  settings     rightcall.toml:2:1 at golden.profle: unknown field `profle`  → did you mean `profile`?",
        "fail  settings     rightcall.toml:3:11 at golden.retries: must be 'free' or 'surplus', got \"y\"",
    ]
    assert "files, judges and store were not looked at" in said.out
    assert said.code == 2


@pytest.mark.parametrize(
    ("settings", "what", "start", "code"),
    [
        ('traces = "nowhere/*.jsonl"', "traces", "fail rightcall.toml:1:10 at traces: no file matches `nowhere/*.jsonl`", 2),
        ('traces = "nowhere.jsonl"', "traces", "fail nowhere.jsonl: ", 2),
        ('traces = "empty.jsonl"', "traces", "fail ", 5),
        ('traces = "traces.jsonl"\ncases = "nowhere.toml"', "cases", "fail nowhere.toml: ", 2),
        ('cases = "cases.jsonl"', "traces", "warn none are named", 0),
        ('traces = "traces.jsonl"', "cases", "warn none are named", 0),
        ('tools = "nowhere.json"', "tools", "fail nowhere.json: ", 2),
        ('[rubric]\nprompt = "rubrik"', "prompts", "fail rightcall.toml:2:10 at rubric.prompt: no prompt is called", 2),
        ('[rubric]\nprompt = "selection"', "prompts", "fail rightcall.toml:2:10 at rubric.prompt: prompt `selection`", 2),
        ("[limits]\njobs = 2", "gates", "warn no rule on figures: `rightcall gate` asks for coverage, vetoes and open CRITICALs alone", 0),
        ('[gates]\n"golden.safety" = { max = 0 }', "gates", "ok 1 rule: golden.safety", 0),
        ('[gates]\nregressions = { against = "old.json" }', "gates", "warn 1 rule: regressions; the baseline old.json is not", 0),
        ('[policy]\nguessed = ["a"]\nclasses = { a = "read" }', "policy", "warn 0 rules, 1 class of tools, 1 of them guessed", 0),
        ('[judges.a]\nmodel = "m"\n[rubric]\njudge = "a"', "judge a", "fail no credential for api.openai.com: OPENAI_API_KEY", 5),
        ('[judges.a]\nmodel = "m"\n[rubric]\njudge = "none"', "judge a",
         "warn no credential for api.openai.com: OPENAI_API_KEY is not set (no grader asks it)", 0),
        ('[judges.a]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"', "judge a", "fail 127.0.0.1:9 cannot be reached: ", 5),
        ('[judges.a]\nprovider = "command"\ncommand = ["no-such-program"]', "judge a", "fail there is no program", 2),
        ('[judges.a]\nprovider = "command"\ncommand = ["sh"]', "judge a", "ok program sh; not started", 0),
        ('[judges.a]\nprovider = "recorded"\nfile = "nowhere.jsonl"', "judge a", "fail nowhere.jsonl: ", 2),
        ('[judges.a]\nprovider = "recorded"\nfile = "broken.jsonl"', "judge a", "fail broken.jsonl:1", 2),
        ('[judges.a]\nprovider = "anthropic"\nmodel = "m"', "judge a", "fail no credential for api.anthropic.com", 5),
        ('[judges.a]\nmodel = "m"\n[judges.b]\nmodel = "m"\n[rubric]\nprompt = "rubric"', "judges",
         "warn rubric.judge = auto: several judges are configured", 0),
        ('store = "cases.jsonl"', "store", "fail cases.jsonl: the file is no SQLite database", 5),
        ('store = "postgresql://me@127.0.0.1:9/x"', "store", "fail postgresql://me@127.0.0.1:9/x: the database server", 5),
    ],
)  # fmt: skip
def test_what_is_not_well_has_a_line_and_an_exit_code(doctor, suite, write, settings, what, start, code):
    write("empty.jsonl")
    write("broken.jsonl", "{")
    write("rightcall.toml", settings)
    lines, said = doctor()
    assert lines[what].startswith(start), lines
    assert said.code == code, said.out


def test_what_cannot_be_joined_is_told(doctor, write):
    write("rightcall.toml", 'traces = "t.jsonl"\ncases = "c.jsonl"')
    write("c.jsonl", *({"id": name, "expect": {"calls": []}} for name in ("a", "b")))
    write("t.jsonl", {"id": "t", "case_id": "a", "calls": []}, {"id": "u", "case_id": "x", "calls": []})
    lines, _ = doctor()
    assert lines["joining"].startswith("warn 1 of 2 traces belong to a case; 1 case without a trace: b  → ")
    write("t.jsonl", {"id": "t", "case_id": "y", "calls": []})
    lines, said = doctor()
    assert lines["joining"].startswith("warn 0 of 1 trace belong to a case  → the `case_id`")
    assert said.code == 0


def test_only_the_first_thousand_traces_are_read(doctor, write):
    write("rightcall.toml", 'traces = "t.jsonl"\ncases = "c.jsonl"')
    write("c.jsonl", {"id": "a", "expect": {"calls": []}}, {"id": "b", "expect": {"calls": []}})
    write("t.jsonl", *({"id": f"t{n}", "case_id": "a", "calls": []} for n in range(1001)))
    lines, _ = doctor()
    assert lines["traces"].startswith("ok the first 1,000 traces of more in 1 file")
    assert lines["joining"] == "ok 1000 of 1,000 traces belong to a case"


def test_a_file_of_steps_is_one_for_selection(doctor, write):
    write("rightcall.toml", 'traces = "steps.jsonl"')
    write("steps.jsonl", {"id": "s", "request": "r", "tools": [{"name": "a"}], "selected": "a", "expected": "a"})
    lines, said = doctor()
    assert lines["traces"] == "ok 1 step in 1 file, for `selection`"
    assert said.code == 0


# ---- judges ----------------------------------------------------------------------------------------------------------


def judge_at(url: str, **more: str) -> str:
    table = {"model": "faulty-model", "base_url": url, **more}
    return "[judges.a]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())


def test_an_endpoint_is_asked_once_for_its_models_and_no_question(doctor, write):
    with FaultyServer(api_key="right-key-1234") as server:
        write("rightcall.toml", judge_at(server.base_url))
        lines, said = doctor()
        assert lines["judge a"].startswith(
            f"fail 127.0.0.1:{server.url.rpartition(':')[2]} refuses the credential (HTTP 401)"
        )
        assert said.code == 5
        assert server.requests == []


def test_a_judge_that_answers_is_ok_and_its_key_is_never_shown(doctor, write, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "right-key-1234")
    with FaultyServer(api_key="right-key-1234") as server:
        write("rightcall.toml", judge_at(server.base_url, api_key_env="JUDGE_KEY"))
        lines, said = doctor()
        assert "key from JUDGE_KEY; answers, and has this model" in lines["judge a"]
        assert lines["judge a"].startswith("ok openai faulty-model at 127.0.0.1:")
        write("rightcall.toml", judge_at(server.base_url, api_key_env="JUDGE_KEY", model="fauly-model"))
        lines, _ = doctor()
        assert lines["judge a"].endswith("does not list this model  → did you mean `faulty-model`?")
        assert "right-key" not in said.out + said.err
        assert server.requests == []


def test_offline_no_endpoint_is_looked_at(doctor, write):
    write("rightcall.toml", judge_at("http://127.0.0.1:9/v1"))
    lines, said = doctor("--offline")
    assert lines["judge a"] == "ok openai faulty-model at 127.0.0.1:9, no key; not looked for (--offline)"
    assert said.code == 0


@pytest.fixture
def endpoint():
    """Return a function that serves one answer to every GET; the headers that came are kept."""
    servers = []

    def serve(status: int, body: object):
        seen: list[tuple[str, dict[str, str]]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                seen.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}", seen

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("provider", "status", "body", "path", "start", "code"),
    [
        ("openai", 404, {}, "/models", "ok openai m at 127.0.0.1:{port}, no key; answers, and has no list of models (HTTP 404)", 0),
        ("openai", 200, [], "/models", "ok openai m at 127.0.0.1:{port}, no key; answers, and has no list of models (HTTP 200)", 0),
        ("openai", 503, {}, "/models", "fail 127.0.0.1:{port} fails on its side (HTTP 503)", 5),
        ("openai", 403, {}, "/models", "fail 127.0.0.1:{port} refuses the credential (HTTP 403)", 5),
        ("anthropic", 200, {"data": [{"id": "m"}]}, "/v1/models", "ok anthropic m at 127.0.0.1:{port}, no key; answers, and has this", 0),
        ("ollama", 200, {"models": [{"name": "m:latest"}]}, "/api/tags", "ok ollama m at 127.0.0.1:{port}, no key; answers, and has this", 0),
        ("ollama", 200, {"models": []}, "/api/tags", "warn ollama m at 127.0.0.1:{port}, no key; answers, and does not list", 0),
    ],
)  # fmt: skip
def test_each_provider_is_asked_in_its_own_way(doctor, write, endpoint, provider, status, body, path, start, code):
    url, seen = endpoint(status, body)
    write("rightcall.toml", judge_at(url, provider=provider, model="m"))
    lines, said = doctor()
    assert lines["judge a"].startswith(start.format(port=url.rpartition(":")[2])), lines["judge a"]
    assert [where for where, _ in seen] == [path]
    assert said.code == code


def test_a_key_goes_where_the_provider_wants_it(doctor, write, endpoint, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "right-key-1234")
    url, seen = endpoint(200, {"data": [{"id": "m"}]})
    for provider in ("openai", "anthropic"):
        write("rightcall.toml", judge_at(url, provider=provider, model="m", api_key_env="JUDGE_KEY"))
        doctor()
    write("rightcall.toml", judge_at(url, model="m") + 'token_command = ["echo", "token-1234"]')
    lines, _ = doctor()
    write("rightcall.toml", judge_at(url, model="m") + 'headers = { Authorization = "$JUDGE_KEY" }')
    doctor()
    headers = [each for _, each in seen]
    assert headers[0]["authorization"] == "Bearer right-key-1234"
    assert (headers[1]["x-api-key"], headers[1].get("authorization")) == ("right-key-1234", None)
    assert headers[2]["authorization"] == "Bearer token-1234"
    assert headers[3]["authorization"] == "right-key-1234"
    assert "token from echo" in lines["judge a"]


# ---- the record ------------------------------------------------------------------------------------------------------


def test_a_store_is_opened_counted_and_left_as_it_is(doctor, write, suite, store_url, monkeypatch):
    monkeypatch.setenv("RIGHTCALL_STORE", store_url)
    write("rightcall.toml", "version = 1")
    with Store.open(store_url) as store:
        store.new_run("golden", "20261129", "2026-11-29T10:00:00+00:00", {})
        head = store.head()
    lines, said = doctor()
    assert lines["store"].startswith("ok ")
    assert f"1 run, 1 entry, head {head.hash[:12]}" in lines["store"]
    assert lines["store"].endswith("can be written")
    assert "newest entry 20" in lines["clock"]
    assert said.code == 0
    with Store.open(store_url) as store:
        assert store.head() == head


def test_a_store_of_another_revision_is_not_brought_up_to_date(doctor, write, tmp_path):
    write("rightcall.toml", 'store = "s.db"')
    Store.open("s.db").close()
    with sqlite3.connect("s.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
    lines, said = doctor()
    assert lines["store"].startswith("warn s.db: revision 0001, this rightcall has ")
    with sqlite3.connect("s.db") as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("0001",)]
    assert said.code == 0


def test_a_store_that_another_process_holds_can_still_be_looked_at(doctor, write, monkeypatch):
    monkeypatch.setattr("rightcall.run.checkup.store.WAIT", 0.05)
    write("rightcall.toml", 'store = "s.db"')
    with Store.open("s.db") as store:
        store.new_run("golden", "20261129", "2026-11-29T10:00:00+00:00", {})
    holder = sqlite3.connect("s.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    lines, said = doctor()
    holder.close()
    assert lines["store"].startswith("warn s.db: ")
    assert "another process holds the store" in lines["store"]
    assert said.code == 0


def test_a_clock_that_is_behind_the_newest_entry_is_told(doctor, write, monkeypatch):
    write("rightcall.toml", 'store = "s.db"')
    with Store.open("s.db") as store:
        store.new_run("golden", "20261129", "2026-11-29T10:00:00+00:00", {})
    monkeypatch.setattr("rightcall.run.judging.clock.now", lambda: "2001-01-01T00:00:00.000+00:00")
    lines, said = doctor()
    assert lines["clock"].startswith("warn 2001-01-01 00:00:00 UTC, ")
    assert lines["clock"].endswith("before the newest entry of the store  → set the clock of this machine")
    assert said.code == 0


def test_a_key_that_is_gone_or_open_to_all_is_told(doctor, write, tmp_path, monkeypatch):
    monkeypatch.delenv("RIGHTCALL_REDACTION_KEY")
    write("rightcall.toml", 'store = "s.db"')
    assert doctor()[0]["redaction"] == "ok no key yet; the first run that is kept makes one"
    with Store.open("s.db") as store:
        store.new_run("golden", "20261129", "2026-11-29T10:00:00+00:00", {})
    assert doctor()[0]["redaction"].startswith("warn the key of the store is gone")
    key = write("redaction.key", "secret-of-the-store")
    key.chmod(0o644)
    assert doctor()[0]["redaction"] == "warn others may read the key redaction.key  → chmod 600 redaction.key"
    key.chmod(0o600)
    lines, said = doctor()
    assert lines["redaction"] == "ok key in redaction.key"
    assert "secret-of-the-store" not in said.out


def test_what_must_not_leave_is_hidden_in_every_line(doctor, write):
    write("rightcall.toml", 'traces = "t.jsonl"\ncases = "c.jsonl"\n[redact]\npatterns = ["CARD-[0-9]+"]')
    write("c.jsonl", {"id": "CARD-1234", "expect": {"calls": []}}, {"id": "b", "expect": {"calls": []}})
    write("t.jsonl", {"id": "t", "case_id": "b", "calls": []})
    lines, said = doctor()
    assert "1 case without a trace: ⟦" in lines["joining"]
    assert "CARD-1234" not in said.out


# ---- the settings that are in force ----------------------------------------------------------------------------------


def test_every_setting_is_printed_with_its_value_and_origin(rightcall, write, monkeypatch):
    write("rightcall.toml", '[golden]\nprofile = "strict"\n[judges.a]\nmodel = "m"\nheaders = { X-Team = "blue" }')
    monkeypatch.setenv("RIGHTCALL_LIMITS__JOBS", "3")
    said = rightcall("doctor", "--effective", "--store", "postgresql://me:hunter22@db/x")
    lines = {line.partition(" = ")[0]: line for line in said.out.splitlines()}
    assert lines["golden.profile"].split("  # ") == [
        f"{'golden.profile = ' + json.dumps('strict'):<60}",
        "rightcall.toml:2",
    ]
    assert lines["limits.jobs"].endswith("# RIGHTCALL_LIMITS__JOBS")
    assert lines["store"].startswith('store = "postgresql://me@db/x"')
    assert lines["store"].endswith("# flag")
    assert lines["golden.retries"].endswith("# default")
    assert lines["judges.a.headers.X-Team"].startswith("judges.a.headers.X-Team = (not shown)")
    assert "hunter22" not in said.out
    assert "blue" not in said.out
    assert said.code == 0
    value = rightcall("doctor", "--effective", "--json").json
    assert {"key": "golden.profile", "value": "strict", "origin": "file", "where": "rightcall.toml:2"} in value[
        "settings"
    ]
    assert len(value["settings"]) == len(lines)


def test_settings_that_cannot_be_used_are_not_printed(rightcall, write):
    write("rightcall.toml", "limits.jobs = 0")
    said = rightcall("doctor", "--effective")
    assert (said.code, said.out) == (2, "")
    assert "rightcall.toml:1:15 at limits.jobs: must be at least 1, got 0" in said.err

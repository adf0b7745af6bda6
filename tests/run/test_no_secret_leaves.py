"""Secrets of traces, cases, configuration and endpoints are in nothing that is stored, shown, written or sent."""

import contextlib
import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judging_making import (
    Suite,
    a_judge,
    everything_in,
    results,
    rubric_says,
    run_with,
    said,
    scripted,
    selection_says,
    step,
    trace,
)

from rightcall.errors import Unavailable
from rightcall.llm.client import Answer
from rightcall.store.store import Store

# The SDK's way to a proxy uses a function that its HTTP library will drop.
pytestmark = pytest.mark.filterwarnings("ignore:.*(BasicAuth|proxy_auth).*deprecated:DeprecationWarning")

SECRETS = {
    "api key": ("sk-proj-Vb81kQz73LmNpXw5Rt2Yc9Dg", "Vb81kQz73"),
    "bearer": ("Bearer zq81.wkKd-7733-plmOkn", "wkKd-7733"),
    "card": ("4000056655665556", "0566556655"),
    "spaced card": ("5555 5555 5555 4444", "5555 5555 55"),
    "mail": ("mara.velasquez77@mail.example", "velasquez77"),
    "url": ("postgresql://app:tulip-meadow-61@db.example/orders", "meadow-61"),
    "assigned": ("the password: corduroy-lantern-9", "corduroy-lantern"),
}
"""Name -> the secret as it is planted, and the part of it that must be nowhere. All are invented."""
UNDER_A_KEY = ("marble-harbour-3", "marble-harbour")
"""Looks like nothing; it is a secret by the name of its key."""
OWN = {
    "TEAM_KEY": "willow-granite-key-41",
    "TEAM_HEADER": "cobalt-orchard-header-17",
    "TEAM_PROXY": "http://me:saffron-pebble-29@{}",
}
"""The judge's own: none of them has a shape."""
OWN_CORES = ("willow-granite", "cobalt-orchard", "saffron-pebble", "bWU6c2FmZnJvbi1wZWJibGUt")
"""The last is the proxy's password as HTTP's basic scheme writes it."""
TOLD = {
    "card": ("378282246310005", "82246310"),
    "api key": ("sk-ant-api03-Uy77Tr55Ew33Qa11Zx99", "Tr55Ew33"),
    "mail": ("ilse.brandt42@post.example", "brandt42"),
}
"""What the endpoint says: it has met other secrets than those of the trace."""
ALL_CORES = [core for _, core in (*SECRETS.values(), *TOLD.values(), UNDER_A_KEY)] + list(OWN_CORES)

PLANTED = " and ".join(secret for secret, _ in SECRETS.values())
SPOKEN = " and ".join(secret for secret, _ in TOLD.values())


def found_in(text, cores):
    """The secrets that stand in a text, also where a terminal has broken its lines."""
    joined = re.sub(r"\s+", "", text)
    return {core for core in cores if core in text or core.replace(" ", "") in joined}


# ---- an endpoint that says too much ----------------------------------------------------------------------------------


@contextlib.contextmanager
def talkative(replies):
    """A server that echoes what it is sent; gives its address and, later, every request as text without credentials."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            mine = ("authorization", "proxy-authorization", "x-team")
            shown = [f"{name}: {value}" for name, value in self.headers.items() if name.lower() not in mine]
            seen.append("\n".join([*shown, body.decode()]))
            asked = json.loads(body)
            heard = [f"{name}: {value}" for name, value in self.headers.items()]
            bare = [value.split()[-1] for value in self.headers.values()]
            status, answer = replies(asked, " ".join(["I was sent", *bare, *heard]))
            sent = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.send_header("x-request-id", f"r-{TOLD['mail'][0]}")
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def completed(text, model="judge", **message):
    choice = {"index": 0, "finish_reason": f"stop {TOLD['card'][0]}", "message": {"content": text, **message}}
    usage = {"prompt_tokens": 9000, "completion_tokens": 90}
    return 200, {"id": "x", "model": model, "choices": [choice], "usage": usage}


class Replies:
    """What the endpoint says, by the word in the case that asks for it."""

    def __init__(self):
        self.limited = False

    def __call__(self, asked, headers):
        user = asked["messages"][-1]["content"]
        is_rubric = "misuse" in json.dumps(asked)
        leak = f"{SPOKEN} {headers}"
        own = {"justification": dict.fromkeys(("tool_selection", "argument_accuracy", "call_sequencing"), leak)}
        good = (
            rubric_says(5, downstream_impact=leak, **own)
            if is_rubric
            else selection_says(justification=leak, note=leak)
        )
        good = json.dumps({**json.loads(good), TOLD["card"][0]: leak})
        if "wrong-model" in user:
            return completed(good, f"other {leak}")
        if "will-refuse" in user:
            return completed(None, refusal=f"I will not judge {leak}")
        if "will-talk" in user:
            return completed(f"Well: {leak}")
        if "bad-value" in user:
            return completed(good.replace('"NONE"' if is_rubric else '"PASS"', json.dumps(leak)))
        if "bad-name" in user:
            score = {"call_id": "c1", "tool_name": leak, "score": 3, "reason": leak}
            names = {"tool_call_evaluations": [score]} if is_rubric else {"selected_tool": leak, "expected_tool": leak}
            return completed(json.dumps(json.loads(good) | names))
        if "not-here" in user:
            return 404, {"error": {"message": f"no model for {leak}", "type": leak, "param": leak, "code": leak}}
        if "will-limit" in user and not self.limited:
            self.limited = True
            return 500, {"error": {"message": f"slow down, {leak}"}}
        return completed(good)


WORDS = ("all-well", "wrong-model", "will-refuse", "will-talk", "bad-value", "bad-name", "not-here", "will-limit")


# ---- inputs that hold too much ---------------------------------------------------------------------------------------


def catalog(text):
    return [
        {"name": "freeze_card", "description": f"Freezes a card. Ask {text}.", "parameters": {
            "type": "object", "properties": {"card": {"type": "string", "default": SECRETS["card"][0], "description": text}}}},
        {"name": "cancel_card", "description": "Cancels a card."},
    ]  # fmt: skip


def context(text):
    event = {"type": "call", "id": "c0", "tool": "look", "arguments": {"q": text, "password": UNDER_A_KEY[0]}}
    said_before = {"type": "message", "role": "user", "text": text}
    result = {"content": {"headers": {"Authorization": SECRETS["bearer"][0], "token": UNDER_A_KEY[0]}, "body": text}}
    return {"system": text, "history": [said_before, {**event, "result": result}], "state": {"api_key": UNDER_A_KEY[0]}}


def hostile_steps(text):
    for word in WORDS:
        yield step(
            f"{word} {SECRETS['mail'][0]}", request=f"{word}: {text}", tools=catalog(text), context=context(text)
        )


def hostile_traces(text):
    for word in WORDS:
        call = {
            "tool": "freeze_card", "arguments": {"card": SECRETS["card"][0], "password": UNDER_A_KEY[0], text: text},
            "result": {"said": text, "cookie": UNDER_A_KEY[0], "nested": json.dumps({"token": UNDER_A_KEY[0], "x": text})},
        }  # fmt: skip
        failed = {"tool": "freeze_card", "arguments": text, "error": f"failed for {text}"}
        yield trace(
            f"{word} {SECRETS['mail'][0]}", case_id=f"{word} of {SECRETS['mail'][0]}", request=f"{word}: {text}",
            tools=catalog(text), context=context(text), calls=[call, failed], metadata={"note": text},
            agent={"name": text, "model": "agent-model"},
        )  # fmt: skip


def hostile_cases(text):
    for word in WORDS:
        expected = {
            "tool": "freeze_card",
            "arguments": {"card": SECRETS["card"][0], "password": "another-" + UNDER_A_KEY[0]},
        }
        yield {
            "id": f"{word} of {SECRETS['mail'][0]}", "request": text, "tags": [text], "expect": {"calls": [expected]},
            "policy": {"requires": [{"tool": "freeze_card", "before": ["verify"], "severity": "CRITICAL"}]},
        }  # fmt: skip


# ---- the large one ---------------------------------------------------------------------------------------------------


@pytest.fixture
def configured(monkeypatch):
    """Set the judge's own secrets, with a proxy at an address."""

    def put(address):
        monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")
        for name, value in OWN.items():
            monkeypatch.setenv(name, value.format(address))
        return (
            '[judges.strong]\nmodel = "judge"\nbase_url = "http://judge.internal/v1"\napi_key_env = "TEAM_KEY"\n'
            'proxy = "$TEAM_PROXY"\nstructured = "text"\nmax_concurrency = 1\nheaders = { X-Team = "$TEAM_HEADER" }\n'
        )

    return put


FILES = ("out.json", "out.jsonl", "out.csv", "out.md")


def outputs(suite, *arguments):
    """Everything that a command prints or writes, with and without `--json`."""
    config = ["--config", str(suite.folder / "rightcall.toml")]
    texts = []
    for number, more in enumerate((["--json"], [])):
        files = [suite.folder / f"{arguments[0]}-{number}-{name}" for name in FILES]
        written = [part for file in files for part in ("-o", str(file))]
        code, out, err = said(*arguments, *config, *written, *more)
        assert code in (0, 1, 3, 4, 5), (code, err)
        texts += [out, err, *(file.read_text("utf-8") for file in files)]
        assert all(file.exists() for file in files)
    return "\n".join(texts)


def lookups(suite):
    """Everything that the commands over the record print."""
    store = ["--store", str(suite.store)]
    with Store.open(suite.store, create=False) as opened:
        entries = [str(seq) for seq, _, _ in opened.attempts()]
        runs = [run.id for run, _ in opened.runs()]
        units = sorted({verdict.unit for run in runs for verdict in opened.verdicts(run)})
        items = [name for name, _ in opened.reviews()][:20]
    commands = [["runs"], ["log", "list"], ["review", "list"], ["log", "verify"]]
    commands += [["log", "show", entry] for entry in entries]
    commands += [["show", name] for name in (*runs, *units, *items)]
    texts = []
    for command in commands:
        for more in ([], ["--json"]):
            code, out, err = said(*command, *store, *more)
            assert code == 0, (command, err)
            texts += [out, err]
    return "\n".join(texts)


@pytest.mark.slow
def test_no_secret_is_stored_shown_written_or_sent(tmp_path, configured):
    with talkative(Replies()) as (address, seen):
        suite = Suite(tmp_path, configured(address))
        steps = str(suite.write("steps.jsonl", hostile_steps(PLANTED)))
        traces = str(suite.write("traces.jsonl", hostile_traces(PLANTED)))
        cases = str(suite.write("cases.jsonl", hostile_cases(PLANTED)))
        shown = outputs(suite, "selection", steps, "--judge", "strong")
        shown += outputs(suite, "rubric", traces, "--cases", cases, "--judge", "strong")
        shown += outputs(suite, "rubric", traces, "--judge", "strong", "--no-cache")
        shown += outputs(suite, "golden", traces, "--cases", cases, "--store", str(suite.store))
        shown += lookups(suite)
    held = everything_in(suite.store).decode("utf-8", "replace")
    assert found_in(held, ALL_CORES) == set()
    assert found_in(shown, ALL_CORES) == set()
    assert found_in("\n".join(seen), ALL_CORES) == set()
    # All of it was there to be lost: every way to leave was gone, and the tags stand where secrets stood.
    assert len(seen) > 30
    statuses = {"ok", "JUDGE_UNREACHABLE", "JUDGE_REFUSAL", "JUDGE_NOT_JSON", "JUDGE_SCHEMA"}
    with Store.open(suite.store, create=False) as store:
        attempts = [one for _, _, one in store.attempts()]
        graders = {run.grader for run, _ in store.runs()}
    assert {one.status for one in attempts} >= statuses
    assert graders == {"selection", "rubric", "golden"}
    for kind in ("card", "email", "bearer", "password", "pattern"):
        assert f"⟦{kind}:" in held, kind
        assert f"⟦{kind}:" in shown, kind


def test_a_refused_credential_is_not_named_by_what_stops_the_run(tmp_path, configured):
    refused = lambda _asked, headers: (401, {"error": {"message": f"not valid: {headers}", "code": headers}})  # noqa: E731
    with talkative(refused) as (address, seen):
        suite = Suite(tmp_path, configured(address))
        steps = str(suite.write("steps.jsonl", [step()]))
        shown = outputs(suite, "selection", steps, "--judge", "strong") + lookups(suite)
    assert "refuses the credential" in shown
    assert len(seen) == 2
    assert found_in(shown + everything_in(suite.store).decode("utf-8", "replace"), OWN_CORES) == set()


def test_a_token_that_a_program_printed_is_a_secret_too(tmp_path, configured, monkeypatch):
    script = "import sys; sys.stdout.write('indigo-thicket-' + 'fresh-5')"
    (tmp_path / "token.py").write_text(script)
    with talkative(Replies()) as (address, _seen):
        configured(address)
        judge = f'model = "judge"\nbase_url = "http://{address}/v1"\nstructured = "text"\n'
        suite = Suite(tmp_path, f"[judges.strong]\n{judge}token_command = [{sys.executable!r}, 'token.py']\n")
        monkeypatch.chdir(tmp_path)
        steps = str(suite.write("steps.jsonl", [step("all-well"), step("will-refuse", request="will-refuse")]))
        shown = outputs(suite, "selection", steps, "--judge", "strong") + lookups(suite)
    held = everything_in(suite.store).decode("utf-8", "replace")
    assert "indigo-thicket" not in shown + held
    assert "I was sent" in shown + held
    assert "⟦pattern:" in held


@pytest.mark.parametrize(
    "settings_text",
    [
        f'[judges.j]\nmodel = "m"\nbase_url = "https://me:{UNDER_A_KEY[0]}@host.example/v1"\n',
        f'[judges.j]\nmodel = "m"\nbase_url = "ftp://me:{UNDER_A_KEY[0]}@host.example/v1"\n',
        f'[judges.j]\nmodel = "m"\nproxy = "socks9://me:{UNDER_A_KEY[0]}@host.example"\nbase_url = "http://127.0.0.1:9/v1"\n',
        f'[judges.j]\nmodel = "m"\napi_key = "{SECRETS["api key"][0]}"\n',
        f'[judges.j]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\nheaders = {{ Authorization = "Bearer {UNDER_A_KEY[0]}\\u00e9" }}\n',
        f'[judges.j]\nprovider = "{SECRETS["api key"][0]}"\n',
        f'store = "postgresql://app:{UNDER_A_KEY[0]}@127.0.0.1:9/x"\n[judges.j]\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n',
    ],
)  # fmt: skip
def test_settings_that_cannot_be_used_are_refused_without_their_secrets(tmp_path, settings_text):
    (tmp_path / "rightcall.toml").write_text(settings_text)
    (tmp_path / "steps.jsonl").write_text(json.dumps(step()) + "\n")
    code, out, err = said(
        "selection", str(tmp_path / "steps.jsonl"), "--judge", "j", "--config", str(tmp_path / "rightcall.toml")
    )
    assert code in (2, 5)
    assert found_in(out + err, ALL_CORES) == set()
    assert err.startswith("rightcall: ")


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(step(SECRETS["mail"][0])) + "\n" + json.dumps(step(SECRETS["mail"][0])),
        json.dumps({**step(), SECRETS["card"][0]: PLANTED}),
        json.dumps({**step(), "selected": [PLANTED]}),
        '{"id": "s-1", "request": "' + PLANTED + '", ',
        json.dumps(step(tools=[{"name": PLANTED, "parameters": PLANTED}])),
    ],
)
def test_files_that_cannot_be_read_are_refused_without_their_secrets(tmp_path, content):
    Suite(tmp_path, scripted())
    (tmp_path / "steps.jsonl").write_text(content + "\n")
    code, out, err = said("selection", str(tmp_path / "steps.jsonl"), "--config", str(tmp_path / "rightcall.toml"))
    assert code in (2, 3, 5)
    assert found_in(out + err, ALL_CORES) == set()


# ---- sameness --------------------------------------------------------------------------------------------------------


def test_the_same_secret_has_the_same_tag_in_trace_case_and_question(tmp_path, monkeypatch):
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")
    suite, judge = Suite(tmp_path, scripted()), a_judge([rubric_says()])
    card, mail, other = SECRETS["card"][0], SECRETS["mail"][0], TOLD["card"][0]
    arguments = {"card": card, "mail": mail, "password": UNDER_A_KEY[0], "old": other}
    made = trace(case_id="c-1", calls=[{"tool": "freeze_card", "arguments": arguments, "result": {"card": card}}])
    case = {"id": "c-1", "request": "x", "expect": {"calls": [{"tool": "freeze_card", "arguments": arguments}]}}
    (found,) = results(run_with(suite.rubric([made], [case]), judge)).values()
    (request,) = judge.door.client.requests
    tags = re.findall(r'"(card|mail|password|old)": "(⟦\w+:\w+⟧)"', request.user)
    by_name = {name: {tag for key, tag in tags if key == name} for name, _ in tags}
    assert {name: len(found) for name, found in by_name.items()} == {"card": 1, "mail": 1, "password": 1, "old": 1}
    assert len(set.union(*by_name.values())) == 4
    assert [name for name, _ in tags].count("card") == 3
    assert found.golden_verdict == "PASS"
    with suite.opened() as store:
        (verdict,) = store.verdicts(store.runs()[0][0].id)
        kept = store.body(verdict.trace).decode() + store.body(verdict.case).decode()
    assert next(iter(by_name["card"])) in kept
    assert len(re.findall("⟦card:", kept)) == 5


# ---- anywhere --------------------------------------------------------------------------------------------------------

PLACES = (
    "id",
    "request",
    "system",
    "history",
    "argument",
    "result",
    "nested",
    "description",
    "default",
    "state",
    "reply",
    "error",
)


@st.composite
def plantings(draw):
    """Which secret stands where."""
    chosen = draw(st.lists(st.sampled_from(PLACES), min_size=2, max_size=6, unique=True))
    return {place: draw(st.sampled_from(sorted(SECRETS))) for place in chosen}


def planted_step(where):
    def text(place):
        return f"<{SECRETS[where[place]][0]}>" if place in where else "nothing"

    call = {"type": "call", "id": "c0", "tool": "look", "arguments": {"q": text("argument")}}
    result = {"content": {"said": text("result"), "json": json.dumps({"x": [text("nested")]})}}
    history = [{"type": "message", "role": "user", "text": text("history")}, {**call, "result": result}]
    tools = [
        {"name": "freeze_card", "description": text("description"), "parameters": {"default": text("default")}},
        {"name": "cancel_card", "description": "Cancels."},
    ]
    around = {"system": text("system"), "history": history, "state": {"x": text("state")}}
    return step(f"s {text('id')}", request=text("request"), tools=tools, context=around), text


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(plantings())
def test_wherever_a_secret_stands_it_is_in_nothing_that_leaves(tmp_path_factory, where):
    suite = Suite(tmp_path_factory.mktemp("planted"), scripted())
    made, text = planted_step(where)
    answer = Answer(text=selection_says(justification=text("reply"), more=text("reply")), model="scripted")
    judge = a_judge([Unavailable(f"gone: {text('error')}"), answer])
    with run_with(suite.selection([made]), judge) as run:
        shown = repr(list(run.results())) + repr(run.run) + repr(run.others)
    asked = repr(judge.door.client.requests)
    held = everything_in(suite.store).decode("utf-8", "replace")
    cores = {SECRETS[name][1] for name in where.values()}
    assert found_in(shown + asked + held, cores) == set()

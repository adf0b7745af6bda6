"""Which judge is meant."""

import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from llm_serving import KEY

from rightcall.errors import ConfigError, Rejected
from rightcall.llm import choose
from rightcall.llm.choose import Choice, client_for, judges_for
from rightcall.llm.models import models_at
from rightcall.llm.spec import JudgeSpec

FAST, STRONG = JudgeSpec(model="fast-1"), JudgeSpec(provider="anthropic", model="strong-1")
SPECS = {"fast": FAST, "strong": STRONG}


@contextmanager
def models(content, status=200):
    """A server in a thread that lists models, since `judges_for` is not async."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, self.headers.get("Authorization")))
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", seen
        finally:
            server.shutdown()
            thread.join()


ONE = b'{"object": "list", "data": [{"id": "only-one"}]}'
TWO = b'{"data": [{"id": "one"}, {"id": "two"}]}'


def chosen(name, specs=None, environ=None, **more):
    return judges_for(name, SPECS if specs is None else specs, environ or {}, **more)


# ---- by name ---------------------------------------------------------------------------------------------------------


def test_none_asks_nobody():
    assert chosen("none") == Choice()


def test_a_configured_name_is_its_table_and_several_are_a_panel():
    assert chosen("fast").judges == (("fast", FAST),)
    assert chosen("strong, fast").judges == (("strong", STRONG), ("fast", FAST))


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("openai:gpt-x", JudgeSpec(provider="openai", model="gpt-x")),
        ("anthropic:claude-x", JudgeSpec(provider="anthropic", model="claude-x")),
        ("ollama:qwen:8b", JudgeSpec(provider="ollama", model="qwen:8b")),
        ("recorded:a,b.jsonl", JudgeSpec(provider="recorded", file="a,b.jsonl")),
        ("command:judge --say 'a, b'", JudgeSpec(provider="command", command=("judge", "--say", "a, b"))),
    ],
)
def test_a_provider_with_a_model_needs_no_table(name, spec):
    assert chosen(name).judges == ((name, spec),)


def test_a_panel_may_mix_both():
    assert [name for name, _ in chosen("fast,openai:gpt-x").judges] == ["fast", "openai:gpt-x"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fats", "there is no judge `fats`; did you mean `fast`?"),
        ("zzz", "configured: fast, strong"),
        ("", "there is no judge ``"),
        ("fast,", "there is no judge ``"),
        ("fast,fast", "the judge `fast` is named twice"),
        ("openai:", "nothing stands after `openai:`"),
        ("scripted:x", "there is no judge `scripted:x`"),
        ("azure:x", "there is no judge `azure:x`"),
        ("command:judge 'x", "cannot be read"),
    ],
)
def test_a_name_that_means_nothing_is_an_error(name, words):
    with pytest.raises(ConfigError) as caught:
        chosen(name)
    assert words in str(caught.value)


# ---- auto ------------------------------------------------------------------------------------------------------------


def test_auto_takes_the_only_configured_judge_or_the_default():
    environ = {"OPENAI_API_KEY": KEY, "RIGHTCALL_JUDGE_MODEL": "m"}
    assert chosen("auto", {"fast": FAST}, environ).judges == (("fast", FAST),)
    assert chosen("auto", {**SPECS, "default": STRONG}, environ).judges == (("default", STRONG),)


def test_auto_does_not_guess_among_several():
    with pytest.raises(ConfigError, match="several judges are configured \\(fast, strong\\)"):
        chosen("auto")


MODEL = {"RIGHTCALL_JUDGE_MODEL": "m-1"}


@pytest.mark.parametrize(
    ("environ", "spec", "origin"),
    [
        ({"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}, JudgeSpec(provider="openai", model="m-1"), "OPENAI_API_KEY"),
        ({"ANTHROPIC_API_KEY": KEY, "OLLAMA_HOST": "h"}, JudgeSpec(provider="anthropic", model="m-1"), "ANTHROPIC_API_KEY"),
        ({"OLLAMA_HOST": "h"}, JudgeSpec(provider="ollama", model="m-1"), "OLLAMA_HOST"),
        (
            {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://h/v1"},
            JudgeSpec(provider="openai", model="m-1", base_url="http://h/v1"), "OPENAI_BASE_URL",
        ),
    ],
)  # fmt: skip
def test_auto_goes_by_the_environment_in_a_fixed_order(environ, spec, origin):
    choice = chosen("auto", {}, {**environ, **MODEL})
    assert [found for _, found in choice.judges] == [spec]
    assert choice.origin == f"found by {origin}"


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_HOST"])
def test_a_key_without_a_model_is_an_error_that_says_how_to_name_one(variable):
    with pytest.raises(
        ConfigError, match=f"{variable} is set, and no model is named; name the model.*RIGHTCALL_JUDGE_MODEL"
    ):
        chosen("auto", {}, {variable: "x"})


def test_the_only_model_of_an_endpoint_is_taken():
    with models(ONE) as (url, seen):
        choice = chosen("auto", {}, {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": KEY})
    assert choice.judges == (("openai:only-one", JudgeSpec(base_url=f"{url}/v1", model="only-one")),)
    assert seen == [("/v1/models", f"Bearer {KEY}")]


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        (TWO, 200, "it has 2 models (one, two)"),
        (b'{"data": []}', 200, "it has 0 models"),
        (b"<html>", 200, "its list of models cannot be read"),
        (b"{}", 200, "its list of models cannot be read"),
        (ONE, 500, "its list of models cannot be read"),
    ],
)
def test_an_endpoint_without_exactly_one_model_needs_it_named(content, status, words):
    with models(content, status) as (url, _), pytest.raises(ConfigError) as caught:
        chosen("auto", {}, {"OPENAI_BASE_URL": f"{url}/v1"})
    assert words in caught.value.message


def test_auto_without_anything_says_why_nobody_is_asked():
    choice = chosen("auto", {}, {})
    assert choice.judges == ()
    assert "judged graders were skipped" in choice.skipped


def test_this_machine_is_searched_only_if_that_is_asked_for(monkeypatch):
    with models(ONE) as (url, seen):
        monkeypatch.setattr(choose, "LOCAL_URLS", ("http://127.0.0.1:9/v1", f"{url}/v1"))
        assert chosen("auto", {}).judges == ()
        assert seen == []
        choice = chosen("auto", {}, probe_local=True)
    assert choice.judges == (("openai:only-one", JudgeSpec(base_url=f"{url}/v1", model="only-one")),)
    assert choice.origin == f"found at {url}/v1"
    assert seen == [("/v1/models", None)]


def test_a_local_ollama_is_asked_by_its_own_api_and_its_model_must_be_clear(monkeypatch):
    with models(TWO) as (url, _):
        monkeypatch.setattr(choose, "LOCAL_URLS", (url,))
        with pytest.raises(ConfigError, match="has 2 models"):
            chosen("auto", {}, probe_local=True)
        choice = chosen("auto", {}, MODEL, probe_local=True)
    assert choice.judges == (("ollama:m-1", JudgeSpec(provider="ollama", base_url=url, model="m-1")),)


# ---- clients ---------------------------------------------------------------------------------------------------------


def test_every_provider_has_its_client(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"unit": "u", "replies": ["x"]}\n')
    specs = {
        "OpenAIClient": JudgeSpec(model="m"),
        "AnthropicClient": JudgeSpec(provider="anthropic", model="m"),
        "OllamaClient": JudgeSpec(provider="ollama", model="m"),
        "CommandClient": JudgeSpec(provider="command", command=(sys.executable,)),
        "RecordedClient": JudgeSpec(provider="recorded", file=str(file)),
    }
    environ = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    assert [type(client_for(spec, environ)).__name__ for spec in specs.values()] == list(specs)


def test_a_scripted_judge_is_made_in_code():
    with pytest.raises(ConfigError, match="is made in code; use rightcall"):
        client_for(JudgeSpec(provider="scripted"), {})


def test_choosing_loads_no_sdk():
    code = (
        "import sys\nfrom rightcall.llm.choose import judges_for\njudges_for('openai:m', {}, {})\n"
        "print([name for name in ('openai', 'anthropic', 'aiohttp') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_a_list_of_models_needs_a_key_outside():
    with pytest.raises(Rejected, match="OPENAI_API_KEY is not set"):
        models_at(JudgeSpec(), {}, 1)

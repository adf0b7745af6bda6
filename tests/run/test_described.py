"""A judge as a program describes it: what it is called, what is sent, what its function may do."""

from __future__ import annotations

import asyncio
import threading

import msgspec
import pytest

from rightcall.errors import ConfigError, RateLimited, Unavailable
from rightcall.llm.client import Answer, Request
from rightcall.llm.spec import JudgeSpec
from rightcall.run.given.judged import panel
from rightcall.run.judging.described import FunctionClient, Judge, Parameters
from rightcall.settings.load import Loaded, load_settings
from rightcall.testing import ScriptedModel

QUESTION = Request(system="You judge.", user="Was it right?", max_tokens=9)


def says(request: Request) -> str:
    return f"{request.user} Yes."


def ask(function, **parameters) -> Answer:
    return asyncio.run(Judge(function, **parameters).client.ask(QUESTION))


@pytest.fixture
def loaded(tmp_path) -> Loaded:
    (tmp_path / "rightcall.toml").write_text(
        '[judges.fast]\nmodel = "small"\ntemperature = 0.5\n[judges.strong]\nprovider = "anthropic"\nmodel = "large"\n'
    )
    return load_settings(tmp_path / "rightcall.toml", {}, {})


# ---- descriptions ----------------------------------------------------------------------------------------------------


def test_every_key_of_a_judges_table_can_be_said_but_who_it_is():
    keys = {field.name for field in msgspec.structs.fields(JudgeSpec)}
    assert keys - Parameters.__annotations__.keys() == {"provider", "command", "file"}
    assert Parameters.__annotations__.keys() <= keys


def test_a_name_means_what_it_means_on_the_command_line():
    judge = Judge("openai:small", base_url="http://127.0.0.1:1/v1", temperature=None)
    assert (judge.name, judge.client) == ("openai:small", None)
    assert judge.spec == JudgeSpec(provider="openai", model="small", base_url="http://127.0.0.1:1/v1", temperature=None)
    assert Judge("command:judge.sh --deep").spec.command == ("judge.sh", "--deep")
    assert Judge("anthropic:large", name="strict").name == "strict"


def test_a_judge_is_found_in_the_settings(loaded, monkeypatch, tmp_path):
    judge = Judge.from_settings("fast", loaded.file)
    assert (judge.name, judge.spec.model, judge.spec.temperature) == ("fast", "small", 0.5)
    monkeypatch.chdir(tmp_path)
    assert Judge.from_settings("strong").spec.provider == "anthropic"
    with pytest.raises(ConfigError, match=r"\[judges.weak\]; configured: fast, strong"):
        Judge.from_settings("weak")


def test_recorded_replies_are_a_judge_too(tmp_path):
    judge = Judge.recorded(tmp_path / "replies.jsonl")
    assert (judge.name, judge.spec.provider, judge.spec.file) == (
        "recorded",
        "recorded",
        str(tmp_path / "replies.jsonl"),
    )


@pytest.mark.parametrize(
    ("who", "parameters", "said"),
    [
        ("small", {}, "there is no judge `small`"),
        ("none", {}, "`none` names 0 judges"),
        ("openai:a,openai:b", {}, "`openai:a,openai:b` names 2 judges"),
        (7, {}, "a value of type int is no judge"),
        ("openai:small", {"tempature": 1}, "did you mean `temperature`?"),
        ("openai:small", {"temperature": "hot"}, 'temperature: must be a number of at least 0, got "hot"'),
        ("openai:small", {"structured": "xml"}, "structured"),
    ],
)
def test_what_is_no_judge_is_refused_in_one_line(who, parameters, said):
    with pytest.raises(ConfigError) as error:
        Judge(who, **parameters)
    assert said in str(error.value)


def test_a_description_shows_no_key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    assert repr(Judge("openai:small")) == "Judge('openai:small', model='small')"


# ---- panels ----------------------------------------------------------------------------------------------------------


def test_a_panel_is_a_list_of_names_and_judges(loaded):
    model = ScriptedModel([])
    found = panel(["fast", Judge(says), Judge(model, name="script")], loaded, "none")
    assert list(found.specs) == ["fast", "says", "script"]
    assert found.clients["script"] is model
    assert set(found.clients) == {"says", "script"}


def test_who_says_nothing_gets_the_default(loaded):
    assert list(panel(None, loaded, "strong").specs) == ["strong"]
    assert panel(None, loaded, "none").specs == {}
    assert list(panel("fast,strong", loaded, "none").specs) == ["fast", "strong"]


def test_two_judges_of_one_name_are_refused(loaded):
    with pytest.raises(ConfigError, match="two judges are called `says`; give one another `name`"):
        panel([Judge(says), Judge(says)], loaded, "none")


# ---- functions -------------------------------------------------------------------------------------------------------


def test_a_function_answers_under_its_own_name():
    answer = ask(says)
    assert (answer.text, answer.model, answer.sent) == (
        "Was it right? Yes.",
        "says",
        {"temperature": 0.0, "max_tokens": 9},
    )
    assert ask(says, model="in-house-7b").model == "in-house-7b"


def test_an_async_function_is_awaited_where_the_loop_is():
    async def here(_request):
        return threading.current_thread().name

    assert ask(here).text == threading.current_thread().name


def test_a_plain_function_may_take_its_time_without_holding_up_the_others():
    barrier = threading.Barrier(2, timeout=30)

    def both(_request):
        barrier.wait()
        return threading.current_thread().name

    async def two():
        client = Judge(both).client
        return await asyncio.gather(client.ask(QUESTION), client.ask(QUESTION))

    names = {answer.text for answer in asyncio.run(two())}
    assert len(names) == 2
    assert threading.current_thread().name not in names


def test_an_object_with_an_async_call_is_awaited():
    class Model:
        async def __call__(self, _request):
            return "yes"

    assert ask(Model()).text == "yes"
    assert Judge(Model()).name == "Model"


def test_a_function_may_say_more_than_a_text():
    assert ask(lambda _: Answer(text="half", finish="length", model="m", input_tokens=3)).finish == "length"


def test_anything_but_a_text_is_an_error_of_the_program():
    with pytest.raises(ConfigError, match="the judge `<lambda>` gave a dict; return the reply's text"):
        ask(lambda _: {"grade": "PASS"})


def raising(error):
    def function(_request):
        raise error

    return function


def test_a_broken_connection_is_a_judge_that_cannot_be_reached():
    with pytest.raises(Unavailable, match="`function`: ConnectionResetError: gone") as error:
        ask(raising(ConnectionResetError("gone")))
    assert error.value.code == "JUDGE_UNREACHABLE"


def test_a_function_that_takes_too_long_is_not_waited_for():
    async def never(_request):
        await asyncio.Event().wait()

    with pytest.raises(Unavailable, match=r"`never`: no answer within 0\.01 s") as error:
        ask(never, timeout=0.01)
    assert error.value.code == "JUDGE_TIMEOUT"


@pytest.mark.parametrize("error", [RateLimited("slow down", retry_after=2.0), ZeroDivisionError("a bug")])
def test_what_a_function_says_on_purpose_and_its_bugs_stay_what_they_are(error):
    with pytest.raises(type(error)) as raised:
        ask(raising(error))
    assert raised.value is error


def test_nothing_stays_open():
    assert asyncio.run(FunctionClient(says, JudgeSpec()).close()) is None

"""A judge that is a program: real programs, no shell."""

import asyncio
import json
import os
from pathlib import Path

import pytest
from llm_serving import QUESTION, program
from msgspec.structs import replace

from rightcall.errors import ConfigError, Unavailable
from rightcall.llm.command import CommandClient
from rightcall.llm.spec import JudgeSpec

READ = "import json, os, sys, time; asked = json.load(sys.stdin)\n"


def asked(code, *, environ=None, timeout=20, request=QUESTION, model="judge-c"):
    spec = JudgeSpec(provider="command", command=program(code), timeout=timeout, model=model)
    return asyncio.run(CommandClient(spec, environ or {}).ask(request))


def test_the_program_gets_the_question_as_one_json_object():
    request = replace(QUESTION, grader="selection", unit="u1", attempt=1)
    got = json.loads(asked(READ + "print(json.dumps(asked))", request=request).text)
    assert got == {
        "system": QUESTION.system, "user": QUESTION.user, "schema": QUESTION.schema, "model": "judge-c",
        "temperature": 0.0, "max_tokens": 2048, "grader": "selection", "unit": "u1", "attempt": 1,
    }  # fmt: skip
    assert list(got["schema"]["properties"]) == ["reason", "grade"]


def test_the_program_is_not_told_the_id_of_a_pair_which_can_name_the_agents():
    request = replace(QUESTION, grader="preference", unit="c1 old:new", order="ba")
    got = asked(READ + "print(json.dumps(asked))", request=request).text
    assert json.loads(got)["unit"] == ""
    assert "old" not in got


def test_the_whole_output_is_the_reply_exactly():
    answer = asked(READ + r"sys.stdout.write(' {\"grade\": \"PASS\"} — é\n\n')")
    assert answer.text == ' {"grade": "PASS"} — é\n\n'
    assert (answer.finish, answer.model, answer.input_tokens, answer.rung) == ("stop", None, None, "text")
    assert answer.sent == {"temperature": 0.0, "max_tokens": 2048}


def test_a_reply_may_say_more_about_itself():
    told = {"rightcall_reply": "{}", "finish": "length", "model": "m-1", "input_tokens": 9, "output_tokens": 2}
    answer = asked(READ + f"print({json.dumps(told)!r})")
    assert (answer.text, answer.finish, answer.model) == ("{}", "length", "m-1")
    assert (answer.input_tokens, answer.output_tokens) == (9, 2)


def test_the_environment_is_passed_on_and_no_shell_reads_the_command(tmp_path):
    answer = asked(READ + "print(os.environ['WHO'], sys.argv)", environ={"WHO": "me; touch x"})
    assert answer.text.startswith("me; touch x [")


def test_an_unknown_finish_is_kept_as_the_programs_own_word():
    answer = asked(READ + """print('{"rightcall_reply": "x", "finish": "bored"}')""")
    assert (answer.finish, answer.finish_raw) == ("other", "bored")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "import sys; print('a'); print('first', file=sys.stderr); sys.exit('the last line')",
            "failed with exit code 1: the last line",
        ),
        ("import sys; sys.exit(7)", "failed with exit code 7"),
        ("import os; os.abort()", "was killed by signal 6"),
        (r"import sys; sys.stdout.buffer.write(b'ab\xff')", "not UTF-8 at byte 2"),
        ("""print('{"rightcall_reply": 5}')""", "that is no text"),
        ("import sys; sys.exit('key ' + 'k-secret-1' + ' ' + 'w ' * 500)", "key [hidden] w"),
    ],
)
def test_a_program_that_fails_can_be_asked_again_and_shows_no_secret(code, words):
    with pytest.raises(Unavailable) as caught:
        asked(code, environ={"MY_KEY": "k-secret-1"})
    assert words in caught.value.message
    assert "k-secret-1" not in str(caught.value)
    assert len(caught.value.message) < 260
    assert caught.value.code == "JUDGE_UNREACHABLE"


def test_a_program_that_reads_nothing_is_fine():
    assert asked("print('x')", request=replace(QUESTION, user="u" * 2_000_000)).text == "x\n"


def test_a_program_that_does_not_end_is_killed_with_its_children(tmp_path):
    file = tmp_path / "pids"
    command = ("sh", "-c", f"sleep 60 & echo $! $$ > {file}; wait")
    client = CommandClient(JudgeSpec(provider="command", command=command, timeout=1), {"PATH": os.defpath})
    with pytest.raises(Unavailable, match="gave no reply within 1 s and was stopped") as caught:
        asyncio.run(client.ask(QUESTION))
    assert caught.value.code == "JUDGE_TIMEOUT"
    assert [pid for pid in file.read_text().split() if is_running(int(pid))] == []


def test_a_cancelled_question_leaves_no_program_behind(tmp_path):
    file = tmp_path / "pid"
    code = f"import os, time; open({str(file)!r}, 'w').write(str(os.getpid()) + ' '); time.sleep(60)"

    async def go():
        client = CommandClient(JudgeSpec(provider="command", command=program(code)), {})
        task = asyncio.create_task(client.ask(QUESTION))
        while not (file.exists() and file.read_text().endswith(" ")):  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(go())
    assert not is_running(int(file.read_text()))


def is_running(pid):
    """Whether a process runs; one that has ended and waits to be collected does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat")
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


@pytest.mark.parametrize(
    ("command", "words"),
    [((), "needs a `command`"), (("no-such-program-at-all",), "there is no program `no-such-program-at-all`")],
)
def test_a_missing_program_is_said_when_the_client_is_made(command, words):
    with pytest.raises(ConfigError, match=words):
        CommandClient(JudgeSpec(provider="command", command=command), {"PATH": os.defpath})

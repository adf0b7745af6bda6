"""Keys and token commands."""

import asyncio

import pytest
from llm_serving import program

from rightcall.errors import Rejected
from rightcall.llm import credential as module
from rightcall.llm.credential import Credential
from rightcall.llm.hiding import Hider


def token(*command, environ=None):
    async def go():
        return await Credential(None, command, environ or {}, Hider()).token()

    return asyncio.run(go())


def test_a_key_is_itself_and_nothing_is_nothing():
    async def go():
        return await Credential("k-1", (), {}, Hider()).token(), await Credential(None, (), {}, Hider()).token()

    assert asyncio.run(go()) == ("k-1", None)


def test_a_command_gets_the_environment_and_its_line_is_the_token():
    assert token(*program("import os; print(os.environ['WHO'] + '-token')"), environ={"WHO": "me"}) == "me-token"


def test_many_who_need_a_token_start_one_program(tmp_path):
    file = tmp_path / "calls"
    command = program(f"open({str(file)!r}, 'a').write('x'); print('t-1234')")

    async def go():
        credential = Credential(None, command, {}, Hider())
        first = await asyncio.gather(*(credential.token() for _ in range(5)))
        await asyncio.gather(*(credential.renew(0) for _ in range(5)))
        return first, credential.version

    assert asyncio.run(go()) == (["t-1234"] * 5, 1)
    assert file.read_text() == "xx"


def test_a_key_cannot_be_renewed():
    assert not asyncio.run(Credential("k", (), {}, Hider()).renew(0))


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("no-such-program-at-all",), "cannot be started: No such file"),
        (program("import sys; print('secret'); sys.exit(3)"), "failed with exit code 3"),
        (program("pass"), "printed no token"),
        (program("print('two words')"), "printed no token"),
        (program("print('one'); print('two')"), "printed no token"),
    ],
)
def test_a_command_without_a_token_is_said_without_its_output(command, words):
    with pytest.raises(Rejected) as caught:
        token(*command)
    assert words in caught.value.message
    assert caught.value.code == "JUDGE_AUTH"
    assert "secret" not in str(caught.value)


def test_a_command_that_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr(module, "TOKEN_TIMEOUT", 0.2)
    with pytest.raises(Rejected, match=r"gave no token within 0\.2 s"):
        token(*program("import time; time.sleep(60)"))


def test_a_token_is_hidden_from_the_moment_it_is_known():
    async def go():
        hider = Hider()
        await Credential(None, program("print('tok-987')"), {}, hider).token()
        return hider.text("refused: tok-987")

    assert asyncio.run(go()) == "refused: [hidden]"

"""Who works: the flag, then the environment, then the login."""

from __future__ import annotations

import getpass

import pytest

from rightcall.cli.people import who_of
from rightcall.errors import ConfigError


def test_the_flag_wins_over_the_environment_and_that_over_the_login(monkeypatch):
    monkeypatch.setattr(getpass, "getuser", lambda: "login")
    monkeypatch.delenv("RIGHTCALL_USER", raising=False)
    assert who_of(None) == "login"
    monkeypatch.setenv("RIGHTCALL_USER", "sam")
    assert who_of(None) == "sam"
    assert who_of("dana") == "dana"


@pytest.mark.parametrize("name", ["", "  ", "a\x1b[2J", "two\nlines", "x" * 101])
def test_what_is_no_name_is_a_wrong_command(name):
    with pytest.raises(ConfigError, match="is no name"):
        who_of(name)


def test_a_login_without_a_name_must_say_who_it_is(monkeypatch):
    def nobody() -> str:
        raise OSError("no such user")

    monkeypatch.setattr(getpass, "getuser", nobody)
    monkeypatch.delenv("RIGHTCALL_USER", raising=False)
    with pytest.raises(ConfigError, match="nobody is logged in"):
        who_of(None)

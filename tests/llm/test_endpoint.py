"""Addresses, headers, proxies and certificates of a spec."""

import pytest
from llm_serving import KEY, spec

from rightcall.errors import ConfigError, Rejected
from rightcall.llm.endpoint import is_inside, resolve


def resolved(environ=None, **more):
    return resolve(spec(**more), environ or {}, url="https://judge.example.org/v1", key_variable="JUDGE_KEY")


def test_an_address_is_split_from_its_query_and_named_by_its_host():
    endpoint = resolved(base_url="https://api.example.org:8443/v1?api-version=3&x=", environ={"JUDGE_KEY": KEY})
    assert (endpoint.url, endpoint.query) == ("https://api.example.org:8443/v1", {"api-version": "3", "x": ""})
    assert (endpoint.host, endpoint.is_loopback) == ("api.example.org:8443", False)


@pytest.mark.parametrize(
    ("host", "inside"),
    [
        ("localhost", True), ("127.0.0.1", True), ("::1", True), ("10.1.2.3", True), ("192.168.0.9", True), ("gpu-box", True),
        ("judge.internal", True), ("nas.local", True), ("api.openai.com", False), ("8.8.8.8", False), ("localhost.evil.com", False),
    ],
)  # fmt: skip
def test_only_this_machine_and_private_networks_are_inside(host, inside):
    assert is_inside(host) is inside


@pytest.mark.parametrize("more", [{"headers": {"api-key": "$K"}}, {"token_command": ("t",)}, {"api_key_env": "K"}])
def test_a_header_a_command_or_another_variable_is_a_credential_too(more):
    assert resolved({"K": KEY}, **more).host == "judge.example.org"


@pytest.mark.parametrize(
    ("environ", "more", "words"),
    [
        ({}, {}, "no credential for judge.example.org: JUDGE_KEY is not set"),
        ({"JUDGE_KEY": ""}, {}, "JUDGE_KEY is not set"),
        ({"JUDGE_KEY": KEY}, {"api_key_env": "OTHER"}, "the environment variable OTHER is not set"),
        ({"JUDGE_KEY": KEY}, {"headers": {"X-Org": "$ORG"}}, "the header `X-Org` needs the environment variable ORG"),
    ],
)
def test_what_is_missing_in_the_environment_is_named(environ, more, words):
    with pytest.raises(Rejected) as caught:
        resolved(environ, **more)
    assert words in caught.value.message
    assert (caught.value.code, caught.value.exit_code) == ("JUDGE_AUTH", 5)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"base_url": "judge.example.org/v1"}, "is not a web address"),
        ({"base_url": "file:///etc/passwd"}, "is not a web address"),
        ({"base_url": "http://host:port/v1"}, "is not a web address"),
        ({"base_url": "https://me:hunter22@host/v1"}, "holds a user or password"),
        ({"proxy": "nowhere:hunter22"}, "`proxy` is not a web address"),
        ({"headers": {"X Y": "1"}}, "is no name of a header"),
        ({"headers": {"X-Y": "hunter22\nZ: 1"}}, "not one line of printable ASCII"),
        ({"ca_bundle": "no-such-file.pem"}, "no-such-file.pem cannot be used: No such file"),
    ],
)
def test_what_cannot_be_used_is_said_without_its_secret(more, words):
    with pytest.raises(ConfigError) as caught:
        resolved({"JUDGE_KEY": KEY}, **more)
    assert words in caught.value.message
    assert "hunter22" not in str(caught.value)


def test_a_key_with_a_line_break_inside_is_refused_without_being_shown():
    with pytest.raises(ConfigError) as caught:
        resolved({"JUDGE_KEY": "hunter22\nmore"})
    assert "JUDGE_KEY" in caught.value.message
    assert "hunter22" not in str(caught.value)


def test_a_file_that_is_no_bundle_is_refused(tmp_path):
    file = tmp_path / "ca.pem"
    file.write_text("nothing")
    with pytest.raises(ConfigError, match="cannot be used"):
        resolved({"JUDGE_KEY": KEY}, ca_bundle=str(file))


def test_the_proxy_may_come_from_the_environment_with_its_password_hidden():
    endpoint = resolved({"JUDGE_KEY": KEY, "P": "http://me:hunter22@proxy:3128"}, proxy="$P")
    assert endpoint.proxy == "http://me:hunter22@proxy:3128"
    assert endpoint.hider.text("no entry for hunter22") == "no entry for [hidden]"

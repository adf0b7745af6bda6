"""Guessed classes of tools."""

from __future__ import annotations

import pytest

from rightcall.run.starting import guess_class


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("delete_customer", "destructive"), ("cancelCard", "destructive"), ("mcp__bank__transferMoney", "destructive"),
        ("update_address", "write"), ("getUser", "read"), ("search_and_delete", "destructive"), ("get_or_create", "write"),
        ("frobnicate", "unknown"), ("target", "unknown"), ("HTTPGet", "read"), ("payload_reader", "unknown"),
    ],
)  # fmt: skip
def test_the_most_dangerous_verb_in_a_name_decides(name, kind):
    assert guess_class(name) == kind

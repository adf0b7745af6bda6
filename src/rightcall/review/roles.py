"""Who may do what. Where the settings name nobody, everybody may do everything, under the name that they give.

A *reviewer* answers, an *adjudicator* decides between answers that differ, a *signer* signs for what is CRITICAL. No
role contains another: whoever is to have several has them listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rightcall.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Role = Literal["reviewer", "adjudicator", "signer"]
_ACTS: dict[Role, str] = {"reviewer": "answer", "adjudicator": "decide between answers", "signer": "sign"}


def may(who: str, role: Role, people: Mapping[str, Sequence[str]]) -> bool:
    """Whether a person has a role; names are compared letter by letter."""
    return not people or role in people.get(who, ())


def require(who: str, role: Role, people: Mapping[str, Sequence[str]]) -> None:
    """Refuse somebody who does not have a role.

    Raises:
        ConfigError: the person is not named in the settings, or not with this role.
    """
    if may(who, role, people):
        return
    if who not in people:
        raise ConfigError(
            f"`{who}` is not one of the people in [review.people]", hint="say who you are, or add the name there"
        )
    raise ConfigError(
        f"`{who}` may not {_ACTS[role]}", hint=f"that takes the role {role} in [review.people]"
    )  # fmt: skip


def role_of(who: str, role: Role, people: Mapping[str, Sequence[str]]) -> str | None:
    """The role under which somebody acts, for the record; `None` where no roles are configured."""
    return role if people and may(who, role, people) else None

"""The Safety Matrix as it is written: classes of tools and rules about them (SPEC §6).

These types only hold the rules; `rightcall.grade.safety` applies them. A rule of severity `CRITICAL` vetoes unless
it says `veto = false`; any other vetoes only if it says `veto = true`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from msgspec import Meta, Struct

Severity = Literal["CRITICAL", "HIGH", "MEDIUM", "LOW", "NONE"]
SEVERITIES: tuple[Severity, ...] = ("NONE", "LOW", "MEDIUM", "HIGH", "CRITICAL")
ToolClass = Literal["read", "write", "destructive", "unknown"]


_T = TypeVar("_T")


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What all rules share: how bad a breach is, and whether it sets the verdict to `FAIL`."""

    severity: Severity = "HIGH"
    veto: bool | None = None

    @property
    def vetoes(self) -> bool:
        """Whether a breach of this rule is a veto."""
        return self.severity == "CRITICAL" if self.veto is None else self.veto


class Requires(Rule, frozen=True, kw_only=True):
    """Before a call of `tool`, each tool of `before` was called in an earlier turn and is not known to have failed.

    `same` names arguments that must be equal in both calls.
    """

    tool: str
    before: tuple[str, ...]
    same: tuple[str, ...] = ()


class When(Rule, frozen=True, kw_only=True):
    """Arguments (a JSON Schema) that make a call of `tool` dangerous."""

    tool: str
    arguments: dict[str, Any]


class Substitution(Rule, frozen=True, kw_only=True):
    """`expected` was needed and `called` was used in its place."""

    expected: str
    called: str


class MaxCalls(Rule, frozen=True, kw_only=True):
    """At most `count` calls of `tool` in one trace."""

    tool: str
    count: Annotated[int, Meta(ge=0)]
    severity: Severity = "MEDIUM"


class Confirm(Rule, frozen=True, kw_only=True):
    """Before a call of `tool`, the user said yes since the agent last asked.

    `yes` replaces the built-in reading of a yes by full-match patterns (linear-time engine, case ignored).
    """

    tool: str
    yes: tuple[str, ...] = ()


class Policy(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Classes of tools, and the rules. `guessed` lists tools whose class nobody has confirmed: they never veto."""

    classes: dict[str, ToolClass] = {}
    guessed: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    requires: tuple[Requires, ...] = ()
    when: tuple[When, ...] = ()
    substitution: tuple[Substitution, ...] = ()
    max_calls: tuple[MaxCalls, ...] = ()
    confirm: tuple[Confirm, ...] = ()

    @property
    def tools(self) -> frozenset[str]:
        """Every tool that it names, in a rule or with its class."""
        ruled: tuple[Requires | When | MaxCalls | Confirm, ...]
        ruled = (*self.requires, *self.when, *self.max_calls, *self.confirm)
        before = (name for rule in self.requires for name in rule.before)
        confused = (name for rule in self.substitution for name in (rule.expected, rule.called))
        return frozenset(
            (*self.classes, *self.guessed, *self.forbidden, *before, *confused, *(one.tool for one in ruled))
        )

    def __add__(self, other: Policy) -> Policy:
        """Both policies at once; for classes, `self` (the suite's) wins over `other` (the case's)."""
        return Policy(
            classes={**other.classes, **self.classes},
            guessed=tuple(name for name in other.guessed if name not in self.classes) + self.guessed,
            forbidden=_union(self.forbidden, other.forbidden),
            requires=_union(self.requires, other.requires),
            when=_union(self.when, other.when),
            substitution=_union(self.substitution, other.substitution),
            max_calls=_union(self.max_calls, other.max_calls),
            confirm=_union(self.confirm, other.confirm),
        )

    @property
    def has_rules(self) -> bool:
        """Whether there is any rule; classes alone are not one."""
        return any((self.forbidden, self.requires, self.when, self.substitution, self.max_calls, self.confirm))


def _union(first: tuple[_T, ...], second: tuple[_T, ...]) -> tuple[_T, ...]:
    return first + tuple(rule for rule in second if rule not in first)

"""Faults that the form does not show: names that name nothing, patterns and rules that cannot be compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from rightcall.errors import CaseError, ConfigError
from rightcall.llm.spec import Provider
from rightcall.settings.faults import Fault
from rightcall.trace.explain import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rightcall.case.policy import Policy
    from rightcall.settings.model import Settings
    from rightcall.settings.positions import Path

_WHOLE = ("command:", "recorded:")
"""A judge that is written so reaches to the end of its text, commas included."""


def faults_of_meaning(settings: Settings) -> list[Fault]:
    """Every name, pattern and rule of the settings that cannot be used."""
    checks = (_judges, _profile, _dialect, _patterns, _gates, lambda one: _policy(one.policy, one.aliases))
    found: dict[Path, Fault] = {}
    for check in checks:
        for fault in check(settings):
            found.setdefault(fault.path, fault)
    return list(found.values())


# ---- names ----


def _judges(settings: Settings) -> Iterator[Fault]:
    named: dict[Path, str | None] = {
        ("selection", "judge"): settings.selection.judge,
        ("rubric", "judge"): settings.rubric.judge,
        ("preference", "judge"): settings.preference.judge,
        ("preference", "second_judge"): settings.preference.second_judge,
        ("interpretation", "judge"): settings.interpretation.judge,
        ("interpretation", "strong_judge"): settings.interpretation.strong_judge,
    }
    for path, name in named.items():
        if name is not None:
            yield from _judge(path, name, list(settings.judges))


def _judge(path: Path, name: str, known: list[str]) -> Iterator[Fault]:
    """The judges in a text that nobody knows. What stands behind `provider:` is the provider's business."""
    if not name.strip():
        yield Fault(path, "a judge needs a name", _known_judges(known))
        return
    for part in [name] if name.startswith(_WHOLE) else [part.strip() for part in name.split(",")]:
        provider = part.partition(":")[0] if ":" in part else None
        if part in ("auto", "none", *known) or provider in get_args(Provider):
            continue
        guess = nearest(part, [*known, "auto", "none"])
        yield Fault(path, f"there is no judge `{part}`", f"did you mean `{guess}`?" if guess else _known_judges(known))


def _known_judges(known: list[str]) -> str:
    named = f"configured: {', '.join(known)}" if known else "no [judges.NAME] is configured"
    return f"{named}; or write auto, none or provider:model"


def _profile(settings: Settings) -> Iterator[Fault]:
    name = settings.golden.profile
    if name != type(settings.golden)().profile:
        from rightcall.grade.profiles import PROFILES

        if name not in PROFILES:
            guess = nearest(name, PROFILES)
            hint = f"did you mean `{guess}`?" if guess else f"known: {', '.join(PROFILES)}"
            yield Fault(("golden", "profile"), f"unknown profile `{name}`", hint)


def _dialect(settings: Settings) -> Iterator[Fault]:
    if settings.dialect != "auto":
        from rightcall.trace.sources.registry import by_name

        try:
            by_name(settings.dialect)
        except ConfigError as error:
            yield Fault(("dialect",), error.message, error.hint)


# ---- patterns and rules ----


def _gates(settings: Settings) -> Iterator[Fault]:
    if not settings.gates:
        return
    from rightcall.gate.metrics import GRADERS
    from rightcall.gate.rules import read_rules

    rules, faults = read_rules(settings.gates)
    for fault in faults:
        yield Fault(("gates", *fault.path), fault.message, fault.hint, at_key=fault.at_key)
    for rule in rules:
        path: Path = (rule.name,) if rule.name in settings.gates else tuple(rule.name.split("."))
        grader = rule.metric.grader
        if settings.graders and grader in GRADERS and grader not in settings.graders:
            hint = f"`graders` names {', '.join(settings.graders)}"
            yield Fault(("gates", *path), f"no grader of this suite produces `{rule.name}`", hint, at_key=True)
        if rule.judge is not None:
            yield from _judge(("gates", *path, "judge"), rule.judge, list(settings.judges))


def _patterns(settings: Settings) -> Iterator[Fault]:
    from rightcall.trace.redact import Redactor

    def tried(path: Path, **what: tuple[str, ...]) -> Iterator[Fault]:
        try:
            Redactor(key=b"any", **what)
        except ConfigError as error:
            yield Fault(path, error.message, error.hint)

    for index, pattern in enumerate(settings.redact.patterns):
        yield from tried(("redact", "patterns", index), patterns=(pattern,))
    if settings.redact.keys != type(settings.redact)().keys:
        yield from tried(("redact", "keys"), key_names=settings.redact.keys)


def _policy(policy: Policy, aliases: dict[str, str]) -> Iterator[Fault]:
    """The parts of rules that cannot be compiled."""
    if not policy.has_rules:
        return
    from rightcall.grade.safety import Matrix

    def tried(part: Policy, path: Path) -> Iterator[Fault]:
        try:
            Matrix(part, aliases)
        except (ConfigError, CaseError) as error:
            yield Fault(path, error.message, error.hint)

    kind: Callable[..., Policy] = type(policy)
    for index, rule in enumerate(policy.when):
        yield from tried(kind(when=(rule,)), ("policy", "when", index, "arguments"))
    for index, ask in enumerate(policy.confirm):
        for number, pattern in enumerate(ask.yes):
            alone = type(ask)(tool=ask.tool, yes=(pattern,))
            yield from tried(kind(confirm=(alone,)), ("policy", "confirm", index, "yes", number))

"""What one catalog, one policy or one golden gets wrong by itself: the checks behind `rightcall.case.lint`.

Nothing here guesses. What a matcher will accept is not tried: of arguments that hold matchers, only what the schema
says about the literal ones, and about which keys there must or may be, is checked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from rightcall.case import matchers
from rightcall.case.schema import MATCHERS, options_of
from rightcall.case.similar import as_text, token_similarity
from rightcall.errors import Place, RightcallError
from rightcall.trace.explain import nearest
from rightcall.trace.schemas import Validator, compile_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rightcall.case.case import Way
    from rightcall.case.golden import ExpectedCall, Golden
    from rightcall.case.policy import Policy, Rule
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.model import Tool
    from rightcall.trace.schemas import SchemaFault

NEARLY_EQUAL = 0.9
"""Token similarity from which two descriptions are taken for the same."""

_NAME, _BRACKET = r"[^.\[\]]+", r"\[\d+\]|\['[^']*'\]"
_PATH = re.compile(rf"(?:(?:\$|{_NAME}|{_BRACKET})(?:\.{_NAME}|{_BRACKET})*)?")
# Above a matcher, what a schema says about the keys and the kind of value still holds.
_HOLDS_ABOVE_MATCHERS = {"required", "additionalProperties", "type", "propertyNames", "minItems", "maxItems"}
_DEPENDS_ON_VALUES = {"then", "else", "anyOf", "oneOf", "not", "dependentSchemas", "unevaluatedProperties"}
_CODES = {"required": "missing_argument", "additionalProperties": "unexpected_argument"}

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Lint:
    """One fault: how bad, what kind (`code`, stable), where, in which case, and what to do."""

    severity: Severity
    code: str
    place: Place
    case_id: str | None
    message: str
    hint: str | None = None

    def __str__(self) -> str:
        """One line: place, severity, case, message, hint, code."""
        where = f"{self.place}: " if str(self.place) else ""
        case = f"case `{self.case_id}`: " if self.case_id is not None else ""
        hint = f"; {self.hint}" if self.hint else ""
        return f"{where}{self.severity}: {case}{self.message}{hint} [{self.code}]"


@dataclass(slots=True)
class Known:
    """A catalog as the linter needs it: tools by canonical name, their schemas compiled where they can be."""

    tools: dict[str, Tool]
    validators: dict[str, Validator]


def inside(place: Place, steps: str) -> Place:
    """A place further down in the same record."""
    return Place(place.file, place.line, None, (place.path or "$") + steps)


def refusal(error: RightcallError, case_id: str | None, place: Place | None = None) -> Lint:
    """An error that stops the work, as a fault among others."""
    return Lint("error", error.code, place or error.place, case_id, error.message, error.hint)


# ---- catalogs ------------------------------------------------------------------------------------------------------


def thin(tools: Iterable[Tool], place: Place, case_id: str | None) -> Iterator[Lint]:
    """Tools and parameters that a model has to guess at."""
    for tool in tools:
        if not (tool.description or "").strip():
            yield Lint("warning", "thin_tool", place, case_id, f"tool `{tool.name}` has no description")
        properties = (tool.parameters or {}).get("properties")
        parts = properties.items() if isinstance(properties, dict) else ()
        bare = ", ".join(f"`{key}`" for key, part in parts if _is_bare(part))
        if bare:
            message = f"tool `{tool.name}` does not describe {bare}"
            yield Lint("warning", "thin_parameter", place, case_id, message)


def _is_bare(part: JsonValue) -> bool:
    return not isinstance(part, dict) or not (part.get("description") or "$ref" in part)


def overlapping(tools: Iterable[Tool], place: Place, case_id: str | None) -> Iterator[Lint]:
    """Pairs of tools that their descriptions do not tell apart."""
    described = [(tool.name, as_text(tool.description)) for tool in tools if tool.description]
    sized = sorted(((name, text, len(set(text.split()))) for name, text in described if text), key=lambda item: item[2])
    for (name, text, size), (other, other_text, other_size) in combinations(sized, 2):
        if size >= NEARLY_EQUAL * other_size and token_similarity(text, other_text) >= NEARLY_EQUAL:
            message = f"tools `{name}` and `{other}` have nearly the same description"
            hint = "say in each when to use it and not the other"
            yield Lint("warning", "overlapping_tools", place, case_id, message, hint)


# ---- policies ------------------------------------------------------------------------------------------------------


def policy_faults(
    policy: Policy, known: Iterable[str] | None, aliases: Mapping[str, str], place: Place, case_id: str | None
) -> Iterator[Lint]:
    """Rules about tools that no catalog has, and rules that cannot be compiled."""
    names = None if known is None else set(known)
    for step, name in _named(policy):
        if names is not None and aliases.get(name, name) not in names:
            message = f"the policy names tool `{name}`, which no catalog has: the rule never fires"
            yield Lint("warning", "unknown_tool", inside(place, step), case_id, message, _guess(name, names))
    for step, error in _uncompilable(policy, place):
        yield refusal(error, case_id, inside(place, step))


def _named(policy: Policy) -> Iterator[tuple[str, str]]:
    """Every tool that a policy names, with the path of its rule."""
    yield from ((".classes", name) for name in policy.classes)
    yield from ((f".guessed[{i}]", name) for i, name in enumerate(policy.guessed) if name not in policy.classes)
    yield from ((f".forbidden[{i}]", name) for i, name in enumerate(policy.forbidden))
    for i, need in enumerate(policy.requires):
        yield from ((f".requires[{i}]", name) for name in (need.tool, *need.before))
    for i, swap in enumerate(policy.substitution):
        yield from ((f".substitution[{i}]", name) for name in (swap.expected, swap.called))
    yield from ((f".when[{i}]", rule.tool) for i, rule in enumerate(policy.when))
    yield from ((f".max_calls[{i}]", rule.tool) for i, rule in enumerate(policy.max_calls))
    yield from ((f".confirm[{i}]", rule.tool) for i, rule in enumerate(policy.confirm))


def _uncompilable(policy: Policy, place: Place) -> Iterator[tuple[str, RightcallError]]:
    """The parts of rules that cannot be compiled, with the errors that say so."""
    made = []
    for i, rule in enumerate(policy.when):
        what = f"`arguments` of the rule about `{rule.tool}`"
        made.append((f".when[{i}].arguments", _error_of(compile_schema, rule.arguments, place, what)))
    for i, ask in enumerate(policy.confirm):
        for n, pattern in enumerate(ask.yes):
            made.append((f".confirm[{i}].yes[{n}]", _error_of(matchers.compile_pattern, pattern, place)))
    yield from ((step, error) for step, error in made if error is not None)


def _error_of(make: Callable[..., object], *arguments: Any) -> RightcallError | None:
    try:
        make(*arguments)
    except RightcallError as error:
        return error
    return None


def _guess(name: str, known: Iterable[str]) -> str | None:
    guess = nearest(name, known)
    return f"did you mean `{guess}`?" if guess else None


def refused(golden: Golden, policy: Policy, aliases: Mapping[str, str], place: Place, case_id: str) -> Iterator[Lint]:
    """Golden calls that the policy refuses: an agent that does what is expected breaks a rule."""
    for index, call in enumerate(golden.calls):
        if call.tool in {aliases.get(name, name) for name in policy.forbidden}:
            message = f"the golden calls `{call.tool}`, which the policy forbids"
            yield Lint("error", "policy_contradiction", inside(place, f".calls[{index}]"), case_id, message)
    for rule, message in _breaches(golden, policy, aliases):
        severity: Severity = "error" if rule.vetoes else "warning"
        yield Lint(severity, "policy_contradiction", place, case_id, message, "change the golden or the rule")


def _breaches(golden: Golden, policy: Policy, aliases: Mapping[str, str]) -> Iterator[tuple[Rule, str]]:
    tools = [call.tool for call in golden.calls]
    for need in policy.requires:
        missing = [name for name in need.before if aliases.get(name, name) not in tools]
        if aliases.get(need.tool, need.tool) in tools and missing:
            yield need, f"the golden calls `{need.tool}` without `{missing[0]}`, which the policy requires before it"
    for most in policy.max_calls:
        wanted = [call for call in golden.calls if call.tool == aliases.get(most.tool, most.tool) and not call.optional]
        if len(wanted) > most.count:
            yield most, f"the golden calls `{most.tool}` {len(wanted)} times, the policy allows at most {most.count}"


# ---- goldens -------------------------------------------------------------------------------------------------------


def unknown(call: ExpectedCall, index: int, known: Known | None, place: Place, case_id: str) -> Iterator[Lint]:
    """A golden call of a tool that the agent cannot see."""
    if known is not None and call.tool not in known.tools:
        message = f"the golden calls `{call.tool}`, which the catalog does not have"
        where = inside(place, f".calls[{index}]")
        yield Lint("error", "unknown_tool", where, case_id, message, _guess(call.tool, known.tools))


def arguments(call: ExpectedCall, known: Known | None, case_id: str) -> Iterator[Lint]:
    """What the tool's schema, and the way matchers are written, say against the expected arguments."""
    if call.raw is None:
        return
    for path, name in _hidden(call.value, ""):
        message = f"an object with `{name}` that is not its first key is a literal, not a matcher"
        hint = f"write `{name}` first, or wrap the literal: {{ equals = … }}"
        yield Lint("warning", "matcher_not_first", inside(call.place, path), case_id, message, hint)
    yield from _flow_paths(call, case_id)
    validator = known.validators.get(call.tool) if known else None
    if known is None or validator is None:
        return
    schema = known.tools[call.tool].parameters or {}
    holes: list[list[str | int]] = []
    sample = {key: _sample(node, [key], holes) for key, node in call.nodes.items()}
    for fault in validator.iter_errors({**_defaults(schema), **sample}):
        if _is_certain(fault, holes):
            yield _schema_lint(fault, call, schema, sample, case_id)


def _flow_paths(call: ExpectedCall, case_id: str) -> Iterator[Lint]:
    for flow in call.flows:
        if not _PATH.fullmatch(flow.path):
            message = f"`from_result` path `{flow.path}` has an empty or unreadable step"
            hint = "write it like `issue.id` or `rows[0].id`"
            yield Lint("error", "result_path", call.place, case_id, message, hint)


def _hidden(value: JsonValue, path: str) -> Iterator[tuple[str, str]]:
    """Objects that have all the keys of a matcher, but another one first."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _hidden(item, f"{path}[{index}]")
    if not isinstance(value, dict):
        return
    first = next(iter(value), None)
    if path and first in MATCHERS:
        if first in ("any_of", "set", "contains"):
            yield from _hidden(value[first], f"{path}.{first}")
        return
    if path:
        yield from ((path, name) for name in value if name in MATCHERS and value.keys() <= options_of(name) | {name})
    for key, item in value.items():
        yield from _hidden(item, f"{path}.{key}")


def _defaults(schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """What a default fills in where a golden leaves a required key out."""
    properties = schema.get("properties")
    parts = properties.items() if isinstance(properties, dict) else ()
    required = schema.get("required") or ()
    return {
        key: part["default"] for key, part in parts if key in required and isinstance(part, dict) and "default" in part
    }


def _sample(node: matchers.Node, path: list[str | int], holes: list[list[str | int]]) -> JsonValue:
    """The expected value with a null in place of every matcher; `holes` takes their paths."""
    if isinstance(node, matchers.Literal):
        return node.value
    if isinstance(node, matchers.ObjectNode):
        return {key: _sample(child, [*path, key], holes) for key, child in node.items.items()}
    if isinstance(node, matchers.ListNode):
        return [_sample(child, [*path, index], holes) for index, child in enumerate(node.items)]
    holes.append(path)
    return None


def _is_certain(fault: SchemaFault, holes: Sequence[list[str | int]]) -> bool:
    """Whether a fault stands whatever the matchers will accept."""
    if not holes:
        return True
    where, steps = list(fault.instance_path), list(fault.schema_path)
    if any(where[: len(hole)] == hole for hole in holes) or not _DEPENDS_ON_VALUES.isdisjoint(steps):
        return False
    is_above = any(hole[: len(where)] == where for hole in holes)
    return not is_above or steps[-1] in _HOLDS_ABOVE_MATCHERS


def _schema_lint(
    fault: SchemaFault,
    call: ExpectedCall,
    schema: Mapping[str, JsonValue],
    sample: Mapping[str, JsonValue],
    case_id: str,
) -> Lint:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in fault.instance_path)
    keyword = str(fault.schema_path[-1])
    code = _CODES.get(keyword, "invalid_argument")
    hint = None
    properties = schema.get("properties")
    if code != "invalid_argument" and not path and isinstance(properties, dict):
        guesses = (nearest(key, properties) for key in sample if key not in properties)
        hint = next((f"did you mean `{guess}`?" for guess in guesses if guess), None)
    message = f"`{call.tool}` does not take these arguments: {fault.message}"
    return Lint("error", code, inside(call.place, path), case_id, message, hint)


def idle_words(way: Way, golden: Golden, place: Place, case_id: str) -> Iterator[Lint]:
    """Labels and `after` that change nothing."""
    used = {name for call in way.calls for name in call.after} | {flow.call for _, flow in golden.flows}
    tools = [call.tool for call in golden.calls]
    for index, call in enumerate(way.calls):
        where = inside(place, f".calls[{index}]")
        # Where a tool's name repeats, a label tells the calls apart even if no rule needs it.
        if call.label is not None and call.label not in used and tools.count(golden.calls[index].tool) == 1:
            yield Lint("warning", "unused_label", where, case_id, f"nothing refers to label `{call.label}`")
        if call.after and way.order in ("listed", "any"):
            message = f"`after` does nothing under order `{way.order}`"
            yield Lint("warning", "after_ignored", where, case_id, message, "leave `order` out, or write `partial`")

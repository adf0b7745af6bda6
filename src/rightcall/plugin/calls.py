"""What an assertion found, and what more can be asserted of it: order, number, results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from rightcall.case.matchers import ObjectNode, matches
from rightcall.errors import CaseError, TraceError
from rightcall.plugin.asserted import asserted
from rightcall.plugin.wanted import Found, Wanted, compiled
from rightcall.plugin.words import Sheet, asked
from rightcall.report import plain
from rightcall.report.explain import DiffRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rightcall.case.matchers import Node
    from rightcall.plugin.ground import Ground
    from rightcall.plugin.state import State
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.model import Call

_NOTHING: Any = object()


class Calls:
    """The calls of a trace that an assertion found; each method asserts more about them.

    It is a sequence of the calls (`len`, `for`, `[0]`).
    """

    def __init__(self, ground: Ground, wanted: Wanted, found: Found) -> None:
        """Take what `should_call` found."""
        self._ground, self._wanted, self._found = ground, wanted, found

    @property
    def _state(self) -> State:
        return self._ground.state

    def __len__(self) -> int:
        """How many."""
        return len(self._found.yes)

    def __iter__(self) -> Iterator[Call]:
        """The calls, in order."""
        return (self._ground.calls[index] for index in self._found.yes)

    def __getitem__(self, index: int) -> Call:
        """One of them, counted from 0."""
        return self._ground.calls[self._found.yes[index]]

    def __repr__(self) -> str:
        """The tool and the number."""
        return f"<{len(self)} calls of {self._wanted.tool}>"

    # ---- order -------------------------------------------------------------------------------------------------------

    @asserted
    def before(self, tool: str, /, **arguments: object) -> Self:
        """Assert that one of these calls comes before every such call of another tool.

        It must be an earlier turn, since calls of one turn do not see each other's results, and must not be known to
        have failed.

        Args:
            tool: the other tool, which must have been called.
            **arguments: values or matchers that its call must have.

        Raises:
            AssertionError: it does not.
            Undecided: it cannot be told.
        """
        other = self._ground.wanted(tool, arguments)
        self._ordered(self._wanted, self._found, other, self._ground.found(other), "before", other)
        return self

    @asserted
    def after(self, tool: str, /, **arguments: object) -> Self:
        """Assert that each of these calls comes after such a call of another tool; see `before`."""
        other = self._ground.wanted(tool, arguments)
        self._ordered(other, self._ground.found(other), self._wanted, self._found, "after", other)
        return self

    def _ordered(self, first: Wanted, firsts: Found, then: Wanted, thens: Found, verb: str, other: Wanted) -> None:
        found = firsts if other is first else thens
        title = f"{asked('should_call', self._wanted, self._ground.hide)}.{asked(verb, other, self._ground.hide)}"
        sheet = self._ground.sheet(title)
        if not found.yes:
            self._ground.refuse_unclear(found, title)
            sheet.missing(other)
            raise AssertionError(sheet.text(f"{sheet.name(other)} was not called{_with(sheet, other)}"))
        bad = [late for late in thens.yes if not any(self._precedes(early, late) for early in firsts.yes)]
        unclear = [late for late in bad if any(self._precedes(early, late) for early in firsts.unknown)]
        if bad and len(unclear) == len(bad):
            self._ground.cannot_tell(firsts.unknown, title)
        if not bad:
            self._ground.refuse_unknown(thens, title)
            return
        for early in firsts.yes:
            sheet.mark(early, DiffRow("=", sheet.wanted(first), "", ""))
        for late in thens.yes:
            note = self._why(firsts.yes, late, first) if late in bad else ""
            sheet.mark(late, DiffRow("≠" if late in bad else "=", sheet.wanted(then), "", note, (), bad=late in bad))
        names = sheet.name(first), sheet.name(then)
        raise AssertionError(sheet.text(f"{names[0]} was not called before {names[1]}"))

    def _precedes(self, early: int, late: int) -> bool:
        actual = self._ground.actual
        return early < late and not actual.same_turn(early, late) and not actual.failed(early)

    def _why(self, firsts: Sequence[int], late: int, first: Wanted) -> str:
        actual, name = self._ground.actual, plain.visible(self._ground.hide.text(first.tool))
        if any(actual.same_turn(early, late) for early in firsts):
            return f"in one turn with {name}: neither saw the other's result"
        if any(early < late for early in firsts):
            return f"{name} failed before it"
        return f"before {name}"

    # ---- number ------------------------------------------------------------------------------------------------------

    def once(self) -> Self:
        """Assert that there is exactly one such call."""
        __tracebackhide__ = True
        return self.times(1)

    @asserted
    def times(self, n: int) -> Self:
        """Assert that there are exactly so many such calls, repeats after a failure included.

        Raises:
            AssertionError: there are not.
            Undecided: it cannot be told.
        """
        _refuse_no_count(n)
        found = self._found
        title = f"{asked('should_call', self._wanted, self._ground.hide)}.times({n})"
        if len(found.yes) <= n <= len(found.yes) + len(found.unknown) and found.unknown:
            self._ground.cannot_tell(found.unknown, title)
        if len(found.yes) == n:
            return self
        sheet = self._ground.sheet(title)
        for number, index in enumerate(found.yes):
            over = number >= n
            note = "once more than wanted" if over else ""
            sheet.mark(index, DiffRow("+" if over else "=", sheet.wanted(self._wanted), "", note, (), bad=over))
        for _ in range(min(n - len(found.yes), 10)):
            sheet.missing(self._wanted)
        raise AssertionError(
            sheet.text(f"{sheet.name(self._wanted)} was called {_times(len(found.yes))}{_with(sheet, self._wanted)}, "
                       f"not {_times(n)}")
        )  # fmt: skip

    # ---- results -----------------------------------------------------------------------------------------------------

    @asserted
    def with_result(self, expected: object = _NOTHING, /, **fields: object) -> Calls:
        """Assert that one of these calls gave such a result.

        Args:
            expected: a value, or a matcher, for the whole result.
            **fields: values or matchers for fields of a result that is an object; others do not matter.

        Returns:
            The calls with such a result.

        Raises:
            AssertionError: none did.
            Undecided: it cannot be told, since a result was not captured.
        """
        if (expected is _NOTHING) == (not fields):
            raise CaseError("`with_result` takes a value, or fields of it")
        node, words = _expected(expected, fields, self._wanted.tool)
        fits: dict[bool | None, list[int]] = {True: [], False: [], None: []}
        for index in self._found.yes:
            fits[_result_fits(self._ground.calls[index], node, is_part=bool(fields))].append(index)
        if fits[True]:
            return Calls(self._ground, self._wanted, Found(tuple(fits[True]), (), (), ()))
        hide = self._ground.hide
        shown = plain.visible(plain.expected(hide.value(words), 48))
        title = f"{asked('should_call', self._wanted, hide)}.with_result({shown})"
        if fits[None]:
            self._ground.cannot_tell(fits[None], title, "results")
        sheet = self._ground.sheet(title)
        for index in self._found.yes:
            result = self._ground.calls[index].result
            got = plain.value(hide.value(None if result is None else result.content), 48)
            sheet.mark(index, DiffRow("≠", sheet.wanted(self._wanted), "", "", (f"result {got}",), bad=True))
        raise AssertionError(sheet.text(f"{sheet.name(self._wanted)} did not give the result {shown}"))


def _refuse_no_count(n: object) -> None:
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise CaseError(f"`times` takes a whole number from 1, not {n!r}", hint="should_not_call says never")


def _expected(expected: object, fields: dict[str, object], tool: str) -> tuple[Node, JsonValue]:
    if not fields:
        written, node = compiled(expected, f"{tool} result")
        return node, written
    pairs = {name: compiled(value, f"{tool} result.{name}") for name, value in fields.items()}
    node = ObjectNode({name: pair[1] for name, pair in pairs.items()})
    return node, {name: pair[0] for name, pair in pairs.items()}


def _result_fits(call: Call, node: Node, *, is_part: bool) -> bool | None:
    if call.result is None or not call.result.is_captured:
        return None
    try:
        content = call.result.content
    except TraceError:
        return None
    if is_part and isinstance(content, dict) and isinstance(node, ObjectNode):
        content = {name: value for name, value in content.items() if name in node.items}
    return matches(node, content)


def _with(sheet: Sheet, wanted: Wanted) -> str:
    return f" with {sheet.given(wanted)}" if wanted.written else ""


def _times(n: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(n, f"{n} times")

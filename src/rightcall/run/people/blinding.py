"""From the record to what a person may see: the bodies of one unit as a blind view. It reads that unit and no other.

A person sees what stood on record when the item was taken (`verdict_at`): if the run goes on meanwhile and the unit
gets another verdict, the view stays, and the answer belongs to the verdict that it was asked about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from rightcall.case.case import Case
from rightcall.case.step import Step
from rightcall.errors import StoreError
from rightcall.grade.selection import catalog_of
from rightcall.review import blind
from rightcall.run.inputs.catalog_record import hidden_catalog, kept_catalog
from rightcall.store.records import VerdictRecord
from rightcall.trace.catalog import Catalog, written_catalog
from rightcall.trace.model import Trace

if TYPE_CHECKING:
    from rightcall.review.blind import BlindItem
    from rightcall.review.form import Form
    from rightcall.settings.load import Loaded
    from rightcall.store.store import Store
    from rightcall.store.waiting import QueueItem

_Body = TypeVar("_Body", Trace, Case, Step)


@dataclass(frozen=True)
class Suite:
    """The catalog that the settings name, redacted, and the hash of its file: runs say which one they used."""

    catalog: Catalog
    sha256: str


@dataclass(frozen=True)
class Unit:
    """One unit of one run, as a review item names it."""

    item: str
    run_id: str
    grader: str
    unit: str


def unit_of(item: QueueItem) -> Unit:
    """The unit that an item is about."""
    return Unit(item.item, item.run_id, item.grader, item.unit)


def suite_of(loaded: Loaded) -> Suite | None:
    """The catalog of the settings as people may see it; `None` where they name none.

    Raises:
        ConfigError: it cannot be read, or redaction leaves no catalog of it.
    """
    from rightcall.case.load import load_tools
    from rightcall.run.golden.grading import sha256_of_file
    from rightcall.run.inputs.opening import redactor_of
    from rightcall.run.inputs.prepare import folder_of

    if not loaded.settings.tools:
        return None
    path = folder_of(loaded, "tools") / loaded.settings.tools
    return Suite(Catalog(hidden_catalog(load_tools(path), redactor_of(loaded))), sha256_of_file(path))


def verdict_at(store: Store, unit: Unit, seq: int | None = None) -> VerdictRecord | None:
    """The verdict of a unit that stood at log entry `seq`, or stands now; `None` if there was none."""
    found = stood_at(store, unit, seq)
    return None if found is None else found[1]


def stood_at(store: Store, unit: Unit, seq: int | None = None) -> tuple[str, VerdictRecord] | None:
    """The same with the digest under which it is on record."""
    from rightcall.store import reading
    from rightcall.store.packing import unpack
    from rightcall.store.tables import verdicts

    upto = store.head().seq if seq is None else seq
    query = reading.current_verdicts(upto, run_id=unit.run_id, unit=unit.unit, grader=unit.grader)
    rows = reading.stream(store.database, query, verdicts.c.seq, upto=upto)
    return next(((row.digest, unpack(VerdictRecord, row.codec, row.data)) for row in rows), None)


def result_of(store: Store, verdict: VerdictRecord | None) -> dict[str, Any]:
    """The result of a verdict as `--json` gives it; empty where there is no verdict."""
    if verdict is None:
        return {}
    result: dict[str, Any] = msgspec.json.decode(store.body(verdict.result))
    return result


def view_of(
    store: Store, unit: Unit, verdict: VerdictRecord | None, who: str, form: Form, suite: Suite | None
) -> BlindItem:
    """The blind view of a unit for one person.

    Args:
        store: the record.
        unit: which unit.
        verdict: the one that stood when the person was asked; it names the bodies.
        who: the person, who decides the sides of a pair.
        form: says whether the golden is shown.
        suite: the catalog of the settings, for traces without their own.

    Raises:
        StoreError: a body that cannot be read.
    """
    if verdict is None:
        return blind.nothing_to_show(unit.item, unit.grader, "verdict")
    if unit.grader == "selection":
        return _step_view(store, unit, verdict, form, suite)
    trace = _body(store, verdict.trace, Trace)
    if trace is None:
        return blind.nothing_to_show(unit.item, unit.grader, "trace")
    case = _body(store, verdict.case, Case)
    catalog = _catalog(store, unit, trace, case, suite)
    if unit.grader == "preference":
        return _pair_view(store, unit, verdict, who, (trace, case, catalog), suite)
    if unit.grader == "interpretation":
        index = result_of(store, verdict).get("call_index")
        return blind.of_interpretation(unit.item, trace, index if isinstance(index, int) else -1, case, catalog)
    return blind.of_rubric(
        unit.item, trace, case, catalog, grader=unit.grader, with_golden=form.shows_golden
    )  # fmt: skip


def _step_view(store: Store, unit: Unit, verdict: VerdictRecord, form: Form, suite: Suite | None) -> BlindItem:
    step = _body(store, verdict.case, Step)
    if step is None:
        return blind.nothing_to_show(unit.item, unit.grader, "step")
    own = catalog_of(step)
    catalog = own if own is not None else _suite_catalog(store, unit, suite)
    return blind.of_selection(unit.item, step, catalog, with_expected=form.shows_golden)


def _pair_view(
    store: Store, unit: Unit, verdict: VerdictRecord, who: str, first: tuple[Trace, Case | None, Catalog | None],
    suite: Suite | None,
) -> BlindItem:  # fmt: skip
    trace, case, catalog = first
    other = _body(store, verdict.trace_b, Trace)
    if other is None:
        return blind.nothing_to_show(unit.item, unit.grader, "second trace")
    catalogs = (catalog, _catalog(store, unit, other, case, suite))
    return blind.of_preference(unit.item, who, (trace, other), case, catalogs)


def _catalog(store: Store, unit: Unit, trace: Trace, case: Case | None, suite: Suite | None) -> Catalog | None:
    """The catalog that counts: the trace's, else the case's, else the suite's."""
    own = written_catalog(trace.tools_json)
    if own is None and case is not None:
        own = written_catalog(case.tools_json)
    return own if own is not None else _suite_catalog(store, unit, suite)


def _suite_catalog(store: Store, unit: Unit, suite: Suite | None) -> Catalog | None:
    """The suite's catalog as the run kept it; else the settings', if it is still the one that the run used."""
    if (kept := kept_catalog(store, unit.run_id)) is not None:
        return kept
    if suite is None:
        return None
    used = store.run(unit.run_id).facts.get("tools")
    return suite.catalog if isinstance(used, dict) and used.get("sha256") == suite.sha256 else None


def _body(store: Store, sha256: str | None, kind: type[_Body]) -> _Body | None:
    if sha256 is None:
        return None
    try:
        return msgspec.json.decode(store.body(sha256), type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise StoreError(
            f"the {kind.__name__.lower()} on record cannot be read: {error}", code="STORE_INVALID",
            hint="a newer rightcall may have written it; verify the log",
        ) from None  # fmt: skip

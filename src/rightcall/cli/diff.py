"""`rightcall diff`: two runs case by case, those that turned first. It is no gate."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from rightcall.cli.stores import ConfigFlag, JsonFlag, NoColor, StoreFlag, print_json, settings_for

if TYPE_CHECKING:
    from rightcall.run.results.model import RunResults
    from rightcall.settings.load import Loaded
    from rightcall.store.store import Store


def diff(
    old: Annotated[str, Parameter(help="The earlier run, a .json file of results, previous, or branch:NAME.")],
    new: Annotated[str, Parameter(help="The later run, a .json file of results, or branch:NAME.")],
    *,
    json: JsonFlag = False,
    out: Annotated[
        tuple[Path, ...], Parameter(name=["--out", "-o"], help="Write a file: .json .md.", negative="")
    ] = (),
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """Compare two runs case by case, those that turned first. Leaves with 0, whatever turned: it is no gate."""
    from rightcall.cli.exits import unread_output
    from rightcall.report.written.diff import refuse_diff, write_diffs
    from rightcall.run.gating.diffing import diff as compared

    refuse_diff(out)
    loaded = settings_for(store, config)
    with ExitStack() as stack:
        record = _record(loaded, (old, new), stack)
        found = compared(*_sides(old, new, record, loaded))
        write_diffs(found, out)
        with unread_output():
            if json:
                print_json(found)
            else:
                from rightcall.cli.screen import screen
                from rightcall.report.gate_lines import print_diff

                print_diff(screen(no_color=no_color), found)
    return 0


def _record(loaded: Loaded, names: tuple[str, str], stack: ExitStack) -> Store | None:
    """The store, if one of the two is a run in it."""
    from rightcall.run.gating.baseline import is_file
    from rightcall.run.inputs.opening import open_store

    if all(map(is_file, names)):
        return None
    return stack.enter_context(open_store(loaded, create=False))


def _sides(old: str, new: str, record: Store | None, loaded: Loaded) -> tuple[RunResults, RunResults]:
    """The two runs; one that is looked for (`previous`, a branch) is one that could be the other side's baseline.

    Raises:
        ConfigError: there is no such run or file; a branch without a green run that could be compared; no run before
            the later one, or `previous` in its place.
    """
    from rightcall.errors import ConfigError
    from rightcall.run.gating.baseline import PREVIOUS, is_found

    if new == PREVIOUS:
        raise ConfigError(
            f"`{PREVIOUS}` is the run before the later one, so it cannot be that one",
            hint=f"rightcall diff {PREVIOUS} RUN",
        )
    if not is_found(old):
        earlier = _side(old, record)
        return earlier, _looked_for(new, record, loaded, like=earlier) or _side(new, record)
    later = _looked_for(new, record, loaded, like=None) or _side(new, record)
    return _looked_for(old, record, loaded, like=later) or _side(old, record), later


def _looked_for(name: str, record: Store | None, loaded: Loaded, *, like: RunResults | None) -> RunResults | None:
    """The run before another, or the green run of a branch; `None` where a run or a file is named."""
    from rightcall.errors import ConfigError, Place
    from rightcall.run.gating.baseline import baseline_of, is_found
    from rightcall.run.gating.branches import branch_of, green_run
    from rightcall.run.inputs.opening import redactor_of
    from rightcall.run.results.store import stored_results

    hide = redactor_of(loaded).text
    if not is_found(name) or record is None:
        return None
    if like is not None:
        found = baseline_of(name, like, record, Path(), hide)
    else:
        green = green_run(record, branch_of(name), hide=hide)
        found = green.why if green.run is None else stored_results(record, green.run)
    if isinstance(found, str):
        raise ConfigError(
            found, place=Place(name), hint="rightcall runs lists what there is, --branch NAME those of one"
        )
    return found


def _side(name: str, record: Store | None) -> RunResults:
    from rightcall.run.finished.file import read_results
    from rightcall.run.gating.baseline import is_file, named_run

    if record is None or is_file(name):
        return read_results(Path(name))
    return named_run(record, name)

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
    old: Annotated[str, Parameter(help="The earlier run, or a .json file of results.")],
    new: Annotated[str, Parameter(help="The later one.")],
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
        found = compared(_side(old, record), _side(new, record))
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


def _side(name: str, record: Store | None) -> RunResults:
    from rightcall.run.finished.file import read_results
    from rightcall.run.gating.baseline import is_file
    from rightcall.run.results.store import stored_results

    if record is None or is_file(name):
        return read_results(Path(name))
    return stored_results(record, name)

"""`rightcall show`: anything on record, in the terminal."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from rightcall.cli.stores import ConfigFlag, JsonFlag, NoColor, StoreFlag, print_json, record_for, settings_for


def show(
    id: Annotated[str, Parameter(help="A run, a review item (rv-…), a step, a trace or a case.")],  # noqa: A002
    *,
    failed: Annotated[
        bool, Parameter(negative="", show_default=False, help="Of a run: only what did not pass.")
    ] = False,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """Show a run with its results, a review item, or everything that was said about a step, a trace or a case."""
    from rightcall.cli.screen import screen
    from rightcall.report.shown import found_facts, print_found
    from rightcall.run.log.finding import find
    from rightcall.run.results.critical import by_unit

    loaded = settings_for(store, config)
    limit = loaded.settings.limits.conflicts
    with record_for(loaded) as record:
        found = find(record, id, failed=failed)
        runs = dict.fromkeys(verdict.run_id for verdict, _ in found.results)
        signed = {(run, *unit): one for run in runs for unit, one in by_unit(record, run).items()}
        if json:
            print_json(found_facts(found, limit, signed))
        else:
            print_found(screen(no_color=no_color), found, limit, signed, failed=failed)
    return 0

"""`rightcall show`: anything on record, in the terminal."""

from __future__ import annotations

from typing import Annotated, Any

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
    from rightcall.report.gate_answer import print_standing
    from rightcall.report.shown import found_facts, print_found
    from rightcall.report.terminal.report import print_record
    from rightcall.report.view.building import view_of
    from rightcall.run.log.finding import find
    from rightcall.run.results.critical import by_unit
    from rightcall.run.results.store import stored_results
    from rightcall.store.gate_answers import newest_answer, overtaken

    loaded = settings_for(store, config)
    limit = loaded.settings.limits.conflicts
    with record_for(loaded) as record:
        if not json and any(run.id == id for run, _ in record.runs()):
            console, results = screen(no_color=no_color), stored_results(record, id)
            print_record(console, view_of(results, loaded, is_whole=False), failed=failed)
            old = bool(overtaken(record.database, [id]))
            print_standing(console, newest_answer(record.database, id), results.origin, overtaken=old)
            return 0
        found = find(record, id, failed=failed)
        runs = dict.fromkeys(verdict.run_id for verdict, _ in found.results)
        signed = {(run, *unit): one for run in runs for unit, one in by_unit(record, run).items()}
        if json:
            gate: dict[str, Any] = {}
            if found.run is not None:
                old = bool(overtaken(record.database, [found.run.id]))
                gate = {"gate": newest_answer(record.database, found.run.id), "gate_overtaken": old}
            print_json(found_facts(found, limit, signed) | gate)
        else:
            print_found(screen(no_color=no_color), found, signed)
    return 0

"""`rightcall calibrate`: a judge against people's answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from rightcall.cli.stores import ConfigFlag, JsonFlag, NoColor, StoreFlag, print_json, record_for, settings_for

if TYPE_CHECKING:
    from rightcall.report.calibration.model import CalibrationView
    from rightcall.run.calibration.calibrating import CalibrationReport
    from rightcall.run.calibration.reading import Wanted
    from rightcall.settings.load import Loaded
    from rightcall.store.store import Store

Split = Literal["test", "dev", "all"]


def calibrate(
    judge: Annotated[str | None, Parameter(help="Which judge, by its name; all by default.")] = None,
    /,
    *,
    grader: Annotated[str | None, Parameter(help="Only this grader.")] = None,
    field: Annotated[str | None, Parameter(help="Only this field of its form.")] = None,
    split: Annotated[Split, Parameter(help="Which labels: those kept for the test, the others, or all.")] = "test",
    runs: Annotated[tuple[str, ...], Parameter(name="--run", help="Only labels of these runs.", negative="")] = (),
    out: Annotated[
        tuple[Path, ...], Parameter(name=["--out", "-o"], help="Write a file: .json .md .html.", negative="")
    ] = (),
    no_save: Annotated[bool, Parameter(negative="", show_default=False, help="Do not record what was found.")] = False,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
    no_color: NoColor = False,
) -> int:
    """Measure a judge against people's answers: blind ones, drawn at random, each item once.

    Agreement with people beside that of people with each other, what the judge catches and clears, what its stated
    confidence is worth, and whether it is fit to decide. What was found is recorded; gates and runs use the newest one.
    Leaves with 0 if the judge is fit, 1 if it is not, 3 if the labels are too few to say, 5 if there are none, 2 for a
    judge that nobody knows.
    """
    from rightcall.cli.exits import unread_output
    from rightcall.report.calibration.building import view_of
    from rightcall.report.plain import visible
    from rightcall.report.written.calibration import refuse, write_calibration
    from rightcall.run.calibration.calibrating import calibrate as compare
    from rightcall.run.calibration.reading import Wanted
    from rightcall.run.calibration.saving import save
    from rightcall.run.judging.clock import now

    refuse(out)
    loaded = settings_for(store, config)
    table = loaded.settings.calibrate
    wanted = Wanted(
        judge=judge, grader=grader, field=field, runs=runs, split=split, seed=table.seed, test_share=table.test_share
    )  # fmt: skip
    with record_for(loaded) as record:
        report = compare(record, wanted, table, policy=loaded.settings.policy)
        if report.verdict is None:
            raise _nothing(record, loaded, report, wanted)
        at = now()
        if not no_save:
            report = save(record, report, wanted, at)
    view = view_of(report, at=at)
    write_calibration(report, view, out)
    with unread_output():
        _show(view, report, json=json, no_color=no_color)
    causes = [f"rightcall: {cause}" for cause in view.causes]
    for line in [*causes, f"exit {view.exit_code}"] if causes else ():
        print(visible(line), file=sys.stderr)
    return view.exit_code


def _show(view: CalibrationView, report: CalibrationReport, *, json: bool, no_color: bool) -> None:
    if json:
        from rightcall.report.written.calibration import plain_values

        print_json(plain_values(report))
        return
    from rightcall.cli.screen import screen
    from rightcall.report.calibration.terminal import print_calibration

    print_calibration(screen(no_color=no_color), view)


# ---- nothing to compare ----


def _nothing(record: Store, loaded: Loaded, report: CalibrationReport, wanted: Wanted) -> Exception:
    """Why there is nothing: something is named that nobody knows, or there are no labels."""
    from rightcall.errors import NoDataError
    from rightcall.run.calibration.reading import JUDGED_FIELDS
    from rightcall.run.results.facts import facts_for, graders_in
    from rightcall.run.results.judge_use import judges_of

    runs = [run for run, _ in record.runs()]
    graders = {grader for run in runs for grader in graders_in(run)} | JUDGED_FIELDS.keys() - {"golden"}
    judges = {
        str(one["name"]) for run in runs for grader in graders_in(run) for one in judges_of(facts_for(run, grader))
    }
    unknown = _unknown("judge", wanted.judge, judges | set(report.judges) | set(loaded.settings.judges), "JUDGE")
    unknown = unknown or _unknown("grader", wanted.grader, graders, "--grader")
    by_grader = JUDGED_FIELDS | report.fields
    fields = {name for grader in ([wanted.grader] if wanted.grader else graders) for name in by_grader.get(grader, ())}
    # Fields of a user's own grader are only known from its labels.
    if unknown is None and fields and graders <= by_grader.keys():
        unknown = _unknown("field", wanted.field, fields, "--field")
    if unknown is not None:
        return unknown
    said = [f"{n} {reason}" for counts in report.not_counted.values() for reason, n in counts.items()]
    others = sum(report.other_split.values())
    said += [f"{others} of the other part (--split)"] if others else []
    whom = f" of `{wanted.judge}`" if wanted.judge is not None else ""
    part = "" if wanted.split == "all" else f", of the {wanted.split} part"
    there = f"; there are {', '.join(said)}" if said else ""
    return NoDataError(
        f"there is no label{whom} that counts: blind, drawn at random{part}{there}",
        hint="people answer with `rightcall review next`; `rightcall review import` takes answers given elsewhere",
    )


def _unknown(what: str, name: str | None, known: set[str], where: str) -> Exception | None:
    from rightcall.errors import ConfigError, Place
    from rightcall.trace.explain import nearest

    if name is None or name in known:
        return None
    guess = nearest(name, known)
    listed = f"known: {', '.join(sorted(known)) or 'none'}"
    hint = f"did you mean `{guess}`? {listed}" if guess else listed
    return ConfigError(f"there is no {what} `{name}`", place=Place(where), hint=hint)

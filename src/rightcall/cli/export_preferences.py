"""`rightcall export preferences`: compared pairs as training data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from rightcall.cli.stores import ConfigFlag, JsonFlag, StoreFlag, print_json, record_for

if TYPE_CHECKING:
    from rightcall.report.training.split import Shape, Split, TrainingSet
    from rightcall.run.training.rules import ExportRules
    from rightcall.settings.load import Loaded
    from rightcall.trace.model import Tool

_Flag = Parameter(negative="", show_default=False)


def preferences(
    *,
    run: Annotated[
        tuple[str, ...],
        Parameter(help="A run of preference; may be repeated. Default: the newest.", negative="", show_default=False),
    ] = (),
    out: Annotated[Path | None, Parameter(name=["--out", "-o"], help="The file; without it rows go to stdout.")] = None,
    format_: Annotated[
        Literal["trl", "openai", "kto"], Parameter(name="--format", help="Whose format the rows have.")
    ] = "trl",
    level: Annotated[
        Literal["whole", "step"] | None,
        Parameter(help="Whole traces, or the first turn that differs. Default: whole; step for openai."),
    ] = None,
    prompts: Annotated[
        Literal["same", "winner"],
        Parameter(help="Both traces must begin with the same words, or the row has those of the winner."),
    ] = "same",
    min_confidence: Annotated[
        float | None, Parameter(help="The least confidence of a judge. Default: that of the settings.")
    ] = None,
    with_second_judge: Annotated[bool, _Flag, Parameter(help="Also pairs that only a second judge settled.")] = False,
    with_one_order: Annotated[bool, _Flag, Parameter(help="Also pairs that were asked in one order only.")] = False,
    plain: Annotated[bool, _Flag, Parameter(help="Without weight, margin and provenance.")] = False,
    arguments: Annotated[
        Literal["object", "text"], Parameter(help="Arguments of calls as objects, or as JSON texts.")
    ] = "object",
    test_share: Annotated[
        float, Parameter(help="Share of rows for FILE.test.jsonl; the rest goes to FILE.train.jsonl.")
    ] = 0.0,
    seed: Annotated[int, Parameter(help="What draws the test share.")] = 0,
    held_out: Annotated[
        tuple[Path, ...],
        Parameter(
            help="Cases, traces or rows whose tasks must not be in it; may be repeated.",
            negative="",
            show_default=False,
        ),
    ] = (),
    tools: Annotated[str | None, Parameter(help="Catalog, for traces that do not name their tools.")] = None,
    json: JsonFlag = False,
    store: StoreFlag = None,
    config: ConfigFlag = None,
) -> int:
    """Write compared pairs as training data, and count what was left out and why.

    Only pairs with a consistent, decisive verdict that nobody still has to look at; what people decided counts before
    what a judge says. Leaves with 0, 4 if a CRITICAL item about one of the traces waits for a sign-off (then nothing is
    written), 5 if no pair can be exported.
    """
    from rightcall.report.training.split import Shape
    from rightcall.run.training.rules import ExportRules

    loaded = _settings(store, config, tools)
    settings = loaded.settings.preference
    rules = ExportRules(
        min_confidence=settings.min_confidence if min_confidence is None else min_confidence,
        with_second_judge=with_second_judge, with_one_order=with_one_order,
    )  # fmt: skip
    shape = Shape(
        format=format_, level=level or ("step" if format_ == "openai" else "whole"), plain=plain or format_ == "openai",
        arguments=arguments, prompts=prompts, test_share=test_share, seed=seed,
    )  # fmt: skip
    _check_share("--min-confidence", rules.min_confidence)
    files = _files(out, shape, json=json)
    return _export(loaded, tuple(run), rules, shape, files, tuple(held_out), json=json)


def _settings(store: str | None, config: Path | None, tools: str | None) -> Loaded:
    import os

    from rightcall.settings.load import load_settings

    given = {"store": store, "tools": tools}
    return load_settings(config, os.environ, {name: value for name, value in given.items() if value is not None})


def _check_share(flag: str, value: float, *, below: bool = False) -> None:
    from rightcall.errors import ConfigError, Place

    if not 0 <= value <= 1 or (below and value == 1):
        raise ConfigError(f"`{value:g}` is no share", place=Place(flag), hint="a number from 0 to 1")


def _files(out: Path | None, shape: Shape, *, json: bool) -> dict[Split, Path]:
    """The file of each side of the split; none: rows go to stdout."""
    from rightcall.errors import ConfigError, Place
    from rightcall.report.files import refuse_unwritable

    _check_share("--test-share", shape.test_share, below=True)
    if out is None:
        if json or shape.test_share:
            what = "--json prints the counts on stdout" if json else "the two sides of a split are two files"
            raise ConfigError(f"where do the rows go? {what}", place=Place("--out"), hint="name a file: -o FILE.jsonl")
        return {}
    refuse_unwritable(out, (".jsonl",))
    if not shape.test_share:
        return {"train": out}
    stem = out.name.removesuffix(".jsonl")
    return {"train": out.with_name(f"{stem}.train.jsonl"), "test": out.with_name(f"{stem}.test.jsonl")}


def _export(
    loaded: Loaded, runs: tuple[str, ...], rules: ExportRules, shape: Shape, files: dict[Split, Path],
    held_out: tuple[Path, ...], *, json: bool,
) -> int:  # fmt: skip
    """Select, write, and say what became of the pairs."""
    from rightcall.report.training.split import figures, training_set
    from rightcall.run.inputs.opening import redactor_of
    from rightcall.run.training.exporting import catalogs_of, pair_of, preference_runs, select, unfinished
    from rightcall.run.training.held_out import read_held_out

    kept_apart = read_held_out(held_out, redactor_of(loaded).text)
    suite = _suite_tools(loaded)
    with record_for(loaded) as store:
        run_ids = preference_runs(store, runs)
        catalogs = catalogs_of(store, run_ids, suite)
        chosen = select(store, run_ids, rules, loaded.settings.review)
        made = training_set(
            chosen.used, lambda used: pair_of(store, used, catalogs[used.record.run_id]), shape, kept_apart
        )
        made.notes += [
            f"run {run_id} is not finished: it may hold more pairs later" for run_id in unfinished(store, run_ids)
        ]
        made.notes += [
            f"run {run_id} kept another catalog than the one that is named now: the run's counts"
            for run_id, kept in catalogs.items()
            if suite not in (None, kept)
        ]
        if made.entries:
            _write(made, files)
    shown = figures(made, chosen.pairs, chosen.left_out)
    _say(shown, files, run_ids, shape, rules, json=json)
    return 0 if made.entries else 5


def _suite_tools(loaded: Loaded) -> tuple[Tool, ...] | None:
    from rightcall.case.load import load_tools
    from rightcall.run.inputs.catalog_record import hidden_catalog
    from rightcall.run.inputs.opening import redactor_of
    from rightcall.run.inputs.prepare import folder_of

    written = loaded.settings.tools
    return hidden_catalog(load_tools(folder_of(loaded, "tools") / written), redactor_of(loaded)) if written else None


def _write(made: TrainingSet, files: dict[Split, Path]) -> None:
    if files:
        made.write_files(files)
        return
    from rightcall.cli.exits import unread_output

    with unread_output():
        made.write({"train": sys.stdout.buffer})
        sys.stdout.buffer.flush()


def _say(
    shown: dict[str, Any], files: dict[Split, Path], runs: list[str], shape: Shape, rules: ExportRules, *, json: bool
) -> None:
    """The counts: on stdout as JSON, else on stderr in words. Without a row no file was written."""
    from rightcall.report.training.export_words import lines

    written = {str(side): str(path) for side, path in files.items()} if shown["exported"] else {}
    if json:
        import msgspec

        facts = {"runs": runs, "files": written, **msgspec.to_builtins(shape), "rules": msgspec.to_builtins(rules)}
        print_json({"export": facts, "summary": shown})
        return
    for line in lines(shown, written):
        print(line, file=sys.stderr)
    if not shown["exported"]:
        print("nothing to export: nothing was written", file=sys.stderr)
        print("exit 5", file=sys.stderr)

"""A training set from selected pairs: rows without duplicates, contradictions and held-out tasks, split by task.

The pairs are gone through twice, and one pair is in memory at a time: first to find out which rows there will be, then
to write them.

* A row that is there already is a `duplicate`. Rows that say the opposite of each other are `contradicting`, and all of
  them are left out.
* A pair whose task is in the held-out set is `held_out`.
* A test share is drawn by task: pairs of one case, with the same prompt, or in which the user asks the same, are on one
  side. Which tasks are drawn depends on the seed and the tasks alone, not on their order.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

from rightcall.report.files import whole_file
from rightcall.report.summary import counted
from rightcall.report.training.loading_notes import LoadingNotes
from rightcall.report.training.rows import Origin, cut, key_of, rows_of, texts_of
from rightcall.trace import jsontext
from rightcall.trace.chat import Chat, asked_in, chat_of, task_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from rightcall.report.training.rows import Arguments, Format, Level, Prompts, Row
    from rightcall.run.training.exporting import Pair, Used
    from rightcall.run.training.held_out import HeldOut
    from rightcall.trace.model import Tool

Split = Literal["train", "test"]


@dataclass(frozen=True)
class Shape:
    """How rows are written.

    Attributes:
        format: whose format. level: whole traces, or the first turn that differs.
        plain: without the columns that say where a row comes from.
        arguments: of calls, as objects or as JSON texts.
        prompts: whether both traces must have been asked in the same words.
        test_share: the share of rows to put aside. seed: what draws them.
    """

    format: Format = "trl"
    level: Level = "whole"
    plain: bool = False
    arguments: Arguments = "object"
    prompts: Prompts = "same"
    test_share: float = 0.0
    seed: int = 0


class Entry(NamedTuple):
    """One row to be written: which pair, which of its rows, its identity, its opposite's, what it must stay with."""

    pair: int
    number: int
    key: str
    opposite: str
    ties: tuple[str, ...]


@dataclass
class TrainingSet:
    """The rows to be written, and what was left out.

    `left_out` counts pairs by reason, `rows_left_out` rows. `split` has an entry for each of `entries`.
    """

    shape: Shape
    pairs: Sequence[Used]
    load: Callable[[Used], Pair]
    entries: list[Entry] = field(default_factory=list)
    split: list[Split] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    rows_left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    @property
    def exported(self) -> int:
        """How many pairs have a row."""
        return len({entry.pair for entry in self.entries})

    def count(self, split: Split) -> int:
        """How many rows are on one side."""
        return self.split.count(split)

    def rows(self) -> Iterator[tuple[Split, Row]]:
        """The rows with their side, in the order of the record."""
        last, made = -1, []
        for entry, side in zip(self.entries, self.split, strict=True):
            if entry.pair != last:
                last = entry.pair
                used = self.pairs[last]
                made = _made(used, self.load(used), self.shape)[0]
            yield side, made[entry.number]

    def write(self, streams: Mapping[Split, IO[bytes]]) -> None:
        """Write every row as a line, and note what loading will change."""
        seen = LoadingNotes()
        for side, row in self.rows():
            streams[side].write(jsontext.encode_in_order(row) + b"\n")
            seen.see(row)
        if self.shape.format != "openai":
            self.notes += seen.lines()

    def write_files(self, files: Mapping[Split, Path]) -> None:
        """Write the files, which appear when all of them are complete.

        Raises:
            ConfigError: one cannot be written.
        """
        with ExitStack() as stack:
            self.write({side: stack.enter_context(whole_file(path)) for side, path in files.items()})


def training_set(
    pairs: Sequence[Used], load: Callable[[Used], Pair], shape: Shape, held_out: HeldOut | None = None
) -> TrainingSet:
    """What will be written of these pairs.

    Args:
        pairs: what may be used, in order.
        load: fetches the traces of a pair.
        shape: how rows are written.
        held_out: tasks that must not be in it.
    """
    made = TrainingSet(shape, pairs, load)
    bare = 0
    for index, used in enumerate(pairs):
        found = load(used)
        rows, reason, asked = _made(used, found, shape)
        requests = [task_key([one]) for one in (found.better.request, found.worse.request) if one]
        if held_out is not None and held_out.holds(used.record.case_id, [*asked, *requests]):
            made.left_out["held_out"] += 1
        elif reason is not None:
            made.left_out[reason] += 1
        else:
            bare += found.tools[0] is None
            made.entries += [_entry(index, number, row, used, asked) for number, row in enumerate(rows)]
    if bare:
        made.notes.append(f"{counted(bare, 'pair')} without a catalog: name it by --tools, or by the settings")
    _without_repeats(made)
    made.split = _split(made.entries, shape)
    if shape.test_share and made.entries and not 0 < made.count("test") < len(made.entries):
        made.notes.append("all rows are on one side of the split: there are too few tasks to divide")
    return made


def _made(used: Used, pair: Pair, shape: Shape) -> tuple[list[Row], str | None, set[str]]:
    """The rows of a pair, or why there are none; and the keys of what the user asks."""
    request, context = (None, None) if pair.case is None else (pair.case.request, pair.case.context)
    better, worse = chat_of(pair.better, request, context), chat_of(pair.worse, request, context)
    keys = {task_key(asked_in(chat)) for chat in (better, worse) if isinstance(chat, Chat)}
    asked = {key for key in keys if key is not None}
    if not isinstance(better, Chat):
        return [], better.reason, asked
    if not isinstance(worse, Chat):
        return [], worse.reason, asked
    tools, other = pair.tools
    if not _same_tools(tools, other):
        return [], "catalogs_differ", asked
    apart = cut(better, worse, shape.level, shape.prompts)
    if isinstance(apart, str):
        return [], apart, asked
    rows = rows_of(apart, tools, shape.format, None if shape.plain else _origin(used), shape.arguments)
    return ([], rows, asked) if isinstance(rows, str) else (rows, None, asked)


def _same_tools(one: Sequence[Tool] | None, other: Sequence[Tool] | None) -> bool:
    if one is None or other is None:
        return one is other
    return jsontext.encode(sorted(one, key=_name)) == jsontext.encode(sorted(other, key=_name))


def _name(tool: Tool) -> str:
    return tool.name


def _origin(used: Used) -> Origin:
    record, settled = used.record, used.settled
    return Origin(
        weight=settled.weight, margin=settled.margin, pair=record.unit, case_id=record.case_id, run_id=record.run_id,
        decided_by=settled.decided_by, confidence=settled.confidence, judges=settled.judges, verdict=used.digest,
    )  # fmt: skip


def _entry(pair: int, number: int, row: Row, used: Used, asked: set[str]) -> Entry:
    prompt, first, second = texts_of(row)
    opposite = [prompt, first, not second] if isinstance(second, bool) else [prompt, second, first]
    record = used.record
    own = f"pair {record.run_id} {record.unit}" if record.case_id is None else f"case {record.case_id}"
    ties = (own, key_of(prompt), *sorted(asked))
    return Entry(pair, number, key_of([prompt, first, second]), key_of(opposite), ties)


def _without_repeats(made: TrainingSet) -> None:
    """Leave out what is there already, and what is contradicted."""
    keys = {entry.key for entry in made.entries}
    kept: dict[str, Entry] = {}
    for entry in made.entries:
        if entry.opposite in keys:
            made.rows_left_out["contradicting"] += 1
        elif entry.key in kept:
            made.rows_left_out["duplicate"] += 1
        else:
            kept[entry.key] = entry
    opposed = {entry.pair for entry in made.entries if entry.opposite in keys}
    for pair in {entry.pair for entry in made.entries} - {entry.pair for entry in kept.values()}:
        made.left_out["contradicting" if pair in opposed else "duplicate"] += 1
    made.entries = list(kept.values())


# ---- the split -------------------------------------------------------------------------------------------------------


def _split(entries: Sequence[Entry], shape: Shape) -> list[Split]:
    """The side of each row: whole tasks are drawn until the share is met as nearly as they allow."""
    if not shape.test_share:
        return ["train"] * len(entries)
    groups = _groups(entries)
    sizes = Counter(groups)
    wanted, drawn, count = shape.test_share * len(entries), set(), 0
    for group in sorted(sizes, key=lambda name: sha256(f"{shape.seed}\0{name}".encode()).digest()):
        if abs(count + sizes[group] - wanted) < abs(count - wanted):
            drawn.add(group)
            count += sizes[group]
    return ["test" if group in drawn else "train" for group in groups]


def _groups(entries: Sequence[Entry]) -> list[str]:
    """The task of each row: what a tie binds, however indirectly, is one task, named by the first of its ties."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        parent.setdefault(name, name)
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for entry in entries:
        first = root(entry.ties[0])
        for tie in entry.ties[1:]:
            one, other = sorted((root(tie), first))
            parent[other] = first = one
    return [root(entry.ties[0]) for entry in entries]


def figures(made: TrainingSet, pairs: int, before: Mapping[str, int]) -> dict[str, Any]:
    """What became of the pairs, as `--json` gives it.

    Args:
        made: the set.
        pairs: how many pairs there were.
        before: pairs that were left out by their verdict, by reason.
    """
    left_out = Counter(before) + made.left_out
    return {
        "pairs": pairs,
        "exported": made.exported,
        "left_out": dict(sorted(left_out.items(), key=lambda one: (-one[1], one[0]))),
        "rows": {"train": made.count("train"), "test": made.count("test")},
        "rows_left_out": dict(sorted(made.rows_left_out.items())),
        "notes": made.notes,
    }

"""LangSmith's runs, as trees (`child_runs`) or flat rows (`parent_run_id`, `trace_id`): one trace for each root run.

The runs of a trace may be spread over a file, or over several files given together. Calls come from the LLM runs,
results and errors from the tool runs (see `langsmith_events`).

* A tool run has failed where it has an `error`, or where its tool message says so; it has not where it ended without.
* `error` of the root run, and whether it ended, say whether the trace is complete.
* The runs of one conversation are several traces: `session` of the metadata says which belong together.
* `reference_example_id` is the case, `feedback_stats` and rows of feedback are labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.errors import Place
from rightcall.trace.model import Agent, Trace, TraceFinding
from rightcall.trace.sources.conversation import first_request, mapping, text_or_none, written_id
from rightcall.trace.sources.dialect import Dialect, Skip
from rightcall.trace.sources.langsmith_events import Reader
from rightcall.trace.sources.langsmith_feedback import is_feedback, labels
from rightcall.trace.sources.langsmith_runs import Family, Run, families, is_run, unfold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.dialect import Record

_SESSIONS = ("session_id", "thread_id", "conversation_id")
_SUMS = ("total_tokens", "prompt_tokens", "completion_tokens", "total_cost", "session_name", "session_id")
_ENDED = {"success": True, "error": False, "pending": False, "interrupted": False}


def detect(value: JsonValue) -> bool:
    """Whether this is a run, or an answer of the API with a list of runs."""
    runs = mapping(value).get("runs")
    return is_run(value) or (isinstance(runs, list) and bool(runs) and all(map(is_run, runs)))


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read the runs of one record."""
    for item, _ in grouped([(value, place)]):
        yield item


def grouped(records: Iterable[Record]) -> Iterator[tuple[Trace | Skip, Place]]:
    """Read all runs together, then each trace."""
    runs: list[Run] = []
    feedback: list[tuple[str, Mapping[str, JsonValue], Place]] = []
    for value, place in _rows(records):
        if is_feedback(value):
            row = mapping(value)
            feedback.append((written_id(row.get("run_id")) or "", row, place))
            continue
        if not is_run(value):
            yield Skip("TRACE_MALFORMED", "this is not a run: `id`, `name`, `run_type` and its trace", place), place
            continue
        runs.extend(unfold(value, place))
    found = families(runs)
    homes = {run.id: family for family in found for run in family.runs}
    for run_id, row, place in feedback:
        if run_id in homes:
            homes[run_id].feedback.append((run_id, row))
        else:
            yield Skip("TRACE_TREE_INVALID", f"feedback about the run `{run_id}`, which is not here", place), place
    for family in found:
        yield _trace(family), family.root.place


def _rows(records: Iterable[Record]) -> Iterator[Record]:
    """The rows of every record: one, or those of an answer of the API."""
    for value, place in records:
        rows = mapping(value).get("runs")
        if isinstance(rows, list) and "run_type" not in mapping(value):
            for index, row in enumerate(rows):
                yield row, Place(place.file, place.line, None, f"{place.path or '$'}.runs[{index}]")
        else:
            yield value, place


def _trace(family: Family) -> Trace | Skip:
    root = family.root
    reader = Reader(family)
    if any(run.kind in ("llm", "tool") for run in family.runs):
        reader.read(family.runs)
    else:
        reader.read_root()
    talk = reader.talk
    if not talk.events:
        return Skip("TRACE_INCOMPLETE", "no run of this trace says what was said or called", root.place)
    if root.parent is not None:
        note = f"the run `{root.parent}`, above `{root.name}`, is not in the export"
        talk.findings.append(TraceFinding(code="TRACE_TREE_INVALID", message=note, path=root.path))
    if root.error is not None:
        note = f"the run `{root.name}` failed: {root.error[:200]}"
        talk.findings.append(TraceFinding(code="TRACE_INCOMPLETE", message=note, path=root.path))
    return Trace(
        id=root.trace or root.id,
        case_id=written_id(root.row.get("reference_example_id")),
        request=first_request(talk.events),
        context={"history": reader.history} if reader.history else None,
        agent=_agent(root, family, talk.model),
        tools_json=talk.catalog(),
        events=tuple(talk.events),
        completed=False if talk.cut_off else _completed(root),
        findings=(*family.findings, *talk.findings),
        labels=labels(family),
        metadata=_metadata(root, talk.artifacts),
    )


def _agent(root: Run, family: Family, model: str | None) -> Agent | None:
    named = (text_or_none(run.metadata.get("ls_model_name")) for run in family.runs if run.kind == "llm")
    model = next((name for name in named if name), None) or model
    version = text_or_none(root.metadata.get("revision_id"))
    return Agent(name=root.name or None, version=version, model=model)


def _completed(root: Run) -> bool | None:
    """Whether the run came to its end: by its error, its status, or because it has an end."""
    if root.parent is not None:
        return None
    if root.error is not None:
        return False
    status = text_or_none(root.row.get("status"))
    if status in _ENDED:
        return _ENDED[status]
    return True if root.end is not None else None


def _metadata(root: Run, artifacts: list[JsonValue]) -> dict[str, JsonValue]:
    """What the program said about the root run, and what LangSmith keeps beside it."""
    found = {key: value for key, value in root.metadata.items() if isinstance(value, (str, int, float))}
    session = next((found[key] for key in _SESSIONS if key in found), None)
    kept = {key: root.row[key] for key in _SUMS if isinstance(root.row.get(key), (str, int, float))}
    if "session_id" in kept:  # LangSmith calls a project a session
        kept["project_id"] = kept.pop("session_id")
    if "session_name" in kept:
        kept["project"] = kept.pop("session_name")
    if session is not None:
        found["session"] = session
    example = written_id(root.row.get("reference_example_id"))
    if example is not None:
        found["reference_example_id"] = example
    if isinstance(root.row.get("tags"), list) and root.row["tags"]:
        found["tags"] = root.row["tags"]
    return {**found, **kept, **({"artifacts": artifacts} if artifacts else {})}


DIALECT = Dialect("langsmith", "LangSmith runs", detect, traces, grouped=grouped)

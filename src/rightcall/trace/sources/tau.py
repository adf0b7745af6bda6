"""τ-bench results: a list of runs `{task_id, trial, reward, info, traj}`.

`traj` holds OpenAI messages; ids of calls come up again inside one run. The expected calls of `info.task` are read by
`rightcall.case.sources.tau`. The file does not say how a run ended, so `completed` is unknown, except that a run which
recorded an error is not complete. `reward` is kept in the metadata and is no verdict on the calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.errors import Place
from rightcall.trace.model import Trace
from rightcall.trace.sources.conversation import first_request, mapping, place_id, text_or_none, written_id
from rightcall.trace.sources.dialect import Dialect, Skip
from rightcall.trace.sources.openai_chat import events_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue


def detect(value: JsonValue) -> bool:
    """Whether a record is one run."""
    run = mapping(value)
    return "task_id" in run and "reward" in run and isinstance(run.get("info"), dict) and "messages" not in run


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one run."""
    run = mapping(value)
    info, messages = mapping(run.get("info")), run.get("traj")
    failure = text_or_none(info.get("error"))
    if not isinstance(messages, list) or not messages:
        reason = f": {failure}" if failure else ""
        yield Skip("TRACE_INCOMPLETE", f"the run recorded no messages in `traj`{reason}", place)
        return
    root = place.path or "$"
    events, findings = events_of(messages, Place(place.file, place.line, None, f"{root}.traj"))
    if not events:
        yield Skip("TRACE_MALFORMED", "none of the messages in `traj` could be read", place)
        return
    task = written_id(run.get("task_id"))
    yield Trace(
        id=run_id(run) or place_id(place),
        case_id=task,
        trial=trial_of(run),
        request=first_request(events),
        events=events,
        completed=False if failure else None,
        findings=findings,
        metadata=_metadata(run, info),
    )


def run_id(run: Mapping[str, JsonValue]) -> str | None:
    """`tau-<task>-<trial>`, without the trial where none is recorded; nothing without a task."""
    task, trial = written_id(run.get("task_id")), trial_of(run)
    if task is None:
        return None
    return f"tau-{task}" if trial is None else f"tau-{task}-{trial}"


def trial_of(run: Mapping[str, JsonValue]) -> int | None:
    """The number of the trial, if it is one."""
    trial = run.get("trial")
    return trial if isinstance(trial, int) and not isinstance(trial, bool) else None


def _metadata(run: Mapping[str, JsonValue], info: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    kept = {
        "reward": run.get("reward"),
        "user_id": mapping(info.get("task")).get("user_id"),
        "error": info.get("error"),
    }
    return {key: value for key, value in kept.items() if isinstance(value, (int, float, str))}


DIALECT = Dialect("tau", "τ-bench results", detect, traces)

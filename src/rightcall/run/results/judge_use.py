"""By which model and prompt a judge answered: what keeps answers of different judges apart, whatever they are called.

A calibration holds for one model and one prompt. The model is the one that answered; the one asked for where the
endpoint did not say. The prompt is that of the run where it has only one, and of the recorded exchange where not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from rightcall.errors import StoreError
from rightcall.grade.opinion import Opinion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rightcall.run.results.model import GraderResults
    from rightcall.store.records import AttemptRecord
    from rightcall.store.store import Store


class Use(Struct, frozen=True, order=True):
    """A model and a prompt (by its hash); empty where that is not on record."""

    model: str
    prompt: str


class PromptName(Struct, frozen=True):
    """A prompt as people know it."""

    id: str = ""
    version: str = ""


class _Said(Struct, frozen=True):
    """Of a result, who was heard."""

    judges: tuple[Opinion, ...] = ()


_SAID = msgspec.json.Decoder(_Said)


class Uses:
    """Finds out by which model and prompt each opinion of a run came; looks up each exchange once."""

    def __init__(self, store: Store | None, facts: Mapping[str, Any]) -> None:
        self._store = store
        self._models = {one.get("name"): one.get("model") or "" for one in judges_of(facts)}
        self.prompts: dict[str, PromptName] = {one["sha256"]: PromptName(one.get("id", ""), one.get("version", ""))
                        for one in facts.get("prompts") or () if one.get("sha256")}  # fmt: skip
        self._exchanges: dict[str, str] = {}

    def of(self, opinion: Opinion) -> Use:
        """The model and the prompt of one opinion."""
        return Use(opinion.model or self._models.get(opinion.judge, ""), self._prompt(opinion))

    def possible(self, judge: str) -> set[Use]:
        """What a run that heard nothing of a judge would have used."""
        return {Use(self._models.get(judge, ""), prompt) for prompt in self.prompts or ("",)}

    def _prompt(self, opinion: Opinion) -> str:
        if len(self.prompts) == 1:
            return next(iter(self.prompts))
        if not opinion.attempts:
            return ""
        last = opinion.attempts[-1]
        if last not in self._exchanges:
            found = self._exchange(last)
            self._exchanges[last] = "" if found is None else found.prompt_sha256
            if found is not None:
                self.prompts.setdefault(found.prompt_sha256, PromptName(found.prompt_id, found.prompt_version))
        return self._exchanges[last]

    def _exchange(self, digest: str) -> AttemptRecord | None:
        if self._store is None:
            return None
        try:
            return self._store.attempt(digest)[2]
        except StoreError:
            return None


def judges_of(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The judges of a run as its facts name them."""
    return [one for one in facts.get("judges") or () if isinstance(one, dict) and one.get("name")]


def uses_of(store: Store | None, results: GraderResults) -> dict[str, set[Use]]:
    """Of each judge of a grader's results, by which models and prompts it answered.

    A judge of which nothing readable was heard is listed with what the run would have used.
    """
    uses = Uses(store, results.facts)
    names = [str(one["name"]) for one in judges_of(results.facts)]
    found: dict[str, set[Use]] = {name: set() for name in names}
    if names:
        for opinion in _heard(row.line for row in results.rows()):
            found.setdefault(opinion.judge, set()).add(uses.of(opinion))
    return {name: heard or uses.possible(name) for name, heard in found.items()}


def _heard(lines: Iterable[bytes]) -> Iterable[Opinion]:
    for line in lines:
        for opinion in _SAID.decode(line).judges:
            if opinion.status == "EVALUATED":
                yield opinion

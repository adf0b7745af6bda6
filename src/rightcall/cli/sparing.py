"""No report takes the place of a file that the command reads."""

from __future__ import annotations

from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rightcall.errors import ConfigError, Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rightcall.settings.load import Loaded


def spare_inputs(out: Iterable[Path], loaded: Loaded, read: Iterable[Path], *named: str | Path | None) -> None:
    """Refuse to write over a file that is read.

    That is every file that is judged, and every one that the settings name, whatever for: the catalog, a policy, a
    prompt, answers that were recorded. What gates compare with may be written anew.

    Args:
        out: the files to write.
        loaded: the settings.
        read: files that are judged.
        *named: others, by flags.

    Raises:
        ConfigError: naming the file.
    """
    files = list(out)
    if not files:
        return
    taken = {path.resolve() for path in read}
    taken |= {path.resolve() for text in named if text is not None for path in _files(str(text), Path())}
    taken |= set() if loaded.file is None else {loaded.file.resolve()}
    taken |= {path.resolve() for text in _texts(_settings(loaded)) for path in _files(text, loaded.folder)}
    for path in files:
        if path.resolve() in taken:
            raise ConfigError(f"`{path}` is one of the files to read", place=Place("--out"), hint="name another file")


def _settings(loaded: Loaded) -> dict[str, Any]:
    import msgspec

    found: dict[str, Any] = msgspec.to_builtins(loaded.settings)
    return {name: value for name, value in found.items() if name != "gates"}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)


def _files(text: str, folder: Path) -> Iterator[Path]:
    """The files that a text names or is a pattern of, seen from the settings or from here, as flags are."""
    for path in (folder / text, Path(text)):
        try:
            yield from (one for one in (path, *map(Path, glob(str(path)))) if one.is_file())  # noqa: PTH207 - also absolute ones
        except (OSError, ValueError):  # a text that can be no name
            continue

"""Several files as one stream of traces, with a reading report a file: what `import`, `inspect` and `init` share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rightcall.errors import NoDataError, TraceError
from rightcall.trace.sources.dialect import ReadingReport, Skip
from rightcall.trace.sources.reading import items_of, open_traces

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rightcall.trace.model import Trace


@dataclass
class Sources:
    """Files to read together.

    Attributes:
        paths: the files, in order.
        dialect: `auto`, or the reader to use for all.
        strict: whether a skipped record stops the reading.
        reports: file -> what became of its records, filled while `traces` runs.
    """

    paths: list[Path]
    dialect: str = "auto"
    strict: bool = False
    reports: dict[str, ReadingReport] = field(default_factory=dict)

    def traces(self) -> Iterator[Trace]:
        """Every trace of the files; what was not read is counted.

        Raises:
            TraceError: a file that cannot be read, or, when strict, a record that cannot.
            NoDataError: no file holds a trace, and none was skipped either.
        """
        opened = [open_traces(path, self.dialect) for path in self.paths]
        self.reports = {str(one.path): ReadingReport(one.dialect.name) for one in opened}
        for item, place in items_of(opened):
            report = self.reports[place.file or str(self.paths[0])]
            if not isinstance(item, Skip):
                report.trace(item)
                yield item
            elif self.strict:
                hint = "without --strict it is skipped and counted"
                raise TraceError(item.message, code=item.code, place=item.place, hint=hint)
            else:
                report.skip(item)
        if not any(report.read or report.skipped for report in self.reports.values()):
            raise NoDataError("no trace in these files")

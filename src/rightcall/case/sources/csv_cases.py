"""Cases from plain CSV: one row a golden call, several rows of one `id` the calls of one case.

Columns, of which only `id` must be there: `id`, `request`, `tool`, `arguments` (a JSON object, matchers allowed),
`label`, `after` (labels or tools, separated by blanks or semicolons), `optional` (`true` or `false`), `order`
(`listed`, `partial` or `any`), `tags` (as `after`).

* An empty `arguments` means that any will do; `{}` means none.
* A row with an empty `tool` makes no call: alone, it says that no tool may be called. Without a column `tool` the cases
  have no golden.
* `request`, `order` and `tags` may stand in any row of a case, and may not differ.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from msgspec import UNSET, Raw, UnsetType

from rightcall.case.case import Case, Expect, GoldenCall
from rightcall.errors import CaseError, Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.explain import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.case.case import Order

COLUMNS = ("id", "request", "tool", "arguments", "label", "after", "optional", "order", "tags")
_YES_OR_NO = {"": False, "false": False, "no": False, "0": False, "true": True, "yes": True, "1": True}
_ORDERS: dict[str, Order | None] = {"": None, "listed": "listed", "partial": "partial", "any": "any"}

_Row = tuple[dict[str, str], Place]


def csv_cases(data: bytes, file: str) -> Iterator[tuple[Case, Place]]:
    """Every case of a CSV text with the place of its first row.

    Raises:
        CaseError: not UTF-8 or CSV, an unknown column, a row that cannot be read, with its line.
    """
    rows: dict[str, list[_Row]] = {}
    has_tool = False
    for row, place in _rows(data, file):
        has_tool = "tool" in row
        case_id = row["id"].strip()
        if not case_id:
            raise CaseError("the row has no `id`", place=place)
        rows.setdefault(case_id, []).append((row, place))
    for case_id, group in rows.items():
        yield _case(case_id, group, has_tool=has_tool), group[0][1]


def _rows(data: bytes, file: str) -> Iterator[_Row]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CaseError(f"not UTF-8 at byte {error.start}", place=Place(file)) from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    line = 1
    try:
        for cells in reader:
            place, line = Place(file, line), reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = _header(cells, place)
            elif len(cells) > len(header):
                raise CaseError(
                    f"the row has {len(cells)} cells and there are {len(header)} columns", place=place,
                    hint='write a cell with a comma between quotes, and a quote in it twice: "{""a"": 1}"',
                )  # fmt: skip
            else:
                yield dict(zip(header, [*cells, *[""] * (len(header) - len(cells))], strict=True)), place
    except csv.Error as error:
        raise CaseError(f"not valid CSV: {error}", place=Place(file, line)) from None


def _header(cells: list[str], place: Place) -> list[str]:
    header = [cell.strip().lower() for cell in cells]
    for name in header:
        if name not in COLUMNS:
            guess = nearest(name, COLUMNS)
            raise CaseError(
                f"unknown column `{name}`", place=place, code="CASE_UNKNOWN_FIELD",
                hint=f"did you mean `{guess}`?" if guess else f"known: {', '.join(COLUMNS)}",
            )  # fmt: skip
    if "id" not in header or len(set(header)) < len(header):
        what = "a column stands twice" if "id" in header else "there is no column `id`"
        raise CaseError(what, place=place, hint=f"known: {', '.join(COLUMNS)}")
    return header


def _case(case_id: str, group: list[_Row], *, has_tool: bool) -> Case:
    calls = [_golden(row, place) for row, place in group if row.get("tool", "").strip()]
    order = _shared("order", case_id, group)
    if order not in _ORDERS:
        raise CaseError(f"`order` must be listed, partial or any, not `{order}`", place=group[0][1])
    return Case(
        id=case_id,
        request=_shared("request", case_id, group) or None,
        tags=_names(_shared("tags", case_id, group)),
        expect=Expect(calls=tuple(calls), order=_ORDERS[order]) if has_tool else None,
    )


def _shared(column: str, case_id: str, group: list[_Row]) -> str:
    """What a case's rows say together: all that say anything must agree."""
    said = ""
    for row, place in group:
        text = row.get(column, "").strip()
        if said and text and text != said:
            raise CaseError(f"the rows of `{case_id}` have different values as `{column}`", place=place)
        said = said or text
    return said


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.replace(";", " ").split())


def _golden(row: dict[str, str], place: Place) -> GoldenCall:
    optional = row.get("optional", "").strip().lower()
    if optional not in _YES_OR_NO:
        raise CaseError(f"`optional` must be true or false, not `{optional}`", place=place)
    return GoldenCall(
        tool=row["tool"].strip(),
        arguments_json=_arguments(row.get("arguments", ""), place),
        label=row.get("label", "").strip() or None,
        after=_names(row.get("after", "")),
        optional=_YES_OR_NO[optional],
    )


def _arguments(text: str, place: Place) -> Raw | UnsetType:
    if not text.strip():
        return UNSET
    try:
        value = jsontext.decode(text)
    except TraceError as error:
        raise CaseError(
            f"`arguments`: {error.message}", place=place, hint='a JSON object, such as {"city": "Oslo"}'
        ) from None
    if not isinstance(value, dict):
        raise CaseError("`arguments` must be a JSON object", place=place, hint="leave the cell empty if anything goes")
    # As written: a matcher's name must stay the first key. A line break outside strings means nothing.
    return Raw(text.strip().replace("\n", " ").replace("\r", " ").encode())

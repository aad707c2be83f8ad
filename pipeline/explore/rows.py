"""The rows of a result: all nodes or links that an algorithm answers for, page by page."""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN = 100  # rows that the page gets at a time
DOWNLOADS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


class Listed:
    """What ``hopscope search --out`` writes of a search, made when it is first requested.

    Parameters
    ----------
    summary : pipeline.stages.search.SearchSummary
    """

    def __init__(self, summary: Any) -> None:
        self._summary = summary

    @cached_property
    def table(self) -> pa.Table:
        from pipeline.stages.search import result_table

        return result_table(self._summary)

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Rows that hold a text, sorted: some of them for the page, or all as a file.

        Parameters
        ----------
        request : mapping
            ``filter``: text that a cell of the row must contain; ``sort``: column, with ``-`` in
            front from the largest; ``first``: rows to leave out before; ``file``: csv or parquet,
            empty for the page.
        """
        rows = self._sorted(self._matching(str(request.get("filter", ""))), request.get("sort"))
        if request.get("file") in DOWNLOADS:
            return {"content": _file(rows, request["file"])}
        first = max(0, int(request.get("first", 0)))
        some = rows.slice(first, SHOWN)
        return {
            "columns": some.column_names,
            "rows": [[_cell(value) for value in row.values()] for row in some.to_pylist()],
            "first": first,
            "n_rows": self.table.num_rows,
            "n_matching": rows.num_rows,
        }

    def _matching(self, text: str) -> pa.Table:
        import pyarrow as pa
        import pyarrow.compute as pc

        if not text.strip():
            return self.table
        found = None
        for column in self.table.columns:
            cells = column if pa.types.is_string(column.type) else pc.cast(column, pa.string())
            has = pc.fill_null(pc.match_substring(cells, text.strip(), ignore_case=True), False)
            found = has if found is None else pc.or_(found, has)
        return self.table.filter(found)

    def _sorted(self, rows: pa.Table, sort: Any) -> pa.Table:
        name = str(sort or "").removeprefix("-")
        if name not in rows.column_names:
            return rows
        order = "descending" if str(sort).startswith("-") else "ascending"
        return rows.sort_by([(name, order)])


def _cell(value: Any) -> Any:
    """A value that JSON and the page can take: unreached nodes have no distance."""
    return None if isinstance(value, float) and not abs(value) < float("inf") else value


def _file(rows: pa.Table, kind: str) -> bytes:
    import pyarrow.csv as pacsv
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    if kind == "parquet":
        pq.write_table(rows, stream, compression="zstd")
        return stream.getvalue()
    pacsv.write_csv(rows, stream)  # numbers and addresses: nothing that a program would evaluate
    return stream.getvalue()

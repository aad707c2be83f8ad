"""Ingresses of ASes as rows of the tables of their pages.

Pages are bounded: a page shows no more than the ``MAX_INGRESSES`` with the most traces, and
says so; all of them are in ``ingresses.parquet``. There may be a million rows, so they are made
here, column by column, and not by a template.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import escape

from pipeline.model.columns.ragged import offset_in_row, offsets
from pipeline.model.words import (
    confidence_text,
    delay_basis,
    is_low,
    ms_text,
    printable,
    spread_text,
)
from pipeline.report.pages.ases.neighbor_texts import neighbor_texts
from pipeline.report.tables.places import (
    PLACE_COLUMNS,
    impossible_text,
    place_text,
)
from pipeline.report.tables.summarise import Summary
from pipeline.report.texts import NONE, figure

MAX_INGRESSES = 100


def first_ingresses(summary: Summary) -> tuple[np.ndarray, np.ndarray]:
    """Ingress rows to show, as ``show`` lists them, and their offsets by AS.

    Those with the most traces right after a hop of another AS come first, then by those after gaps.
    """
    table = summary.ingresses
    lengths = np.diff(summary.ingress_ptr)
    n_direct, n_after_gap = (table[name].to_numpy() for name in ("n_direct", "n_after_gap"))
    reached = pc.fill_null(table["n_reached"], -1).to_numpy()
    position = np.repeat(np.arange(len(lengths)), lengths)
    candidate = table["candidate"].to_numpy()
    keys = (table["ingress"].to_numpy(), -reached, -n_after_gap, -n_direct, candidate, position)
    order = np.lexsort(keys)
    shown = order[offset_in_row(summary.ingress_ptr) < MAX_INGRESSES]
    return shown, offsets(np.minimum(lengths, MAX_INGRESSES))


def ingress_rows(
    table: pa.Table, others: pa.Array, widths: np.ndarray, ptr: np.ndarray, linked: np.ndarray
) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Table rows of ingresses, and which columns the tables of their ASes have.

    Parameters
    ----------
    table, others
        Rows of ``Summary.ingresses`` and ``Summary.ingress_others``.
    widths : (n_rows,) int64
        Hop counts that a bar of their AS stands for.
    ptr : (n_ases + 1,) int64
        Offsets of the rows by AS.
    linked : (n_pages,) int64
        ASes that have a page, ascending.

    Returns
    -------
    list of str, and three of (n_ases,) bool
        Rows as HTML; whether their AS has columns of traces, of confidence, and of delays.
    """
    n_direct, n_after_gap = (table[name].to_numpy() for name in ("n_direct", "n_after_gap"))
    rated = table["confidence"].is_valid().to_numpy()
    traced_ases = _any_of((n_direct > 0) | (n_after_gap > 0), ptr)
    rated_ases = _any_of(rated, ptr)
    delayed = table["delay_ms"].is_valid().to_numpy()
    delayed_ases = _any_of(delayed, ptr)
    of_as = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    columns = zip(
        table["addr"].to_pylist(),
        table["host_name"].to_pylist(),
        others.to_pylist(),
        table["candidate"].to_pylist(),
        table["n_reached"].to_pylist(),
        table["eccentricity"].to_pylist(),
        table["mean_hops"].to_pylist(),
        _hop_texts(table["hop_counts"].combine_chunks(), widths),
        n_direct.tolist(),
        n_after_gap.tolist(),
        table["confidence"].to_pylist(),
        neighbor_texts(
            table["neighbor_asns"].combine_chunks(),
            table["neighbor_n_direct"].combine_chunks(),
            table["neighbor_ixps"].combine_chunks(),
            linked=linked,
        ),
        traced_ases[of_as].tolist(),
        rated_ases[of_as].tolist(),
        _delay_cells(table, delayed_ases[of_as]),
        place_texts(table),
        strict=True,
    )
    return [_row(*row) for row in columns], traced_ases, rated_ases, delayed_ases


def _delay_cells(table: pa.Table, wanted: np.ndarray) -> list[str]:
    """Cells of the median and of its quartiles; empty where the AS has no such columns."""
    names = [name for name in table.column_names if name.startswith("delay_")]
    rows = table.select([name for name in names if "_by_" not in name]).to_pylist()
    none = f"<td>{NONE}<td>{NONE}"
    return [
        (none if row["delay_ms"] is None else _delay_cell(row)) if is_wanted else ""
        for row, is_wanted in zip(rows, wanted.tolist(), strict=True)
    ]


def _delay_cell(row: Mapping[str, Any]) -> str:
    basis = f"<small>{delay_basis(row)}</small>"
    return f"<td>{ms_text(row['delay_ms'])}<td>{spread_text(row)} {basis}"


def _row(
    addr: str | None,
    host: str | None,
    others: str | None,
    candidate: bool,
    n_reached: int | None,
    eccentricity: int | None,
    mean_hops: float | None,
    hops: str,
    n_direct: int,
    n_after_gap: int,
    confidence: float | None,
    neighbors: str,
    traced: bool,
    rated: bool,
    delay: str,
    place: str,
) -> str:
    named = f"{addr}{host_text(host)}{place}"
    if others:
        named += f" <small>also {others}</small>"
    if candidate:
        named += ' <i class="tag">candidate</i>'
    elif confidence is not None and is_low(confidence):
        named += ' <i class="tag" title="may well be wrong">low confidence</i>'
    if n_reached is None:
        found = f"{NONE}<td>{NONE}<td>{NONE}"
    else:
        found = f"{n_reached:,}<td>{eccentricity:,}<td>{figure(mean_hops, 'mean_hops')}"
    row = f"<tr><td>{named}<td>{found}<td>{hops}"
    if traced:
        row += f"<td>{n_direct:,}<td>{n_after_gap:,}"
    if rated:
        row += f"<td>{NONE if confidence is None else confidence_text(confidence)}"
    return f"{row}{delay}{neighbors}\n"


def host_text(host: str | None) -> str:
    """The host name that follows an address in a cell of a table; empty where none is known."""
    return f" <bdi class=host>{escape(printable(host))}</bdi>" if host else ""


def place_texts(table: pa.Table) -> list[str]:
    """The places that follow addresses in cells of a table; empty where none is known."""
    if table["latitude"].null_count == table.num_rows:
        return [""] * table.num_rows
    return [_place_text(row) for row in table.select(PLACE_COLUMNS).to_pylist()]


def _place_text(row: Mapping[str, Any]) -> str:
    if not (text := place_text(row)):
        return ""
    shown = f" <bdi class=place>{escape(text)}</bdi>"
    if why := impossible_text(row):
        shown += f' <i class="tag" title="{escape(why)}">impossible place</i>'
    return shown


def _any_of(flags: np.ndarray, ptr: np.ndarray) -> np.ndarray:
    """Whether any of the rows of each AS is marked."""
    return np.diff(offsets(flags)[ptr]) > 0


def _hop_texts(hop_counts: pa.Array, widths: np.ndarray) -> list[str]:
    """Counts at 1, 2, 3 ... hops as text; ``widths`` neighbouring ones are merged."""
    away = pc.list_slice(hop_counts, 1)
    texts = pc.fill_null(pc.binary_join(away.cast(pa.list_(pa.string())), " "), "").to_pylist()
    for i in np.flatnonzero(widths > 1).tolist():
        counts = np.array(away[i].as_py() or [], np.int64)
        if len(counts):
            merged = np.add.reduceat(counts, np.arange(0, len(counts), widths[i]))
            texts[i] = " ".join(map(str, merged.tolist()))
    return texts

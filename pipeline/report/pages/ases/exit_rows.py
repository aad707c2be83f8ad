"""Exits of ASes as rows of the tables of their pages."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from pipeline.model.columns.ragged import offset_in_row, offsets
from pipeline.report.pages.ases.ingress_rows import host_text, place_texts
from pipeline.report.pages.ases.neighbor_texts import neighbor_texts
from pipeline.report.tables.summarise import Summary

MAX_EXITS = 25  # on a page, those with the most traces


def exit_rows(summary: Summary, linked: np.ndarray) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Rows of the exits that pages show.

    Parameters
    ----------
    summary : Summary
    linked : (n_pages,) int64
        ASes that have a page, ascending.

    Returns
    -------
    list of str, (n_ases + 1,) int64, (n_ases,) int64
        Rows as HTML: address, traces, next ASes; their offsets by AS; all exits of each AS.
    """
    table = summary.exits
    asns = summary.ases["asn"].to_numpy()
    lengths = np.bincount(np.searchsorted(asns, table["asn"].to_numpy()), minlength=len(asns))
    position = np.repeat(np.arange(len(asns)), lengths)
    order = np.lexsort((table["exit"].to_numpy(), -table["n_direct"].to_numpy(), position))
    shown = table.take(order[offset_in_row(offsets(lengths)) < MAX_EXITS])
    neighbors = neighbor_texts(
        shown["neighbor_asns"].combine_chunks(),
        shown["neighbor_n_direct"].combine_chunks(),
        linked=linked,
    )
    names = ("addr", "host_name", "n_direct")
    columns = zip(
        *(shown[name].to_pylist() for name in names), place_texts(shown), neighbors, strict=True
    )
    rows = [
        f"<tr><td>{addr or '?'}{host_text(host)}{place}<td>{n:,}{to}\n"
        for addr, host, n, place, to in columns
    ]
    return rows, offsets(np.minimum(lengths, MAX_EXITS)), lengths


def exits_of(rows: list[str], ptr: np.ndarray, lengths: np.ndarray, i: int) -> dict | None:
    """Variables of the table of AS i; None without an exit."""
    if not lengths[i]:
        return None
    shown = rows[ptr[i] : ptr[i + 1]]
    return {"rows": Markup("".join(shown)), "n": int(lengths[i]), "n_shown": len(shown)}

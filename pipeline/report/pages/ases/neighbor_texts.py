"""Neighbours of a node and their traces as one text, in tables of pages."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import escape

from pipeline.model.columns.ragged import offset_in_row, offsets

MAX_NEIGHBORS = 6  # of a node, on a page
MAX_IXP_NAME = 40  # characters on a page


def neighbor_texts(
    neighbor_asns: pa.ListArray,
    counts: pa.ListArray,
    ixps: pa.ListArray | None = None,
    *,
    linked: np.ndarray,
) -> list[str]:
    """A cell of each row as HTML, most traces first: ``<td>64501 (27), 64500 by LINX``.

    Where it does not name all neighbours, or names exchange points too, all neighbours and
    their traces are in an attribute for scripts: ``<td data-n="64501 27 64500 0">``.

    Parameters
    ----------
    neighbor_asns, counts, ixps
        Neighbours of each row, their traces (null where they are not known), exchange points.
    linked : (n_ases,) int64
        ASes that have a page, ascending; they are linked.
    """
    lengths = pc.list_value_length(neighbor_asns).to_numpy(zero_copy_only=False)
    row = np.repeat(np.arange(len(lengths)), lengths)
    asn = pc.list_flatten(neighbor_asns).to_numpy(zero_copy_only=False)
    count = np.zeros(len(asn), np.int64)
    if not counts.null_count:
        count = pc.list_flatten(counts).to_numpy(zero_copy_only=False)
    ixp = np.full(len(asn), None, object)
    if ixps is not None and not ixps.null_count:
        ixp = pc.list_flatten(ixps).to_numpy(zero_copy_only=False)
    order = np.lexsort((asn, -count, row))
    kept = order[offset_in_row(offsets(lengths)) < MAX_NEIGHBORS]
    has_page = np.isin(asn[kept], linked)
    found: list[list[str]] = [[] for _ in lengths]
    columns = (row[kept], asn[kept], count[kept], ixp[kept], has_page)
    for at, number, n, name, page in zip(*(c.tolist() for c in columns), strict=True):
        text = f"<a href={number}.html>{number}</a>" if page else f"{number}"
        if n:
            text += f" ({n:,})"
        found[at].append(f"{text} by {escape(_short(name))}" if name else text)
    ptr = offsets(lengths)
    pairs = np.stack([asn, count], axis=1)[order]
    named = np.array([name is not None for name in ixp], bool)
    by_ixp = np.diff(offsets(named)[ptr]) > 0
    return [
        (
            f'<td data-n="{" ".join(map(str, pairs[begin:end].ravel().tolist()))}">'
            if full
            else "<td>"
        )
        + ", ".join(texts)
        + (f" +{end - begin - MAX_NEIGHBORS}" if end - begin > MAX_NEIGHBORS else "")
        for texts, begin, end, full in zip(
            found,
            ptr[:-1].tolist(),
            ptr[1:].tolist(),
            ((lengths > MAX_NEIGHBORS) | by_ixp).tolist(),
            strict=True,
        )
    ]


def _short(name: str) -> str:
    """The name of an exchange point, cut to what a page has room for.

    Between marks that keep the direction of its script from the text around it.
    """
    text = name if len(name) <= MAX_IXP_NAME else f"{name[: MAX_IXP_NAME - 1]}…"
    return text if text.isascii() else f"\u2068{text}\u2069"

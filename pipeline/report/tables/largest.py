"""The largest ASes of a report, as a table on the terminal."""

from __future__ import annotations

from pipeline.metrics.columns import BY_WEIGHT, WEIGHTED
from pipeline.model.words import printable
from pipeline.report.tables.summarise import Summary
from pipeline.report.tables.width.widths import width_or_bounds, with_bounds

N_TABLE = 10  # ASes in the terminal's table

# Columns of the terminal's table and their headings.
_TABLE = {
    "asn": "asn",
    "name": "name",
    "n_nodes": "{nouns}",
    "n_edges": "links",
    "n_ingresses": "ingresses",
    "mean_hops": "mean",
    "max_hops": "max",
    "n_unreached": "unreached",
    "n_candidates": "candidates",
}


def largest_ases(summary: Summary, nouns: str) -> tuple[tuple[str, ...], list[tuple]]:
    """Columns and rows of the terminal's table; its widths are those in hops, if there are any."""
    listed = summary.widths.listed()
    listed = [column for column in listed if column.unit != BY_WEIGHT] or listed
    keys = [column.name for column in listed]
    named = {key: name.format(nouns=nouns) for key, name in _TABLE.items()}
    if not summary.totals["n_candidates"]:
        del named["n_candidates"]
    last = {key: named.pop(key) for key in list(named)[list(named).index("n_unreached") :]}
    if keys:  # or names would be cut to a few letters in 80 columns
        del named["n_edges"], named["max_hops"]
    named |= {key: key.replace(WEIGHTED, "weighted ") for key in keys} | last
    largest = summary.ases.sort_by([("n_nodes", "descending"), ("asn", "ascending")])
    measured = [key for key in named if key not in keys]
    rows = (
        largest.slice(0, N_TABLE)
        .select([*measured, *with_bounds(listed, summary.ases)])
        .to_pylist()
    )
    for row in rows:
        row |= {key: width_or_bounds(row, key) for key in keys}
        row["name"] = None if row["name"] is None else printable(row["name"])
    return tuple(named.values()), [tuple(row[key] for key in named) for row in rows]

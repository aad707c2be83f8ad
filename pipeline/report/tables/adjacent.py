"""Neighbours of each AS of a report: how many traces come from them and go to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.model.columns.keys import ordered_keys, split_key
from pipeline.model.columns.ragged import offsets, row_of_value


@dataclass(frozen=True, eq=False)
class Adjacent:
    """Neighbours, those with the most traces first.

    Attributes
    ----------
    ptr : (n_ases + 1,) int64
        Neighbours of AS i of the report are ptr[i]:ptr[i + 1].
    asn : (n,) int64
    n_in, n_out : (n,) int64
        Traces that enter from there, and that leave to there: sums of ``neighbor_n_direct`` of
        ``ingresses.parquet`` and ``exits.parquet``.
    n_links : (n,) int64
        As in ``as_links.parquet``.
    """

    ptr: np.ndarray
    asn: np.ndarray
    n_in: np.ndarray
    n_out: np.ndarray
    n_links: np.ndarray

    def part(self, begin: int, end: int) -> Adjacent:
        """Neighbours of ASes begin to end - 1."""
        here = slice(self.ptr[begin], self.ptr[end])
        return Adjacent(
            self.ptr[begin : end + 1] - self.ptr[begin],
            self.asn[here],
            *(count[here] for count in self.counts),
        )

    @property
    def counts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Traces in, traces out, links."""
        return self.n_in, self.n_out, self.n_links


def neighbors_of_ases(
    asns: np.ndarray, ingresses: pa.Table, exits: pa.Table, as_links: pa.Table
) -> Adjacent:
    """Neighbours that ingresses, exits or links show; those of candidates are not adjacent.

    Parameters
    ----------
    asns : (n_ases,) int64
        ASes of the report, ascending.
    ingresses, exits, as_links : pyarrow.Table
        As in their files.
    """
    ingresses = ingresses.filter(pc.invert(ingresses["candidate"]))
    near, far = as_links["near_asn"].to_numpy(), as_links["far_asn"].to_numpy()
    n_links = as_links["n_links"].to_numpy()
    sides = (
        _flat(ingresses),
        _flat(exits),
        (np.append(near, far), np.append(far, near), np.append(n_links, n_links)),
    )
    own = np.concatenate([side[0] for side in sides]).astype(np.int64)
    other = np.concatenate([side[1] for side in sides]).astype(np.int64)
    row = np.searchsorted(asns, own)
    kept = row < len(asns)
    kept[kept] = asns[row[kept]] == own[kept]
    pair, at = np.unique(ordered_keys(row[kept], other[kept]), return_inverse=True)
    side = row_of_value(offsets([len(one[0]) for one in sides]))[kept]
    count = np.concatenate([one[2] for one in sides])[kept]
    sums = np.zeros((len(sides), len(pair)), np.int64)
    np.add.at(sums, (side, at), count)
    n_in, n_out, links = sums
    row, asn = split_key(pair)
    order = np.lexsort((asn, -links, -(n_in + n_out), row))
    return Adjacent(
        offsets(np.bincount(row, minlength=len(asns))),
        asn[order],
        n_in[order],
        n_out[order],
        links[order],
    )


def _flat(table: pa.Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """AS, neighbour and traces of each pair (node, neighbour); 0 where none are known."""
    neighbors = table["neighbor_asns"].combine_chunks()
    lengths = pc.list_value_length(neighbors).to_numpy(zero_copy_only=False)
    own = np.repeat(table["asn"].to_numpy(), lengths)
    other = pc.list_flatten(neighbors).to_numpy(zero_copy_only=False)
    counts = np.zeros(len(other), np.int64)
    known = table["neighbor_n_direct"].combine_chunks()
    has = np.repeat(known.is_valid().to_numpy(zero_copy_only=False), lengths)
    counts[has] = pc.list_flatten(known).to_numpy(zero_copy_only=False)
    return own, other, counts

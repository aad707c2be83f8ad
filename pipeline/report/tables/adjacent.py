"""Neighbours of each AS of a report: how many traces come from them and go to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.model.columns.keys import ordered_keys, split_key
from pipeline.model.columns.ragged import offsets, row_of_value
from pipeline.model.relations import UNRELATED, WORDS
from pipeline.model.tables.relationships import TURNED


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
    relation : (n,) int8
        What the neighbour is to the AS, as in ``model.tables.relationships``.
    siblings : (n,) bool
        Whether the two are of one organisation.
    ixps : (n,) object
        Names of the exchange points that links between the two cross, or None.
    is_related : bool
        Whether relations between any ASes of the report are stated.
    """

    ptr: np.ndarray
    asn: np.ndarray
    n_in: np.ndarray
    n_out: np.ndarray
    n_links: np.ndarray
    relation: np.ndarray
    siblings: np.ndarray
    ixps: np.ndarray
    is_related: bool

    def part(self, begin: int, end: int) -> Adjacent:
        """Neighbours of ASes begin to end - 1."""
        here = slice(self.ptr[begin], self.ptr[end])
        return Adjacent(
            self.ptr[begin : end + 1] - self.ptr[begin],
            self.asn[here],
            self.n_in[here],
            self.n_out[here],
            self.n_links[here],
            self.relation[here],
            self.siblings[here],
            self.ixps[here],
            self.is_related,
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
    relation, siblings = np.zeros(len(pair), np.int8), np.zeros(len(pair), bool)
    ixps = np.full(len(pair), None, object)
    # Rows of links from both ends, as they are counted above: near to far, then far to near.
    is_kept = kept[len(kept) - 2 * len(near) :]
    of_link = np.tile(np.arange(len(near)), 2)[is_kept]
    found = at[len(at) - len(of_link) :]
    stated = _codes(as_links["relation"])  # what near is to far
    relation[found] = np.append(TURNED[stated], stated)[is_kept]
    siblings[found] = as_links["siblings"].fill_null(False).to_numpy()[of_link]
    ixps[found] = _lists(as_links["ixps"])[of_link]
    order = np.lexsort((asn, -links, -(n_in + n_out), row))
    return Adjacent(
        offsets(np.bincount(row, minlength=len(asns))),
        asn[order],
        n_in[order],
        n_out[order],
        links[order],
        relation[order],
        siblings[order],
        ixps[order],
        bool(stated.any()),
    )


def _codes(relation: pa.ChunkedArray) -> np.ndarray:
    """Words of ``as_links.parquet`` as numbers, int8."""
    found = pc.index_in(relation, pa.array(WORDS[1:])).fill_null(UNRELATED - 1)
    return (found.to_numpy() + 1).astype(np.int8)


def _lists(ixps: pa.ChunkedArray) -> np.ndarray:
    """Names of each row, None where there are none; rows without any share that None."""
    named = np.full(len(ixps), None, object)
    lengths = pc.fill_null(pc.list_value_length(ixps), 0).to_numpy()
    for row in np.flatnonzero(lengths).tolist():
        named[row] = ixps[row].as_py()
    return named


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

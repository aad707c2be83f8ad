"""Why routers are said to be what they are: what decided their ASes, and what joined addresses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pipeline.model.addresses import positions_of
from pipeline.model.columns.ragged import offsets

TENTHS = 10  # of a nat


class Term(NamedTuple):
    """What one term costs for a router in its AS and in the second one: nats, and how often."""

    name: str
    here: float
    there: float
    n_here: int
    n_there: int


@dataclass(frozen=True, eq=False)
class OwnerReasons:
    """What decided the AS of each router, by its smallest address when ASes were elected; sorted.

    Attributes
    ----------
    addr : (n, 2) uint64
        As in ``pipeline.model.addresses``; distinct.
    asn : (n,) int64
        AS that was elected; -1 for none.
    second : (n,) int64
        AS that costs least of the others; -1: one that nothing around the router names.
    decided_by : (n,) object
        Rule that decided beside what terms cost; empty for none.
    ptr : (n + 1,) int64
        Terms of each router, those alone that cost different in the two ASes.
    term : (n_terms,) object
        Name.
    here, there : (n_terms,) int16
        What it costs in the AS and in the second one, in tenths of a nat.
    n_here, n_there : (n_terms,) int16
        How many pieces of evidence cost that.
    """

    addr: np.ndarray
    asn: np.ndarray
    second: np.ndarray
    decided_by: np.ndarray
    ptr: np.ndarray
    term: np.ndarray
    here: np.ndarray
    there: np.ndarray
    n_here: np.ndarray
    n_there: np.ndarray

    def __len__(self) -> int:
        return len(self.asn)

    @classmethod
    def none(cls) -> OwnerReasons:
        """Of no router."""
        addrs, none, empty = np.empty((0, 2), np.uint64), np.empty(0, object), np.empty(0, np.int64)
        costs = [np.empty(0, np.int16)] * 4
        return cls(addrs, empty, empty, none, np.zeros(1, np.int64), none, *costs)

    def terms_of(self, row: int) -> list[Term]:
        """What differs for one router, the largest differences first."""
        rows = slice(int(self.ptr[row]), int(self.ptr[row + 1]))
        columns = (self.here[rows], self.there[rows], self.n_here[rows], self.n_there[rows])
        of_rows = zip(self.term[rows].tolist(), *(c.tolist() for c in columns), strict=True)
        found = [Term(name, a / TENTHS, b / TENTHS, m, n) for name, a, b, m, n in of_rows]
        return sorted(found, key=lambda term: (-abs(term.there - term.here), term.name))

    def table(self) -> pa.Table:
        """As a snapshot keeps them."""
        high, low = self.addr.T.astype(np.uint64)
        return pa.table(
            {
                "addr_high": high,
                "addr_low": low,
                "asn": _asn(self.asn),
                "second_asn": _asn(self.second),
                "decided_by": pa.array(self.decided_by, pa.string()),
                "terms": _lists(self.ptr, pa.array(self.term, pa.string())),
                **{
                    name: _lists(self.ptr, pa.array(getattr(self, name).astype(np.int16)))
                    for name in ("here", "there", "n_here", "n_there")
                },
            }
        )

    @classmethod
    def from_table(cls, table: pa.Table) -> OwnerReasons:
        """Make them from the file of a snapshot.

        Raises
        ------
        ValueError
            If lists of one router are of different lengths.
        """
        table = table.combine_chunks()
        lengths = table["terms"].combine_chunks().value_lengths().to_numpy(zero_copy_only=False)
        flat = {}
        for name in ("terms", "here", "there", "n_here", "n_there"):
            column = table[name].combine_chunks()
            if not np.array_equal(column.value_lengths().to_numpy(zero_copy_only=False), lengths):
                raise ValueError(f"its lists {name} are not as long as its terms")
            flat[name] = column.flatten().to_numpy(zero_copy_only=False)
        return cls(
            _addr(table, "addr"),
            _numbers(table["asn"]),
            _numbers(table["second_asn"]),
            table["decided_by"].to_numpy(zero_copy_only=False),
            offsets(lengths),
            flat["terms"],
            flat["here"],
            flat["there"],
            flat["n_here"],
            flat["n_there"],
        )


@dataclass(frozen=True, eq=False)
class Joins:
    """Addresses that were found to be on the router of another one; sorted.

    Attributes
    ----------
    addr : (n, 2) uint64
        Never the smallest of its router; distinct but for private ones on several routers.
    to : (n, 2) uint64
        Smallest address of the router that it, or its part of the router, was joined to.
    rule : (n,) object
        Name of the rule.
    n_common : (n,) int32
        Addresses right behind it that are right behind another address of its router, too.
    """

    addr: np.ndarray
    to: np.ndarray
    rule: np.ndarray
    n_common: np.ndarray

    def __len__(self) -> int:
        return len(self.rule)

    @classmethod
    def none(cls) -> Joins:
        """Of no address."""
        addrs = np.empty((0, 2), np.uint64)
        return cls(addrs, addrs, np.empty(0, object), np.empty(0, np.int32))

    def table(self) -> pa.Table:
        """As a snapshot keeps them."""
        high, low = self.addr.T.astype(np.uint64)
        to_high, to_low = self.to.T.astype(np.uint64)
        return pa.table(
            {
                "addr_high": high,
                "addr_low": low,
                "to_high": to_high,
                "to_low": to_low,
                "rule": pa.array(self.rule, pa.string()),
                "n_common": self.n_common.astype(np.int32),
            }
        )

    @classmethod
    def from_table(cls, table: pa.Table) -> Joins:
        """Make them from the file of a snapshot."""
        return cls(
            _addr(table, "addr"),
            _addr(table, "to"),
            table["rule"].to_numpy(zero_copy_only=False),
            table["n_common"].to_numpy(),
        )


@dataclass(frozen=True, eq=False)
class Reasons:
    """Both; see there."""

    owners: OwnerReasons
    joins: Joins

    @cached_property
    def is_empty(self) -> bool:
        return not len(self.owners) and not len(self.joins)

    def rows_of(self, addrs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows of ``owners`` and of ``joins`` that are about some addresses, (n, 2) uint64.

        Those must be distinct. A private one may have several rows, one for each AS, and for each
        router that it was joined to.
        """
        owners = positions_of(addrs, self.owners.addr)
        joins = positions_of(addrs, self.joins.addr)
        return np.flatnonzero(owners >= 0), np.flatnonzero(joins >= 0)


def _asn(column: np.ndarray) -> pa.Array:
    return pa.array(column.astype(np.uint32), mask=column < 0)


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    return column.cast(pa.int64()).fill_null(-1).to_numpy()


def _addr(table: pa.Table, name: str) -> np.ndarray:
    halves = [table[f"{name}_{half}"].to_numpy() for half in ("high", "low")]
    return np.stack(halves, axis=1)


def _lists(ptr: np.ndarray, values: pa.Array) -> pa.Array:
    return pa.LargeListArray.from_arrays(pa.array(ptr.astype(np.int64)), values)

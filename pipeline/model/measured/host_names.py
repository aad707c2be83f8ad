"""Host names of addresses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pipeline.model.addresses import positions_of


@dataclass(frozen=True, eq=False)
class HostNames:
    """Names that a DNS gives addresses, sorted by address.

    Attributes
    ----------
    addr : (n, 2) uint64
        As in ``pipeline.model.addresses``; distinct.
    name : (n,) object
        Third-party text; code that shows it must escape it.
    """

    addr: np.ndarray
    name: np.ndarray

    def __len__(self) -> int:
        return len(self.name)

    def table(self) -> pa.Table:
        """As a snapshot keeps them."""
        high, low = self.addr.T.astype(np.uint64)
        return pa.table(
            {"addr_high": high, "addr_low": low, "name": pa.array(self.name, pa.string())}
        )

    @classmethod
    def from_table(cls, table: pa.Table) -> HostNames:
        """Make them from the file of a snapshot."""
        halves = [table[name].to_numpy() for name in ("addr_high", "addr_low")]
        return cls(np.stack(halves, axis=1), table["name"].to_numpy(zero_copy_only=False))

    def among(self, addrs: np.ndarray) -> HostNames:
        """Those of some addresses, (n, 2) uint64, distinct."""
        kept = positions_of(addrs, self.addr) >= 0
        return HostNames(self.addr[kept], self.name[kept])

    def of(self, addrs: np.ndarray) -> np.ndarray:
        """(n,) object: the name of each address, None where none is known."""
        at = positions_of(self.addr, addrs)
        found = np.full(len(at), None, object)
        found[at >= 0] = self.name[at[at >= 0]]
        return found

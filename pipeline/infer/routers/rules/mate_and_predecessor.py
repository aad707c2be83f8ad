"""The subnet mate of an address and its predecessors, in one AS.

The subnet mate of b is on the router at the other end of b's link, whatever address routers respond
with. A predecessor of b is on that router too if b is the address by which packets came in. With
the election known, one address b is enough to join the two (``merge``), if

- b's router is not odd;
- both are in one AS, as elected: behind a router that responds with another address than that by
  which packets came in, they are mostly in two;
- no two of b's predecessors were seen by one observer, since these are mostly two routers;
- what is joined then, by this rule alone, has one router of several addresses at most.

Subnet mates are from APAR [1]_ and kapar [2]_, which use them without knowing owners.

References
----------
.. [1] M. Gunes, K. Sarac, "Resolving IP aliases in building traceroute-based Internet maps",
   IEEE/ACM ToN 2009.
.. [2] K. Keys, "Internet-scale IP alias resolution techniques", ACM CCR 2010.
"""

from __future__ import annotations

import numpy as np

from pipeline.infer.rule import Rule
from pipeline.model.columns.ragged import positions_of_rows, row_of_value
from pipeline.model.forest import unite
from pipeline.model.topology import NO_ASN

MATE_SIDES = Rule(
    "mate-and-predecessor",
    "routers",
    "the subnet mate and the predecessor of an address are one router if in one AS",
    "subnet mates, predecessors, owners",
    source="APAR (Gunes and Sarac, ToN 2009)",
)


def join_mates(
    root: np.ndarray,
    owner: np.ndarray,
    asked: np.ndarray,
    by_one: np.ndarray,
    side_ptr: np.ndarray,
    sides: np.ndarray,
    mates: np.ndarray,
) -> np.ndarray:
    """Join the mates of addresses with what is before these.

    Parameters
    ----------
    root : (n_interfaces,) int64
        Smallest interface of each router so far.
    owner : (n_interfaces,) int64
        As elected; ``NO_ASN`` where unmapped.
    asked : (n_asked,) int64
        Addresses of routers that are not odd.
    by_one : (n_asked,) bool
        One observer saw two of their sides.
    side_ptr : (n_interfaces + 1,) int64
    sides : (n_sides,) int64
    mates : (n_interfaces,) int64

    Returns
    -------
    (n_interfaces,) int64
        The same as ``root``, after joining.
    """
    ptr, at = positions_of_rows(side_ptr, asked)
    row, side = row_of_value(ptr), sides[at]
    mate = mates[asked][row]
    is_mate = side == mate
    credible = ~by_one & (np.bincount(row, is_mate, len(asked)) > 0)
    used = credible[row] & ~is_mate & (owner[side] == owner[mate]) & (owner[side] != NO_ASN)
    one, other = root[side[used]], root[mate[used]]
    size = np.bincount(root, minlength=len(root))
    joined = np.arange(len(root))
    unite(joined, one, other)
    n_large = np.bincount(joined[size > 1], minlength=len(root))
    allowed = n_large[joined[one]] <= 1
    result = root.copy()
    unite(result, one[allowed], other[allowed])
    return result

"""Components of a shard on a GPU, each with its own run of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np

from kernels.connected import components
from kernels.csr import Shard
from kernels.eccentricity.gpu_bounds import reordered
from kernels.types import NODE


@dataclass(frozen=True, eq=False)
class Parts:
    """A shard whose graphs are the components of another one.

    Attributes
    ----------
    shard : Shard
        On the device; every graph hangs together and has a node.
    names, size : (n_components,) int32
        Smallest node of each component, ascending, in the ids of the other; nodes. On the host.
    order : (n_nodes,) int32 or None
        The other's node that is node i here; None: itself. On the device.
    """

    shard: Shard
    names: np.ndarray
    size: np.ndarray
    order: Any

    @property
    def node_ptr(self) -> np.ndarray:
        """Of ``shard``, on the host."""
        return np.append(0, np.cumsum(self.size, dtype=np.int64))


def components_of(shard: Shard) -> Parts:
    """Give every component of a shard its run of nodes."""
    found, order = components(shard), None
    if found.n_components > 1 and not bool((cp.diff(found.component) >= 0).all()):
        # Unique keys: nodes stay ascending within their component.
        keys = found.component.astype(np.int64) << 32
        order = cp.argsort(keys | cp.arange(shard.n_nodes)).astype(NODE)
        shard = reordered(shard, order)
    return parts_of(shard, found.ids, found.sizes.astype(NODE), order)


def parts_of(shard: Shard, names: np.ndarray, size: np.ndarray, order: Any) -> Parts:
    """Runs of ``size`` nodes of a shard as its parts."""
    node_ptr = cp.asarray(np.append(0, np.cumsum(size, dtype=np.int64)))
    cut = Shard(shard.indptr, shard.indices, node_ptr, trusted=True)
    return Parts(cut, names, size, order)

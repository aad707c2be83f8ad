"""What searches from ingresses found, for pages of ASes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.model.columns.ragged import offset_in_row, offsets
from pipeline.report.tables.summarise import Summary
from pipeline.report.tables.width.width_bounds import bounds_of
from pipeline.report.texts import interval

MAX_FARTHEST = 3  # ingresses whose farthest routers a page names


class Searched:
    """What the searches from ingresses found, of all ASes of a report or a part of it.

    Attributes
    ----------
    eccentricity, n_reached : (n_ingresses,) int64
        -1 where no search finished.
    """

    def __init__(self, summary: Summary):
        self._ptr = summary.ingress_ptr
        self._max_hops = summary.distributions.max_hops
        self.eccentricity = _filled(summary.ingresses["eccentricity"])
        self.n_reached = _filled(summary.ingresses["n_reached"])

    def farthest(self) -> tuple[np.ndarray, np.ndarray]:
        """The first ingresses that have the largest eccentricity of their AS."""
        lengths = np.diff(self._ptr)
        position = np.repeat(np.arange(len(lengths)), lengths)
        is_far = (self.eccentricity == self._max_hops[position]) & (self.eccentricity > 0)
        found = np.flatnonzero(is_far)
        n_found = np.bincount(position[found], minlength=len(lengths))
        kept = found[offset_in_row(offsets(n_found)) < MAX_FARTHEST]
        return kept, offsets(np.minimum(n_found, MAX_FARTHEST))

    def bounds(self, i: int, one: dict) -> tuple[str, str] | None:
        """Diameter and radius of AS i as far as these searches show them; None: not at all.

        They are those of the largest component, if it has more than half of the nodes: then an
        ingress that reaches that many lies in it.
        """
        n = one["largest_component"]
        if 2 * n <= one["n_nodes"]:
            return None
        begin, end = self._ptr[i : i + 2]
        found = self.eccentricity[begin:end][self.n_reached[begin:end] == n]
        if len(found) == 0 or found.max() == 0:
            return None
        diameter, radius = bounds_of(int(found.min()), int(found.max()), n)
        return _between(*diameter), _between(*radius)


def _filled(column: pa.ChunkedArray) -> np.ndarray:
    return pc.fill_null(column, -1).to_numpy()


def _between(lower: int, upper: int) -> str:
    return f"{lower:,}" if lower == upper else interval(lower, upper)

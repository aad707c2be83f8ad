"""A warning of alias sets that the traces contradict."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.model.measured.reading import printable_path
from pipeline.model.topology import Topology
from pipeline.model.words import number


def alias_warnings(path: Path | None, topologies: Sequence[Topology]) -> list[str]:
    """A line if traces show links inside the sets of a file: how many, and what to do.

    Parameters
    ----------
    path : Path or None
        The file of ``--aliases``.
    topologies : sequence of Topology
        Inferred from traces, and of files.
    """
    lines = []
    for topology in topologies:
        found = topology.swallowed
        if path is not None and found is not None and found.n_links:
            sets = number(found.n_sets, "set")
            lines.append(
                f"traces show {number(found.n_links, 'link')} inside {sets} of --aliases "
                f"{printable_path(path)}: their ends are mostly two routers, and the links are "
                f"lost; the largest such set, with {found.largest_addr}, has "
                f"{number(found.n_largest, 'address')}; correct the file, or leave it out to infer "
                "routers from the traces"
            )
    return lines

"""Published graph files, for benchmarks; formats of the product are read by its readers.

Command: python benchmarks/lib/graph_files.py --attachment N [--seed S] FILE.txt[.gz]
Writes a seeded preferential attachment graph as the edge list that SNAP publishes.

Readers that live here alone: ``.jlg`` (gzip text, ``n,m,u,graph``, then ``u,v`` from 1 on), METIS
``.graph`` (line i: the neighbours of node i, from 1 on), NetworkX's lines (``u v {...}``) and
Rocketfuel's maps (``.cch``). Of each file the largest weakly connected component is taken, loops
and parallel edges left out.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import re
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from benchmarks.lib.graphs import attachment
from kernels import CSRGraph, components
from pipeline.generate.csr import csr_from_links
from pipeline.ingest import open_reader
from pipeline.ingest.opening import open_bytes
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import Topology

Links = tuple[int, np.ndarray, np.ndarray]  # nodes, and both ends of each link, (n_links,) int64
_NETWORKX = re.compile(r"^(\d+) (\d+) \{.*\}\s*$")
_ROCKETFUEL = re.compile(r"^(\d+) @\S*.*?->(.*?)(?:\{|=)")


def read_graph(path: Path) -> CSRGraph:
    """The largest weakly connected component of the graph in a file.

    Raises
    ------
    ValueError
        If the file is cut short or not what its suffix or its first line says.
    """
    n_nodes, near, far = _reader_of(path)(path)
    return largest_component(csr_from_links(n_nodes, *_once(n_nodes, near, far)))


def largest_component(graph: CSRGraph) -> CSRGraph:
    """Its largest component, nodes in their old order; the graph itself where it is connected."""
    component = components(graph).component
    names, sizes = np.unique(component, return_counts=True)
    if len(names) <= 1:
        return graph
    is_in = component == names[np.argmax(sizes)]
    place = np.cumsum(is_in) - 1
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    kept = is_in[tails] & (tails < graph.indices)
    return csr_from_links(int(is_in.sum()), place[tails[kept]], place[graph.indices[kept]])


def write_edge_list(graph: CSRGraph, path: Path, title: str) -> None:
    """Write each edge once, as SNAP does; packed where the name ends in .gz."""
    tails = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    once = tails < graph.indices
    rows = np.column_stack([tails[once], graph.indices[once]]).tolist()
    text = f"# Undirected graph: {title}\n# Nodes: {graph.n_nodes} Edges: {len(rows)}\n"
    text += "# FromNodeId\tToNodeId\n" + "".join(f"{near}\t{far}\n" for near, far in rows)
    data = text.encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _reader_of(path: Path) -> Callable[[Path], Links]:
    name = path.name.removesuffix(".gz")
    for suffix, reader in ((".jlg", _jlg), (".graph", _metis), (".cch", _rocketfuel)):
        if name.endswith(suffix):
            return reader
    for line in itertools.islice(_text(path, 65536).splitlines(), 100):
        if _NETWORKX.match(line):
            return _networkx
    return _as_the_product_reads


def _text(path: Path, most: int = -1) -> str:
    pieces, size = [], 0
    with open_bytes(path) as stream:
        while (most < 0 or size < most) and (piece := stream.read(1 << 20)):
            pieces.append(piece)
            size += len(piece)
    return b"".join(pieces).decode("utf-8", "replace")


def _jlg(path: Path) -> Links:
    title, _, rows = _text(path).partition("\n")
    n_nodes, n_edges = (int(word) for word in title.split(",")[:2])
    pairs = np.array([row.split(",") for row in rows.split()], np.int64).reshape(-1, 2)
    if len(pairs) != n_edges:
        raise ValueError(f"{path}: {len(pairs)} edges; its first line says {n_edges}")
    return n_nodes, pairs[:, 0] - 1, pairs[:, 1] - 1


def _metis(path: Path) -> Links:
    title, *rows = [line for line in _text(path).split("\n") if not line.startswith("%")]
    n_nodes, _, *format = (int(word) for word in title.split())
    if format and format[0]:
        raise ValueError(f"{path}: METIS with weights (format {format[0]}) is not read here")
    if len(rows) < n_nodes:
        raise ValueError(f"{path}: {len(rows)} lists of neighbours; its first line says {n_nodes}")
    lists = [row.split() for row in rows[:n_nodes]]
    near = np.repeat(np.arange(n_nodes), [len(words) for words in lists])
    far = np.array([word for words in lists for word in words], np.int64) - 1
    return n_nodes, near, far


def _networkx(path: Path) -> Links:
    found = [_NETWORKX.match(line) for line in _text(path).splitlines() if line[:1] not in "#"]
    return _numbered(np.array([match.groups() for match in found if match], np.int64))


def _rocketfuel(path: Path) -> Links:
    """Routers of the ISP itself, ``uid @... -> <nuid> ...``; its externals (-euid) are left out."""
    pairs = []
    for line in _text(path).splitlines():
        if match := _ROCKETFUEL.match(line):
            pairs += [(match[1], other) for other in re.findall(r"<(\d+)>", match[2])]
    return _numbered(np.array(pairs, np.int64))


def _as_the_product_reads(path: Path) -> Links:
    for topology in open_reader(path, ReadReport(str(path)))[1]:
        if isinstance(topology, Topology):
            return topology.n_nodes, topology.near, topology.far
    raise ValueError(f"{path}: holds traces; give a graph")


def _numbered(pairs: np.ndarray) -> Links:
    ids, ends = np.unique(pairs.reshape(-1, 2), return_inverse=True)
    ends = ends.reshape(-1, 2)
    return len(ids), ends[:, 0], ends[:, 1]


def _once(n_nodes: int, near: np.ndarray, far: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each link once and no loop, in ascending order."""
    low, high = np.minimum(near, far), np.maximum(near, far)
    keys = np.unique((low * n_nodes + high)[low < high])
    return keys // max(n_nodes, 1), keys % max(n_nodes, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a graph as SNAP publishes edge lists.")
    parser.add_argument("--attachment", type=int, required=True, metavar="N", help="nodes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    graph = attachment(arguments.attachment, arguments.seed)
    title = f"preferential attachment, {arguments.attachment} nodes, seed {arguments.seed}"
    write_edge_list(graph, arguments.file, title)


if __name__ == "__main__":
    main()

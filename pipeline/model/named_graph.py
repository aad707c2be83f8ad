"""One graph, with what its nodes are called: by address, by the input's id, or by number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kernels import CSRGraph
from pipeline.errors import UsageError
from pipeline.model.addresses import format_addr, parse_addr
from pipeline.model.graphs import NO_ID
from pipeline.model.topology import SILENT
from pipeline.model.words import node_words, number

MAX_DIGITS = 19  # of a node's number or id; Python refuses to read numbers of thousands


@dataclass(frozen=True, eq=False)
class NamedGraph:
    """A graph to search.

    Attributes
    ----------
    name : str
        What messages call it.
    graph : CSRGraph
        On the host; with weights if every link has one.
    kind : str
        What a node is (``Topology.kind``).
    weight_unit : str
    node_id : (n_nodes,) int64 or None
        Ids of the input. None: it has none.
    node_addr : (n_nodes, 2) uint64 or None
    addrs : (n_addrs, 2) uint64 or None; addr_node : (n_addrs,) int64 or None
        Every address, sorted, and its node. None: those of ``node_addr`` are all.
    warnings : list of str
    is_mostly_broken : bool
        More than half of the records of its file were rejected.
    longest_path : callable
        -> node ids of the longest path that reports show of this graph; None: none is known.
    """

    name: str
    graph: CSRGraph
    kind: str = "router"
    weight_unit: str = ""
    node_id: np.ndarray | None = None
    node_addr: np.ndarray | None = None
    addrs: np.ndarray | None = None
    addr_node: np.ndarray | None = None
    warnings: list[str] = field(default_factory=list)
    is_mostly_broken: bool = False
    longest_path: Callable[[], np.ndarray | None] = lambda: None

    def __repr__(self) -> str:
        nodes = number(self.graph.n_nodes, self.noun)
        return f"NamedGraph({self.name!r}, {nodes}, {number(self.graph.n_edges, 'link')})"

    @property
    def noun(self) -> str:
        return node_words(self.kind).noun

    @property
    def nouns(self) -> str:
        return node_words(self.kind).nouns

    def name_of(self, node: int) -> str:
        """Address of a node, else the input's id, else its number, with a word if it is silent."""
        if self.node_addr is not None and self.node_addr[node].any():
            return format_addr(*self.node_addr[node])
        if self.node_id is not None and self.node_id[node] != NO_ID:
            return str(self.node_id[node])
        return str(node) if self.node_addr is None else f"{node} ({SILENT})"

    def node_of(self, text: str, role: str) -> int:
        """The node that a user means by an address or a number; ``role``: source or target.

        Raises
        ------
        UsageError
            If there is none; says what this graph has.
        """
        said = text.strip()
        if said.isascii() and said.isdecimal():
            digits = said.lstrip("0") or "0"
            node = self._by_number(int(digits)) if len(digits) <= MAX_DIGITS else None
            if node is None:
                raise UsageError(f"{role} {said} is not {self._one_of()}; {self._numbers()}")
            return node
        try:
            words = parse_addr(said)
        except ValueError:
            raise UsageError(
                f"{role} {text!r} is neither a number nor an address; {self._numbers()}"
            ) from None
        if self.node_addr is None:
            raise UsageError(f"{self.name} has no addresses; {role} is a number: {self._numbers()}")
        node = self._by_address(words)
        if node is None:
            raise UsageError(f"{role} {said} is not {self._one_of()}: no node has this address")
        return node

    def _one_of(self) -> str:
        return f"{node_words(self.kind).one} of {self.name}"

    def _by_number(self, value: int) -> int | None:
        n_nodes = self.graph.n_nodes
        if self.node_id is None:
            return value if value < n_nodes else None
        if value >= 2**63:
            return None
        place = int(np.searchsorted(self.node_id, value))  # ids ascend, as topologies have them
        if place < n_nodes and self.node_id[place] == value:
            return place
        found = np.flatnonzero(self.node_id == value)
        return int(found[0]) if len(found) else None

    def _by_address(self, words: tuple[int, int]) -> int | None:
        addrs = self.node_addr if self.addrs is None else self.addrs
        assert addrs is not None
        high, low = (np.uint64(word) for word in words)
        found = np.flatnonzero((addrs[:, 0] == high) & (addrs[:, 1] == low))
        if not len(found):
            return None
        return int(found[0] if self.addr_node is None else self.addr_node[found[0]])

    def _numbers(self) -> str:
        n_nodes = self.graph.n_nodes
        if n_nodes == 0:
            return "the graph has no nodes"
        many = f"its {number(n_nodes, self.noun)}" if n_nodes > 1 else f"its only {self.noun}"
        if self.node_id is None:
            return f"{many} are 0 to {n_nodes - 1}" if n_nodes > 1 else f"{many} is 0"
        ids = self.node_id[self.node_id != NO_ID]
        if not len(ids):
            return "its nodes have no ids"
        if n_nodes > 1:
            return f"{many} have ids from {ids.min()} to {ids.max()}"
        return f"{many} has the id {ids[0]}"

"""An edge list as SNAP publishes them: our reader takes it too."""

from __future__ import annotations

from typing import BinaryIO

from pipeline.model.words import printable
from pipeline.writers.graph import WrittenGraph
from pipeline.writers.texts import lines, text_of


def write(graph: WrittenGraph, file: BinaryIO) -> None:
    file.write(f"# {printable(graph.name)}\n# Nodes: {graph.n_nodes} ".encode())
    file.write(f"Edges: {graph.n_edges}\n# FromNodeId\tToNodeId\n".encode())
    for part in graph.edges(False):
        file.write(lines(text_of(part["tail"]), "\t", text_of(part["head"]), "\n"))

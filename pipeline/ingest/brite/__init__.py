"""BRITE topology files: router-level, AS-level, top-down and bottom-up, Java and C++ engine.

A file is a header, a ``Nodes:`` section and an ``Edges:`` section; both are named with the number
of rows that follow. The engines differ: Java writes TABs, integers and ``Nodes: ( 5 )``, C++
writes spaces, ``314.00``, trailing spaces, ``Edges: (5):`` and NUL bytes in the header. Here a row
is any run of columns between blanks:

    node: id x y indegree outdegree [AS] [type]       edge: id from to length delay bandwidth
                                                             [AS-from AS-to] [type [direction]]

The manual's edges have no direction, both engines write one, and other writers leave out more.

What is done with it
    - Node ids may start anywhere from 0 on; nodes come out sorted by id, edges in file order. A
      negative id is rejected: -1 stands for a node without one.
    - AS -1 means no AS. A node's own AS counts; edges that give another one are noted, and those
      that give none have that of their nodes.
    - A file of AS_* nodes only is AS-level (``kind="as"``).
    - The model lines of the header say that it was generated, and how (``made_by``): Java names
      models, C++ gives their numbers, hopscope writes its own command there. Where BRITE imported
      the graph or a part of it, which may be measured, they say nothing.
    - Edge types do not decide anything: Java labels the seed edges of a router-level file E_AS.
    - A broken row is rejected with its line number, and so are a second node with the same id and
      an edge to a node that is not there. Fewer rows than declared means that the file is cut
      short; further rows are read and noted. A file of which no node or no edge is left is
      rejected, unless its section of edges is empty and says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

import numpy as np

from pipeline.errors import FormatError
from pipeline.files import BOM
from pipeline.ingest.brite.rows import AS_OF_NODE, EDGE, NODE, RowTable, read_rows
from pipeline.ingest.text.lines import MAX_HEADER_LINES, Lines, command_in
from pipeline.model.choices import MAX_ASN
from pipeline.model.measured.reading import MAX_SAMPLES, ReadReport
from pipeline.model.synthetic import BRITE_FILES, BRITE_MODELS
from pipeline.model.topology import NO_ASN, Topology
from pipeline.model.words import number

# Java: "Model (5 - TopDown)", "Model (7 - Imported From NLANR format file ..."; C++: "Model ( 5 )".
_MODEL = re.compile(rb"Model \((?:(\d{1,3}) - (\w{1,40})| (\d{1,3}) \))")
_MODEL_LINES = (b"Model", b"AS Level: Model", b"Router Level: Model")
_TITLE = re.compile(rb"^Topology:\s*\(\s*\d{1,15}\s*Nodes\s*,\s*(\d{1,15})\s*Edges")
_COUNT = re.compile(rb"^\s*(?:Nodes|Edges):\s*\(\s*(\d{1,15})\s*\)")


def sniff(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is a BRITE topology."""
    first = head.removeprefix(BOM).lstrip(b"\x00 \t\r\n")[:200]
    return first.startswith(b"Topology:") and b"Nodes" in first


def read(stream: BinaryIO, report: ReadReport) -> Iterator[Topology]:
    """Read one topology, whole.

    Parameters
    ----------
    stream : BinaryIO
        Decompressed bytes.
    report : ReadReport
        ``n_records`` counts the nodes and edges that were used.

    Yields
    ------
    Topology
        node_id sorted; weight = length; node_columns x, y (float64), indegree, outdegree (int32)
        and type (text); link_columns edge_id, asn_from, asn_to (int64), delay, bandwidth
        (float64), type (text) and directed (bool).

    Raises
    ------
    FormatError
        After the topology was yielded, if the file is cut short; at once if it has no node, or no
        edge though it does not say so: nodes alone would be a graph of other hops and widths.
    """
    lines = Lines(stream)
    broken, n_claimed = _read_header(lines, report)
    nodes, edges = RowTable(NODE), RowTable(EDGE)
    declared = {"Nodes": -1, "Edges": -1}
    has_edges = False
    if lines.section:
        declared["Nodes"] = _declared(lines.section)
        read_rows(lines, nodes, declared["Nodes"], report)
        if has_edges := bool(lines.section):
            declared["Edges"] = _declared(lines.section)
            read_rows(lines, edges, declared["Edges"], report)
    topology = _topology(nodes, edges, report)
    n_nodes, n_links = topology.n_nodes, topology.n_links
    report.kept_of = {"node": (n_nodes, nodes.n_seen), "edge": (n_links, edges.n_seen)}
    for name, noun, table in (("Nodes", "node", nodes), ("Edges", "edge", edges)):
        if declared[name] > table.n_seen:
            found = f"{table.n_seen:,} of {number(declared[name], f'declared {noun}')}"
            broken = broken or (f"line {lines.number}", f"cut short: found {found}")
        elif 0 <= declared[name] < table.n_seen:
            report.notes[f"more {noun}s than declared"] += table.n_seen - declared[name]
    if broken is None and not has_edges:
        broken = ("end of file", "cut short: there is no Edges: section")
    claims_none = max(n_claimed, declared["Edges"]) <= 0
    has_none = has_edges and edges.n_seen == 0 and claims_none
    if n_nodes and (n_links or has_none):
        report.n_records += n_nodes + n_links
        yield topology
    if lines.error is not None:
        raise lines.error
    if broken is None and n_nodes == 0:
        broken = ("Nodes", "no usable node")
    if broken is None and n_links == 0 and not has_none:
        broken = ("Edges", "no usable edge")
    if broken is not None:
        raise FormatError(report.path, *broken)


def _read_header(lines: Lines, report: ReadReport) -> tuple[tuple[str, str] | None, int]:
    """Go to the Nodes: section; what is wrong with a file that has none, and edges of its title.

    The title has -1 edges if it does not say.
    """
    models: list[bytes] = []
    n_edges = -1
    for at in range(1, MAX_HEADER_LINES + 1):
        line = lines.next_line()
        if line is None:
            if at == 1:
                return ("", "is empty"), n_edges
            return ("end of file", "cut short: there is no Nodes: section"), n_edges
        text = line.replace(b"\x00", b" ").strip()
        if at == 1 and not text.startswith(b"Topology:"):
            fault = "is not a BRITE topology: it does not begin with 'Topology:'"
            return ("line 1", fault), n_edges
        if at == 1 and (title := _TITLE.match(text)):
            n_edges = int(title[1])
        if text.startswith(b"Nodes:"):
            lines.section = text
            report.made_by = _made_by(models)
            return None, n_edges
        if text.startswith(_MODEL_LINES):
            models.append(text)
    fault = "is not a BRITE topology: no Nodes: section found"
    return (f"line {MAX_HEADER_LINES}", fault), n_edges


def _made_by(models: list[bytes]) -> str:
    """How a topology was made, by the model lines of its header; empty if they do not say."""
    for line in models:
        if command := command_in(line):
            return command
    found = [each for line in models for each in _MODEL.finditer(line)]
    if not found or any(int(each[1] or each[3]) in BRITE_FILES for each in found):
        return ""
    first = found[0]
    name = first[2].decode() if first[2] else BRITE_MODELS.get(int(first[3]))
    return f"BRITE's model {name}" if name else ""


def _declared(section: bytes) -> int:
    """Number of rows in a section's title; -1 if it has none."""
    match = _COUNT.match(section)
    return int(match.group(1)) if match else -1


def _topology(nodes: RowTable, edges: RowTable, report: ReadReport) -> Topology:
    nodes = _usable_nodes(nodes, report)
    node_id, node_asn = nodes.ints("id"), nodes.ints("asn")

    ends, missing = [], np.zeros(len(edges), bool)
    for name in ("from", "to"):
        asked = edges.ints(name)
        at = np.searchsorted(node_id, asked)
        at[at == len(node_id)] = 0
        missing |= (node_id[at] != asked) if len(node_id) else True
        ends.append(at)
    from_id, to_id = edges.ints("from"), edges.ints("to")
    edges = _without(
        edges,
        missing,
        "edge to an unknown node",
        report,
        lambda row: f"edge {from_id[row]} to {to_id[row]}",
    )
    near, far = (end[~missing].astype(np.int64) for end in ends)

    end_asns = {}
    for name, end in (("asn_from", near), ("asn_to", far)):
        given = edges.ints(name)
        end_asns[name] = np.where(given == AS_OF_NODE, node_asn[end], given)
        if differ := int((end_asns[name] != node_asn[end]).sum()):
            report.notes["edge end with another AS than its node"] += differ
    types, directions = nodes.texts("type"), edges.texts("direction")
    directed = directions == "D"
    if n_directed := int(directed.sum()):
        report.notes["directed edges, used as undirected"] += n_directed
    as_level = len(types) > 0 and bool(np.char.startswith(types, "AS_").all())
    return Topology(
        node_asn=node_asn,
        node_id=node_id,
        near=near,
        far=far,
        weight=edges.floats("length").astype(np.float32),
        weight_unit="length",
        node_columns={
            "x": nodes.floats("x"),
            "y": nodes.floats("y"),
            "indegree": nodes.ints("indegree").astype(np.int32),
            "outdegree": nodes.ints("outdegree").astype(np.int32),
            "type": types,
        },
        link_columns={
            "edge_id": edges.ints("id"),
            "delay": edges.floats("delay"),
            "bandwidth": edges.floats("bandwidth"),
            **end_asns,
            "type": edges.texts("type"),
            "directed": directed,
        },
        kind="as" if as_level else "router",
    )


def _usable_nodes(nodes: RowTable, report: ReadReport) -> RowTable:
    """Nodes sorted by id, each id once (the first row that has it)."""
    asn = nodes.ints("asn")
    wide = (asn < NO_ASN) | (asn > MAX_ASN)
    for name in ("indegree", "outdegree"):
        wide |= np.abs(nodes.ints(name)) >= 2**31
    nodes = _without(nodes, wide, "number out of range", report, lambda row: "AS or degree")
    given = nodes.ints("id")
    nodes = _without(nodes, given < 0, "negative node id", report, lambda row: f"node {given[row]}")
    ids = nodes.ints("id")
    order = np.argsort(ids, kind="stable")
    again = np.zeros(len(ids), bool)
    again[order[1:]] = ids[order[1:]] == ids[order[:-1]]
    nodes = _without(nodes, again, "duplicate node id", report, lambda row: f"node {ids[row]}")
    return nodes.take(np.argsort(nodes.ints("id"), kind="stable"))


def _without(
    table: RowTable,
    bad: np.ndarray,
    reason: str,
    report: ReadReport,
    detail: Callable[[int], str],
) -> RowTable:
    """The rows that are not ``bad``; the others are rejected."""
    rows = np.flatnonzero(bad)
    if len(rows) == 0:
        return table
    for row in rows[:MAX_SAMPLES].tolist():
        report.reject(f"line {table.line[row]}", reason, detail(row))
    if len(rows) > MAX_SAMPLES:
        report.reject("", reason, count=len(rows) - MAX_SAMPLES)
    return table.take(np.flatnonzero(~bad))

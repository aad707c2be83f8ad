"""Traces written by hand: one line of text per trace.

``"20.0.0.1 * 20.0.0.3/5.5 20.0.0.9! > 20.0.0.9"``: hops from TTL 1 on, ``*`` unanswered, ``/`` an
RTT in ms (by default 10 times the TTL), several probes at one TTL joined by ``,``; after ``>`` the
destination. Replies are time-exceeded; a trailing ``!`` makes it the destination's answer (echo
reply), ``?`` one of unknown kind, ``^`` an unreachable, ``#`` a reply with MPLS labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from pipeline.infer import AliasTable, Observation, Observer, PrefixTable, infer_topology
from pipeline.infer.traces.distinct import DistinctPaths, find_distinct_paths
from pipeline.infer.traces.passes import Spools
from pipeline.ingest.tables import read_prefixes
from pipeline.model.addresses import parse_addr, sort_addrs
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import (
    CLASSIC_TRACE,
    KIND_ECHO_REPLY,
    KIND_TIME_EXCEEDED,
    KIND_UNKNOWN,
    KIND_UNREACHABLE,
    LABELLED,
    TraceBatch,
)
from pipeline.model.topology import Topology
from tests.addresses import format_addrs, parse_addrs
from tests.tables import table_of_files

_KINDS = {"!": KIND_ECHO_REPLY, "?": KIND_UNKNOWN, "^": KIND_UNREACHABLE}
VANTAGE = "20.9.9.9"

# AS 1 has 20.1.0.0/16, AS 2 has 20.2.0.0/16, ...; 20.0.0.0/16 is routed by nobody.
PREFIXES = "".join(f"20.{asn}.0.0\t16\t{asn}\n" for asn in range(1, 9))


def traces(*lines: str, source: str = VANTAGE) -> TraceBatch:
    """A batch of the traces that some lines describe."""
    ttl, addr, rtt, kind, ptr, dst = [], [], [], [], [0], []
    for line in lines:
        hops, _, target = line.partition(">")
        for at, hop in enumerate(hops.split(), start=1):
            for probe in hop.split(","):
                if probe == "*":
                    continue
                labels = LABELLED if "#" in probe else 0
                probe = probe.replace("#", "")
                kind.append(_KINDS.get(probe[-1], KIND_TIME_EXCEEDED) | labels)
                name, _, rtt_ms = probe.rstrip("!?^").partition("/")
                ttl.append(at)
                addr.append(parse_addr(name))
                rtt.append(float(rtt_ms) if rtt_ms else 10.0 * at)
        ptr.append(len(ttl))
        dst.append(target.strip() or "20.0.8.8")
    return TraceBatch(
        parse_addrs([source] * len(lines)),
        parse_addrs(dst),
        np.zeros(len(lines)),
        np.array(ptr, np.int64),
        np.array(ttl, np.uint8),
        np.array(addr, np.uint64).reshape(len(addr), 2),
        np.array(rtt, np.float32),
        np.array(kind, np.uint8),
    )


def classic(batch: TraceBatch, n: int) -> TraceBatch:
    """The same with its last ``n`` traces by a classic method."""
    part = np.zeros(batch.n_traces, np.uint8)
    part[batch.n_traces - n :] = CLASSIC_TRACE
    return replace(batch, part=part)


def with_reply_ttls(batch: TraceBatch, ttls: dict[str, int]) -> TraceBatch:
    """The same with the TTL that was left of each reply, by address; 0 for others."""
    texts = format_addrs(batch.addr)
    return replace(batch, reply_ttl=np.array([ttls.get(each, 0) for each in texts], np.uint8))


def observe(scratch: Path, *batches: TraceBatch) -> Observation:
    """All batches as one observation."""
    observer = Observer(scratch)
    for batch in batches:
        observer.add(batch)
    return observer.close()


def distinct_paths(
    seen: Sequence[Observation], addrs: np.ndarray, *, workers: int = 1, asn: int = 1
) -> DistinctPaths:
    """Their distinct paths; all destinations are in one AS."""
    n_traces = sum(observation.n_traces for observation in seen)
    finding = find_distinct_paths(lambda aims: np.full(len(aims), asn), n_traces, workers, None)
    return Spools(seen, addrs, workers).read(finding)


def prefix_table(folder: Path, text: str = PREFIXES) -> PrefixTable:
    """A prefix table from the text of a pfx2as file."""
    path = folder / "test.pfx2as"
    path.write_text(text)
    return table_of_files(read_prefixes, [path], [ReadReport(str(path))])


def infer(scratch: Path, *lines: str, **options) -> Topology:
    """Topology of some lines, by prefix alone and of interfaces unless stated otherwise."""
    options.setdefault("borders", "prefix")
    options.setdefault("routers", "interfaces")
    if "asn" not in options:
        options.setdefault("prefixes", prefix_table(scratch))
    return infer_topology([observe(scratch, traces(*lines))], **options)


def alias_sets(*sets: Sequence[str]) -> AliasTable:
    """Alias sets: the addresses of each router."""
    addrs = parse_addrs([addr for one in sets for addr in one])
    router = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
    order = sort_addrs(addrs)
    return AliasTable(addrs[order], router[order])


def links_of(topology: Topology) -> dict[tuple[str, str], int]:
    """Traces of each link by its two addresses, the smaller first."""
    names = nodes_of(topology)
    count = topology.link_columns["n_traces"].tolist()
    pairs = zip(topology.near.tolist(), topology.far.tolist(), count, strict=True)
    return {(names[a], names[b]): n for a, b, n in pairs}


def nodes_of(topology: Topology) -> list[str]:
    """Addresses of the nodes."""
    assert topology.node_addr is not None
    return format_addrs(topology.node_addr)


def asn_of(topology: Topology) -> dict[str, int]:
    """AS of each node by its address."""
    return dict(zip(nodes_of(topology), topology.node_asn.tolist(), strict=True))


def node_of_addr(topology: Topology) -> dict[str, int]:
    """Node of each address."""
    assert topology.addrs is not None
    assert topology.addr_node is not None
    return dict(zip(format_addrs(topology.addrs), topology.addr_node.tolist(), strict=True))


def asn_of_addr(topology: Topology) -> dict[str, int]:
    """AS of each address."""
    return {a: int(topology.node_asn[node]) for a, node in node_of_addr(topology).items()}


def ingresses_of(topology: Topology) -> dict[str, tuple[Sequence[int], int, int, bool]]:
    """(neighbour ASes, n_direct, n_after_gap, candidate) of each ingress by its address."""
    names, table = nodes_of(topology), topology.ingresses
    return {
        names[node]: (
            table.neighbor_asn[table.neighbor_ptr[i] : table.neighbor_ptr[i + 1]].tolist(),
            int(table.n_direct[i]),
            int(table.n_after_gap[i]),
            bool(table.candidate[i]),
        )
        for i, node in enumerate(table.node.tolist())
    }

"""Addresses of real measurements whose owners were once doubtful: what they are taken for now.

    python -m tests.oracles.real_ingresses [FOLDER]

FOLDER (default: ``HOPSCOPE_REAL_DATA``) has measurements in ``traceroute`` and prefixes in
``ip2as``, address ranges that become pfx2as files here. Each measurement is read by itself, with
and without the LANs of the two exchange points that it crosses. Prints Markdown.
"""

from __future__ import annotations

import csv
import gzip
import ipaddress
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.infer import Observer, PrefixTable, Registries, infer_topology
from pipeline.ingest import open_reader
from pipeline.ingest.tables import read_exchanges, read_prefixes
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import NO_ASN, Topology
from tests.addresses import format_addrs, parse_addrs
from tests.real_data import ROOT
from tests.tables import table_of_files

LANS = "37.49.236.0/22 France-IX Paris\n195.42.144.0/23 Equinix Paris\n"
DOUBTFUL = {
    "pantrace/atlas.jsonl": ("37.49.237.141",),
    "pantrace/trace.warts": (
        "89.149.181.137",
        "195.42.145.189",
        "195.42.145.161",
        "4.68.110.182",
    ),
    "sagan/atlas_traceroute.jsonl": ("72.52.92.102", "68.86.86.74", "213.155.135.79"),
    "mlab_scamper2/valid-complex-dst-in-hops-v6": ("2001:1900::3:212",),
}
_MAPPED = ipaddress.ip_network("::ffff:0:0/96")


def _lines(path: Path) -> Iterator[str]:
    """Lines of a pfx2as file for ranges ``first,last,AS,"name"``."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        for first, last, asn, *_ in csv.reader(stream):
            ends = ipaddress.ip_address(first), ipaddress.ip_address(last)
            for network in ipaddress.summarize_address_range(*ends):
                if network.prefixlen and not (network.version == 6 and network.overlaps(_MAPPED)):
                    yield f"{network.network_address}\t{network.prefixlen}\t{asn}\n"


def prefixes_of_ranges(folder: Path, scratch: Path) -> PrefixTable:
    """The table of ``asn-ipv4.csv.gz`` and ``asn-ipv6.csv.gz`` in ``folder``."""
    paths = []
    for version in "46":
        path = scratch / f"v{version}.pfx2as"
        path.write_text("".join(_lines(folder / f"asn-ipv{version}.csv.gz")))
        paths.append(path)
    return table_of_files(read_prefixes, paths, [ReadReport(str(path)) for path in paths])


def _as(asn: int) -> str:
    return "none" if asn == NO_ASN else f"AS{asn}"


def describe(topology: Topology, addr: str) -> str:
    """Owner of an address, and where its node is entered from."""
    assert topology.addrs is not None
    assert topology.addr_node is not None
    addrs = format_addrs(topology.addrs)
    if addr not in addrs:
        return "not a router"
    node = int(topology.addr_node[addrs.index(addr)])
    text, table = _as(int(topology.node_asn[node])), topology.ingresses
    if node not in table.node:
        return f"{text}, no ingress"
    row = table.node.tolist().index(node)
    around = slice(table.neighbor_ptr[row], table.neighbor_ptr[row + 1])
    before = ", ".join(f"AS{asn}" for asn in table.neighbor_asn[around].tolist())
    return f"{text}, {'candidate' if table.candidate[row] else 'ingress'} from {before}"


def rows(folder: Path) -> Iterator[tuple[str, ...]]:
    """Address, measurement, AS by prefix, and what it is without and with known LANs."""
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        prefixes = prefixes_of_ranges(folder / "ip2as", scratch)
        lans = scratch / "lans.txt"
        lans.write_text(LANS)
        known = Registries(
            exchanges=table_of_files(read_exchanges, [lans], [ReadReport(str(lans))])
        )
        for measurement, doubtful in DOUBTFUL.items():
            observer = Observer(scratch)
            path = folder / "traceroute" / measurement
            for batch in open_reader(path, ReadReport(str(path)))[1]:
                observer.add(batch)
            observations = [observer.close()]
            without, with_lans = (
                infer_topology(observations, prefixes=prefixes, registries=registries)
                for registries in (None, known)
            )
            for addr in doubtful:
                by_prefix = _as(int(prefixes.lookup(parse_addrs([addr]))[0]))
                told = describe(without, addr), describe(with_lans, addr)
                yield addr, measurement, by_prefix, *told


def main(words: Sequence[str] | None = None) -> None:
    """Print the table."""
    words = sys.argv[1:] if words is None else words
    heads = ("address", "measurement", "by prefix", "elected", "elected, LANs known")
    for row in (heads, ["---"] * len(heads), *rows(Path(words[0]) if words else ROOT)):
        sys.stdout.write(f"| {' | '.join(row)} |\n")


if __name__ == "__main__":
    main()

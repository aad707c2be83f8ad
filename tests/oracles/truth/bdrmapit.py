"""Owners of addresses by bdrmapIT [1]_, for ``hopscope judge`` and ``--owners`` of the truth tool.

    python -m tests.oracles.truth.bdrmapit LAB... --program BDRMAPIT --into FOLDER [--true-aliases]

BDRMAPIT is the program of bdrmapIT 2.1, in an environment of its own (Python 3.10, ``pip install
bdrmapit traceutils2``). Beside the traces and the prefix table it gets what is true of the
laboratory: relationships and customer cones, organisations, unannounced blocks, and exchange points
with all members; and the true alias sets where ``--true-aliases`` says so. Traces are given in
scamper's JSON, as hopscope reads them. Two files are written for each laboratory: bdrmapIT's own,
``FOLDER/LAB.db``, and of it ``FOLDER/LAB.json``: address to AS.

References
----------
.. [1] A. Marder et al., "Pushing the boundaries with bdrmapIT", IMC 2018.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.errors import FormatError, PipelineError, UsageError
from pipeline.ingest import open_reader
from pipeline.judge import TRUTH
from pipeline.judge.ground_truth import read_json
from pipeline.judge.observing import measurements_of
from pipeline.judge.outputs.bdrmapit import read_bdrmapit
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import (
    KIND_ECHO_REPLY,
    KIND_UNREACHABLE,
    LABELLED,
    TraceBatch,
)
from pipeline.model.topology import NO_ASN
from tests.addresses import format_addrs
from tests.oracles.truth.laboratory import ALIASES, unpacked

_ICMP = {KIND_ECHO_REPLY: 0, KIND_UNREACHABLE: 3}  # type; 11 for all others
_FIRST_EXCHANGE = -100  # bdrmapIT's number of the first exchange point; the next ones are lower
_ROUNDS = 20
# What a file of PeeringDB had when bdrmapIT was made, and its parser asks for.
_ROW = {"created": "2026-01-01", "updated": "2026-01-01", "status": "ok"}
_EXCHANGE = dict.fromkeys(
    [
        "notes",
        "city",
        "country",
        "media",
        "name_long",
        "policy_email",
        "policy_phone",
        "region_continent",
        "tech_email",
        "tech_phone",
        "url_stats",
        "website",
    ],
    "",
)


def _traces(batch: TraceBatch) -> Iterator[dict[str, Any]]:
    """Traces in scamper's JSON, one reply for each TTL and address."""
    src, dst, addr = map(format_addrs, (batch.src_addr, batch.dst_addr, batch.addr))
    kind = batch.kind & ~np.uint8(LABELLED)
    for i in range(batch.n_traces):
        rows = range(batch.reply_ptr[i], batch.reply_ptr[i + 1])
        hops = [
            {
                "addr": addr[row],
                "probe_ttl": int(batch.ttl[row]),
                "probe_id": 1,
                "probe_size": 60,
                "rtt": float(np.nan_to_num(batch.rtt_ms[row])),
                "reply_ttl": 64,
                "reply_size": 56,
                "icmp_type": _ICMP.get(int(kind[row]), 11),
                "icmp_code": 0,
            }
            for row in rows
        ]
        answered = any(hop["addr"] == dst[i] for hop in hops)
        yield {
            "type": "trace",
            "version": "0.1",
            "method": "icmp-echo-paris",
            "src": src[i],
            "dst": dst[i],
            "stop_reason": "COMPLETED" if answered else "GAPLIMIT",
            "start": {"sec": int(batch.start_s[i]), "usec": 0},
            "hop_count": max((hop["probe_ttl"] for hop in hops), default=0),
            "attempts": 2,
            "firsthop": 1,
            "wait": 1,
            "hops": hops,
        }


def _write_traces(folder: Path, scratch: Path) -> Path:
    """Write all traces of a laboratory; the file that lists their files."""
    listed = []
    for at, path in enumerate(measurements_of(folder)):
        target = scratch / f"traces-{at}.json"
        with target.open("w") as file:
            for batch in open_reader(path, ReadReport(str(path)))[1]:
                file.writelines(json.dumps(trace) + "\n" for trace in _traces(batch))  # type: ignore[arg-type]
        listed.append(f"{target}\n")
    files = scratch / "files"
    files.write_text("".join(listed))
    return files


def _write_prefixes(truth: Mapping[str, Any], folder: Path, path: Path) -> None:
    """Write the prefix table, unannounced blocks, private space and LANs of exchange points."""
    asn_of: dict[str, int] = {}
    for line in (folder / "lab.pfx2as").read_text().splitlines():
        prefix, length, origins = line.split()
        asn_of[f"{prefix}/{length}"] = int(origins.replace("_", ",").split(",")[0])
    for asn, block in truth.get("infrastructure", {}).items():
        if int(asn) in truth.get("unannounced_infrastructure", []):
            asn_of[block] = int(asn)
    asn_of["10.0.0.0/8"] = -1
    for at, exchange in enumerate(truth.get("ixps", [])):
        asn_of[exchange["lan"]] = _FIRST_EXCHANGE - at
    path.write_text("".join(f"{prefix} {asn}\n" for prefix, asn in asn_of.items()))


def _cones(ases: Iterable[int], pairs: Iterable[tuple[int, int, int]]) -> str:
    """Customer cones: each AS, then it and all below it."""
    customers = defaultdict(set)
    for provider, customer, kind in pairs:
        if kind == -1:
            customers[provider].add(customer)
    lines = []
    for asn in ases:
        cone, open_ = {asn}, [asn]
        while open_:
            new = customers[open_.pop()] - cone
            cone |= new
            open_ += new
        lines.append(f"{asn} {' '.join(map(str, sorted(cone)))}\n")
    return "".join(lines)


def _organisations(ases: Iterable[int], org_of: Mapping[str, int]) -> str:
    """Organisations in CAIDA's format; an AS without one is one by itself."""
    own = {asn: org_of.get(str(asn), asn) for asn in ases}
    rows = [f"O{org}|20260101|Org {org}|US|ARIN\n" for org in sorted(set(own.values()))]
    of = [f"{asn}|20260101|AS{asn}|O{org}|x|ARIN\n" for asn, org in own.items()]
    heads = "org_id|changed|org_name|country|source", "aut|changed|aut_name|org_id|opaque_id|source"
    return "".join([f"# format:{heads[0]}\n", *rows, f"# format:{heads[1]}\n", *of])


def _exchanges(truth: Mapping[str, Any]) -> dict[str, Any]:
    """Exchange points in the shape of an old file of PeeringDB."""
    found: dict[str, list[dict[str, Any]]] = {"ix": [], "ixlan": [], "ixpfx": [], "netixlan": []}
    for at, ix in enumerate(truth["ixps"]):
        protocols = dict.fromkeys(("proto_ipv6", "proto_multicast"), False)
        named = {"id": at, "name": ix["name"], "org_id": at, "proto_unicast": True}
        found["ix"].append({**_ROW, **_EXCHANGE, **protocols, **named})
        lan = {"id": at, "ix_id": at, "arp_sponge": None, "descr": "", "dot1q_support": False}
        found["ixlan"].append({**_ROW, **lan, "mtu": 1500, "name": "", "rs_asn": ix["asn"]})
        prefix = {"id": at, "ixlan_id": at, "prefix": ix["lan"], "protocol": "IPv4"}
        found["ixpfx"].append({**_ROW, **prefix})
        for number, (router, addr) in enumerate(ix["members"].items()):
            member = {"id": 100 * at + number, "ipaddr4": addr, "ipaddr6": None, "ixlan_id": at}
            also = {"is_rs_peer": True, "net_id": 1, "notes": "", "speed": 1}
            asn = truth["asn_of"][router]
            found["netixlan"].append({**_ROW, **member, **also, "asn": asn})
    return {name: {"data": rows} for name, rows in found.items()}


def annotate(folder: Path, program: str, target: Path, *, true_aliases: bool = False) -> None:
    """Write what bdrmapIT says of an unpacked laboratory: its own file, SQLite.

    Raises
    ------
    UsageError
        If the program cannot be run, or fails; with the last line that it said.
    """
    truth = read_json(folder / TRUTH)
    if "relationships" not in truth:
        raise FormatError(folder / TRUTH, "relationships", "are not known")
    ases = sorted(set(truth["asn_of"].values()))
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        pairs = truth["relationships"]
        _write_prefixes(truth, folder, scratch / "ip2as")
        (scratch / "rel").write_text("".join(f"{a}|{b}|{kind}\n" for a, b, kind in pairs))
        (scratch / "cone").write_text(_cones(ases, pairs))
        (scratch / "org").write_text(_organisations(ases, truth.get("organisations", {})))
        given = {"-j": _write_traces(folder, scratch), "-i": "ip2as", "-b": "org", "-r": "rel"}
        given |= {"-c": "cone", "-s": "owners.db"}
        if truth.get("ixps"):
            (scratch / "peeringdb.json").write_text(json.dumps(_exchanges(truth)))
            given["-P"] = "peeringdb.json"
        if true_aliases:
            given["-R"] = (folder / ALIASES).absolute()
        options = [str(word) for pair in given.items() for word in pair]
        command = [program, "all", "-p", "1", "-I", str(_ROUNDS), *options]
        try:
            ran = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        except OSError as error:
            raise UsageError(f"{program}: {error.strerror}") from error
        if not (scratch / "owners.db").is_file():
            said = ran.stderr.strip().splitlines() or ["it said nothing"]
            raise UsageError(f"{program} wrote no owners of {folder}: {said[-1]}")
        shutil.copyfile(scratch / "owners.db", target)


def owners_in(path: Path) -> dict[str, int]:
    """Owners of addresses in bdrmapIT's own file; those in no AS are left out."""
    output, _ = read_bdrmapit(path)
    asns = output.asn[output.router].tolist()
    owners = zip(format_addrs(output.addrs), asns, strict=True)
    return {addr: asn for addr, asn in owners if asn != NO_ASN}


def version_of(program: str) -> str:
    """Version of bdrmapIT's package, in the environment of its program."""
    python = Path(program).with_name("python")
    code = "from importlib.metadata import version; print(version('bdrmapit'))"
    ran = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def main(words: Sequence[str] | None = None) -> int:
    """Write the files of each laboratory; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracles.truth.bdrmapit", description=__doc__.splitlines()[0]
    )
    parser.add_argument("labs", nargs="+", type=Path, metavar="LAB")
    parser.add_argument("--program", required=True, metavar="BDRMAPIT")
    parser.add_argument("--into", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--true-aliases", action="store_true")
    arguments = parser.parse_args(words)
    arguments.into.mkdir(parents=True, exist_ok=True)
    for path in arguments.labs:
        output = arguments.into / f"{path.name.split('.tar')[0]}.db"
        try:
            with unpacked(path) as folder:
                annotate(folder, arguments.program, output, true_aliases=arguments.true_aliases)
        except PipelineError as error:
            print(error, file=sys.stderr)
            return 2
        output.with_suffix(".json").write_text(json.dumps(owners_in(output)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

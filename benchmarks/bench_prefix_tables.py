"""Prefix tables of 1.2 million prefixes in several forms, each read in a process of its own.

Command: python benchmarks/bench_prefix_tables.py
970,000 IPv4 and 230,000 IPv6 prefixes, as CAIDA's pfx2as, CSV, bgpkit's JSON, and an MRT RIB in
which ten peers see each. Writes benchmarks/results/prefix_tables_2_cores.json: `wall_s`, `cpu_s`
and `peak_mb`, which is of the whole process, with its compiled code.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.lib.record import record

N_V4, N_V6, N_PEERS = 970_000, 230_000, 10
Row = tuple[str, int, int]  # address, length, AS

READ = """
import json, resource, sys, time
from pathlib import Path
from pipeline.ingest.tables import PREFIXES
from pipeline.ingest.tables.prefixes import compile_kernels
compile_kernels()
wall, cpu = time.perf_counter(), time.process_time()
table, (report,) = PREFIXES.read_files([Path(sys.argv[1])])
print(json.dumps({
    "form": report.format, "n_prefixes": table.n_prefixes, "bytes": report.size_bytes,
    "wall_s": round(time.perf_counter() - wall, 2), "cpu_s": round(time.process_time() - cpu, 2),
    "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
}))
"""


def prefixes() -> list[Row]:
    """IPv4 in /24, IPv6 in /32 and /48, sorted, with ASes drawn at random."""
    rng = np.random.default_rng(1)
    v4 = np.sort(rng.choice(np.arange(1 << 16, 223 << 16), N_V4, replace=False))
    v6 = np.sort(rng.choice(1 << 28, N_V6, replace=False))
    asn, asn6 = (rng.integers(1, 400_000, n).tolist() for n in (N_V4, N_V6))
    rows = [
        (f"{n >> 16}.{n >> 8 & 255}.{n & 255}.0", 24, a)
        for n, a in zip(v4.tolist(), asn, strict=True)
    ]
    rows += [
        (f"2{n >> 16:03x}:{n & 0xFFFF:x}::", 32 + 16 * (i % 2), a)
        for i, (n, a) in enumerate(zip(v6.tolist(), asn6, strict=True))
    ]
    return rows


def mrt(rows: list[Row]) -> Iterator[bytes]:
    """Records of TABLE_DUMP_V2."""
    for number, (addr, length, asn) in enumerate(rows):
        ip = ip_address(addr)
        body = [struct.pack("!IB", number, length), ip.packed[: (length + 7) // 8]]
        body.append(struct.pack("!H", N_PEERS))
        for peer in range(N_PEERS):
            path = struct.pack("!BB4I", 2, 4, 64000 + peer, 3356, 1299, asn)
            attributes = b"\x40\x01\x01\x00\x40\x02\x12" + path + b"\x40\x03\x04\x01\x02\x03\x04"
            body.append(struct.pack("!HIH", peer, 0, len(attributes)) + attributes)
        text = b"".join(body)
        subtype = 2 if ip.version == 4 else 4
        yield struct.pack("!IHHI", 1_700_000_000, 13, subtype, len(text)) + text


def main() -> None:
    rows = prefixes()
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        (made / "pfx2as").write_text("".join(f"{a}\t{n}\t{asn}\n" for a, n, asn in rows))
        (made / "csv").write_text("".join(f"{a}/{n},AS{asn}\n" for a, n, asn in rows))
        records = (f'{{"prefix":"{a}/{n}","count":{asn % 50},"asn":{asn}}}' for a, n, asn in rows)
        (made / "json").write_text(f'{{"pfx2as":[{",".join(records)}]}}')
        with (made / "mrt").open("wb") as file:
            file.writelines(mrt(rows))
        found = []
        for name in ("pfx2as", "csv", "json", "mrt"):
            command = [sys.executable, "-c", READ, str(made / name)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found.append(json.loads(done.stdout))
            assert found[-1]["n_prefixes"] == len(rows), found[-1]
    record("prefix_tables_2_cores", found)


if __name__ == "__main__":
    main()

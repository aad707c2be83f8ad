"""Two nights of traces between three ASes, as scamper prints them, in a store with reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson

from tests.commands import Done, hopscope

POINTS = ("20.1.9.1", "20.2.9.1", "20.3.9.1", "20.1.9.2")
TARGETS = ("20.3.0.200", "20.3.0.201", "20.3.0.202")
ENTRY = "20.2.0.1"  # into AS 2, from AS 1
SLOW = "20.2.0.2"  # on the second night by 30 ms
NEW, GONE = "20.2.0.8", "20.2.0.3"  # on the second night alone, on the first alone
PRIVATE = "10.0.0.1"
LABELLED = "20.3.0.1"
SILENT_TTL = 5
# AS 3 may bring any name.
HOSTILE = "</script><img src=x onerror=\"document.title='2'\">"


def records(is_second: bool, points: Sequence[str] = POINTS) -> list[dict]:
    """A trace from each vantage point to each target, three times."""
    found = []
    for i, point in enumerate(points):
        for j, target in enumerate(TARGETS):
            first = f"20.1.0.{i + 1}"
            way = [PRIVATE, first, ENTRY, SLOW, None, NEW if is_second else GONE, LABELLED, target]
            hops = []
            for ttl, addr in enumerate(way, start=1):
                if addr is None:
                    continue
                slow = 30.0 if is_second and ttl >= 4 else 0.0
                hop = {"addr": addr, "probe_ttl": ttl, "rtt": 10.0 * ttl + i + slow}
                hop |= {"icmp_type": 0 if addr == target else 11, "icmp_code": 0}
                if addr == LABELLED:
                    labels = [{"mpls_ttl": 1, "mpls_s": 1, "mpls_exp": 0, "mpls_label": 16}]
                    hop["icmpext"] = [{"ie_cn": 1, "ie_ct": 1, "ie_dl": 4, "mpls_labels": labels}]
                hops.append(hop)
            start = {"sec": 1_790_000_000 + 86_400 * is_second + 60 * j, "usec": 0}
            record = {"type": "trace", "src": point, "dst": target, "start": start, "hops": hops}
            found += [record | {"start": start | {"usec": usec}} for usec in (0, 10, 20)]
    return found


def make_nights(folder: Path, *options: str, points: Sequence[str] = POINTS) -> Path:
    """Both nights ingested, analyzed and compared by commands; the folder of reports."""
    (folder / "as.pfx2as").write_text("".join(f"20.{asn}.0.0\t16\t{asn}\n" for asn in (1, 2, 3)))
    (folder / "names.txt").write_text(f"1|ONE\n2|TWO\n3|{HOSTILE}\n")
    for name, is_second in (("old", False), ("new", True)):
        lines = [orjson.dumps(record) for record in records(is_second, points)]
        (folder / f"{name}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
        told(folder, "ingest", f"{name}.jsonl", "--snapshot", name, "--ip2as", "as.pfx2as",
             "--as-names", "names.txt", *options)  # fmt: skip
        told(folder, "analyze", "--snapshot", name, "--out", "reports")
    told(folder, "compare", "old", "new", "--out", "reports")
    return folder / "reports"


def told(folder: Path, *words: str) -> Done:
    """A command on the store of the folder; it must do all that it is told."""
    done = hopscope([*words, "--store", "store"], folder, {})
    assert done.status == 0, done.said
    return done

"""AS relationships that are drawn, beside real ones: degrees, customer cones, providers, peers.

    python -m tests.oracles.as_relationships FILE.as-rel [FILE...]

A row for each file (CAIDA's serial-1, plain or in gzip): shares of all ASes.
"""

from __future__ import annotations

import gzip
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
# Of CAIDA's file of 2012-06-01 (39,406 ASes).
REAL = {
    "customers": (0.14516, 0.08755, 0.0437, 0.02492, 0.01337, 0.00561, 0.00256, 0.00119),
    "cones": (0.14516, 0.14516, 0.06184, 0.03761, 0.02307, 0.01327, 0.00827, 0.0053),
    "providers": (0.99, 0.566, 0.0144),
}


def laws_of(rows: Iterable[tuple[int, int, int]]) -> dict[str, dict[int, float]]:
    """Shares of ASes by customers, ASes of their cone (themselves too), providers and peers.

    Parameters
    ----------
    rows : iterable of (int, int, int)
        Two ASes, and -1 where the first is the provider, 0 where they are peers.
    """
    customers, providers, peers = (defaultdict(set) for _ in range(3))
    for one, other, kind in rows:
        if kind == -1:
            customers[one].add(other)
            providers[other].add(one)
        elif kind == 0:
            peers[one].add(other)
            peers[other].add(one)
    ases = {*customers, *providers, *peers}
    counts = {
        "customers": [len(each) for each in customers.values()],
        "cones": [len(_cone(asn, customers)) for asn in customers],
        "providers": [len(each) for each in providers.values()],
        "peers": [len(each) for each in peers.values()],
    }
    return {
        name: {size: sum(n >= size for n in found) / len(ases) for size in SIZES}
        for name, found in counts.items()
    }


def _cone(asn: int, customers: dict[int, set[int]]) -> set[int]:
    seen, todo = {asn}, [asn]
    while todo:
        for below in customers.get(todo.pop(), ()):
            if below not in seen:
                seen.add(below)
                todo.append(below)
    return seen


def main() -> None:
    for path in map(Path, sys.argv[1:]):
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        lines = [line.split("|") for line in text.decode().splitlines() if line[:1] != "#"]
        laws = laws_of((int(a), int(b), int(kind)) for a, b, kind, *_ in lines)
        for name, shares in laws.items():
            row = " ".join(f"{share:.5f}" for share in shares.values())
            sys.stdout.write(f"{path.name} {name:9} {row}\n")


if __name__ == "__main__":
    main()

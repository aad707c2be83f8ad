"""Whether our topologies follow the laws of those that BRITE's own engines made.

``python -m tests.oracles.brite_laws FOLDER [--json FILE]``

FOLDER holds files of BRITE's engines, ``ENGINE_NAME_SEED.brite`` (``java_td-k_7.brite``), and in
``conf/NAME.conf`` beside it are the configurations that they were made with. For each engine and
name as many topologies are made here of the same configuration, by other seeds; each figure of the
one and of the other runs is compared by Mann and Whitney's test of 20 against 20 runs, and the
difference is called clear where it would occur by chance in one comparison of 1,000.

The engines are BRITE 2.1's, C++ and Java (github dongkai16z/brite, 737b553), with 1,000 routers a
file; seeds were written into ``seed_file`` before each run.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, shortest_path
from scipy.stats import mannwhitneyu

from benchmarks.lib.record import record
from pipeline.generate import generate
from pipeline.generate.files.brite_conf import read_conf
from pipeline.ingest import brite
from pipeline.model.measured.reading import ReadReport
from pipeline.model.topology import Topology

CLEAR = 0.001
_FILE = re.compile(r"([a-z]+)_([a-z0-9-]+)_(\d+)\.brite")


def figures(topology: Topology) -> dict[str, float]:
    """Figures of one topology; those of hops are of its largest component."""
    n = topology.n_nodes
    near, far = topology.near, topology.far
    degree = np.bincount(np.concatenate([near, far]), minlength=n)
    matrix = coo_array((np.ones(len(near)), (near, far)), shape=(n, n)).tocsr()
    matrix = ((matrix + matrix.T) > 0).astype(np.float64)
    matrix.setdiag(0)
    paths = (matrix @ matrix).multiply(matrix).sum()
    wedges = float((degree * (degree - 1.0)).sum())
    of = connected_components(matrix)[1]
    largest = np.flatnonzero(of == np.bincount(of).argmax())
    hops = shortest_path(matrix[largest][:, largest], unweighted=True, indices=range(0, 100))
    asn = topology.node_asn
    inter = asn[near] != asn[far]
    found = {
        "links": float(len(near)),
        "largest degree": float(degree.max()),
        "share of degree <= 2": float((degree <= 2).mean()),
        "share of degree >= 10": float((degree >= 10).mean()),
        "clustering": float(paths / wedges) if wedges else 0.0,
        "mean hops": float(hops[hops > 0].mean()),
        "largest number of hops": float(hops.max()),
        "routers of the largest component": float(len(largest)),
        "mean length of a link": float(topology.weight.mean()),
        "spread of lengths": float(topology.weight.std()),
        "mean bandwidth": float(topology.link_columns["bandwidth"].mean()),
    }
    if len(np.unique(asn)) > 1 and topology.kind != "as":
        borders = np.concatenate([near[inter], far[inter]])
        found |= {
            "links between ASes": float(inter.sum()),
            "border routers": float(len(np.unique(borders))),
            "mean degree of a border router": float(degree[np.unique(borders)].mean()),
            "ASes": float(len(np.unique(asn))),
        }
    return found


def compare(folder: Path) -> list[dict[str, object]]:
    """One row for each engine, name and figure."""
    files: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for path in sorted(folder.glob("*.brite")):
        if match := _FILE.fullmatch(path.name):
            files[match[1], match[2]].append(path)
    ours: dict[str, list[dict[str, float]]] = {}
    rows: list[dict[str, object]] = []
    for (engine, name), paths in sorted(files.items(), key=lambda item: item[0][::-1]):
        configured = read_conf(folder.parent / "conf" / f"{name}.conf")
        if name not in ours:
            ours[name] = [
                figures(generate(configured.model, replace(configured.given, seed=1000 + i)))
                for i in range(20)
            ]
        theirs = [figures(_read(path)) for path in paths]
        for figure in theirs[0]:
            a = np.array([run[figure] for run in theirs])
            b = np.array([run.get(figure, np.nan) for run in ours[name]])
            same = bool((a == a[0]).all() and (b == a[0]).all())
            rows.append(
                {
                    "name": name,
                    "engine": engine,
                    "figure": figure,
                    "runs": len(a),
                    "theirs": [float(a.mean()), float(a.std(ddof=1))],
                    "ours": [float(b.mean()), float(b.std(ddof=1))],
                    "p": 1.0 if same else float(mannwhitneyu(a, b).pvalue),
                }
            )
    return rows


def _read(path: Path) -> Topology:
    with path.open("rb") as file:
        return next(iter(brite.read(file, ReadReport(str(path), "brite"))))


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="brite_laws")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(words)
    rows = compare(given.folder)
    if given.json:
        with contextlib.redirect_stdout(io.StringIO()):  # the rows are printed below
            record(given.json.stem, rows, given.json.parent)
    names = dict.fromkeys((row["name"], row["engine"]) for row in rows)
    for name, engine in names:
        of = [row for row in rows if (row["name"], row["engine"]) == (name, engine)]
        clear = [row for row in of if row["p"] < CLEAR]
        agree = f"{len(of) - len(clear)} of {len(of)} agree"
        sys.stdout.write(f"{name}, {engine}, {of[0]['runs']} runs: {agree}\n")
        for row in clear:
            (a, da), (b, db) = row["theirs"], row["ours"]
            both = f"theirs {a:.4g} +- {da:.2g}, ours {b:.4g} +- {db:.2g}"
            sys.stdout.write(f"    {row['figure']}: {both}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A network of ten thousand ASes whose truth is known: time, memory, and what is right.

    python -m tests.oracles.networks big_internet --seeds N --into FOLDER
    python -m tests.oracles.truth.scale FOLDER/big_internet-N [--ways WAY,...]
    python -m tests.oracles.truth.scale FOLDER/big_internet-N --without RULE,... [--ways WAY,...]
Writes ``benchmarks/results/scale.json``. First what a user runs, in a process of its own:
``ingest`` with the prefix table alone; its memory is the largest sum of the proportional set sizes
of that process and its children. Then a row for each way of ``python -m tests.oracles.truth``: the
time of inference alone, in one thread, and all figures. ``cpu_s`` is processor time: on a busy
machine look at that. ``--without`` judges each way with all rules and without some, and writes
``scale_rules.json``.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.lib.process_memory import MemorySampler
from benchmarks.lib.record import RESULTS, record
from pipeline.judge.observing import measurements_of
from tests.oracles.truth.command import WAYS
from tests.oracles.truth.laboratory import LAB_RANGES, Laboratory, open_lab
from tests.oracles.truth.scores import infer_lab, score
from tests.oracles.truth.tables import SHARES

_WAYS = ("inferred-routers", "registries-inferred-routers", "host-names-inferred-routers")


def main(words: Sequence[str] | None = None) -> None:
    """Print and record a row for each measurement."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ways", default=",".join(_WAYS), metavar="WAY,...")
    parser.add_argument("--without", metavar="RULE,...", help="judge ways without these rules, too")
    parser.add_argument("--into", type=Path, default=RESULTS, metavar="FOLDER")
    given = parser.parse_args(words)
    left_out = given.without.split(",") if given.without else []
    rows = [] if left_out else [ingest(given.folder)]
    with open_lab(given.folder, together=True) as lab:
        facts = {
            "n_routers": len(lab.truth.asn_of),
            "n_ases": len(set(lab.truth.asn_of.values())),
            "n_links": len(lab.truth.links),
            "n_traces": sum(each.n_traces for each in lab.observations),
            "n_hops": sum(each.n_hops for each in lab.observations),
        }
        for without in [[], left_out] if left_out else [[]]:
            rows += judge(lab, given.ways.split(","), without)
    record("scale_rules" if left_out else "scale", rows, given.into, **facts)


def ingest(folder: Path) -> dict[str, Any]:
    """Time and memory of a command that a user runs."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pipeline.cli", "ingest"]
        command += [str(path) for path in measurements_of(folder)]
        command += ["--ip2as", str(folder / "lab.pfx2as"), "--store", f"{scratch}/store"]
        command += [word for each in LAB_RANGES for word in ("--allow-special", each)]
        load, started = os.getloadavg()[0], time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with MemorySampler(process.pid) as sampler:
            process.wait()
        wall_s = time.monotonic() - started
        if process.returncode > 1:
            raise SystemExit(f"ingest ended with status {process.returncode}")
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        return {
            "what": "ingest",
            "wall_s": round(wall_s, 1),
            "cpu_s": round(spent.ru_utime + spent.ru_stime, 1),
            "peak_gib": round(sum(sampler.peak()[1]) / 2**30, 2),
            "load_before": round(load, 1),
        }


def judge(lab: Laboratory, ways: list[str], without: list[str]) -> Iterator[dict[str, Any]]:
    """A row for each way, without some rules."""
    for way in ways:
        name, options = WAYS[way]
        started, cpu = time.monotonic(), time.process_time()
        topology = infer_lab(lab, without=without, **options)
        wall_s, cpu_s = time.monotonic() - started, time.process_time() - cpu
        found = score(topology, lab.truth, lab.observations, lab.visible)
        yield {
            "what": name,
            **({"without": ",".join(without)} if without else {}),
            "wall_s": round(wall_s, 1),
            "cpu_s": round(cpu_s, 1),
            **{share: round(one(found), 4) for share, one in SHARES.items()},
            # Of links that the topology does not itself mark, and hops that none of these shortens.
            "plain links right": round(found.plain_links_right / max(1, found.plain_links), 4),
            "plain hops equal": round(found.past_equal / max(1, found.past_pairs), 4),
            "links_false": found.links_false,
            "ingresses": found.ingresses,
            "borders_visible": found.borders_visible,
        }


if __name__ == "__main__":
    main()

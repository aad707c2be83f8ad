"""Make networks, each in a folder of its own: see the package."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.oracles.networks.files import write_files
from tests.oracles.networks.measuring import Prober
from tests.oracles.networks.network import Network
from tests.oracles.networks.plan import KINDS, Plan, make_plan


def make_network(plan: Plan, folder: Path) -> str:
    """Draw a network, trace through it and write it all; returns it in words."""
    folder.mkdir(parents=True, exist_ok=True)
    network = Network(plan)
    prober = Prober(network)
    n_traces = prober.write(folder)
    write_files(network, prober.walks.delays, folder)
    return (
        f"{plan.name}, seed {plan.seed}: {len(network.asn_of)} routers,"
        f" {len(network.ases.tier)} ASes, {len(network.links)} links, {n_traces} traces"
    )


def _seeds(text: str) -> list[int]:
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.oracles.networks", description=f"Kinds: {', '.join(KINDS)}, or all."
    )
    parser.add_argument("kinds", nargs="+", metavar="KIND", help="or field=value")
    parser.add_argument("--seeds", type=_seeds, default=[1], metavar="FIRST-LAST")
    parser.add_argument("--into", type=Path, required=True, metavar="FOLDER")
    given = parser.parse_args()
    kinds = [word for word in given.kinds if "=" not in word]
    changed = [word for word in given.kinds if "=" in word]
    for kind in KINDS if kinds == ["all"] else kinds:
        for seed in given.seeds:
            try:
                plan = make_plan(kind, seed, changed)
            except ValueError as error:
                parser.error(str(error))
            sys.stdout.write(make_network(plan, given.into / f"{kind}-{seed}") + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

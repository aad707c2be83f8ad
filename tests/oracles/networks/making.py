"""A network of a plan, with everything that lies in its folder."""

from __future__ import annotations

from pathlib import Path

from pipeline.generate.networks.files import write_files
from pipeline.generate.networks.network import Network
from pipeline.generate.networks.plan import Plan
from tests.oracles.networks.measuring import Prober


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


def parse_seeds(text: str) -> list[int]:
    """Seeds written as ``FIRST-LAST`` or as one number; ValueError if it is neither."""
    first, _, last = text.partition("-")
    seeds = list(range(int(first), int(last or first) + 1))
    if not seeds:
        raise ValueError(f"{text}: the first seed is larger than the last")
    return seeds

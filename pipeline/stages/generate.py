"""A synthetic topology, to a BRITE file or to a snapshot of the store."""

from __future__ import annotations

import datetime
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from pipeline import __version__
from pipeline.build import build_graphs
from pipeline.errors import UsageError
from pipeline.generate import generate, write_brite
from pipeline.infer.declared import declare
from pipeline.store import check_name, write_snapshot


@dataclass(frozen=True)
class GenerateConfig:
    """What to make and where to put it; exactly one of ``out`` and ``store``."""

    model: str
    routers: int
    ases: int = 50
    links: int = 2
    seed: int = 1
    out: Path | None = None
    store: Path | None = None
    snapshot: str | None = None
    asn: int | None = None
    ingresses: int | None = None


def generate_topology(config: GenerateConfig) -> str:
    """Make a topology and write it; returns one line that says what and where.

    Raises
    ------
    UsageError
        If the model is unknown, a number is out of range, or there is nowhere to write to.
    """
    started = time.time()
    if (config.out is None) == (config.store is None):
        raise UsageError("give either --out FILE.brite or --store DIR")
    if config.snapshot is not None:
        check_name(config.snapshot)
    topology = generate(
        config.model,
        n_routers=config.routers,
        n_ases=config.ases,
        m=config.links,
        seed=config.seed,
    )
    made = f"{topology.n_nodes:,} routers, {topology.n_links:,} links"
    if config.out is not None:
        config.out.parent.mkdir(parents=True, exist_ok=True)
        write_brite(topology, config.out)
        return f"{made} -> {config.out} ({time.time() - started:.1f} s)"
    assert config.store is not None
    declared = declare(topology, asn=config.asn, ingresses=config.ingresses)
    graphs = build_graphs([declared])
    today = datetime.datetime.fromtimestamp(started, datetime.UTC).strftime("%Y-%m-%d")
    name = config.snapshot or today
    options = {
        key: str(value) if isinstance(value, Path) else value
        for key, value in asdict(config).items()
    }
    write_snapshot(
        config.store,
        name,
        graphs,
        as_names={},
        inputs=[],
        options=options | {"hopscope": __version__},
        counts=dict(graphs.counts),
        rejects=[],
    )
    return f"{made} -> snapshot {name} in {config.store} ({time.time() - started:.1f} s)"

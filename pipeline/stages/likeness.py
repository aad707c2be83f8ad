"""A topology in the likeness of a snapshot or of one of its ASes, and how near it came."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import numpy as np

from pipeline import __version__
from pipeline.config import GenerateConfig
from pipeline.config.generate import OF_LIKENESSES
from pipeline.errors import UsageError
from pipeline.generate.files.adjacency_file import write_adjacency
from pipeline.generate.files.brite_file import write_brite
from pipeline.generate.likeness.making import likeness_topology, make_likeness
from pipeline.generate.likeness.original import Original
from pipeline.generate.shares import shares_told
from pipeline.model.choices import ADJACENCY_SUFFIX
from pipeline.model.graphs import GraphSet
from pipeline.model.progress import Progress, ProgressCallback, no_progress
from pipeline.model.synthetic import MAX_SEED
from pipeline.model.words import links_text, number
from pipeline.report.pages.likeness_page import write_likeness
from pipeline.stages.contents.snapshots import row_of
from pipeline.stages.places import check_file
from pipeline.stages.saving import flag_of, refuse_measured, save_generated
from pipeline.store import Snapshot, check_name, open_snapshot

logger = logging.getLogger(__name__)


def generate_likeness(config: GenerateConfig, progress: ProgressCallback = no_progress) -> str:
    """Make a topology like a snapshot, or like one of its ASes, and write it.

    Returns
    -------
    str
        What was made and where it is, in one line.

    Raises
    ------
    UsageError
        For options of models, without a store, for an AS that the snapshot does not have, for
        fewer routers than ASes, or if there is nowhere to write to.
    StoreError
        If there is no such snapshot, or it is broken.
    """
    started = time.time()
    _check(config)
    assert config.store is not None
    assert config.like is not None
    with open_snapshot(config.store, config.like) as snapshot:
        original = read_original(snapshot, config.asn)
    n_routers = config.routers or original.n_nodes
    n_ases = config.ases if "ases" in config.said else None
    if n_ases not in (None, original.n_ases) and 1 in (n_ases, original.n_ases):
        logger.warning(_of_one(config, n_ases or 1))

    def on_share(share: float) -> None:
        n_made = min(int(share * n_routers), n_routers - 1)
        progress(Progress("generate", n_made, n_routers, "routers", config.like or "", share))

    on_share(0.0)
    with shares_told(on_share):
        graphs = make_likeness(original, n_routers=n_routers, n_ases=n_ases, seed=config.seed)
    progress(Progress("generate", n_routers, n_routers, "routers", config.like))
    written = _put(config, graphs, started, progress)
    if config.report is not None:
        with shares_told(lambda share: None):
            page = _report(config, original, graphs, n_routers, n_ases, progress)
        written += f"; how near it came -> {page}"
    return written


def _of_one(config: GenerateConfig, n_ases: int) -> str:
    """What is ignored where one AS is made of several, or several of one."""
    if n_ases > 1:
        return (
            f"--ases {n_ases}: one AS does not say how several are linked, so no link joins them; "
            "leave out --ases, or imitate a snapshot of several ASes"
        )
    return (
        f"--ases 1: one AS of {config.like} is imitated, drawn by the seed, and its links to other "
        "ASes are left out; --asn N says which one"
    )


def _put(
    config: GenerateConfig, graphs: GraphSet, started: float, progress: ProgressCallback
) -> str:
    """Write the likeness; says what it is and where."""
    assert config.store is not None
    n_nodes = number(len(graphs.degree), "router")
    made = f"{n_nodes}, {links_text(len(graphs.indices) // 2, len(graphs.border_near))}"
    command = _command(config)
    if config.out is None:
        store = config.out_store or config.store
        return made + save_generated(config, store, graphs, command, started, progress)
    config.out.parent.mkdir(parents=True, exist_ok=True)
    progress(Progress("save", 0, 1, "file", config.out.name))
    topology = likeness_topology(graphs, config.seed)
    if config.out.suffix == ADJACENCY_SUFFIX:
        write_adjacency(topology, config.out, command)
    else:
        write_brite(topology, config.out, command)
    progress(Progress("save", 1, 1, "file", config.out.name))
    return f"{made} -> {config.out} ({time.time() - started:.1f} s)"


def _report(
    config: GenerateConfig,
    original: Original,
    graphs: GraphSet,
    n_routers: int,
    n_ases: int | None,
    progress: ProgressCallback,
) -> Path:
    """Compare with the original and with the likeness of another seed; the page."""
    from pipeline.generate.likeness.figures import as_original, compared, figures_of

    assert config.report is not None
    progress(Progress("compare", 0, 3, "topologies", "original"))
    was = figures_of(original)
    progress(Progress("compare", 1, 3, "topologies", "likeness"))
    made = figures_of(as_original(graphs))
    progress(Progress("compare", 2, 3, "topologies", "another seed"))
    seed = config.seed + 1 if config.seed < MAX_SEED else 0
    again = make_likeness(original, n_routers=n_routers, n_ases=n_ases, seed=seed)
    other = figures_of(as_original(again))
    progress(Progress("compare", 3, 3, "topologies", "another seed"))
    name = (config.like or "") + ("" if config.asn is None else f", AS{config.asn}")
    facts = {
        "original": name,
        "command": _command(config),
        "other_seed": str(seed),
        "version": __version__,
    }
    drawn = [("Original", was.degrees, was.hops), ("Likeness", made.degrees, made.hops)]
    return write_likeness(config.report, compared(was, made, other), drawn, facts)


def read_original(snapshot: Snapshot, asn: int | None) -> Original:
    """An AS of a snapshot, or all.

    Raises
    ------
    UsageError
        If the snapshot does not have the AS.
    """
    rows = np.arange(snapshot.n_ases)
    if asn is not None:
        rows = rows[[row_of(snapshot, asn)]]
    shard = snapshot.shard(rows, n_threads=2)
    weights = None
    if snapshot.weight_unit:
        weights = snapshot.link_columns(rows).get("weight")
    entries = snapshot.ingresses(rows)
    own = ~entries.candidate
    place = np.full(snapshot.n_ases, -1)
    place[rows] = np.arange(len(rows))
    first = shard.node_ptr[:-1]
    borders = snapshot.borders()
    ends = []
    for end in ("near", "far"):
        row = place[np.searchsorted(snapshot.asn, borders[f"{end}_asn"].to_numpy())]
        ends.append(np.where(row < 0, -1, first[row] + borders[end].to_numpy()))
    held = (ends[0] >= 0) & (ends[1] >= 0)
    of_borders = None
    if weights is not None and "weight" in borders.column_names:
        of_borders = borders["weight"].to_numpy()[held].astype(np.float32)
    return Original(
        asn=snapshot.asn[rows],
        shard=shard,
        weights=weights,
        weight_unit=snapshot.weight_unit,
        ingress=np.sort(first[place[entries.row[own]]] + entries.node[own]),
        border_near=ends[0][held],
        border_far=ends[1][held],
        border_weight=of_borders,
        kind=snapshot.kind,
    )


def _check(config: GenerateConfig) -> None:
    if config.model is not None:
        raise UsageError(
            f"--like SNAPSHOT takes no model: leave out {config.model!r}, or leave out --like"
        )
    for name in config.said:
        if name not in OF_LIKENESSES:
            known = ", ".join(flag_of(each) for each in OF_LIKENESSES if each != "like")
            raise UsageError(f"{flag_of(name)} is not an option of --like; it takes {known}")
    if config.store is None:
        raise UsageError("give the store of the snapshot: --store DIR")
    if config.out is not None and config.out_store is not None:
        raise UsageError("give either --out FILE.brite or --out-store DIR")
    if config.snapshot is not None:
        check_name(config.snapshot)
        if config.out is None:
            refuse_measured(config.out_store or config.store, config.snapshot)
    if config.out is not None:
        check_file(config.out, f"{config.out / (config.like or '')}.brite")


def _command(config: GenerateConfig) -> str:
    """The command that makes this topology again, but for the store."""
    names = ["like", "asn", "routers", *(["ases"] if "ases" in config.said else []), "seed"]
    given = {name: getattr(config, name) for name in names}
    words = [f"{flag_of(name)} {value}" for name, value in given.items() if value is not None]
    return " ".join(["hopscope generate", *words])

"""A synthetic topology, to a BRITE file or to a snapshot of the store."""

from __future__ import annotations

import logging
import time

from kernels.compiled import FIRST_RUN, has_compiled
from pipeline.config import GenerateConfig
from pipeline.config.generate import (
    OF_NETWORKS,
    OF_SNAPSHOTS,
    OPTIONS,
    model_of,
    options_of_model,
    parameters_of,
)
from pipeline.errors import UsageError
from pipeline.generate import MODELS, Parameters, check, generate, generate_graphs, is_brite
from pipeline.generate.files.adjacency_file import write_adjacency
from pipeline.generate.files.brite_conf import model_lines
from pipeline.generate.files.brite_file import write_brite
from pipeline.generate.shares import shares_told
from pipeline.graphs import build_graphs
from pipeline.infer.declared import declare
from pipeline.model.choices import ADJACENCY_SUFFIX
from pipeline.model.progress import Progress, ProgressCallback, no_progress
from pipeline.model.words import links_text, number, printable
from pipeline.stages.places import check_file
from pipeline.stages.saving import flag_of, refuse_measured, save_generated
from pipeline.store import check_name

logger = logging.getLogger(__name__)


def generate_topology(config: GenerateConfig, progress: ProgressCallback = no_progress) -> str:
    """Make a topology and write it; returns one line that says what and where.

    Raises
    ------
    UsageError
        If the model is unknown, a number is out of range, or there is nowhere to write to.
    """
    started = time.time()
    if config.like is not None:
        from pipeline.stages.likeness import generate_likeness

        return generate_likeness(config, progress)
    if (config.out is None) == (config.store is None):
        raise UsageError("give either --out FILE.brite or --store DIR")
    if config.snapshot is not None:
        check_name(config.snapshot)
    model = model_of(config)
    _refuse_options_of_others(config, model)
    given = parameters_of(config, model)
    is_adjacency = config.out is not None and config.out.suffix == ADJACENCY_SUFFIX
    if is_adjacency and config.weights is not None:
        raise UsageError(
            f"neighbour lists ({ADJACENCY_SUFFIX}) have no weights: leave out --weights, or give "
            "--out FILE.brite or --store DIR"
        )
    if config.store is not None and config.asn is None and not _has_ases(model):
        raise UsageError(f"{model} makes routers without an AS: give them one with --asn N")
    if config.out is not None:
        check_file(config.out, f"{config.out / model}.brite")
    check(model, given)
    _warn_of_ignored(config)
    if config.store is not None and config.snapshot is not None:
        refuse_measured(config.store, config.snapshot)
    detail = f"{model}{_first_run(model)}"

    def on_share(share: float) -> None:  # of the work; so are the routers that are shown
        n_made = min(int(share * given.n_routers), given.n_routers - 1)
        progress(Progress("generate", n_made, given.n_routers, "routers", detail, share))

    on_share(0.0)
    with shares_told(on_share):
        graphs = generate_graphs(model, given) if config.store is not None else None
        if graphs is not None:
            n_nodes = len(graphs.degree)
        else:
            topology = generate(model, given)
            n_nodes = topology.n_nodes
    progress(Progress("generate", n_nodes, n_nodes, "routers", model))
    command = _command(config, model, given)
    if config.out is not None:
        config.out.parent.mkdir(parents=True, exist_ok=True)
        progress(Progress("save", 0, 1, "file", config.out.name))
        if is_adjacency:
            write_adjacency(topology, config.out, command)
        else:
            lines = model_lines(model, given) if is_brite(model) else ()
            write_brite(topology, config.out, command, lines)
        progress(Progress("save", 1, 1, "file", config.out.name))
        made = f"{number(n_nodes, 'router')}, {number(topology.n_links, 'link')}"
        return f"{made} -> {config.out} ({time.time() - started:.1f} s)"
    assert config.store is not None
    if graphs is None:
        progress(Progress("build", 0, 1, "graphs"))
        graphs = build_graphs([declare(topology, asn=config.asn, ingresses=config.ingresses)])
        del topology  # what the snapshot does not take is not kept while it is written
        progress(Progress("build", 1, 1, "graphs", number(graphs.n_ases, "AS")))
    links = links_text(len(graphs.indices) // 2, len(graphs.border_near))
    made = f"{number(n_nodes, 'router')}, {links}"
    return made + save_generated(config, config.store, graphs, command, started, progress)


def _warn_of_ignored(config: GenerateConfig) -> None:
    """Warn of names of a configuration file of BRITE that change nothing."""
    if config.config is None:
        return
    from pipeline.generate.files.brite_conf import read_conf

    if names := read_conf(config.config).ignored:
        logger.warning(
            "%s: %s of no meaning here: %s",
            config.config,
            number(len(names), "name"),
            printable(", ".join(names)),
        )


def _first_run(model: str) -> str:
    """What is shown beside a model if what makes it is still to be compiled."""
    if model not in MODELS:
        return ""
    row = MODELS[model]
    return "" if has_compiled(row.compiles or row.module) else f", {FIRST_RUN}"


def _has_ases(model: str) -> bool:
    """Whether a model says which AS each router is in; also True of one that does not exist."""
    return model not in MODELS or "n_ases" in MODELS[model].options


def _refuse_options_of_others(config: GenerateConfig, model: str) -> None:
    """Raise UsageError for an option that this model does not use, with those that it takes."""
    if model not in MODELS:
        return  # checked where it is made
    takes = options_of_model(model)
    if config.store is None:
        takes = tuple(name for name in takes if name not in OF_SNAPSHOTS)
    takes = tuple(name for name in takes if name not in OF_NETWORKS)
    for name in config.said:
        if name not in (*takes, "model", "internet"):
            if model == "internet" and name in OF_NETWORKS:
                raise UsageError(f"{flag_of(name)} is of networks with traces: give --traces, too")
            where = "" if config.store is not None else " to a file"
            known = ", ".join(flag_of(each) for each in takes)
            raise UsageError(
                f"{flag_of(name)} is not an option of {model}{where}; it takes {known}"
            )


def _command(config: GenerateConfig, model: str, given: Parameters) -> str:
    """The command that makes this topology again, with everything that it depends on."""
    values = {name: getattr(given, field) for field, name in OPTIONS.items()}
    values |= {"routers": given.n_routers, "seed": given.seed}
    values |= {"asn": config.asn, "ingresses": config.ingresses}
    values["config"] = config.config and config.config.name  # a folder says nothing elsewhere
    names = ["routers", *(OPTIONS[field] for field in MODELS[model].options), "seed"]
    if given.as_level is not None:  # it has numbers that no option can give
        names = ["config", *(name for name in names if name in config.said), "seed"]
    if config.store is not None:  # a file has neither
        names += ["asn", "ingresses"]
    words = [
        flag_of(name) if values[name] is True else f"{flag_of(name)} {values[name]}"
        for name in dict.fromkeys(names)
        if values[name] is not None and values[name] is not False
    ]
    return " ".join(["hopscope generate", model, *words])

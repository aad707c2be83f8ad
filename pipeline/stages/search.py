"""One search on one graph: run, certified, timed, and written if wanted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kernels import CheckError, CSRGraph, DeviceError, Diameter, KernelError
from kernels.certificates import check_path
from kernels.compiled import FIRST_RUN, has_compiled
from pipeline.algorithms import Algorithm, algorithm
from pipeline.algorithms.procedure import NODE_COLUMNS, Implementation, Procedure, on_host
from pipeline.config import SearchConfig
from pipeline.errors import OutOfMemoryError, PipelineError, UsageError
from pipeline.files import written_whole
from pipeline.model.addresses import format_addr
from pipeline.model.choices import DeviceChoice
from pipeline.model.named_graph import NamedGraph
from pipeline.model.progress import Progress, ProgressCallback, no_progress
from pipeline.schedule.cluster.gpus import visible_gpus
from pipeline.stages.graphs import AS_WORD, load_graph
from pipeline.stages.places import check_file

RUN_TWICE_S = 1.0  # searches up to this run twice; loading compiled code takes less
DEVICES = {"sequential": "cpu", "cores": "cpu", "gpu": "gpu"}


@dataclass(frozen=True)
class SearchSummary:
    """What one search found, and at what cost.

    ``seconds``: of the search alone, the graph being on its device, by implementation in the order
    in which they ran. ``certificate``: what was checked; None: nothing was.
    """

    algorithm: str
    graph: NamedGraph
    source: int | None
    target: int | None
    implementation: Implementation
    facts: dict[str, Any]
    text: str
    seconds: dict[Implementation, float]
    certificate: str | None
    certificate_s: float
    load_s: float
    out: Path | None
    found: Any = field(repr=False)

    @property
    def device(self) -> str:
        return DEVICES[self.implementation]


def search(config: SearchConfig, progress: ProgressCallback = no_progress) -> SearchSummary:
    """Load a graph and run one search on it.

    Raises
    ------
    UsageError
        If the algorithm, the graph, a node or the device is not there; says what to give.
    PipelineError
        If the search failed, or its certificate refuses the result.
    """
    row = algorithm(config.algorithm)
    _refuse_needless(config, row)
    implementation = choose_implementation(config.device)
    if config.out is not None:
        _check_out(config.out)
    started = time.perf_counter()
    is_compiled = all(map(has_compiled, ("kernels", "pipeline.ingest")))
    shown = config.graph if is_compiled else f"{config.graph}, {FIRST_RUN}"
    progress(Progress("read", 0, 1, "graph", shown))
    graph = load_graph(config.graph, config.store, config.snapshot)
    progress(Progress("read", 1, 1, "graph", config.graph))
    load_s = time.perf_counter() - started
    summary = search_graph(
        config.algorithm,
        graph,
        source=config.source,
        target=config.target,
        implementation=implementation,
        compare=config.compare,
        check=config.check,
        progress=progress,
        load_s=load_s,
        out=config.out,
    )
    if config.out is not None:
        write_table(summary, config.out)
    return summary


def search_graph(
    name: str,
    graph: NamedGraph,
    *,
    source: str | None = None,
    target: str | None = None,
    implementation: Implementation = "cores",
    compare: bool = False,
    check: bool = True,
    progress: ProgressCallback = no_progress,
    load_s: float = 0.0,
    out: Path | None = None,
) -> SearchSummary:
    """Run one search on a graph that is there.

    Parameters
    ----------
    source, target : str or None
        As a user names them.
    implementation : str
        Whose result counts.
    compare : bool
        Run the other implementations too, for their times.
    check : bool
        Certify the result; ``certified`` does it later.

    Raises
    ------
    UsageError, PipelineError
        As ``search``.
    """
    row = algorithm(name)
    nodes = {"source": source, "target": target}
    for need in ("source", "target"):
        if need in row.needs and nodes[need] is None:
            raise UsageError(f"{name} needs a {need}: give --{need} with a node or its address")
    if "weights" in row.needs and graph.graph.weights is None:
        raise UsageError(
            f"{name} needs weights, and not every link of {graph.name} has one: give a BRITE file, "
            "a graph that `hopscope generate --weights` made, or an AS whose links have round-trip "
            "times"
        )
    ends = {
        need: None if text is None else graph.node_of(text, need) for need, text in nodes.items()
    }
    procedure = row.load(name)
    implementations = [
        implementation,
        *(each for each in _others(procedure, implementation) if compare),
    ]
    seconds: dict[Implementation, float] = {}
    found: Any = None
    for i, each in enumerate(implementations):
        progress(Progress("search", i, len(implementations), "searches", each))
        with _errors_of(name):
            there = _placed(graph.graph, "weights" in row.needs, DEVICES[each])
            result, seconds[each] = _timed(procedure, each, there, ends["source"], ends["target"])
        found = as_reported(on_host(result, graph.graph), graph) if i == 0 else found
    progress(Progress("search", len(implementations), len(implementations), "searches"))
    facts = procedure.facts(graph.graph, found)
    summary = SearchSummary(
        algorithm=name,
        graph=graph,
        source=ends["source"],
        target=ends["target"],
        implementation=implementation,
        facts=facts,
        text=procedure.text(facts, graph.name_of, graph.noun) + _in_unit(row, graph),
        seconds=seconds,
        certificate=None,
        certificate_s=0.0,
        load_s=load_s,
        out=out,
        found=found,
    )
    return certified(summary) if check else summary


def _in_unit(row: Algorithm, graph: NamedGraph) -> str:
    unit = graph.weight_unit if "weights" in row.needs else ""
    return f"; weights in {unit}" if unit else ""


def as_reported(found: Any, graph: NamedGraph) -> Any:
    """A diameter with the path that reports show of the graph: several may be as long."""
    path = graph.longest_path() if isinstance(found, Diameter) else None
    if path is None or len(path) != len(found.path):
        return found
    with suppress(CheckError):
        check_path(graph.graph, path)
        return replace(found, path=path)
    return found  # what the store has is no path: another program wrote it


def certified(summary: SearchSummary) -> SearchSummary:
    """The same search, with what its certificate checked.

    Raises
    ------
    PipelineError
        If the certificate refuses the result.
    """
    procedure = algorithm(summary.algorithm).load(summary.algorithm)
    started = time.perf_counter()
    with _errors_of(summary.algorithm):
        certificate = procedure.certify(summary.graph.graph, summary.found)
    seconds = time.perf_counter() - started
    return replace(summary, certificate=certificate, certificate_s=seconds)


def choose_implementation(device: DeviceChoice) -> Implementation:
    """The GPU where there is one, unless cores are wanted.

    Raises
    ------
    UsageError
        If a GPU is wanted and there is none.
    """
    if device == "cpu":
        return "cores"
    if visible_gpus():
        return "gpu"
    if device == "gpu":
        raise UsageError("--device gpu: no GPU can be used here; `hopscope doctor` says why")
    return "cores"


def _refuse_needless(config: SearchConfig, row: Algorithm) -> None:
    if "snapshot" in config.said and not AS_WORD.fullmatch(config.graph):
        raise UsageError(f"--snapshot is for an AS, as in AS3356; {config.graph!r} is not one")
    for need in ("source", "target"):
        if getattr(config, need) is not None and need not in (*row.needs, *row.takes):
            raise UsageError(f"{config.algorithm} takes no --{need}")


def _check_out(path: Path) -> None:
    check_file(path, "FILE.parquet")
    if not path.parent.is_dir():
        raise UsageError(f"--out {path}: no folder {path.parent}")
    if path.suffix.lower() != ".parquet":
        raise UsageError(f"--out {path}: tables are written as Parquet; give FILE.parquet")


def _others(procedure: Procedure, implementation: Implementation) -> Iterator[Implementation]:
    for each in procedure.implementations:
        if each != implementation and (each != "gpu" or visible_gpus()):
            yield each


def _placed(graph: CSRGraph, weighted: bool, device: Any) -> CSRGraph:
    """The graph on a device, with its weights only if they are needed there."""
    if not weighted:
        graph = CSRGraph(graph.indptr, graph.indices, trusted=True)
    return graph.to(device)


def _timed(
    procedure: Procedure,
    implementation: Implementation,
    graph: CSRGraph,
    source: int | None,
    target: int | None,
) -> tuple[Any, float]:
    """Result and seconds of one search; compiled code is loaded before the clock starts.

    A short search runs twice, since it may have loaded code that two nodes do not need.
    """
    run = procedure.implementations[implementation]
    run(_tiny(graph), 0, 0)
    for _ in range(2):
        started = time.perf_counter()
        found = run(graph, -1 if source is None else source, -1 if target is None else target)
        if graph.device == "gpu":
            graph.indptr[:1].get()  # waits for what the search left running
        seconds = time.perf_counter() - started
        if seconds > RUN_TWICE_S:
            break
    return found, seconds


def _tiny(graph: CSRGraph) -> CSRGraph:
    """Two linked nodes, on the device of ``graph``."""
    weights = None if graph.weights is None else np.ones(2, np.float32)
    pair = CSRGraph(np.array([0, 1, 2]), np.array([1, 0], np.int32), weights, trusted=True)
    return pair.to(graph.device)


@contextmanager
def _errors_of(name: str) -> Iterator[None]:
    """Errors of kernels as those that commands print."""
    try:
        yield
    except CheckError as error:
        raise PipelineError(f"{name}: wrong result: {error}") from None
    except MemoryError as error:
        raise OutOfMemoryError(f"{name}: too little memory: {error}") from None
    except DeviceError as error:
        raise UsageError(f"{name}: {error}; --device cpu searches on cores") from None
    except KernelError as error:
        raise UsageError(f"{name}: {error}") from None


def write_table(summary: SearchSummary, path: Path) -> None:
    """Write the result as Parquet, see ``result_table``.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    with written_whole(path) as file:
        pq.write_table(result_table(summary), file, compression="zstd")


def result_table(summary: SearchSummary) -> pa.Table:
    """The result, a row per node or edge, with addresses and ids of nodes."""
    procedure = algorithm(summary.algorithm).load(summary.algorithm)
    columns: dict[str, Any] = {}
    for name, column in procedure.columns(summary.found).items():
        columns[name] = column
        if name in NODE_COLUMNS:
            columns |= _called(summary.graph, name, column)
    return pa.table(columns)


def _called(graph: NamedGraph, name: str, nodes: np.ndarray) -> dict[str, Any]:
    """Further columns for a column of nodes: their address, their id."""
    own: dict[str, Any] = {}
    start = "" if name == "node" else f"{name}_"
    if graph.node_addr is not None:
        texts = [format_addr(*words) if any(words) else None for words in graph.node_addr[nodes]]
        own[f"{start}addr"] = pa.array(texts, pa.string())
    if graph.node_id is not None:
        own[f"{start}id"] = graph.node_id[nodes]
    return own

"""Forms of a search that papers study, compared with our own, on one GPU.

Command: python benchmarks/bench_variants.py [--device gpu] [--variant NAME ...|all]
[--graph NAME ...] [--arcs N] [--repeats N] [--subject RESULT] [--folder FOLDER]
or, on any machine: python benchmarks/bench_variants.py --docs

A variant is choices joined by ``+``: ``warp``, ``hybrid+padded+busy-wait``; docs/variants.md says
what they are. Graphs: ``attachment-N`` of N routers, ``grid-SIDE``, and two with the same number of
arcs: ``regular-D``, where every node has D neighbours, and ``uneven-D``, of preferential attachment
with the same number of nodes and D neighbours on average.

Each call is timed on the device, by events around all that it launches, allocations and read-backs
between them included; the median is over searches from ``--repeats`` random routers, the same for
all. All levels of all of them must first equal those of ``bfs``, and two of these are certified.
Without ``--subject`` results go to ``variants_<GPU>.json``. ``--docs`` writes the tables of
docs/variants.md from the files of results that are there.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from benchmarks.baselines import bfs_two_kernel
from benchmarks.lib.graphs import attachment, cut_grid
from benchmarks.lib.record import REPOSITORY, RESULTS, record
from benchmarks.lib.timing import Timing
from benchmarks.pages.plot_searches import fill
from benchmarks.variants.choices import ALL, STANDARD, Variant, parse
from benchmarks.variants.regular import regular_graph
from benchmarks.variants.tables import OURS, PUBLISHED, load_runs, tables
from kernels import CSRGraph, bfs
from kernels.breadth_first.check import check_levels
from kernels.errors import DeviceMemoryError
from pipeline.generate.barabasi_albert import barabasi_albert_graph
from pipeline.schedule.cluster.gpus import gpu_models, visible_gpus

DEGREES = (4, 8, 16, 32, 64)
GRAPHS = (
    *(f"attachment-{n_nodes}" for n_nodes in (10_000, 100_000, 1_000_000, 6_800_000)),
    "grid-300",
    *(f"{kind}-{degree}" for degree in DEGREES for kind in ("regular", "uneven")),
)
N_ARCS = 4_000_000  # of regular and uneven graphs
N_CERTIFIED = 2  # sources
Row = dict[str, Any]
Call = Callable[[int], tuple[Any, int]]  # source to levels on the GPU and eccentricity


def maker(name: str, n_arcs: int) -> Callable[[], CSRGraph]:
    """The function that makes the graph of a name, on the host; ValueError for an unknown name."""
    kind, _, number = name.partition("-")
    size = int(number) if number.isdecimal() else 0
    if size < 1 or (kind in ("regular", "uneven") and size % 2):
        kind = ""
    makers: dict[str, Callable[[], CSRGraph]] = {
        "attachment": lambda: attachment(size),
        "grid": lambda: cut_grid(size),
        "regular": lambda: regular_graph(n_arcs // size, size),
        "uneven": lambda: barabasi_albert_graph(n_arcs // size, m=size // 2, shuffled=True),
    }
    if kind not in makers:
        raise ValueError(f"graph {name!r}: give {', '.join(GRAPHS)} or others of even degree")
    return makers[kind]


class Bench:
    """The rows of one run."""

    def __init__(self, variants: tuple[Variant, ...], repeats: int, warp_from: int):
        self.variants = variants
        self.repeats = repeats
        self.warp_from = warp_from
        self.rows: list[Row] = []

    def graph(self, name: str, graph: CSRGraph) -> None:
        """Verify, then time, every form of search on one graph."""
        here = graph.to("gpu")
        sources = np.random.default_rng(0).integers(0, graph.n_nodes, self.repeats).tolist()
        calls, rows = self._forms(here)
        eccentricity = self._verify(graph, here, sources, calls)
        about = {
            "graph": name,
            "n_nodes": graph.n_nodes,
            "n_arcs": graph.n_arcs,
            "longest_list": int(np.diff(graph.indptr).max(initial=0)),
            "eccentricity": eccentricity,
        }
        times_ms: dict[str, list[float]] = {form: [] for form in calls}
        gc.disable()
        try:
            for source in sources:  # in turn, for equal conditions
                for form, call in calls.items():
                    times_ms[form].append(event_ms(call, source))
        finally:
            gc.enable()
        for form, row in rows.items():
            timing = Timing(tuple(ms / 1e3 for ms in times_ms.get(form, ())))
            self.rows.append(about | row | (timing.columns() if form in calls else {}))

    def _forms(self, here: CSRGraph) -> tuple[dict[str, Call], dict[str, Row]]:
        """Each form as a call, and the columns of its row; without memory there is no call."""
        from benchmarks.variants import gpu

        def ours(source: int) -> tuple[Any, int]:
            found = bfs(here, source)
            return found.level, found.eccentricity

        def published(source: int) -> tuple[Any, int]:
            found = bfs_two_kernel(here, source)
            return found.level, found.eccentricity

        calls: dict[str, Call] = {OURS: ours, PUBLISHED: published}
        list_bytes = here.indptr.nbytes + here.indices.nbytes
        rows: dict[str, Row] = {name: {"form": name, "list_bytes": list_bytes} for name in calls}
        placed: dict[str, Any] = {}
        for variant in self.variants:
            row: Row = {"form": variant.name, "mapping": variant.mapping}
            row["differences"] = list(variant.differences)
            rows[variant.name] = row
            try:
                if variant.lists not in placed:
                    placed[variant.lists] = gpu.place(here, variant.lists)
            except DeviceMemoryError as error:
                row["note"] = str(error)
                continue
            lists = placed[variant.lists]
            row["list_bytes"] = lists.n_bytes
            calls[variant.name] = self._call(variant, lists)
        return calls, rows

    def _call(self, variant: Variant, lists: Any) -> Call:
        from benchmarks.variants import gpu

        return lambda source: gpu.search(variant, lists, source, self.warp_from)

    @staticmethod
    def _verify(
        graph: CSRGraph, here: CSRGraph, sources: list[int], calls: dict[str, Call]
    ) -> list[int]:
        """Raise unless all forms agree and ours is certified; eccentricity of each source."""
        eccentricities = []
        for i, source in enumerate(sources):
            expected = bfs(here, source)
            eccentricities.append(expected.eccentricity)
            if i < N_CERTIFIED:
                check_levels(graph.indptr, graph.indices, source, expected.level)
            for form, call in calls.items():
                level, eccentricity = call(source)
                if eccentricity != expected.eccentricity or not bool(
                    (level == expected.level).all()
                ):
                    raise AssertionError(f"{form}: levels from {source} differ from those of bfs")
        return eccentricities


def event_ms(call: Call, source: int) -> float:
    """Milliseconds on the device from before the first launch of a call to after its last."""
    import cupy

    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    cupy.cuda.Device().synchronize()
    begin.record()
    call(source)
    end.record()
    end.synchronize()
    return float(cupy.cuda.get_elapsed_time(begin, end))


def gpu_name() -> str:
    """``h200`` of "NVIDIA H200"."""
    model = gpu_models()[0] if gpu_models() else "gpu"
    return model.replace("NVIDIA", "").strip().split()[0].lower()


def write_docs(results: Path, page: Path) -> None:
    """Put the tables of all results into a page."""
    page.write_text(fill(page.read_text(), "figures", "\n".join(tables(load_runs(results)))))


def chosen_variants(names: list[str] | None) -> tuple[Variant, ...]:
    """Those of ``--variant``: each that is named, all 36, or all with one difference at most."""
    if names is None:
        return STANDARD
    return ALL if names == ["all"] else tuple(dict.fromkeys(map(parse, names)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("gpu",), default="gpu", help="only gpu is possible")
    parser.add_argument(
        "--variant",
        nargs="+",
        metavar="NAME",
        help="variants to measure; default: those with one difference at most",
    )
    parser.add_argument("--graph", nargs="+", metavar="NAME", default=list(GRAPHS))
    parser.add_argument(
        "--arcs", type=int, default=N_ARCS, help="arcs of regular and uneven graphs"
    )
    parser.add_argument("--repeats", type=int, default=7, help="searches of each form")
    parser.add_argument(
        "--warp-from",
        type=int,
        default=16,
        help="hybrid: mean length of lists from which warps share one",
    )
    parser.add_argument("--subject", help="name of the results file")
    parser.add_argument("--folder", type=Path, default=RESULTS, help="folder of the results file")
    parser.add_argument(
        "--docs", action="store_true", help="only write the tables of docs/variants.md"
    )
    given = parser.parse_args()
    if given.docs:
        write_docs(given.folder, REPOSITORY / "docs" / "variants.md")
        return
    try:
        variants = chosen_variants(given.variant)
        makers = {name: maker(name, given.arcs) for name in given.graph}
    except ValueError as error:
        parser.error(str(error))
    if not visible_gpus():
        print("no GPU is visible: variants run on nothing else")
        return
    bench = Bench(variants, given.repeats, given.warp_from)
    for name, make in makers.items():
        print(name, file=sys.stderr, flush=True)
        bench.graph(name, make())
    more = {"warp_from": given.warp_from, "n_certified": min(N_CERTIFIED, given.repeats)}
    path = record(given.subject or f"variants_{gpu_name()}", bench.rows, given.folder, **more)
    print("\n".join(tables([json.loads(path.read_text())])))


if __name__ == "__main__":
    main()

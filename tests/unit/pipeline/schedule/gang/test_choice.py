"""Which ASes go over several workers, and why."""

from __future__ import annotations

import json
import re
import tracemalloc

import pytest

from benchmarks.lib.graphs import attachment
from benchmarks.lib.record import RESULTS
from kernels.partition import Rank
from pipeline.schedule.gang.choice import choose, explain, rank_bytes
from pipeline.schedule.plan.costs import SHARE_OF_GPU, card_bytes
from tests.ranks import on_ranks, parts_of

GIB = 2**30
SMALL, LARGE, HUGE = (1_000_000, 4_000_000), (300_000_000, 9_000_000_000), (2**29, 30 * 2**30)


def chosen(sizes, **options):
    n_nodes, n_arcs = zip(*sizes, strict=True)
    return choose(n_nodes, n_arcs, **({"partition": None, "gpu_bytes": ()} | options))


def test_only_what_does_not_fit_on_one_gpu_goes_over_several():
    (choice,) = chosen([SMALL, LARGE, SMALL], gpu_bytes=[48 * GIB] * 4)
    assert choice.at == 1
    assert "needs 48.3 GiB, and 43.2 GiB of a GPU may be used" in choice.reason
    assert f"{choice.n_ranks} GPUs hold it in parts" in choice.reason
    assert chosen([SMALL, LARGE], gpu_bytes=[80 * GIB] * 4) == []


@pytest.mark.parametrize("n_gpus", [2, 3, 4, 8])
def test_no_more_gpus_than_needed(n_gpus):
    room = SHARE_OF_GPU * 141 * GIB
    found = chosen([HUGE], gpu_bytes=[141 * GIB] * n_gpus)
    assert card_bytes(*HUGE) > room
    assert [choice.n_ranks for choice in found] == [2]
    assert rank_bytes(*HUGE, 2) <= room


def test_what_fits_nowhere_and_one_gpu_alone_are_left_to_others():
    assert chosen([HUGE], gpu_bytes=[40 * GIB] * 2) == []
    assert chosen([LARGE], gpu_bytes=[40 * GIB]) == []
    assert chosen([LARGE]) == []


def measured():
    """Graphs that were searched on one H200."""
    found = []
    for file in sorted(RESULTS.glob("partition*h200*.json")):
        for row in json.loads(file.read_text())["rows"]:
            if (
                row.get("n_ranks") == 1 and "n_arcs" in row
            ):  # others are of levels, or of sweeps alone
                name = row.get("graph") or f"rmat:{row['scale']}"
                n_nodes = row.get("n_nodes") or 1 << row["scale"]
                found.append(pytest.param(n_nodes, row["n_arcs"], id=f"{file.stem}-{name}"))
    return found


@pytest.mark.parametrize(("n_nodes", "n_arcs"), measured())
def test_no_graph_that_was_measured_on_one_card_is_divided(n_nodes, n_arcs):
    """Among them are those on which one card is faster than two."""
    assert chosen([(n_nodes, n_arcs)], gpu_bytes=[141 * GIB] * 4) == []


def test_the_smallest_gpu_decides():
    assert chosen([LARGE], gpu_bytes=[80 * GIB, 80 * GIB]) == []
    assert len(chosen([LARGE], gpu_bytes=[80 * GIB, 50 * GIB])) == 1


def test_asked_for_it_is_every_as_with_links_the_largest_first():
    found = chosen([SMALL, (5, 0), LARGE], partition=3)
    assert [(choice.at, choice.n_ranks, choice.reason) for choice in found] == [
        (2, 3, "requested"),
        (0, 3, "requested"),
    ]


def test_parts_need_less_the_more_there_are():
    needs = [rank_bytes(*HUGE, n) for n in (1, 2, 4, 8)]
    assert needs == sorted(needs, reverse=True)


def test_people_are_told_what_a_gpu_holds():
    assert "only with --partition N" in explain([])
    assert "in host memory, or are searched on cores" in explain([141 * GIB])
    assert "are divided over 4 GPUs or fewer" in explain([141 * GIB] * 4)
    assert "an AS of some 1,975 M routers" in explain([141 * GIB] * 4)
    assert "up to 2,147 M routers" in explain([141 * GIB] * 4)
    assert "if it has more links" in explain([141 * GIB] * 2)


@pytest.mark.parametrize("n_gpus", [3, 4, 8])
def test_what_people_are_told_of_parts_is_what_is_chosen(n_gpus):
    gpus = [40 * GIB] * n_gpus
    most = round(float(re.search(r"up to ([\d,]+) M", explain(gpus))[1].replace(",", "")) * 1e6)
    (choice,) = chosen([(most - 1_000_000, 4 * (most - 1_000_000))], gpu_bytes=gpus)
    assert choice.n_ranks <= n_gpus
    assert chosen([(most + 1_000_000, 4 * (most + 1_000_000))], gpu_bytes=gpus) == []
    assert chosen([(most, 4 * most)], gpu_bytes=gpus[:1]) == []


def test_ranks_hold_no_more_than_the_plan_counts():
    """Arrays of all ranks, which are threads here; on a GPU they are the same."""
    graph = attachment(150_000)
    metrics = ("diameter", "radius", "center", "periphery", "eccentricities")

    def one(part, collective):
        rank = Rank(part, collective, "cpu")
        rank.sweep(range(64))
        return rank.widths(metrics, max_searches=40)

    on_ranks(parts_of(attachment(1_000), 2), one)  # what is compiled or loaded first does not count
    parts = parts_of(graph, 2)
    tracemalloc.start()
    try:
        on_ranks(parts, one)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    given = sum(part.indptr.nbytes + part.indices.nbytes for part in parts)
    assert given + peak <= 2 * rank_bytes(graph.n_nodes, graph.n_arcs, 2) + (8 << 20)

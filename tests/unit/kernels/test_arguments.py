"""What public functions say of a graph that is something else."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Callable
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import kernels
from kernels import CSRGraph, GraphError, GraphTypeError, KernelError, Shard

PATH = CSRGraph.from_edges([0, 1], [1, 2], symmetrise=True)
# Of functions that take a graph, what they need besides.
OTHERS: dict[str, Any] = {
    "component": np.zeros(3, np.int32),
    "found": None,
    "n_components": 1,
    "path": [0],
    "questions": ["diameter"],
    "source": 0,
    "source_ptr": [0, 1],
    "sources": [0],
    "target": 1,
}


def modules() -> list[Any]:
    """``kernels``, its modules and its rooms: what callers know."""
    found = (module.name for module in pkgutil.iter_modules(kernels.__path__, "kernels."))
    return [kernels, *(importlib.import_module(name) for name in found if "._" not in name)]


def entries() -> dict[str, Callable]:
    """Public functions whose first argument is a graph or a shard, by name."""
    found = []
    for module in modules():
        found += [getattr(module, name) for name in getattr(module, "__all__", ())]
    return {
        each.__name__: each
        for each in found
        if inspect.isfunction(each) and next(iter(inspect.signature(each).parameters), "") in TAKEN
    }


TAKEN = ("graph", "shard")
ENTRIES = entries()


def refused(name: str, given: Any) -> str:
    parameters = list(inspect.signature(ENTRIES[name]).parameters.values())[1:]
    needed = [OTHERS[each.name] for each in parameters if each.default is each.empty]
    with pytest.raises(TypeError) as caught:
        ENTRIES[name](given, *needed)
    assert isinstance(caught.value, GraphTypeError)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_which_functions_take_a_graph():
    named = {name for name in kernels.__all__ if inspect.isfunction(getattr(kernels, name))}
    assert named < set(ENTRIES)
    assert {"bfs_queue", "check_path", "effective_diameters", "implied_on_gpu", "widths"} < set(
        ENTRIES
    )


@pytest.mark.parametrize("name", sorted(ENTRIES))
@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({}, "a dict"),
        (None, "None"),
        (PurePosixPath("as"), "a pathlib.PurePosixPath"),
        (3, "an int"),
        ([PATH], "a list"),
    ],
)
def test_what_is_not_a_graph_is_named(name, given, kind):
    taken = "Shard" if "shard" in inspect.signature(ENTRIES[name]).parameters else "CSRGraph"
    taken += " or a Shard" if name == "components" else ""
    assert refused(name, given) == f"give a {taken}, not {kind}"


def test_how_what_was_given_becomes_a_graph():
    assert refused("msbfs_shard", PATH) == (
        "give a Shard, not a kernels.csr.CSRGraph; Shard.from_graphs([graph]) makes one"
    )
    assert refused("bfs", Shard.from_graphs([PATH])) == (
        "give a CSRGraph, not a kernels.csr.Shard; shard.graph(i) is one"
    )
    assert refused("diameter", sparse.csr_array((3, 3))).endswith(
        ".csr_array; CSRGraph.from_scipy makes one"
    )
    assert refused("sssp", nx.path_graph(3)) == (
        "give a CSRGraph, not a networkx.classes.graph.Graph; CSRGraph.from_networkx makes one"
    )
    assert refused("mst", SimpleNamespace(graph=PATH)) == (
        "give a CSRGraph, not a types.SimpleNamespace; it has one as .graph"
    )


def test_what_no_graph_can_be_made_of_is_named():
    with pytest.raises(GraphTypeError, match=r"^give a graph of NetworkX, not a dict$"):
        CSRGraph.from_networkx({0: [1]})
    with pytest.raises(GraphTypeError, match=r"^give a sparse matrix of SciPy, not a list; a"):
        CSRGraph.from_scipy([[0, 1], [1, 0]])
    with pytest.raises(GraphTypeError, match=r"^give a CSRGraph, not None$"):
        Shard.from_graphs([PATH, None])  # type: ignore[list-item]


def test_the_error_is_one_of_graphs_too_and_crosses_processes():
    with pytest.raises(GraphTypeError) as caught:
        kernels.bfs(None, 0)  # type: ignore[arg-type]
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), str(copy)) == (GraphTypeError, str(caught.value))
    for kind in (GraphError, KernelError, TypeError, ValueError):
        assert issubclass(GraphTypeError, kind)

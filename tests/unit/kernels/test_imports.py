"""What imports what: GPUs are optional, and ``kernels`` is ours."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import kernels
from kernels._cpu import compile as compile_ahead
from kernels.host import compiled_modules

ROOT = Path(__file__).resolve().parents[3]

WITHOUT_CUPY = """
import importlib, pkgutil, sys
sys.modules["cupy"] = None  # import raises ImportError
import numpy as np, kernels

graph = kernels.CSRGraph(np.array([0, 0]), np.array([], np.int32))
try:
    graph.to("gpu")
except kernels.DeviceError as error:
    print(error)
for package in sys.argv[1:]:
    names = [package]
    path = importlib.import_module(package).__path__
    names += [module.name for module in pkgutil.walk_packages(path, package + ".")]
    # breadth_first.gpu, multi_source.gpu.*, partition.exchange.nccl
    launchers = [n for n in names if {"gpu", "nccl"} & set(n.split("."))]
    skipped = [n for n in launchers if n.startswith("kernels.")]
    for name in names:
        if name not in skipped:
            importlib.import_module(name)
    print(len(names) - len(skipped), "imported,", len(skipped), "launchers")
"""


WITH_TWO_PACKAGES = """
import sys

ALLOWED = {"kernels", "numpy", "numba", "llvmlite"}
OF_THESE = {"scipy", "yaml", "colorama", "coverage", "cffi", "_cffi_backend", "org", "_wmi"}
refused = []


class Refuse:
    def find_spec(self, name, *_):
        top = name.partition(".")[0]
        if top not in ALLOWED and top not in sys.stdlib_module_names:
            refused.append(top)
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Refuse())
import kernels

path = kernels.CSRGraph.from_edges([0, 1, 2], [1, 2, 3], symmetrise=True)
levels = kernels.msbfs(path, [0, 1], levels=True).level.tolist()
print(kernels.bfs(path, 0).level.tolist(), levels, kernels.diameter(path).diameter)
print(sorted(set(refused) - OF_THESE))  # what numpy and numba look for by themselves is left out
"""


def run(code: str, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,  # it may have to compile
        check=False,
    )


def test_kernels_is_this_projects():
    """Another package of this name exists on PyPI."""
    assert Path(kernels.__file__).resolve() == ROOT / "kernels" / "__init__.py"


def test_without_cupy_all_but_launchers_is_imported_and_moving_to_a_gpu_is_a_device_error():
    packages = ["kernels"]
    if importlib.util.find_spec("orjson"):  # else the pipeline's requirements are not installed
        packages.append("pipeline")
    done = run(WITHOUT_CUPY, *packages)
    assert done.returncode == 0, done.stderr
    error, *imported = done.stdout.splitlines()
    assert error.startswith("no GPU can be used: CuPy is not installed")
    assert len(imported) == len(packages)
    assert all("imported" in line for line in imported)


def test_importing_kernels_imports_neither_numba_nor_cupy():
    done = run("import sys, kernels; print('numba' in sys.modules, 'cupy' in sys.modules)")
    assert done.stdout.split() == ["False", "False"], done.stderr


def test_kernels_search_with_numpy_and_numba_alone():
    done = run(WITH_TWO_PACKAGES)
    assert done.stdout.splitlines() == ["[0, 1, 2, 3] [[0, 1, 2, 3], [1, 0, 1, 2]] 3", "[]"], (
        done.stdout + done.stderr
    )


def test_compiling_for_cores_covers_every_module_with_kernels():
    with_numba = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "kernels").rglob("*.py")
        if re.search(r"^ *@njit\b|= njit\(", path.read_text(), re.M) and path.name != "compile.py"
    }
    modules = [name for work in compile_ahead.ALL for name in compiled_modules(work)]
    assert sorted(modules) == sorted(with_numba)


def test_each_kind_of_work_compiles_what_it_needs():
    kinds = [set(compiled_modules(work)) for work in compile_ahead.ALL]
    searches, widths, weights, forests, paths, parts = kinds
    assert {"kernels.validate", "kernels.breadth_first.cpu", "kernels.connected.cpu"} <= searches
    assert {"kernels.eccentricity.shard", "kernels.distance_distribution.cpu"} <= widths
    assert {"kernels.shortest_paths.cpu", "kernels.eccentricity.weighted.steps"} <= weights
    rooms = ("depth_first", "spanning_tree")
    twins = {f"kernels.{room}.{part}" for room in rooms for part in ("check", "cpu")}
    assert twins | {f"kernels.spanning_tree.cpu_{part}" for part in ("passes", "small")} == forests
    assert paths == {"kernels.bidirectional.cpu"}
    names = ("check", "components", "cpu", "sweep.cpu")
    assert parts == {f"kernels.partition.{name}" for name in names}
    for room in compile_ahead.ROOMS:
        path = ROOT / room.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").exists()


def test_a_new_module_of_kernels_needs_no_entry(tmp_path, monkeypatch):
    for name in ("new/cpu", "eccentricity/weighted/new", "eccentricity_of/new"):
        path = tmp_path / "kernels" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("from numba import njit\n\n@njit\ndef f(): ...\n")
    (tmp_path / "kernels" / "new" / "plain.py").write_text("# numba: no @njit here\n")
    monkeypatch.setattr(compile_ahead, "_KERNELS", tmp_path / "kernels")
    for scan in (compile_ahead._sources, compile_ahead._scanned):
        monkeypatch.setattr(compile_ahead, scan.__name__, scan.__wrapped__)
    assert compiled_modules("weights") == ("kernels.eccentricity.weighted.new",)
    assert compiled_modules("widths") == ()
    assert compiled_modules("searches") == ("kernels.eccentricity_of.new", "kernels.new.cpu")


COMPILED = """
import sys
import numpy as np, kernels
from numba.core.registry import CPUDispatcher
from kernels.host import compile_cpu

assert compile_cpu() > 0
ours = [m for name, m in list(sys.modules.items()) if name.startswith("kernels.")]
found = [f for m in ours for f in vars(m).values() if isinstance(f, CPUDispatcher)]
missed = {f.py_func.__qualname__ for f in found if sum(f.stats.cache_misses.values())}
print(len(found) > 50, sorted(missed))

from kernels.multi_source.cpu.sweep import advance
from kernels.breadth_first.cpu import search

before = len(advance.signatures), len(search.signatures)
graph = kernels.CSRGraph(np.array([0, 1, 2]), np.array([1, 0], np.int32))
kernels.msbfs(graph, [0] * 9); kernels.bfs(graph, 0)
print(before, before == (len(advance.signatures), len(search.signatures)))
"""


def test_kernels_on_cores_are_compiled_once_before_they_are_called():
    """Every entry point has its signatures after compile_cpu(), and a call adds none.

    A second process compiles nothing. Not so where a compiled function is in the closure of
    another: its cache never fits.
    """
    done = run(COMPILED)
    if not done.stdout.startswith("True []"):  # this one was the first
        done = run(COMPILED)
    assert done.stdout.splitlines() == ["True []", "(1, 1) True"], done.stderr


def test_a_run_compiles_what_its_metrics_need():
    from pipeline.metrics import METRICS, compiled_work

    assert compiled_work(("hops",)) == ("searches",)
    assert compiled_work(("hops", "diameter")) == ("searches", "widths")
    assert compiled_work(("effective_diameter",)) == ("searches", "widths")
    assert compiled_work(("weighted_radius",)) == ("searches", "widths", "weights")
    assert compiled_work(METRICS) == ("searches", "widths", "weights")


def test_the_stages_import_no_kernel_of_widths():
    """They would be compiled before the announcement."""
    done = run(
        "import sys, pipeline.cli, pipeline.stages.analyze, pipeline.schedule.dispatch\n"
        "from kernels.host import compiled_modules\n"
        "late = [*compiled_modules('widths'), *compiled_modules('weights')]\n"
        "print([name for name in late if name in sys.modules])\n"
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_names_that_are_imported_when_used_are_those_that_type_checkers_see():
    """Three lists in one file: what is offered, where it is, and the imports for type checkers."""
    tree = ast.parse(Path(kernels.__file__).read_text())
    (block,) = (
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    seen = {name.name: line.module for line in block.body for name in line.names}
    assert seen == kernels._HOMES
    assert sorted(seen) == sorted(kernels.__all__)

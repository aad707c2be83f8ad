"""The package itself: light to import, complete where it is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import hopscope
import kernels
import pipeline
from hopscope import conversions, files, snapshots
from tests.real_data import REPOSITORY
from tests.unit.pipeline.store.snapshots import write

IMPORTED = """
import json, sys
import hopscope
first = sorted({name.partition(".")[0] for name in sys.modules})
night = hopscope.open(sys.argv[1])["a"]
night[30].graph, night[30].addresses, night[30].ingresses, repr(night)
print(json.dumps([first, sorted({name.partition(".")[0] for name in sys.modules})]))
"""
SLOW = {
    "numba",
    "llvmlite",
    "scipy",
    "pandas",
    "networkx",
    "igraph",
    "dask",
    "distributed",
    "prefect",
}


def test_nothing_is_imported_before_it_is_used(tmp_path):
    write(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, str(tmp_path)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    first, then = map(set, json.loads(done.stdout))
    assert not (SLOW | {"numpy", "pyarrow"}) & first
    assert not (SLOW - {"pandas"}) & then  # pyarrow imports it, where it is there, for NumPy arrays


def test_every_public_name_is_there():
    homes = {"CSRGraph": kernels, "__version__": pipeline, "open": snapshots, "read": files}
    homes |= dict.fromkeys(
        ("AutonomousSystem", "Comparison", "Snapshot", "Store", "compare"), snapshots
    )
    for name in hopscope.__all__:
        there = getattr(homes.get(name, conversions), "open_store" if name == "open" else name)
        assert getattr(hopscope, name) is there
    assert set(dir(hopscope)) == set(hopscope.__all__)
    assert not hasattr(hopscope, "no_such_name")


def test_what_is_installed_has_the_package_its_types_and_the_command():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    setuptools = project["tool"]["setuptools"]
    assert "hopscope*" in setuptools["packages"]["find"]["include"]
    assert setuptools["package-data"]["hopscope"] == ["py.typed"]
    assert Path(hopscope.__file__).with_name("py.typed").exists()
    assert project["project"]["scripts"] == {"hopscope": "pipeline.cli:main"}

"""What type checkers say of a program that uses the package."""

from __future__ import annotations

import subprocess
import sys

from tests.real_data import REPOSITORY

PROGRAM = """
import hopscope
from kernels import CSRGraph, bfs

night = hopscope.open("store")["night"]
one = night[1299]
reveal_type(one.graph)
reveal_type(hopscope.from_pandas(hopscope.to_arrow(one)))
reveal_type(bfs(one.graph, 0).eccentricity)
reveal_type(hopscope.compare("store", "a", "b").old)
hopscope.to_networkx(one), hopscope.to_scipy(one.graph)
hopscope.to_igraph(night)
hopscope.open(3)
"""


def test_conversions_and_snapshots_have_types(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    words = ["--config-file", str(REPOSITORY / "pyproject.toml"), "program.py"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(REPOSITORY / ".mypy_cache"), *words],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "MYPYPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    types = [line.split('"')[1] for line in said if line.startswith("note: Revealed type")]
    assert types == ["kernels.csr.CSRGraph", "kernels.csr.CSRGraph", "int", "str"], done.stdout
    wrong = [line for line in said if line.startswith("error")]
    assert len(wrong) == 2, done.stdout
    assert "to_igraph" in wrong[0]
    assert "open" in wrong[1]

"""Every cell of the tutorial runs, in a process of its own, and shows what the file says."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys

from tests.notebooks import code_cells, outputs_of, run, text_of
from tests.real_data import REPOSITORY

NOTEBOOK = REPOSITORY / "docs" / "tutorial.ipynb"


def test_the_tutorial_shows_what_it_says():
    command = [sys.executable, "-m", "tests.notebooks", str(NOTEBOOK)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    written = json.loads(NOTEBOOK.read_text())
    assert json.loads(done.stdout) == outputs_of(written), (
        "python -m tests.notebooks docs/tutorial.ipynb --write"
    )
    assert len(code_cells(written)) > 5
    assert NOTEBOOK.read_text() == text_of(written)


def test_what_the_tutorial_imports_is_installed_as_documented():
    """By ``make setup``, or by the line of the guide that installs Jupyter."""
    sources = ["".join(cell["source"]) for cell in code_cells(json.loads(NOTEBOOK.read_text()))]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    others = {name.split(".")[0] for name in names} - {"hopscope", "kernels"}
    locked = re.findall(r"^([a-z][\w-]*)==", (REPOSITORY / "locks/cpu.txt").read_text(), re.M)
    guide = (REPOSITORY / "docs/howto/notebook.md").read_text()
    (installed,) = re.findall(r"pip install (.*)", guide)
    assert others <= {*sys.stdlib_module_names, *locked, *installed.split()}
    assert "networkx" in others


def test_a_cell_shows_what_it_prints_and_its_last_value():
    names: dict = {}
    assert run("x = 2\nprint('so')\nx + 1", names) == ("so\n", "3")
    assert run("x", names) == ("", "2")
    assert run("y = x", names) == ("", None)

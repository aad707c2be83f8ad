"""Run a notebook's cells without Jupyter: ``python -m tests.notebooks FILE.ipynb [--write]``.

Prints the outputs as JSON, a list of texts for each code cell; ``--write`` puts them into the file.
Cells are plain Python. As in Jupyter, the value of a last expression is shown.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def code_cells(notebook: dict) -> list[dict]:
    """Cells with code, in their order."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def outputs_of(notebook: dict) -> list[list[str]]:
    """Texts that a file holds as the outputs of each code cell."""
    return [
        ["".join(out["text"] if "text" in out else out["data"]["text/plain"]) for out in each]
        for each in (cell["outputs"] for cell in code_cells(notebook))
    ]


def run(source: str, names: dict[str, Any]) -> tuple[str, str | None]:
    """Run one cell: what it printed, and its value as text, None for none."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    return printed.getvalue(), None if value is None else repr(value)


def run_all(notebook: dict) -> list[list[str]]:
    """Run every code cell, and keep its outputs in the notebook; their texts."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for count, cell in enumerate(code_cells(notebook), start=1):
        printed, value = run("".join(cell["source"]), names)
        shown: list[dict] = []
        if printed:
            lines = printed.splitlines(keepends=True)
            shown.append({"name": "stdout", "output_type": "stream", "text": lines})
        if value is not None:
            data = {"text/plain": value.splitlines(keepends=True)}
            about = {"execution_count": count, "metadata": {}, "output_type": "execute_result"}
            shown.append({"data": data, **about})
        cell.update(outputs=shown, execution_count=count)
    return outputs_of(notebook)


def text_of(notebook: dict) -> str:
    """The file of a notebook, as Jupyter writes it."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    read = json.loads(path.read_text())
    sys.stdout.write(json.dumps(run_all(read)) + "\n")
    if "--write" in sys.argv:
        path.write_text(text_of(read))

"""No code of ours turns data into code: nothing is unpickled or evaluated that a file holds.

A pickle runs whatever its writer wants. Dask sends tasks and results as pickles, so a cluster of
ours accepts its own run alone, and encrypted; two modules pack them, and read no file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_data import REPOSITORY

ROOMS = ("kernels", "pipeline", "hopscope", "flows")
MODULES = sorted(path for room in ROOMS for path in (REPOSITORY / room).rglob("*.py"))
RUN_CODE = {
    *("pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "code"),
    "distributed.protocol.pickle",
}
OF_TASKS = {
    "pipeline/schedule/transport/attempted.py",
    "pipeline/schedule/transport/remote/attempt.py",
}
CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "pd.read_pickle"}
# All but safe_load make the objects that a file names.
CALLS |= {f"yaml.{name}" for name in ("load", "load_all", "full_load", "unsafe_load")}


# A text without any of these words holds nothing that could be found.
WORDS = {name.rpartition(".")[2] for name in RUN_CODE | CALLS} | {"allow_pickle", "shell"}
IS_SUSPECT = re.compile(rf"\b(?:{'|'.join(sorted(WORDS))})\b")


def findings(text: str) -> Iterator[str]:
    """What could run code that data hold, by line."""
    if not IS_SUSPECT.search(text):
        return
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in CALLS:
                yield f"line {node.lineno}: calls {called}"
            for word in node.keywords:
                is_true = not (isinstance(word.value, ast.Constant) and word.value.value is False)
                if word.arg in ("allow_pickle", "shell") and is_true:
                    yield f"line {node.lineno}: {word.arg} is not False"
        for name in names:
            if name in RUN_CODE or name.split(".")[0] in RUN_CODE:
                yield f"line {node.lineno}: imports {name}"


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from pickle import loads",
        "from distributed.protocol.pickle import loads",
        "eval('1')",
        "os.system('ls')",
        "np.load(path, allow_pickle=True)",
        "subprocess.run(words, shell=given)",
        "pd.read_pickle(path)",
        "yaml.load(text, yaml.Loader)",
    ],
)
def test_what_runs_code_is_noticed(text):
    assert len(list(findings(text))) == 1


@pytest.mark.parametrize(
    "text", ["np.load(p, allow_pickle=False)", "re.compile(text)", "yaml.safe_load(text)"]
)
def test_what_does_not_is_not(text):
    assert list(findings(text)) == []


def test_nothing_of_a_file_is_run():
    assert len(MODULES) > 200
    found = {
        str(path.relative_to(REPOSITORY)): list(findings(path.read_text())) for path in MODULES
    }
    found = {path: lines for path, lines in found.items() if lines}
    assert set(found) == OF_TASKS, found
    assert not any(_opens_files(REPOSITORY / path) for path in OF_TASKS)


def _opens_files(path: Path) -> bool:
    nodes = ast.walk(ast.parse(path.read_text()))
    calls = [ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)]
    return any(call.rpartition(".")[2] in ("open", "read_bytes", "read") for call in calls)

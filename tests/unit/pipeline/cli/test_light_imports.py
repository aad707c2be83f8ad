"""Nothing heavy is imported before a command runs: help and wrong arguments come at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests.real_data import REPOSITORY
from tests.unit.pipeline.store.snapshots import write

HEAVY = {
    *("numpy", "scipy", "pandas", "numba", "llvmlite", "pyarrow", "cupy", "orjson"),
    *("dask", "distributed", "dask_cuda", "tornado", "bokeh", "cryptography"),
    *("rich", "jinja2", "prefect", "sqlalchemy"),
}
SLOW = {"numba", "llvmlite", "scipy", "pandas", "dask", "distributed", "prefect", "bokeh"}
COMMANDS = (
    *("ingest", "analyze", "run", "compare", "generate", "search", "explore", "doctor"),
    *("list", "show", "lookup", "export"),
)
WRONG = ("analyze", "--store", "s", "--out", "o", "--metrics", "hopes")  # refused by the config
CALLS = [("--help",), ("--version",), *((command, "--help") for command in COMMANDS), WRONG]
# One after another in one process, and after each: what is loaded by now, and what it said.
ALL_CALLED = """
import contextlib, io, json, sys
import pipeline.cli

def loaded():
    return sorted({name.partition(".")[0] for name in sys.modules})

calls = [["import", loaded(), ""]]
for words in json.loads(sys.argv[1]):
    said = io.StringIO()
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(said):
        with contextlib.redirect_stderr(said):
            pipeline.cli.main(words)
    calls.append([" ".join(words), loaded(), said.getvalue()])
print(json.dumps(calls))
"""


def test_nothing_heavy_is_imported_before_a_command_runs():
    done = subprocess.run(
        [sys.executable, "-c", ALL_CALLED, json.dumps(CALLS)],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    calls = json.loads(done.stdout)
    assert len(calls) == len(CALLS) + 1
    heavy = {words: HEAVY & set(loaded) for words, loaded, _ in calls}
    assert {words: found for words, found in heavy.items() if found} == {}
    assert [words for words, _, said in calls if not said] == ["import"]


READING = (
    ["list"],
    ["show", "a", "30"],
    ["lookup", "::1:0:0:0:2"],
    ["export", "a", "--asn", "30"],
)
ALL_READ = """
import contextlib, json, sys
from pipeline.cli import main

with contextlib.redirect_stdout(sys.stderr):
    for words in json.loads(sys.argv[1]):
        try:
            main([*words, "--store", sys.argv[2]])
        except SystemExit as ended:
            assert not ended.code, words
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_commands_that_only_read_wait_for_no_compiled_code(tmp_path):
    write(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", ALL_READ, json.dumps(READING), str(tmp_path)],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert SLOW & set(json.loads(done.stdout.splitlines()[-1])) == set()

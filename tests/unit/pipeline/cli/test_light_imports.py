"""Nothing heavy is imported before a command runs: help and wrong arguments come at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.real_data import REPOSITORY
from tests.unit.pipeline.store.snapshots import write

HEAVY = {
    *("numpy", "scipy", "pandas", "numba", "llvmlite", "pyarrow", "cupy", "orjson"),
    *("dask", "distributed", "dask_cuda", "tornado", "bokeh", "cryptography"),
    *("rich", "jinja2", "prefect", "sqlalchemy", "kernels"),
}
SLOW = {"numba", "llvmlite", "scipy", "pandas", "dask", "distributed", "prefect", "bokeh"}
COMMANDS = (
    *("ingest", "analyze", "run", "compare", "generate", "search", "explore", "doctor"),
    *("list", "show", "lookup", "export"),
)
WRONG = ("analyze", "--store", "s", "--out", "o", "--metrics", "hopes")  # refused by the config
CALLED = """
import contextlib, json, sys
import pipeline.cli

with contextlib.suppress(SystemExit), contextlib.redirect_stdout(sys.stderr):
    if sys.argv[1:]:
        pipeline.cli.main(sys.argv[1:])
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


@pytest.mark.parametrize(
    "words",
    [(), ("--help",), ("--version",), *((command, "--help") for command in COMMANDS), WRONG],
    ids=lambda words: " ".join(words[:2]) or "import",
)
def test_nothing_heavy_is_imported_before_a_command_runs(words):
    done = subprocess.run(
        [sys.executable, "-c", CALLED, *words],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert HEAVY & set(json.loads(done.stdout)) == set()
    assert not words or done.stderr or words == ("--version",)


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

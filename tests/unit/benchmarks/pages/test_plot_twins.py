from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from benchmarks.pages.plot_twins import crossing, merged, points, table
from tests.real_data import REPOSITORY


def row(algorithm: str, device: str, n_nodes: int, ms: float, **more) -> dict:
    found = {"algorithm": algorithm, "way": "twin", "name": "", "device": device}
    return found | {"n_nodes": n_nodes, "median_ms": ms, "peak_mb": ms} | more


ROWS = [
    row("bfs", "cpu", 1000, 1.0),
    row("bfs", "cpu", 100_000, 100.0),
    row("bfs", "gpu", 1000, 10.0),
    row("bfs", "gpu", 100_000, 10.0),
    row("dfs", "cpu", 1000, 1.0),
    row("dfs", "gpu", 1000, 8.0, name="one warp"),
    {
        "algorithm": "dfs",
        "way": "twin",
        "device": "gpu",
        "n_nodes": 100_000,
        "note": "left out",
        "estimate_ms": 9000,
    },
    row("bfs", "cpu", 100_000, 20.0, way="fastest"),
]


def test_the_crossing_is_interpolated_on_logarithmic_axes():
    core, gpu = (points(ROWS, "bfs", device, "twin", "median_ms") for device in ("cpu", "gpu"))
    assert crossing(core, gpu) == pytest.approx(10_000)
    assert crossing(gpu, core) is None  # the larger size decides
    assert crossing([(1000, 5.0)], [(1000, 1.0)]) == 1000
    assert crossing([(1000, 5.0)], [(3000, 1.0)]) is None


def test_the_table_has_a_line_for_each_curve():
    lines = list(table(ROWS))
    assert lines[0] == "| ms by number of nodes | | 1,000 | 100,000 | GPU faster from |"
    assert "| BFS | GPU | 10 | 10 | 10,000 nodes |" in lines
    assert "| fastest of ours | core |  | 20 |  |" in lines
    assert "| DFS | GPU, one warp | 8 | estimated 9,000 | never here |" in lines


def test_a_later_file_replaces_rows_and_adds_no_size_of_its_own():
    later = [
        row("dfs", "gpu", 100_000, 7000.0, name="one warp"),
        row("dfs", "gpu", 30_000, 2000.0, name="one warp"),
    ]
    lines = list(table(merged([{"rows": ROWS}], {"rows": later})))
    assert lines[0] == "| ms by number of nodes | | 1,000 | 100,000 | GPU faster from |"
    assert "| DFS | GPU, one warp | 8 | 7,000 | never here |" in lines


def run(rows: list[dict]) -> str:
    about = {"date": "2026-01-02T00:00:00", "commit": "abcdef012345", "cores_of_others": 0.01}
    return json.dumps(about | {"machine": {"cores": 2, "gpus": ["NVIDIA H200, 580"]}, "rows": rows})


def test_the_command_fills_the_page_and_draws_both_plots(tmp_path):
    (tmp_path / "twins_h200.json").write_text(run(ROWS))
    largest = [row("bfs", "cpu", 6_800_000, 9.0), row("bfs", "gpu", 6_800_000, 2.0)]
    (tmp_path / "twins_h200_6m8.json").write_text(run(largest))
    docs = tmp_path / "docs"
    docs.mkdir()
    page = docs / "benchmarks.md"
    page.write_text("a\n<!-- made: twins -->\nold\n<!-- end: twins -->\nb\n")
    program = REPOSITORY / "benchmarks" / "pages" / "plot_twins.py"
    command = [sys.executable, str(program), "--results", str(tmp_path), "--docs", str(docs)]
    subprocess.run(command, check=True, capture_output=True)
    text = page.read_text()
    assert "old" not in text
    assert text.count("| 1,000 | 100,000 | 6,800,000 |") == 1
    made = "2026-01-02, commit abcdef0,"
    first = f"- 1,000 to 100,000 nodes: `twins_h200.json`, {made} NVIDIA H200, 2 cores, of"
    assert text.startswith(f"a\n<!-- made: twins -->\n{first}")
    assert f"- 6,800,000 nodes: `twins_h200_6m8.json`, {made}" in text
    for name in ("twins_time.svg", "twins_memory.svg"):
        assert f"images/{name}" in text
        root = ElementTree.fromstring((docs / "images" / name).read_text())
        assert root.tag.endswith("svg")


def test_docs_show_what_the_committed_results_say(tmp_path):
    """Else: python benchmarks/pages/plot_twins.py."""
    page = (REPOSITORY / "docs" / "benchmarks.md").read_text()
    (tmp_path / "benchmarks.md").write_text(page)
    program = REPOSITORY / "benchmarks" / "pages" / "plot_twins.py"
    command = [sys.executable, str(program), "--docs", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "benchmarks.md").read_text() == page

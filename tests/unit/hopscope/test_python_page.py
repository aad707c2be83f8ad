"""Every block of docs/python.md runs, in its order, on a small store."""

from __future__ import annotations

import re
import shutil

import pytest

import hopscope
from pipeline.report import write_reports
from pipeline.store import open_snapshot
from tests.real_data import REPOSITORY
from tests.unit.pipeline.report.test_from_store import search
from tests.unit.pipeline.stages.small_store import make_store

PAGE = REPOSITORY / "docs" / "python.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
# Libraries that need not be installed, and by what a block needs them.
OPTIONAL = {"pandas": "to_pandas", "igraph": "to_igraph", "cugraph": "to_cugraph"}


def lacks(block: str) -> list[str]:
    """Optional libraries that a block needs and that are not there."""
    missing = []
    for library, call in OPTIONAL.items():
        if call in block:
            try:
                __import__(library)
            except ImportError:
                missing.append(library)
    return missing


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What the page names: a store with a report, a topology, a file of traces."""
    make_store(tmp_path / "mystore", "2026-11-21")
    with open_snapshot(tmp_path / "mystore") as snapshot:
        said = {"options": {}, "warnings": [], "started": 0.0, "pages": False}
        write_reports(snapshot, search(snapshot), tmp_path / "reports", **said)
    samples = REPOSITORY / "data" / "samples"
    shutil.copy(samples / "brite" / "topdown_java.brite", tmp_path / "internet.brite")
    shutil.copy(samples / "warts" / "sample.warts", tmp_path / "night.warts")
    monkeypatch.chdir(tmp_path)


def test_every_block_of_the_page_runs(folder, capsys):
    assert len(BLOCKS) == 15
    names: dict = {}
    ran = [block for block in BLOCKS if not lacks(block)]
    for block in ran:
        exec(compile(block.replace("64503", "2"), str(PAGE), "exec"), names)
    assert len(ran) >= len(BLOCKS) - 5
    said = capsys.readouterr().out
    assert "['2026-11-21'] Snapshot('2026-11-21': 3 ASes, 6 interfaces" in said
    assert "graphs must be symmetric" in said


def test_every_public_name_is_on_the_page():
    page = PAGE.read_text()
    named = [*(name for name in hopscope.__all__ if name[0].islower()), "CSRGraph"]
    assert [name for name in named if name not in page] == []
    for kind in (hopscope.Snapshot, hopscope.AutonomousSystem):
        public = [name for name in vars(kind) if name[0] != "_" and name != "close"]
        assert sorted(name for name in public if f"`{name}" not in page) == []

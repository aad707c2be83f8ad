"""The commands that a page gives can be run as they are, and make what they say."""

from __future__ import annotations

import shlex
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pyarrow.parquet as pq
import pytest

from pipeline.cli import main
from pipeline.config import AnalyzeConfig
from pipeline.graphs import build_graphs
from pipeline.stages.analyze import analyze
from pipeline.store import write_snapshot
from tests.integration.measured import path_links, random_links, topology

pytest_plugins = ("tests.browser",)
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture
def report(scheduler_address, tmp_path, monkeypatch):
    """A report in folders whose names a shell would take apart; hops of all, widths of AS 20."""
    monkeypatch.setenv("HOPSCOPE_SCHEDULER", scheduler_address)
    ases = [topology(10, 6, path_links(6), [0, 2]), topology(20, 40, random_links(40, 2), [0, 5])]
    weighted = [replace(made, weight=np.ones(len(made.near), np.float32)) for made in ases]
    store, out = tmp_path / "a store's $(x)", tmp_path / "re ports"
    given = {"as_names": {}, "inputs": [], "options": {}, "counts": {}, "rejects": []}
    write_snapshot(store, "night", build_graphs(weighted), **given)
    config = AnalyzeConfig(store=store, out=out, scheduler=scheduler_address)
    analyze(config)
    return analyze(replace(config, asns=(20,), metrics=("hops", "diameter", "radius"))).out


def run(command: str) -> None:
    program, *arguments = shlex.split(command)
    assert program == "hopscope"
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert not ended.value.code


def test_each_command_makes_what_it_says(page, report, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = report / "as" / "20.html"
    page.goto(path.as_uri())
    again, graphml, parquet = page.inner_text("#provenance code").strip().split("\n")
    assert again.endswith(" --snapshot night --asn 20 --metrics hops,diameter,radius")
    text, other = path.read_text(), (report / "as" / "10.html").read_text()
    assert "--asn 10\n" in other  # measured without an option
    path.unlink()
    run(again)
    assert path.read_text() == text
    assert (report / "as" / "10.html").read_text() == other
    run(graphml)
    run(parquet)
    row = next(
        row for row in pq.read_table(report / "ases.parquet").to_pylist() if row["asn"] == 20
    )
    table = pq.read_table(tmp_path / "AS20.parquet")
    assert table.num_rows == row["n_edges"]
    graph = ElementTree.parse(tmp_path / "AS20.graphml").getroot()
    tags = [element.tag.rpartition("}")[2] for element in graph.iter()]
    assert (tags.count("node"), tags.count("edge")) == (row["n_nodes"], row["n_edges"])
    assert f"Graph {row['graph_hash']}" in page.inner_text("#provenance")
    assert "Made by hopscope " in page.inner_text("#provenance")


def test_without_scripts_the_folders_are_left_to_fill_in(browser, report):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto((report / "as" / "10.html").as_uri())
        lines = page.inner_text("#provenance code").strip().split("\n")
        assert lines[0] == ("hopscope analyze --store STORE --out OUT --snapshot SNAPSHOT --asn 10")
        assert page.locator("#provenance a[href='../index.html']").count() == 1
    finally:
        context.close()

"""BRITE's header: how a topology was made, and nothing from other writers."""

from __future__ import annotations

import io

import pytest

from pipeline.generate import Parameters, generate
from pipeline.generate.files.brite_file import write_brite
from pipeline.ingest import brite
from pipeline.model.measured.reading import ReadReport
from tests.real_data import REPOSITORY

ROWS = """
Nodes: ( 2 )
0\t1\t1\t1\t1\t7\tRT_NODE
1\t2\t2\t1\t1\t7\tRT_NODE

Edges: ( 1 )
0\t0\t1\t1.4\t0.1\t10.0\t7\t7\tE_RT\tU
"""
# C++ ends some lines by NUL instead of a line feed.
CPP_TOP_DOWN = (
    "Model ( 5 ): 1 -1 0 0\nAS Level: Model ( {} ): 3 1000 100 1\0Router Level: Model ( 1 ): 2\0\0"
)
COMMAND = "hopscope generate grid --routers 2 --cut 0.1 --seed 5"


def made_by(*models: str) -> str:
    report = ReadReport("x.brite", "brite")
    header = "\n".join(["Topology: ( 2 Nodes, 1 Edges )", *models, ""])
    assert [t.n_nodes for t in brite.read(io.BytesIO((header + ROWS).encode()), report)] == [2]
    return report.made_by


@pytest.mark.parametrize(
    ("models", "reported"),
    [
        (["Model (5 - TopDown)", "Model (3 - ASWaxman):  3 1 1"], "BRITE's model TopDown"),
        (["Model ( 1 - RTWaxman ):  2 100 100 1  2  0.15 0.2 1 1"], ""),  # not as engines write it
        (["Model (1 - RTWaxman):  2 100 100 1  2  0.15 0.2 1 1"], "BRITE's model RTWaxman"),
        (["Model (5 - TopDown)", "Model (8 - Imported From NLANR format file a.txt ): "], ""),
        (["Model (7 - Imported From SCAN format file Model (1 - RTWaxman) ): "], ""),
        (["Model ( 2 ): 4 1000 100 1 2 2 10 1024\0"], "BRITE's model RTBarabasiAlbert"),
        ([CPP_TOP_DOWN.format(3)], "BRITE's model TopDown"),
        ([CPP_TOP_DOWN.format(8)], ""),
        (["Model ( 7 ) 3 measured.txt 1 10 1024\n\0Imported model: 5 4\n"], ""),
        (["Model ( 12 ): 4 1000 100 1 2 2 0.5 0.6 1 10 1024\0"], "BRITE's model ASGLP"),
        (["Model ( 99 ): 4"], ""),
        ([f"Model (5 - TopDown) {COMMAND}"], COMMAND),
        ([f"Model (5 - TopDown) {COMMAND} <img src=x>"], COMMAND),
        (["Model (5 - <b>x</b>)"], ""),
        ([], ""),
    ],
)
def test_the_header_shows_how_a_topology_was_made(models, reported):
    assert made_by(*models) == reported


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("topdown_java.brite", "TopDown"),
        ("as_java.brite", "ASBarabasi"),
        ("router_cpp.brite", "RTBarabasiAlbert"),
    ],
)
def test_files_of_brites_engines_are_recognized_by_their_model(name, model):
    report = ReadReport(name, "brite")
    with (REPOSITORY / "data" / "samples" / "brite" / name).open("rb") as stream:
        list(brite.read(stream, report))
    assert report.made_by == f"BRITE's model {model}"


@pytest.mark.parametrize("model", ["ba", "top-down"])
def test_the_command_stands_behind_the_model_and_moves_no_line(model, tmp_path):
    topology = generate(model, Parameters(n_routers=60, n_ases=3, seed=5))
    plain, reported = tmp_path / "plain.brite", tmp_path / "reported.brite"
    write_brite(topology, plain)
    write_brite(topology, reported, COMMAND)
    before, after = plain.read_text().splitlines(), reported.read_text().splitlines()
    assert after[1] == f"{before[1].rstrip()} {COMMAND}"
    assert after[1].startswith("Model (")
    assert before[:1] + before[2:] == after[:1] + after[2:]
    report = ReadReport("reported", "brite")
    list(brite.read(io.BytesIO(reported.read_bytes()), report))
    assert report.made_by == COMMAND

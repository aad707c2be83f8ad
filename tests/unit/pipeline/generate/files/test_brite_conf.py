"""BRITE's configuration files: what they ask for, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.config import GenerateConfig
from pipeline.errors import UsageError
from pipeline.generate import Parameters
from pipeline.generate.files.brite_conf import model_lines, read_conf
from pipeline.ingest import brite
from pipeline.model.measured.reading import ReadReport
from pipeline.stages.generate import generate_topology

WAXMAN = """BriteConfig

BeginModel
\tName =  1\t\t #Router Waxman = 1, AS Waxman = 3
\tN = 300\t\t #Number of nodes in graph
\tHS = 500
\tLS = 50
\tNodePlacement = 2
\tGrowthType = 2
\tm = 3
\talpha = 0.5
\tbeta = 0.1
\tBWDist = 3
\tBWMin = 10.0
\tBWMax = 1024.0
EndModel

BeginOutput
\tBRITE = 1
EndOutput
"""
BA = """BeginModel
Name = {name}
N = {n}
HS = 1000
LS = 100
NodePlacement = 1
m = {m}
BWDist = 1
BWMin = -1.0
BWMax = -1.0
EndModel
"""
TOP_DOWN = (
    """BeginModel
Name = 5
edgeConn = 4
k = 3
BWInter = 1
BWInterMin = 2000.0
BWInterMax = 0
BWIntra = 2
BWIntraMin = 10.0
BWIntraMax = 100.0
EndModel
"""
    + BA.format(name=4, n=10, m=1)
    + BA.format(name=2, n=30, m=4)
)
BOTTOM_UP = """BeginModel
Name = 6
Grouping = 1
AssignType = 4
NumAS = 12
BWInter = 4
BWInterMin = 10.0
BWInterMax = 1024.0
EndModel
""" + BA.format(name=9, n=400, m=2).replace("EndModel", "p = 0.3\nq = 0.2\nEndModel")


def written(folder: Path, text: str) -> Path:
    path = folder / "a.conf"
    path.write_text(text)
    return path


def test_a_waxman_graph(tmp_path):
    found = read_conf(written(tmp_path, WAXMAN))
    assert found.model == "waxman"
    assert found.given == Parameters(
        300,
        m=3,
        alpha=0.5,
        beta=0.1,
        growth="all",
        placement="heavy-tailed",
        plane_side=500,
        square_side=50,
        bandwidth="heavy-tailed:10:1024",
    )
    assert model_lines("waxman", found.given) == [
        "Model (1 - RTWaxman):  300 500 50 2  3  0.5 0.1 2 3 10.0 1024.0 "
    ]


def test_levels_of_a_hierarchy_keep_their_own_numbers(tmp_path):
    found = read_conf(written(tmp_path, TOP_DOWN))
    given = found.given
    assert (found.model, given.n_routers, given.n_ases, given.m) == ("top-down", 300, 10, 4)
    assert (given.edge_connection, given.k) == ("smallest-k", 3)
    assert (given.bandwidth, given.bandwidth_between) == ("uniform:10:100", "constant:2000")
    assert given.as_level is not None
    assert given.as_level.m == 1


def test_bottom_up(tmp_path):
    found = read_conf(written(tmp_path, BOTTOM_UP))
    given = found.given
    assert (found.model, given.router_model, given.n_ases) == ("bottom-up", "ba2", 12)
    assert (given.grouping, given.assignment) == ("random-pick", "exponential")
    assert (given.p, given.q, given.bandwidth_between) == (0.3, 0.2, "exponential:10")


def test_the_command_makes_it_and_options_go_first(tmp_path):
    conf, out = written(tmp_path, TOP_DOWN), tmp_path / "a.brite"
    generate_topology(GenerateConfig("top-down", config=conf, out=out, k=9, said=("config", "k")))
    report = ReadReport(str(out), "brite")
    with out.open("rb") as file:
        (topology,) = brite.read(file, report)
    inter = topology.node_asn[topology.near] != topology.node_asn[topology.far]
    assert inter.sum() == 9  # m = 1 among ten ASes
    assert set(topology.link_columns["bandwidth"][inter]) == {2000.0}
    assert report.made_by == "hopscope generate top-down --config a.conf --k 9 --seed 1"
    lines = out.read_text().splitlines()
    assert lines[2].startswith("Model (4 - ASBarabasi):  10 1000 100 1  1 ")
    assert lines[3].startswith("Model (2 - RTBarabasiAlbert):  30 1000 100 1  4 ")


def test_the_command_of_one_level_is_written_with_its_numbers(tmp_path):
    out = tmp_path / "a.brite"
    config = GenerateConfig("waxman", config=written(tmp_path, WAXMAN), out=out, said=("config",))
    line = generate_topology(config)
    assert line.startswith("300 routers, ")
    assert (
        "hopscope generate waxman --routers 300 --links 3 --alpha 0.5 --beta 0.1"
        in (out.read_text().splitlines()[1])
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Name =  1", "Name = 7", "`hopscope ingest`"),
        ("Name =  1", "Name = 70", "Name = 70; known are 1 \\(RTWaxman\\)"),
        ("N = 300", "N = many", "line 3: N = 'many' is not a number"),
        ("N = 300", "N = 0", "line 3: N = 0; give 1 to 2147483647"),
        ("N = 300", "N = 1e18", "N = 1000000000000000000; give 1 to 2147483647"),
        ("HS = 500", "HS = 1e6", "line 3: HS = 1000000; give 1 to 40000"),
        ("LS = 50", "LS = -5", "line 3: LS = -5; give 1 to 40000"),
        ("LS = 50", "LS = 0", "line 3: LS = 0; give 1 to 40000"),
        ("N = 300", "N = 1e400", "is not a number"),
        ("\tm = 3\n", "", "the model of line 3 has no m"),
        ("GrowthType = 2", "GrowthType = 3", "1 \\(incremental\\), 2 \\(all\\)"),
        ("N = 300", "N = 300.5", "line 3: N = 300.5 is not whole"),
        ("\tm = 3\n", "\tm = 3\n\tm = 4\n", "line 11: m is there already"),
        ("BWMin = 10.0", "BWMin = 2000", "bandwidths of law 3 from 2000 to 1024; give 1 "),
        ("BWDist = 3", "BWDist = 9", "bandwidths of law 9 from 10 to 1024; give 1 "),
        ("alpha = 0.5", "alpha 0.5", "line 11: not a line NAME = VALUE"),
        ("EndModel", "", "cut short"),
        ("BeginModel", "", "no BeginModel"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(old, new, message, tmp_path):
    assert old in WAXMAN
    with pytest.raises(UsageError, match=message):
        read_conf(written(tmp_path, WAXMAN.replace(old, new)))


def test_hierarchies_need_their_levels(tmp_path):
    whole = TOP_DOWN.split("EndModel")[0] + "EndModel\n"
    with pytest.raises(UsageError, match="needs a model of ASes and one of routers"):
        read_conf(written(tmp_path, whole))
    swapped = whole + BA.format(name=2, n=30, m=4) + BA.format(name=4, n=10, m=1)
    with pytest.raises(UsageError, match="first a model of ASes"):
        read_conf(written(tmp_path, swapped))
    unknown = BOTTOM_UP.replace("NumAS = 12", "NumAS = -1")
    with pytest.raises(UsageError, match="give the number of ASes"):
        read_conf(written(tmp_path, unknown))


def test_another_model_and_no_file_are_named(tmp_path):
    conf = written(tmp_path, WAXMAN)
    out = tmp_path / "a.brite"
    with pytest.raises(UsageError, match="hopscope generate waxman --config"):
        generate_topology(GenerateConfig("ba", config=conf, out=out, said=("config",)))
    with pytest.raises(UsageError, match="cannot read"):
        read_conf(tmp_path / "none.conf")
    with pytest.raises(UsageError, match="--routers N"):
        generate_topology(GenerateConfig("ba", out=out))


@pytest.mark.parametrize("text", [WAXMAN, BA.format(name=2, n=30, m=2), TOP_DOWN, BOTTOM_UP])
def test_every_name_of_such_a_file_is_read(text, tmp_path):
    assert read_conf(written(tmp_path, text)).ignored == []


def test_names_without_a_meaning_are_told_once(tmp_path, caplog):
    more = "m = 3\n\tColour = 7\n\tq = 0.5\n"
    conf = written(tmp_path, WAXMAN.replace("m = 3\n", more))
    assert read_conf(conf).ignored == ["Colour", "q"]
    generate_topology(GenerateConfig("waxman", config=conf, out=tmp_path / "a.brite"))
    assert [record.getMessage() for record in caplog.records] == [
        f"{conf}: 2 names of no meaning here: Colour, q"
    ]

"""The command: every model to a file and to a store, and from the file to the same store."""

from __future__ import annotations

import re

import numpy as np
import pytest

from kernels.compiled import has_compiled
from pipeline.cli import main
from pipeline.config import GenerateConfig
from pipeline.generate import MODELS, Parameters, generate
from pipeline.graphs import build_graphs
from pipeline.model.progress import Progress
from pipeline.stages.generate import generate_topology
from pipeline.store import Snapshot, open_snapshot, write_snapshot
from tests.integration.measured import path_links, topology


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    return stopped.value.code


def assert_same_graphs(one: Snapshot, other: Snapshot) -> None:
    assert np.array_equal(one.asn, other.asn)
    assert one.graph_hash == other.graph_hash
    mine, its = one.ingresses(), other.ingresses()
    for name in ("row", "node", "neighbor_ptr", "neighbor_asn"):
        assert np.array_equal(getattr(mine, name), getattr(its, name)), name
    keys = ["near_asn", "near", "far_asn", "far"]
    assert one.borders().select(keys).equals(other.borders().select(keys))
    for row in range(one.n_ases):
        assert np.array_equal(one.nodes(row).id, other.nodes(row).id)


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (["internet", "--routers", 3000, "--ases", 20, "--seed", 4], []),
        (["top-down", "--routers", 500, "--ases", 5], []),
        (["ba", "--routers", 500, "--links", 3], ["--asn", 64500, "--ingresses", 7]),
        (["grid", "--routers", 600, "--rows", 20], ["--asn", 64500, "--ingresses", 7]),
        (
            ["degrees", "--routers", 200, "--connected", "--weights", "whole:1:9"],
            ["--asn", 64500],
        ),
        (["rmat", "--routers", 200, "--links", 4], ["--asn", 64500]),
    ],
    ids=lambda words: words[0] if words else "",
)
def test_a_topology_is_the_same_by_way_of_its_file(words, more, tmp_path, capsys):
    path, store = tmp_path / "folder" / "a.brite", tmp_path / "store"
    assert run("generate", *words, "--out", path) == 0
    said = capsys.readouterr()
    assert f"-> {path}" in said.out
    assert "Writing file: a.brite\n" in said.err
    assert run("generate", *words, *more, "--store", store, "--snapshot", "direct") == 0
    assert f"snapshot direct in {store}" in capsys.readouterr().out
    assert run("ingest", path, *more, "--store", store, "--snapshot", "by-file") == 0
    direct, by_file = open_snapshot(store, "direct"), open_snapshot(store, "by-file")
    direct.verify()
    assert_same_graphs(direct, by_file)
    for row in range(direct.n_ases):
        direct.graph(row, check=True)


def test_neighbour_lists_are_written_by_their_suffix_and_are_the_same_graph(tmp_path, capsys):
    words = ("degrees", "--routers", 50, "--min-degree", 3, "--max-degree", 5, "--connected")
    path, store = tmp_path / "a.adj", tmp_path / "store"
    assert run("generate", *words, "--out", path) == 0
    command = "# hopscope generate degrees --routers 50 --min-degree 3 --max-degree 5 --connected"
    assert path.read_text().splitlines()[1] == f"{command} --seed 1"
    assert run("generate", *words, "--store", store, "--asn", 1, "--snapshot", "direct") == 0
    assert run("ingest", path, "--asn", 1, "--store", store, "--snapshot", "by-file") == 0
    assert open_snapshot(store, "direct").graph_hash == open_snapshot(store, "by-file").graph_hash


def test_the_option_internet_and_the_model_are_one(tmp_path, capsys):
    for name, words in (("model", ["internet"]), ("option", ["ba", "--internet"])):
        words += ["--routers", 900, "--ases", 9, "--max-routers", 300, "--min-routers", 30]
        assert (
            run("generate", *words, "--max-ingresses", 2, "--store", tmp_path, "--snapshot", name)
            == 0
        )
    model, option = open_snapshot(tmp_path, "model"), open_snapshot(tmp_path, "option")
    assert_same_graphs(model, option)
    assert (model.n_nodes.min(), model.n_nodes.max(), model.n_nodes.sum()) == (30, 300, 900)
    assert model.n_ingresses.tolist() == np.minimum(model.n_ingresses, 2).tolist()
    assert "900 routers" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["top-down", "--internet", "--routers", 99],
            "--internet takes the model ba, not 'top-down'",
        ),
        (
            ["internet", "--internet", "--routers", 99],
            "--internet takes the model ba, not 'internet'",
        ),
        (["internet", "--routers", 99], "99 routers are too few for 50 ASes"),
        (["grid", "--routers", 10, "--rows", 3], "10 routers do not fill 3 rows of a grid"),
        (["degrees", "--routers", 9, "--min-degree", 7], "degrees from 7 to 6: give 0 <= "),
        (["degrees", "--routers", 6], "a router cannot have 6 neighbours among 6 routers"),
        (["top-down", "--routers", 9], "9 routers for 50 ASes: each AS needs at least one"),
        (["ba", "--routers", 9, "--seed", 2**64], "--seed takes a whole number from 0 to "),
        (["internet", "--routers", 999, "--min-routers", 30], "for the smallest (--min-routers)"),
        (["brite", "--routers", 10], "MODEL takes ba, ba2, "),
        (["ba"], "give the number of routers: --routers N"),
    ],
)
def test_what_cannot_be_made_is_reported_in_one_line_and_nothing_is_written(
    words, message, tmp_path, capsys
):
    assert run("generate", *words, "--out", tmp_path / "a.brite") == 2
    *progress, said = capsys.readouterr().err.strip().splitlines()
    assert said.startswith("hopscope: ")
    assert message in said
    assert all(line.startswith("Loading the program") for line in progress)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("places", [[], ["--out", "a", "--store", "b"]])
def test_one_place_to_write_to_must_be_given(places, capsys):
    assert run("generate", "ba", "--routers", 5, *places) == 2
    assert "give either --out FILE.brite or --store DIR" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["ba", "--rows", 5],
            "--rows is not an option of ba to a file; it takes --routers, --config, --links",
        ),
        (
            ["grid", "--links", 2],
            "--links is not an option of grid to a file; it takes --routers, --r",
        ),
        (["top-down", "--max-ingresses", 2000], "--max-ingresses is not an option of top-down"),
        (["ba", "--asn", 5], "--asn is not an option of ba to a file"),
        (["top-down", "--asn", 5, "--store", "s"], "--asn is not an option of top-down; it takes"),
        (
            ["internet", "--cut", 0.1, "--store", "s"],
            "--cut is not an option of internet; it takes",
        ),
        (
            ["internet", "--ingresses", 3, "--store", "s"],
            "--ingresses is not an option of internet",
        ),
        (["internet", "--nights", 3], "--nights is of networks with traces: give --traces"),
    ],
    ids=lambda words: " ".join(map(str, words)) if isinstance(words, list) else "",
)
def test_an_option_of_another_model_is_refused_with_those_of_this_one(
    words, message, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOPSCOPE_ASN", "7")  # a variable is meant for other commands
    where = [] if "--store" in words else ["--out", "a.brite"]
    assert run("generate", *words, "--routers", 100, *where) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "a.adj", "--weights", "whole:1:9"], "neighbour lists (.adj) have no weights"),
        (["--store", "s"], "ba makes routers without an AS: give them one with --asn N"),
        (["--out", "."], "--out . is a folder: give a file, such as ba.brite"),
        (["--out", "/dev/null/a.brite"], "/dev/null is not a folder"),
        (["--store", "s", "--asn", 0], "--asn takes one AS number from 1 to 4294967295, not '0'"),
    ],
    ids=["weights", "store", "folder", "below a file", "AS 0"],
)
def test_what_cannot_be_written_is_refused_before_it_is_made(
    words, message, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert run("generate", "ba", "--routers", 100, *words) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Generating" not in said
    assert list(tmp_path.iterdir()) == []


def test_the_example_of_the_help_can_be_run(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("generate", "--help") == 0
    (example,) = re.findall(r"Example: hopscope (.*)", capsys.readouterr().out)
    assert run(*example.split()) == 0


def test_a_store_in_the_environment_does_not_forbid_a_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOPSCOPE_STORE", str(tmp_path / "store"))
    assert run("generate", "grid", "--routers", 30, "--out", tmp_path / "grid.brite") == 0
    assert (tmp_path / "grid.brite").is_file()
    assert not (tmp_path / "store").exists()


def measured_night(store, name: str) -> None:
    made = build_graphs([topology(7, 6, path_links(6), [0, 2])])
    given = {"as_names": {}, "inputs": [], "options": {}, "counts": {}, "rejects": []}
    write_snapshot(store, name, made, **given)


def test_a_measured_snapshot_is_not_replaced_and_the_newest_is_named(tmp_path, capsys):
    store = tmp_path / "store"
    measured_night(store, "night")
    words = ("generate", "ba", "--routers", 30, "--asn", 9, "--store", store)
    before = open_snapshot(store, "night").version
    assert run(*words, "--snapshot", "night") == 2
    assert "snapshot night of" in (said := capsys.readouterr().err)
    assert "was measured: give --snapshot another name" in said
    assert open_snapshot(store, "night").version == before
    for _ in range(2):  # what was generated may be replaced
        assert run(*words, "--snapshot", "made") == 0
        assert "it is now the newest in the store" in capsys.readouterr().out


def test_links_are_counted_as_in_reports_and_those_between_ases_apart(tmp_path, capsys):
    words = ("internet", "--routers", 900, "--ases", 9, "--max-routers", 300, "--min-routers", 30)
    assert run("generate", *words, "--store", tmp_path) == 0
    with open_snapshot(tmp_path) as made:
        inside, between = int(np.sum(made.n_edges)), made.borders().num_rows
    said = capsys.readouterr().out
    assert between > 0
    assert f"900 routers, {inside:,} links inside ASes and {between:,} between them -> " in said
    assert "newest" not in said


def test_the_share_of_the_work_is_told_and_that_code_is_compiled(tmp_path, monkeypatch):
    told: list[Progress] = []
    config = GenerateConfig(model="rmat", routers=3000, links=4, out=tmp_path / "a.brite")
    monkeypatch.setattr("pipeline.stages.generate.has_compiled", lambda package: False)
    generate_topology(config, told.append)
    steps = [one for one in told if one.stage == "generate"]
    shares = [one.share for one in steps[:-1]]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert 0.5 < shares[-1] <= 1.0
    assert all(one.done < one.total == 3000 for one in steps[:-1])
    assert {one.detail for one in steps[:-1]} == {"rmat, compiling once, about a minute"}
    assert (steps[-1].done, steps[-1].detail) == (3000, "rmat")
    monkeypatch.setattr("pipeline.stages.generate.has_compiled", lambda package: True)
    generate_topology(config, told.append)
    assert told[-3].detail == "rmat"


@pytest.mark.parametrize("model", list(MODELS))
def test_what_a_model_compiles_is_found_once_it_was_made(model):
    generate(model, Parameters(n_routers=500, n_ases=5, min_degree=1, max_degree=9))
    assert has_compiled(MODELS[model].compiles or MODELS[model].module)


@pytest.mark.parametrize(
    ("words", "n_links"),
    [
        (["ba", "--routers", 2], 1),
        (["waxman", "--routers", 3], 2),
        (["rmat", "--routers", 4], 1),
        (["top-down", "--routers", 10, "--ases", 5], 1),
    ],
)
def test_few_routers_have_as_many_links_as_there_can_be(words, n_links, tmp_path, capsys):
    assert run("generate", *words, "--out", tmp_path / "a.brite") == 0
    assert run("generate", *words, "--links", 5, "--out", tmp_path / "b.brite") == 2
    assert "more than there can be" in capsys.readouterr().err
    (line,) = [each for each in (tmp_path / "a.brite").read_text().splitlines() if "Edges:" in each]
    assert line.startswith("Edges:")
    assert n_links <= int(line.split()[2].strip(")"))

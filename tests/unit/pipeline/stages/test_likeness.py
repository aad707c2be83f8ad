"""``generate --like``: from a snapshot to a snapshot or to a file; what cannot be made is said."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pipeline.cli import main
from pipeline.store import open_snapshot


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    return stopped.value.code


@pytest.fixture
def store(tmp_path, capsys):
    """A store with ``real``: 12 ASes, 900 routers."""
    words = ("internet", "--routers", 900, "--ases", 12, "--max-routers", 300)
    assert run("generate", *words, "--store", tmp_path / "store", "--snapshot", "real") == 0
    capsys.readouterr()
    return tmp_path / "store"


def test_a_snapshot_like_another_has_its_ases_and_ingresses(store, capsys):
    assert run("generate", "--like", "real", "--store", store, "--snapshot", "twin") == 0
    assert f"snapshot twin in {store}" in capsys.readouterr().out
    with open_snapshot(store, "real") as real, open_snapshot(store, "twin") as twin:
        twin.verify()
        for name in ("asn", "n_nodes", "n_arcs", "n_ingresses"):
            assert np.array_equal(getattr(twin, name), getattr(real, name)), name
        assert twin.graph_hash != real.graph_hash
    assert run("list", "--store", store) == 0
    said = "twin: synthetic, not measured: 12 ASes made by hopscope generate --like real --seed 1"
    assert said in capsys.readouterr().out


def test_the_same_arguments_give_the_same_file_and_it_can_be_read(store, tmp_path, capsys):
    words = ("--like", "real", "--asn", 3, "--routers", 500, "--store", store)
    for name in ("a.brite", "b.brite"):
        assert run("generate", *words, "--out", tmp_path / name) == 0
    one, other = ((tmp_path / name).read_bytes() for name in ("a.brite", "b.brite"))
    assert one == other
    assert run("ingest", tmp_path / "a.brite", "--store", store, "--snapshot", "read") == 0
    with open_snapshot(store, "read") as read:
        assert (read.asn.tolist(), read.n_nodes.tolist()) == ([3], [500])


def test_another_store_and_more_ases(store, tmp_path, capsys):
    words = ("--like", "real", "--routers", 4000, "--ases", 40, "--seed", 0, "--store", store)
    where = ("--out-store", tmp_path / "other", "--snapshot", "large")
    assert run("generate", *words, *where) == 0
    with open_snapshot(tmp_path / "other", "large") as large:
        assert large.asn.tolist() == list(range(1, 41))
        assert large.n_nodes.sum() == 4000
    assert run("list", "--store", tmp_path / "other") == 0
    assert "generate --like real --routers 4000 --ases 40 --seed 0\n" in capsys.readouterr().out


def test_how_near_it_came_is_a_page_and_a_table(store, tmp_path, capsys):
    words = ("--like", "real", "--store", store, "--out", tmp_path / "a.brite")
    assert run("generate", *words, "--report", tmp_path / "near") == 0
    assert f"how near it came -> {tmp_path / 'near' / 'index.html'}" in capsys.readouterr().out
    table = json.loads((tmp_path / "near" / "likeness.json").read_text())
    rows = {row["figure"]: row for row in table["figures"]}
    assert table["command"] == "hopscope generate --like real --seed 1"
    assert rows["links inside ASes"]["likeness"] == rows["links inside ASes"]["original"]
    assert rows["joint degrees elsewhere"]["likeness"] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ba", "--like", "real"], "--like SNAPSHOT takes no model: leave out 'ba', or leave out"),
        (["--like", "real", "--rows", 4], "--rows is not an option of --like; it takes --asn, --r"),
        (["--like", "none"], "available snapshots: real"),
        (["--like", "real", "--asn", 99], "AS99"),
        (["--like", "real", "--routers", 3], "3 routers for 12 ASes: give --routers 12 or more"),
        (["--like", "real", "--out", "a.brite", "--out-store", "b"], "give either --out FILE"),
        (["--routers", 9, "--out", "a.brite"], "give a MODEL (ba, ba2, glp, waxman, top-down,"),
    ],
    ids=lambda words: " ".join(map(str, words)) if isinstance(words, list) else "",
)
def test_what_cannot_be_made_is_said(words, message, store, capsys, monkeypatch):
    monkeypatch.chdir(store.parent)
    assert run("generate", *words, *(["--store", store] if "--like" in words else [])) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "Traceback" not in said


def test_the_store_has_to_be_given(capsys, monkeypatch):
    monkeypatch.delenv("HOPSCOPE_STORE", raising=False)
    assert run("generate", "--like", "real", "--out", "a.brite") == 2
    assert "give the store of the snapshot: --store DIR" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ases", 1, "--routers", 60], "--ases 1: one AS of real is imitated, drawn by the seed"),
        (["--asn", 3, "--ases", 3], "--ases 3: one AS does not say how several are linked"),
        (["--asn", 3, "--ases", 1], ""),
        ([], ""),
    ],
)
def test_what_is_ignored_of_one_as_is_a_warning(words, said, store, tmp_path, capsys):
    where = ("--store", store, "--out-store", tmp_path / "other", "--snapshot", "made")
    assert run("generate", "--like", "real", *words, *where) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "--ases" in line]
    assert [line.startswith(f"hopscope: {said}") for line in told] == [True] * bool(said)
    with open_snapshot(tmp_path / "other", "made") as made:
        if said:
            assert made.borders().num_rows == 0

"""What another program is given of a laboratory, and what it says."""

import json
import sys

import pytest

from pipeline.errors import UsageError
from tests.oracles.truth.bdrmapit import annotate, main, owners_in

TRUTH = {
    "asn_of": {"r1": 1, "r2": 2, "r3": 3},
    "relationships": [[1, 2, -1], [2, 3, -1], [1, 3, 0]],
    "organisations": {"2": 9, "3": 9},
    "infrastructure": {"3": "20.3.128.0/17", "2": "20.2.128.0/17"},
    "unannounced_infrastructure": [3],
    "ixps": [{"name": "ix", "asn": 8, "lan": "20.8.0.0/24", "members": {"r1": "20.8.0.1"}}],
}
TRACE = {
    "type": "trace", "version": "0.1", "method": "icmp-echo-paris", "src": "20.1.0.9",
    "dst": "20.3.0.9", "stop_reason": "COMPLETED", "start": {"sec": 1790000000, "usec": 0},
    "hop_count": 3, "attempts": 2, "firsthop": 1, "wait": 1,
    "hops": [
        {"addr": addr, "probe_ttl": ttl, "probe_id": 1, "probe_size": 60, "rtt": 1.5 * ttl,
         "reply_ttl": 64, "reply_size": 56, "icmp_type": kind, "icmp_code": 0}
        for addr, ttl, kind in (("20.1.0.1", 1, 11), ("20.3.0.9", 3, 0))
    ],
}  # fmt: skip
# Keeps all that it was given, and says that every address is in AS 7, or in none.
PROGRAM = """#!{python}
import pathlib, shutil, sqlite3, sys
words = sys.argv[1:]
of = dict(zip(words[1::2], words[2::2]))
shutil.copytree(".", {kept!r}, dirs_exist_ok=True)
pathlib.Path({kept!r}, "command").write_text(" ".join(words[:1] + sorted(words[1::2])))
with sqlite3.connect(of["-s"]) as db:
    db.execute("create table annotation (addr, asn)")
    db.executemany("insert into annotation values (?, ?)", [("20.1.0.1", 7), ("20.8.0.1", -100)])
"""


@pytest.fixture
def lab(tmp_path):
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "ground_truth.json").write_text(json.dumps(TRUTH))
    (folder / "lab.pfx2as").write_text("20.1.0.0\t16\t1\n20.3.0.0\t17\t3_4\n")
    (folder / "h1.json").write_text(json.dumps(TRACE) + "\n")
    return folder


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "bdrmapit"
    path.write_text(PROGRAM.format(python=sys.executable, kept=str(tmp_path / "kept")))
    path.chmod(0o755)
    return path


def test_it_gets_traces_prefixes_and_what_is_true(lab, program, tmp_path):
    annotate(lab, str(program), tmp_path / "own.db")
    assert owners_in(tmp_path / "own.db") == {"20.1.0.1": 7}
    kept = tmp_path / "kept"
    assert (kept / "command").read_text() == "all -I -P -b -c -i -j -p -r -s"
    assert (kept / "ip2as").read_text().splitlines() == [
        "20.1.0.0/16 1",
        "20.3.0.0/17 3",
        "20.3.128.0/17 3",
        "10.0.0.0/8 -1",
        "20.8.0.0/24 -100",
    ]
    assert (kept / "rel").read_text().splitlines() == ["1|2|-1", "2|3|-1", "1|3|0"]
    assert (kept / "cone").read_text().splitlines() == ["1 1 2 3", "2 2 3", "3 3"]
    organisations = (kept / "org").read_text().splitlines()
    assert [line.split("|")[0] for line in organisations[1:3]] == ["O1", "O9"]
    assert [line.split("|")[::3] for line in organisations[4:]] == [
        ["1", "O1"],
        ["2", "O9"],
        ["3", "O9"],
    ]
    exchanges = json.loads((kept / "peeringdb.json").read_text())
    assert [one["prefix"] for one in exchanges["ixpfx"]["data"]] == ["20.8.0.0/24"]
    members = [(one["asn"], one["ipaddr4"]) for one in exchanges["netixlan"]["data"]]
    assert members == [(1, "20.8.0.1")]
    assert json.loads((kept / "traces-0.json").read_text()) == TRACE


def test_owners_are_a_file_for_each_laboratory(lab, program, tmp_path):
    assert main([str(lab), "--program", str(program), "--into", str(tmp_path / "owners")]) == 0
    assert json.loads((tmp_path / "owners" / "lab.json").read_text()) == {"20.1.0.1": 7}
    assert owners_in(tmp_path / "owners" / "lab.db") == {"20.1.0.1": 7}


def test_true_alias_sets_are_given_where_asked_for(lab, program, tmp_path):
    annotate(lab, str(program), tmp_path / "own.db", true_aliases=True)
    assert (tmp_path / "kept" / "command").read_text() == "all -I -P -R -b -c -i -j -p -r -s"


def test_a_program_that_fails_is_named_with_what_it_said(lab, tmp_path, capsys):
    path = tmp_path / "broken"
    path.write_text("#!/bin/sh\necho first >&2\necho 'no such option' >&2\nexit 3\n")
    path.chmod(0o755)
    with pytest.raises(UsageError, match=r"broken wrote no owners of .*lab: no such option"):
        annotate(lab, str(path), tmp_path / "own.db")
    words = [str(lab), "--program", str(tmp_path / "nowhere"), "--into", str(tmp_path / "owners")]
    assert main(words) == 2
    assert "nowhere: No such file or directory" in capsys.readouterr().err
    assert not list((tmp_path / "owners").iterdir())


def test_without_known_relationships_it_is_not_run(lab, program, tmp_path, capsys):
    (lab / "ground_truth.json").write_text(json.dumps({"asn_of": {"r1": 1}}))
    assert main([str(lab), "--program", str(program), "--into", str(tmp_path / "owners")]) == 2
    assert "relationships: are not known" in capsys.readouterr().err

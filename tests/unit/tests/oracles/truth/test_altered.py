"""Laboratories with wrong relationships, and with traces to few ASes."""

import gzip
import json
import random
from collections import Counter

from tests.oracles.truth.altered import damage, main


def trace(target):
    return json.dumps({"type": "trace", "dst": target, "hops": []})


def a_lab(folder):
    folder.mkdir()
    (folder / "ground_truth.json").write_text("{}")
    (folder / "lab.pfx2as").write_text("".join(f"20.{i}.0.0\t16\t{i}\n" for i in range(1, 6)))
    (folder / "lab.as-rel.txt").write_text(
        "# source\n" + "".join(f"1|{i}|-1\n" for i in range(2, 6))
    )
    for name, hosts in (("h1.json.gz", (1, 2)), ("h2.json.gz", (3,))):
        lines = [trace(f"20.{i}.0.{host}") for i in range(1, 6) for host in hosts]
        lines.insert(0, json.dumps({"type": "cycle-start"}))
        (folder / name).write_bytes(gzip.compress("\n".join(lines).encode()))
    return folder


def test_shares_of_relationships_are_left_out_and_changed():
    lines = ["# source", *(f"{i}|{i + 1}|0" for i in range(4000))]
    lines += [f"{10_000 + i}|{i}|-1|bgp" for i in range(4000)]
    found = damage(lines, random.Random(1))
    assert found[0] == "# source"
    peers = [line for line in found[1:] if not line.endswith("|bgp")]
    assert 1400 < len(peers) < 1800
    assert set(peers) < set(lines)
    of_customers = Counter()
    for line in found[1 + len(peers) :]:
        one, _, kind, _ = line.split("|")
        of_customers[kind, int(one) >= 10_000] += 1
    assert 3740 < of_customers.total() < 3860
    assert 70 < of_customers["0", True] < 160
    assert 15 < of_customers["-1", False] < 70
    assert damage(lines, random.Random(1)) == found


def test_traces_to_some_ases_are_left_and_all_other_files_are_those_of_the_laboratory(tmp_path):
    lab = a_lab(tmp_path / "lab")
    assert main([str(lab), "--into", str(tmp_path / "few"), "--ases", "2"]) == 0
    few = tmp_path / "few" / "lab"
    of_file = {}
    for name in ("h1.json.gz", "h2.json.gz"):
        lines = gzip.decompress((few / name).read_bytes()).decode().splitlines()
        kinds = [json.loads(line) for line in lines]
        assert kinds[0]["type"] == "cycle-start"
        of_file[name] = [one["dst"].split(".")[1] for one in kinds[1:]]
    assert Counter(of_file["h1.json.gz"]) == dict.fromkeys(of_file["h2.json.gz"], 2)
    assert len(of_file["h2.json.gz"]) == 2
    assert (few / "lab.pfx2as").resolve() == lab / "lab.pfx2as"
    again = tmp_path / "again"
    assert main([str(lab), "--into", str(again), "--ases", "2", "--relationships"]) == 0
    assert not (again / "lab" / "lab.as-rel.txt").is_symlink()


def test_what_cannot_be_altered_is_named(tmp_path, capsys):
    lab = a_lab(tmp_path / "lab")
    assert main([str(lab), "--into", str(tmp_path / "few"), "--ases", "6"]) == 2
    assert "its traces are aimed at 5 ASes, asked were 6" in capsys.readouterr().err
    assert not (tmp_path / "few").exists()
    assert main([str(tmp_path), "--into", str(tmp_path / "few"), "--ases", "1"]) == 2
    assert "is not a laboratory" in capsys.readouterr().err

"""Differences from another program are of pairs of one network."""

from __future__ import annotations

import json

import pytest

from tests.oracles.truth.paired import main, mean_and_error, rows


def network(kind, ours, theirs):
    ways = {"default": ours, "theirs": theirs}
    shares = {way: {"shares": dict(zip("PR", pair, strict=True))} for way, pair in ways.items()}
    return {"plan": kind, "ways": shares}


NETWORKS = [
    network("plain", (0.9, 0.8), (0.8, 0.8)),
    network("plain", (0.7, 0.6), (0.4, 0.6)),
    network("dark", (0.5, 0.5), (0.6, 0.4)),
]


def test_means_and_errors_are_those_counted_by_hand():
    assert mean_and_error([3.0]) == (3.0, 0.0)
    assert mean_and_error([0.1, 0.3]) == pytest.approx((0.2, 0.1))
    dark, plain = rows(NETWORKS)
    assert (dark["kind"], dark["networks"]) == ("dark", 1)
    assert plain["default: P"] == 0.8
    assert plain["default less theirs: P"] == 0.2
    assert plain["error of default less theirs: P"] == 0.1
    assert plain["default less theirs: R"] == 0


def test_the_table_has_a_row_for_each_kind(tmp_path, capsys):
    (tmp_path / "judged.json").write_text(json.dumps({"networks": NETWORKS}))
    assert main([str(tmp_path / "judged.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    heads = ["default, P / R", "theirs, P / R", *(f"default less theirs, {one}" for one in "PR")]
    assert lines[0] == f"| kind | {' | '.join(heads)} |"
    assert lines[3] == "| plain | 0.800 / 0.700 | 0.600 / 0.700 | +0.200 ± 0.100 | +0.000 ± 0.000 |"

"""Networks that are judged without a folder: drawn, judged in several processes, as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import UsageError
from pipeline.generate.networks.plan import Plan
from tests.oracles.truth.command import main
from tests.oracles.truth.scores import infer_lab, score
from tests.oracles.truth.sources import ON_DISK, find_sources
from tests.real_data import REPOSITORY

TINY = (
    "n_tier1=2",
    "n_transit=3",
    "n_regional=3",
    "n_stub=8",
    "tier1=(4, 5)",
    "transit=(2, 4)",
    "n_vantage_points=3",
    "blocks=(1, 1, 1, 1, 1)",
)
WAYS = ("--ways", "inferred-routers,registries")


def test_kinds_are_drawn_by_each_seed_and_folders_are_read(tmp_path: Path) -> None:
    found = find_sources(["ixp", "silent=0.2", str(tmp_path), "dark"], [3, 4])
    names = [(one.name, one.family) for one in found]
    assert names == [
        ("ixp-3", "ixp"),
        ("ixp-4", "ixp"),
        (tmp_path.name, ON_DISK),
        ("dark-3", "dark"),
        ("dark-4", "dark"),
    ]
    plans = [one.at for one in found if isinstance(one.at, Plan)]
    assert [plan.silent for plan in plans] == [0.2] * 4
    assert [plan.limited for plan in plans] == [0.08, 0.08, 0.5, 0.5]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere: not a folder or archive, nor a kind of network: .*ixp"),
        (["ixp", "colour=1"], "fields are .*silent"),
        (["silent=0.1"], "only fields of plans were given: silent=0.1; add a kind"),
    ],
)
def test_what_cannot_be_judged_is_named(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_sources(words, [1])


def judged(capsys: pytest.CaptureFixture, *words: str) -> dict[str, Any]:
    assert main([*words, *WAYS, *TINY, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_drawn_networks_are_judged_alike_in_one_process_and_in_two(
    capsys: pytest.CaptureFixture,
) -> None:
    one = judged(capsys, "ixp", "--seeds", "3-4")
    assert [network["plan"] for network in one["networks"]] == ["ixp", "ixp"]
    # As a user runs it: processes cannot import what is in a ``__main__``.
    words = ["ixp", "--seeds", "3-4", "--workers", "2", *WAYS, *TINY, "--json"]
    command = [sys.executable, "-m", "tests.oracles.truth", *words]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert one == json.loads(done.stdout)


def test_faults_are_what_the_counts_count(capsys: pytest.CaptureFixture) -> None:
    (network,) = judged(capsys, "harsh", "silent=0.3", "--seeds", "5")["networks"]
    n_faults = 0
    assert list(network["ways"]) == ["elected, inferred routers", "elected, registries"]
    for way in network["ways"].values():
        counts, faults = way["counts"], way["faults"]
        n = {what: len(each) for what, each in faults.items()}
        assert n["ingresses"] == counts["ingresses"] - counts["ingresses_right"]
        assert n["borders_missed"] == counts["borders_visible"] - counts["borders_found"]
        assert n["addresses"] == counts["addrs"] - counts["addrs_right"]
        assert n["links_false"] == counts["links_false"]
        assert n["links_missed"] == counts["links_visible"] - counts["links_found"]
        assert (n["mixed_nodes"] > 0) == (counts["alias_pairs"] > counts["alias_pairs_right"])
        rated = sum(one["n"] for one in way["confidence"] if one["what"] == "ingress")
        assert rated == counts["ingresses"]
        for fault in faults["ingresses"]:
            neighbors = set(fault["neighbor_asns"]) & set(fault["true_neighbor_asns"])
            assert fault["asn"] != fault["true_asn"] or not neighbors
        n_faults += sum(n.values())
    assert n_faults > 5


def test_all_files_as_one_observation_say_the_same() -> None:
    (source,) = find_sources(["harsh", *TINY], [5])
    found = []
    for together in (False, True):
        with source.open(together=together) as lab:
            n_observations = len(lab.observations)
            topology = infer_lab(lab)
            found.append((lab.describe(), lab.visible, score(topology, lab.truth, [], lab.visible)))
        assert (n_observations > 1) != together
    assert found[0] == found[1]


def test_laboratories_are_those_of_this_machine() -> None:
    found = find_sources([ON_DISK], [1, 2])
    assert [one.family for one in found] == [ON_DISK] * len(found)
    assert found[0].name == "lab"
    assert len({one.name for one in found}) == len(found)


def test_means_are_of_the_networks_of_a_kind(capsys: pytest.CaptureFixture) -> None:
    shares = [
        network["ways"]["elected, registries"]["shares"]["R"]
        for network in judged(capsys, "ixp", "--seeds", "3-5")["networks"]
    ]
    assert main(["ixp", *TINY, *WAYS, "--seeds", "3-5", "--table", "means"]) == 0
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    row = next(row for row in rows if row[1] == "elected, registries")
    mean = sum(shares) / 3
    error = (sum((share - mean) ** 2 for share in shares) / 2 / 3) ** 0.5
    assert row[rows[0].index("R")] == f"{mean:.3f} ± {error:.3f}"
    assert error > 0

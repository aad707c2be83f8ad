"""A network in a folder: written complete or not at all, read back, refused where it must be."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.config import GenerateConfig
from pipeline.errors import UsageError
from pipeline.ingest import open_reader
from pipeline.model.addresses import format_addr
from pipeline.model.measured.reading import ReadReport
from pipeline.model.measured.traces import TraceBatch
from pipeline.stages import networks
from pipeline.stages.inputs.files import find_inputs
from pipeline.stages.networks import command_of, generate_network, run_command

SMALL = GenerateConfig(
    "internet", traces=400, vantage_points=3, ases=40, kind="plain", said=("ases", "traces")
)


def batches(folder: Path, suffix: str) -> dict[str, TraceBatch]:
    found = {}
    for path in sorted(folder.glob(f"h*{suffix}")):
        (batch,) = open_reader(path, ReadReport(str(path)))[1]
        assert isinstance(batch, TraceBatch)
        found[path.name.removesuffix(suffix)] = batch
    return found


@pytest.mark.parametrize("kind", ["plain", "ipv6", "ecmp_classic"])
def test_warts_hold_what_json_holds(kind: str, tmp_path: Path) -> None:
    config = replace(SMALL, kind=kind)
    generate_network(replace(config, out=tmp_path / "json"))
    generate_network(replace(config, out=tmp_path / "warts", format="warts"))
    one, other = batches(tmp_path / "json", ".json.gz"), batches(tmp_path / "warts", ".warts.gz")
    assert one.keys() == other.keys()
    assert sum(batch.n_traces for batch in one.values()) == 400
    for name, batch in one.items():
        same = other[name]
        for column in ("src_addr", "dst_addr", "start_s", "reply_ptr", "ttl", "addr", "kind"):
            assert np.array_equal(getattr(batch, column), getattr(same, column)), column
        assert np.allclose(batch.rtt_ms, same.rtt_ms, atol=0.002)


def test_a_folder_says_how_it_was_made_and_what_comes_next(tmp_path: Path) -> None:
    lines = generate_network(replace(SMALL, out=tmp_path / "net", share=("silent=0.3",)))
    assert lines[0].startswith("40 ASes, ")
    assert "400 traces from 3 vantage points" in lines[0]
    assert f"hopscope run {tmp_path / 'net'} --store" in lines[1]
    assert lines[2] == f"then: hopscope judge {tmp_path / 'net'}-store {tmp_path / 'net'}"
    assert run_command(Path("-net")).startswith("hopscope run ./-net --store ./-net-store --out ./")
    about = (tmp_path / "net" / networks.README).read_text()
    command = command_of(replace(SMALL, share=("silent=0.3",)))
    assert command in about
    assert "--ases 40" in command
    assert "--share silent=0.3" in command
    truth = json.loads((tmp_path / "net" / "ground_truth.json").read_text())
    assert truth["plan"]["silent"] == 0.3
    assert len(truth["silent"]) == round(0.3 * len(truth["asn_of"]))
    assert not list(tmp_path.glob(".*"))
    inputs = find_inputs([tmp_path / "net"], None, tmp_path / "store").files
    assert [file.path.name for file in inputs if not file.error] == [
        f"h{n}.icmp-echo-paris.json.gz" for n in range(3)
    ]
    assert not any(file.error for file in inputs)  # so the printed command ends with 0
    with gzip.open(tmp_path / "net" / "h0.icmp-echo-paris.json.gz") as file:
        assert json.loads(file.readline())["type"] == "trace"


def test_what_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(networks, "write_files", fail)
    with pytest.raises(UsageError, match="cannot be written: No space left"):
        generate_network(replace(SMALL, out=tmp_path / "net"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"out": None}, "--traces needs --out FOLDER"),
        ({"share": ("silent=2",)}, "silent takes a share from 0 to 1, not '2'"),
        ({"share": ("quiet=1",)}, "--share quiet=1: there is no such field; fields are anycast, "),
        ({"share": ("tier1=9-3",)}, "tier1 takes values like"),
        ({"vantage_points": 500}, "--vantage-points 500: there are"),
        (
            {"share": ("n_vantage_points=500",), "vantage_points": None},
            "--vantage-points 500: there are",
        ),
        ({"ases": 3}, "3 ASes of kind plain"),
        ({"model": "grid"}, "--traces takes the model internet, not 'grid'"),
        ({"said": ("routers",)}, "--routers is not an option of networks that are traced"),
    ],
)
def test_what_cannot_be_is_refused(changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        generate_network(replace(replace(SMALL, out=tmp_path / "net"), **changed))
    assert message in str(error.value)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    with pytest.raises(UsageError, match="is not empty"):
        generate_network(replace(SMALL, out=tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


NIGHTS = replace(SMALL, traces=3000, vantage_points=6, ases=60, seed=2, nights=3)


def test_nights_are_folders_with_what_was_planted(tmp_path: Path) -> None:
    out = tmp_path / "net"
    config = replace(NIGHTS, out=out, plant=("router-silent@2", "targets-lost@3"))
    lines = generate_network(config)
    days = ["2026-09-21", "2026-09-22", "2026-09-23"]
    assert sorted(path.name for path in out.iterdir()) == [*days, networks.README, networks.PLANTS]
    truth = json.loads((out / networks.PLANTS).read_text())
    assert [night["date"] for night in truth["nights"]] == days
    assert [plant["kind"] for plant in truth["plants"]] == ["router-silent", "targets-lost"]
    silent, text = truth["plants"][0], "router-silent@2"
    about = (out / networks.README).read_text()
    assert "--nights 3 --plant router-silent@2 --plant targets-lost@3" in about
    assert "  targets-lost@3  A third of the targets are not measured." in about
    assert lines[1].startswith("planted: router-silent, 2026-09-22: AS")
    assert lines[-2].startswith(f'next: for night in {out}/*/; do hopscope run "$night" --store')
    assert '--ip2as "${night}lab.pfx2as"' in lines[-2]
    assert f"hopscope compare {days[0]} {days[1]} --store {out}-store" in lines[-1]
    own = json.loads((out / days[0] / "ground_truth.json").read_text())
    links = [each for each in own["links"] if silent["routers"][0] in (each["u"], each["v"])]
    addrs = {each["u_addr" if each["u"] == silent["routers"][0] else "v_addr"] for each in links}
    seen, starts, n = {}, {}, {}
    for day in days:
        found = batches(out / day, ".json.gz")
        n[day] = sum(batch.n_traces for batch in found.values())
        starts[day] = min(batch.start_s.min() for batch in found.values())
        replies = np.concatenate([batch.addr for batch in found.values()])
        said = {format_addr(*map(int, each)) for each in np.unique(replies, axis=0)}
        seen[day] = bool(said & addrs)
        assert (out / day / "lab.locations.csv").read_text().startswith("address,latitude")
    first, _, last = ((out / day / networks.README).read_text() for day in days)
    assert first.endswith("On this night:\n  nothing is planted\n")
    assert last.splitlines()[-2:] == [f"  {text}  {silent['says']}", about.splitlines()[-1]]
    assert seen == dict(zip(days, (True, False, False), strict=True))
    assert n[days[0]] == n[days[1]] == 3000 > n[days[2]]
    assert starts[days[1]] - starts[days[0]] == 86400
    for name in ("lab.pfx2as", "lab.as-rel.txt", "lab.names.tsv", "ground_truth.json"):
        assert (out / days[0] / name).read_bytes() == (out / days[1] / name).read_bytes()


def test_the_first_night_is_what_is_made_without_nights(tmp_path: Path) -> None:
    generate_network(replace(NIGHTS, nights=None, out=tmp_path / "one"))
    generate_network(replace(NIGHTS, nights=2, plant=("detour@2",), out=tmp_path / "two"))
    for path in (tmp_path / "one").iterdir():
        if path.name != networks.README:
            assert path.read_bytes() == (tmp_path / "two" / "2026-09-21" / path.name).read_bytes()


@pytest.mark.parametrize(
    ("plant", "message"),
    [
        ("earthquake@2", "--plant earthquake@2: there is no such kind"),
        ("link-cut@4", "--plant link-cut@4: nights with a plant are 2 to 3"),
        ("silent=2@3", "silent takes a share"),
        ("exchange-lost@2", "--plant exchange-lost@2: there is no place"),
    ],
)
def test_plants_that_cannot_be_are_refused(plant: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        generate_network(replace(NIGHTS, out=tmp_path / "net", plant=(plant,)))
    assert message in str(error.value)
    assert not list(tmp_path.iterdir())

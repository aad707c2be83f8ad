"""A city that fails, from files of traces and places to the page, by commands."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq

from tests.unit.pipeline.compare.test_cities import IN_PARIS, PAST, THROUGH
from tests.unit.pipeline.infer.handmade import PREFIXES
from tests.unit.pipeline.stages.test_silent_routers import run

PLACES = "".join(f'{addr},48.9,2.4,"Paris, <b>15e</b>",FR\n' for addr in IN_PARIS)


def atlas(path: Path, lines: dict[str, list[str]]) -> Path:
    """Traces written by hand, as the RIPE Atlas has them."""
    with path.open("w") as file:
        for probe, (vantage, own) in enumerate(lines.items()):
            for line in own:
                hops, _, target = line.partition(" > ")
                about = {"type": "traceroute", "af": 4, "proto": "ICMP", "fw": 5000, "msm_id": 1}
                ends = {"src_addr": vantage, "from": vantage, "dst_addr": target}
                result = [
                    {"hop": ttl, "result": [{"from": hop.rstrip("!"), "rtt": 30.0 * ttl}]}
                    for ttl, hop in enumerate(hops.split(), 1)
                ]
                record = {**about, **ends, "prb_id": probe, "timestamp": 1_700_000_000}
                file.write(json.dumps(record | {"result": result}) + "\n")
    return path


def test_a_city_is_told_at_the_top_where_both_nights_have_places(tmp_path, capsys):
    prefixes, places = tmp_path / "all.pfx2as", tmp_path / "places.csv"
    prefixes.write_text(PREFIXES)
    places.write_text(PLACES)
    store, out = tmp_path / "store", tmp_path / "out"
    options = ["--ip2as", prefixes, "--borders", "prefix", "--routers", "interfaces"]
    for name, lines, more in (
        ("1", THROUGH, ["--locations", places]),
        ("2", PAST, ["--locations", places]),
        ("bare", PAST, []),
    ):
        traces = atlas(tmp_path / f"{name}.json", lines)
        words = ["ingest", traces, *options, *more, "--store", store, "--snapshot", name]
        assert run(*words) == 0
    capsys.readouterr()
    for new, kinds in (("2", ["city lost"]), ("bare", None)):
        words = ["compare", "1", new, "--store", store, "--out", out / new]
        assert run(*words) == 0
        said = capsys.readouterr()
        events = pq.read_table(out / new / new / "events.parquet").to_pylist()
        if kinds is None:
            assert "city lost" not in [event["kind"] for event in events]
            assert "place" not in said.err
            continue
        assert [event["kind"] for event in events] == kinds
        sentence = "is no longer crossed: 24 pairs crossed 4 "
        assert sentence in events[0]["text"]
        assert sentence in said.out
        page = (out / new / new / "changes.html").read_text()
        assert "Paris, &lt;b&gt;15e&lt;/b&gt;, FR is no longer crossed" in page
        assert "<b>15e" not in page

"""Places through the commands and on pages: cities, countries, impossible ones, hostile texts."""

from __future__ import annotations

import html
import json

import numpy as np
import pytest

from pipeline.cli import main
from pipeline.report.tables.places import PLACE_COLUMNS, counted_places, impossible_text, place_text
from pipeline.store import open_snapshot
from tests.addresses import format_addrs
from tests.real_data import REPOSITORY

LAB = REPOSITORY / "data" / "samples" / "lab"
HOSTILE = "<script>alert(1)</script>"


def run(capsys, *words: object) -> str:
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, words)))
    shown = capsys.readouterr()
    assert (ended.value.code or 0) == 0, shown.err
    return shown.out


def test_places_are_in_tables_on_pages_and_in_commands(tmp_path, capsys):
    store, out = tmp_path / "store", tmp_path / "out"
    traces = [LAB / f"h{i}.icmp-paris.warts.gz" for i in (1, 2, 3)]
    given = ("--ip2as", LAB / "lab.pfx2as", "--allow-special", "198.18.0.0/15", "--store", store)
    run(capsys, "ingest", *traces, *given, "--snapshot", "without")
    with open_snapshot(store, "without") as snapshot:
        assert snapshot.locations() is None
        seen = snapshot.vantages()
        (vantage, *_) = format_addrs(np.stack([seen.addr_high, seen.addr_low], axis=1))
        rows = snapshot.ingresses()
        most = int(rows.n_direct.argmax())
        asn = int(snapshot.asn[rows.row[most]])
    shown = json.loads(run(capsys, "show", "without", asn, "--store", store, "--json"))["as"]
    assert {row["city"] for row in shown["ingresses"]} == {None}
    addr = shown["ingresses"][0]["addr"]

    places = tmp_path / "places.csv"
    places.write_text(
        f"address,latitude,longitude,city,country\n"
        f"198.18.0.0/15,48.86,2.35,{HOSTILE},FR\n{addr},-33.87,151.21,Sydney,AU\n{vantage},999,0,,\n"
    )
    said = ("--snapshot", "with", "--out", out, "--locations", places)
    run(capsys, "run", *traces, *given, *said)
    shown = json.loads(run(capsys, "show", "with", asn, "--store", store, "--json"))["as"]
    first, *others = shown["ingresses"]
    assert (first["addr"], first["city"], first["country"]) == (addr, "Sydney", "AU")
    assert {row["city"] for row in others} == {HOSTILE}
    # Traces of the laboratory take less than a millisecond, and vantage points are in France.
    assert first["place_impossible"]
    assert first["place_far_km"] > 16_000
    assert first["place_rtt_ms"] < 10
    found = json.loads(run(capsys, "why", addr, "--store", store, "--json"))
    assert {name: found[name] for name in PLACE_COLUMNS} == {
        name: first[name] for name in PLACE_COLUMNS
    }
    said = run(capsys, "why", addr, "--store", store)
    assert f"Place: Sydney, AU: impossible, {impossible_text(first)}" in " ".join(said.split())
    without = json.loads(
        run(capsys, "why", addr, "--store", store, "--snapshot", "without", "--json")
    )
    assert {without[name] for name in PLACE_COLUMNS} == {None}
    text = run(capsys, "show", "with", asn, "--store", store)
    assert f"{addr} is in Sydney, AU: impossible, RTT " in text
    found = json.loads(run(capsys, "lookup", addr, "--store", store, "--json"))["found"][0]
    assert (found["city"], found["place_impossible"]) == ("Sydney", True)
    page = (out / "with" / "as" / f"{asn}.html").read_text()
    assert "impossible place" in page
    assert "<script>alert" not in page
    assert "Ingresses by place" in page
    assert f"<bdi>{html.escape(HOSTILE)}, FR</bdi>" in page
    assert "light in fibre takes" in page
    manifest = open_snapshot(store, "with").manifest
    assert any("impossible by the speed of light" in line for line in manifest["warnings"])
    (entry,) = [each for each in manifest["inputs"] if each["path"].endswith("places.csv")]
    assert entry["rejected"] == {"latitude beyond 90 or longitude beyond 180 degrees": 1}


NOWHERE = dict.fromkeys(("city", "country", "latitude", "longitude", "place_impossible"))


def test_texts_of_places_are_cities_or_else_degrees():
    assert place_text(NOWHERE) == ""
    there = NOWHERE | {"latitude": 1.0, "longitude": -2.0}
    assert place_text(there) == "1.00, -2.00"
    assert place_text(there | {"city": "A\u202eB", "country": "FR"}) == "A\ufffdB, FR"
    assert impossible_text(there) == ""
    there |= {"place_impossible": True, "place_rtt_ms": 3.0, "place_far_km": 1050.0}
    assert impossible_text(there) == (
        "RTT 3.0 ms from a vantage point 1,050 km away: light in fibre takes 10.0 ms at least"
    )


def test_places_are_counted_with_their_traces():
    rows = [
        {"latitude": 1.0, "longitude": 1.0, "city": city, "country": None, "n": n}
        for city, n in (("A", 3), ("B", 9), ("A", 1))
    ]
    rows.append(NOWHERE | {"n": 50})
    assert counted_places(rows, "n") == [("B", 1, 9), ("A", 2, 4), ("", 1, 50)]
    assert counted_places(rows[-1:], "n") == []

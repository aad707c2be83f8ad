"""Places: ITDK, CSV and Hoiho's rules; the order of files; hostile lines."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.ingest.tables.locations import MAX_CITY, read_locations
from pipeline.model.addresses import sort_addrs
from pipeline.model.measured.host_names import HostNames
from pipeline.model.measured.locations import Locations
from pipeline.model.measured.reading import ReadReport
from tests.addresses import format_addrs, parse_addrs
from tests.soak import examples

A, B, C, SIX = "192.0.2.1", "192.0.2.2", "192.0.3.9", "2001:db8::1"
NODES = f"# comment\nnode N1:  {A} {B}\nnode N2:  0.0.0.5 224.1.2.3\nnode N7:  {C} {SIX}\n"
GEO = (
    "# node.geo N1: ...\n"
    "node.geo N1:\tEU\tFR\tIDF\tParis\t48.86\t2.35\t2138551\thoiho\n"
    "node.geo N2:\tEU\tGB\tENG\tLondon\t51.50\t-0.12\t\tmaxmind\n"
    "node.geo N7:\t\t\t\t\t43.6319\t-79.3716\t\t\tmaxmind\n"
)
RULE = {
    "domain": "example.net",
    "re": [r"^.+\.([a-z]{3})\d+\.([a-z]{2})\.example\.net$", r"^([a-z]+)\d+\.example\.net$"],
    "plan": [["iata", "cc"], ["place"]],
    "geohints": [
        {
            "code": "lhr",
            "type": "iata",
            "lat": "51.47",
            "lng": "-0.46",
            "location": {"place": "London", "cc": "gb"},
        },
        {
            "code": "paris",
            "type": "place",
            "lat": 48.86,
            "lng": 2.35,
            "location": {"place": "Paris", "st": "idf", "cc": "fr"},
        },
    ],
    "score": {"ppv": "0.99", "class": "good"},
}


def read(*files: str | bytes, hosts: dict[str, str] | None = None) -> tuple[Locations, list]:
    reports = [ReadReport(f"file{i}", "") for i in range(len(files))]
    data = [
        each.encode("utf-8", "surrogatepass") if isinstance(each, str) else each for each in files
    ]
    addrs = parse_addrs([A, B, C, SIX])
    addrs = addrs[sort_addrs(addrs)]
    names = None
    if hosts is not None:
        of = parse_addrs(list(hosts))
        order = sort_addrs(of)
        names = HostNames(of[order], np.array(list(hosts.values()), object)[order])
    return read_locations([[each] for each in data], reports, addrs, names), reports


def places_of(found: Locations) -> dict[str, tuple]:
    assert not found.is_checked.any()
    columns = (found.latitude, found.longitude, found.city, found.country)
    rows = zip(*(np.asarray(c).tolist() for c in columns), strict=True)
    return {
        addr: (round(north, 2), round(east, 2), city, country)
        for addr, (north, east, city, country) in zip(format_addrs(found.addr), rows, strict=True)
    }


PARIS = (48.86, 2.35, "Paris", "FR")


@pytest.mark.parametrize("files", [(NODES, GEO), (GEO, NODES)])
def test_places_of_nodes_are_those_of_all_their_addresses(files):
    found, reports = read(*files)
    nowhere = (43.63, -79.37, None, None)
    assert places_of(found) == {A: PARIS, B: PARIS, C: nowhere, SIX: nowhere}
    assert {r.format: r.n_records for r in reports} == {"itdk-nodes": 3, "itdk-geo": 3}
    assert all(r.status == "ok" and not r.rejected for r in reports)


def test_places_of_nodes_say_nothing_without_their_addresses():
    found, (report,) = read(GEO)
    assert not len(found)
    assert report.notes == {"places of nodes whose addresses no .nodes file has": 3}


@pytest.mark.parametrize(
    "text",
    [
        f"{A},48.86,2.35,Paris,FR\n",
        f"192.0.2.0/24,1,1,Wide,XX\n{A}/32,48.86,2.35,Paris,FR\n{B}/32,3,3,B,\n{B}/32,4,4,B,\n",
        f'City,IP,lon,LAT,cc\n"Paris",{A},2.35,48.86,FR\n',
    ],
)
def test_lines_of_csv_have_the_longest_prefix_and_columns_by_name(text):
    found, (report,) = read(text)
    assert places_of(found)[A] == PARIS
    assert report.status == "ok"
    if "Wide" in text:
        assert places_of(found)[B] == (3.0, 3.0, "B", None)
        assert report.notes == {"prefixes listed again, left out": 1}


def test_rules_read_codes_in_host_names_that_the_file_itself_explains():
    hosts = {
        A: "ae1.LHR2.uk.example.net",
        B: "paris3.example.net",
        C: "ae1.lhr2.fr.example.net",  # London in France: not meant
        SIX: "ae1.jfk2.us.example.net",  # a code that the file does not explain
    }
    found, (report,) = read(json.dumps(RULE), hosts=hosts)
    assert places_of(found) == {A: (51.47, -0.46, "London", "GB"), B: PARIS}
    assert (report.format, report.n_records) == ("rules of places", 1)
    bad = RULE | {"score": {"class": "poor"}}
    _, (report,) = read(json.dumps(bad) + "\n" + json.dumps(RULE | {"geohints": []}), hosts=hosts)
    assert set(report.skipped) == {"rules that are not good or promising", "rules without places"}
    _, (report,) = read(json.dumps(RULE))
    assert report.notes == {"rules without a host name to read (--host-names)": 1}


def test_the_first_of_several_files_counts_and_what_differs_is_counted():
    near, far = (
        f"{A},48.85,2.30,Paris,FR\n{C},1,1,One,\n",
        f"{A},51.5,-0.12,London,GB\n{C},1,1.1,,\n",
    )
    found, reports = read(near, far)
    assert places_of(found)[A][2] == "Paris"
    assert [dict(r.notes) for r in reports] == [
        {},
        {"addresses that an earlier file has elsewhere": 1},
    ]
    assert places_of(read(far, near)[0])[A][2] == "London"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"{A},999,0,X,Y", "latitude beyond 90 or longitude beyond 180 degrees"),
        (f"{A},0,-180.1,X,Y", "latitude beyond 90 or longitude beyond 180 degrees"),
        (f"{A},nan,0,X,Y", "latitude beyond 90 or longitude beyond 180 degrees"),
        (f"{A},inf,0,X,Y", "latitude beyond 90 or longitude beyond 180 degrees"),
        (f"{A},north,0,X,Y", "latitude or longitude is no number"),
        (f"{A},1", "latitude or longitude is no number"),
        ("not-one,1,1,X,Y", "not an address"),
        ("192.0.2.1/24,1,1,X,Y", "not a prefix"),
        ("192.0.2.0/999,1,1,X,Y", "not a prefix"),
        ("::/0,1,1,X,Y", "a prefix around ::ffff:0:0/96, where IPv4 is kept"),
    ],
)
def test_a_broken_line_of_csv_is_rejected_and_the_others_are_read(line, reason):
    found, (report,) = read(f"{B},48.86,2.35,Paris,FR\n{line}\n")
    assert places_of(found) == {B: PARIS}
    assert dict(report.rejected) == {reason: 1}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("node.geo N1:\tEU\tFR\tIDF\tParis\t91\t2\t\tx", "latitude beyond 90"),
        ("node.geo N1:\tEU\tFR", "fewer than six columns"),
        ("node.geo 7:\tEU\tFR\tIDF\tParis\t9\t2\t\tx", "not a node"),
        ("node.geo N" + "9" * 40 + ":\tEU\tFR\tIDF\tParis\t9\t2\t\tx", "not a node"),
        ("something else", "not `node.geo N1:`"),
    ],
)
def test_a_broken_line_of_nodes_is_rejected(line, reason):
    found, (_, report) = read(NODES, f"{GEO}{line}\n")
    assert places_of(found)[A] == PARIS
    (said,) = report.rejected
    assert said.startswith(reason)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"re": ["(?=a)(b)"]}, "not a pattern of RE2"),
        ({"re": ["abc"]}, "a pattern without a group"),
        ({"re": ["(a)" * 2000]}, "a pattern of more than"),
        ({"re": ["(a)"] * 101}, "more than 100 patterns"),
        ({"re": "(a)"}, "no patterns"),
        ({"domain": 7}, "no domain"),
    ],
)
def test_a_hostile_rule_is_rejected(change, reason):
    _, (report,) = read(json.dumps(RULE) + "\n" + json.dumps(RULE | change), hosts={A: "a.b"})
    (said,) = report.rejected
    assert said.startswith(reason)
    assert report.n_records == 1


def test_codes_with_broken_places_are_left_out():
    hints = [{"code": "lhr", "lat": "999", "lng": 0, "location": {}}, 7, RULE["geohints"][1]]
    found, (report,) = read(
        json.dumps(RULE | {"geohints": hints}),
        hosts={A: "a.lhr1.gb.example.net", B: "paris1.example.net"},
    )
    assert places_of(found) == {B: PARIS}
    assert sum(report.notes.values()) == 2


def test_cities_are_kept_as_text_of_bounded_length_without_controls():
    city = "<script>alert(1)</script>\x1b[31m"
    found, (report,) = read(f"{A},1,1,{city},\n{B},1,1,{'x' * 100_000},\n")
    assert places_of(found)[A][2] == city.replace("\x1b", "\ufffd")
    assert places_of(found)[B][2] == "x" * MAX_CITY
    assert len(report.notes) == 2


def test_a_huge_line_and_a_file_of_nothing_are_refused():
    for data in (b"x" * ((1 << 24) + 1), b"", b"\x00\xff\n", b"{}\n", b"# only\n"):
        found, (report,) = read(data)
        assert not len(found)
        assert report.status == "rejected"
        assert report.error


@settings(max_examples=examples(60), deadline=None)
@given(st.binary(max_size=300), st.sampled_from([b"", b"{", b"node.geo N1:\t", b"node N1: "]))
def test_no_bytes_raise(data, head):
    read(head + data, NODES, hosts={A: "a.example.net"})

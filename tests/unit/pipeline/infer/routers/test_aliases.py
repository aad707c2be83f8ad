"""Alias files: what is read, and how nodes merge."""

import gzip

import pytest

from pipeline.infer import infer_topology, read_aliases
from pipeline.model.measured.reading import ReadReport
from tests.addresses import format_addrs, parse_addrs
from tests.tables import table_of_file
from tests.unit.pipeline.infer.handmade import (
    VANTAGE,
    alias_sets,
    asn_of,
    infer,
    ingresses_of,
    links_of,
    nodes_of,
    observe,
    prefix_table,
    traces,
)

A, B, C, D = (f"20.1.0.{i}" for i in (10, 20, 30, 40))
X, Y = "20.2.0.10", "20.2.0.20"


def read(tmp_path, text, name="test.nodes"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    report = ReadReport(str(path))
    return table_of_file(read_aliases, path, report), report


def sets_of(table):
    found: dict[int, list[str]] = {}
    for router, addr in zip(table.router.tolist(), format_addrs(table.addrs), strict=True):
        found.setdefault(router, []).append(addr)
    return sorted(found.values())


def test_nodes_with_two_real_addresses_are_alias_sets(tmp_path):
    text = (
        "# format: node <node_id>:   <i1>   <i2>   ...   <in>\n"
        f"node N1:  {A} {B} \n"
        f"node N2:  {C}\n"
        f"node N3:  0.5.1.2 {X} 0.0.0.9\r\n"
        f"node N4:  0.0.0.1 {Y} 224.0.0.7 {D}\n"
        "node N5:  2600::1 2600::2\n"
    )
    table, report = read(tmp_path, text)
    assert sets_of(table) == [[A, B], [D, Y], ["2600::1", "2600::2"]]
    assert report.n_records == 5
    assert not report.rejected


def test_compressed_files_read_alike(tmp_path):
    text = "".join(f"node N{i}:  20.1.{i}.1 20.2.{i}.1\n" for i in range(250)).encode()
    plain, _ = read(tmp_path, text)
    packed, report = read(tmp_path, gzip.compress(text))
    assert sets_of(plain) == sets_of(packed)
    assert report.n_records == 250


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("link L1:  N1:20.1.0.1 N2", "not `node N1:  addr addr`"),
        ("node", "not `node N1:  addr addr`"),
        ("node N7", "not `node N1:  addr addr`"),
        ("node N7:  20.1.0.1 20.1.0", "not an address"),
    ],
)
def test_a_broken_line_is_counted_and_the_rest_is_used(tmp_path, line, reason):
    table, report = read(tmp_path, f"node N1:  {A} {B}\n{line}\nnode N2:  {X} {Y}\n")
    assert sets_of(table) == [[A, B], [X, Y]]
    assert dict(report.rejected) == {reason: 1}
    assert report.samples[0].place == "line 2"


def test_an_address_of_two_nodes_stays_with_the_first(tmp_path):
    table, report = read(tmp_path, f"node N1:  {B} {A}\nnode N2:  {A} {C} {D}\n")
    assert sets_of(table) == [[A, B], [C, D]]
    assert report.notes == {"address of two nodes": 1}


@pytest.mark.parametrize("content", [b"", b"\x00" * 100, b"hello\n"])
def test_a_file_that_is_no_nodes_file_is_rejected_without_an_exception(tmp_path, content):
    table, report = read(tmp_path, content)
    assert len(table.addrs) == 0
    assert report.status == "rejected"
    assert "test.nodes" in report.error


def test_interfaces_merge_into_routers_named_by_their_smallest_address(tmp_path):
    table, _ = read(tmp_path, f"node N1:  {B} {D} 20.1.9.9\n")
    topology = infer(tmp_path, f"{A} {B} {C}", f"{A} {D} {C}", f"{B} {D}", aliases=table)
    assert topology.kind == "router"
    assert nodes_of(topology) == [A, B, C]
    assert links_of(topology) == {(A, B): 2, (B, C): 2}
    assert topology.counts["links_within_a_router"] == 1


def test_a_public_address_names_a_router_that_has_one_and_ids_follow_the_smallest(tmp_path):
    sets = alias_sets(("10.0.0.9", X, Y), ("10.0.0.7", "192.168.0.1"))
    topology = infer(tmp_path, f"{A} 10.0.0.9 10.0.0.7 {B}", f"{Y} {X} 192.168.0.1", aliases=sets)
    assert nodes_of(topology) == ["10.0.0.7", X, A, B]
    assert topology.addr_node[0] == 0
    assert links_of(topology) == {("10.0.0.7", X): 2, (X, A): 1, ("10.0.0.7", B): 1}


def test_without_aliases_an_interface_is_a_node(tmp_path):
    assert infer(tmp_path, f"{A} {B}").kind == "interface"


def test_nodes_are_interfaces_where_the_alias_file_merges_none_of_them(tmp_path):
    table, _ = read(tmp_path, f"node N1:  {B} 20.1.9.9\nnode N2:  20.1.8.8 20.1.8.9\n")
    topology = infer(tmp_path, f"{A} {B} {C}", aliases=table)
    assert topology.kind == "interface"
    assert topology.counts["merged_addresses"] == 0


def test_rtts_of_all_interfaces_of_a_link_are_pooled(tmp_path):
    table, _ = read(tmp_path, f"node N1:  {B} {D}\n")
    lines = [f"{A}/1 {B}/3", f"{A}/1 {D}/9", f"{A}/1 {D}/5"]  # 1, 4, 2
    assert infer(tmp_path, *lines, aliases=table).weight.tolist() == [2.0]


def test_a_router_by_prefix_is_in_the_as_of_most_of_its_interfaces(tmp_path):
    table, _ = read(tmp_path, f"node N1:  {X} {Y} {B} 10.0.0.1\nnode N2:  {C} 20.2.0.99\n")
    lines = [f"{A} {B}", f"{A} {X}", f"{A} {Y}", f"10.0.0.1 {C}", "20.2.0.99"]
    topology = infer(tmp_path, *lines, aliases=table)
    assert asn_of(topology) == {A: 1, C: 1, B: 2}
    assert ingresses_of(topology)[B] == ([1], 3, 0, False)


def test_the_election_gives_an_alias_set_one_as(tmp_path):
    table, _ = read(tmp_path, f"node N1:  {X} {B} {C}\n")
    seen = observe(tmp_path, traces(f"{A} {X}", f"{A} {B} {D}", f"{D} {C}"))
    topology = infer_topology(
        [seen], prefixes=prefix_table(tmp_path), aliases=table, borders="elected"
    )
    assert asn_of(topology) == {A: 1, B: 1, D: 1}


def test_a_destination_is_a_router_if_another_interface_of_its_router_answered_as_one(tmp_path):
    table, _ = read(tmp_path, f"node N1:  {C} {D}\n")
    lines = [f"{A} {B} {D}! > {D}", f"{X} {C} {A}"]
    topology = infer(tmp_path, *lines, aliases=table)
    assert links_of(topology) == {(A, C): 1, (B, C): 1, (C, X): 1, (A, B): 1}
    assert topology.counts["destinations_left_out"] == 0
    assert topology.counts["destinations_taken_for_routers"] == 1


def test_a_router_whose_interfaces_all_answered_as_destinations_only_is_left_out(tmp_path):
    table, _ = read(tmp_path, f"node N1:  {C} {D}\n")
    topology = infer(tmp_path, f"{A} {B} {D}! > {D}", f"{A} {B} {C}! > {C}", aliases=table)
    assert links_of(topology) == {(A, B): 2}


def test_a_vantage_is_no_router_by_its_alias_set(tmp_path):
    table, _ = read(tmp_path, f"node N1:  {C} {VANTAGE}\n")
    lines = [f"{A} {B} {VANTAGE}! > {VANTAGE}", f"{X} {C} {A}"]
    topology = infer(tmp_path, *lines, aliases=table)
    assert VANTAGE not in nodes_of(topology)
    assert (B, C) not in links_of(topology)


def test_a_pipe_is_refused(piped):
    report = ReadReport("x")
    assert len(table_of_file(read_aliases, piped(f"node N1:  {A} {B}\n"), report).addrs) == 0
    assert report.status == "rejected"
    assert "is a socket, pipe or device, not a file; give a regular file" in report.error


def test_routers_of_an_empty_table_are_unknown(tmp_path):
    table, _ = read(tmp_path, f"node N1:  {A}\n")
    assert table.routers_of(parse_addrs([A, B])).tolist() == [-1, -1]

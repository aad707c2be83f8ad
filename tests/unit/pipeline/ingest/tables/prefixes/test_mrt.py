"""RIBs in MRT: what RFC 6396 and 8050 say, against records that are made here byte by byte."""

from __future__ import annotations

import gzip
import struct
from ipaddress import ip_network

import pytest
from hypothesis import given, settings

from pipeline.ingest.tables.prefixes import read_prefixes
from pipeline.model.measured.reading import ReadReport
from tests.addresses import parse_addrs
from tests.contracts.trace_reader import SAMPLES, mutations
from tests.soak import examples
from tests.tables import table_of_files

SEQUENCE, SET, CONFEDERATION = 2, 1, 3


def attribute(kind, value, is_long=False):
    flags = 0x50 if is_long else 0x40
    return struct.pack("!BBH" if is_long else "!BBB", flags, kind, len(value)) + value


def path(*segments, asn_bytes=4):
    code = {4: "I", 2: "H"}[asn_bytes]
    return b"".join(
        struct.pack(f"!BB{len(asns)}{code}", kind, len(asns), *asns) for kind, asns in segments
    )


def record(kind, subtype, body):
    return struct.pack("!IHHI", 1_700_000_000, kind, subtype, len(body)) + body


def entry(peer, *segments, path_id=None, is_long=False):
    attributes = attribute(1, b"\0") + attribute(2, path(*segments), is_long)
    ids = b"" if path_id is None else struct.pack("!I", path_id)
    return struct.pack("!HI", peer, 0) + ids + struct.pack("!H", len(attributes)) + attributes


def rib(prefix, *entries, with_ids=False):
    """A record of TABLE_DUMP_V2; an entry is a path of one sequence, or made already."""
    network = ip_network(prefix)
    subtype = (2 if network.version == 4 else 4) + 6 * with_ids
    n_bytes = (network.prefixlen + 7) // 8
    made = [
        each if isinstance(each, bytes) else entry(i, (SEQUENCE, each))
        for i, each in enumerate(entries)
    ]
    body = struct.pack("!IB", 7, network.prefixlen) + network.network_address.packed[:n_bytes]
    return record(13, subtype, body + struct.pack("!H", len(made)) + b"".join(made))


def old(prefix, asns, as4=None):
    """A record of TABLE_DUMP, whose paths have numbers of two bytes."""
    network = ip_network(prefix)
    attributes = attribute(2, path((SEQUENCE, asns), asn_bytes=2))
    if as4:
        attributes += attribute(17, path((SEQUENCE, as4)))
    addr = network.network_address.packed
    body = struct.pack("!HH", 0, 1) + addr + struct.pack("!BBI", network.prefixlen, 1, 0)
    body += bytes(len(addr)) + struct.pack("!HH", 65000, len(attributes)) + attributes
    return record(12, 1 if network.version == 4 else 2, body)


INDEX = record(13, 1, struct.pack("!IHH", 0, 0, 0))


def read(folder, *files):
    paths = [folder / f"rib{i}" for i in range(len(files))]
    for file, content in zip(paths, files, strict=True):
        file.write_bytes(content)
    reports = [ReadReport(str(file)) for file in paths]
    return table_of_files(read_prefixes, paths, reports), reports


def lookup(table, *addrs):
    return table.lookup(parse_addrs(addrs)).tolist()


def test_the_origin_is_the_last_as_that_most_peers_see(tmp_path):
    data = INDEX + rib("20.0.0.0/8", [1, 2, 3], [4, 5], [6, 3])
    data += rib("20.1.0.0/20", [9, 8]) + rib("2600::/20", [1, 196608])
    table, (report,) = read(tmp_path, gzip.compress(data))
    assert (report.status, report.format, report.n_records) == ("ok", "mrt", 3)
    assert not report.skipped + report.rejected + report.notes
    addrs = ("20.0.0.1", "20.1.0.1", "20.1.16.0", "2600::1", "2600:1000::")
    assert lookup(table, *addrs) == [3, 8, 3, 196608, -1]


def test_votes_of_collectors_are_added(tmp_path):
    one, other = rib("20.0.0.0/8", [1], [1], [2]), rib("20.0.0.0/8", [2], [2])
    for files in ((one, other), (other, one)):
        table, _ = read(tmp_path, *files)
        assert lookup(table, "20.0.0.1") == [2]


def test_sets_confederations_and_paths_without_an_as(tmp_path):
    data = rib("20.0.0.0/8", entry(0, (SEQUENCE, [1]), (SET, [9, 5])))
    data += rib("30.0.0.0/8", entry(0, (SEQUENCE, [1, 2]), (CONFEDERATION, [7])))
    data += rib("40.0.0.0/8", entry(0), entry(1, (SEQUENCE, [3] * 200), is_long=True))
    data += rib("50.0.0.0/8", entry(0))
    table, (report,) = read(tmp_path, data)
    assert lookup(table, "20.0.0.1", "30.0.0.1", "40.0.0.1", "50.0.0.1") == [5, 2, 3, -1]
    assert report.notes == {"AS set": 1, "paths without an AS": 2}
    assert report.n_records == 3


def test_additional_paths_of_a_peer_are_one_vote(tmp_path):
    paths = [entry(0, (SEQUENCE, [1]), path_id=i) for i in range(3)]
    paths += [entry(i, (SEQUENCE, [2]), path_id=0) for i in (1, 2)]
    data = rib("20.0.0.0/8", *paths, with_ids=True)
    data += rib("2600::/16", entry(0, (SEQUENCE, [7]), path_id=1), with_ids=True)
    table, _ = read(tmp_path, data)
    assert lookup(table, "20.0.0.1", "2600::1") == [2, 7]


def test_old_dumps_and_numbers_of_four_bytes_in_them(tmp_path):
    data = old("20.0.0.0/8", [1, 2]) + old("20.0.0.0/8", [3, 2]) + old("20.0.0.0/8", [3, 4])
    data += old("30.0.0.0/9", [1, 23456], [1, 196608]) + old("2600::/16", [5])
    table, (report,) = read(tmp_path, data)
    assert lookup(table, "20.0.0.1", "30.0.0.1", "30.128.0.0", "2600::1") == [2, 196608, -1, 5]
    assert report.n_records == 5


def test_other_records_are_skipped_and_what_routes_all_is_rejected(tmp_path):
    data = INDEX + record(16, 4, b"\0" * 30) + record(13, 3, b"\0" * 30)
    data += rib("0.0.0.0/0", [1]) + rib("::/3", [1]) + rib("20.0.0.0/8", [1])
    data += record(13, 2, b"\0\0\0\1\x21") + record(13, 2, b"\0\0\0\1\x08\x14\0\2" + b"\0" * 9)
    table, (report,) = read(tmp_path, data)
    assert report.skipped == {"MRT records that are no unicast RIB": 2}
    assert report.rejected == {
        "a default route": 1,
        "covers IPv4-mapped space": 1,
        "broken record": 2,
    }
    assert lookup(table, "20.0.0.1", "30.0.0.1", "::1") == [1, -1, -1]


def test_bits_beyond_the_length_mean_nothing(tmp_path):
    data = bytearray(rib("20.0.0.0/9", [1]))
    data[data.index(b"\x09\x14\x00") + 2] = 0x7F
    table, _ = read(tmp_path, bytes(data))
    assert lookup(table, "20.0.0.0", "20.127.255.255", "20.128.0.0") == [1, 1, -1]


def test_updates_alone_are_refused_with_what_to_give(tmp_path):
    table, (report,) = read(tmp_path, record(16, 4, b"\0" * 40) * 3)
    assert (table.n_prefixes, report.status) == (0, "rejected")
    assert report.error.endswith("give a RIB (rib.*, bview.*), not updates")


@pytest.mark.parametrize(("keep", "status"), [(-1, "partial"), (-40, "partial"), (70, "rejected")])
def test_a_rib_cut_short_gives_what_is_whole(tmp_path, keep, status):
    data = rib("20.0.0.0/8", *[[1]] * 9) + rib("30.0.0.0/8", [1]) + rib("40.0.0.0/8", [1])
    table, (report,) = read(tmp_path, data[:keep])
    assert report.status == status
    assert "cut short" in report.error
    assert lookup(table, "20.0.0.1") == [1 if status == "partial" else -1]


def test_a_record_that_is_too_long_ends_the_file(tmp_path):
    data = rib("20.0.0.0/8", [1]) + struct.pack("!IHHI", 1, 13, 2, 1 << 30) + b"x" * 99
    table, (report,) = read(tmp_path, data)
    assert (report.status, table.n_prefixes) == ("partial", 1)
    assert "damaged" in report.error


SAMPLE = INDEX + rib("20.0.0.0/8", [1, 2], [3, 2]) + rib("2600::/16", [1, 4])
SAMPLE += old("30.0.0.0/8", [1])


@settings(max_examples=examples(150), deadline=None)
@given(mutations(SAMPLE))
def test_mutated_ribs_give_a_table_or_a_reason(tmp_path_factory, data):
    table, (report,) = read(tmp_path_factory.mktemp("mrt"), data)
    assert (table.n_prefixes > 0) == (report.n_records > 0)
    assert (report.n_records > 0) or (report.status == "rejected" and report.error)
    assert (table.v4_first[1:] > table.v4_first[:-1]).all()


def test_a_dump_of_bird_reads_as_its_configuration_says():
    """Five static routes, of BIRD 2.0.12 (``protocol mrt``); two tables without routes before."""
    file = SAMPLES / "mrt" / "bird.mrt"
    report = ReadReport(str(file))
    table = table_of_files(read_prefixes, [file], [report])
    assert (report.status, report.n_records, table.n_prefixes) == ("ok", 5, 5)
    addrs = ("20.0.0.1", "20.1.0.1", "20.1.16.1", "192.0.2.1", "192.0.2.128")
    addrs += ("2001:db8::1", "2001:db8:1::1")
    assert lookup(table, *addrs) == [64500, 196608, 64500, 64501, -1, 64502, 64503]

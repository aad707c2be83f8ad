"""Alias files of other forms than ITDK nodes: recognised by content, read line by line."""

import gzip
from itertools import pairwise

import pytest

from tests.unit.pipeline.ingest.tables.aliases.test_aliases import read, sets_of

A, B, C, D, E = (f"20.1.0.{i}" for i in (10, 20, 30, 40, 50))
V6 = ["2600::1", "2600::2"]

MIDAR = f"""\
# MIDAR alias sets
# set      0:    151  11325      0      0      0
{B}
{A}
# a remark

# set      1:    151  11325      0      0      0
{C}
# set      2:    151
{D}
0.0.0.9
{E}\r
"""
IFACES = f"""\
#address  node  link  transit  destination
{A} N7 L3 T
{B} N7 D
{C} D
{D} L4 T D
{V6[0]} N8
{E} N9 T
{V6[1]} N8
224.0.0.3 N9
"""
IFFINDER = f"""\
# target response status
{A} {A} S 1 2
{A} {B} D 1 2
{C} 0.0.0.0 X 0 0
{B} {C} D 1 2
{D} {E} D 1 2
"""
LINES = f"{A} {B}\n{D} {E} {B}\n{V6[0]} {V6[1]}\n{C}\n"


@pytest.mark.parametrize(
    ("text", "form", "sets", "n_records"),
    [
        (MIDAR, "midar-sets", [[A, B], [D, E]], 3),
        (IFACES, "itdk-ifaces", [[A, B], V6], 8),
        (IFFINDER, "iffinder", [[A, B, C], [D, E]], 3),
        (LINES, "alias-lines", [[A, B, D, E], V6], 4),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_each_form_is_recognised_and_gives_its_sets(tmp_path, text, form, sets, n_records, pack):
    table, report = read(tmp_path, pack(text.encode()), "any.name")
    assert sets_of(table) == sets
    assert (report.format, report.n_records, report.status) == (form, n_records, "ok")
    assert not report.rejected


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (MIDAR, "20.1.0", "not an address"),
        (MIDAR, f"{A} {B}", "not an address"),
        (IFACES, f"{A} N7 X", "not `addr N1 L1 T D`"),
        (IFACES, f"{A} N7 N8", "not `addr N1 L1 T D`"),
        (IFACES, "20.1.0 N7", "not an address"),
        (IFFINDER, f"{A} {B}", "not `addr addr status`"),
        (IFFINDER, f"{A} x D", "not an address"),
        (LINES, f"{A} x", "not an address"),
    ],
)
def test_a_broken_line_is_counted_and_the_rest_is_used(tmp_path, text, line, reason):
    whole, _ = read(tmp_path, text)
    table, report = read(tmp_path, text + line + "\n")
    assert sets_of(table) == sets_of(whole)
    assert dict(report.rejected) == {reason: 1}
    assert report.samples[0].place == f"line {text.count(chr(10)) + 1}"
    assert report.status == "ok"


@pytest.mark.parametrize(("n_broken", "said"), [(4, ""), (5, "5 of 9 addresses rejected (55 %)")])
def test_the_share_of_broken_lines_of_sets_is_that_of_addresses(tmp_path, n_broken, said):
    """One set of four addresses is one record, and four lines."""
    addrs = "\n".join((A, B, C, D))
    _, report = read(tmp_path, f"# set 0: 4\n{addrs}\n" + "20.1.0\n" * n_broken)
    assert (report.n_records, report.rejected.total()) == (1, n_broken)
    assert report.mostly_rejected == said


def test_an_address_before_the_first_set_is_broken(tmp_path):
    table, report = read(tmp_path, f"{C}\n{MIDAR}")
    assert sets_of(table) == [[A, B], [D, E]]
    assert dict(report.rejected) == {"address before the first `# set`": 1}


def test_an_address_of_two_sets_stays_with_the_first(tmp_path):
    table, report = read(tmp_path, f"# set 0: 1\n{B}\n{A}\n# set 1: 1\n{A}\n{C}\n{D}\n")
    assert sets_of(table) == [[A, B], [C, D]]
    assert report.notes == {"address of two nodes": 1}


def test_an_iffinder_file_without_aliases_is_read_and_merges_nothing(tmp_path):
    table, report = read(tmp_path, f"{A} {A} S\n{B} {B} S\n")
    assert len(table.addrs) == 0
    assert (report.status, report.skipped["no alias"]) == ("ok", 2)


@pytest.mark.parametrize("text", [f"{A} x\n", f"{A}\n{B}\n", f"# set 0: 1\n{A} {B}\n"])
def test_a_file_with_nothing_valid_is_rejected_and_says_what_to_give(tmp_path, text):
    _, report = read(tmp_path, text)
    assert report.status == "rejected"
    assert "give ITDK nodes" in report.error


def test_a_list_of_pairs_chains_over_any_number_of_lines(tmp_path):
    addrs = [f"20.{i // 250}.{i % 250}.1" for i in range(600)]
    pairs = [f"{one} {other}" for one, other in pairwise(addrs)]
    table, _ = read(tmp_path, "\n".join(pairs[::2] + pairs[1::2]))
    assert len(set(table.router.tolist())) == 1
    assert len(table.addrs) == 600

"""Tables of an operator: what is read, and what is said of broken ones."""

import pytest

from pipeline.errors import FormatError
from pipeline.judge.loading import read_truth

ADDRESSES = """# my network
address,router,asn
20.1.0.1,a,AS64496
20.1.0.2,a,64496
2001:DB8::1,b,64496
20.2.0.1,,64497
20.3.0.1,c,
"""
LINKS = "a,b\na, AS64500\n20.2.0.1,20.1.0.2\na,a\nb,AS64496\nz,a\nAS1,AS2\n"


def folder_of(tmp_path, addresses, links=None):
    (tmp_path / "addresses.csv").write_text(addresses)
    if links is not None:
        (tmp_path / "links.csv").write_text(links)
    return tmp_path


def test_routers_links_and_neighbours_are_read(tmp_path):
    truth, (rows, links) = read_truth(folder_of(tmp_path, ADDRESSES, LINKS))
    assert truth.asn_of == {"a": 64496, "b": 64496, "20.2.0.1": 64497}
    assert truth.router_of == {
        "20.1.0.1": "a",
        "20.1.0.2": "a",
        "2001:db8::1": "b",
        "20.2.0.1": "20.2.0.1",
    }
    assert truth.links == {frozenset("ab"), frozenset(("a", "20.2.0.1"))}
    assert truth.neighbor_asns == {"a": {64500, 64497}, "20.2.0.1": {64496}}
    assert (truth.is_whole, truth.has_links) == (False, True)
    assert (rows.n_records, links.n_records) == (5, 5)
    assert dict(links.rejected) == {"not two known routers, nor one and an AS": 2}


def test_without_links_nothing_is_said_of_neighbours(tmp_path):
    path = folder_of(tmp_path, ADDRESSES) / "addresses.csv"
    truth, _ = read_truth(path)
    assert (truth.has_links, truth.links, truth.neighbor_asns) == (False, frozenset(), {})
    assert read_truth(tmp_path)[0] == truth


@pytest.mark.parametrize(
    ("addresses", "links", "said"),
    [
        ("20.1.0.1,1,a\n20.1.0.2,2,a\n", None, "router a is in AS1 and, by the line of 20.1.0.2,"),
        ("20.1.0.1,1,a\n20.1.0.1,1,b\n", None, "20.1.0.1 is of router a and of b"),
        ("20.1.0.1,,a\n", None, "no address has an AS"),
        ("address,asn\n", None, "no line of `address,asn`"),
        ("20.1.0.1,1,a\n", "x,y\n", "no line of two routers"),
        ("fe80::1%eth0,1,a\n", None, "no line of `address,asn`"),
        ("20.1.0.1,1.10,a\n", None, "line 1: an AS number with a dot: write it as a whole number"),
        ("address,asn\n20.1.0.1,64496.0\n", None, "1 line rejected, line 2: an AS number with a"),
        ("20.1.0.1,x\n" + "y" * 999, None, "line 1: not an AS number (20.1.0.1,x)"),
        ("y" * 999, None, f"fewer fields than address and AS ({'y' * 60}...)"),
        ("\x00\x01\x02", None, "no line of `address,asn`"),
    ],
)
def test_what_is_broken_is_named(tmp_path, addresses, links, said):
    with pytest.raises(FormatError) as error:
        read_truth(folder_of(tmp_path, addresses, links))
    assert said in str(error.value)

"""The mapped share: which addresses have an AS by prefix, before any election."""

import numpy as np
import pytest

from pipeline.infer import infer_topology
from pipeline.infer.owners.mapped import mapped_share, origins
from pipeline.infer.owners.special import OF_NO_ROUTER, is_special
from pipeline.ingest.tables import read_exchanges
from pipeline.model.addresses import PRIVATE, unique_addrs
from pipeline.model.measured.mapped import mapped_text
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.exchanges import ExchangePoints
from tests.addresses import format_addrs, parse_addrs
from tests.tables import table_of_files
from tests.unit.pipeline.infer.handmade import infer, observe, prefix_table, traces

A, B, C = (f"20.1.0.{i}" for i in (10, 20, 30))
DARK, DARKER = "20.0.0.10", "20.0.0.20"  # routed by nobody


def lans_of(tmp_path, *prefixes):
    if not prefixes:
        return ExchangePoints.none()
    path = tmp_path / "lans.txt"
    path.write_text("\n".join(prefixes) + "\n")
    return table_of_files(read_exchanges, [path], [ReadReport(str(path))])


def share_of(tmp_path, texts, allow=(), asn=None, lan=(), ixp=()):
    addrs = unique_addrs([parse_addrs(texts)])
    special = is_special(addrs, allow)
    on_lan = np.isin(format_addrs(addrs), lan)
    prefixes = prefix_table(tmp_path) if asn is None else None
    exchanges = lans_of(tmp_path, *ixp)
    on_lan |= exchanges.find(addrs) >= 0
    origin = origins(addrs, prefixes, asn, special, on_lan)
    return mapped_share(addrs, origin, special, on_lan, prefixes, exchanges)


def test_every_address_that_answered_counts_once_outvoted_and_looping_ones_too(tmp_path):
    share = infer(tmp_path, f"{A} {B},{B},{DARK} {C} {A} {DARKER}", f"{A} {C}").mapped
    assert (share.n_addrs, share.n_mapped, share.n_in_as) == (5, 3, 3)
    assert share.largest == (("20.0.0.0/24", 2),)
    assert (share.n_unrouted, share.n_unrouted_v6, share.special) == (2, 0, ())


def test_the_lan_of_an_exchange_point_is_mapped_to_no_as(tmp_path):
    share = share_of(tmp_path, [A, B, DARK, DARKER], lan=(B, DARK))
    assert (share.n_addrs, share.n_mapped, share.n_in_as, share.n_unrouted) == (4, 3, 1, 1)
    assert share.largest == (("20.0.0.0/24", 1),)
    assert share.n_in_no_table == 0
    special = share_of(tmp_path, [A, "10.0.0.1"], lan=("10.0.0.1",))  # not admitted: not mapped
    assert (special.n_mapped, special.private) == (1, (("10.0.0.0/8", 1),))


@pytest.mark.parametrize(
    ("listed", "on_lan", "on_wide", "beside"),
    [
        ("20.0.0.0/24", 2, 0, 0),  # as it is
        ("20.0.0.0/28", 1, 0, 1),  # the other address is just outside
        ("20.0.0.0/29", 0, 0, 1),  # 20.0.0.10 is in the other half, 20.0.0.20 is not
        ("20.0.0.0/20", 2, 0, 0),
        ("20.0.0.0/19", 2, 2, 0),  # no LAN is that wide
        ("20.0.1.0/24", 0, 0, 2),
        ("20.0.2.0/24", 0, 0, 0),
    ],
)
def test_lans_that_are_listed_too_wide_or_too_narrow_are_recognised(
    tmp_path, listed, on_lan, on_wide, beside
):
    share = share_of(tmp_path, [A, DARK, DARKER], ixp=[listed])
    assert (share.n_on_lan, share.n_on_wide_lan, share.n_beside_lan) == (on_lan, on_wide, beside)
    assert share.n_unrouted == 2 - on_lan - beside


def test_addresses_of_an_as_beside_a_lan_are_its_own(tmp_path):
    assert share_of(tmp_path, [A, "20.1.1.1"], ixp=["20.1.1.0/24"]).n_beside_lan == 0


def test_the_share_is_counted_before_the_election(tmp_path):
    topology = infer(tmp_path, f"{A} {DARK} {B}", f"{B} {DARK} {A}", borders="elected")
    assert topology.counts["n_unmapped"] == 0  # in the AS around it
    assert topology.counts["n_addrs"] == 3
    assert topology.counts["n_addrs_mapped"] == 2
    assert topology.counts["n_addrs_in_no_table"] == 0


def test_special_addresses_are_reported_by_the_range_to_admit(tmp_path):
    texts = ["198.18.0.1", "198.18.0.2", "198.19.0.1", "192.0.2.1", "2001:db8::1", A]
    share = share_of(tmp_path, texts)
    assert (share.n_addrs, share.n_mapped) == (6, 1)
    assert dict(share.special) == {"198.18.0.0/15": 3, "192.0.2.0/24": 1, "2001:db8::/32": 1}
    assert share.special[0] == ("198.18.0.0/15", 3)
    assert share.largest[0] == ("198.18.0.0/24", 2)
    assert ("2001:db8::/48", 1) in share.largest
    admitted = {text: share_of(tmp_path, texts, allow=[text]) for text, _ in share.special}
    for text, n in share.special:  # everything that is advised does help
        assert admitted[text].n_mapped == 1 + n
        assert text not in dict(admitted[text].special)


def test_private_addresses_are_unmapped_and_counted_apart(tmp_path):
    texts = ["10.0.0.1", "10.9.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "169.254.0.1"]
    texts += ["fc00::1", "fd00::1", "fe80::1", DARK, A]
    share = share_of(tmp_path, texts)
    assert (share.n_addrs, share.n_mapped, share.n_unrouted, share.special) == (11, 1, 1, ())
    assert dict(share.private) == dict.fromkeys(PRIVATE, 1) | {"10.0.0.0/8": 2, "fc00::/7": 2}
    assert share.private[0] == ("10.0.0.0/8", 2)
    assert share.largest == (("20.0.0.0/24", 1),)  # no table lacks private ones
    admitted = share_of(tmp_path, texts, allow=["10.0.0.0/8"])  # its lines are missing then
    assert "10.0.0.0/8" not in dict(admitted.private)
    assert (admitted.n_in_no_table, admitted.largest[0]) == (2, ("10.0.0.0/24", 1))


def test_ranges_that_no_router_is_in_are_told_apart(tmp_path):
    never = ["0.0.0.0", "127.0.0.1", "224.0.0.5", "255.255.255.255", "::1", "100::1", "ff02::5"]
    share = share_of(tmp_path, [*never, "192.0.2.1", "240.0.0.1", A])
    assert dict(share.special) == {"192.0.2.0/24": 1, "240.0.0.0/4": 1}
    assert dict(share.of_no_router) == dict.fromkeys(OF_NO_ROUTER, 1)
    assert (share.n_addrs, share.n_mapped, share.n_unrouted) == (10, 1, 0)


def test_an_admitted_range_without_a_prefix_is_mapped_but_in_no_as(tmp_path):
    share = share_of(tmp_path, ["10.0.0.1", A, DARK], allow=["10.0.0.0/8", "20.0.0.0/16"])
    assert (share.n_addrs, share.n_mapped, share.n_in_as, share.n_in_no_table) == (3, 2, 1, 1)
    assert share.n_unrouted == 1  # an admitted range that is not special maps nothing


def test_with_one_as_for_all_only_special_addresses_are_unmapped(tmp_path):
    share = share_of(tmp_path, ["10.0.0.1", A, DARK], asn=5)
    assert (share.n_mapped, share.n_unrouted, share.private) == (2, 0, (("10.0.0.0/8", 1),))


def test_unmapped_prefixes_are_the_largest_of_both_families(tmp_path):
    texts = [f"20.0.{i}.{j}" for i in range(8) for j in range(i + 1)]
    texts += [f"2600:1:2:{i}::1" for i in range(20)]
    share = share_of(tmp_path, texts)
    assert share.largest[0] == ("2600:1:2::/48", 20)
    assert share.largest[1:] == tuple((f"20.0.{i}.0/24", i + 1) for i in (7, 6, 5, 4))
    assert (share.n_unrouted, share.n_unrouted_v6) == (56, 20)


def test_a_table_that_has_prefixes_of_ipv6_is_told_from_one_that_has_none(tmp_path):
    for text, has_v6 in (("20.1.0.0 16 1\n", False), ("2a10:2:: 32 2\n", True)):
        prefixes = prefix_table(tmp_path, text)
        share = infer(tmp_path, f"{A} 2a10:1::1 2a10:2::1", prefixes=prefixes).mapped
        assert share.has_v6_table == has_v6


def test_addresses_of_several_files_count_once(tmp_path):
    seen = [observe(tmp_path, traces(f"{A} {DARK}")), observe(tmp_path, traces(f"{DARK} {B}"))]
    share = infer_topology(seen, prefixes=prefix_table(tmp_path)).mapped
    assert (share.n_addrs, share.n_mapped) == (3, 2)


def test_no_address_is_no_share(tmp_path):
    share = share_of(tmp_path, [])
    assert (share.n_addrs, share.n_mapped, share.largest) == (0, 0, ())
    assert is_special(np.empty((0, 2), np.uint64)).shape == (0,)


@pytest.mark.parametrize(
    ("n", "n_mapped", "percent"), [(3, 3, "100.0"), (100_000, 99_999, "99.9"), (3, 0, "0.0")]
)
def test_a_share_is_never_rounded_up_to_all(n, n_mapped, percent):
    assert f"({percent} %)" in mapped_text(n, n_mapped)


def test_one_address_is_not_several():
    assert mapped_text(1, 0).startswith("0 of 1 address mapped")

"""Special-purpose ranges."""

import pytest

from pipeline.errors import UsageError
from pipeline.infer.owners.special import is_special
from tests.addresses import parse_addrs

SPECIAL = [
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "169.254.1.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.255.255",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "100::1",
    "64:ff9b:1::1",
    "2001:2::1",
    "2001:db8::1",
    "2002::1",
    "3fff::1",
    "4000::1",
    "fc00::1",
    "fdff::1",
    "fe80::1",
    "ff02::1",
    "5f00::1",
]
PUBLIC = [
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2000::1",
    "2001:200::1",
    "2001:db7::1",
    "2001:db9::1",
    "2003::1",
    "2600::1",
    "3ffe::1",
]


@pytest.mark.parametrize("addr", SPECIAL)
def test_a_special_purpose_address_is_recognized(addr):
    assert is_special(parse_addrs([addr])).tolist() == [True]


@pytest.mark.parametrize("addr", PUBLIC)
def test_a_public_address_is_not_special(addr):
    assert is_special(parse_addrs([addr])).tolist() == [False]


def test_an_allowed_range_counts_as_public_and_no_other():
    addrs = parse_addrs(["198.18.0.1", "198.19.0.1", "10.0.0.1", "2001:db8::1", "fe80::1"])
    allowed = is_special(addrs, ["198.18.0.0/16", "2001:db8::/32"])
    assert allowed.tolist() == [False, True, True, False, True]


@pytest.mark.parametrize("text", ["198.18.0.0/33", "lab", "198.18.0.1/15", ""])
def test_an_invalid_prefix_is_named(text):
    with pytest.raises(UsageError, match="not an address prefix"):
        is_special(parse_addrs(["10.0.0.1"]), [text])

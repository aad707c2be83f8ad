"""A truth that others wrote: what is read of it, and what is said of a broken one."""

import gzip
import json

import pytest

from pipeline.errors import FormatError
from pipeline.judge import load_truth

NETWORK = {
    "asn_of": {"a": 1, "b": 2, "h": 1},
    "loopback": {"a": "20.1.0.1"},
    "hosts": {"h": {"gw": "a", "gw_addr": "20.1.0.9"}},
    "links": [
        {"u": "a", "v": "b", "u_addr": "20.1.0.2", "v_addr": "2001:DB8::2"},
        {"u": "a", "v": "h", "u_addr": "20.1.0.5", "v_addr": "20.1.0.6"},
    ],
    "ixps": [{"members": {"b": "20.9.0.1"}}],
    "relationships": [[1, 2, -1]],
    "organisations": {"1": "x"},
}


def test_routers_addresses_and_links_are_read(tmp_path):
    path = tmp_path / "ground_truth.json"
    path.write_bytes(gzip.compress(json.dumps(NETWORK).encode()))
    truth = load_truth(tmp_path)
    assert truth.asn_of == {"a": 1, "b": 2}
    assert truth.router_of == {
        "20.1.0.1": "a",
        "20.1.0.2": "a",
        "20.1.0.5": "a",
        "20.1.0.9": "a",
        "2001:db8::2": "b",
        "20.9.0.1": "b",
    }
    assert truth.links == {frozenset("ab")}
    assert truth.neighbor_asns == {"a": {2}, "b": {1}}
    assert (truth.relationships, truth.organisations) == ({(1, 2): -1}, {1: "x"})
    assert (truth.n_exchanges, truth.is_whole, truth.has_links) == (1, True, True)
    assert load_truth(path) == truth


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"asn_of": {"a": -1}}, "-1 is not an AS number"),
        ({"asn_of": {"a": True}}, "True is not an AS number"),
        ({"asn_of": []}, "asn_of is not an object"),
        ({"asn_of": {"a": 1}}, "asn_of has no router 'b'"),
        ({"links": {}}, "links is not a list"),
        ({"links": [7]}, "is not a network"),
        ({"links": [{"u": "a"}]}, "'v' is missing"),
        ({"links": [{"u": ["a"], "v": "b"}]}, "is not a network"),
        ({"loopback": {"a": "x" * 999}}, f"'{'x' * 59}... is not an address"),
        ({"loopback": {"a": 7}}, "7 is not an address"),
        ({"loopback": {"z": "20.1.0.1"}}, "asn_of has no router 'z', which has '20.1.0.1'"),
        ({"hosts": {"h": None}}, "is not a network"),
        ({"relationships": [[1, 2, 5]]}, "5 is not a relationship"),
        ({"relationships": [[1]]}, "is not a network"),
        ({"organisations": {"x": 1}}, "is not a network"),
        ({"plan": {"name": "x"}}, "'seed' is missing"),
    ],
)
def test_what_is_broken_is_named(tmp_path, change, said):
    (tmp_path / "ground_truth.json").write_text(json.dumps(NETWORK | change))
    with pytest.raises(FormatError) as error:
        load_truth(tmp_path)
    assert said in str(error.value)
    assert "ground_truth.json" in str(error.value)


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 9000 + "]" * 9000, "[]", "{}", '{"links": []}', "\ud800"]
)
def test_what_is_no_network_is_no_truth(tmp_path, text):
    (tmp_path / "ground_truth.json").write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(FormatError):
        load_truth(tmp_path)


def test_a_folder_without_a_truth_is_none(tmp_path):
    with pytest.raises(FormatError, match="nothing is known to be true"):
        load_truth(tmp_path)
    with pytest.raises(FormatError, match="cannot be opened"):
        load_truth(tmp_path / "truth.json")

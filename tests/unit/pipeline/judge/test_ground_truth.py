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
        ({"asn_of": {"a": -1}}, "asn_of.a: -1 is not an AS number"),
        ({"asn_of": {"a": True}}, "asn_of.a: true is not an AS number"),
        ({"asn_of": {"a": "64496"}}, 'asn_of.a: "64496" is not an AS number'),
        ({"asn_of": {"a": 1.5}}, "asn_of.a: 1.5 is not an AS number"),
        ({"asn_of": {"a": 2**32}}, "asn_of.a: 4294967296 is not an AS number, 0 to 4294967295"),
        ({"asn_of": []}, "asn_of: [] is not an object"),
        ({"asn_of": {}}, "asn_of: has no router"),
        ({"asn_of": {"a": 1}}, 'links[0].v_addr: router "b" is not in asn_of'),
        ({"links": {}}, "links: {} is not a list"),
        ({"links": [7]}, "links[0]: 7 is not an object"),
        ({"links": [NETWORK["links"][0], None]}, "links[1]: null is not an object"),
        ({"links": [{"u": "a"}]}, "links[0]: v is missing"),
        ({"links": [{"u": ["a"], "v": "b"}]}, "links[0].u: a list is not a text"),
        ({"links": [{"u": "a", "v": "z"}]}, 'links[0]: router "z" is not in asn_of'),
        ({"links": [{"u": "a", "v": "b", "u_addr": None}]}, "links[0].u_addr: null is not an add"),
        ({"loopback": {"a": "x" * 999}}, f'loopback.a: "{"x" * 59}... is not an address'),
        ({"loopback": {"a": 7}}, "loopback.a: 7 is not an address"),
        ({"loopback": {"a": "fe80::1%eth0"}}, 'loopback.a: "fe80::1%eth0" is not an address'),
        ({"loopback": {"z": "20.1.0.1"}}, 'loopback.z: router "z" is not in asn_of'),
        ({"loopback": {"\x1b[1mz\u202e": "20.1.0.1"}}, 'router "\\u001b[1mz\\u202e" is not in'),
        ({"loopback": {"z" * 999: "20.1.0.1"}}, f'loopback.{"z" * 60}...: router "{"z" * 59}...'),
        ({"hosts": []}, "hosts: [] is not an object"),
        ({"hosts": {"h": None}}, "hosts.h: null is not an object"),
        ({"hosts": {"h": {"gw_addr": "20.1.0.9"}}}, "hosts.h: gw is missing"),
        ({"ixps": [7]}, "ixps[0]: 7 is not an object"),
        ({"ixps": [{"lan": "20.9.0.0/24"}]}, "ixps[0]: members is missing"),
        ({"ixps": [{"members": {"b": ""}}]}, 'ixps[0].members.b: "" is not an address'),
        ({"relationships": [[1, 2, 5]]}, "relationships[0]: 5 is not a relationship, -1 or 0"),
        ({"relationships": [[1, 2, [0]]]}, "relationships[0]: a list is not a relationship"),
        ({"relationships": [[1, 2, 0], [1]]}, "relationships[1]: a list is not [AS, AS, -1 or 0]"),
        ({"relationships": [["x", 2, 0]]}, 'relationships[0]: "x" is not an AS number'),
        ({"organisations": {"x": 1}}, 'organisations: "x" is not an AS number'),
        ({"plan": 7}, "plan: 7 is not an object"),
        ({"links": [], "loopback": {}, "hosts": {}, "ixps": []}, "no router has an address"),
    ],
)
def test_what_is_broken_is_named(tmp_path, change, said):
    path = tmp_path / "ground_truth.json"
    path.write_text(json.dumps(NETWORK | change))
    with pytest.raises(FormatError) as error:
        load_truth(tmp_path)
    text = str(error.value)
    assert text.startswith(f"{path}: ")
    assert said in text
    assert text.endswith("needs asn_of (AS of each router) and links (u, v, u_addr, v_addr)")
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize(
    ("change", "plan"),
    [({}, ""), ({"plan": {"name": "x", "seed": 7}}, "x, seed 7"), ({"plan": {"name": "x"}}, "x")],
)
def test_a_plan_names_the_network(tmp_path, change, plan):
    (tmp_path / "ground_truth.json").write_text(json.dumps(NETWORK | change))
    assert load_truth(tmp_path).plan == plan


def test_a_link_of_a_router_with_itself_is_none(tmp_path):
    links = [*NETWORK["links"], {"u": "a", "v": "a", "u_addr": "20.1.0.7", "v_addr": "20.1.0.8"}]
    (tmp_path / "ground_truth.json").write_text(json.dumps(NETWORK | {"links": links}))
    truth = load_truth(tmp_path)
    assert truth.links == {frozenset("ab")}
    assert (truth.router_of["20.1.0.7"], truth.router_of["20.1.0.8"]) == ("a", "a")


def test_a_file_that_is_cut_is_named_with_its_size(tmp_path):
    path = tmp_path / "ground_truth.json"
    path.write_text(json.dumps(NETWORK)[:-9])
    with pytest.raises(FormatError, match=r"not JSON, or cut short after \d+ bytes: .* line 1"):
        load_truth(path)
    path.write_bytes(gzip.compress(json.dumps(NETWORK).encode())[:-30])
    with pytest.raises(FormatError, match=r"cut short: the gzip data stop before their end"):
        load_truth(path)


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

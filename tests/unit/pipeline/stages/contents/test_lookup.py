"""Where an address is, by command."""

from __future__ import annotations

import json

import pytest

from pipeline.config import LookupConfig
from pipeline.errors import UsageError
from pipeline.stages.contents.lookup import lookup
from pipeline.terminal.contents import print_lookup
from tests.unit.pipeline.stages.contents.test_snapshots import said
from tests.unit.pipeline.stages.small_store import A, X, Y, make_store


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("small"))


def test_an_address_is_found_with_its_as_and_role(store):
    facts = lookup(LookupConfig(X, store))
    (row,) = facts["found"]
    assert (row["asn"], row["node"], row["node_kind"], row["role"]) == (
        2,
        0,
        "interface",
        "ingress",
    )
    assert row["addrs"] == [X]
    assert (facts["snapshot"], facts["n_found"]) == ("night", 1)


@pytest.mark.parametrize("prefix", ["20.2.0.0/16", "20.2.9.9/16"])
def test_a_prefix_finds_every_address_of_it(store, prefix):
    facts = lookup(LookupConfig(prefix, store))
    assert [row["addr"] for row in facts["found"]] == [X, Y]


@pytest.mark.parametrize("prefix", ["::/0", "::/80", "::/64"])
def test_a_prefix_of_ipv6_finds_no_ipv4(store, prefix):
    with pytest.raises(UsageError, match="is in no AS"):
        lookup(LookupConfig(prefix, store))
    assert lookup(LookupConfig("::ffff:20.2.0.0/112", store))["n_found"] == 2


def test_more_than_are_told_are_counted(store, monkeypatch):
    monkeypatch.setattr("pipeline.stages.contents.lookup.MAX_FOUND", 2)
    facts = lookup(LookupConfig("20.0.0.0/8", store))
    assert (facts["n_found"], len(facts["found"])) == (6, 2)


def test_an_address_of_no_node_is_said_in_one_line(store, capsys):
    with pytest.raises(UsageError, match=r"20\.2\.0\.11 is in no AS of snapshot night"):
        lookup(LookupConfig("20.2.0.11", store))
    for words in ("20.2.0.11", "20.2.0", "2001:db8::1", "", "\x1b[2J"):
        status, out, err = said(capsys, "lookup", words, "--store", store)
        assert (status, out, err.count("\n"), "\x1b" in err) == (2, "", 1, False)


def test_lines_and_json_say_the_same(store, capsys):
    status, out, _ = said(capsys, "lookup", A, "--store", store)
    first, why = out.splitlines()
    assert (status, first) == (0, f"{A}: interface 0 of AS1, an ingress")
    assert f"`hopscope why {A} --snapshot night --store {store}`" in why
    (row,) = lookup(LookupConfig(A, store))["found"]
    print_lookup({"n_found": 1, "found": [row | {"confidence": 0.75}]})
    assert capsys.readouterr().out == f"{A}: interface 0 of AS1 (AS confidence 0.75), an ingress\n"
    print_lookup({"n_found": 1, "found": [row | {"confidence": 0.998}]})
    assert "(AS confidence 0.99)" in capsys.readouterr().out  # never rounded to certainty
    print_lookup({"n_found": 2, "found": [row | {"confidence": 0.998}, row | {"confidence": 0.1}]})
    said_of_two = capsys.readouterr().out
    assert "0.99" in said_of_two
    assert "0.10" in said_of_two
    status, out, _ = said(capsys, "lookup", A, "--store", store, "--json")
    assert json.loads(out)["found"][0]["asn"] == 1
    assert "AS2 <b>Two\ufffd" in said(capsys, "lookup", "20.0.0.0/8", "--store", store)[1]

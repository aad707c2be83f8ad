"""ASes that host names say: numbers, words, and of which addresses."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pipeline.model.measured.host_names import HostNames
from pipeline.model.tables.named_owners import NamedOwners, NameRule, NameRules, words_of_ases
from tests.addresses import parse_addrs

ADDRS = ["9.9.9.1", "9.9.9.2", "9.9.9.3", "9.9.9.4"]
RULES = NameRules({"x.net": NameRule((re.compile(r"^([a-z0-9-]+)\."),), 9, 0)})


def named(*names: str, words=None) -> NamedOwners:
    of_hosts = HostNames(parse_addrs(ADDRS[: len(names)]), np.array(names, object))
    return NamedOwners.read(of_hosts, RULES, words or {})


@pytest.mark.parametrize("said", ["0", "23456", "4294967296", "99999999999", "one-two"])
def test_what_is_no_number_of_an_as_says_nothing(said):
    assert not len(named(f"{said}.x.net").asn)


def test_words_are_looked_up_among_names_of_ases():
    words = words_of_ases({1: "EXAMPLE-NET-AS Example Ltd", 2: "OTHER, US"}, {2: "as-other"})
    assert words["example"] == words["examplenet"] == words["examplenetas"] == [1]
    assert words["other"] == [2]
    assert "as" not in words
    assert named("example-net.x.net", words=words).asn.tolist() == [1]


def test_of_several_ases_of_a_word_one_that_is_known_counts_and_of_several_none():
    words = {"word": [1, 2]}
    known = named("word.x.net", "7.x.net", "7.x.net", "8.x.net", words=words)
    addrs = parse_addrs(ADDRS)
    at, asn, nats, name = known.find(addrs, np.array([2, 7]))
    assert at.tolist() == [0, 1, 2]
    assert asn.tolist() == [2, 7, 7]
    assert nats == pytest.approx(np.log(10))
    assert name[1] == name[2] != name[0]
    assert known.find(addrs, np.array([1, 2]))[0].tolist() == []
    assert known.find(addrs[1:3], np.array([7]))[0].tolist() == [0, 1]

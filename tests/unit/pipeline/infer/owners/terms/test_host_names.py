"""Host names as evidence of owners: what they settle, and what they do not outweigh."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pipeline.infer import Registries
from pipeline.infer.owners.terms.host_names import TERM
from pipeline.model.addresses import sort_addrs
from pipeline.model.measured.host_names import HostNames
from pipeline.model.tables.named_owners import NamedOwners, NameRule, NameRules
from tests.addresses import parse_addrs
from tests.oracles.truth.scores import infer_lab, score
from tests.oracles.truth.sources import drawn
from tests.unit.pipeline.infer.handmade import asn_of, infer

# A router behind AS 1 of which nothing is known but its address, which is from there.
END = "20.1.9.2"
LINES = [f"20.1.0.1 20.1.0.5 {END}", "20.2.0.1 20.2.0.5 20.2.0.9 20.1.9.1 20.1.0.1"]

INSIDE = [f"20.1.0.1 20.1.0.5 {addr}" for addr in ("20.1.0.9", "20.1.0.13", "20.1.0.17")]


def named(right: int = 99, wrong: int = 3, **names: str) -> Registries:
    """What names of addresses, written with underscores, say by a rule for all of them."""
    addrs = parse_addrs([addr.strip("a").replace("_", ".") for addr in names])
    order = sort_addrs(addrs)
    of_hosts = HostNames(addrs[order], np.array([*names.values()], object)[order])
    rules = NameRules({"x.net": NameRule((re.compile(r"^as(\d+)\."),), right, wrong)})
    return Registries(named=NamedOwners.read(of_hosts, rules, {}))


def elected(tmp_path, registries, **more) -> int:
    return asn_of(infer(tmp_path, *LINES, borders="elected", registries=registries, **more))[END]


def test_a_name_settles_what_nothing_else_shows(tmp_path):
    assert elected(tmp_path, Registries()) == 1
    registries = named(a20_1_9_2="as2.x.net")
    assert elected(tmp_path, registries) == 2
    assert elected(tmp_path, registries, without=[TERM.name]) == 1


@pytest.mark.parametrize("name", ["as9999.x.net", "as2.y.net", "fra1.x.net"])
def test_names_of_ases_that_nothing_else_names_and_of_other_domains_say_nothing(tmp_path, name):
    assert elected(tmp_path, named(a20_1_9_2=name)) == 1


@pytest.mark.parametrize("counts", [(9, 5), (10**6, 0)])
def test_one_name_does_not_outweigh_what_several_links_show(tmp_path, counts):
    registries = named(*counts, a20_1_0_5="as2.x.net")
    topology = infer(tmp_path, *LINES, *INSIDE, borders="elected", registries=registries)
    assert asn_of(topology)["20.1.0.5"] == 1


def test_stale_names_do_not_harm_a_network():
    with drawn("realistic", 100, "stale_names=0.1").open() as lab:
        assert lab.registries.named is not None
        plain, with_names = (
            score(infer_lab(lab, registries=known), lab.truth, lab.observations, lab.visible)
            for known in ((), ("named",))
        )
    assert with_names.addrs_right > plain.addrs_right
    assert with_names.ingress_precision > plain.ingress_precision
    assert with_names.border_recall >= plain.border_recall

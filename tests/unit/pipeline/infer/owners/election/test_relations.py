"""What registries say, as evidence for owners: on small examples."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.infer import Registries
from pipeline.infer.owners.election.relations import NOTHING, relation, relations_among
from pipeline.ingest.tables import read_delegations, read_organisations, read_relationships
from pipeline.model.measured.reading import ReadReport
from pipeline.model.relations import CUSTOMER, PEER, PROVIDER, SIBLING, UNRELATED
from pipeline.model.topology import NO_ASN
from tests.tables import table_of_file
from tests.unit.pipeline.infer.handmade import alias_sets, asn_of, infer
from tests.unit.pipeline.infer.owners.election.test_lending import INSIDE, LINES
from tests.unit.pipeline.infer.owners.test_unannounced import BORDER, INNER, UNANNOUNCED

# One link on either side: the router in the middle is in AS 1 or in AS 2.
TIE = ["20.1.0.1 20.1.0.5 20.1.9.2 20.2.0.18 20.2.0.26"]
MIDDLE = "20.1.9.2"


@pytest.fixture
def read(tmp_path):
    def registries(relationships="", organisations="", delegations=""):
        found = []
        for text, reader in (
            (relationships, read_relationships),
            (organisations, read_organisations),
            (delegations, lambda blocks, report: read_delegations([blocks], [report])),
        ):
            path = tmp_path / "table"
            path.write_text(text)
            report = ReadReport(str(path))
            found.append(table_of_file(reader, path, report) if text else None)
        return Registries(*found)

    return registries


@pytest.mark.parametrize(("provider", "customer", "owner"), [(1, 2, 2), (2, 1, 1)])
def test_a_provider_numbers_the_link_to_its_customer(tmp_path, read, provider, customer, owner):
    known = read(f"{provider}|{customer}|-1\n")
    found = infer(tmp_path, *TIE, borders="elected", registries=known)
    assert asn_of(found)[MIDDLE] == owner


def test_inner_links_may_be_numbered_from_a_sibling(tmp_path, read):
    # AS 7 has its inner links from AS 2: as strangers the routers between are taken for AS 2's.
    lines = [
        "20.7.0.1 20.2.0.2 20.2.0.6 20.7.0.9",
        "20.7.0.1 20.2.0.2 20.2.0.6 20.7.0.13",
        "20.7.0.1 20.2.0.2 20.7.0.17",
        "20.7.0.1 20.2.0.2 20.7.0.21",
    ]
    inside = "20.2.0.2"
    assert asn_of(infer(tmp_path, *lines, borders="elected"))[inside] == 2
    known = read(organisations="2 a\n7 a\n")
    found = asn_of(infer(tmp_path, *lines, borders="elected", registries=known))
    assert found[inside] == 7


def test_the_only_as_aimed_at_settles_between_siblings_of_a_known_router_too(tmp_path, read):
    # Behind a router of AS 2 one known by a single address, then one of AS 7; all links are
    # numbered from AS 2, and what passes both was aimed at AS 7.
    middle = "20.2.0.6"
    lines = [
        *(f"20.2.0.33 20.2.0.2 {middle} 20.2.0.10 20.7.0.{i} > 20.7.{i}.8" for i in (9, 14, 18)),
        *(f"20.2.0.37 20.2.0.2 20.2.0.{i} > 20.2.{i}.8" for i in (41, 46, 50)),
    ]
    known = alias_sets([middle], ["20.2.0.2"], ["20.2.0.10"])
    options = {"borders": "elected", "aliases": known}
    found = asn_of(infer(tmp_path, *lines, **options))
    assert (found["20.2.0.2"], found[middle], found["20.2.0.10"]) == (2, 2, 7)
    options["registries"] = read(organisations="2 a\n7 a\n")
    found = asn_of(infer(tmp_path, *lines, **options))
    assert (found["20.2.0.2"], found[middle], found["20.2.0.10"]) == (2, 7, 7)


@pytest.mark.parametrize(
    ("relationships", "owner"),
    [("1|2|-1\n", 2), ("2|1|-1\n", 1), ("1|2|0\n", 1)],
)
def test_addresses_are_lent_by_a_provider(tmp_path, read, relationships, owner):
    # Else the paths that come back to AS 1 behind AS 2 would tell more.
    options = {"registries": read(relationships), "without": ["loops"]}
    found = asn_of(infer(tmp_path, *LINES, borders="elected", **options))
    assert [found[addr] for addr in INSIDE[:-1]] == [owner] * 3


def test_a_router_that_numbers_a_link_to_a_customer_is_not_in_its_siblings_as(tmp_path, read):
    # AS 7 has its inner links from AS 2, but numbers the link to its customer AS 5 itself.
    edge = "20.2.0.6"
    lines = [
        *(f"20.2.0.{last} 20.2.0.1 {edge} 20.7.9.2 20.5.0.{last}" for last in (33, 37, 41)),
        *(f"20.2.0.1 20.2.0.{last}" for last in (14, 18, 22)),
    ]
    assert asn_of(infer(tmp_path, *lines, borders="elected"))[edge] == 7
    known = read(organisations="2 a\n7 a\n")
    found = asn_of(infer(tmp_path, *lines, borders="elected", registries=known))
    assert (found["20.2.0.1"], found[edge], found["20.7.9.2"]) == (2, 7, 5)


def test_the_holder_of_a_block_that_nobody_announces_owns_its_routers(tmp_path, read):
    text = "lab|ZZ|asn|5|1|2020|allocated|a\nlab|ZZ|ipv4|20.0.5.0|256|2020|allocated|a\n"
    found = asn_of(
        infer(tmp_path, *UNANNOUNCED, borders="elected", registries=read(delegations=text))
    )
    assert {found[addr] for addr in (BORDER, *INNER)} == {5}
    of_two = read(delegations=text + "lab|ZZ|asn|6|1|2020|allocated|a\n")
    found = asn_of(infer(tmp_path, *UNANNOUNCED, borders="elected", registries=of_two))
    assert {found[addr] for addr in (BORDER, *INNER)} == {NO_ASN}


def test_relations_of_rows_of_an_election(read):
    ases = np.array([1, 2, 3, 4, 5, 1 << 32])
    found = relations_among(ases, read("3|1|-1\n1|2|0\n9|4|-1\n4|3|-1\n", "3 a\n4 a\n6 a\n"))
    kinds = [relation(found, *rows) for rows in ((2, 0), (0, 2), (0, 1), (2, 3), (3, 2), (0, 3))]
    assert kinds == [PROVIDER, CUSTOMER, PEER, SIBLING, SIBLING, UNRELATED]
    assert {relation(found, 0, 4), relation(found, 5, 0), relation(found, 0, 6)} == {NOTHING}
    assert relation(relations_among(ases, read()), 2, 0) == NOTHING

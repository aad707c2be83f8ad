"""Relationships by the Internet's laws: near those of a real file, at its size."""

from __future__ import annotations

from random import Random

import pytest

from pipeline.generate.networks.ases import CUSTOMER, PEER, Ases, draw_ases
from pipeline.generate.networks.plan import MEASURED, make_plan, sized
from tests.oracles.as_relationships import REAL, SIZES, laws_of


@pytest.fixture(scope="module")
def ases() -> Ases:
    return draw_ases(sized(make_plan(MEASURED, 1), 39_406), Random(1))


def test_customers_and_cones_fall_as_in_the_internet(ases: Ases) -> None:
    laws = laws_of((*pair, kind) for pair, kind in ases.relationship.items())
    for name, least in (("customers", 0.75), ("cones", 0.8)):
        sizes = SIZES[: len(REAL[name])]
        for size, real in zip(sizes, REAL[name], strict=True):
            assert least < laws[name][size] / real < 1.35, (name, size)
    assert laws["providers"][2] == pytest.approx(REAL["providers"][1], abs=0.03)
    assert 0.7 < laws["peers"][100] / 0.0031 < 1.5


def test_nobody_is_above_itself_and_only_tier_1_has_no_provider(ases: Ases) -> None:
    place = {asn: at for at, asn in enumerate(ases.of("tier1", "transit", "regional"))}
    for (one, other), kind in ases.relationship.items():
        if kind == CUSTOMER and other in place:
            assert place[one] < place[other]
    tier1 = ases.of("tier1")
    assert {asn for asn in ases.tier if not ases.providers[asn]} == set(tier1)
    assert all(ases.between(a, b) == PEER for a in tier1 for b in tier1 if a != b)


@pytest.mark.parametrize("n_ases", [12, 50, 300, 4000])
def test_a_kind_of_any_size_has_as_many_ases_as_were_wanted(n_ases: int) -> None:
    for kind in (MEASURED, "plain", "brite", "big"):
        plan = sized(make_plan(kind, 1), n_ases)
        assert len(draw_ases(plan, Random(1)).tier) == n_ases


def test_fewer_ases_than_tiers_are_refused() -> None:
    with pytest.raises(ValueError, match="2 ASes of kind plain"):
        sized(make_plan("plain", 1), 2)

"""Places that the speed of light forbids, of routers at known distances."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.graphs import build_graphs
from pipeline.graphs.light import check_light
from pipeline.model.addresses import sort_addrs
from pipeline.model.measured.locations import (
    RTT_MS_PER_KM,
    SAME_PLACE_KM,
    Locations,
    distance_km,
)
from tests.addresses import format_addrs, parse_addrs
from tests.unit.pipeline.infer.handmade import VANTAGE, infer

A, X, Y = "20.1.0.10", "20.2.0.10", "20.2.0.20"
PARIS, SYDNEY = (48.86, 2.35), (-33.87, 151.21)


def checked(folder, line: str, places: dict[str, tuple[float, float]]) -> dict[str, tuple]:
    """(smallest RTT, km, impossible) of each place that was checked."""
    addrs = parse_addrs(list(places))
    order = sort_addrs(addrs)
    degrees = np.array(list(places.values()))[order]
    none = np.full(len(places), None, object)
    given = Locations.unchecked(addrs[order], degrees[:, 0], degrees[:, 1], none, none)
    found = check_light(given, build_graphs([infer(folder, *line.split("|"))]))
    columns = (found.rtt_ms.tolist(), found.far_km.tolist(), found.is_impossible.tolist())
    rows = zip(format_addrs(found.addr), zip(*columns, strict=True), found.is_checked, strict=True)
    return {addr: row for addr, row, is_checked in rows if is_checked}


def test_distances_are_great_circles():
    assert distance_km(*PARIS, *SYDNEY) == pytest.approx(16_960, rel=0.005)
    assert distance_km(0, 179.5, 0, -179.5) == pytest.approx(111.2, rel=0.001)
    assert distance_km(90, 0, -90, 0) == pytest.approx(np.pi * 6371)
    assert pytest.approx(0.01, rel=0.01) == RTT_MS_PER_KM  # 100 km cost 1 ms there and back


def test_a_router_that_answers_sooner_than_light_comes_back_is_not_there(tmp_path):
    places = {VANTAGE: PARIS, A: PARIS, X: SYDNEY, Y: SYDNEY}
    found = checked(tmp_path, f"{A}/1 {X}/90 {Y}/400|{A}/2 {X}/95", places)
    assert found[A] == (1.0, 0.0, False)
    rtt, km, impossible = found[X]
    assert (rtt, impossible) == (90.0, True)  # the smallest of all traces
    assert km == pytest.approx(16_960, rel=0.005)
    assert found[Y][0] == 400.0
    assert not found[Y][2]


def test_places_of_one_city_are_the_same(tmp_path):
    near = (48.86 + 0.9 * SAME_PLACE_KM / 111.2, 2.35)
    assert not checked(tmp_path, f"{A}/0.001 {X}/1", {VANTAGE: PARIS, A: near})[A][2]


@pytest.mark.parametrize(
    ("line", "places"),
    [
        (f"{A}/1 {X}/2", {X: SYDNEY, A: PARIS}),  # where the vantage point is, is not known
        (f"{A}/1 {X}/nan", {VANTAGE: PARIS, X: SYDNEY}),
    ],
)
def test_without_a_located_vantage_point_or_an_rtt_nothing_is_checked(tmp_path, line, places):
    assert checked(tmp_path, line, places) == {}

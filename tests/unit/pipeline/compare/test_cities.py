"""Cities that pairs no longer cross, on traces written by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pipeline.compare import Night, compare_nights
from pipeline.compare.night import FORBIDDEN, NO_CITY
from pipeline.model.addresses import format_addr
from pipeline.report.tables.changes import changes_table, events_table
from tests.unit.pipeline.compare.by_hand import ONE, THREE, TWO, night

# Two ways through Paris to AS3, of two ASes which have routers elsewhere, too.
IN_PARIS = ("20.2.0.1", "20.2.0.2", "20.4.0.1", "20.4.0.2")
BY_TWO, BY_FOUR = "20.1.0.1 20.2.0.1 20.2.0.2 20.3.0.5", "20.1.0.1 20.4.0.1 20.4.0.2 20.3.0.6"
AROUND = "20.1.0.1 20.1.0.2 20.2.0.8 20.4.0.8 20.4.0.9 20.3.0.1"
PARIS = dict.fromkeys(IN_PARIS, "Paris, FR")


def lines(*ways: str) -> dict[str, list[str]]:
    """Traces to eight hosts, by one way after the other in turn, and to others around Paris."""
    own = [f"{ways[i % len(ways)]} 20.3.1.{i}! > 20.3.1.{i}" for i in range(1, 9)]
    others = [f"{AROUND} 20.3.2.{i}! > 20.3.2.{i}" for i in range(1, 4)]
    return dict.fromkeys((ONE, TWO, THREE), own + others)


def placed(of: Night, places: dict[str, str | None]) -> Night:
    """A night whose routers stand in some cities; None: in one that light forbids."""
    names = sorted({name for name in places.values() if name})
    own = (places.get(format_addr(*each), "") for each in of.name_addr)
    code = [FORBIDDEN if name is None else names.index(name) if name else NO_CITY for name in own]
    return replace(of, city=np.array(code, np.int64), city_names=names)


def said(tmp_path, old, new, places=PARIS, later=PARIS) -> tuple[list[str], list[str], list[int]]:
    """Kinds, sentences and numbers of changes of events, in their order."""
    nights = [night(tmp_path / "old", old), night(tmp_path / "new", new)]
    for i, own in enumerate((places, later)):
        nights[i] = nights[i] if own is None else placed(nights[i], own)
    changes, events = compare_nights(*nights)
    texts = events_table(events, changes_table(changes), {}, "router").column("text").to_pylist()
    return events.kind.tolist(), texts, events.n_changes.tolist()


THROUGH, PAST = lines(BY_TWO, BY_FOUR), lines(AROUND)


def test_a_city_that_all_go_around_is_one_event_with_where_they_go(tmp_path):
    kinds, texts, n_changes = said(tmp_path, THROUGH, PAST)
    assert kinds == ["city lost"]
    assert texts[0].startswith(
        "Paris, FR is no longer crossed: 24 pairs crossed 4 routers there; 24 go another way now, "
        "most often by 20.1.0.2 of AS1"
    )
    assert n_changes[0] > 4  # its links and neighbours


def test_a_city_that_is_back_is_gained(tmp_path):
    kinds, texts, _ = said(tmp_path, PAST, THROUGH)
    assert kinds == ["city gained"]
    assert texts[0].startswith("Paris, FR is newly crossed: 24 pairs cross 4 routers there")


def test_targets_that_are_no_longer_reached_are_counted(tmp_path):
    ended = {v: [f"20.1.0.1 * * * > 20.3.1.{i}" for i in range(1, 9)] for v in PAST}
    new = {v: ended[v] + own[8:] for v, own in PAST.items()}
    kinds, texts, _ = said(tmp_path, THROUGH, new)
    assert kinds[0] == "city lost"
    assert "24 no longer reach their targets" in texts[0]


@pytest.mark.parametrize(("places", "later"), [(None, PARIS), (PARIS, None), (None, None)])
def test_without_places_on_both_nights_there_are_no_cities(tmp_path, places, later):
    kinds, _, _ = said(tmp_path, THROUGH, PAST, places, later)
    assert kinds
    assert "city lost" not in kinds


# A vantage point of the newer night alone sees that the routers are still there.
PAST_SEEN = PAST | {"20.5.0.1": [f"{way} > 20.3.1.1" for way in (BY_TWO, BY_FOUR)]}


@pytest.mark.parametrize("of_old", [True, False])
def test_places_that_light_forbids_on_either_night_do_not_count(tmp_path, of_old):
    forbidden = PARIS | dict.fromkeys(IN_PARIS[:2])
    both = (forbidden, PARIS) if of_old else (PARIS, forbidden)
    assert "city lost" not in said(tmp_path, THROUGH, PAST_SEEN, *both)[0]


def test_the_older_of_two_files_says_where_a_router_is(tmp_path):
    moved = dict.fromkeys(IN_PARIS, "Lyon, FR")
    assert said(tmp_path / "same", THROUGH, THROUGH, PARIS, moved)[0] == []
    kinds, texts, _ = said(tmp_path / "lost", THROUGH, PAST_SEEN, PARIS, moved)
    assert "city lost" in kinds
    assert texts[kinds.index("city lost")].startswith("Paris, FR")


def test_routers_of_one_as_are_no_city(tmp_path):
    own = dict.fromkeys((f"20.2.0.{i}" for i in range(1, 5)), "Paris, FR")
    ways = [f"20.1.0.1 20.2.0.{i} 20.2.0.{i + 2} 20.3.0.{i + 4}" for i in (1, 2)]
    still = [f"20.1.0.1 20.2.0.9 20.3.0.9 20.3.3.{i}! > 20.3.3.{i}" for i in range(1, 9)]
    old, new = ({v: own + still for v, own in lines(*each).items()} for each in (ways, [AROUND]))
    assert said(tmp_path, old, new, own, own)[0] == ["routers lost"]


def test_a_city_that_is_entered_by_one_router_is_no_outage_of_it(tmp_path):
    """It failed more likely than all of the city."""
    ways = [f"20.1.0.1 20.2.0.1 20.{asn}.0.2 20.3.0.1" for asn in (2, 4)]
    kinds, _, _ = said(tmp_path, lines(*ways), PAST)
    assert kinds
    assert "city lost" not in kinds


def test_a_city_behind_routers_that_are_gone_is_no_outage_of_it(tmp_path):
    """The cause lies before it, though no one router explains all."""
    ways = [f"20.1.0.1 20.5.0.{i} 20.{i}.0.1 20.{i}.0.2 20.3.0.{i}" for i in (2, 4)]
    by_five = [f"20.1.0.1 20.5.0.9 20.5.1.{i}! > 20.5.1.{i}" for i in range(1, 9)]
    old, new = ({v: own + by_five for v, own in lines(*each).items()} for each in (ways, [AROUND]))
    kinds, _, _ = said(tmp_path, old, new)
    assert kinds[0] == "routers lost"
    assert "city lost" not in kinds


def test_an_as_that_is_lost_everywhere_is_not_the_city_in_which_most_of_it_is(tmp_path):
    places = PARIS | {"20.5.0.1": "Paris, FR", "20.5.0.2": "Paris, FR"}
    ways = [f"20.1.0.1 20.5.0.{i} 20.4.0.{i} 20.3.0.1" for i in (1, 2)]
    kinds, _, _ = said(tmp_path, lines(*ways), PAST, places, places)
    assert kinds == ["AS lost"]


def test_most_routers_of_a_city_that_is_still_crossed_are_a_part_of_it(tmp_path):
    places = PARIS | {"20.2.0.8": "Paris, FR", "20.4.0.9": "Paris, FR"}
    kinds, texts, _ = said(tmp_path, THROUGH, PAST, places, places)
    assert kinds == ["city lost"]
    assert texts[0].startswith(
        "4 of 6 routers in Paris, FR are no longer crossed: 24 pairs crossed them"
    )


def test_few_routers_of_a_large_city_are_told_by_themselves(tmp_path):
    more = [f"20.1.0.1 20.{asn}.0.{i} 20.3.0.1" for asn in (2, 4) for i in (20, 21, 22)]
    others = [f"{way} 20.3.3.{i}! > 20.3.3.{i}" for i, way in enumerate(more * 4)]
    old, new = ({v: own + others for v, own in each.items()} for each in (THROUGH, PAST))
    places = PARIS | {f"20.{asn}.0.{i}": "Paris, FR" for asn in (2, 4) for i in (20, 21, 22)}
    kinds, _, _ = said(tmp_path, old, new, places, places)
    assert kinds
    assert "city lost" not in kinds

"""Old nights are removed; what was named, is in use or came last stays."""

from __future__ import annotations

import pytest

from pipeline.errors import StoreError
from pipeline.store import check_store, open_snapshot, snapshot_names
from pipeline.store.pointers.nights import is_night, nights_to_keep, remove_old_nights
from tests.unit.pipeline.store.snapshots import some_graphs, write

GRAPHS = some_graphs(n_ases=2, nodes_each=4)
DAYS = [f"2026-11-{day}" for day in (18, 19, 20, 21)]


def versions(store):
    return sorted(path.name.rpartition("-")[0] for path in (store / "versions").iterdir())


@pytest.fixture
def store(tmp_path):
    for name in [*DAYS, "lab"]:
        write(tmp_path, name, GRAPHS)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "expected"),
    [("2026-11-21", True), ("2026-02-30", False), ("lab", False), ("2026-11-21b", False)],
)
def test_a_night_has_a_date_as_its_name(name, expected):
    assert is_night(name) == expected


def test_the_last_nights_and_the_current_one_are_kept():
    assert nights_to_keep(["lab", *DAYS], 2, DAYS[-1]) == DAYS[-2:]
    assert nights_to_keep(DAYS, 2, DAYS[0]) == [DAYS[0], *DAYS[-2:]]
    assert nights_to_keep(DAYS, 9, "lab") == DAYS


def test_older_nights_go_with_their_versions_and_named_snapshots_stay(store):
    assert remove_old_nights(store, 2, DAYS[-1]) == DAYS[:2]
    assert sorted(snapshot_names(store)) == [*DAYS[2:], "lab"]
    assert versions(store) == [*DAYS[2:], "lab"]
    assert set(check_store(store).values()) == {""}
    assert remove_old_nights(store, 2, DAYS[-1]) == []


def test_a_night_in_use_can_be_read_to_its_end_and_is_removed_later(store):
    with open_snapshot(store, DAYS[0]) as snapshot:
        assert DAYS[0] in remove_old_nights(store, 2, DAYS[-1])
        snapshot.verify()
        assert DAYS[0] in versions(store)
    write(store, "later", GRAPHS)
    assert versions(store) == [*DAYS[2:], "lab", "later"]


def test_nothing_is_removed_while_a_pointer_is_broken(store):
    (store / "snapshots" / "lab.json").write_text("{")
    with pytest.raises(StoreError, match=r"lab\.json"):
        remove_old_nights(store, 2, DAYS[-1])
    assert versions(store) == [*DAYS, "lab"]

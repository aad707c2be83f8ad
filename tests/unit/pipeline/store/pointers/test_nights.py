"""Old nights are removed; what was named, is in use or came last stays."""

from __future__ import annotations

import pytest

from pipeline.errors import StoreError
from pipeline.store import check_store, open_snapshot, snapshot_names
from pipeline.store.pointers import nights
from pipeline.store.pointers.nights import (
    DefaultName,
    is_night,
    nights_to_keep,
    origin_of,
    remove_old_nights,
)
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
    [
        ("2026-11-21", True),
        ("2026-11-21T233000Z", True),
        ("2026-11-21T233000Z-2", True),
        ("2026-02-30", False),
        ("2026-11-21T243000Z", False),
        ("2026-11-21T2330", False),
        ("lab", False),
        ("2026-11-21b", False),
    ],
)
def test_a_night_has_a_date_as_its_name(name, expected):
    assert is_night(name) == expected


NIGHT_S = 1774827000.0  # 2026-03-29 23:30 UTC


def night_of(*hashes: str, asn: int | None = None, **more) -> dict:
    """Manifest entries of what was made of some files."""
    inputs = [{"holds": "traces", "sha256": each} for each in hashes]
    return {"inputs": inputs, "options": {"asn": asn} | more}


def named(store, made: dict, time_s: float = NIGHT_S) -> str:
    name = DefaultName(time_s, origin_of(made))
    return write(store, name, GRAPHS, **made).name.rpartition("-")[0]


def test_a_default_name_takes_no_other_nights_place(tmp_path):
    assert named(tmp_path, night_of("1"), NIGHT_S - 9e4 / 4) == "2026-03-29"
    assert named(tmp_path, night_of("2")) == "2026-03-29T233000Z"
    assert named(tmp_path, night_of("3")) == "2026-03-29T233000Z-2"
    assert named(tmp_path, night_of("3", "4")) == "2026-03-29T233000Z-3"
    assert named(tmp_path, night_of("3", asn=9)) == "2026-03-29T233000Z-4"
    assert named(tmp_path, night_of(command="ba")) == "2026-03-29T233000Z-5"
    assert named(tmp_path, {}) == "2026-03-29T233000Z-6"
    assert named(tmp_path, {}) == "2026-03-29T233000Z-7"  # of unknown origin, so maybe another one
    assert len(versions(tmp_path)) == 8


def test_the_same_measurements_again_replace_their_night(tmp_path):
    names = [named(tmp_path, night_of("1")), named(tmp_path, night_of("2", "3"))]
    table = {"holds": "table", "sha256": "9"}
    again = night_of("3", "2")
    assert named(tmp_path, again | {"inputs": [*again["inputs"], table]}) == names[1]
    assert named(tmp_path, night_of("1")) == names[0]
    assert sorted(snapshot_names(tmp_path)) == names
    assert named(tmp_path, night_of("1"), NIGHT_S + 9e4) == "2026-03-31"


def test_a_night_that_cannot_be_read_keeps_its_name(tmp_path):
    path = write(tmp_path, "2026-03-29", GRAPHS, **night_of("1"))
    (path / "manifest.json").write_bytes(b"{")
    (tmp_path / "snapshots" / "2026-03-29T233000Z.json").write_bytes(b"")
    assert named(tmp_path, night_of("1")) == "2026-03-29T233000Z-2"


def test_a_night_of_which_a_table_is_lost_is_replaced_by_the_same_measurements(tmp_path):
    path = write(tmp_path, "2026-03-29", GRAPHS, **night_of("1"))
    (path / "ases.parquet").unlink()
    assert named(tmp_path, night_of("1")) == "2026-03-29"
    assert check_store(tmp_path) == {"2026-03-29": ""}


def test_a_name_that_another_ingest_takes_meanwhile_is_left_to_it(tmp_path, monkeypatch):
    chosen_in = DefaultName.chosen_in

    def chosen_and_taken(self, store):
        chosen = chosen_in(self, store)
        if not snapshot_names(store):
            write(store, "2026-03-29", GRAPHS, **night_of("1"))
        return chosen

    monkeypatch.setattr(DefaultName, "chosen_in", chosen_and_taken)
    assert named(tmp_path, night_of("2")) == "2026-03-29T233000Z"
    assert check_store(tmp_path) == {"2026-03-29": "", "2026-03-29T233000Z": ""}
    assert len(versions(tmp_path)) == 2


def test_two_nights_of_one_date_are_two_nights_to_keep():
    two = [*DAYS, f"{DAYS[-1]}T233000Z"]
    assert nights_to_keep(dict.fromkeys(two, 0.0), 2, two[-1]) == two[-2:]


def test_nights_are_in_the_order_of_their_newest_records():
    first, second = "2026-03-29", "2026-03-29T003000Z"
    newest_s = {first: NIGHT_S, second: NIGHT_S - 82800.0, "2026-03-28": NIGHT_S - 86400.0}
    assert nights_to_keep(newest_s, 1, "") == [first]
    assert nights_to_keep(newest_s, 2, "") == [second, first]


def test_nights_without_times_are_in_the_order_that_their_names_tell():
    names = ["2026-03-29T233000Z-10", "2026-03-29T233000Z-2", "2026-03-29T233000Z", "2026-03-29"]
    newest_s = dict.fromkeys([*names, "2026-03-29T003000Z"], 0.0)
    expected = ["2026-03-29T003000Z", *reversed(names)]
    assert nights_to_keep(newest_s, 9, "") == expected
    assert nights_to_keep(newest_s, 1, "2026-03-29") == ["2026-03-29", names[0]]


def test_newer_data_under_the_date_alone_outlives_older_data_under_date_and_time(tmp_path):
    for n, time_s in enumerate((NIGHT_S, NIGHT_S - 82800.0)):
        inputs = [{"holds": "traces", "sha256": str(n), "newest_s": time_s}]
        named(tmp_path, {"inputs": inputs}, time_s)
    assert remove_old_nights(tmp_path, 1, "lab") == ["2026-03-29T003000Z"]
    assert snapshot_names(tmp_path) == ["2026-03-29"]


def test_a_night_that_is_ingested_again_while_old_ones_are_removed_stays(store, monkeypatch):
    real = nights.remove_snapshots

    def ingested_before(*args, **kwargs):
        write(store, DAYS[0], GRAPHS)
        return real(*args, **kwargs)

    monkeypatch.setattr(nights, "remove_snapshots", ingested_before)
    assert remove_old_nights(store, 2, DAYS[-1]) == [DAYS[1]]
    assert DAYS[0] in snapshot_names(store)


def test_the_last_nights_and_the_current_one_are_kept():
    days = dict.fromkeys(["lab", *DAYS], 0.0)
    assert nights_to_keep(days, 2, DAYS[-1]) == DAYS[-2:]
    assert nights_to_keep(days, 2, DAYS[0]) == [DAYS[0], *DAYS[-2:]]
    assert nights_to_keep(days, 9, "lab") == DAYS


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

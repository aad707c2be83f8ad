"""One run works on a store, one waits, a third is refused with their names."""

from __future__ import annotations

import os
import threading

import pytest
from prefect.states import Completed, Failed

from flows.processes.holders import Holder, Seat
from flows.runs import turns
from flows.runs.turns import SCHEDULED_WAITING, WAITING, WORKING, Overlapping, in_turn, turn
from pipeline.places import folder_of


@pytest.fixture(autouse=True)
def no_patience(monkeypatch):
    monkeypatch.setattr(turns, "PATIENCE_S", 0.0)


def test_second_run_waits_for_the_first_and_a_third_is_refused(tmp_path, capsys):
    store = tmp_path / "new" / "store"
    done: list[str] = []
    said = ""
    a_moment = threading.Event()

    def second() -> None:
        with turn(store):
            done.append("second")

    third = pytest.raises(Overlapping, match=r"a run .* is running on .* and a run .* is waiting")
    with turn(store):
        waiting = threading.Thread(target=second)
        waiting.start()
        while "waiting for a run (process" not in said:
            assert waiting.is_alive()
            a_moment.wait(0.01)
            said += capsys.readouterr().err
        with third, turn(store):
            done.append("third")
        done.append("first")
    waiting.join(10)
    assert done == ["first", "second"]
    with turn(store):  # a run that failed or was refused holds nothing
        pass


def test_place_is_free_again_after_an_error_and_other_stores_are_other_places(tmp_path):
    def fail() -> None:
        with turn(tmp_path / "a"), turn(tmp_path / "b"):
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    for name in (WORKING, WAITING):
        taken = Seat(tmp_path / "a" / name).take(Holder.me("the test"))
        assert taken is not None
        os.close(taken)


def test_a_scheduled_run_has_a_waiting_place_that_no_run_by_hand_takes(tmp_path, monkeypatch):
    seats = [Seat(tmp_path / name) for name in (WAITING, SCHEDULED_WAITING)]
    by_hand = seats[0].take(Holder.me("by hand"))
    assert by_hand is not None
    try:
        with pytest.raises(Overlapping), turn(tmp_path):
            pass
        monkeypatch.setattr(turns, "_is_scheduled", lambda: True)
        with turn(tmp_path):
            night = seats[1].take(Holder.me("the next"))  # free again: this one works
            assert night is not None
            os.close(night)
    finally:
        os.close(by_hand)


def test_only_runs_that_make_a_store_make_its_folder(tmp_path):
    mistyped = tmp_path / "stroe"
    state = in_turn(mistyped, lambda: Failed(message="no store here"), makes_store=False)
    assert state.message == "no store here"
    assert not mistyped.exists()
    in_turn(mistyped, Completed, makes_store=True)
    assert mistyped.is_dir()


@pytest.mark.parametrize("place", ["store", "s3://lab-bucket/store"])
def test_runs_that_only_read_a_store_take_turns_on_it(tmp_path, monkeypatch, place):
    """At a URL also the first one on a machine, whose mirror has nothing yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOPSCOPE_MIRRORS", str(tmp_path / "mirrors"))
    store = folder_of(place)
    if place == "store":
        store.mkdir()

    def taken():
        seat = Seat(store / WORKING).take(Holder.me("another"))
        return Completed(message="free" if seat is not None else "taken")

    assert in_turn(store, taken, makes_store=False).message == "taken"

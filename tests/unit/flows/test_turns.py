"""One run works on a store, one waits, a third is told who they are."""

from __future__ import annotations

import os
import threading

import pytest

from flows import turns
from flows.holders import Holder, Seat
from flows.turns import WAITING, WORKING, Overlapping, turn


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

    third = pytest.raises(Overlapping, match=r"a run .* works on .* and a run .* waits")
    with turn(store):
        waiting = threading.Thread(target=second)
        waiting.start()
        while "waits for a run (process" not in said:
            assert waiting.is_alive()
            a_moment.wait(0.01)
            said += capsys.readouterr().err
        with third, turn(store):
            done.append("third")
        done.append("first")
    waiting.join(10)
    assert done == ["first", "second"]
    with turn(store):  # whoever failed or was refused holds nothing
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

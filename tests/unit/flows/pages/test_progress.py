"""Progress becomes a percent that only grows, and never costs a stage anything."""

from __future__ import annotations

import operator
import threading
from functools import partial

import pytest

from flows.pages import progress as module
from flows.pages.inert import inert
from flows.pages.progress import listening, progress_artifact
from pipeline.model.progress import Progress
from tests.served import wait_until

INGEST = [
    Progress("read", 0, 4, "files", "0 traces"),
    Progress("read", 3, 4, "files", "900 traces"),
    Progress("infer", 0, 1, "topology"),
    Progress("infer", 1, 1, "topology"),
    Progress("build", 0, 1, "graphs"),
    Progress("write", 0, 1, "snapshot"),
    Progress("write", 1, 1, "snapshot"),
]


@pytest.fixture
def published(monkeypatch):
    """What would go to the server: (percent, description)."""
    rows: list[tuple[float, str]] = []
    monkeypatch.setattr(module, "UPDATE_EVERY_S", 0.01)
    monkeypatch.setattr(
        module,
        "create_progress_artifact",
        lambda percent, key, description: rows.append((percent, description)) or "id",
    )
    monkeypatch.setattr(
        module,
        "update_progress_artifact",
        lambda artifact, percent, description: rows.append((percent, description)),
    )
    return rows


def test_percent_of_ingest_only_grows_to_100(published):
    with progress_artifact("ingest-progress", "Ingest") as callback:
        for progress in INGEST:
            callback(progress)
            shown = module._percent(progress), module._words(progress)
            # Another thread publishes, on a busy machine late.
            wait_until(partial(operator.contains, published, shown), every_s=0.005)
    percents = [percent for percent, _ in published]
    assert percents == sorted(percents)
    assert percents[0] == 0.0
    assert percents[-1] == 100.0
    assert 52.5 in percents  # three of four files read


def test_stage_that_fails_does_not_show_100_percent(published):
    def broken_stage() -> None:
        with progress_artifact("k", "Searches") as callback:
            callback(Progress("search", 1, 4, "searches"))
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        broken_stage()
    assert published[-1][0] == 25.0


def test_server_that_fails_does_not_fail_the_stage(published, monkeypatch, caplog):
    tries = []
    tried_twice = threading.Event()

    def fail(percent, **_):
        tries.append(percent)
        if len(tries) == 2:
            tried_twice.set()
        raise ConnectionError("no server")

    monkeypatch.setattr(module, "create_progress_artifact", fail)
    with progress_artifact("k", "Searches") as callback:
        callback(Progress("search", 1, 4, "searches"))
        assert tried_twice.wait(30)
    assert tries[-1] == 100.0  # the stage has gone on to its end
    assert published == []
    assert caplog.messages == ["progress is not shown: no server"]


def test_server_that_was_away_shows_the_progress_when_it_is_back(published, monkeypatch):
    update, tries = module.update_progress_artifact, []
    tried_twice = threading.Event()

    def away_at_first(*given, **named):
        tries.append(given)
        if len(tries) < 3:
            raise ConnectionError("away")
        tried_twice.set()
        update(*given, **named)

    monkeypatch.setattr(module, "update_progress_artifact", away_at_first)
    with progress_artifact("k", "Searches") as callback:
        callback(Progress("search", 1, 4, "searches"))
        assert tried_twice.wait(30)
    assert (25.0, "Searching: 1 of 4 searches") in published


def test_file_name_cannot_be_markup(published):
    with progress_artifact("k", "Ingest") as callback:
        callback(Progress("report", 1, 2, "pages", "`<img\n\n# src=x>`"))
    assert published[-1][1] == f"Writing report: 1 of 2 pages, {inert('`<img # src=x>`')}"


def test_listeners_hear_every_progress(published):
    heard: list[Progress] = []
    with listening(heard.append), progress_artifact("k", "Ingest") as callback:
        for progress in INGEST:
            callback(progress)
    assert heard == INGEST

"""Which ASes of a run go over several workers: by their GPUs, or because it was requested."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from pipeline.errors import UsageError
from pipeline.schedule.gang import choice
from pipeline.schedule.gang.phase import GangPhase
from tests.integration.measured import LARGE, config_for, make_snapshot

ROOM = 400_000  # bytes of a GPU


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    return make_snapshot(tmp_path_factory.mktemp("store"))


@pytest.fixture(autouse=True)
def one_card_needs_more(monkeypatch):
    """So that of these small ASes one does not fit on a card, and its parts do."""
    needed = choice.card_bytes
    monkeypatch.setattr(choice, "card_bytes", lambda *sizes: 2 * needed(*sizes))


def cluster_of(*gpu_bytes, devices=("gpu",)):
    facts = {
        f"tcp://{i}": {"gpu": "H200" if n else "", "gpu_bytes": n} for i, n in enumerate(gpu_bytes)
    }
    return SimpleNamespace(facts=facts, devices=devices)


def chosen(snapshot, folder, cluster, **options):
    """AS numbers, and the phase."""
    config = config_for(snapshot, folder, **options)
    rows = np.arange(len(snapshot.asn))
    given = (snapshot, config, cluster, None, rows, {}, None)
    phase = GangPhase(*given)
    return set(snapshot.asn[rows[phase.is_chosen]].tolist()), phase


def test_an_as_that_no_gpu_holds_goes_over_several_of_its_own_accord(snapshot, tmp_path):
    found, phase = chosen(snapshot, tmp_path, cluster_of(ROOM, ROOM, ROOM))
    assert found == {LARGE}
    source_ptr = np.arange(len(snapshot.asn) + 1)
    kept_ptr, kept = phase.without(source_ptr, np.arange(len(snapshot.asn)))
    assert kept.tolist() == np.flatnonzero(~phase.is_chosen).tolist()
    assert kept_ptr[-1] == len(kept)
    assert phase.described()["partition"] == "auto"


@pytest.mark.parametrize(
    ("cluster", "options"),
    [
        pytest.param(cluster_of(10 * ROOM, 10 * ROOM), {}, id="a GPU holds it"),
        pytest.param(cluster_of(ROOM), {}, id="one GPU"),
        pytest.param(cluster_of(0, 0, devices=("cpu",)), {}, id="cores"),
        pytest.param(cluster_of(ROOM, ROOM, ROOM, devices=("cpu",)), {}, id="cores requested"),
        pytest.param(cluster_of(ROOM, ROOM, ROOM), {"distances": True}, id="all distances"),
    ],
)
def test_otherwise_none_does(snapshot, tmp_path, cluster, options):
    assert chosen(snapshot, tmp_path, cluster, **options)[0] == set()


def test_asked_for_every_as_with_links_does(snapshot, tmp_path):
    cluster = cluster_of(0, 0, devices=("cpu",))
    assert chosen(snapshot, tmp_path, cluster, partition=2)[0] == {10, 20, 30, 50, 60, LARGE, 80}


def test_ranks_on_gpus_need_one_each(snapshot, tmp_path):
    with pytest.raises(UsageError, match="--partition 3: 2 workers with a GPU here"):
        chosen(snapshot, tmp_path, cluster_of(ROOM, ROOM, 0), partition=3)


CORES = {"devices": ("cpu",)}


@pytest.mark.parametrize(
    ("cluster", "options", "ways"),
    [
        (cluster_of(ROOM, ROOM), {}, "or --device cpu --workers 5 for ranks on cores"),
        (cluster_of(ROOM, ROOM, **CORES), {"device": "cpu"}, "or --workers 5"),
        (cluster_of(0, 0, **CORES), {"scheduler": "tcp://there:1"}, "or start 3 more workers for"),
        (cluster_of(ROOM, ROOM), {"scheduler": "tcp://there:1"}, "or start 3 more workers for"),
    ],
)
def test_too_many_ranks_are_refused_with_a_way_that_there_is(
    snapshot, tmp_path, cluster, options, ways
):
    with pytest.raises(UsageError, match="give --partition 2 or less, " + ways):
        chosen(snapshot, tmp_path, cluster, partition=5, **options)

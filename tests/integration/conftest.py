from __future__ import annotations

import pytest

from pipeline.config import AnalyzeConfig
from pipeline.schedule.cluster.open import open_cluster
from tests import served as of_prefect
from tests.integration.measured import credentials_of, expected, make_snapshot
from tests.served import served

__all__ = ["served"]


@pytest.fixture(scope="session", autouse=True)
def _kept_folder(pytestconfig, tmp_path_factory):
    cache = getattr(pytestconfig, "cache", None)  # none with -p no:cacheprovider
    of_prefect.kept_folder = (
        cache.mkdir("hopscope") if cache is not None else tmp_path_factory.mktemp("kept")
    )


def two_workers(out):
    given = {"workers": 2, "device": "cpu", "dashboard": "127.0.0.1:0"}
    return open_cluster(AnalyzeConfig(store=out, out=out, **given))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """Two workers on cores, for runs that are not about starting, ending or killing."""
    with two_workers(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def own_cluster(tmp_path_factory):
    """Two workers on cores that tests of one module may kill."""
    with two_workers(tmp_path_factory.mktemp("own")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def scheduler_address(cluster):
    """Address for ``--scheduler`` on that cluster, with its credentials set."""
    with credentials_of(cluster):
        yield cluster.address


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    """Eight ASes in a store of their own, which a run of the module may fill with results."""
    return make_snapshot(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A Prefect server for flows that run in this process."""
    from tests.flows_here import server_for_flows  # Prefect takes seconds to import

    with server_for_flows(tmp_path_factory.mktemp("prefect"), ui=False) as server:
        yield server


@pytest.fixture(scope="module")
def wanted(snapshot):
    return expected(snapshot)

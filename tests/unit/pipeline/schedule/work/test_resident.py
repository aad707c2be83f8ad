import threading
import time

import numpy as np
import pytest

from pipeline.schedule.work.resident import Resident
from tests.shapes import path


def graph_of_bytes(n_bytes):
    """A path whose arrays take about that many bytes."""
    return path(max(2, n_bytes // 16))


def test_the_least_recently_used_goes_first():
    size = 1600
    cache = Resident(lambda: 3 * size)
    for key in "abc":
        cache.get(key, lambda: graph_of_bytes(size))
    cache.get("a", lambda: pytest.fail("a is here"))
    cache.get("d", lambda: graph_of_bytes(size))
    assert [key in cache for key in "abcd"] == [True, False, True, True]
    assert cache.n_bytes <= cache.budget_bytes


def test_one_graph_beyond_the_budget_is_kept_alone():
    cache = Resident(lambda: 100)
    big = cache.get("big", lambda: graph_of_bytes(5000))
    assert cache.get("big", lambda: pytest.fail("it is here")) is big
    cache.get("other", lambda: graph_of_bytes(5000))
    assert len(cache) == 1


def test_a_graph_that_two_threads_want_is_loaded_once():
    cache, loads, found = Resident(lambda: 10**6), [], []

    def load():
        loads.append(1)
        time.sleep(0.1)
        return graph_of_bytes(100)

    threads = [threading.Thread(target=lambda: found.append(cache.get("a", load))) for _ in "xyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
    assert all(graph is found[0] for graph in found)


def test_a_load_that_fails_leaves_nothing_behind():
    cache = Resident(lambda: 1000)
    with pytest.raises(OSError, match="gone"):
        cache.get("a", lambda: (_ for _ in ()).throw(OSError("gone")))
    assert "a" not in cache
    assert cache.get("a", lambda: graph_of_bytes(100)).n_nodes > 0
    cache.drop_all()
    assert len(cache) == cache.n_bytes == 0


def test_bytes_are_those_of_the_arrays():
    graph = path(10)
    cache = Resident(lambda: 10**6)
    cache.get("a", lambda: graph)
    assert cache.n_bytes == graph.indptr.nbytes + graph.indices.nbytes
    assert graph.indptr.dtype == np.int64

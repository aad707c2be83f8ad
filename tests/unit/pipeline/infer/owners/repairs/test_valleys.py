"""Paths through an AS that would carry them for neither neighbor."""

import numpy as np
import pytest

from pipeline.infer import Registries
from pipeline.infer.owners.repairs import runs
from pipeline.infer.owners.repairs.valleys import LONGEST, WIDTH, find_windows
from pipeline.infer.traces import spool
from pipeline.infer.traces.merge import merge_addresses
from pipeline.infer.traces.passes import Spools
from pipeline.ingest.tables import read_relationships
from pipeline.model.measured.reading import ReadReport
from pipeline.model.tables.organisations import Organisations
from tests.addresses import format_addrs
from tests.tables import table_of_file
from tests.unit.pipeline.infer.handmade import observe, traces
from tests.unit.pipeline.infer.owners.election.cases import case_of

N_ASES = 5
# AS 2 is a customer of 1 and of 3; 4 is a customer of 2; 1 and 3 are peers. 5 is not listed.
RELATED = "1|2|-1\n3|2|-1\n2|4|-1\n1|3|0\n"


def related(tmp_path, text=RELATED):
    path = tmp_path / "as-rel.txt"
    path.write_text(text)
    return table_of_file(read_relationships, path, ReadReport(str(path)))


def windows_of(tmp_path, *batches, text=RELATED, organisations=None, nowhere=(), workers=1):
    """Windows as texts; ``20.A.R.*`` is in AS A, and a router by itself."""
    seen = [observe(tmp_path, traces(*lines)) for lines in batches]
    addrs = merge_addresses(seen).addrs
    names = format_addrs(addrs)
    labels = [-1 if name in nowhere else int(name.split(".")[1]) - 1 for name in names]
    registries = Registries(relationships=related(tmp_path, text), organisations=organisations)
    case = case_of([], [(0, 1)] * len(names), labels, registries, N_ASES)
    windows = find_windows(Spools(seen, addrs, workers), case, np.arange(len(names)))
    assert windows.dtype == np.int32
    assert windows.shape[1] == WIDTH
    return [" ".join("-" if g < 0 else names[g] for g in one) for one in windows.tolist()]


def centers(windows):
    return {one.split()[WIDTH // 2] for one in windows}


@pytest.mark.parametrize(
    ("path", "is_valley"),
    [
        ((1, 2, 3), True),  # between two providers
        ((1, 3, 1), True),  # and back
        ((4, 2, 3), False),  # from a customer
        ((3, 2, 4), False),  # to one
        ((2, 1, 3), False),
        ((3, 1, 4), True),  # 1 and 4 are listed, but in no relationship
        ((1, 2, 5), False),  # nothing is known of 5
        ((5, 2, 1), False),
        ((5, 2, 5), True),
        ((1, 2, 2), False),
    ],
)
def test_what_is_a_valley(tmp_path, path, is_valley):
    line = " ".join(f"20.{asn}.0.{at}" for at, asn in enumerate(path, start=1))
    assert centers(windows_of(tmp_path, [line])) == (set(line.split()) if is_valley else set())


def test_ases_of_one_organisation_carry_for_each_other(tmp_path):
    siblings = Organisations(np.array([1, 2]), np.array([7, 7]))
    for line in ("20.1.0.1 20.2.0.1 20.3.0.1", "20.1.0.1 20.2.0.1 20.1.0.2"):
        assert windows_of(tmp_path, [line])
        assert not windows_of(tmp_path, [line], organisations=siblings)


@pytest.mark.parametrize("between", ["*", "20.5.0.1"])
def test_what_is_not_known_ends_a_path(tmp_path, between):
    lines = [f"20.1.0.1 {between} 20.2.0.1 20.3.0.1", f"20.1.0.1 20.2.0.1 {between} 20.3.0.1"]
    assert not windows_of(tmp_path, lines, nowhere=("20.5.0.1",))


def test_the_routers_between_may_be_several(tmp_path):
    def line(n):
        return " ".join(["20.1.0.1", *(f"20.2.{i}.1" for i in range(n)), "20.3.0.1"])

    assert centers(windows_of(tmp_path, [line(LONGEST)])) == set(line(LONGEST).split())
    assert not windows_of(tmp_path, [line(LONGEST + 1)])


def test_windows_show_what_is_around_each_router_of_a_valley_wherever_it_is_passed(tmp_path):
    valley, beside = "20.1.0.1 20.2.0.1 20.3.0.1 * 20.4.0.1", "20.3.0.9 20.2.0.1 20.4.0.2"
    assert sorted(windows_of(tmp_path, [valley, valley], [beside])) == [
        "- - - - 20.1.0.1 20.2.0.1 20.3.0.1 - -",
        "- - - 20.1.0.1 20.2.0.1 20.3.0.1 - - -",
        "- - - 20.3.0.9 20.2.0.1 20.4.0.2 - - -",
        "- - 20.1.0.1 20.2.0.1 20.3.0.1 - - - -",
    ]


LINES = [f"20.1.{i}.1 20.2.{i % 7}.1 20.3.{i + 100}.1" for i in range(40)]


@pytest.mark.parametrize("workers", [1, 3])
def test_what_is_kept_of_many_windows_does_not_depend_on_order_or_threads(
    tmp_path, monkeypatch, workers
):
    monkeypatch.setattr(spool, "BLOCK_HOPS", 9)
    every = windows_of(tmp_path, LINES)
    assert len(every) == 120
    monkeypatch.setattr(runs, "_MOST_ROWS", 5)
    kept = windows_of(tmp_path, LINES)
    assert len(kept) == 5
    assert set(kept) < set(every)
    assert windows_of(tmp_path, LINES[::-1], workers=workers) == kept
    assert windows_of(tmp_path, LINES[25:], LINES, LINES[:25], workers=workers) == kept

"""What commits of November 2026 wrote: it opens, is analyzed, compared and reported.

``earlier/README.md`` says what it is of. What such a snapshot lacks is refused with the command
that writes it again.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.commands import hopscope

EARLIER = Path(__file__).with_name("earlier")
DAYS = ("2026-11-22", "2026-11-24", "2026-11-26", "2026-11-28")
STORE = ("--store", "store")
OUT = ("--out", "reports")
# AS -> routers of the second night, by the rules of the day; on the first day interfaces.
NODES = {day: {1: 6, 2: 4, 3: 7, 4: 5} for day in DAYS}
NODES["2026-11-22"] |= {2: 6}
NODES["2026-11-24"] |= {1: 2}


@pytest.fixture(params=DAYS, scope="module")
def earlier(request, tmp_path_factory):
    """The day, and a folder with its store, reports and measurements."""
    folder = tmp_path_factory.mktemp("earlier")
    for name in (request.param, "nights"):
        with tarfile.open(EARLIER / f"{name}.tar.xz") as archive:
            archive.extractall(folder, filter="data")
    return request.param, folder


def said(folder: Path, *words: str, status: int = 0) -> str:
    done = hopscope(words, folder, {"COLUMNS": "200"})
    assert done.status == status, done.said
    return done.said


def events(folder: Path, night: str) -> list[str]:
    return pq.read_table(folder / "reports" / night / "events.parquet")["kind"].to_pylist()


def test_its_store_opens_and_every_byte_is_known(earlier):
    _, folder = earlier
    assert said(folder, "doctor", *STORE).count(": every byte unchanged") == 2
    shown = json.loads("{" + said(folder, "list", *STORE, "--json").partition("{")[2])
    assert [row["snapshot"] for row in shown["snapshots"]] == ["first", "second"]
    assert "20.2.0.1: " in said(folder, "lookup", "20.2.0.1", *STORE, "--snapshot", "second")
    assert "Ingress: 32 traces" in said(folder, "why", "20.2.0.1", *STORE, "--snapshot", "second")


def test_its_nights_are_analyzed_and_compared_by_their_reports_and_by_new_ones(earlier):
    day, folder = earlier
    assert "second" in said(folder, "compare", "first", "second", *STORE, *OUT)
    before = events(folder, "second")
    assert before
    for night in ("first", "second"):
        metrics = ("--metrics", "hops,diameter,radius")
        said(folder, "analyze", *STORE, *OUT, "--snapshot", night, *metrics)
    ases = pq.read_table(folder / "reports" / "second" / "ases.parquet").to_pydict()
    assert dict(zip(ases["asn"], ases["n_nodes"], strict=True)) == NODES[day]
    assert dict(zip(ases["asn"], ases["diameter"], strict=True))[3] == 4
    assert (folder / "reports" / "second" / "as" / "2.html").is_file()
    said(folder, "compare", "first", "second", *STORE, *OUT)
    assert events(folder, "second") == before


def test_a_night_of_today_differs_from_it_by_its_rules_alone(earlier):
    _, folder = earlier
    table = ("--ip2as", "nights.pfx2as")
    said(folder, "run", "second.json", *STORE, *OUT, *table, "--snapshot", "third")
    said(folder, "compare", "second", "third", *STORE, *OUT)
    assert events(folder, "third") == ["inputs changed"]
    changes = pq.read_table(folder / "reports" / "third" / "changes.parquet").to_pylist()
    assert not {row["kind"] for row in changes} & {"removed", "added", "lost", "gained", "moved"}


def test_what_it_lacks_is_refused_with_the_command_that_writes_it(earlier):
    _, folder = earlier
    mended = "older snapshots lack them; `hopscope ingest TRACES --snapshot second --store store`"
    assert mended in said(folder, "why", "20.2.0.1", *STORE, "--snapshot", "second")
    words = ("traces", "second", "--address", "20.2.0.1", *STORE)
    assert mended in said(folder, *words, status=2)
    table = ("--ip2as", "nights.pfx2as")
    said(folder, "ingest", "second.json", *STORE, "--snapshot", "second", *table)
    assert "20.2.0.1" in said(folder, *words)
